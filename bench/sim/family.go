package main

import (
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// lineage is where an instance comes from, if another one made it.
type lineage struct {
	parent int64
	made   string // by which attempt of which task
}

// endings is what a commit has brought to an end.
type endings struct {
	instances []*instance
	tasks     []success
	attempts  []*attemptRow
}

// success is a task that has just become one, and the child of its attempt.
type success struct {
	taskKey
	child int64
}

// ended holds what a commit has brought to an end against all that it brought.
func (a *audit) ended() {
	for _, in := range a.endings.instances {
		a.childless(in)
		a.leads(in)
	}
	for _, t := range a.endings.tasks {
		a.childDone(t.taskKey, t.child)
		a.awaited(t.taskKey)
	}
	for _, r := range a.endings.attempts {
		a.answered(r)
	}
}

// born holds a new instance against what made it: an attempt makes one child.
func (a *audit) born(in *instance, now row) {
	parent := now.int("parent_instance_id")
	if parent == 0 {
		return
	}
	in.parent, in.made = parent, fmt.Sprintf("%d/%s/%d", parent, now.text("parent_task"), now.int("parent_attempt"))
	if other := a.births[in.made]; other != 0 {
		a.w.fail("I01", "instances %d and %d are both the child of %s", other, in.id, in.made)
	}
	if a.instances[parent] == nil {
		a.w.fail("I01", "instance %d is the child of %d, and there is none", in.id, parent)
	}
	a.births[in.made] = in.id
	a.children = append(a.children, in.id)
}

// tied says that a change of a child is its parent's: that another attempt waits for it now.
func (a *audit) tied(in *instance, old, now row, actor string) bool {
	for i, name := range now.columns {
		if old.values[i] != now.values[i] && name != "parent_attempt" {
			return false
		}
	}
	return in.parent != 0 && a.instances[in.parent].owner == actor
}

// childless holds an instance that has just ended against its children: they end before it. One that somebody
// took up again has a life of its own, and a stop by force waits for nobody.
func (a *audit) childless(in *instance) {
	for _, id := range a.children {
		child := a.instances[id]
		if child.parent != in.id || child.state.Final() || child.round > 1 {
			continue
		}
		forced := false
		for _, i := range in.tasks {
			forced = forced || dag.Reason(a.tasks[taskKey{in.id, i}].reason) == dag.ReasonForcedStop
		}
		if !forced {
			a.w.fail("I24", "%v is over, and its child is not: %v", in, child)
		}
	}
}

// childDone holds a task that has just succeeded against the child of its attempt, where it is to have one.
func (a *audit) childDone(key taskKey, child int64) {
	t := a.task(key.instance, key.task)
	if t == nil || t.kind != kindChild {
		return
	}
	switch made := a.instances[child]; {
	case made == nil:
		a.w.fail("I24", "task %v is a success, and its child %d is nowhere", key, child)
	case made.parent != key.instance:
		a.w.fail("I24", "task %v is a success by %v, which is the child of %d", key, made, made.parent)
	case made.state != dag.InstanceSuccess && made.round == 1:
		a.w.fail("I24", "task %v is a success, and its child is not: %v", key, made)
	}
}

// awaited holds a dependent task that has just succeeded against the runs that it waits for.
func (a *audit) awaited(key taskKey) {
	t := a.task(key.instance, key.task)
	if t == nil || t.kind != kindDependent {
		return
	}
	if !a.led {
		a.w.fail("I14", "task %v is a success, and no run of %q was one", key, t.of)
	}
}
