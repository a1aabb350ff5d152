package engine

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	upstream = "name: upstream\nparams: {day: x, region: y}\ntasks:\n  - {name: work, type: shell, script: ok, outputs: [rows]}\n"
	waiter   = `name: waiter
params: {day: x, region: y}
tasks:
  - {name: a, type: dependent, check: {all: [{workflow: upstream, date: today}]}, outputs: [rows]}
  - {name: b, type: shell, script: "echo $rows", needs: [a]}
`
)

// run starts the upstream on the second engine.
func (f *family) run() int64 {
	f.t.Helper()
	w, err := f.store.Workflow(f.t.Context(), f.project.ID, "upstream")
	f.must(err)
	id, _, err := f.store.Start(f.t.Context(), sql.Start{WorkflowID: w.ID, ProjectID: f.project.ID, Version: w.Published, By: "test", Priority: dag.PriorityMedium})
	f.must(err)
	f.give(f.other)
	return id
}

func (f *family) wait(text string) int64 {
	f.t.Helper()
	id := f.start(text, 1)[0]
	f.rest()
	if got := f.task(id, "a").State; got != dag.TaskRunning {
		f.t.Fatalf("the dependent task is %s", got)
	}
	f.now = f.now.Add(2 * secondLook) // past the second look
	f.rest()
	return id
}

func TestADependentHearsOfTheEndAndGetsTheOutputs(t *testing.T) {
	t.Parallel()
	f := newFamily(t, upstream)
	id := f.wait(waiter)
	f.run()
	if got := f.task(id, "a").State; got != dag.TaskRunning {
		t.Fatalf("while the other runs it is %s", got)
	}
	f.report(dag.AttemptSuccess, map[string]string{"rows": "9", "other": "x"})
	// No time has passed: nothing but the hint can have told it.
	if got := f.task(id, "a"); got.State != dag.TaskSuccess || got.Outputs["rows"] != "9" || len(got.Outputs) != 1 {
		t.Errorf("after the end it is %+v", got)
	}
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["rows"] != "9" {
		t.Errorf("dispatched %+v", last)
	}
	if n := len(f.dependents.waiting) + len(f.dependents.byWorkflow); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

func TestADependentFailsWithWhatItWaitsForOrWaitsOn(t *testing.T) {
	t.Parallel()
	f := newFamily(t, upstream)
	fails := f.wait(waiter)
	patient := f.wait(strings.Replace(strings.Replace(waiter, "type: dependent,", "type: dependent, on_failure: wait,", 1), "name: waiter", "name: patient", 1))
	up := f.run()
	f.report(dag.AttemptFailed, nil)
	f.want(fails, dag.InstanceFailed)
	attempts, err := f.store.Attempts(t.Context(), fails, 0)
	f.must(err)
	if a := attempts[0]; a.Reason != dag.ReasonDependencyFailed || !strings.Contains(a.Message, "upstream") {
		t.Errorf("the attempt ended as %+v", a)
	}
	f.want(patient, dag.InstanceRunning)
	f.wish(up, dag.VerbRecover)
	f.give(f.other)
	f.report(dag.AttemptSuccess, nil)
	if got := f.task(patient, "a").State; got != dag.TaskSuccess {
		t.Errorf("after the recovery it is %s", got)
	}
}

func TestADependentFindsByItselfWhatNobodyTold(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(f *family){
		"in memory": func(*family) {},
		"evicted": func(f *family) {
			f.now = f.now.Add(evictAfter + sweepEvery)
			f.Evict(f.now)
		},
		"taken over": func(f *family) {
			claimed, err := f.store.TakeOver(f.t.Context(), f.Owner, "m3:c", 10)
			f.must(err)
			f.Engine = f.engine("m3:c", f.store)
			f.Admit(claimed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, upstream)
			id := f.wait(waiter)
			f.other.Hint = nil
			f.other = f.engine("m2:b", f.store) // tells nobody
			before(f)
			f.run()
			f.report(dag.AttemptSuccess, nil)
			f.now = f.now.Add(11 * time.Second)
			f.rest()
			if got := f.task(id, "a").State; got != dag.TaskSuccess {
				t.Errorf("after its interval it is %s", got)
			}
		})
	}
}

func TestTheDatesOfADependentAreThoseOfItsInstancesTimezone(t *testing.T) {
	t.Parallel()
	f := newFamily(t, upstream)
	inUTC := f.wait(waiter) // begun at 22:13 on the 14th of November, which is the 15th in Shanghai
	w, err := f.store.Workflow(t.Context(), f.project.ID, "waiter")
	f.must(err)
	inShanghai, _, err := f.store.Start(t.Context(), sql.Start{
		WorkflowID: w.ID, ProjectID: f.project.ID, Version: w.Published, By: "test", Priority: dag.PriorityMedium, Timezone: "Asia/Shanghai",
	})
	f.must(err)
	f.give(f.Engine)
	up, err := f.store.Workflow(t.Context(), f.project.ID, "upstream")
	f.must(err)
	_, _, err = f.store.Start(t.Context(), sql.Start{
		WorkflowID: up.ID, ProjectID: f.project.ID, Version: up.Published, By: "test", Priority: dag.PriorityMedium,
		ScheduleTime: dag.MillisOf(time.Date(2023, 11, 15, 3, 0, 0, 0, time.UTC)), TriggerKey: "s1",
	})
	f.must(err)
	f.give(f.other)
	f.report(dag.AttemptSuccess, map[string]string{"rows": "9"})
	if utc, shanghai := f.task(inUTC, "a").State, f.task(inShanghai, "a").State; utc != dag.TaskRunning || shanghai != dag.TaskSuccess {
		t.Errorf("after the run of the 15th the task in UTC is %s, the one in Shanghai %s", utc, shanghai)
	}
}

func TestTheFirstRunOfAWorkflowThatDependsOnItselfGoesOn(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	text := strings.ReplaceAll(waiter, "upstream, date: today", "waiter, date: last1Days")
	id := f.start(text, 1)[0]
	f.rest()
	if got := f.task(id, "a").State; got != dag.TaskSuccess {
		t.Errorf("in the first run it is %s", got)
	}
}

func TestAThousandDependentsAreCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a thousand instances")
	}
	const n = 1000
	f := newFamily(t, upstream)
	text := "name: waiter\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: dependent, check: {all: [{workflow: upstream, date: today}]}}\n"
	routines, before := runtime.NumGoroutine(), heap()
	ids := f.start(text, n)
	f.rest()
	f.now = f.now.Add(evictAfter + sweepEvery)
	f.Evict(f.now)
	if f.Running() != 0 || f.Held() != n {
		t.Fatalf("%d in memory, %d held", f.Running(), f.Held())
	}
	if more := runtime.NumGoroutine() - routines; more > 10 {
		t.Errorf("%d more goroutines", more)
	}
	each := (int64(heap()) - int64(before)) / n
	t.Logf("%d bytes for each that waits", each)
	if each > 20<<10 {
		t.Errorf("%d bytes for each that waits, want under 20 KiB", each)
	}
	f.run()
	f.report(dag.AttemptSuccess, nil)
	for i := 0; i < 20 && f.row(ids[n-1]).State != dag.InstanceSuccess; i++ {
		f.now = f.now.Add(11 * time.Second)
		f.rest()
	}
	for _, id := range ids {
		if f.row(id).State != dag.InstanceSuccess {
			t.Fatalf("instance %d is %s", id, f.row(id).State)
		}
	}
}
