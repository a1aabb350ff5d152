package sqltest

import (
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// aProofReadsWhatThereIs: pruned days have the count of what is left of them, fires come from any moment on, and an instance
// without a fire is found beside those that have one.
func aProofReadsWhatThereIs(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	b.planned(sch, 1000, 2000, day+1000, day+2000)
	started := b.fire(sch, 1000, 2000, day+1000).Started
	triggers, err := b.Triggers(b.ctx, append(slices.Clone(started), 1<<40))
	b.must(err)
	key := sql.ScheduleKey(sch.ID)
	if len(triggers) != 3 || triggers[started[0]] != (sql.StartedAs{At: 1000, Key: key}) {
		t.Errorf("the triggers are %+v", triggers)
	}
	fires, err := b.FiresFrom(b.ctx, sch.ID, 2000, 2*day, 2)
	b.must(err)
	if len(fires) != 2 || fires[0].At != 2000 || fires[1].At != day+1000 {
		t.Errorf("fires are %+v, want the second and the third", fires)
	}
	for _, at := range []dag.Millis{3000, day + 3000} {
		b.begin(func(st *sql.Start) {
			st.WorkflowID, st.ProjectID, st.ScheduleTime, st.TriggerKey = sch.WorkflowID, sch.ProjectID, at, key
		})
	}
	_, err = b.TriggerSchedule(b.ctx, sch.ID, "ann")
	b.must(err)
	fireless := func() []dag.Millis {
		times, err := b.Fireless(b.ctx, &sch, 0, 1<<60, 10)
		b.must(err)
		return times
	}
	if times := fireless(); !slices.Equal(times, []dag.Millis{3000, day + 3000}) {
		t.Errorf("without a fire are %v", times)
	}
	if n, err := b.SweepFires(b.ctx, 2000); err != nil || n != 1 {
		t.Fatalf("swept %d, %v", n, err)
	}
	days, err := b.PrunedDays(b.ctx, sch.ID, 0, 2*day)
	b.must(err)
	if !slices.Equal(days, []sql.PrunedDay{{Day: 0, Pruned: 1, Rows: 1}}) {
		t.Errorf("pruned days are %+v", days)
	}
	if times := fireless(); !slices.Equal(times, []dag.Millis{day + 3000}) {
		t.Errorf("without a fire are %v, want that of the day whose rows are whole", times)
	}
}

// retiredInstancesAreMarked: what retention deletes of what schedules started has a mark of its workflow, which only rises.
func retiredInstancesAreMarked(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	mark := func() int64 {
		id, err := b.RetiredUpTo(b.ctx, sch.WorkflowID)
		b.must(err)
		return id
	}
	b.ran(1, 500)
	if b.retired(1000); mark() != 0 {
		t.Errorf("of what nobody scheduled the mark is %d", mark())
	}
	scheduled := func(at dag.Millis) int64 {
		return b.ran(1, at, func(st *sql.Start) {
			st.WorkflowID, st.ProjectID, st.ScheduleTime, st.TriggerKey = sch.WorkflowID, sch.ProjectID, at, sql.ScheduleKey(sch.ID)
		})
	}
	late, early := scheduled(3000), scheduled(2000)
	if b.retired(2500); mark() != early {
		t.Errorf("the mark is %d, want %d", mark(), early)
	}
	if b.retired(3500); mark() != early {
		t.Errorf("after the older one, %d, the mark is %d, want %d still", late, mark(), early)
	}
}

// firesAreBoundedByCount: beyond the newest of a number a schedule's fires are sums, and old sums are one.
func firesAreBoundedByCount(t *testing.T, b *bench) {
	sch, other := b.hourly("hourly"), b.hourly("other")
	b.planned(sch, 1000, 2000, 3000, day+1000, day+2000)
	b.planned(other, 1000)
	b.fire(sch, 1000, 2000, 3000, day+1000)
	many, err := b.SurplusFires(b.ctx, 2)
	b.must(err)
	if !slices.Equal(many, []int64{sch.ID}) {
		t.Errorf("too many have %v, want %d", many, sch.ID)
	}
	before, err := b.SumFires(b.ctx, sch.ID, 0, 3*day)
	b.must(err)
	for _, want := range []int{2, 0} {
		if n, err := b.SweepSurplusFires(b.ctx, sch.ID, 2); err != nil || n != want {
			t.Errorf("swept %d, %v; want %d", n, err, want)
		}
	}
	fires, err := b.FiresFrom(b.ctx, sch.ID, 0, 3*day, 10)
	b.must(err)
	if len(fires) != 3 || fires[0].At != 3000 {
		t.Errorf("left are %+v, want the newest two and the open one", fires)
	}
	if n, err := b.SweepFires(b.ctx, 2*day); err != nil || n != 2 {
		t.Errorf("swept %d, %v; want the other two", n, err)
	}
	// The first day is day 0 already.
	for _, want := range []int{1, 0} {
		if n, err := b.FoldDays(b.ctx, 2*day+1); err != nil || n != want {
			t.Errorf("folded %d, %v; want %d", n, err, want)
		}
	}
	if until, err := b.FoldedUntil(b.ctx); err != nil || until != 2*day {
		t.Errorf("folded until %d, %v", until, err)
	}
	after, err := b.SumFires(b.ctx, sch.ID, 0, 3*day)
	b.must(err)
	if after.Total() != before.Total() || after.LateMs != before.LateMs || after.Pruned != 4 {
		t.Errorf("it sums up to %+v, before to %+v", after, before)
	}
	if days, err := b.PrunedDays(b.ctx, sch.ID, 0, 3*day); err != nil || len(days) != 1 || days[0] != (sql.PrunedDay{Day: 0, Pruned: 4}) {
		t.Errorf("pruned days are %+v, %v", days, err)
	}
}
