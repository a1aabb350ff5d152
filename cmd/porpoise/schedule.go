package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Start workflows at the moments that a schedule says, and prove that it was done",
	}
	cmd.AddCommand(c.listSchedulesCommand(), c.getScheduleCommand(), c.setScheduleCommand(), c.applySchedulesCommand(), c.deleteScheduleCommand(),
		c.enableScheduleCommand("pause", "Fire no more until it is resumed"), c.enableScheduleCommand("resume", "Fire again, from now on"),
		c.triggerScheduleCommand(), c.runFiresCommand(), c.scheduleHookCommand(), c.firesCommand(), c.fireDaysCommand(), c.heatCommand(), c.hourCommand(), c.proveScheduleCommand(), c.explainScheduleCommand(), c.previewCronCommand())
	return cmd
}

func (c *cli) previewCronCommand() *cobra.Command {
	var p client.Cron
	var project, path string
	cmd := &cobra.Command{
		Use:   "preview CRON | --project PROJECT -f FILE|-",
		Short: "Say what a cron expression means, or a file of schedules, and when it fires next",
		Long: `Say what a cron expression means, in which dialect it was read, and when it fires next in
a timezone. Five fields are Unix (Sunday is 0 or 7), six and seven are Quartz (seconds
first, Sunday is 1); --dialect unix reads six fields as Unix with seconds. A fire that a
change of the clocks has to do with is marked. With -f it says when the schedules of a file
would fire, and changes nothing.`,
		Example: `  porpoise schedule preview "30 2 * * MON-FRI" --timezone Europe/Berlin
  porpoise schedule preview "0 0 12 LW * ?" -n 12
  porpoise schedule preview "@every 90s"`,
		Args: cobra.MaximumNArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			switch {
			case len(args) == 0 && project != "" && path != "":
				return c.previewFile(ctx, cl, project, path, p.N)
			case len(args) == 0 || project+path != "":
				return usagef("name a cron expression, or --project and -f FILE")
			}
			p.Text = args[0]
			out, err := cl.PreviewCron(ctx, p)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(out)
			}
			return c.showCron(out)
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVar(&p.Timezone, "timezone", "", "whose clock it is about, such as Europe/Berlin; without it UTC")
	f.StringVar(&p.Dialect, "dialect", "", "unix or quartz; without it by the number of fields")
	f.StringVar(&p.From, "from", "", "fires later than this, such as 2026-03-29T00:00:00Z; without it now")
	f.StringVar(&project, "project", "", "with -f: whose schedules these would be")
	f.StringVarP(&path, "file", "f", "", "a file of schedules, or - for standard input")
	f.IntVarP(&p.N, "number", "n", 5, "how many fires, at most 100")
	return cmd
}

// dialectRules say what a dialect means for the days of an expression.
var dialectRules = map[string]string{
	"unix":   "unix: Sunday is 0 or 7, and a day counts that either day field names",
	"quartz": "quartz: Sunday is 1, and only one day field may be set",
}

func (c *cli) showCron(p client.CronPreview) error {
	why := "asked for"
	if p.DialectFrom == "fields" {
		why = "by the number of fields"
	}
	clocks := "stands for times on the wall: a change of the clocks neither loses nor doubles one"
	if p.FollowsRealTime {
		clocks = "follows real time: it fires whenever the clock shows such a time"
	}
	if _, err := fmt.Fprintf(c.out, "%s (%s)\n%s (%s)\n%s\n\n", p.Words.English, p.Timezone, dialectRules[p.Dialect], why, clocks); err != nil {
		return err
	}
	if len(p.Fires) == 0 {
		_, err := fmt.Fprintln(c.out, "it does not fire any more")
		return err
	}
	rows := make([][]string, len(p.Fires))
	for i, f := range p.Fires {
		rows[i] = []string{f.Local, f.At.UTC().Format("2006-01-02 15:04:05"), clockNote(f.Mark, f.LeftOut)}
	}
	return table(c.out, []string{"FIRES", "UTC", "CLOCKS"}, rows)
}
