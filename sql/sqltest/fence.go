package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func oldEpochWritesNothing(t *testing.T, b *bench) {
	lost, kept := b.take("m1:a"), b.take("m1:a")
	b.must(b.commit(b.step(lost, 0, dag.TaskDispatched)))
	b.must(b.commit(b.step(kept, 0, dag.TaskDispatched)))
	before := b.dump(lost.ID)
	release := b.step(kept, 0, dag.TaskSuccess)
	other := b.open(t, t.Name())
	taken, err := other.TakeOver(b.ctx, "m1:a", "m2:b", 1)
	b.must(err)
	if len(taken) != 1 || taken[0].Instance.ID != lost.ID || taken[0].Instance.OwnerEpoch != 2 || taken[0].Instance.Owner != "m2:b" {
		t.Fatalf("took over %+v", taken)
	}
	if len(taken[0].Attempts) != 1 || taken[0].Attempts[0].State != dag.AttemptDispatched || len(taken[0].Tasks) != 1 {
		t.Errorf("took over attempts %+v, tasks %+v", taken[0].Attempts, taken[0].Tasks)
	}
	errs := b.Commit(b.ctx, []sql.Transition{b.step(lost, 0, dag.TaskSuccess), release})
	if !errors.Is(errs[0], sql.ErrNotOwner) {
		t.Errorf("commit at the old epoch: %v, want ErrNotOwner", errs[0])
	}
	if errs[1] != nil {
		t.Errorf("commit of its batch mate: %v", errs[1])
	}
	if after := b.dump(lost.ID); after != before {
		t.Errorf("the old owner wrote: before\n%s\nafter\n%s", before, after)
	}
	task, err := b.Task(b.ctx, kept.ID, "extract")
	b.must(err)
	if task.State != dag.TaskSuccess {
		t.Errorf("the batch mate's task is %s", task.State)
	}
	if err := b.Quarantine(b.ctx, lost.ID, 1, dag.ReasonCrashed, "no"); !errors.Is(err, sql.ErrNotOwner) {
		t.Errorf("quarantine at the old epoch: %v, want ErrNotOwner", err)
	}
}

// A new owner knows which late success still counts: that of the attempt that no other has followed.
func takeoverBringsTheLostAttempt(_ *testing.T, b *bench) {
	waits, runs := b.take("m1:a"), b.take("m1:a")
	for _, o := range []owned{waits, runs} {
		b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
		a := o.Tasks[0].Attempt
		a.State, a.FinishedAt = dag.AttemptLost, 9
		lost := b.step(o, 0, dag.TaskReady)
		lost.Effects.Attempts = []dag.Attempt{a}
		o.Tasks[0].Lost, o.Tasks[0].Attempt = 1, dag.Attempt{}
		b.must(b.commit(lost))
	}
	b.must(b.commit(b.step(runs, 0, dag.TaskDispatched)))
	taken, err := b.TakeOver(b.ctx, "m1:a", "m2:b", 2)
	b.must(err)
	for _, c := range taken {
		want := dag.Attempt{Number: 1, State: dag.AttemptLost}
		if c.Instance.ID == runs.ID {
			want = dag.Attempt{Number: 2, State: dag.AttemptDispatched}
		}
		if len(c.Attempts) != 1 || c.Attempts[0].Number != want.Number || c.Attempts[0].State != want.State || c.Attempts[0].Token == "" {
			b.t.Errorf("attempts = %+v, want number %d alone, which is %s", c.Attempts, want.Number, want.State)
		}
	}
	if len(taken) != 2 {
		b.t.Errorf("took over %d instances", len(taken))
	}
}

// dump is all that stands of an instance but who owns it.
func (b *bench) dump(id int64) string {
	b.t.Helper()
	in, err := b.Instance(b.ctx, id)
	b.must(err)
	tasks, _, err := b.Tasks(b.ctx, id, sql.Page{})
	b.must(err)
	attempts, err := b.Attempts(b.ctx, id, 0)
	b.must(err)
	events, err := b.Events(b.ctx, id, 0, 0)
	b.must(err)
	in.Owner, in.OwnerEpoch, in.CrashCount = "", 0, 0
	return fmt.Sprintf("%+v\n%+v\n%+v\n%+v", in, tasks, attempts, events)
}

