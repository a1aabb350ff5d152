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
	line    int64
	grep    string
	anyCase bool
}

// check says which flags don't go together.
func (o logsOptions) check() error {
	switch {
	case o.attempt < 0:
		return usagef("--attempt %d: attempts count from 1", o.attempt)
	case o.stream != "" && o.stream != "stdout" && o.stream != "stderr":
		return usagef("--stream %q: want stdout or stderr", o.stream)
	case o.line < 1:
		return usagef("--line %d: lines count from 1", o.line)
	case o.follow && (o.line > 1 || o.grep != ""):
		return usagef("--follow goes with neither --line nor --grep")
	case o.anyCase && o.grep == "":
		return usagef("--ignore-case goes with --grep")
	}
	return nil
}

func (c *cli) logsCommand() *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use:   "logs INSTANCE TASK",
		Short: "Print the output of a task",
		Long: `Print the output of a task's latest attempt.

With -f it goes on until the task is over, through retries, and waits for a task that
has not begun yet. --grep prints the lines that match an RE2 expression with their
numbers, without colours and cut at 500 bytes; the search runs where the output is.`,
		Args: cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := o.check(); err != nil {
				return err
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
			one := client.LogOf{Instance: args[0], Task: args[1], Attempt: number, Stream: o.stream}
			switch {
			case o.grep != "":
				return cl.SearchLog(ctx, one, o.grep, o.anyCase, o.line, func(h client.LogHit) error {
					_, err := fmt.Fprintf(c.out, "%d:%s\n", h.Line, h.Text)
					return err
				})
			case o.line > 1:
				return cl.ReadLogFrom(ctx, c.out, one, o.line)
			}
			return cl.ReadLog(ctx, c.out, args[0], args[1], number, o.stream, o.follow)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on until the task is over")
	f.IntVar(&o.attempt, "attempt", 0, "which attempt; 0 is the latest")
	f.Int64Var(&o.line, "line", 1, "begin at this line")
	f.StringVar(&o.grep, "grep", "", "print only lines that match this expression")
	f.BoolVarP(&o.anyCase, "ignore-case", "i", false, "upper and lower case are the same to --grep")
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
