package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

func (c *cli) workersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workers [WORKER]",
		Short: "List the workers that are alive, or show how one is doing",
		Args:  cobra.MaximumNArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if len(args) == 1 {
				w, err := cl.Worker(ctx, args[0])
				if err != nil {
					return err
				}
				return c.showWorker(w)
			}
			items, err := cl.Workers(ctx)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, n := range items {
				rows[i] = []string{n.Name, strings.Join(n.Groups, ","), dag.Labels(n.Labels).String(), fmt.Sprint(n.Slots), n.Version, at(n.StartedAt), n.Draining}
			}
			return c.show(items, []string{"WORKER", "GROUPS", "LABELS", "SLOTS", "VERSION", "STARTED", "DRAINING"}, rows)
		}),
	}
	cmd.AddCommand(c.drainCommand(), c.takeWorkCommand())
	return cmd
}

func (c *cli) drainCommand() *cobra.Command {
	var reason string
	var giveBack time.Duration
	cmd := &cobra.Command{
		Use:   "drain WORKER",
		Short: "Let a worker take no more work; what runs may end, or is handed back after a while",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			w, err := cl.DrainWorker(ctx, args[0], client.Drain{Reason: reason, GiveBack: int(giveBack.Round(time.Second) / time.Second)})
			if err != nil {
				return err
			}
			return c.told(w, args[0]+" takes no more work")
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.Flags().DurationVar(&giveBack, "give-back-after", 0, "hand back what runs then, as no failure; 0: let it end")
	return cmd
}

func (c *cli) takeWorkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume WORKER",
		Short: "Let a drained worker take work again",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			w, err := cl.ResumeWorker(ctx, args[0])
			if err != nil {
				return err
			}
			return c.told(w, args[0]+" takes work again")
		}),
	}
}

// told prints a sentence, or the worker where JSON is wanted.
func (c *cli) told(w client.WorkerDetail, sentence string) error {
	if c.output == "json" {
		return c.json(w)
	}
	_, err := fmt.Fprintln(c.out, sentence)
	return err
}

// showWorker prints what an operator looks for first on top.
func (c *cli) showWorker(w client.WorkerDetail) error {
	if c.output == "json" {
		return c.json(w)
	}
	rows := [][]string{
		{"groups", strings.Join(w.Groups, ",")}, {"labels", dag.Labels(w.Labels).String()}, {"slots", fmt.Sprint(w.Slots)}, {"version", w.Version}, {"started", at(w.StartedAt)},
	}
	if w.Draining != "" {
		rows = append(rows, []string{"draining", w.Draining})
	}
	f := w.Figures
	if f == nil {
		rows = append(rows, []string{"figures", "none: the worker has no stream to this apiserver"})
		return table(c.out, []string{"WORKER", w.Name}, rows)
	}
	if f.TakesNoWork != "" {
		rows = append(rows, []string{"takes no work", f.TakesNoWork})
	}
	h := f.Heartbeat
	ms := func(n int64) string { return (time.Duration(n) * time.Millisecond).String() }
	rows = append(rows,
		[]string{"running", fmt.Sprintf("%d, %d slots free", f.Running, f.FreeSlots)},
		[]string{"load, drift", fmt.Sprintf("%.2f, %s", f.Load, ms(f.DriftMS))},
		[]string{"reports waiting", fmt.Sprint(f.Outbox)},
		[]string{"free disk", fmt.Sprintf("%.0f %%, %d bytes of output dropped", 100*f.FreeDisk, f.DroppedLogBytes)},
		[]string{"heartbeats", fmt.Sprintf("%d to beat, %d have beaten, %d under way", h.Main, h.Backup, h.InFlight)},
		[]string{"cycle", fmt.Sprintf("%s in steps of %s, timeout %s", ms(h.CycleMS), ms(h.PeriodMS), ms(h.TimeoutMS))},
		[]string{"utilisation", fmt.Sprintf("%.1f %% (slots allowed: %d), %d beats in the last cycle", 100*h.Utilisation, h.Capacity, h.LastCycle)},
		[]string{"longest silence", fmt.Sprintf("%s, %d near their timeout", ms(h.OldestMS), h.Near)},
		[]string{"sent", fmt.Sprintf("%d beats in %d messages", h.Sent, h.Messages)},
		[]string{"put off, retried", fmt.Sprintf("%d, %d", h.Throttled, h.Retried)},
		[]string{"moved, overruns, lapsed", fmt.Sprintf("%d, %d, %d", h.Moved, h.Overruns, h.Lapsed)},
	)
	return table(c.out, []string{"WORKER", w.Name}, rows)
}
