package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// maxBatch bounds the turns of one call to the store, which bounds its rows again.
	maxBatch = 2_000
	// maxTries bounds how often a turn that the store refuses for another reason than
	// being away is sent again before its instance is quarantined.
	maxTries = 5
	// awayWait is the pause before a store that is away is asked again.
	awayWait = 200 * time.Millisecond
)

// commitQueue collects turns while the one before is being written: the longer a commit
// takes, the more share the next one.
type commitQueue struct {
	mu     sync.Mutex
	some   sync.Cond
	turns  []*commit
	closed bool
}

func newCommitQueue() *commitQueue {
	q := &commitQueue{}
	q.some.L = &q.mu
	return q
}

func (q *commitQueue) push(turns ...*commit) {
	q.mu.Lock()
	q.turns = append(q.turns, turns...)
	q.mu.Unlock()
	q.some.Signal()
}

// take waits for turns and returns up to maxBatch; nil means that the queue is closed.
func (q *commitQueue) take() []*commit {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.turns) == 0 && !q.closed {
		q.some.Wait()
	}
	if q.closed {
		return nil
	}
	n := min(len(q.turns), maxBatch)
	turns := q.turns[:n:n]
	q.turns = q.turns[n:]
	return turns
}

func (q *commitQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.some.Broadcast()
}

// committer writes turns, one batch at a time. An actor has at most one turn on the way,
// so the turns of a batch are of different instances.
func (e *Engine) committer(ctx context.Context) {
	var transitions []sql.Transition
	for turns := e.commits.take(); turns != nil; turns = e.commits.take() {
		transitions = transitions[:0]
		for _, t := range turns {
			transitions = append(transitions, sql.Transition{
				Instance: t.actor.in, Plan: t.actor.plan, Epoch: t.actor.epoch,
				Effects: &t.fx, Release: t.release, At: t.at,
			})
		}
		var away bool
		for i, err := range e.Store.Commit(ctx, transitions) {
			away = e.settle(turns[i], err) || away
		}
		if away {
			e.log.Warn("store is away, transitions wait", "waiting", len(turns))
			select {
			case <-ctx.Done():
				return
			case <-time.After(awayWait):
			}
		}
	}
}

// settle sends a turn where its result leads; it returns true if the store was away.
func (e *Engine) settle(t *commit, err error) (away bool) {
	a := t.actor
	switch {
	case err == nil:
		a.done = t
		e.runnable.push(a)
	case errors.Is(err, sql.ErrNotOwner):
		e.log.Info("instance has another owner, dropped", "instance", a.in.ID, "epoch", a.epoch)
		e.drop(a, t)
	case errors.Is(err, sql.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// Memory is ahead of the store, and stays so until the very same turn is written.
		e.commits.push(t)
		return true
	default:
		t.tries++
		e.log.Error("transition refused by the store", "instance", a.in.ID, "try", t.tries, "error", err)
		if t.tries < maxTries {
			e.commits.push(t)
			return true
		}
		e.drop(a, t)
		e.quarantineRow(a, err.Error())
	}
	return false
}

// drop forgets an instance whose memory is not to be trusted any more: its queued tasks,
// timers and attempts leave the master, its unused grants go back.
func (e *Engine) drop(a *actor, t *commit) {
	if t != nil {
		for _, worker := range t.granted {
			e.Dispatcher.Refuse(worker)
		}
	}
	if !e.remove(a) {
		return // already taken up again: its tasks and timers are the successor's
	}
	for _, action := range a.in.Pending(dag.MillisOf(time.Now())) {
		switch action := action.(type) {
		case dag.Enqueue:
			e.Dispatcher.Withdraw(a.in.GroupOf(action.Task), a.in.ID, action.Task)
		case dag.Arm:
			e.Alarms.Disarm(Alarm{a.in.ID, action.Timer})
		default:
		}
	}
}

// remove takes an actor out of memory and refuses mail to it from now on; grants among the
// mail that it still holds go back. It returns false if another actor has replaced it.
func (e *Engine) remove(a *actor) bool {
	e.mu.Lock()
	current := e.actors[a.in.ID] == a
	if current {
		delete(e.actors, a.in.ID)
		e.nodes.forget(a.in.ID)
	}
	e.mu.Unlock()
	a.mu.Lock()
	a.phase = gone
	mails := a.mail
	a.mail = nil
	a.mu.Unlock()
	for _, m := range mails {
		if assign, ok := m.input.(dag.Assign); ok && m.assigned {
			e.Dispatcher.Refuse(rpc.Process{Node: assign.Worker, Incarnation: assign.Incarnation})
		}
	}
	return current
}

// quarantine drops an instance and makes its row say why it is not processed.
func (e *Engine) quarantine(a *actor, message string) {
	e.drop(a, nil)
	e.quarantineRow(a, message)
}

func (e *Engine) quarantineRow(a *actor, message string) {
	ctx, cancel := context.WithTimeout(context.Background(), quarantineWait)
	defer cancel()
	if err := e.Store.Quarantine(ctx, a.in.ID, a.epoch, dag.ReasonCrashed, message); err != nil {
		e.log.Error("quarantine not written", "instance", a.in.ID, "error", err)
	}
}

// quarantineWait bounds the write that sets an instance aside.
const quarantineWait = 5 * time.Second
