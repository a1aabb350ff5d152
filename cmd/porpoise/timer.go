package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) timerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timer",
		Short: "Call URLs at the moments of cron expressions",
		Long: `Call URLs at the moments of cron expressions. A timer belongs to an app, which is a project.
It never changes: replace it by another. A new one is not enabled.`,
	}
	cmd.AddCommand(
		c.createTimerCommand(), c.replaceTimerCommand(), c.timerSlicesCommand(), c.listTimersCommand(), c.getTimerCommand(), c.timerRecordsCommand(), c.timerStatsCommand(),
		c.changeTimerCommand("enable APP ID", "Let a timer fire", "timer %s is enabled\n", (*client.Client).EnableTimer),
		c.changeTimerCommand("disable APP ID", "Let a timer fire no more; what is planned stays, and is skipped", "timer %s is disabled\n", (*client.Client).DisableTimer),
		c.changeTimerCommand("delete APP ID", "Delete a timer", "timer %s is deleted\n", (*client.Client).DeleteTimer),
	)
	return cmd
}

// readTimer takes what the arguments and headers say.
func readTimer(def *client.TimerDef, app string, args, headers []string) error {
	def.App, def.Name, def.Cron, def.Call.URL = app, args[0], args[1], args[2]
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return usagef("--header %q: want NAME: VALUE", h)
		}
		if def.Call.Header == nil {
			def.Call.Header = map[string][]string{}
		}
		def.Call.Header[name] = append(def.Call.Header[name], strings.TrimSpace(value))
	}
	return nil
}

func (c *cli) replaceTimerCommand() *cobra.Command {
	var def client.TimerDef
	var headers []string
	cmd := &cobra.Command{
		Use:     "replace APP ID NAME CRON URL",
		Short:   "Put another timer in the place of one, enabled where that was",
		Example: `  porpoise timer replace sales 12 ping "*/10 * * * * *" http://example.org/ping`,
		Args:    cobra.ExactArgs(5),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if _, err := strconv.ParseInt(args[1], 10, 64); err != nil {
				return usagef("%q is not the id of a timer", args[1])
			}
			if err := readTimer(&def, args[0], args[2:], headers); err != nil {
				return err
			}
			id, err := cl.ReplaceTimer(ctx, args[1], def)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(map[string]any{"id": id})
			}
			_, err = fmt.Fprintf(c.out, "timer %d is in the place of %s\n", id, args[1])
			return err
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	timerFlags(cmd, &def, &headers)
	return cmd
}

func (c *cli) createTimerCommand() *cobra.Command {
	var def client.TimerDef
	var headers []string
	var enable bool
	cmd := &cobra.Command{
		Use:     "create APP NAME CRON URL",
		Short:   "Make a timer",
		Example: `  porpoise timer create sales ping "*/5 * * * * *" http://example.org/ping --enable`,
		Args:    cobra.ExactArgs(4),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := readTimer(&def, args[0], args[1:], headers); err != nil {
				return err
			}
			id, err := cl.CreateTimer(ctx, def)
			if err != nil {
				return err
			}
			text := strconv.FormatInt(id, 10)
			if enable {
				if err := cl.EnableTimer(ctx, def.App, text); err != nil {
					return fmt.Errorf("timer %s is made, and not enabled: %w", text, err)
				}
			}
			if c.output == "json" {
				return c.json(map[string]any{"id": id, "enabled": enable})
			}
			_, err = fmt.Fprintf(c.out, "timer %s is made\n", text)
			return err
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	timerFlags(cmd, &def, &headers)
	cmd.Flags().BoolVar(&enable, "enable", false, "let it fire from now on")
	return cmd
}

func timerFlags(cmd *cobra.Command, def *client.TimerDef, headers *[]string) {
	f := cmd.Flags()
	f.StringVar(&def.Call.Method, "method", "POST", "GET, POST, DELETE or PATCH")
	f.StringArrayVar(headers, "header", nil, "a header as NAME: VALUE; may be repeated")
	f.StringVar(&def.Call.Body, "body", "", "what is sent")
	f.IntVar(&def.Call.TimeoutSeconds, "timeout", 0, "seconds that one try may take; without it 10")
	f.IntVar(&def.Call.MaxTries, "tries", 0, "how often a call is tried; without it 5")
	f.StringVar(&def.Timezone, "timezone", "", "whose clock it is about, such as Europe/Berlin; without it UTC")
	f.StringVar(&def.Dialect, "dialect", "", "unix or quartz; without it by the number of fields")
}

func timerRow(t client.Timer) []string {
	zone := t.Timezone
	if zone == "" {
		zone = "UTC"
	}
	enabled := yes(t.Enabled)
	if t.Why != "" {
		enabled += ": " + t.Why
	}
	return []string{strconv.FormatInt(t.ID, 10), t.Name, t.Cron, zone, enabled, strconv.Itoa(t.Failures), at(t.FailingSince), t.Call.Method + " " + t.Call.URL}
}

var timerColumns = []string{"ID", "TIMER", "CRON", "TIMEZONE", "ENABLED", "FAILURES", "FAILING SINCE", "CALLS"}

func (c *cli) listTimersCommand() *cobra.Command {
	var part string
	cmd := &cobra.Command{
		Use:   "list APP",
		Short: "List an app's timers, by name",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Timers(ctx, args[0], part)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, t := range items {
				rows[i] = timerRow(t)
			}
			return c.show(items, timerColumns, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.Flags().StringVar(&part, "name", "", "only those whose names have this part")
	return cmd
}

func (c *cli) getTimerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get APP ID",
		Short: "Show a timer",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			t, err := cl.Timer(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return c.show(t, timerColumns, [][]string{timerRow(t)})
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
}

func (c *cli) changeTimerCommand(use, short, done string, change func(cl *client.Client, ctx context.Context, app, id string) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := change(cl, ctx, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, done, args[1])
			return err
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
}

func (c *cli) timerRecordsCommand() *cobra.Command {
	var state string
	var limit int
	cmd := &cobra.Command{
		Use:   "records APP ID",
		Short: "List what became of a timer's firings, the newest first",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.TimerRecords(ctx, args[0], args[1], state, limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, r := range items {
				rows[i] = []string{at(r.PlannedAt), r.State, strconv.Itoa(r.Tries), strconv.FormatInt(r.LateMS, 10), strconv.FormatInt(r.CostMS, 10), strconv.Itoa(r.Status), r.Error}
			}
			return c.show(items, []string{"PLANNED", "STATE", "TRIES", "LATE MS", "TOOK MS", "STATUS", "ERROR"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.Flags().StringVar(&state, "state", "", "only planned, calling, retry, success, failed or skipped ones")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many")
	return cmd
}

func (c *cli) timerStatsCommand() *cobra.Command {
	var days int
	cmd := &cobra.Command{
		Use:   "stats APP",
		Short: "Sum what became of the firings of an app's timers",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			s, err := cl.TimerStats(ctx, args[0], days)
			if err != nil {
				return err
			}
			var states []string
			for _, state := range slices.Sorted(maps.Keys(s.Tasks)) {
				states = append(states, fmt.Sprintf("%d %s", s.Tasks[state], state))
			}
			row := []string{strconv.Itoa(s.Enabled), strconv.Itoa(s.Failing), strings.Join(states, ", "), strconv.FormatInt(s.Tries, 10), strconv.FormatInt(s.MeanLateMS, 10)}
			return c.show(s, []string{"ENABLED", "FAILING", "FIRINGS", "TRIES", "MEAN LATE MS"}, [][]string{row})
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.Flags().IntVar(&days, "days", 1, "how many days back, with today, as UTC has them")
	return cmd
}
