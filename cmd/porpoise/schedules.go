package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag/schedule"
)

// when says in a few words when a schedule fires.
func when(s client.Schedule) string {
	text := s.Cron
	switch {
	case s.After != nil:
		text = "after " + s.After.Workflow
	case s.Webhook != nil:
		text = "call, by " + s.Webhook.Secret
	case text == "":
		text = fmt.Sprintf("%d moments", len(s.At))
	}
	if s.Timezone != "" {
		text += " " + s.Timezone
	}
	return text
}

func (c *cli) showSchedules(value any, items []client.Schedule) error {
	rows := make([][]string, len(items))
	for i, s := range items {
		state := "enabled"
		if !s.Enabled {
			state = "paused by " + s.ChangedBy
			if s.Why != "" {
				state += ": " + s.Why
			}
		}
		rows[i] = []string{s.Project + "/" + s.Workflow, s.Name, when(s), state, at(s.NextAt)}
	}
	return c.show(value, []string{"WORKFLOW", "SCHEDULE", "WHEN", "STATE", "NEXT"}, rows)
}

func (c *cli) listSchedulesCommand() *cobra.Command {
	f := client.ScheduleFilter{}
	var paused, enabled bool
	cmd := &cobra.Command{
		Use:   "list [PROJECT[/WORKFLOW]]",
		Short: "List schedules and when they fire next",
		Args:  cobra.MaximumNArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if len(args) == 1 {
				f.Project = args[0]
				if project, workflow, err := workflowName(args[0]); err == nil {
					f.Project, f.Workflow = project, workflow
				}
			}
			switch {
			case paused:
				f.Enabled = "false"
			case enabled:
				f.Enabled = "true"
			}
			items, err := cl.Schedules(ctx, f)
			if err != nil {
				return err
			}
			return c.showSchedules(items, items)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Text, "match", "", "only those with this in their name")
	flags.BoolVar(&paused, "paused", false, "only those that are paused")
	flags.BoolVar(&enabled, "enabled", false, "only those that are not")
	flags.IntVar(&f.Limit, "limit", 200, "how many at most; 0 is all")
	cmd.MarkFlagsMutuallyExclusive("paused", "enabled")
	return cmd
}

// onSchedule is the body of a command about PROJECT/WORKFLOW SCHEDULE.
func (c *cli) onSchedule(run func(ctx context.Context, cl *client.Client, project, workflow, name string) error) func(*cobra.Command, []string) error {
	return c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
		project, workflow, err := workflowName(args[0])
		if err != nil {
			return err
		}
		return run(ctx, cl, project, workflow, args[1])
	})
}

// clockNote says what a change of the clocks has to do with a fire.
func clockNote(mark, leftOut string) string {
	switch mark {
	case "gap":
		return "the clock leaves out " + leftOut
	case "repeated":
		return "the clock shows this time twice"
	}
	return ""
}

func (c *cli) getScheduleCommand() *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:   "get PROJECT/WORKFLOW SCHEDULE",
		Short: "Show a schedule and its next fires",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			s, err := cl.Schedule(ctx, project, workflow, name, n)
			if err != nil {
				return err
			}
			if err := c.showSchedules(s, []client.Schedule{s}); err != nil || c.output == "json" {
				return err
			}
			rows := make([][]string, len(s.Next))
			for i, f := range s.Next {
				note := clockNote(f.Mark, f.LeftOut)
				if f.Skip != "" {
					note = "left out: " + f.Skip
				}
				rows[i] = []string{f.Local, at(f.Due), note}
			}
			if _, err := fmt.Fprintln(c.out); err != nil {
				return err
			}
			return table(c.out, []string{"FIRES", "DUE", "NOTE"}, rows)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().IntVarP(&n, "number", "n", 5, "how many fires, at most 100")
	return cmd
}

