package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// rerunCommand runs an instance again: in a new round, or with other parameters as a new instance.
func (c *cli) rerunCommand() *cobra.Command {
	var o client.Rerun
	var params []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "rerun INSTANCE",
		Short: "Run an instance, or some of its tasks, again: in a new round, or with other parameters as a new instance",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			var err error
			if len(params) > 0 {
				if o.Params, err = parseParams(params); err != nil {
					return err
				}
			}
			if dry {
				seen, err := cl.PreviewRerun(ctx, args[0], o)
				if err != nil {
					return err
				}
				return c.showRerun(seen)
			}
			in, err := cl.Rerun(ctx, args[0], o)
			if err != nil {
				return err
			}
			if in.ID == args[0] || c.output == "json" {
				return c.asked("rerun", "", in)
			}
			_, err = fmt.Fprintf(c.out, "instance %s runs %s again\n", in.ID, args[0])
			return err
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.From, "from", nil, "run this task again, and all that need it; may be repeated")
	f.StringArrayVar(&params, "param", nil, "KEY=VALUE of a parameter of the new instance, which has no others; may be repeated")
	f.BoolVar(&o.Keep, "keep", false, "a new instance that takes over what --from and the changed parameters leave valid")
	f.StringArrayVar(&o.Tasks, "task", nil, "only this task and what --scope adds; may be repeated")
	f.StringVar(&o.Scope, "scope", "", "only, upstream or downstream; with --task")
	f.BoolVar(&dry, "dry-run", false, "say what would run and what would be kept, and do nothing")
	f.StringVar(&o.Preview, "preview", "", "the token that --dry-run told: refused where something else would be done by now")
	return cmd
}

func (c *cli) showRerun(seen client.RerunPreview) error {
	rows := make([][]string, len(seen.Tasks))
	for i, t := range seen.Tasks {
		rows[i] = []string{t.Task, string(t.State), t.Action, t.Why, t.Because}
	}
	if err := c.show(seen, []string{"TASK", "STATE", "ACTION", "WHY", "BECAUSE"}, rows); err != nil || c.output == "json" {
		return err
	}
	what := "a new round"
	if seen.NewInstance {
		what = "a new instance"
	}
	for _, p := range seen.Parents {
		names := make([]string, len(p.Tasks))
		for i, t := range p.Tasks {
			names[i] = t.Name
		}
		if _, err := fmt.Fprintf(c.out, "with it goes instance %s of %s/%s: %s\n", p.InstanceID, p.Project, p.Workflow, strings.Join(names, ", ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(c.out, "it would be %s; to do just this: --preview %s\n", what, seen.Token)
	return err
}
