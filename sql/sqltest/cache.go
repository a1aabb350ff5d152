package sqltest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// keeps makes the transition of o in which a task's outputs are kept under a key.
func (b *bench) keeps(o owned, task int, key string, at, until time.Time, rows string) sql.Transition {
	b.t.Helper()
	t := b.step(o, task, dag.TaskRunning)
	o.Facts.WorkflowID = b.workflow.ID
	t.Effects.Cached = []dag.CacheEntry{{
		Key: key, Instance: o.ID, Task: task, Number: 3, Outputs: map[string]string{"rows": rows}, At: dag.MillisOf(at), Until: dag.MillisOf(until),
	}}
	return t
}

// cached returns the outputs that are kept, by key.
func (b *bench) cached(keys ...string) map[string]dag.CacheEntry {
	b.t.Helper()
	found, err := b.Cached(b.ctx, keys)
	b.must(err)
	return found
}

func resultsAreKeptWithTheirCommit(t *testing.T, b *bench) {
	now := time.Now()
	o := b.take("m1:a")
	tr := b.keeps(o, 0, "one", now, now.Add(time.Hour), "3\x00ü")
	late := tr
	late.Epoch = 99
	if err := b.commit(late); !errors.Is(err, sql.ErrNotOwner) {
		t.Fatalf("commit of a lost instance: %v", err)
	}
	if found := b.cached("one"); len(found) != 0 {
		t.Fatalf("a master that lost the instance kept %+v", found)
	}
	b.must(b.commit(tr))
	b.must(b.commit(tr)) // its answer was lost
	found := b.cached("none", "one")
	if got := found["one"]; len(found) != 1 || got.Instance != o.ID || got.Number != 3 || got.Outputs["rows"] != "3\x00ü" ||
		got.At != dag.MillisOf(now) || got.Until != dag.MillisOf(now.Add(time.Hour)) {
		t.Fatalf("kept is %+v", found)
	}

	// The later one stays, also where both come in one commit.
	other := b.take("m1:a")
	first, second := b.keeps(o, 0, "one", now, now.Add(time.Hour), "4"), b.keeps(other, 0, "one", now, now.Add(time.Hour), "5")
	for _, err := range b.Commit(b.ctx, []sql.Transition{first, second}) {
		b.must(err)
	}
	if got := b.cached("one")["one"]; got.Outputs["rows"] != "5" || got.Instance != other.ID {
		t.Errorf("kept is %+v", got)
	}
	b.must(b.commit(b.keeps(o, 1, "old", now.Add(-time.Hour), now.Add(-time.Second), "6")))
	if found := b.cached("old"); len(found) != 0 {
		t.Errorf("what has expired is given: %+v", found)
	}
}

func attemptsKnowTheirCacheKey(t *testing.T, b *bench) {
	o := b.take("m1:a")
	tr := b.step(o, 0, dag.TaskDispatched)
	o.Tasks[0].Attempt.CacheKey = "the key"
	tr.Effects.Attempts[0].CacheKey = "the key"
	b.must(b.commit(tr))
	again, err := b.Load(b.ctx, "m1:a", []int64{o.ID})
	b.must(err)
	if len(again) != 1 || again[0].Attempts[0].CacheKey != "the key" {
		t.Errorf("read again it is %+v", again)
	}
	tr = b.step(o, 1, dag.TaskSuccess)
	tr.Effects.Attempts[0].Task, tr.Effects.Attempts[0].Number, tr.Effects.Attempts[0].CachedFrom = 1, 1, 77
	b.must(b.commit(tr))
	attempts, err := b.Attempts(b.ctx, o.ID, 1)
	b.must(err)
	if len(attempts) != 1 || attempts[0].CachedFrom != 77 {
		t.Errorf("the attempt is %+v", attempts)
	}
}

func keptResultsAreCleared(t *testing.T, b *bench) {
	now := time.Now()
	fill := func() {
		o := b.take("m1:a")
		for i, key := range []string{"a1", "a2", "b1"} {
			b.must(b.commit(b.keeps(o, i/2, key, now, now.Add(time.Hour), key)))
		}
		o.State = dag.InstanceSuccess
		b.must(b.commit(sql.Transition{Instance: o.Instance, Plan: b.plan, Epoch: o.epoch, Effects: &dag.Effects{Changed: true}, Release: true, At: 9}))
	}
	fill()
	for _, c := range []struct {
		workflow int64
		task     string
		want     int
	}{{b.workflow.ID + 1, "", 0}, {b.workflow.ID, "none", 0}, {b.workflow.ID, "extract", 2}, {b.workflow.ID, "", 1}} {
		if n, err := b.ClearCache(b.ctx, c.workflow, c.task); err != nil || n != c.want {
			t.Errorf("clearing %q of %d deleted %d, %v; want %d", c.task, c.workflow, n, err, c.want)
		}
	}
	fill()
	b.must(b.DeleteWorkflow(b.ctx, b.workflow.ID))
	if found := b.cached("a1", "a2", "b1"); len(found) != 0 {
		t.Errorf("a deleted workflow has kept %+v", found)
	}
}

func oldResultsAreSwept(t *testing.T, b *bench) {
	const most, more = 1_000, 40
	now := time.Now()
	o := b.take("m1:a")
	tr := b.keeps(o, 0, "", now, now, "")
	tr.Effects.Cached = nil
	for i := range most + more {
		tr.Effects.Cached = append(tr.Effects.Cached, dag.CacheEntry{
			Key: fmt.Sprintf("k%04d", i), Instance: o.ID, Number: 1, At: dag.MillisOf(now.Add(time.Duration(i) * time.Millisecond)), Until: dag.MillisOf(now.Add(time.Hour)),
		})
	}
	b.must(b.commit(tr))
	for i := range 3 {
		b.must(b.commit(b.keeps(o, 0, fmt.Sprint("expired", i), now.Add(time.Minute), now.Add(-time.Second), "")))
	}
	for _, want := range []int{more + 3, 0} {
		if n, err := b.Sweep(b.ctx); err != nil || n != want {
			t.Errorf("swept %d rows, %v; want %d", n, err, want)
		}
	}
	if found := b.cached("k0000", fmt.Sprintf("k%04d", more-1), fmt.Sprintf("k%04d", more), fmt.Sprintf("k%04d", most+more-1)); len(found) != 2 {
		t.Errorf("of the oldest and the youngest %d are left, want the two youngest: %v", len(found), found)
	}
}