func releasedInstanceIsClosedToItsOwner(t *testing.T, b *bench) {
	o := b.take("m1:a")
	end := b.step(o, 0, dag.TaskSuccess)
	o.State, end.Release = dag.InstanceSuccess, true
	b.must(b.commit(end))
	// The very same release again is what a master does that never heard the answer.
	if err := b.commit(end); err != nil {
		t.Errorf("the same release again: %v", err)
	}
	if err := b.commit(b.step(o, 1, dag.TaskSuccess)); !errors.Is(err, sql.ErrNotOwner) {
		t.Errorf("commit after the release: %v, want ErrNotOwner", err)
	}
	if err := b.commit(sql.Transition{Instance: &dag.Instance{ID: 1 << 40}, Plan: b.plan, Epoch: 1}); !errors.Is(err, sql.ErrNotOwner) {
		t.Errorf("commit of an instance that never was: %v, want ErrNotOwner", err)
	}
}

func sameTransitionTwiceIsOnce(t *testing.T, b *bench) {
	o := b.take("m1:a")
	first := b.step(o, 0, dag.TaskDispatched)
	b.must(b.commit(first))
	before := b.dump(o.ID)
	b.must(b.commit(first))
	if after := b.dump(o.ID); after != before {
		t.Errorf("a repeated commit changed\n%s\ninto\n%s", before, after)
	}
}

func poisonFailsAlone(t *testing.T, b *bench) {
	var mates []sql.Transition
	const n, poisoned = 9, 4
	for i := range n {
		o := b.take("m1:a")
		tr := b.step(o, 0, dag.TaskDispatched)
		if i == poisoned {
			tr.Effects.Events = append(tr.Effects.Events, tr.Effects.Events[0]) // one seq twice
		}
		mates = append(mates, tr)
	}
	for i, err := range b.Commit(b.ctx, mates) {
		in, rerr := b.Instance(b.ctx, mates[i].Instance.ID)
		b.must(rerr)
		switch {
		case i == poisoned && (err == nil || errors.Is(err, sql.ErrNotOwner) || errors.Is(err, sql.ErrUnavailable) || in.Seq != 0):
			t.Errorf("the poisoned one: %v, seq %d; want an error of its own and nothing written", err, in.Seq)
		case i != poisoned && (err != nil || in.Seq != 1):
			t.Errorf("mate %d of the poisoned one: %v, seq %d", i, err, in.Seq)
		}
	}
	bad := b.step(b.take("m1:a"), 0, dag.TaskDispatched)
	bad.Effects.Tasks = []int{7}
	if err := b.commit(bad); err == nil {
		t.Error("a task beyond the plan was taken")
	}
}

func instanceWithoutVersionIsClaimedAlone(t *testing.T, b *bench) {
	good, bad := b.begin(), b.begin(func(s *sql.Start) { s.Version = 77 })
	got := b.claim("m1:a")
	if len(got) != 2 || got[0].Instance.ID != good || got[0].Err != nil || got[0].Version.Version != 1 {
		t.Fatalf("claimed %+v", got)
	}
	if c := got[1]; c.Instance.ID != bad || c.Instance.OwnerEpoch != 1 || !errors.Is(c.Err, sql.ErrNotFound) {
		t.Fatalf("claimed %+v", c)
	}
	b.must(b.Quarantine(b.ctx, bad, 1, dag.ReasonCrashed, got[1].Err.Error()))
}

