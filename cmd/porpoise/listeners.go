package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// maxSecretFile bounds a secret that is read from a file.
const maxSecretFile = 4 << 10

func (c *cli) listenersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "listeners PROJECT",
		Short: "List a project's listeners: who is told of its events",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Listeners(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, l := range items {
				rows[i] = []string{l.Name, l.URL, yes(l.Enabled), yes(l.Signed), fmt.Sprint(l.Dead), l.Description}
			}
			return c.show(items, []string{"LISTENER", "URL", "ENABLED", "SIGNED", "DEAD", "DESCRIPTION"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.AddCommand(c.setListenerCommand(), c.deleteListenerCommand(), c.testListenerCommand(), c.deliveriesCommand(), c.redeliverCommand())
	return cmd
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (c *cli) setListenerCommand() *cobra.Command {
	var l client.PutListener
	var by signing
	var disabled, noSecret bool
	cmd := &cobra.Command{
		Use:   "set PROJECT LISTENER",
		Short: "Make a listener, or change it",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if l.URL == "" {
				return usagef("--url: name who is called")
			}
			secret, err := c.secret(by)
			if err != nil {
				return err
			}
			if l.Enabled = !disabled; by != (signing{}) || noSecret {
				l.Secret = &secret
			}
			out, err := cl.PutListener(ctx, args[0], args[1], l)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(out)
			}
			_, err = fmt.Fprintf(c.out, "%s calls %s\n", out.Name, out.URL)
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&l.URL, "url", "", "who is called")
	f.StringVar(&by.name, "secret", "", "name of the project's secret that signs the calls")
	f.StringVar(&by.file, "secret-file", "", "file of the secret that signs the calls, - for standard input; without either the secret stays")
	f.BoolVar(&noSecret, "no-secret", false, "take the secret away")
	f.StringSliceVar(&l.Filter.Events, "event", nil, "kind of event; may be repeated")
	f.StringSliceVar(&l.Filter.Workflows, "workflow", nil, "only events of this workflow; may be repeated")
	f.StringSliceVar(&l.Filter.Schedules, "schedule", nil, "only instances that this schedule started; may be repeated")
	f.StringSliceVar(&l.Filter.Tasks, "task", nil, "only events of this task; may be repeated")
	f.StringSliceVar(&l.Filter.States, "state", nil, "only this state; may be repeated")
	f.StringSliceVar(&l.Filter.Reasons, "reason", nil, "only this reason; may be repeated")
	f.StringVar(&l.Filter.When, "when", "", "only where this condition holds")
	f.StringVar(&l.Description, "description", "", "what it is for, for people")
	f.BoolVar(&disabled, "disabled", false, "tell it nothing for now")
	cmd.MarkFlagsMutuallyExclusive("secret", "secret-file", "no-secret")
	return cmd
}

// signing is what signs calls: a secret of the project by its name, or one that is read from a file.
type signing struct{ name, file string }

// secret is a secret as the API takes it: by its name, or read without the end of its line; "" for neither. It is no
// flag: other users of the machine see those.
func (c *cli) secret(by signing) (string, error) {
	path := by.file
	switch {
	case by.name != "":
		return "${secret." + by.name + "}", nil
	case path == "":
		return "", nil
	}
	from := c.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxSecretFile+1))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if len(text) > maxSecretFile {
		return "", usagef("the secret in %s is longer than %d bytes", path, maxSecretFile)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", usagef("the secret in %s is empty", path)
	}
	return secret, nil
}

func (c *cli) deleteListenerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT LISTENER",
		Short: "Delete a listener",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.DeleteListener(ctx, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "listener %s is deleted\n", args[1])
			return err
		}),
	}
}

func (c *cli) testListenerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test PROJECT LISTENER",
		Short: "Call a listener once, now",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			out, err := cl.TestListener(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			switch {
			case c.output == "json":
				err = c.json(out)
			case out.Delivered:
				_, err = fmt.Fprintf(c.out, "%s took it with status %d in %d ms\n", args[1], out.Status, out.TookMS)
			default:
				_, err = fmt.Fprintf(c.out, "%s did not take it: %s\n", args[1], out.Error)
			}
			if err == nil && !out.Delivered {
				err = told(exitFailed)
			}
			return err
		}),
	}
}

func (c *cli) deliveriesCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "deliveries PROJECT LISTENER",
		Short: "List how far a listener has heard of each instance and alert, the newest first",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Deliveries(ctx, args[0], args[1], limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, d := range items {
				about := d.InstanceID
				if d.AlertID != "" {
					about = "alert " + d.AlertID + " " + d.Event + " " + d.Subject
				}
				rows[i] = []string{about, d.Workflow, d.State, fmt.Sprint(d.Seq), fmt.Sprint(d.Attempts), at(d.NextAt), d.Error}
			}
			return c.show(items, []string{"ABOUT", "WORKFLOW", "STATE", "UP TO", "FAILED", "NEXT", "ERROR"}, rows)
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many")
	return cmd
}

func (c *cli) redeliverCommand() *cobra.Command {
	var alert, skip bool
	cmd := &cobra.Command{
		Use:   "redeliver PROJECT LISTENER ID",
		Short: "Deliver again what was given up",
		Args:  cobra.ExactArgs(3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			d, err := cl.Redeliver(ctx, args[0], args[1], args[2], alert, skip)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(d)
			}
			if alert {
				_, err = fmt.Fprintf(c.out, "alert %s is delivered again\n", d.AlertID)
				return err
			}
			_, err = fmt.Fprintf(c.out, "instance %s is delivered again, from event %d on\n", d.InstanceID, d.Seq+1)
			return err
		}),
	}
	cmd.Flags().BoolVar(&alert, "alert", false, "the id is an alert's, not an instance's")
	cmd.Flags().BoolVar(&skip, "skip", false, "go on behind the event that could not be delivered")
	return cmd
}