func (c *cli) applySchedulesCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "apply PROJECT -f FILE|-",
		Short: "Make or change the schedules and calendars of a file",
		Long: `Make or change the schedules and calendars of a YAML or JSON file. Those that are not in
the file stay as they are. Everything is checked before anything is saved: where one is
wrong, nothing changes. A change holds from the next fire on.`,
		Example: `  porpoise schedule apply shop -f schedules.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if path == "" {
				return usagef("say what to read: -f FILE or -f -")
			}
			return c.applySchedules(ctx, cl, args[0], path)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "file, or - for standard input")
	return cmd
}

func (c *cli) applySchedules(ctx context.Context, cl *client.Client, project, path string) error {
	read, err := c.readText(path)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	doc, wrong := schedule.Read(read.text, read.format)
	if len(wrong) > 0 {
		return &failure{code: exitUsage, err: &fieldErrors{source: read.name, fields: wrong}}
	}
	if len(doc.Calendars) > 0 && len(doc.Schedules) > 0 {
		if err := cl.CheckSchedules(ctx, project, doc); err != nil {
			return err
		}
	}
	for _, one := range doc.Calendars {
		if _, err := cl.PutCalendar(ctx, project, one.Name, one.Days); err != nil {
			return fmt.Errorf("save calendar %s: %w", one.Name, err)
		}
	}
	saved := client.SavedSchedules{}
	if len(doc.Schedules) > 0 {
		if saved, err = cl.PutSchedules(ctx, project, doc.Schedules); err != nil {
			return err
		}
	}
	if c.output == "json" {
		return c.json(saved)
	}
	_, err = fmt.Fprintf(c.out, "%d schedules are new, %d were there; %d calendars\n", saved.Created, saved.Changed, len(doc.Calendars))
	return err
}

func (c *cli) deleteScheduleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT/WORKFLOW SCHEDULE",
		Short: "Delete a schedule; its instances stay",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			if err := cl.DeleteSchedule(ctx, project, workflow, name); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "schedule %s is deleted\n", name)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

// enableScheduleCommand is pause or resume.
func (c *cli) enableScheduleCommand(verb, short string) *cobra.Command {
	var wish client.EnableSchedules
	var many bool
	cmd := &cobra.Command{
		Use:   verb + " PROJECT/WORKFLOW SCHEDULE | PROJECT --all",
		Short: short,
		Example: `  porpoise schedule ` + verb + ` shop/daily nightly
  porpoise schedule ` + verb + ` shop --all --match night --preview`,
		Args: cobra.RangeArgs(1, 2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if !many {
				if len(args) != 2 || wish.Workflow+wish.Text != "" || wish.Preview {
					return usagef("name PROJECT/WORKFLOW and SCHEDULE, or PROJECT and --all")
				}
				project, workflow, err := workflowName(args[0])
				if err != nil {
					return err
				}
				s, err := cl.EnableSchedule(ctx, project, workflow, args[1], verb, wish.Reason)
				if err != nil {
					return err
				}
				return c.showSchedules(s, []client.Schedule{s})
			}
			if len(args) != 1 {
				return usagef("--all takes a project, and --workflow and --match say which of its schedules")
			}
			out, err := cl.EnableSchedules(ctx, args[0], verb, wish)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(out)
			}
			_, err = fmt.Fprintf(c.out, "%d schedules match, %d are changed\n", out.Matched, out.Changed)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	f.BoolVar(&many, "all", false, "every schedule of the project that --workflow and --match pick")
	f.StringVar(&wish.Workflow, "workflow", "", "with --all: only those of this workflow")
	f.StringVar(&wish.Text, "match", "", "with --all: only those with this in their name")
	f.BoolVar(&wish.Preview, "preview", false, "with --all: only count them")
	if verb == "pause" {
		f.StringVar(&wish.Reason, "reason", "", "why, for those who find it paused")
	}
	return cmd
}

func (c *cli) triggerScheduleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trigger PROJECT/WORKFLOW SCHEDULE",
		Short: "Start an instance now, as a fire would, and print its id",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			id, err := cl.TriggerSchedule(ctx, project, workflow, name)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(map[string]string{"instance_id": id})
			}
			_, err = fmt.Fprintln(c.out, id)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

func (c *cli) firesCommand() *cobra.Command {
	var from, to, state string
	var limit int
	cmd := &cobra.Command{
		Use:   "fires PROJECT/WORKFLOW SCHEDULE",
		Short: "List what became of a schedule's fires, the oldest first",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			items, err := cl.Fires(ctx, project, workflow, name, from, to, state, limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, f := range items {
				late := ""
				if f.State == schedule.Fired {
					late = fmt.Sprintf("%d ms", f.LateMS)
				}
				rows[i] = []string{at(f.At), string(f.State), f.Reason, f.InstanceID, at(f.FiredAt), late, f.Master}
			}
			return c.show(items, []string{"PLANNED", "STATE", "REASON", "INSTANCE", "FIRED", "LATE", "MASTER"}, rows)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	rangeFlags(cmd, &from, &to)
	cmd.Flags().StringVar(&state, "state", "", "only planned, waiting, fired, skipped, missed or duplicate ones")
	cmd.Flags().IntVar(&limit, "limit", 200, "how many at most; 0 is all")
	return cmd
}

func rangeFlags(cmd *cobra.Command, from, to *string) {
	cmd.Flags().StringVar(from, "from", "", "the first moment, such as 2026-03-29T00:00:00Z; without it a day before --to")
	cmd.Flags().StringVar(to, "to", "", "the moment before which it ends; without it now")
}

func (c *cli) explainScheduleCommand() *cobra.Command {
	var moment string
	cmd := &cobra.Command{
		Use:   "explain PROJECT/WORKFLOW SCHEDULE",
		Short: "Say why a schedule fires or does not",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			e, err := cl.ExplainSchedule(ctx, project, workflow, name, moment)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(e)
			}
			return explainTree(c.out, e, 0)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	cmd.Flags().StringVar(&moment, "at", "", "what became of this moment instead, such as 2026-03-29T05:00:00Z")
	return cmd
}

func (c *cli) calendarsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calendars PROJECT",
		Short: "List a project's calendars: sets of days on which schedules do not fire, or do alone",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Calendars(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, l := range items {
				rows[i] = []string{l.Name, fmt.Sprint(len(l.Days)), l.ChangedBy, at(l.ChangedAt)}
			}
			return c.show(items, []string{"CALENDAR", "DAYS", "BY", "CHANGED"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.AddCommand(c.getCalendarCommand(), &cobra.Command{
		Use:     "set PROJECT CALENDAR DAY...",
		Short:   "Make a calendar, or give it exactly these days",
		Example: `  porpoise calendars set shop holidays 12-25 12-26 2026-12-31..2027-01-03 sunday`,
		Args:    cobra.MinimumNArgs(3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if wrong := (schedule.Calendar{Days: args[2:]}).Check("days"); len(wrong) > 0 {
				return &failure{code: exitUsage, err: &fieldErrors{source: "calendar " + args[1], fields: wrong}}
			}
			out, err := cl.PutCalendar(ctx, args[0], args[1], args[2:])
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(out)
			}
			_, err = fmt.Fprintf(c.out, "%s has %d days\n", out.Name, len(out.Days))
			return err
		}),
	}, &cobra.Command{
		Use:   "delete PROJECT CALENDAR",
		Short: "Delete a calendar that no schedule asks for",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.DeleteCalendar(ctx, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "calendar %s is deleted\n", args[1])
			return err
		}),
	})
	return cmd
}
