package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// The ends of one workflow start another: each instance of it once, however often it ends.
const (
	leader   = "one"
	follower = "echo"
)

// counted are the ends that count.
var counted = []dag.InstanceState{dag.InstanceSuccess, dag.InstanceFailed, dag.InstanceStopped}

// echo is the schedule that waits for those ends.
type echo struct {
	w   *world
	sch sql.Schedule
}

func newEcho(w *world) (*echo, error) {
	t := w.opt.template
	sch, _, err := w.db.SaveSchedule(w.ctx, sql.Schedule{
		WorkflowID: t.named(follower).ID, Name: "echo", Enabled: true, ChangedBy: "sim", AfterWorkflow: t.named(leader).ID,
		Spec: schedule.Spec{After: &schedule.After{Workflow: leader, States: counted}},
	}, 0)
	return &echo{w, sch}, err
}

// fires lists what the schedule has started, and what it is to start.
func (e *echo) fires() (list []sql.Fire) {
	for cursor := ""; ; {
		some, next, err := e.w.db.Fires(e.w.ctx, e.sch.ID, 0, math.MaxInt64/2, "", sql.Page{Cursor: cursor, Limit: 200})
		if err != nil {
			e.w.fail("I01", "fires of ends are not read: %v", err)
			return list
		}
		list = append(list, some...)
		if cursor = next; next == "" {
			return list
		}
	}
}

// left says what of the schedule is still to happen.
func (e *echo) left() string {
	fired := 0
	for _, f := range e.fires() {
		if f.State == schedule.Fired {
			fired++
		}
	}
	if ends := len(e.w.audit.ends); fired < ends {
		return fmt.Sprintf("%d of %d ends have fired", fired, ends)
	}
	return ""
}

// final holds the fires against the ends: I01, an end fires once.
func (e *echo) final() (fired int) {
	seen, instances := map[int64]bool{}, map[int64]bool{}
	for _, f := range e.fires() {
		in := e.w.audit.instances[f.Instance]
		switch {
		case f.State != schedule.Fired:
			e.w.fail("I01", "the fire of the end of instance %d is %s (%s)", f.After, f.State, f.Reason)
		case seen[f.After]:
			e.w.fail("I01", "the end of instance %d fires twice", f.After)
		case !slices.Contains(e.w.audit.ends, f.After):
			e.w.fail("I01", "instance %d has fired an end that it did not have", f.After)
		case in == nil || in.workflow != e.sch.WorkflowID || instances[f.Instance]:
			e.w.fail("I01", "the fire of the end of instance %d has instance %d, which is not its own", f.After, f.Instance)
		}
		seen[f.After], instances[f.Instance] = true, true
	}
	return len(instances)
}

// leads notes the first end of an instance whose ends count.
func (a *audit) leads(in *instance) {
	wf := a.definition(in)
	if wf != nil && wf.name == leader && in.state == dag.InstanceSuccess {
		a.led = true
	}
	if wf == nil || wf.name != leader || !slices.Contains(counted, in.state) || slices.Contains(a.ends, in.id) {
		return
	}
	a.ends = append(a.ends, in.id)
}
