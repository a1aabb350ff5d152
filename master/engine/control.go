package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// controlEvery is how often control rows are looked for that no hint told of.
const controlEvery = time.Second

// Nudge says that an instance has a new control row. It only saves waiting.
func (e *Engine) Nudge(instance int64) {
	if !e.wake(instance) && e.inMemory(instance) {
		e.controls.push(instance)
	}
}

// controller reads the control rows of instances that were nudged, and now and then of all.
func (e *Engine) controller(ctx context.Context) error {
	tick := time.NewTicker(controlEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.controls.some:
			e.guard("control", func() { e.ControlOnce(ctx) })
		case <-tick.C:
			e.guard("control", func() { e.ControlAll(ctx) })
		}
	}
}

// ControlOnce reads the control rows of the instances that were nudged since the last call, of all in one
// read: the ends of a thousand children come at once.
func (e *Engine) ControlOnce(ctx context.Context) {
	instances := e.controls.take()
	if len(instances) == 0 {
		return
	}
	rows, err := e.Store.Controls(ctx, instances...)
	if err != nil {
		e.log.Warn("control rows not read", "instances", len(instances), "error", err)
		return
	}
	for i := range rows {
		e.control(&rows[i])
	}
}

// ControlAll reads the control rows of all instances of this owner: the safety net under Nudge.
func (e *Engine) ControlAll(ctx context.Context) {
	rows, err := e.Store.ControlsOf(ctx, e.Owner)
	if err != nil {
		e.log.Debug("control rows not read", "error", err)
		return
	}
	for i := range rows {
		e.control(&rows[i])
	}
}

// control mails a row unless the instance has seen it.
func (e *Engine) control(row *sql.ControlRow) {
	e.mu.Lock()
	a := e.actors[row.InstanceID]
	e.mu.Unlock()
	if a == nil {
		e.wake(row.InstanceID) // its rows come with it
		return
	}
	a.mu.Lock()
	_, seen := a.controls[row.ID]
	a.controls[row.ID] = struct{}{}
	a.mu.Unlock()
	if seen {
		return
	}
	mails, ends := a.received([]sql.ControlRow{*row})
	if len(ends) > 0 {
		e.children.add(nil, ends)
	} else {
		e.mailTo(a, mails...)
	}
}

// controlOf turns a row into the rules' terms. A name that the version does not have becomes
// an index that it does not have, so that the rules refuse it by their own word.
func controlOf(plan *dag.Plan, row sql.ControlRow) dag.Control {
	c := dag.Control{ID: row.ID, Verb: row.Verb, Scope: row.Scope, Force: row.Force, By: row.By}
	c.Decision = dag.Decision{Number: row.Attempt, Reason: row.Reason, Values: row.Values}
	for _, name := range row.Tasks {
		task, ok := plan.Task(name)
		if !ok {
			task = -1
		}
		c.Tasks = append(c.Tasks, task)
	}
	return c
}

// idQueue is a set of ids with a signal; it is bounded by the instances in memory.
type idQueue struct {
	some chan struct{}

	mu  sync.Mutex
	ids map[int64]struct{}
}

func newIDQueue() *idQueue {
	return &idQueue{some: make(chan struct{}, 1), ids: make(map[int64]struct{})}
}

func (q *idQueue) push(ids ...int64) {
	if len(ids) == 0 {
		return
	}
	q.mu.Lock()
	for _, id := range ids {
		q.ids[id] = struct{}{}
	}
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

func (q *idQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ids) == 0
}

// take returns the ids and empties the set; they are sorted, so that the order of what follows
// is not left to chance.
func (q *idQueue) take() []int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := slices.Sorted(maps.Keys(q.ids))
	clear(q.ids)
	return ids
}
