package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/porpoise/porpoise/sql"
)

// errApart is why an instance can't be claimed by the commit of its first turn.
var errApart = errors.New("to be claimed by itself")

// beginnings waits for the first commits of instances that came together.
type beginnings struct {
	done func([]error)

	mu   sync.Mutex
	left int
	errs []error
}

// beginning is what an actor has until its first commit, which claims its instance.
type beginning struct {
	claim sql.Claim
	mark  int64
	group *beginnings
	at    int // its place in the group
}

// end notes what became of one.
func (g *beginnings) end(at int, err error) {
	g.mu.Lock()
	g.errs[at] = err
	g.left--
	last := g.left == 0
	g.mu.Unlock()
	if last {
		g.done(g.errs)
	}
}

// Start steps instances that nobody has yet, and claims each by the commit of its first turn: one transaction where a
// claim of its own would make two. Until then an instance is as good as absent: nothing follows from its turn, nobody
// sends it anything, and where the claim fails it is forgotten. done is called once, perhaps before Start returns, with
// an error for each in their order: nil for one that is this master's now, sql.ErrNotOwner where another was quicker or it
// is not as it was read, sql.ErrUnavailable where nobody knows; any other means that a claim by itself will say more, as for
// one that asks for a place under a limit.
func (e *Engine) Start(list []sql.Beginning, done func([]error)) {
	if len(list) == 0 {
		done(nil)
		return
	}
	group := &beginnings{done: done, left: len(list), errs: make([]error, len(list))}
	for i := range list {
		if err := e.begin(&list[i], group, i); err != nil {
			group.end(i, err)
		}
	}
}

func (e *Engine) begin(b *sql.Beginning, group *beginnings, at int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("instance made the engine panic", "instance", b.Instance.ID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errApart
		}
	}()
	a, begins, err := e.admissible(&b.Claimed)
	if err != nil {
		return err
	}
	if !begins {
		return errApart
	}
	a.beginning = &beginning{claim: b.Claim, mark: b.Mark, group: group, at: at}
	if !e.insert(a, begins, b.Controls, nil) {
		return errApart
	}
	return nil
}

// settleBeginning is settle for a turn that claims its instance: such a turn is written now or never, since the layout of
// the slots that it is claimed by waits for the answer.
func (e *Engine) settleBeginning(t *commit, err error) (away bool) {
	a := t.actor
	begin := a.beginning
	a.beginning = nil
	switch {
	case err == nil:
		a.done = t
		e.runnable.push(a)
	case storeAway(err):
		e.drop(a, t)
		away = true
		err = sql.ErrUnavailable
	default:
		e.log.Info("instance does not begin here by its first commit", "instance", a.in.ID, "error", err)
		e.forgetCrashes(a.in.ID)
		e.drop(a, t)
	}
	begin.group.end(begin.at, err)
	return away
}

// failBeginning forgets an instance over whose first turn the engine panicked: the claim by itself counts how often that
// happens.
func (e *Engine) failBeginning(a *actor, turn *commit) {
	begin := a.beginning
	a.beginning = nil
	e.drop(a, turn)
	begin.group.end(begin.at, errApart)
}
