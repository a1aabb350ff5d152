package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// approvalCommands are what people say to approval tasks, and the list of those that wait for them.
func (c *cli) approvalCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "approvals",
			Short: "List the approvals that wait for you",
			Args:  cobra.NoArgs,
			RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
				items, err := cl.Approvals(ctx)
				if err != nil {
					return err
				}
				rows := make([][]string, len(items))
				for i, a := range items {
					approved := fmt.Sprintf("%d of %d", len(a.Decisions), a.Quorum)
					rows[i] = []string{a.InstanceID, a.Project + "/" + a.Workflow, a.Task, approved, wantedFields(a.Form), at(a.ExpiresAt), a.Message}
				}
				return c.show(items, []string{"INSTANCE", "WORKFLOW", "TASK", "APPROVED", "WANTS", "EXPIRES", "MESSAGE"}, rows)
			}),
		},
		c.decideCommand("approve", "Approve what a task asks"),
		c.decideCommand("reject", "Reject what a task asks, which ends it"),
	}
}

// wantedFields are the fields that whoever approves must fill in.
func wantedFields(form []client.FormField) string {
	var names []string
	for _, f := range form {
		if f.Default == nil {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ",")
}

func (c *cli) decideCommand(verb, short string) *cobra.Command {
	var d client.Decided
	var values []string
	cmd := &cobra.Command{
		Use:   verb + " INSTANCE TASK",
		Short: short,
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			var err error
			if d.Values, err = parsePairs("--value", values); err != nil {
				return err
			}
			in, err := cl.Decide(ctx, args[0], args[1], verb, d)
			if err != nil {
				return err
			}
			return c.asked(verb, args[1], in)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&d.Reason, "reason", "", "why, in your words")
	f.IntVar(&d.Attempt, "attempt", 0, "the attempt that you looked at; 0 is the one that waits")
	if verb == "approve" {
		f.StringArrayVar(&values, "value", nil, "KEY=VALUE of a field of the form; may be repeated")
	}
	return cmd
}
