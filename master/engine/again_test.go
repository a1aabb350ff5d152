package engine

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// ended is a parent that failed because its child did.
func (f *family) ended() (up, down int64) {
	f.t.Helper()
	up, down = f.begin()
	f.report(dag.AttemptFailed, nil)
	f.want(up, dag.InstanceFailed)
	f.want(down, dag.InstanceFailed)
	return up, down
}

// all gives all commands away until there are none, the first to the other engine.
func (f *family) all() {
	f.t.Helper()
	for range 20 {
		if len(f.give(f.other)) == 0 {
			return
		}
	}
	f.t.Fatal("commands without end")
}

func TestAChildThatIsRecoveredByHandTakesItsParentWithIt(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.ended()
	f.wish(down, dag.VerbRecover)
	f.all()
	if row := f.want(up, dag.InstanceRunning); row.Round != 2 {
		t.Errorf("the parent is in round %d, want 2", row.Round)
	}
	if got := f.task(up, "a"); got.State != dag.TaskRunning || got.Child != down || got.Attempts != 2 {
		t.Errorf("the task that waits is %+v", got)
	}
	if row := f.want(down, dag.InstanceRunning); row.Round != 2 || row.Parent.Attempt != 2 {
		t.Errorf("the child is %+v", row)
	}
	f.report(dag.AttemptSuccess, map[string]string{"rows": "5"})
	f.want(down, dag.InstanceSuccess)
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["rows"] != "5" {
		t.Fatalf("dispatched %+v, want what needs the task, with the child's output", last)
	}
	f.report(dag.AttemptSuccess, nil)
	f.want(up, dag.InstanceSuccess)
	f.nothingLeft()

	// A success is rerun in the same way, and what needs its task runs once more.
	f.wish(down, dag.VerbRerun)
	f.all()
	f.want(up, dag.InstanceRunning)
	if got := f.task(up, "b").State; got != dag.TaskWaiting {
		t.Errorf("what needs the task is %s, want it to wait", got)
	}
	f.report(dag.AttemptSuccess, map[string]string{"rows": "6"})
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["rows"] != "6" {
		t.Errorf("dispatched %+v", last)
	}
}

// TestARerunGoesUpThroughAllLevels reruns a task eight levels down; each level has a task of its own after its child.
func TestARerunGoesUpThroughAllLevels(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	level := func(n int) string {
		if n == dag.MaxDepth {
			return fmt.Sprintf("name: w%d\ntasks:\n  - {name: work, type: shell, script: ok}\n", n)
		}
		return fmt.Sprintf("name: w%d\ntasks:\n  - {name: a, type: sub_workflow, workflow: w%d}\n  - {name: after, type: shell, script: ok, needs: [a]}\n", n, n+1)
	}
	for n := dag.MaxDepth; n > 0; n-- {
		f.save(level(n))
	}
	line := []int64{f.start(level(0), 1)[0]}
	f.rest()
	for range dag.MaxDepth {
		line = append(line, f.give(f.other)...)
	}
	f.report(dag.AttemptSuccess, nil)
	for range dag.MaxDepth {
		f.report(dag.AttemptSuccess, nil) // the task after the child, from below to above
	}
	for _, id := range line {
		f.want(id, dag.InstanceSuccess)
	}

	f.wish(line[dag.MaxDepth], dag.VerbRerun)
	f.all()
	for n, id := range line {
		if row := f.want(id, dag.InstanceRunning); row.Round != 2 {
			t.Errorf("level %d is in round %d", n, row.Round)
		}
	}
	for range dag.MaxDepth + 1 {
		f.report(dag.AttemptSuccess, nil)
	}
	for n, id := range line {
		f.want(id, dag.InstanceSuccess)
		if n < dag.MaxDepth {
			if got := f.task(id, "after"); got.Attempts != 2 {
				t.Errorf("level %d ran what comes after its child %d times, want 2", n, got.Attempts)
			}
		}
	}
	f.nothingLeft()
}

// TestAParentHearsOfANewRoundAfterItsMastersEnd lets the child end before anybody has told the parent, and ends
// the parent's new master in the middle of its new round.
func TestAParentHearsOfANewRoundAfterItsMastersEnd(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.ended()
	_, err := f.store.AddControl(t.Context(), sql.ControlRow{InstanceID: down, Verb: dag.VerbRecover, By: "ann"})
	f.must(err)
	f.give(f.other) // the child alone: the command for its parent comes with its commit
	f.want(down, dag.InstanceRunning)
	f.want(up, dag.InstanceFailed)
	f.report(dag.AttemptSuccess, map[string]string{"rows": "7"})
	f.want(down, dag.InstanceSuccess)

	// The parent's master takes it up, and is gone before it does anything.
	commands, _, err := f.store.Commands(t.Context(), nil, 100, sql.CommandCursor{})
	f.must(err)
	if len(commands) != 1 || commands[0].InstanceID != up {
		t.Fatalf("commands %+v, want one for the parent", commands)
	}
	_, err = f.store.Claim(t.Context(), []sql.Claim{{Command: commands[0], Owner: "dead:x"}})
	f.must(err)
	f.Engine = New(Config{Owner: "m3:c", Store: f.store, Dispatcher: f.bench, Links: f.bench, Alarms: f.bench, Publish: func(*rpc.Change) {}, Logger: hclog.NewNullLogger(), Now: f.clock})
	f.hinted(f.Engine)
	claimed, err := f.store.TakeOver(t.Context(), "dead:x", "m3:c", 10)
	f.must(err)
	f.Admit(claimed)
	f.rest()
	f.want(up, dag.InstanceRunning)
	if got := f.task(up, "a"); got.State != dag.TaskSuccess || got.Child != down || got.Outputs["rows"] != "7" {
		t.Errorf("the task that waited is %+v", got)
	}
	if got := f.row(down).Round; got != 2 {
		t.Errorf("the child is in round %d: it must not be asked twice", got)
	}
}

func TestAnEarlierChildRunsAgainAlone(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.ended()
	_, err := f.store.AddControl(t.Context(), sql.ControlRow{InstanceID: up, Verb: dag.VerbRerun, By: "ann"})
	f.must(err)
	f.all()
	f.report(dag.AttemptFailed, nil)
	f.want(up, dag.InstanceFailed)
	f.wish(down, dag.VerbRecover)
	f.all()
	f.want(down, dag.InstanceRunning)
	if row := f.want(up, dag.InstanceFailed); row.Round != 2 {
		t.Errorf("the parent is in round %d, want 2", row.Round)
	}
}
