package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// logsOptions is what logs was asked for.
type logsOptions struct {
	follow  bool
	attempt int
	stream  string
}

func (c *cli) logsCommand() *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use:   "logs INSTANCE TASK",
		Short: "Print the output of a task",
		Long: `Print the output of a task's latest attempt.

With -f it goes on until the task is over, through retries, and waits for a task that
has not begun yet.`,
		Args: cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if o.attempt < 0 {
				return usagef("--attempt %d: attempts count from 1", o.attempt)
			}
			if o.stream != "" && o.stream != "stdout" && o.stream != "stderr" {
				return usagef("--stream %q: want stdout or stderr", o.stream)
			}
			if o.follow && o.attempt == 0 {
				return c.followTask(ctx, cl, args[0], args[1], o)
			}
			number := o.attempt
			if number == 0 {
				t, err := findTask(ctx, cl, args[0], args[1])
				if err != nil {
					return err
				}
				if t.Attempts == 0 {
					return &failure{code: exitRefused, err: fmt.Errorf("task %s has no output yet: it is %s", args[1], t.State)}
				}
				number = t.Attempts
			}
			return cl.ReadLog(ctx, c.out, args[0], args[1], number, o.stream, o.follow)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on until the task is over")
	f.IntVar(&o.attempt, "attempt", 0, "which attempt; 0 is the latest")
	f.StringVar(&o.stream, "stream", "", "stdout or stderr; both when not given")
	return cmd
}

func findTask(ctx context.Context, cl *client.Client, id, name string) (client.Task, error) {
	tasks, err := cl.Tasks(ctx, id)
	if err != nil {
		return client.Task{}, err
	}
	for _, t := range tasks {
		if t.Name == name {
			return t, nil
		}
	}
	return client.Task{}, &failure{code: exitRefused, err: fmt.Errorf("instance %s has no task %q", id, name)}
}

// errEnough ends a watch that has seen what it waited for.
var errEnough = errors.New("seen enough")

// followTask prints one attempt after another until the task is over.
func (c *cli) followTask(ctx context.Context, cl *client.Client, id, name string, o logsOptions) error {
	for last := 0; ; {
		t, err := findTask(ctx, cl, id, name)
		if err != nil {
			return err
		}
		switch {
		case t.Attempts > last:
			if last > 0 {
				fmt.Fprintf(c.err, "--- attempt %d\n", last+1)
			}
			last = max(last+1, 1)
			if last == 1 {
				last = t.Attempts // earlier attempts are over and were not asked for
			}
			if err := cl.ReadLog(ctx, c.out, id, name, last, o.stream, true); err != nil {
				return err
			}
		case client.TaskOver(t.State):
			return nil
		default:
			if over, err := taskMoved(ctx, cl, id, name, last); err != nil || over {
				return err
			}
		}
	}
}

// taskMoved waits until the task has a newer attempt or is over; over is that the
// instance is, so that nothing more will come.
func taskMoved(ctx context.Context, cl *client.Client, id, name string, last int) (over bool, err error) {
	err = cl.Watch(ctx, id, func(u client.Update) error {
		// After the snapshot nothing can be missed: look once, then at each event of the task.
		if u.Event != nil && u.Event.Task != name && u.Event.Task != "" {
			return nil
		}
		t, err := findTask(ctx, cl, id, name)
		if err != nil {
			return err
		}
		if t.Attempts > last || client.TaskOver(t.State) {
			return errEnough
		}
		in, err := cl.Instance(ctx, id)
		if err != nil {
			return err
		}
		if in.Over() {
			over = true
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return over, err
}
