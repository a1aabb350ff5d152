package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) runFiresCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run PROJECT/WORKFLOW SCHEDULE MOMENT...",
		Short: "Start the instances of fires that were missed or skipped; what has one keeps it",
		Args:  cobra.MinimumNArgs(3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			ran, err := cl.RunFires(ctx, project, workflow, args[1], args[2:])
			if err != nil {
				return err
			}
			var rows [][]string
			for _, f := range ran.Fires {
				note := ""
				if !f.Started {
					note = "it was there before"
				}
				rows = append(rows, []string{at(f.At), f.InstanceID, note})
			}
			for _, m := range ran.LeftOut {
				rows = append(rows, []string{at(m), "", "left out: no fire of this moment was missed or skipped"})
			}
			if err := c.show(ran, []string{"MOMENT", "INSTANCE", ""}, rows); err != nil {
				return err
			}
			if len(ran.Fires) == 0 {
				return told(exitFailed)
			}
			return nil
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}
