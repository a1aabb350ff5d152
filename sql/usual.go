package sql

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// UsualWait is how long a task has waited to be started in earlier instances of its workflow, as far as they are known.
type UsualWait struct {
	P90 time.Duration // nine of ten waited no longer
	Of  int           // how many are known; below MinUsual they say nothing
}

const (
	// MinUsual is from how many earlier waits on their ninetieth percentile is told from their longest.
	MinUsual = 10
	// usualOf is how many of the newest successful instances are looked at: enough for a percentile, and few rows to read.
	usualOf = 30
	// maxUsual bounds the tasks of whose history one page reads.
	maxUsual = 100
	// SoonUsual is how long any task may wait: what usually starts in a blink is not in trouble after two.
	SoonUsual = 30 * time.Second
	// UnknownUsual is how long a task may wait of which too little is known, or that waits to be tried again.
	UnknownUsual = 10 * time.Minute
)

// Bound is how long the task may wait before that is more than usual.
func (u UsualWait) Bound() time.Duration {
	if u.Of < MinUsual {
		return UnknownUsual
	}
	return max(u.P90, SoonUsual)
}

type taskOf struct {
	workflow int64
	index    int
	name     string
}

// usual remembers within one page what histories say.
type usual struct {
	s         *Store
	instances map[int64][]int64
	waits     map[taskOf]UsualWait
}

// full says that no further history may be read for the page.
func (u *usual) full() bool { return len(u.waits) >= maxUsual }

// of returns how long a task has waited in the newest successful instances of its workflow: an index holds those in
// order, and each task of theirs is read by its key. Waits for another try are left out.
func (u *usual) of(ctx context.Context, in InstanceRow, t TaskRow) (UsualWait, error) {
	key := taskOf{in.WorkflowID, t.Index, t.Name}
	if w, ok := u.waits[key]; ok {
		return w, nil
	}
	ids, ok := u.instances[in.WorkflowID]
	if !ok {
		heads, err := u.s.heads(ctx, InstanceFilter{WorkflowID: in.WorkflowID, States: []dag.InstanceState{dag.InstanceSuccess}}.streams(), false, listCursor{}, usualOf)
		if err != nil {
			return UsualWait{}, fmt.Errorf("read usual waits: %w", err)
		}
		for _, h := range heads {
			ids = append(ids, h.ID)
		}
		u.instances[in.WorkflowID] = ids
	}
	rows, err := u.s.TasksAt(ctx, t.Index, ids)
	if err != nil {
		return UsualWait{}, fmt.Errorf("read usual waits: %w", err)
	}
	var waits []dag.Millis
	for _, r := range rows {
		if r.Name == t.Name && r.State == dag.TaskSuccess && r.Retries == 0 && r.Lost == 0 && r.ReadyAt > 0 && r.StartedAt >= r.ReadyAt {
			waits = append(waits, r.StartedAt-r.ReadyAt)
		}
	}
	w := UsualWait{Of: len(waits)}
	if len(waits) > 0 {
		slices.Sort(waits)
		w.P90 = time.Duration(waits[(len(waits)*9+9)/10-1]) * time.Millisecond
	}
	u.waits[key] = w
	return w, nil
}

// beyond tells whether a task waits for longer than usual; a task of which nobody knows since when does not.
func (w *liveWalk) beyond(ctx context.Context, in InstanceRow, t *LiveTask) (bool, error) {
	waited := time.Duration(w.now-t.Since) * time.Millisecond
	if t.Since == 0 || waited < SoonUsual {
		return false, nil
	}
	if t.Task.State != dag.TaskReady {
		return waited >= UnknownUsual, nil
	}
	known, err := w.usual.of(ctx, in, t.Task)
	if err != nil {
		return false, err
	}
	t.Usual = &known
	return waited >= known.Bound(), nil
}
