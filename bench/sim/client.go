package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// client stands for the people and programs that start workflows and want things of them, and for the
// apiserver between them and the database.
type client struct {
	w     *world
	host  *host
	proc  *proc
	store *faultyStore
	acked map[string]int64 // answered starts, by their Idempotency-Key
	asked map[string]bool
	known []int64                    // instances that were answered, in that order
	said  map[decision]time.Duration // when a decision was last asked for
}

func newClient(w *world) *client {
	c := &client{w: w, host: &host{w: w, name: "api"}, acked: map[string]int64{}, asked: map[string]bool{}, said: map[decision]time.Duration{}}
	c.proc = c.host.spawn("api")
	c.store = &faultyStore{Store: w.db.Store, db: w.db, host: c.host}
	for i := range w.opt.Starts {
		wf := w.rng.IntN(len(w.opt.template.workflows))
		key := fmt.Sprintf("k%d", i)
		w.after(w.upTo(w.opt.Duration*3/4), c.proc, "start", func() { c.start(key, wf) })
	}
	c.wish()
	c.answer()
	return c
}

// start asks for an instance until it is answered: the key makes twice the same as once.
func (c *client) start(key string, i int) {
	w := c.w
	wf := w.opt.template.workflows[i]
	c.asked[key] = true
	id, err := faulty(c.store, "start", func() (int64, error) {
		id, _, err := c.store.Start(w.ctx, sql.Start{
			WorkflowID: wf.ID, ProjectID: w.opt.template.project, Version: 1, Priority: dag.PriorityMedium, By: "sim",
			Idempotency: sql.Idempotency{UserID: 1, Key: key, Hash: wf.Name},
		})
		return id, err
	})
	if err != nil {
		if !errors.Is(err, sql.ErrUnavailable) {
			w.fail("I02", "start %s: %v", key, err)
		}
		w.after(w.between(200*time.Millisecond, 2*time.Second), c.proc, "start again", func() { c.start(key, i) })
		return
	}
	w.note("start %s is answered: instance %d", key, id)
	c.acked[key] = id
	c.known = append(c.known, id)
	w.count.Acked++
	c.hint(0)
}

// hint tells the masters that there is something in the database; it may be lost on the way.
func (c *client) hint(control int64) {
	for _, m := range c.w.masters {
		if !m.proc.alive || c.w.chance(0.2) || c.w.net.cut("api", m.host.name) {
			continue
		}
		c.w.after(c.w.net.latency(), m.proc, "hint", func() {
			if control != 0 {
				m.parts.Engine.Nudge(control)
			}
			m.hint()
		})
	}
}

// wish wants something of an instance now and then.
func (c *client) wish() {
	c.w.after(c.w.between(time.Second, 6*time.Second), c.proc, "wish", func() {
		if c.w.healing {
			return
		}
		c.wish()
		if len(c.known) > 0 {
			c.control(c.target())
		}
	})
}

var verbs = []dag.Verb{
	dag.VerbPause, dag.VerbPause, dag.VerbResume, dag.VerbResume, dag.VerbStop, dag.VerbKill, dag.VerbSkip, dag.VerbForceSuccess,
	dag.VerbRecover, dag.VerbRecover, dag.VerbRerun,
}

// target is an instance of which somebody wants something: one that was started, or the child of one.
func (c *client) target() int64 {
	if born := c.w.audit.children; len(born) > 0 && c.w.chance(0.25) {
		return pick(c.w, born)
	}
	return pick(c.w, c.known)
}

func (c *client) control(id int64) {
	tasks := c.w.audit.definition(c.w.audit.instances[id]).tasks
	row := sql.ControlRow{InstanceID: id, Verb: pick(c.w, verbs), By: "sim"}
	switch row.Verb {
	case dag.VerbKill, dag.VerbSkip, dag.VerbForceSuccess:
		row.Tasks = []string{pick(c.w, tasks).name}
	case dag.VerbRerun:
		row.Scope = dag.ScopeDownstream
		row.Tasks = []string{pick(c.w, tasks).name}
	case dag.VerbStop:
		row.Force = c.w.chance(0.2)
	case dag.VerbPause, dag.VerbResume, dag.VerbRecover, dag.VerbReplace, dag.VerbApprove, dag.VerbReject:
	}
	c.ask(row)
}

func (c *client) ask(row sql.ControlRow) {
	_, err := faulty(c.store, "wish", func() (sql.ControlRow, error) { return c.store.AddControl(c.w.ctx, row) })
	c.w.note("wish for %s of %d: %v", row.Verb, row.InstanceID, err)
	c.hint(row.InstanceID)
}

// wake resumes what is paused, so that it can come to its end.
func (c *client) wake() {
	for _, id := range slices.Sorted(maps.Keys(c.w.audit.instances)) {
		if in := c.w.audit.instances[id]; in.state == dag.InstancePaused && c.w.now-in.changed > 3*time.Second {
			in.changed = c.w.now
			c.ask(sql.ControlRow{InstanceID: id, Verb: dag.VerbResume, By: "sim"})
		}
	}
}
