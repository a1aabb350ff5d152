package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

func (c *cli) startCommand() *cobra.Command {
	var params []string
	var wait bool
	var start client.Start
	var reply client.Reply
	var by signing
	cmd := &cobra.Command{
		Use:   "start PROJECT/WORKFLOW",
		Short: "Start a workflow",
		Long: `Start a workflow and print the id of its instance.

With --wait it stays until the instance is over: on a terminal with a live table of
the tasks, otherwise with a line for each change. The exit code is then 0 for success
and 1 for everything else; 3 when the server is away for longer than --patience. What
ends the waiting does not end the instance.`,
		Args: cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, workflow, ok := strings.Cut(args[0], "/")
			if !ok || project == "" || workflow == "" {
				return usagef("%q: want PROJECT/WORKFLOW", args[0])
			}
			var err error
			if start.Params, err = parseParams(params); err != nil {
				return err
			}
			if start.Reply, err = c.reply(reply, by); err != nil {
				return err
			}
			id, err := cl.StartWorkflow(ctx, project, workflow, start)
			if err != nil {
				return err
			}
			if wait {
				return c.wait(ctx, cl, id)
			}
			if c.output == "json" {
				return c.json(map[string]string{"instance_id": id})
			}
			_, err = fmt.Fprintln(c.out, id)
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
	f := cmd.Flags()
	f.StringArrayVar(&params, "param", nil, "KEY=VALUE of a declared parameter; may be repeated")
	f.BoolVarP(&wait, "wait", "w", false, "wait until the instance is over")
	f.DurationVar(&c.patience, "patience", client.DefaultPatience, "how long --wait bears a server that is away")
	f.IntVar(&start.Version, "version", 0, "version to run; 0 is the published one")
	f.StringSliceVar(&start.StartTasks, "task", nil, "run only this task and what --scope adds; may be repeated")
	f.StringVar(&start.Scope, "scope", "", "only, upstream or downstream; with --task")
	f.BoolVar(&start.DryRun, "dry-run", false, "go through the graph without running a task")
	f.StringVar(&start.WorkerGroup, "worker-group", "", "for tasks that name none")
	f.StringVar(&start.Priority, "priority", "", "highest, high, medium, low or lowest")
	f.StringVar(&start.OnFailure, "on-failure", "", "continue, end or compensate, instead of the definition's")
	f.StringVar(&start.ScheduleTime, "schedule-time", "", "the moment that dates in parameters are about, such as 2026-03-29T04:00:00Z; without it now")
	f.StringVar(&start.Timezone, "timezone", "", "whose calendar those dates are of, such as Europe/Berlin; without it UTC")
	f.StringVar(&start.IdempotencyKey, "idempotency-key", "", "a repeat with the same key answers with the first instance")
	f.StringVar(&reply.URL, "reply-url", "", "who is called with what becomes of the instance")
	f.StringVar(&by.name, "reply-secret", "", "name of the project's secret that signs those calls")
	f.StringVar(&by.file, "reply-secret-file", "", "file of the secret that signs those calls, - for standard input")
	f.StringVar(&reply.CorrelationID, "correlation-id", "", "comes back in those calls")
	f.StringSliceVar(&reply.Events, "reply-event", nil, "kind of event to call for; may be repeated")
	cmd.MarkFlagsMutuallyExclusive("reply-secret", "reply-secret-file")
	return cmd
}

// reply is what the flags say of a reply; nil where they name no URL.
func (c *cli) reply(r client.Reply, by signing) (*client.Reply, error) {
	if r.URL == "" {
		if by != (signing{}) || r.CorrelationID != "" || len(r.Events) > 0 {
			return nil, usagef("--reply-secret, --reply-secret-file, --correlation-id and --reply-event need --reply-url")
		}
		return nil, nil
	}
	var err error
	r.Secret, err = c.secret(by)
	return &r, err
}

func parseParams(pairs []string) (map[string]string, error) { return parsePairs("--param", pairs) }

// parsePairs reads what a flag that may be repeated gives, each as KEY=VALUE.
func parsePairs(flag string, pairs []string) (map[string]string, error) {
	params := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usagef("%s %q: want KEY=VALUE", flag, pair)
		}
		if _, twice := params[key]; twice {
			return nil, usagef("%s %s is given twice", flag, key)
		}
		params[key] = value
	}
	return params, nil
}

// wait shows an instance until it is over and turns its end into an exit code.
func (c *cli) wait(ctx context.Context, cl *client.Client, id string) error {
	show := c.newProgress(cl, id)
	in, err := cl.Wait(ctx, id, show.update)
	show.end(ctx, in, err)
	if err != nil {
		return fmt.Errorf("wait for instance %s: %w", id, err)
	}
	if c.output == "json" {
		if err := c.json(in); err != nil {
			return err
		}
	}
	if in.State != dag.InstanceSuccess {
		return told(exitFailed)
	}
	return nil
}
