package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// controlCommands are the verbs that ask for a change of a running or finished instance.
func (c *cli) controlCommands() []*cobra.Command {
	var force bool
	stop := c.controlCommand("stop", "Stop an instance: kill what runs, start nothing more", func() any {
		if !force {
			return nil
		}
		return map[string]any{"force": true}
	})
	stop.Flags().BoolVar(&force, "force", false, "don't wait for the workers' word that everything is dead")

	none := func() any { return nil }
	return []*cobra.Command{
		c.controlCommand("pause", "Start no more tasks of an instance; what runs goes on", none),
		c.controlCommand("resume", "Go on with a paused instance", none),
		stop,
		c.controlCommand("recover", "Go on with a failed or stopped instance: run what has not succeeded", none),
		c.acknowledgeCommand(),
		c.rerunCommand(),
		c.controlCommand("release-quarantine", "Let masters work on a quarantined instance again, from where it was", none),
		c.taskCommand("kill", "Kill one running task"),
		c.taskCommand("skip", "Count a task as done without running it"),
		c.taskCommand("force-success", "Declare a task successful; what it blocked goes on"),
	}
}

func (c *cli) controlCommand(verb, short string, options func() any) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " INSTANCE",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			in, err := cl.Control(ctx, args[0], verb, options())
			if err != nil {
				return err
			}
			return c.asked(verb, "", in)
		}),
	}
}

// acknowledgeCommand acknowledges the failure as it is when the command runs.
func (c *cli) acknowledgeCommand() *cobra.Command {
	var note string
	var undo bool
	cmd := &cobra.Command{
		Use:   "acknowledge INSTANCE",
		Short: "Say that an instance's failure is seen and looked after, until it is recovered",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if undo {
				if err := cl.Unacknowledge(ctx, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.out, "instance %s is not acknowledged\n", args[0])
				return err
			}
			in, err := cl.Acknowledge(ctx, args[0], note)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(in)
			}
			_, err = fmt.Fprintf(c.out, "instance %s is acknowledged\n", in.ID)
			return err
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "for people, such as what is wrong")
	cmd.Flags().BoolVar(&undo, "undo", false, "take it back")
	return cmd
}

func (c *cli) taskCommand(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " INSTANCE TASK",
		Short: short,
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			in, err := cl.ControlTask(ctx, args[0], args[1], verb)
			if err != nil {
				return err
			}
			return c.asked(verb, args[1], in)
		}),
	}
}

// asked says that a wish was taken; the state is that of the moment before it acts.
func (c *cli) asked(verb, task string, in client.Instance) error {
	if c.output == "json" {
		return c.json(in)
	}
	what := "instance " + in.ID
	if task != "" {
		what = "task " + printable(task) + " of " + what
	}
	_, err := fmt.Fprintf(c.out, "%s asked for %s; the instance is %s\n", verb, what, in.State)
	return err
}
