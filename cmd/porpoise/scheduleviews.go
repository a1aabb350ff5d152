package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag/schedule"
)

func (c *cli) setScheduleCommand() *cobra.Command {
	var one schedule.Named
	var overlap string
	var params []string
	cmd := &cobra.Command{
		Use:     "set PROJECT/WORKFLOW SCHEDULE CRON",
		Short:   "Make a schedule, or give it exactly these rules; apply takes all that a file can say",
		Example: `  porpoise schedule set shop/daily nightly "30 2 * * *" --timezone Europe/Berlin --overlap wait --param day=7`,
		Args:    cobra.ExactArgs(3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			one.Workflow, one.Name, one.Cron, one.Overlap = workflow, args[1], args[2], schedule.Overlap(overlap)
			for _, p := range params {
				name, value, ok := strings.Cut(p, "=")
				if !ok {
					return usagef("--param %q: want NAME=VALUE", p)
				}
				if one.Params == nil {
					one.Params = map[string]string{}
				}
				one.Params[name] = value
			}
			saved, err := cl.PutSchedules(ctx, project, []schedule.Named{one})
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(saved)
			}
			word := "changed"
			if saved.Created > 0 {
				word = "made"
			}
			_, err = fmt.Fprintf(c.out, "schedule %s is %s\n", one.Name, word)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	f.StringVar(&one.Timezone, "timezone", "", "whose clock it is about, such as Europe/Berlin; without it UTC")
	f.StringVar(&one.Dialect, "dialect", "", "unix or quartz; without it by the number of fields")
	f.StringVar(&overlap, "overlap", "", "allow, wait, skip or replace, while an instance of it runs; without it allow")
	f.StringVar(&one.Jitter, "jitter", "", "each fire is later by a part of this, such as 90s")
	f.StringArrayVar(&params, "param", nil, "a parameter as NAME=VALUE; may be repeated")
	return cmd
}

// previewFile says when the schedules of a file would fire, without saving one.
func (c *cli) previewFile(ctx context.Context, cl *client.Client, project, path string, n int) error {
	read, err := c.readText(path)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	doc, wrong := schedule.Read(read.text, read.format)
	if len(wrong) > 0 {
		return &failure{code: exitUsage, err: &fieldErrors{source: read.name, fields: wrong}}
	}
	var rows [][]string
	all := map[string][]client.PlannedFire{}
	for _, one := range doc.Schedules {
		fires, err := cl.PreviewSchedule(ctx, project, one, n)
		if err != nil {
			return fmt.Errorf("preview schedule %s: %w", one.Name, err)
		}
		all[one.Workflow+"/"+one.Name] = fires
		for _, f := range fires {
			note := clockNote(f.Mark, f.LeftOut)
			if f.Skip != "" {
				note = "left out: " + f.Skip
			}
			rows = append(rows, []string{project + "/" + one.Workflow, one.Name, f.Local, at(f.Due), note})
		}
	}
	return c.show(all, []string{"WORKFLOW", "SCHEDULE", "FIRES", "DUE", "NOTE"}, rows)
}

func (c *cli) fireDaysCommand() *cobra.Command {
	var from, to, span string
	cmd := &cobra.Command{
		Use:   "days PROJECT/WORKFLOW SCHEDULE",
		Short: "Count what became of a schedule's fires, by the days of its timezone",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			d, err := cl.FireDays(ctx, project, workflow, name, from, to, span)
			if err != nil {
				return err
			}
			states := []schedule.State{schedule.Planned, schedule.Waiting, schedule.Fired, schedule.Skipped, schedule.Missed, schedule.Duplicate}
			header := []string{"DAY"}
			for _, s := range states {
				header = append(header, strings.ToUpper(string(s)))
			}
			rows := make([][]string, len(d.Days))
			for i, day := range d.Days {
				rows[i] = []string{day.Day}
				for _, s := range states {
					rows[i] = append(rows[i], fmt.Sprint(day.States[s]))
				}
			}
			return c.show(d, header, rows)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	rangeFlags(cmd, &from, &to)
	cmd.Flags().StringVar(&span, "span", "", "a year or a month, 2026 or 2026-03, in place of --from and --to")
	return cmd
}

func (c *cli) heatCommand() *cobra.Command {
	var project, zone, from string
	cmd := &cobra.Command{
		Use:   "heat",
		Short: "Count the fires that schedules plan, by the hours of a week",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			h, err := cl.Heat(ctx, project, zone, from)
			if err != nil {
				return err
			}
			header := []string{"HOUR"}
			for _, d := range h.Days {
				header = append(header, d.Day)
			}
			var rows [][]string
			for hour := range 24 {
				row := []string{fmt.Sprintf("%02d", hour)}
				for _, d := range h.Days {
					text := ""
					if hour < len(d.Fires) && d.Fires[hour] >= 0 {
						text = fmt.Sprint(d.Fires[hour])
					}
					row = append(row, text)
				}
				rows = append(rows, row)
			}
			return c.show(h, header, rows)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&project, "project", "", "only the schedules of this project")
	f.StringVar(&zone, "timezone", "", "whose hours; without it UTC")
	f.StringVar(&from, "from", "", "the first of seven days, such as 2026-03-28; without it today")
	return cmd
}

func (c *cli) hourCommand() *cobra.Command {
	var project, zone string
	var limit int
	cmd := &cobra.Command{
		Use:     "hour DAY HOUR",
		Short:   "List the schedules that fire within an hour",
		Example: `  porpoise schedule hour 2026-03-28 5 --timezone Europe/Berlin`,
		Args:    cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if _, err := time.Parse(time.DateOnly, args[0]); err != nil {
				return usagef("%q is not a day such as 2026-03-28", args[0])
			}
			items, err := cl.SchedulesOfHour(ctx, project, zone, args[0], args[1], limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, s := range items {
				rows[i] = []string{s.Project + "/" + s.Workflow, s.Name, s.Cron, at(s.First), fmt.Sprint(s.Fires)}
			}
			return c.show(items, []string{"WORKFLOW", "SCHEDULE", "CRON", "FIRST", "FIRES"}, rows)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&project, "project", "", "only the schedules of this project")
	f.StringVar(&zone, "timezone", "", "whose hour; without it UTC")
	f.IntVar(&limit, "limit", 200, "how many at most; 0 is all")
	return cmd
}

func (c *cli) getCalendarCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get PROJECT CALENDAR",
		Short: "Show the days of a calendar",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			out, err := cl.Calendar(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			rows := make([][]string, len(out.Days))
			for i, day := range out.Days {
				rows[i] = []string{day}
			}
			return c.show(out, []string{"DAY"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
}

func (c *cli) timerSlicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "slices",
		Short: "Count the firings of all timers that are due soon, by minute",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			out, err := cl.TimerSlices(ctx)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, m := range out.Minutes {
				due := int64(0)
				for _, n := range m.Due {
					due += n
				}
				rows = append(rows, []string{at(m.At), fmt.Sprint(due), fmt.Sprint(m.Buckets)})
			}
			rows = slices.Insert(rows, 0, []string{"overdue", fmt.Sprint(out.Overdue), ""})
			return c.show(out, []string{"MINUTE", "DUE", "BUCKETS"}, rows)
		}),
	}
}
