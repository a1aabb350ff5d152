package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// takeOver ends the first master, and has another one take what it had.
func (f *family) takeOver() {
	f.t.Helper()
	dead, keys := f.Owner, f.Keys
	f.Engine = f.engine("m3:c", f.store)
	f.Keys = keys
	f.hinted(f.Engine)
	clear(f.alarms)
	claimed, err := f.store.TakeOver(f.t.Context(), dead, f.Owner, 10)
	f.must(err)
	if len(claimed) != 1 {
		f.t.Fatalf("%d instances are taken over", len(claimed))
	}
	f.Admit(claimed)
	f.rest()
}

// What a task waits for, avoids or is given must be the same whichever master has it.

func TestARetryAvoidsTheWorkerOfADeadMastersAttempt(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start("name: flaky\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: shell, script: x, retry: {times: 1, delay: 5s, elsewhere: true}}\n", 1)[0]
	f.rest()
	f.report(dag.AttemptFailed, nil)
	f.takeOver()
	f.now = f.now.Add(5 * time.Second)
	f.ring()
	f.rest()
	if first, last := f.offers[0], f.offers[len(f.offers)-1]; len(f.offers) != 2 || first.AvoidWorker != "" || last.AvoidWorker != "w1" {
		t.Errorf("offered %+v, want the retry to avoid w1", f.offers)
	}
	if got := f.task(id, "a"); got.Attempts != 2 {
		t.Errorf("the task is %+v", got)
	}
}

func TestADelayGoesOnAtTheNextMaster(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start("name: later\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: shell, script: x, delay: 10m}\n", 1)[0]
	f.rest()
	f.now = f.now.Add(9 * time.Minute)
	f.takeOver()
	if got := f.task(id, "a"); got.Reason != dag.ReasonDelayed || len(f.offers) != 0 {
		t.Fatalf("a minute before its end the task is %+v, offered %v", got, f.offers)
	}
	f.now = f.now.Add(time.Minute)
	f.ring()
	f.rest()
	if got := f.task(id, "a"); got.State != dag.TaskDispatched || len(f.dispatched) != 1 || got.ReadyAt != dag.Millis(f.now.UnixMilli()) {
		t.Errorf("after its delay the task is %+v", got)
	}
}

func TestAnEnvironmentIsTheSameAtTheNextMaster(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	_, err := f.store.PutEnvironment(t.Context(), sql.Environment{ProjectID: f.project.ID, Name: "Spark", Variables: map[string]string{"SPARK_HOME": "/opt/spark"}})
	f.must(err)
	text := "name: env\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: shell, script: x, environment: spark}\n  - {name: b, type: shell, script: x, environment: spark, needs: [a]}\n"
	f.start(text, 1)
	f.rest()
	f.takeOver()
	f.report(dag.AttemptSuccess, nil)
	for _, d := range f.dispatched {
		if d.GetEnv()["SPARK_HOME"] != "/opt/spark" {
			t.Errorf("task %s is dispatched with %v", d.GetTaskName(), d.GetEnv())
		}
	}
	if len(f.dispatched) < 2 {
		t.Errorf("%d dispatched, want both tasks", len(f.dispatched))
	}
}

// A worker that runs an attempt with secrets hears of its new master, and of no other values than the attempt's:
// whether its link or the secrets come first.
func TestARunningAttemptWithSecretsHearsOfItsNextMaster(t *testing.T) {
	t.Parallel()
	for _, linkFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("link first ", linkFirst), func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			f.keep(f.withKeys(), "db", "the value")
			id := f.start(secretive, 1)[0]
			f.opened()
			f.report(dag.AttemptRunning, nil)
			sent := f.dispatched[0]
			f.dispatched = nil
			f.takeOver()
			hello := func() {
				f.Hello(rpc.Process{Node: "w1", Incarnation: "x"}, []*rpc.Running{{Attempt: sent.GetAttempt()}})
			}
			if linkFirst {
				hello()
			}
			if len(f.dispatched) != 0 {
				t.Fatalf("told before its secrets are opened: %v", f.dispatched)
			}
			f.opened()
			if !linkFirst {
				if len(f.dispatched) != 0 {
					t.Fatalf("told without a link: %v", f.dispatched)
				}
				hello()
			}
			if len(f.dispatched) != 1 {
				t.Fatalf("the worker is told %d times of its new master, want once", len(f.dispatched))
			}
			told := f.dispatched[0]
			if told.GetAttempt().GetToken() != sent.GetAttempt().GetToken() || told.GetSecrets().GetEnv()["A"] != "the value" {
				t.Errorf("told %v", told)
			}
			if got := f.task(id, "t"); got.State != dag.TaskRunning || got.Attempts != 1 {
				t.Errorf("the task is %+v", got)
			}
			f.dispatched = append(f.dispatched, sent)
			f.report(dag.AttemptSuccess, nil)
			f.want(id, dag.InstanceSuccess)
		})
	}
}

// A secret that went away while an attempt runs is not missed: its worker has the value.
func TestATakeOverWithoutTheSecretLeavesTheAttemptRunning(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.keep(f.withKeys(), "db", "the value")
	id := f.start(secretive, 1)[0]
	f.opened()
	f.report(dag.AttemptRunning, nil)
	f.must(f.store.DeleteSecret(t.Context(), f.project.ID, "db"))
	f.takeOver()
	f.Hello(rpc.Process{Node: "w1", Incarnation: "x"}, []*rpc.Running{{Attempt: f.dispatched[0].GetAttempt()}})
	f.opened()
	if got := f.task(id, "t"); got.State != dag.TaskRunning || got.Attempts != 1 {
		t.Fatalf("the task is %+v", got)
	}
	f.report(dag.AttemptSuccess, nil)
	f.want(id, dag.InstanceSuccess)
}

func TestALoopIsTakenOverInItsSecondIteration(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start(pages, 1)[0]
	f.rest()
	f.report(dag.AttemptSuccess, map[string]string{"cursor": "p2"})
	f.now = f.now.Add(5 * time.Second)
	f.ring()
	f.rest()
	f.report(dag.AttemptRunning, nil)
	f.takeOver()
	if got := f.task(id, "page"); got.State != dag.TaskRunning || got.Iteration != 2 || got.Attempts != 2 {
		t.Fatalf("taken over it is %+v", got)
	}
	f.report(dag.AttemptSuccess, map[string]string{"cursor": "p3"})
	if got := f.task(id, "page"); got.State != dag.TaskRetryWait || got.Iteration != 3 || got.Outputs["cursor"] != "p3" {
		t.Fatalf("after its second iteration it is %+v", got)
	}
	f.now = f.now.Add(5 * time.Second)
	f.ring()
	f.rest()
	f.report(dag.AttemptSuccess, map[string]string{"cursor": "p4"})
	if got := f.task(id, "page"); got.State != dag.TaskFailed || got.Reason != dag.ReasonRepeatBound {
		t.Errorf("after its last iteration it is %s (%s)", got.State, got.Reason)
	}
}