func claimsCountCrashesAndCommitsClearThem(t *testing.T, b *bench) {
	o := b.take("m1:a")
	for i := range 2 {
		got, err := b.TakeOver(b.ctx, fmt.Sprintf("m1:%c", 'a'+i), fmt.Sprintf("m1:%c", 'b'+i), 10)
		b.must(err)
		if len(got) != 1 || got[0].Instance.CrashCount != 2+i || got[0].Instance.OwnerEpoch != int64(2+i) {
			t.Fatalf("takeover %d: %+v", i, got)
		}
	}
	o.epoch = 3
	b.must(b.commit(sql.Transition{Instance: o.Instance, Plan: b.plan, Epoch: 3}))
	in, err := b.Instance(b.ctx, o.ID)
	b.must(err)
	if in.CrashCount != 0 || in.Owner != "m1:c" {
		t.Errorf("after a clean commit: crash count %d, owner %q", in.CrashCount, in.Owner)
	}
	b.must(b.Quarantine(b.ctx, o.ID, 3, dag.ReasonCrashed, "3 masters ended"))
	b.must(b.Quarantine(b.ctx, o.ID, 3, dag.ReasonCrashed, "3 masters ended"))
	in, err = b.Instance(b.ctx, o.ID)
	b.must(err)
	events, err := b.Events(b.ctx, o.ID, 0, 10)
	b.must(err)
	if in.State != dag.InstanceQuarantined || in.Owner != "" || in.FinishedAt == 0 || len(events) != 1 || !events[0].Warning || events[0].Seq != in.Seq {
		t.Errorf("quarantined as %+v with %+v", in, events)
	}
}

func takeOverIsWonByOne(t *testing.T, b *bench) {
	const n = 60
	for range n {
		b.begin()
	}
	b.claim("dead:x")
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var mu sync.Mutex
	won := map[int64]int{}
	race(4, func(i int) {
		for {
			got, err := stores[i%2].TakeOver(b.ctx, "dead:x", fmt.Sprintf("m%d:a", i), 7)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for _, c := range got {
				won[c.Instance.ID]++
				if c.Instance.OwnerEpoch != 2 {
					t.Errorf("epoch %d after one takeover", c.Instance.OwnerEpoch)
				}
			}
			mu.Unlock()
			if len(got) == 0 {
				return
			}
		}
	})
	if len(won) != n {
		t.Errorf("%d of %d taken over", len(won), n)
	}
	for id, times := range won {
		if times != 1 {
			t.Errorf("instance %d taken over %d times", id, times)
		}
	}
}

func onlyLastValuesOfOneTransitionStay(t *testing.T, b *bench) {
	o := b.take("m1:a")
	tr := b.step(o, 0, dag.TaskDispatched)
	for _, state := range []dag.AttemptState{dag.AttemptRunning, dag.AttemptKilling, dag.AttemptKilled} {
		a := tr.Effects.Attempts[0]
		a.State = state
		tr.Effects.Attempts = append(tr.Effects.Attempts, a)
	}
	b.must(b.commit(tr))
	a, err := b.Attempt(b.ctx, o.ID, 0, 1)
	b.must(err)
	if a.State != dag.AttemptKilled {
		t.Errorf("attempt is %s, want the last value", a.State)
	}
}

func manyCallersOfManyInstances(t *testing.T, b *bench) {
	const n, steps = 40, 15
	all := make([]owned, n)
	for i := range all {
		all[i] = b.take("m1:a")
	}
	race(n, func(i int) {
		for s := range steps {
			state := dag.TaskDispatched
			if s%2 == 1 {
				state = dag.TaskSuccess
			}
			if err := b.Commit(b.ctx, []sql.Transition{b.step(all[i], s/2%2, state)})[0]; err != nil {
				t.Error(err)
				return
			}
		}
	})
	for _, o := range all {
		events, err := b.Events(b.ctx, o.ID, 0, 0)
		b.must(err)
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("instance %d: event %d has seq %d", o.ID, i, e.Seq)
			}
		}
		if len(events) != steps {
			t.Errorf("instance %d has %d events, want %d", o.ID, len(events), steps)
		}
	}
}
