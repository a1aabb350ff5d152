package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Admit takes instances that were claimed for this engine's owner. One whose rows or definition
// cannot be read is quarantined; the others go on. Those that it has already are passed over.
func (e *Engine) Admit(claimed []sql.Claimed) { e.Adopt(claimed, nil) }

// Adopt is Admit for instances of an owner that is gone. The tally, unless it is nil, is told what
// becomes of their live attempts.
func (e *Engine) Adopt(claimed []sql.Claimed, tally *Tally) {
	for i := range claimed {
		e.admit(&claimed[i], admission{tally: tally})
	}
}

// admission is how an instance comes into memory.
type admission struct {
	tally *Tally
	woken bool // it had been evicted from memory by this very engine
}

func (e *Engine) admit(c *sql.Claimed, how admission) {
	a := &actor{in: &dag.Instance{ID: c.Instance.ID}, epoch: c.Instance.OwnerEpoch}
	defer func() {
		if r := recover(); r != nil {
			e.crashed(a, r, debug.Stack())
		}
	}()
	loaded, begin, err := e.admissible(c)
	if err != nil {
		e.log.Error("instance cannot be loaded, quarantined", "instance", c.Instance.ID, "error", err)
		e.quarantineRow(a, err.Error())
		return
	}
	a = loaded
	a.woken = how.woken
	e.insert(a, begin, c.Controls, how.tally)
}

// admissible loads an instance unless it has brought masters down.
func (e *Engine) admissible(c *sql.Claimed) (a *actor, begin bool, err error) {
	if c.Err != nil {
		return nil, false, c.Err
	}
	if wrong := tooManyCrashes(c); wrong != "" {
		return nil, false, errors.New(wrong)
	}
	return e.load(c)
}

// insert puts an actor into memory and queues its first turn. It returns false where its instance is there already.
func (e *Engine) insert(a *actor, begin bool, controls []sql.ControlRow, tally *Tally) bool {
	var first []mail
	if begin {
		first = append(first, mail{input: dag.Begin{}})
	}
	for _, row := range controls {
		a.controls[row.ID] = struct{}{}
	}
	mails, ends := a.received(controls)
	first = append(first, mails...)
	if len(ends) > 0 {
		a.hearing = make(map[int64]struct{}, len(ends))
		for i := range ends {
			a.hearing[ends[i].control] = struct{}{}
		}
	}
	a.mail, a.phase = first, queued
	e.mu.Lock()
	// A claim raises the epoch, so an actor of the same epoch is this very instance, read twice. One of
	// a lower epoch has been released by its last commit and only has yet to notice.
	if old := e.actors[a.in.ID]; e.closed || old != nil && old.epoch >= a.epoch {
		e.mu.Unlock()
		return false
	}
	e.nodes.forget(a.in.ID)
	e.actors[a.in.ID] = a
	delete(e.evicted, a.in.ID)
	e.mu.Unlock()
	for task := range a.in.Tasks {
		live := []dag.Attempt{a.in.Tasks[task].Attempt}
		e.children.note(a.in.ID, live)
		for k := range a.in.Tasks[task].Items {
			e.children.noteItems(a.in, []dag.ItemRef{{Task: task, Index: k}})
		}
		e.dependents.note(a, live)
		if attempt := &a.in.Tasks[task].Attempt; attempt.Number > 0 && attempt.Worker != "" {
			e.restoreRef(a, *attempt, tally)
		}
	}
	if a.entering {
		e.entries.push(a)
	}
	e.runnable.push(a)
	if len(ends) > 0 {
		e.children.add(nil, ends)
	}
	return true
}

// restoreRef indexes an attempt that an earlier owner had dispatched. If its worker's process is linked,
// it is asked at once: it knows the attempt by its token, learns who owns it now, and repeats what it
// last had to say. Otherwise its hello will name the attempt, or it has lost it.
func (e *Engine) restoreRef(a *actor, attempt dag.Attempt, tally *Tally) {
	r := ref{
		instance: a.in.ID, task: attempt.Task, number: attempt.Number, token: attempt.Token,
		node: attempt.Worker, incarnation: attempt.Incarnation, since: attempt.DispatchedAt,
		started: attempt.State != dag.AttemptDispatched, tally: tally, takenOver: e.Now(),
	}
	tally.open()
	secrets := a.plan.Secrets(attempt.Task)
	if len(secrets) == 0 {
		if message, err := e.describe(a, attempt, nil); err == nil {
			r.dispatch = message
		}
	}
	linked := e.nodes.adopter(r)
	if r.untold = linked == ""; !r.untold {
		r.incarnation = linked
	}
	e.nodes.add(r)
	if linked != "" && r.dispatch != nil {
		e.Links.Again(rpc.Process{Node: r.node, Incarnation: linked}, r.dispatch)
	}
	if len(secrets) > 0 && r.started { // else its dispatch is due, and asks for them
		e.openings.push(opening{actor: a, attempt: attempt, names: secrets})
	}
}

// adopter returns the linked process of a ref's worker that has the attempt: the one that it was given
// to, or one that has named it since; "" if there is none.
func (n *nodes) adopter(r ref) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.byNode[r.node]
	if known == nil || known.incarnation != r.incarnation && !known.claims(refKey{r.instance, r.task, r.number}, r.token) {
		return ""
	}
	return known.incarnation
}

// load rebuilds an instance from its rows; begin says that it has yet to start.
func (e *Engine) load(c *sql.Claimed) (a *actor, begin bool, err error) {
	row := &c.Instance
	plan, err := e.plans.get(c.Version)
	if err != nil {
		return nil, false, err
	}
	_, ofBackfill := sql.BackfillOf(row.TriggerKey)
	a = &actor{
		plan:   plan,
		epoch:  row.OwnerEpoch,
		ids:    changeIDs{workflow: row.WorkflowID, project: row.ProjectID},
		parent: row.Parent.Instance, depth: row.Depth, by: row.CreatedBy,
		backfill: ofBackfill,
		controls: make(map[int64]struct{}),
		places:   make(map[int]bool),
		asks:     make(map[int]int64),
		recalled: make(map[int]bool),
	}
	facts, err := row.Facts()
	if err != nil {
		return nil, false, err
	}
	if a.in, err = sql.Rebuild(plan, row, c.Tasks, c.Attempts); err != nil {
		return nil, false, fmt.Errorf("rebuild: %w", err)
	}
	a.in.Facts = facts
	a.in.Facts.ProjectParams, a.in.Facts.Environments = c.ProjectParams, c.Environments
	fresh := row.State == dag.InstanceSubmitted
	a.asking = entryOf(a, row)
	a.entering, begin = a.asking != nil, fresh && a.asking == nil
	a.restored = !fresh
	return a, begin, nil
}
