package main

import (
	"github.com/porpoise/porpoise/sql"
)

// groupName is the task group of a world, and groupSize how much may run in it at a time.
const (
	groupName = "licences"
	groupSize = 2
)

// group is the task group of a world.
func (t *template) group() sql.TaskGroup {
	return sql.TaskGroup{ProjectID: t.project, Name: groupName, Size: groupSize}
}

// withinGroup holds the tasks of the group that are with a worker, of all instances, against its size. An
// attempt that was given up by force has given its place back.
func (a *audit) withinGroup(row *taskRow) {
	t := a.task(row.instance, row.task)
	if t == nil || t.weight == 0 || !row.state.Live() {
		return
	}
	used := 0
	for _, other := range a.tasks {
		if what := a.task(other.instance, other.task); what != nil && other.state.Live() {
			used += what.weight
		}
	}
	if used > groupSize {
		a.w.fail("I31", "task %v is %s, and tasks of the group run that count %d: %d are allowed", row.taskKey, row.state, used, groupSize)
	}
}

// groupLeft says what of the group is still in use, and what waits for it.
func (w *world) groupLeft() (used, waiting int) {
	g, err := w.db.TaskGroup(w.ctx, w.opt.template.project, groupName)
	if err != nil {
		w.fail("I31", "the task group is not read: %v", err)
	}
	return g.Used, g.Waiting
}
