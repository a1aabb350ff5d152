package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "What is kept of tasks that have a cache",
	}
	cmd.AddCommand(c.clearCacheCommand())
	return cmd
}

func (c *cli) clearCacheCommand() *cobra.Command {
	var task string
	cmd := &cobra.Command{
		Use:   "clear PROJECT/WORKFLOW",
		Short: "Forget what is kept of a workflow's tasks, so that they run again",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			cleared, err := cl.ClearCache(ctx, project, workflow, task)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(cleared)
			}
			_, err = fmt.Fprintf(c.out, "%d results are kept no longer\n", cleared.Deleted)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().StringVar(&task, "task", "", "only what is kept of this task")
	return cmd
}
