package sqltest

import (
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// pulse reads it as it is at now.
func (b *bench) pulse(now dag.Millis) sql.Pulse {
	b.t.Helper()
	p, err := b.Pulse(b.ctx, now)
	b.must(err)
	return p
}

func aPulseCountsWhatIsOpen(t *testing.T, b *bench) {
	none := b.pulse(1)
	if none.Commands != 0 || none.OldestCommand != 0 || none.Attempts != 0 || none.Overdue != 0 || none.Asked != 0 || none.GivenUp != 0 {
		t.Errorf("of nothing: %+v", none)
	}
	o := b.take("m1:a")
	b.begin()
	b.begin()
	dispatched := b.step(o, 0, dag.TaskDispatched)
	b.must(b.commit(dispatched))
	by := dispatched.At.Add(sql.DispatchWithin)
	got := b.pulse(by - 1)
	if got.Commands != 2 || got.OldestCommand == 0 || got.Attempts != 1 || got.Overdue != 0 || got.Mark == none.Mark {
		t.Errorf("of two commands and an attempt: %+v", got)
	}
	if late := b.pulse(by); late.Overdue != 1 || late.Mark != got.Mark {
		t.Errorf("once its time is past: %+v", late)
	}
	if len(got.Lent) != 0 {
		t.Errorf("slots %v have no room, though nothing was lent", got.Lent)
	}
	waiting, _, err := b.Commands(b.ctx, nil, 10, sql.CommandCursor{})
	b.must(err)
	b.must(b.Lend(b.ctx, []int64{waiting[0].ID}))
	if p := b.pulse(by - 1); !slices.Equal(p.Lent, []int{waiting[0].Slot}) {
		t.Errorf("with a command that is lent slots %v have no room, want %d", p.Lent, waiting[0].Slot)
	}
	fence, err := b.BeginSupervision(b.ctx, "m1:a", 1, 5_000)
	b.must(err)
	b.ask(fence, by, sql.RecoveryRow{InstanceID: o.ID, Attempt: 1, Step: "dispatched", Failures: 1, CompleteBy: by + 1})
	if p := b.pulse(by); p.Asked != 1 {
		t.Errorf("with a recovery that waits for its answer: %+v", p)
	}
	b.must(b.commit(b.step(o, 0, dag.TaskSuccess)))
	if p := b.pulse(never); p.Attempts != 0 || p.Overdue != 0 {
		t.Errorf("when it is over: %+v", p)
	}
}

func runningTasksSayWhoseTheyAre(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 1, dag.TaskDispatched)))
	for worker, want := range map[string]int{"": 1, "w1": 1, "w2": 0} {
		got, err := b.RunningTasks(b.ctx, worker, 10)
		b.must(err)
		if len(got) != want {
			t.Fatalf("on worker %q run %+v, want %d", worker, got, want)
		}
		if want == 1 && (got[0].InstanceID != o.ID || got[0].ProjectID != b.project.ID || got[0].Project != "Sales" || got[0].Workflow != "Daily" ||
			got[0].Number != 1 || got[0].Worker != "w1" || got[0].State != dag.AttemptDispatched || got[0].DispatchedAt != 5) {
			t.Errorf("the task is %+v", got[0])
		}
	}
}

func aSlotHasItsCommandsAndItsInstances(t *testing.T, b *bench) {
	o, waits := b.take("m1:a"), b.begin()
	cluster, err := b.Cluster(b.ctx)
	b.must(err)
	found := map[int64]bool{}
	for slot := range cluster.Slots {
		commands, instances, err := b.SlotWork(b.ctx, slot, cluster.Slots, 10)
		b.must(err)
		for _, c := range commands {
			found[c.InstanceID] = c.Slot == slot && c.InstanceID == waits
		}
		for _, in := range instances {
			found[in.ID] = in.ID%int64(cluster.Slots) == int64(slot) && in.ID == o.ID && in.Project == "Sales"
		}
	}
	if len(found) != 2 || !found[o.ID] || !found[waits] {
		t.Errorf("in the slots are %v, want instance %d and the command of %d", found, o.ID, waits)
	}
}

func busyTaskGroupsHaveTasks(t *testing.T, b *bench) {
	busy := func(want int) []sql.TaskGroup {
		t.Helper()
		got, err := b.BusyTaskGroups(b.ctx)
		b.must(err)
		if len(got) != want {
			t.Fatalf("busy are %+v, want %d", got, want)
		}
		return got
	}
	_, one := b.ready("m1:a")
	_, two := b.ready("m2:b")
	_, _, err := b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Size: 1})
	b.must(err)
	busy(0)
	_, err = b.EnterGroups(b.ctx, 1, []sql.TaskEntry{one, two})
	b.must(err)
	if g := busy(1)[0]; g.Name != "Cluster" || g.Used != 1 || g.Waiting != 1 {
		t.Errorf("the group is %+v", g)
	}
}
