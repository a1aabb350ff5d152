package engine

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const release = `name: release
params: {day: x, region: y}
tasks:
  - {name: a, type: approval, quorum: 2, expires: 2h, form: {percent: {type: integer}}}
  - {name: b, type: shell, needs: [a], script: release "$percent"}
`

// say has somebody approve the first attempt of task a.
func (f *family) say(id int64, by, percent string) {
	f.t.Helper()
	_, err := f.store.AddControl(f.t.Context(), sql.ControlRow{
		InstanceID: id, Verb: dag.VerbApprove, Tasks: []string{"a"}, Attempt: 1, By: by, Values: map[string]string{"percent": percent},
	})
	f.must(err)
	f.Nudge(id)
	f.other.Nudge(id)
	f.rest()
}

func TestAnApprovalOutlivesItsMaster(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start(release, 1)[0]
	f.rest()
	f.say(id, "ann", "10")
	if got := f.task(id, "a"); got.State != dag.TaskRunning {
		t.Fatalf("with one of two approvals it is %s", got.State)
	}

	// It leaves memory, since it waits for nothing but people, and a decision brings it back.
	f.now = f.now.Add(2 * evictAfter)
	f.Evict(f.now)
	if !f.Has(id) || f.inMemory(id) {
		t.Fatal("an instance that waits for people stays in memory")
	}
	f.say(id, "ann", "11")
	if got := f.task(id, "a"); got.State != dag.TaskRunning {
		t.Fatalf("with ann's word twice it is %s", got.State)
	}

	f.takeOver()
	f.say(id, "bob", "25")
	if got := f.task(id, "a"); got.State != dag.TaskSuccess || got.Outputs["percent"] != "25" {
		t.Errorf("with ann's word of the first master and bob's it is %+v", got)
	}
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["percent"] != "25" {
		t.Errorf("dispatched %+v", last)
	}
}

func TestAnApprovalExpiresAtItsNextMaster(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start(release, 1)[0]
	f.rest()
	f.takeOver()
	f.now = f.now.Add(2*time.Hour + time.Minute)
	f.ring()
	f.rest()
	if got := f.task(id, "a"); got.State != dag.TaskFailed || got.Reason != dag.ReasonExpired {
		t.Errorf("after its time it is %s %s", got.State, got.Reason)
	}
	f.want(id, dag.InstanceFailed)
}
