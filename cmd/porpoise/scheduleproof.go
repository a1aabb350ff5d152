package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag/schedule"
)

func (c *cli) proveScheduleCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "prove PROJECT/WORKFLOW SCHEDULE",
		Short: "Show that every planned fire came to an outcome, and fail where one did not",
		Args:  cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			p, err := cl.ProveSchedule(ctx, project, workflow, name, from, to)
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
	return cmd
}

func (c *cli) showProof(p client.ScheduleProof) error {
	rows := [][]string{{"planned", fmt.Sprint(p.Planned)}}
	for _, state := range []schedule.State{schedule.Fired, schedule.Skipped, schedule.Missed, schedule.Duplicate} {
		rows = append(rows, []string{string(state), fmt.Sprint(p.Outcomes[state])})
	}
	rows = append(rows, []string{"open", fmt.Sprint(p.Open)}, []string{"mean lateness", fmt.Sprintf("%d ms", p.MeanLateMS)})
	if p.Retired > 0 {
		rows = append(rows, []string{"instance retired since", fmt.Sprint(p.Retired)})
	}
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
