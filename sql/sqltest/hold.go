package sqltest

import (
	"errors"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// hasWaits gives an instance a deadline, an attempt with one that began at began, and a retry whose wait
// began at began, too.
func (b *bench) hasWaits(o owned, began dag.Millis) {
	b.t.Helper()
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	running := b.step(o, 0, dag.TaskRunning)
	a := &o.Tasks[0].Attempt
	a.State, a.StartedAt, a.Deadline = dag.AttemptRunning, began, began+60_000
	running.Effects.Attempts = []dag.Attempt{*a}
	o.StartedAt, o.Deadline = 1, 500_000
	b.must(b.commit(running))
	failed := b.step(o, 1, dag.TaskRetryWait)
	o.Tasks[1].FinishedAt, o.Tasks[1].NextAt = began, began+30_000
	b.must(b.commit(failed))
}

// isDelayed gives an instance a task whose delay began at began.
func (b *bench) isDelayed(o owned, began dag.Millis) {
	b.t.Helper()
	delayed := b.step(o, 0, dag.TaskReady)
	o.Tasks[0].Reason, o.Tasks[0].ReadyAt, o.Tasks[0].NextAt, o.Tasks[0].AvoidWorker = dag.ReasonDelayed, began, began+20_000, "w9"
	b.must(b.commit(delayed))
}

// waits are the moments that hasWaits has set, as they are now.
func (b *bench) waits(id int64) (instance, attempt, retry dag.Millis) {
	b.t.Helper()
	row, err := b.Instance(b.ctx, id)
	b.must(err)
	a, err := b.Attempt(b.ctx, id, 0, 1)
	b.must(err)
	tasks, _, err := b.Tasks(b.ctx, id, sql.Page{Limit: 10})
	b.must(err)
	return row.Deadline, a.Deadline, tasks[1].NextAt
}

func aReleaseMovesWhatTheHoldTook(t *testing.T, b *bench) {
	before, within, delayed, foreign := b.take("m1:a"), b.take("m1:a"), b.take("m1:a"), b.take("m2:b")
	b.hasWaits(before, 1000)
	h, began, err := b.SetHold(b.ctx, "ann", "upgrade")
	b.must(err)
	if !began || !h.Held() || h.By != "ann" || h.Reason != "upgrade" {
		t.Fatalf("held: %+v, began %v", h, began)
	}
	if again, began, err := b.SetHold(b.ctx, "bob", "other"); err != nil || began || again != h {
		t.Errorf("held again: %+v, began %v, %v; want the first", again, began, err)
	}
	b.hasWaits(within, h.Since+7)
	b.isDelayed(delayed, h.Since+7)
	got, err := b.ReleaseHold(b.ctx)
	b.must(err)
	if got.Was != h || got.Instances != 4 || got.Moments != 7 {
		t.Errorf("released %+v, want 4 instances and 7 moments", got)
	}
	if tasks, _, err := b.Tasks(b.ctx, delayed.ID, sql.Page{Limit: 10}); err != nil || tasks[0].NextAt != got.At+20_000 || tasks[0].AvoidWorker != "w9" {
		t.Errorf("the delay that began within the hold became %+v, %v at %d", tasks, err, got.At)
	}
	length := got.At - h.Since
	if in, a, r := b.waits(before.ID); in != 500_000+length || a != 61_000+length || r != 31_000+length {
		t.Errorf("moments of before became %d, %d, %d; want %d more each", in, a, r, length)
	}
	// Of what began within the hold, only the rest of it is given back.
	if in, a, r := b.waits(within.ID); in != 500_000+length || a != got.At+60_000 || r != got.At+30_000 {
		t.Errorf("moments of within became %d, %d, %d at %d", in, a, r, got.At)
	}
	for _, o := range []owned{before, within, foreign} {
		if err := b.commit(b.step(o, 0, dag.TaskSuccess)); !errors.Is(err, sql.ErrNotOwner) {
			t.Errorf("a commit from before the release: %v, want ErrNotOwner", err)
		}
	}
	twice, err := b.ReleaseHold(b.ctx)
	b.must(err)
	if twice.Was.Held() || twice.Instances != 0 || twice.Moments != 0 {
		t.Errorf("released twice: %+v", twice)
	}
	if now, err := b.Hold(b.ctx); err != nil || now != (sql.Hold{Releases: 1}) {
		t.Errorf("then it is %+v, %v", now, err)
	}
}
