package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) slotsCommand() *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use:   "slots",
		Short: "Show which master has how many command slots",
		Long: `Show which master has how many command slots, and what the masters are agreeing on, if they are.

With --history, show how the last layouts came about instead. -o json has all of it, every
slot and every step.`,
		Args: cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			slots, err := cl.Slots(ctx)
			switch {
			case err != nil:
				return err
			case history:
				return c.show(slots, []string{"EPOCH", "COMMITTED", "TOOK", "RESTARTS", "MOVED", "MASTERS", "CAUSE"}, rebalanceRows(slots.Rebalances))
			}
			rows := make([][]string, len(slots.Masters))
			for i, m := range slots.Masters {
				rows[i] = []string{m.Name, fmt.Sprint(m.Weight), fmt.Sprintf("%d of %d", m.Slots, slots.Count), m.State}
			}
			if err := c.show(slots, []string{"MASTER", "WEIGHT", "SLOTS", "STATE"}, rows); err != nil || c.output == "json" {
				return err
			}
			return c.slotsState(slots)
		}),
	}
	cmd.Flags().BoolVar(&history, "history", false, "the last rebalances")
	return cmd
}

// slotsState says in a line what stands under the table.
func (c *cli) slotsState(s client.Slots) error {
	line := "no layout yet: no commands are taken"
	if s.Epoch > 0 {
		line = fmt.Sprintf("epoch %d since %s: %s", s.Epoch, at(s.CommittedAt), s.Cause)
	}
	if p := s.Preparing; p != nil {
		line = fmt.Sprintf("epoch %d is being prepared since %s: %s", p.Epoch, at(p.At), p.Cause)
		if len(p.Missing) > 0 {
			line += "; no answer yet from " + strings.Join(p.Missing, ", ")
		}
	}
	_, err := fmt.Fprintln(c.out, printable(line))
	return err
}

func rebalanceRows(list []client.Rebalance) [][]string {
	rows := make([][]string, len(list))
	for i, r := range list {
		var members []string
		for _, m := range r.Masters {
			name := m.Name
			if m.State == "excluded" {
				name += " (excluded)"
			}
			members = append(members, name)
		}
		rows[i] = []string{
			fmt.Sprint(r.Epoch), at(r.CommittedAt), short(time.Duration(r.TookMS) * time.Millisecond), fmt.Sprint(r.Restarts), fmt.Sprint(r.Moved),
			strings.Join(members, " "), r.Cause,
		}
	}
	return rows
}
