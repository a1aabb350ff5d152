package engine

import (
	"context"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// maxEntries bounds the instances of one question to the store.
const maxEntries = 200

// entryOf is what an instance asks with before its round begins, nil where its workflow has no limit.
// One in serial_wait asks whatever the limit is by now: its place is to be found in the line.
func entryOf(a *actor, row *sql.InstanceRow) *sql.Entry {
	switch {
	case row.State == dag.InstanceSubmitted && row.Concurrency.Limit > 0, row.State == dag.InstanceSerialWait:
		return &sql.Entry{
			InstanceID: row.ID, Owner: row.Owner, Epoch: row.OwnerEpoch, WorkflowID: row.WorkflowID,
			Key: a.in.LimitKey(row.Concurrency.Key, a.in.Facts), Priority: row.Priority, First: row.Round <= 1,
			Replaces: row.Concurrency.WhenFull == dag.WhenFullReplace,
		}
	default:
		return nil
	}
}

// entryQueue holds the actors that ask for a place, in the order in which they came.
type entryQueue struct {
	some chan struct{}

	mu     sync.Mutex // guards actors
	actors []*actor
}

func newEntryQueue() *entryQueue { return &entryQueue{some: make(chan struct{}, 1)} }

func (q *entryQueue) push(actors ...*actor) {
	q.mu.Lock()
	q.actors = append(q.actors, actors...)
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

func (q *entryQueue) take(limit int) []*actor {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(limit, len(q.actors))
	taken := q.actors[:n:n]
	q.actors = q.actors[n:]
	return taken
}

// enterer asks for places until ctx ends.
func (e *Engine) enterer(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.entries.some:
		}
		for ctx.Err() == nil {
			asked, away := 0, true // as after a panic
			e.guard("enter", func() { asked, away = e.EnterOnce(ctx) })
			if !away && asked == 0 {
				break
			}
			if !away {
				continue
			}
			select {
			case <-ctx.Done():
			case <-time.After(awayWait):
			}
		}
	}
}

// EnterOnce asks the store for places for the instances that wait to ask, and tells them the answer: to
// begin, to wait in the line, or to end. It returns how many it asked for; away says that the store
// did not answer, and that they ask again with a later call.
func (e *Engine) EnterOnce(ctx context.Context) (asked int, away bool) {
	actors := e.entries.take(maxEntries)
	if len(actors) == 0 {
		return 0, false
	}
	answered := false
	defer func() {
		if !answered { // nor after a panic: nobody else would ask for them
			e.entries.push(actors...)
		}
	}()
	entries := make([]sql.Entry, len(actors))
	for i, a := range actors {
		entries[i] = *a.asking
	}
	answers, woke, err := e.Store.Enter(ctx, entries)
	if err != nil {
		e.log.Warn("places not asked for", "instances", len(actors), "error", err)
		return len(actors), true
	}
	answered = true
	if woke {
		e.Woken()
	}
	for i, a := range actors {
		m := mail{entered: true}
		switch answers[i] {
		case sql.Admitted:
			m.input = dag.Begin{}
		case sql.Waits:
			m.input = dag.Queue{}
		case sql.Discarded:
			m.input = dag.Discard{}
		case sql.NotOwned, sql.NoGroup:
			// It has ended meanwhile, or is another's: its next commit says so.
			continue
		}
		e.mailTo(a, m)
	}
	return len(actors), false
}
