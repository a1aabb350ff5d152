package engine

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
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

// wait waits for turns; false means that the queue is closed.
func (q *commitQueue) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.turns) == 0 && !q.closed {
		q.some.Wait()
	}
	return !q.closed
}

// take returns up to maxBatch turns, in the order in which they came.
func (q *commitQueue) take() []*commit {
	q.mu.Lock()
	defer q.mu.Unlock()
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

// committer writes turns until the engine stops.
func (e *Engine) committer(ctx context.Context) error {
	for e.commits.wait() {
		if _, away := e.CommitOnce(ctx); !away {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(awayWait):
		}
	}
	return nil
}

// CommitOnce writes the turns that wait, as one batch, and returns how many there were. An actor has
// at most one turn on the way, so the turns of a batch, and of batches beside it, are of different instances. away says
// that some wait still, because the store is away or refused them: the caller tries again
// after a pause.
func (e *Engine) CommitOnce(ctx context.Context) (turns int, away bool) {
	batch := e.commits.take()
	if len(batch) == 0 {
		return 0, false
	}
	settled := 0
	defer func() {
		if r := recover(); r != nil {
			// Whose fault it is cannot be seen here: each of them is counted, and tried by itself again.
			for _, t := range batch[settled:] {
				e.crashed(t.actor, r, debug.Stack())
			}
		}
	}()
	next := make([]sql.Transition, len(batch))
	for i, t := range batch {
		next[i] = sql.Transition{
			Instance: t.actor.in, Plan: t.actor.plan, Epoch: t.actor.epoch,
			Effects: &t.fx, Release: t.release, At: t.at, Grace: e.KillGrace,
			Parent: t.actor.parent, By: instanceName(t.actor.in.ID),
			Backfill: t.actor.backfill, Seen: t.actor.seen,
		}
		if b := t.actor.beginning; b != nil {
			next[i].Claim, next[i].Mark = &b.claim, b.mark
		}
	}
	woke, given := false, false
	for i, err := range e.Store.Commit(ctx, next) {
		settled = i + 1
		batch[i].actor.seen = next[i].Seen
		if err == nil {
			e.groups.pace(next[i].Next)
		}
		woke, given = woke || err == nil && next[i].Woke, given || err == nil && next[i].Given
		away = e.settle(batch[i], err) || away
	}
	if woke {
		e.Woken()
	}
	if given {
		e.groups.kick()
	}
	n := len(batch)
	clear(batch) // the queue's array must not keep instances in memory
	if away {
		e.away.Store(true)
		e.log.Warn("store is away, transitions wait", "waiting", n)
	}
	return n, away
}

// settle sends a turn where its result leads; it returns true if the store was away.
func (e *Engine) settle(t *commit, err error) (away bool) {
	a := t.actor
	if a.beginning != nil {
		return e.settleBeginning(t, err)
	}
	switch {
	case err == nil:
		a.done = t
		e.runnable.push(a)
	case storeRefused(err):
		e.refused.Add(1)
		e.log.Info("instance has another owner, dropped", "instance", a.in.ID, "epoch", a.epoch)
		e.forgetCrashes(a.in.ID)
		e.drop(a, t)
	case storeAway(err):
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

// storeRefused says that another master has the instance.
func storeRefused(err error) bool { return errors.Is(err, sql.ErrNotOwner) }

// storeAway says that the store did not answer.
func storeAway(err error) bool {
	return errors.Is(err, sql.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// drop forgets an instance whose memory is not to be trusted any more: its queued tasks,
// timers and attempts leave the master, its unused grants go back.
func (e *Engine) drop(a *actor, t *commit) {
	if t != nil {
		for _, g := range t.granted {
			e.Dispatcher.Refuse(g.worker, g.instant)
		}
	}
	if !e.remove(a) {
		return // already taken up again: its tasks and timers are the successor's
	}
	for _, action := range e.pending(a) {
		switch action := action.(type) {
		case dag.Enqueue:
			e.Dispatcher.Withdraw(e.work(a, action.Task))
		case dag.Arm:
			e.Alarms.Disarm(Alarm{a.in.ID, action.Timer})
		default:
		}
	}
}

// pending returns what is still due of an instance that is being dropped, perhaps because its
// rules panicked: then its timers and places in queues come to nothing by themselves.
func (e *Engine) pending(a *actor) (due []dag.Action) {
	e.guard("drop", func() { due = a.in.Pending(dag.MillisOf(e.Now())) })
	return due
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
		e.refuse(m)
	}
	return current
}
