package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// quorum is how many people must approve, of those that there are.
const quorum = 2

var people = []string{"ann", "bob", "cid"}

// decision is a row: what one person said to one attempt.
type decision struct {
	attemptKey
	by string
}

// decided holds a new decision against the rules: one of each person, and none on what is over.
func (a *audit) decided(old, now row) {
	if old.values != nil {
		if !slices.Equal(old.values, now.values) { // a commit whose answer was lost is written again
			a.w.fail("I22", "the decision %v becomes %v", old.values, now.values)
		}
		return
	}
	key := attemptKey{taskKey{now.int("instance_id"), int(now.int("task_index"))}, int(now.int("attempt"))}
	d := decision{key, now.text("decided_by")}
	if _, known := a.decisions[d]; known {
		a.w.fail("I22", "%s decides twice on %v", d.by, key)
	}
	a.decisions[d] = now.int("approve") != 0
	if r := a.attempts[key]; r == nil || r.state.Final() && r.changed != a.w.now {
		a.w.fail("I22", "%s decides on %v, which is over: %v", d.by, key, r)
	}
}

// answered holds the end of an attempt that asks people against what they said.
func (a *audit) answered(r *attemptRow) {
	t := a.task(r.instance, r.task)
	if t == nil || t.kind != kindApproval || !r.state.Final() {
		return
	}
	yes, no := 0, 0
	for _, by := range people {
		if approve, said := a.decisions[decision{r.attemptKey, by}]; said && approve {
			yes++
		} else if said {
			no++
		}
	}
	switch {
	case r.state == dag.AttemptSuccess && (yes != quorum || no > 0):
		a.w.fail("I16", "%v, with %d who approve and %d who reject", r, yes, no)
	case r.reason == string(dag.ReasonRejected) && no != 1:
		a.w.fail("I16", "%v, with %d who reject", r, no)
	}
}

// asking lists the attempts that wait for people, in order.
func (a *audit) asking() (out []*attemptRow) {
	for _, id := range a.all {
		in := a.instances[id]
		for _, i := range in.tasks {
			if t := a.task(id, i); t == nil || t.kind != kindApproval {
				continue
			}
			row := a.tasks[taskKey{id, i}]
			if r := a.attempts[attemptKey{row.taskKey, row.attempts}]; r != nil && !r.state.Final() {
				out = append(out, r)
			}
		}
	}
	return out
}

// answer lets people decide on what waits for them, now and then, and some of them twice.
func (c *client) answer() {
	c.w.after(c.w.between(500*time.Millisecond, 4*time.Second), c.proc, "people decide", func() {
		c.answer()
		for _, r := range c.w.audit.asking() {
			by := pick(c.w, people)
			if asked, known := c.said[decision{r.attemptKey, by}]; known && c.w.healing && c.w.now-asked < 10*time.Second {
				continue
			}
			c.said[decision{r.attemptKey, by}] = c.w.now
			verb := dag.VerbApprove
			if !c.w.healing && c.w.chance(0.1) {
				verb = dag.VerbReject
			}
			name := c.w.audit.task(r.instance, r.task).name
			c.ask(sql.ControlRow{
				InstanceID: r.instance, Verb: verb, Tasks: []string{name}, Attempt: r.number, By: by, Reason: fmt.Sprintf("%s says so", by),
			})
		}
	})
}
