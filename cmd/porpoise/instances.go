package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// defaultInstances is how many instances are listed when nobody says: one screen.
const defaultInstances = 20

func (c *cli) instancesCommand() *cobra.Command {
	var f client.Filter
	cmd := &cobra.Command{
		Use:   "instances",
		Short: "List workflow instances, newest first",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			if f.Limit < 1 {
				return usagef("--limit %d: want at least 1", f.Limit)
			}
			if f.Parent != "" && (f.Project != "" || f.Workflow != "" || len(f.States) > 0) {
				return usagef("--children-of excludes --project, --workflow and --state")
			}
			items, err := cl.Instances(ctx, f)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, in := range items {
				rows[i] = []string{
					in.ID, in.Project + "/" + in.Workflow, fmt.Sprint(in.Version), string(in.State), string(in.Reason),
					at(in.CreatedAt), took(in.StartedAt, in.FinishedAt, time.Now()), in.CreatedBy,
				}
			}
			return c.show(items, []string{"ID", "WORKFLOW", "VERSION", "STATE", "REASON", "CREATED", "TOOK", "BY"}, rows)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.Project, "project", "p", "", "only of this project")
	flags.StringVar(&f.Workflow, "workflow", "", "only of this workflow; needs --project")
	flags.StringSliceVar(&f.States, "state", nil, "only in these states")
	flags.StringVar(&f.Parent, "children-of", "", "only the instances that sub_workflow tasks of this one made; excludes the other filters")
	flags.IntVar(&f.Limit, "limit", defaultInstances, "how many")
	c.completeProjects(cmd)
	return cmd
}

func (c *cli) tasksCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tasks INSTANCE",
		Short: "List the tasks of an instance",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Tasks(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, t := range items {
				rows[i] = []string{t.Name, t.Type, string(t.State), string(t.Reason), fmt.Sprint(t.Attempts), at(t.StartedAt), took(t.StartedAt, t.FinishedAt, time.Now()), t.ChildID}
			}
			return c.show(items, []string{"TASK", "TYPE", "STATE", "REASON", "ATTEMPTS", "STARTED", "TOOK", "CHILD"}, rows)
		}),
	}
}
