package sqltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// neverMoreThanTheRate lets two masters start tasks of a group at random moments of a clock of their own, and counts
// those of every window.
func neverMoreThanTheRate(t *testing.T, b *bench) {
	rate := sql.Rate{Tasks: 3, Per: 10 * time.Second}
	g, _, err := b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Size: 100, Rate: rate})
	b.must(err)
	if g.Rate != rate {
		t.Errorf("the rate is %+v", g.Rate)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	var entries []sql.TaskEntry
	for i := range 14 {
		_, e := b.ready(fmt.Sprintf("m%d:x", i%2))
		entries = append(entries, e)
	}
	now := dag.Millis(1_000_000)
	var due dag.Millis
	let := map[int64]dag.Millis{}
	note := func(instance int64) {
		if _, twice := let[instance]; !twice {
			let[instance] = now
		}
	}
	for step := 0; len(let) < len(entries); step++ {
		if step == 500 {
			t.Fatalf("seed %d: after %d steps %d of %d tasks have started", seed, step, len(let), len(entries))
		}
		asks := entries[:min(len(entries), step+1)]
		got, err := b.EnterGroups(b.ctx, now, asks) // over and over, as after failovers
		b.must(err)
		for i, answer := range got.Answers {
			if answer == sql.Admitted {
				note(asks[i].InstanceID)
			}
		}
		if due = got.Next[g.ID]; due != 0 && due <= now {
			t.Fatalf("seed %d: at %d the next is to come at %d", seed, now, due)
		}
		now = now.Add(time.Duration(r.IntN(4000)) * time.Millisecond)
		if due != 0 && r.IntN(2) == 0 {
			now = max(now, due)
			before := len(let)
			_, err := b.PaceGroups(b.ctx, now, []int64{g.ID})
			b.must(err)
			for _, owner := range []string{"m0:x", "m1:x"} {
				given, err := b.Given(b.ctx, owner)
				b.must(err)
				for _, p := range given {
					note(p.InstanceID)
				}
			}
			if len(let) == before && len(let) < len(asks) {
				t.Fatalf("seed %d: at %d, when the next was to come, nothing came", seed, now)
			}
		}
	}
	var moments []dag.Millis
	for _, at := range let {
		moments = append(moments, at)
	}
	slices.Sort(moments)
	for i := rate.Tasks; i < len(moments); i++ {
		if moments[i].Sub(moments[i-rate.Tasks]) < rate.Per {
			t.Errorf("seed %d: more than %d started in %s: %v", seed, rate.Tasks, rate.Per, moments)
			break
		}
	}
}

func aRateCountsOnlyWhatStarts(t *testing.T, b *bench) {
	rate := sql.Rate{Tasks: 1, Per: time.Hour}
	g, _, err := b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Size: 5, Rate: rate})
	b.must(err)
	now := dag.MillisOf(time.Now())
	first, one := b.ready("m1:a")
	_, two := b.ready("m1:a")
	two.Turn = -1
	_, three := b.ready("m1:a")
	enter := func(es ...sql.TaskEntry) sql.Entered {
		t.Helper()
		got, err := b.EnterGroups(b.ctx, now, es)
		b.must(err)
		return got
	}
	b.want("the first", enter(one).Answers, []sql.Admission{sql.Admitted})
	got := enter(three, two, one)
	b.want("again, with others", got.Answers, []sql.Admission{sql.Waits, sql.Waits, sql.Admitted})
	if got.Next[g.ID] != now.Add(time.Hour) {
		t.Errorf("the next is to come at %d, want an hour after %d", got.Next[g.ID], now)
	}
	if g, err = b.TaskGroup(b.ctx, b.project.ID, "cluster"); err != nil || g.Started != 1 || g.NextAt != now.Add(time.Hour) || g.Waiting != 2 {
		t.Errorf("the group is %+v, %v", g, err)
	}
	// A place that is free again lets nobody go, and its commit says when.
	tr := []sql.Transition{b.ended(first)}
	tr[0].At = now + 1
	b.must(b.Commit(b.ctx, tr)[0])
	if tr[0].Given || tr[0].Next[g.ID] != now.Add(time.Hour) {
		t.Errorf("the commit gave %v and names %v", tr[0].Given, tr[0].Next)
	}
	if next, err := b.PaceGroups(b.ctx, now.Add(time.Hour-1), []int64{g.ID, 1 << 40}); err != nil || next[g.ID] != now.Add(time.Hour) {
		t.Errorf("too early: %v, %v", next, err)
	}
	next, err := b.PaceGroups(b.ctx, now.Add(time.Hour), []int64{g.ID})
	b.must(err)
	if given, err := b.Given(b.ctx, "m1:a"); err != nil || len(given) != 1 || given[0].InstanceID != two.InstanceID || next[g.ID] != now.Add(2*time.Hour) {
		t.Errorf("after an hour: %+v, %v, %v; want the one of the higher priority", given, next, err)
	}
	// Force does not ask the rate; without one all go.
	b.must(b.ForceTask(b.ctx, sql.Force{GroupID: g.ID, InstanceID: three.InstanceID, By: "ann"}))
	_, four := b.ready("m1:a")
	b.want("one more", enter(four).Answers, []sql.Admission{sql.Waits})
	_, _, err = b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Size: 5})
	b.must(err)
	b.want("without a rate", enter(four).Answers, []sql.Admission{sql.Admitted})
}
