package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// workflowName splits PROJECT/WORKFLOW.
func workflowName(arg string) (project, workflow string, err error) {
	project, workflow, ok := strings.Cut(arg, "/")
	if !ok || project == "" || workflow == "" {
		return "", "", usagef("%q: want PROJECT/WORKFLOW", arg)
	}
	return project, workflow, nil
}

func (c *cli) versionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "versions PROJECT/WORKFLOW",
		Short: "List the versions of a workflow, newest first",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			items, err := cl.Versions(ctx, project, workflow)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, v := range items {
				published := ""
				if v.Published {
					published = "published"
				}
				rows[i] = []string{fmt.Sprint(v.Version), published, at(v.CreatedAt), v.CreatedBy, v.Message}
			}
			return c.show(items, []string{"VERSION", "STATE", "CREATED", "BY", "MESSAGE"}, rows)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

func (c *cli) restoreVersionCommand() *cobra.Command {
	var message string
	var publish bool
	cmd := &cobra.Command{
		Use:   "restore PROJECT/WORKFLOW VERSION",
		Short: "Save an older version's text as the newest version",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			saved, err := cl.Restore(ctx, project, workflow, args[1], message, publish)
			if err != nil {
				return err
			}
			result := "restored"
			if !saved.Created {
				result = "unchanged"
			}
			return c.show(saved, []string{"WORKFLOW", "VERSION", "RESULT"}, [][]string{{args[0], fmt.Sprint(saved.Version), result}})
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	f.StringVarP(&message, "message", "m", "", "why, in up to 500 characters; versions show it")
	f.BoolVar(&publish, "publish", true, "publish what is saved; --publish=false only saves")
	return cmd
}

func (c *cli) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff PROJECT/WORKFLOW FROM [TO]",
		Short: "Say what differs between two versions, or a version and the draft",
		Long: `Say what differs between two versions of a workflow, each a number or "draft"; TO is
the draft where it is left out. Order, comments and spacing do not count.`,
		Args: cobra.RangeArgs(2, 3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			to := "draft"
			if len(args) == 3 {
				to = args[2]
			}
			d, err := cl.Diff(ctx, project, workflow, args[1], to)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(d)
			}
			return writeDiff(c.out, d)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

// writeDiff prints a line per thing that differs; what is not printable in somebody's text is not printed.
func writeDiff(w io.Writer, d client.Diff) error {
	var lines []string
	fields := func(indent string, list []client.FieldDiff) {
		for _, f := range list {
			lines = append(lines, indent+f.Field+":")
			if f.Before != nil {
				lines = append(lines, block(indent+"  - ", *f.Before)...)
			}
			if f.After != nil {
				lines = append(lines, block(indent+"  + ", *f.After)...)
			}
		}
	}
	fields("", d.Settings)
	for _, name := range d.Tasks.Added {
		lines = append(lines, "+ task "+name)
	}
	for _, name := range d.Tasks.Removed {
		lines = append(lines, "- task "+name)
	}
	for _, t := range d.Tasks.Changed {
		lines = append(lines, "task "+t.Task+":")
		fields("  ", t.Fields)
	}
	for _, e := range d.Edges.Added {
		lines = append(lines, "+ "+e.To+" needs "+e.From)
	}
	for _, e := range d.Edges.Removed {
		lines = append(lines, "- "+e.To+" needs "+e.From)
	}
	switch {
	case d.Cut:
		lines = append(lines, "and more")
	case len(lines) > 0:
	case d.SameText:
		lines = append(lines, "no difference")
	default:
		lines = append(lines, "only order, comments or spacing differ")
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// block puts a mark before each line of a value.
func block(mark, text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = mark + lines[i]
	}
	return lines
}
