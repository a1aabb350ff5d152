package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) supervisorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "supervisor",
		Short: "Show which master looks for what is stuck, and when it last did",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			s, err := cl.Supervisor(ctx)
			if err != nil {
				return err
			}
			return c.show(s, []string{"MASTER", "FENCE", "SINCE", "LOOKED", "EVERY"},
				[][]string{{s.Master, fmt.Sprint(s.Fence), at(s.Since), at(s.LookedAt), fmt.Sprintf("%ds", s.EverySeconds)}})
		}),
	}
	return cmd
}

func (c *cli) recoveriesCommand() *cobra.Command {
	var state string
	var limit int
	cmd := &cobra.Command{
		Use:   "recoveries",
		Short: "List what got stuck and what was done about it, the newest first",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			if limit < 0 {
				return usagef("--limit %d: want 1 or more, or 0 for all", limit)
			}
			items, err := cl.Recoveries(ctx, state, limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, r := range items {
				what := r.Instance
				if r.Task != nil {
					what = fmt.Sprintf("%s task %d attempt %d", r.Instance, *r.Task, r.Attempt)
				}
				rows[i] = []string{at(r.FirstAt), at(r.AskedAt), what, r.Step, r.State, fmt.Sprint(r.Failures), r.Result}
			}
			return c.show(items, []string{"FIRST", "ASKED", "INSTANCE", "STUCK IN", "STATE", "FAILURES", "RESULT"}, rows)
		}),
	}
	cmd.Flags().StringVar(&state, "state", "", "only asked, applied, done or error")
	cmd.Flags().IntVar(&limit, "limit", defaultFailovers, "how many; 0 is all")
	return cmd
}
