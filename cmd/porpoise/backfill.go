package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag/backfill"
)

func (c *cli) backfillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backfill",
		Short: "Run a workflow for many dates",
	}
	cmd.AddCommand(c.startBackfillCommand(), c.listBackfillsCommand(), c.showBackfillCommand(), c.waitBackfillCommand(),
		c.changeBackfillCommand("pause", "Start no more dates; what runs goes on"), c.changeBackfillCommand("resume", "Go on after a pause"),
		c.cancelBackfillCommand(), c.parallelBackfillCommand())
	return cmd
}

func (c *cli) startBackfillCommand() *cobra.Command {
	var params []string
	var preview, wait bool
	var r client.BackfillRequest
	cmd := &cobra.Command{
		Use:   "start PROJECT/WORKFLOW",
		Short: "Run a workflow for each date of a range or a list, or show which those are",
		Long: `Run a workflow for each date of a range or a list and print the id of the backfill.

With --preview nothing is started: every date is shown that would run or is left out,
and a token. Given as --preview-token, the backfill is refused where it would run
something else by then. Without that token, the dates are those of this very moment.`,
		Example: `  porpoise backfill start shop/daily --from 2026-03-01 --to 2026-03-31 --parallel 4 --only missing_or_failed --preview
  porpoise backfill start shop/daily --date 2026-03-01 --date 2026-03-08 --timezone Europe/Berlin --wait`,
		Args: cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			if r.Params, err = parseParams(params); err != nil {
				return err
			}
			if preview || r.Preview == "" {
				plan, err := cl.CreateBackfill(ctx, project, workflow, r, true)
				if err != nil {
					return err
				}
				if preview {
					return c.showPlan(plan)
				}
				r.Preview = plan.Token
			}
			made, err := cl.CreateBackfill(ctx, project, workflow, r, false)
			if err != nil {
				return err
			}
			if wait {
				return c.waitBackfill(ctx, cl, project, workflow, made.ID)
			}
			if c.output == "json" {
				return c.json(made)
			}
			_, err = fmt.Fprintln(c.out, made.ID)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	f.StringVar(&r.From, "from", "", "the first moment, such as 2026-03-01 or 2026-03-01T05:00:00Z; it is included")
	f.StringVar(&r.To, "to", "", "the last moment; it is included, and a date alone is its whole day")
	f.StringVar(&r.Every, "every", "", "1d or 1h: the beginnings of days or hours; without it 1d")
	f.StringArrayVar(&r.Dates, "date", nil, "this moment instead of a range; may be repeated")
	f.StringVar(&r.Timezone, "timezone", "", "whose calendar all of this is on, such as Europe/Berlin; without it UTC")
	f.StringVar(&r.Order, "order", "", "oldest or newest first; without it oldest")
	f.StringVar(&r.Only, "only", "", "all, missing, failed or missing_or_failed dates; without it all")
	f.BoolVar(&r.Downstream, "downstream", false, "for the same dates also what waits for the workflow by a dependent task, on all levels")
	f.IntVar(&r.Parallel, "parallel", 1, "how many dates run at once, 100 at most")
	f.StringVar(&r.OnFailure, "on-failure", "", "continue with the other dates, or stop; without it continue")
	f.StringArrayVar(&params, "param", nil, "KEY=VALUE of a declared parameter; may be repeated")
	f.IntVar(&r.Version, "version", 0, "version to run; 0 is the published one")
	f.BoolVar(&r.DryRun, "dry-run", false, "go through the graph of each instance without running a task")
	f.StringVar(&r.WorkerGroup, "worker-group", "", "for tasks that name none")
	f.StringVar(&r.Priority, "priority", "", "highest, high, medium, low or lowest; without it low")
	f.BoolVar(&preview, "preview", false, "show exactly what would run, and start nothing")
	f.StringVar(&r.Preview, "preview-token", "", "refuse to run anything but what that preview showed")
	f.BoolVarP(&wait, "wait", "w", false, "wait until it is over")
	return cmd
}

// showPlan prints every date of a plan.
func (c *cli) showPlan(plan client.BackfillPlan) error {
	var rows [][]string
	left := 0
	for _, p := range plan.Parts {
		for _, d := range p.Dates {
			rows = append(rows, []string{p.Project + "/" + p.Workflow, fmt.Sprint(p.Version), at(d), "runs", ""})
		}
		for _, d := range p.LeftOut {
			left++
			rows = append(rows, []string{p.Project + "/" + p.Workflow, fmt.Sprint(p.Version), at(d.ScheduleTime), "left out: " + hadWord(d.Had), d.InstanceID})
		}
	}
	for _, w := range plan.LeftOut {
		why := "you may not start it"
		if w.Why == "params" {
			why = "it needs parameters"
		}
		rows = append(rows, []string{w.Project + "/" + w.Workflow, "", "", "left out: " + why, ""})
	}
	if err := c.show(plan, []string{"WORKFLOW", "VERSION", "DATE", "PLAN", "INSTANCE"}, rows); err != nil || c.output == "json" {
		return err
	}
	_, err := fmt.Fprintf(c.out, "%d run, %d are left out; token %s\n", plan.Count, left, plan.Token)
	return err
}

// hadWord says in words what there is of a date already.
func hadWord(had string) string {
	switch backfill.Had(had) {
	case backfill.HadNone:
		return "it never ran"
	case backfill.HadOpen:
		return "it is running"
	case backfill.HadSuccess:
		return "it succeeded"
	case backfill.HadFailure:
		return "it failed"
	}
	return had
}

func (c *cli) listBackfillsCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "list PROJECT/WORKFLOW",
		Short: "List a workflow's backfills, the newest first",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			items, err := cl.Backfills(ctx, project, workflow, limit)
			if err != nil {
				return err
			}
			return c.showBackfills(items, items)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most; 0 is all")
	return cmd
}

