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
	if len(triggers) != 3 || triggers[started[0]] != (sql.Trigger{At: 1000, Key: key}) {
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
