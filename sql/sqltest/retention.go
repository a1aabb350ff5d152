package sqltest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/sql"
)

func old(st *sql.Start) { st.At = 1 }

// ran starts an instance long ago that had as many events, and ends it at a moment.
func (b *bench) ran(events int, end dag.Millis, change ...func(*sql.Start)) int64 {
	b.t.Helper()
	id := b.begin(append(change, old)...)
	got, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m"}})
	b.must(err)
	o := owned{&dag.Instance{ID: id, Tasks: make([]dag.TaskInstance, 2)}, got[0].Instance.OwnerEpoch}
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	t := b.step(o, 0, dag.TaskSuccess)
	for len(t.Effects.Events) < events {
		o.Seq++
		t.Effects.Events = append(t.Effects.Events, dag.Event{Seq: o.Seq, At: 7, Code: "task_state", Round: 1})
	}
	o.State, o.FinishedAt, t.Release = dag.InstanceSuccess, end, true
	b.must(b.commit(t))
	return id
}

// retired deletes what ended until a moment and returns how many rows that were.
func (b *bench) retired(until dag.Millis) (rows int) {
	b.t.Helper()
	for {
		n, err := b.Retire(b.ctx, until)
		b.must(err)
		if n == 0 {
			return rows
		}
		rows += n
	}
}

// gone says that nothing is left of an instance.
func (b *bench) gone(id int64) bool {
	b.t.Helper()
	_, err := b.Instance(b.ctx, id)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		b.t.Fatal(err)
	}
	found := err == nil
	tasks, _, err := b.Tasks(b.ctx, id, sql.Page{})
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		b.t.Fatal(err)
	}
	attempts, err := b.Attempts(b.ctx, id, 0)
	b.must(err)
	events, err := b.Events(b.ctx, id, 0, 10)
	b.must(err)
	if rows := len(tasks) + len(attempts) + len(events); !found && rows > 0 {
		b.t.Errorf("of instance %d, which is gone, %d rows are left", id, rows)
	}
	return !found
}

func oldInstancesAreRetired(t *testing.T, b *bench) {
	now := dag.MillisOf(time.Now())
	small, large, young := b.ran(5, 9), b.ran(5000, 9), b.ran(5, now)
	wanted := b.ran(5, 9)
	b.wishFor(wanted, dag.VerbRecover)
	open := b.begin(old)
	kept := map[int64]string{}
	for _, id := range []int64{young, wanted, open} {
		kept[id] = b.dump(id)
	}
	if n := b.retired(0); n != 0 {
		t.Errorf("with nothing that old %d rows went", n)
	}
	b.retired(now.Add(-time.Hour))
	for _, id := range []int64{small, large} {
		if !b.gone(id) {
			t.Errorf("instance %d, which ended long ago, is there", id)
		}
	}
	for id, was := range kept {
		if got := b.dump(id); got != was {
			t.Errorf("instance %d is to be kept as it was:\n%s\nit is\n%s", id, was, got)
		}
	}
	if _, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: small, Verb: dag.VerbRecover, By: "ann"}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a wish about what is gone: %v", err)
	}
}

func aChildStaysWithItsParent(t *testing.T, b *bench) {
	o := b.take("m1:a")
	bearing, child := b.bears(o)
	b.must(b.commit(bearing))
	c := b.taken(child, "m1:a")
	end := b.endOf(c, o.ID, dag.InstanceSuccess)
	c.FinishedAt = 9
	b.must(b.commit(end))
	b.retired(far)
	if b.gone(child) {
		t.Fatal("a child is gone before its parent")
	}
	told, err := b.Controls(b.ctx, o.ID)
	b.must(err)
	over := b.step(o, 1, dag.TaskSuccess)
	over.Effects.Applied = []dag.Applied{{ID: told[0].ID, Result: "applied"}}
	o.State, o.FinishedAt, over.Release = dag.InstanceSuccess, 10, true
	b.must(b.commit(over))
	b.retired(far)
	if !b.gone(o.ID) || !b.gone(child) {
		t.Error("after the parent's end both are to go")
	}
}

func theNewestOfAWorkflowAreKept(t *testing.T, b *bench) {
	var ids []int64
	for range 5 {
		ids = append(ids, b.ran(2, 9))
	}
	if got, err := b.Surplus(b.ctx, 5); err != nil || len(got) != 0 {
		t.Errorf("with five of five, too many has %v, %v", got, err)
	}
	if got, err := b.Surplus(b.ctx, 3); err != nil || !slices.Equal(got, []int64{b.workflow.ID}) {
		t.Errorf("with five of three, too many has %v, %v", got, err)
	}
	if n, err := b.RetireSurplus(b.ctx, b.workflow.ID, 3); err != nil || n != 2 {
		t.Errorf("deleted %d, %v, want two", n, err)
	}
	b.retired(0)
	for i, id := range ids {
		if gone := b.gone(id); gone != (i < 2) {
			t.Errorf("instance %d of five, the oldest first: gone %v", i+1, gone)
		}
	}
	if n, err := b.RetireSurplus(b.ctx, b.workflow.ID, 3); err != nil || n != 0 {
		t.Errorf("deleted %d once more, %v", n, err)
	}
}

func oldBackfillsAreRetired(t *testing.T, b *bench) {
	f := b.fill(3, 3, backfill.Continue)
	b.advance(f.ID)
	for _, c := range b.claim("m1:a") {
		b.commitEnd(c, dag.InstanceSuccess)
	}
	b.advance(f.ID)
	b.retired(far)
	if _, err := b.Backfill(b.ctx, f.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a backfill that ended long ago: %v", err)
	}
	if dates, _, err := b.BackfillDates(b.ctx, f.ID, "", sql.Page{}); err != nil || len(dates) != 0 {
		t.Errorf("its dates: %v, %v", dates, err)
	}
}