func (c *cli) showBackfills(value any, items []client.Backfill) error {
	rows := make([][]string, len(items))
	for i, b := range items {
		p := b.Progress
		span := b.From + " to " + b.To
		if b.From == "" {
			span = "a list"
		}
		rows[i] = []string{
			b.ID, string(b.State), span, fmt.Sprint(p.Total), fmt.Sprint(p.Success), fmt.Sprint(p.Failed), fmt.Sprint(p.Running), fmt.Sprint(p.Waiting),
			fmt.Sprint(p.Cancelled), at(p.ETA), b.CreatedBy,
		}
	}
	return c.show(value, []string{"BACKFILL", "STATE", "DATES", "TOTAL", "SUCCESS", "FAILED", "RUNNING", "WAITING", "CANCELLED", "ETA", "BY"}, rows)
}

func (c *cli) showBackfillCommand() *cobra.Command {
	var dates bool
	var state string
	cmd := &cobra.Command{
		Use:   "show PROJECT/WORKFLOW BACKFILL",
		Short: "Show a backfill and its progress, or its dates",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			if dates || state != "" {
				return c.showBackfillDates(ctx, cl, project, workflow, args[1], state)
			}
			b, err := cl.Backfill(ctx, project, workflow, args[1])
			if err != nil {
				return err
			}
			return c.showBackfills(b, []client.Backfill{b})
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().BoolVar(&dates, "dates", false, "show each date with its instance")
	cmd.Flags().StringVar(&state, "state", "", "show the dates that are waiting, running, stopping, success, failed or cancelled")
	return cmd
}

func (c *cli) showBackfillDates(ctx context.Context, cl *client.Client, project, workflow, id, state string) error {
	items, err := cl.BackfillDates(ctx, project, workflow, id, state)
	if err != nil {
		return err
	}
	rows := make([][]string, len(items))
	for i, d := range items {
		rows[i] = []string{d.Project + "/" + d.Workflow, at(d.ScheduleTime), string(d.State), d.InstanceID, d.InstanceState}
	}
	return c.show(items, []string{"WORKFLOW", "DATE", "STATE", "INSTANCE", "INSTANCE STATE"}, rows)
}

func (c *cli) waitBackfillCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "wait PROJECT/WORKFLOW BACKFILL",
		Short: "Wait until a backfill is over; the exit code is 1 unless all of it succeeded",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			return c.waitBackfill(ctx, cl, project, workflow, args[1])
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

// backfillPollEvery is how often a backfill that is waited for is looked at: it takes minutes to days.
const backfillPollEvery = time.Second

// waitBackfill shows the progress of a backfill until it is over: on a terminal in one line, in a pipe a line for
// each change.
func (c *cli) waitBackfill(ctx context.Context, cl *client.Client, project, workflow, id string) error {
	_, _, live := terminal(c.out)
	shown := ""
	for {
		b, err := cl.Backfill(ctx, project, workflow, id)
		if err != nil {
			return fmt.Errorf("wait for backfill %s: %w", id, err)
		}
		if line := progressLine(b); line != shown && c.output != "json" {
			shown = line
			if live && b.Active {
				line = "\r\x1b[K" + line + etaOf(b)
			} else if live {
				line = "\r\x1b[K" + line + "\n"
			} else {
				line += "\n"
			}
			if _, err := fmt.Fprint(c.out, line); err != nil {
				return err
			}
		}
		if !b.Active {
			if c.output == "json" {
				if err := c.json(b); err != nil {
					return err
				}
			}
			if b.State != backfill.Success {
				return told(exitFailed)
			}
			return nil
		}
		if pause(ctx, backfillPollEvery); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// progressLine says in one line how far a backfill is.
func progressLine(b client.Backfill) string {
	p := b.Progress
	parts := []string{fmt.Sprintf("backfill %s  %s  %d of %d dates done", b.ID, b.State, p.Done, p.Total)}
	for _, part := range []struct {
		n    int
		what string
	}{{p.Failed, "failed"}, {p.Running, "running"}, {p.Waiting, "waiting"}, {p.Cancelled, "cancelled"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// etaOf says when a backfill is over, "" where that can't be said.
func etaOf(b client.Backfill) string {
	if b.Progress.ETA.IsZero() {
		return ""
	}
	return ", over about " + at(b.Progress.ETA)
}

func (c *cli) changeBackfillCommand(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " PROJECT/WORKFLOW BACKFILL",
		Short: short,
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			return c.changeBackfill(ctx, cl, args, verb, nil)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

func (c *cli) cancelBackfillCommand() *cobra.Command {
	var stop bool
	cmd := &cobra.Command{
		Use:   "cancel PROJECT/WORKFLOW BACKFILL",
		Short: "Start no more dates, ever; with --stop-running stop what runs, too",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			running := "leave"
			if stop {
				running = "stop"
			}
			return c.changeBackfill(ctx, cl, args, "cancel", map[string]string{"running": running})
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().BoolVar(&stop, "stop-running", false, "stop the instances that run")
	return cmd
}

func (c *cli) parallelBackfillCommand() *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:   "parallel PROJECT/WORKFLOW BACKFILL --dates N",
		Short: "Change how many dates run at once",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			return c.changeBackfill(ctx, cl, args, "parallel", map[string]int{"parallel": n})
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().IntVar(&n, "dates", 1, "how many dates run at once, 100 at most")
	_ = cmd.MarkFlagRequired("dates")
	return cmd
}

func (c *cli) changeBackfill(ctx context.Context, cl *client.Client, args []string, verb string, options any) error {
	project, workflow, err := workflowName(args[0])
	if err != nil {
		return err
	}
	b, err := cl.ChangeBackfill(ctx, project, workflow, args[1], verb, options)
	if err != nil {
		return err
	}
	if c.output == "json" {
		return c.json(b)
	}
	_, err = fmt.Fprintln(c.out, progressLine(b)+etaOf(b))
	return err
}
