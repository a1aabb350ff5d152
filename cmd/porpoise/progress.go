package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// redrawEvery bounds how often the live table asks for all tasks and is drawn again.
const redrawEvery = 200 * time.Millisecond

// progress shows a run while it is waited for.
type progress interface {
	update(u client.Update)
	end(ctx context.Context, in client.Instance, err error)
}

// newProgress chooses how to show a run: a live table on a terminal, lines in a pipe,
// nothing but the result with -o json.
func (c *cli) newProgress(cl *client.Client, id string) progress {
	if c.output == "json" {
		return silent{}
	}
	if width, height, ok := terminal(c.out); ok {
		l := &live{w: c.out, cl: cl, id: id, width: width, height: height, dirty: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
		go l.loop()
		return l
	}
	fmt.Fprintf(c.out, "instance %s\n", id)
	return &lines{w: c.out}
}

// silent shows nothing.
type silent struct{}

func (silent) update(client.Update)                        {}
func (silent) end(context.Context, client.Instance, error) {}

// lines prints one line for each event, for logs and pipes.
type lines struct{ w io.Writer }

func (l *lines) update(u client.Update) {
	e := u.Event
	if e == nil {
		return
	}
	text := e.Code
	if e.State != "" {
		text = e.State
	}
	what := "instance"
	if e.Task != "" {
		what = "task " + e.Task
		if e.Attempt > 0 {
			what += fmt.Sprintf(" #%d", e.Attempt)
		}
	}
	line := fmt.Sprintf("%s  %s  %s", at(e.At), what, text)
	if e.Reason != "" {
		line += " (" + string(e.Reason) + ")"
	}
	if e.Message != "" {
		line += ": " + e.Message
	}
	fmt.Fprintln(l.w, printable(line))
}

func (l *lines) end(_ context.Context, in client.Instance, err error) {
	if err == nil {
		fmt.Fprintln(l.w, ending(in))
	}
}

// ending is the last line about an instance.
func ending(in client.Instance) string {
	text := fmt.Sprintf("instance %s  %s", in.ID, in.State)
	if in.Reason != "" {
		text += " (" + string(in.Reason) + ")"
	}
	if d := took(in.StartedAt, in.FinishedAt, time.Now()); d != "" {
		text += "  in " + d
	}
	return text
}

// live draws a table of the tasks and keeps drawing over it. Its loop is the only
// goroutine that writes.
type live struct {
	w             io.Writer
	cl            *client.Client
	id            string
	width, height int
	drawn         int // lines of the last drawing
	dirty         chan struct{}
	quit          chan struct{}
	done          chan struct{}
}

func (l *live) update(client.Update) {
	select {
	case l.dirty <- struct{}{}:
	default: // a drawing is due already
	}
}

func (l *live) loop() {
	defer close(l.done)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	stale, running := true, true
	for {
		select {
		case <-l.quit:
			return
		case <-l.dirty:
			stale = true
		case <-tick.C:
			// While tasks run their clocks do, too.
			if stale || running {
				stale = false
				running = l.draw(context.Background(), "")
			}
		}
	}
}

func (l *live) end(ctx context.Context, in client.Instance, err error) {
	close(l.quit)
	<-l.done
	if err != nil {
		return
	}
	l.draw(ctx, ending(in))
}

// draw reads the tasks and draws them; it tells whether one is running. What can't be
// read now is drawn next time.
func (l *live) draw(ctx context.Context, last string) bool {
	tasks, err := l.cl.Tasks(ctx, l.id)
	if err != nil {
		return true
	}
	rows := liveRows(tasks, l.height-3, time.Now())
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", l.drawn)
	}
	if last == "" {
		last = "instance " + l.id
	}
	for _, row := range append([]string{tally(tasks)}, append(rows, last)...) {
		b.WriteString(cut(row, l.width) + "\n")
	}
	l.drawn = len(rows) + 2
	_, _ = io.WriteString(l.w, b.String()) // a terminal that is gone ends the process by a signal
	for _, t := range tasks {
		if t.State == dag.TaskRunning {
			return true
		}
	}
	return false
}

// liveRows chooses what fits: what moves and what failed come first, the rest is only
// counted in the tally.
func liveRows(tasks []client.Task, most int, now time.Time) []string {
	rank := func(s dag.TaskState) int {
		switch s {
		case dag.TaskRunning, dag.TaskDispatched, dag.TaskKilling, dag.TaskRetryWait:
			return 0
		case dag.TaskFailed, dag.TaskKilled:
			return 1
		case dag.TaskReady:
			return 2
		case dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskSkipped, dag.TaskUpstreamFailed, dag.TaskDisabled:
			return 3
		case dag.TaskWaiting:
		}
		return 4
	}
	most = max(most, 1)
	keep := make([]bool, len(tasks))
	for r, left := 0, most; r <= 4 && left > 0; r++ {
		for i := range tasks {
			if left > 0 && rank(tasks[i].State) == r {
				keep[i], left = true, left-1
			}
		}
	}
	var rows []string
	for i, t := range tasks {
		if !keep[i] {
			continue
		}
		row := fmt.Sprintf("%s %-15s %-8s %s", mark(t.State), t.State, took(t.StartedAt, t.FinishedAt, now), printable(t.Name))
		if t.Attempts > 1 {
			row += fmt.Sprintf("  attempt %d", t.Attempts)
		}
		if t.Reason != "" {
			row += "  " + string(t.Reason)
		}
		rows = append(rows, row)
	}
	return rows
}

// mark is a sign for a state that needs no colour.
func mark(s dag.TaskState) string {
	switch s {
	case dag.TaskSuccess, dag.TaskForcedSuccess:
		return "✓"
	case dag.TaskFailed, dag.TaskKilled, dag.TaskUpstreamFailed:
		return "✗"
	case dag.TaskRunning, dag.TaskDispatched, dag.TaskKilling:
		return "▶"
	case dag.TaskSkipped, dag.TaskDisabled:
		return "–"
	case dag.TaskWaiting, dag.TaskReady, dag.TaskRetryWait:
	}
	return "·"
}

// tally counts the tasks by state, in the order in which states come.
func tally(tasks []client.Task) string {
	order := []dag.TaskState{
		dag.TaskRunning, dag.TaskDispatched, dag.TaskKilling, dag.TaskRetryWait, dag.TaskReady, dag.TaskWaiting, dag.TaskSuccess, dag.TaskForcedSuccess,
		dag.TaskFailed, dag.TaskKilled, dag.TaskSkipped, dag.TaskUpstreamFailed, dag.TaskDisabled,
	}
	count := map[dag.TaskState]int{}
	over := 0
	for _, t := range tasks {
		count[t.State]++
		if client.TaskOver(t.State) {
			over++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d tasks done", over, len(tasks))}
	for _, s := range order {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, "  ")
}

// cut shortens a line to the terminal's width, so that it takes one row.
func cut(line string, width int) string {
	runes := []rune(line)
	if width < 2 || len(runes) < width {
		return line
	}
	return string(runes[:width-2]) + "…"
}
