package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) previewCommand() *cobra.Command {
	var params, files []string
	var p client.Preview
	cmd := &cobra.Command{
		Use:   "preview PROJECT/WORKFLOW",
		Short: "Show what parameters would be, and where each comes from",
		Long: `Work out the parameters of a workflow, or of one of its tasks, as a start would, and
start nothing. Of several sources of one name the first wins. With --task the task is
shown as a worker would get it; with -f the text of a file stands for the saved version.`,
		Args: cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, err := workflowName(args[0])
			if err != nil {
				return err
			}
			if p.Params, err = parseParams(params); err != nil {
				return err
			}
			if len(files) > 0 {
				sources, err := c.read(files)
				if err != nil {
					return err
				}
				if len(sources) != 1 {
					return usagef("-f names %d files, want one", len(sources))
				}
				p.Text, p.Format = string(sources[0].text), sources[0].format
			}
			out, err := cl.PreviewParameters(ctx, project, workflow, p)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(out)
			}
			return c.showPreview(out)
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	fileFlag(cmd, &files)
	f.StringVar(&p.Task, "task", "", "the task to work out; without it the workflow itself")
	f.StringArrayVar(&params, "param", nil, "KEY=VALUE of a declared parameter; may be repeated")
	f.IntVar(&p.Version, "version", 0, "version to look at; 0 is the published one")
	f.StringVar(&p.ScheduleTime, "schedule-time", "", "the moment that dates are about, such as 2026-03-29T04:00:00Z; without it now")
	f.StringVar(&p.Timezone, "timezone", "", "whose calendar dates are of, such as Europe/Berlin; without it UTC")
	f.StringVar(&p.InstanceID, "instance", "", "an instance whose outputs stand for those of the tasks above")
	return cmd
}

func (c *cli) showPreview(p client.Parameters) error {
	rows := make([][]string, len(p.Params))
	for i, v := range p.Params {
		sources := make([]string, len(v.Chain))
		for k, l := range v.Chain {
			sources[k] = strings.TrimSpace(l.Origin + " " + l.From)
			if k > 0 {
				sources[k] += " (" + l.Value + ")"
			}
		}
		rows[i] = []string{v.Name, v.Type, v.Value, strings.Join(sources, " < ")}
	}
	if err := table(c.out, []string{"NAME", "TYPE", "VALUE", "FROM"}, rows); err != nil {
		return err
	}
	rows = nil
	if p.Task != nil {
		for _, key := range slices.Sorted(maps.Keys(p.Task.Fields)) {
			text, whole := p.Task.Fields[key].(string)
			if !whole {
				raw, err := json.Marshal(p.Task.Fields[key])
				if err != nil {
					return fmt.Errorf("write the field %s: %w", key, err)
				}
				text = string(raw)
			}
			rows = append(rows, []string{key, text})
		}
	}
	for _, u := range p.Unresolved {
		rows = append(rows, []string{u.Field, "no value yet for " + u.Name})
	}
	if len(rows) == 0 {
		return nil
	}
	return table(c.out, []string{"FIELD", "TEXT"}, rows)
}
