package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag/schedule"
)

func (c *cli) proveScheduleCommand() *cobra.Command {
	var from, to, project string
	cmd := &cobra.Command{
		Use:   "prove [PROJECT/WORKFLOW SCHEDULE]",
		Short: "Show that every planned fire came to an outcome, and fail where one did not",
		Long: `Show that every planned fire came to an outcome: of one schedule, or without names of all
that you may see, or of --project. The exit code is 1 where something is wrong, and 6 where
nothing is and not all could be compared.`,
		Args: cobra.MaximumNArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			switch {
			case len(args) == 0:
				return c.proveAll(ctx, cl, project, from, to)
			case len(args) == 1 || project != "":
				return usagef("name PROJECT/WORKFLOW and SCHEDULE, or nothing, or --project alone")
			}
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			p, err := cl.ProveSchedule(ctx, project, workflow, args[1], from, to)
			if err != nil {
				return err
			}
			if c.output == "json" {
				err = c.json(p)
			} else {
				err = c.showProof(p)
			}
			if err != nil {
				return err
			}
			return verdict(p.Verdict)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	rangeFlags(cmd, &from, &to)
	cmd.Flags().StringVar(&project, "project", "", "without names: only the schedules of this project")
	return cmd
}

// proveAll shows the sum of many proofs, and those that do not hold.
func (c *cli) proveAll(ctx context.Context, cl *client.Client, project, from, to string) error {
	p, err := cl.ProveSchedules(ctx, project, from, to)
	if err != nil {
		return err
	}
	if c.output == "json" {
		if err := c.json(p); err != nil {
			return err
		}
		return verdict(p.Verdict)
	}
	rows := sumRows(p.Planned, p.Outcomes, p.Open, p.Retired)
	rows = append([][]string{{"schedules", fmt.Sprint(p.Schedules)}, {"of them proved", fmt.Sprint(p.Held)}}, rows...)
	if err := table(c.out, []string{"FIRES", at(p.From) + " to " + at(p.To)}, rows); err != nil {
		return err
	}
	if len(p.Items) > 0 {
		rows := make([][]string, len(p.Items))
		for i, u := range p.Items {
			wrong := ""
			if n := u.Missing + u.Unexpected + u.NoInstance + u.NoFire + u.WrongDays; n > 0 {
				wrong = fmt.Sprint(n)
			}
			rows[i] = []string{u.Project + "/" + u.Workflow, u.Name, u.Verdict, wrong, u.Why}
		}
		if _, err := fmt.Fprintln(c.out); err != nil {
			return err
		}
		if err := table(c.out, []string{"WORKFLOW", "SCHEDULE", "VERDICT", "WRONG", "NOT COMPARED SINCE"}, rows); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(c.out, verdicts[p.Verdict]); err != nil {
		return err
	}
	return verdict(p.Verdict)
}

// sumRows are what became of fires, a line each.
func sumRows(planned int64, outcomes map[schedule.State]int64, open, retired int64) [][]string {
	rows := [][]string{{"planned", fmt.Sprint(planned)}}
	for _, state := range []schedule.State{schedule.Fired, schedule.Skipped, schedule.Missed, schedule.Duplicate} {
		rows = append(rows, []string{string(state), fmt.Sprint(outcomes[state])})
	}
	rows = append(rows, []string{"open", fmt.Sprint(open)})
	if retired > 0 {
		rows = append(rows, []string{"instance retired since", fmt.Sprint(retired)})
	}
	return rows
}

func (c *cli) showProof(p client.ScheduleProof) error {
	rows := append(sumRows(p.Planned, p.Outcomes, p.Open, p.Retired), []string{"mean lateness", fmt.Sprintf("%d ms", p.MeanLateMS)})
	for _, l := range []struct {
		what string
		list []client.Time
	}{{"missing", p.Missing}, {"beside the rules", p.Unexpected}, {"without its instance", p.NoInstance}, {"an instance without a fire", p.NoFire}} {
		for _, moment := range l.list {
			rows = append(rows, []string{l.what, at(moment)})
		}
	}
	for _, d := range p.WrongDays {
		rows = append(rows, []string{"not as many as the rules name", fmt.Sprintf("%s: %d of %d", d.Day, d.Counted, d.Planned)})
	}
	if err := table(c.out, []string{"FIRES", at(p.From) + " to " + at(p.To)}, rows); err != nil {
		return err
	}
	text := verdicts[p.Verdict]
	if p.Why != "" {
		text += "; not all was compared: " + p.Why
	}
	_, err := fmt.Fprintln(c.out, text)
	return err
}

var verdicts = map[string]string{"holds": "the proof holds", "fails": "the proof does not hold", "unproven": "nothing speaks against it, and it is not proved"}

// verdict is what the command ends with.
func verdict(word string) error {
	switch word {
	case "holds":
		return nil
	case "unproven":
		return told(exitUnproven)
	}
	return told(exitFailed)
}
