package sqltest

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

func dependenciesFindTheirRuns(t *testing.T, b *bench) {
	day := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	at := func(hours int) dag.Millis { return dag.MillisOf(day.Add(time.Duration(hours) * time.Hour)) }
	by := sql.Asker{Instance: 1 << 40, WorkflowID: b.workflow.ID, At: day}
	item := interval.Item{Project: "sales", Workflow: "DAILY", Date: "today"}
	facts, workflow, err := b.Dependency(b.ctx, item, by)
	b.must(err)
	if workflow != b.workflow.ID || len(facts.Runs) != 0 || facts.Own != by.Instance || !facts.First {
		t.Fatalf("of a workflow without runs: %d, %+v", workflow, facts)
	}
	scheduled := b.begin(func(s *sql.Start) { s.ScheduleTime, s.TriggerKey, s.At = at(1), "s1", at(50) })
	byHand := b.begin(func(s *sql.Start) { s.At, s.DryRun = at(2), true })
	b.begin(func(s *sql.Start) { s.At = at(-30) })
	b.begin(func(s *sql.Start) { s.ScheduleTime, s.TriggerKey = at(24), "s2" })
	facts, _, err = b.Dependency(b.ctx, item, by)
	b.must(err)
	if len(facts.Runs) != 2 || facts.First {
		t.Fatalf("found %+v, want the two of the day", facts)
	}
	if r := facts.Runs[0]; r.ID != byHand || !r.DryRun || !r.ScheduleTime.IsZero() || !r.SubmittedAt.Equal(at(2).Time()) || r.Outcome != interval.OutcomeOpen {
		t.Errorf("the run by hand is %+v", r)
	}
	if r := facts.Runs[1]; r.ID != scheduled || !r.ScheduleTime.Equal(at(1).Time()) || r.Partial {
		t.Errorf("the scheduled run is %+v", r)
	}
	for _, gone := range []struct {
		item interval.Item
		want interval.Gone
	}{
		{interval.Item{Project: "nowhere", Workflow: "Daily", Date: "today"}, interval.GoneProject},
		{interval.Item{Project: "Sales", Workflow: "Nightly", Date: "today"}, interval.GoneWorkflow},
	} {
		if facts, workflow, err := b.Dependency(b.ctx, gone.item, by); err != nil || facts.Gone != gone.want || workflow != 0 {
			t.Errorf("%+v gave %+v, %v", gone.item, facts, err)
		}
	}

	// Of a task: its own state counts, and its outputs.
	var o owned
	for _, c := range b.claim("m1:a") {
		if c.Instance.ID == scheduled {
			o = owned{&dag.Instance{ID: scheduled, Tasks: make([]dag.TaskInstance, 2)}, 1}
		}
	}
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	b.must(b.commit(b.step(o, 0, dag.TaskSuccess)))
	for task, want := range map[string]interval.Outcome{"extract": interval.OutcomeSuccess, "load": interval.OutcomeAbsent, "": interval.OutcomeOpen} {
		item.Task = task
		facts, _, err := b.Dependency(b.ctx, item, by)
		b.must(err)
		if facts.Runs[1].Outcome != want {
			t.Errorf("task %q is %+v, want %s", task, facts.Runs[1], want)
		}
	}
	out, err := b.RunOutputs(b.ctx, []int64{scheduled}, "extract")
	b.must(err)
	if out["rows"] != "3" || len(out) != 1 {
		t.Errorf("outputs %v", out)
	}
	if out, err = b.RunOutputs(b.ctx, []int64{scheduled}, "load"); err != nil || len(out) != 0 {
		t.Errorf("outputs of another task %v, %v", out, err)
	}
}
