package sqltest

import (
	"reflect"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func startToEnd(t *testing.T, b *bench) {
	id := b.begin(func(s *sql.Start) {
		s.Params = map[string]string{"day": "x'\\\n\U0001F42C"}
		s.StartTasks = []string{"load"}
	})
	if b.begin() == id {
		t.Fatal("two starts got one id")
	}
	got := b.claim("m1:a")
	if len(got) != 2 || got[0].Instance.ID != id {
		t.Fatalf("claimed %d, want both instances in order", len(got))
	}
	in := got[0].Instance
	if in.Owner != "m1:a" || in.OwnerEpoch != 1 || in.CrashCount != 1 || in.State != dag.InstanceSubmitted || in.Project != "Sales" ||
		in.Workflow != "Daily" || in.Params["day"] != "x'\\\n\U0001F42C" || !reflect.DeepEqual(in.StartTasks, []string{"load"}) {
		t.Errorf("claimed %+v", in)
	}
	if got[0].Version.Text != "name: Daily\n" {
		t.Errorf("version text %q", got[0].Version.Text)
	}
	o := owned{&dag.Instance{ID: id, Tasks: make([]dag.TaskInstance, 2)}, 1}
	for i := range 2 {
		b.must(b.commit(b.step(o, i, dag.TaskDispatched)))
		b.must(b.commit(b.step(o, i, dag.TaskSuccess)))
	}
	o.State, o.FinishedAt = dag.InstanceSuccess, 99
	b.must(b.commit(sql.Transition{Instance: o.Instance, Plan: b.plan, Epoch: 1, Release: true}))
	in, err := b.Instance(b.ctx, id)
	b.must(err)
	if in.State != dag.InstanceSuccess || in.Owner != "" || in.FinishedAt != 99 || in.Seq != 4 || in.CrashCount != 0 {
		t.Errorf("finished as %+v", in)
	}
	tasks, next, err := b.Tasks(b.ctx, id, sql.Page{})
	b.must(err)
	if len(tasks) != 2 || next != "" || tasks[1].Name != "load" || tasks[1].State != dag.TaskSuccess || tasks[1].Outputs["rows"] != "3" {
		t.Errorf("tasks %+v", tasks)
	}
	attempts, err := b.Attempts(b.ctx, id, 0)
	b.must(err)
	if len(attempts) != 1 || string(attempts[0].Tail) != "done\x00\xff" || attempts[0].State != dag.AttemptSuccess || attempts[0].Worker != "w1" {
		t.Errorf("attempts %+v", attempts)
	}
	events, err := b.Events(b.ctx, id, 1, 10)
	b.must(err)
	if len(events) != 3 || events[0].Seq != 2 || events[0].TaskName != "extract" || events[2].State != "success" {
		t.Errorf("events %+v", events)
	}
}
