package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// maxReason bounds what people say for a reason, as the API does.
const maxReason = 1000

func (c *cli) holdCommand() *cobra.Command {
	var reason string
	var show bool
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Hold the cluster: nothing begins and nothing times out until the release; what runs goes on",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			if len([]rune(reason)) > maxReason {
				return usagef("--reason: it has more than %d characters", maxReason)
			}
			ask := func() (client.Hold, error) { return cl.Hold(ctx, reason) }
			if show {
				ask = func() (client.Hold, error) { return cl.Held(ctx) }
			}
			h, err := ask()
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(h)
			}
			_, err = fmt.Fprintln(c.out, holdLine(h))
			return err
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.Flags().BoolVar(&show, "show", false, "only say whether it is held")
	return cmd
}

func holdLine(h client.Hold) string {
	if !h.Held {
		return "the cluster is not held"
	}
	line := fmt.Sprintf("held since %s by %s", at(h.Since), printable(h.By))
	if h.Reason != "" {
		line += ": " + printable(h.Reason)
	}
	return line
}

func (c *cli) releaseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "release",
		Short: "End the hold: deadlines and delays move by as much as it took from them",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			r, err := cl.Release(ctx)
			switch {
			case err != nil:
				return err
			case c.output == "json":
				return c.json(r)
			case !r.WasHeld:
				_, err = fmt.Fprintln(c.out, "the cluster was not held")
			default:
				_, err = fmt.Fprintf(c.out, "released after %s: %d instances go on, %d moments moved\n", time.Duration(r.Seconds)*time.Second, r.Instances, r.Moments)
			}
			return err
		}),
	}
}
