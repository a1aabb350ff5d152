package sqltest

import (
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// fail ends the running attempt of a task.
func (b *bench) fail(o owned, i int, at dag.Millis, tail string) {
	b.t.Helper()
	a := o.Tasks[i].Attempt
	tr := b.step(o, i, dag.TaskFailed)
	a.State, a.FinishedAt, a.Message, a.Tail = dag.AttemptFailed, at, "ended with code 1", []byte(tail)
	o.Tasks[i].Reason, o.Tasks[i].FinishedAt = dag.ReasonExitCode, at
	tr.Effects.Attempts = []dag.Attempt{a}
	b.must(b.commit(tr))
}

func outlinesSayHowFarAndWhatFailedFirst(t *testing.T, b *bench) {
	failed, running := b.take("m1:a"), b.take("m1:a")
	b.must(b.commit(b.step(failed, 0, dag.TaskDispatched)))
	b.must(b.commit(b.step(failed, 1, dag.TaskDispatched)))
	b.fail(failed, 0, 30, "later")
	b.fail(failed, 1, 20, "ERROR 1146\n")
	b.must(b.commit(b.step(running, 0, dag.TaskDispatched)))
	b.must(b.commit(b.step(running, 0, dag.TaskSuccess)))
	b.must(b.commit(b.step(running, 1, dag.TaskReady)))
	for _, took := range []dag.Millis{1000, 7000, 3000} {
		b.end(b.begin(), 1000, 1000+took)
	}
	rows, _, err := b.Instances(b.ctx, sql.InstanceFilter{IDs: []int64{failed.ID, running.ID}}, sql.Page{})
	b.must(err)
	got, err := b.Outlines(b.ctx, rows)
	b.must(err)
	usual := sql.Took{Median: 3 * time.Second, Longest: 7 * time.Second, Of: 3}
	if o := got[failed.ID]; o.Tasks != 2 || o.Done != 2 || o.Usual != usual || o.Culprit == nil || o.Culprit.Task != "load" ||
		o.Culprit.Reason != dag.ReasonExitCode || o.Culprit.Message != "ended with code 1" || string(o.Culprit.Tail) != "ERROR 1146\n" {
		t.Errorf("of the one that failed: %+v, %+v", o, o.Culprit)
	}
	if o := got[running.ID]; o.Tasks != 2 || o.Done != 1 || o.Culprit != nil || o.Usual != usual {
		t.Errorf("of the one that runs: %+v", o)
	}
	if none, err := b.Outlines(b.ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("of no instance: %+v, %v", none, err)
	}
}

func lateIsWhatRunsForLongerThanEver(t *testing.T, b *bench) {
	o := b.take("m1:a")
	o.StartedAt = dag.MillisOf(time.Now().Add(-time.Minute))
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	late := func() []int64 { return b.listed(sql.InstanceFilter{Late: true}, 50) }
	b.end(b.begin(), 1000, 2000)
	b.end(b.begin(), 1000, 2000)
	if got := late(); len(got) != 0 {
		t.Errorf("with two successes known, late are %v, want none", got)
	}
	b.end(b.begin(), 1000, 2000)
	if got := late(); !slices.Equal(got, []int64{o.ID}) {
		t.Errorf("late are %v, want %v", got, o.ID)
	}
	b.end(b.begin(), 1000, 3_601_000)
	if got := late(); len(got) != 0 {
		t.Errorf("after one that took an hour, late are %v, want none", got)
	}
}
