package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// defaultFailovers is how many takeovers are shown where nothing is said.
const defaultFailovers = 20

func (c *cli) failoversCommand() *cobra.Command {
	var kind string
	var limit int
	cmd := &cobra.Command{
		Use:   "failovers",
		Short: "List takeovers from dead masters and lost workers, the newest first",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			if limit < 0 {
				return usagef("--limit %d: want 1 or more, or 0 for all", limit)
			}
			items, err := cl.Failovers(ctx, kind, limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, f := range items {
				took := "under way"
				if !f.FinishedAt.IsZero() {
					took = f.FinishedAt.Sub(f.DetectedAt.Time).Round(time.Millisecond).String()
				}
				rows[i] = []string{
					at(f.DetectedAt), f.Kind, f.Node, f.By, fmt.Sprint(f.Instances), fmt.Sprint(f.Adopted), fmt.Sprint(f.Lost), took, f.Cause,
				}
			}
			return c.show(items, []string{"DETECTED", "KIND", "NODE", "BY", "INSTANCES", "ADOPTED", "LOST", "TOOK", "CAUSE"}, rows)
		}),
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only of a master, or of a worker")
	cmd.Flags().IntVar(&limit, "limit", defaultFailovers, "how many; 0 is all")
	return cmd
}
