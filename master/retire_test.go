package master

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

func TestTheMasterOfTheFirstSlotDeletesOldInstances(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, _, _ := s.master("m1", "a")
	other, _, _ := s.master("m2", "a")
	// The first one has all slots until the other is there.
	within(t, 20*time.Second, "both masters have slots, and one the first", func() bool {
		return len(slotsOf(first)) > 0 && len(slotsOf(other)) > 0 && first.hasFirstSlot() != other.hasFirstSlot()
	})
	if other.hasFirstSlot() {
		first, other = other, first
	}
	w := s.save("name: nap\ntasks:\n  - {name: nap, type: wait, for: 1ms}\n")
	var ids []int64
	for range 3 {
		ids = append(ids, s.start(w))
		s.waitFor(ids[len(ids)-1], dag.InstanceSuccess)
	}
	there := func() (n int) {
		for _, id := range ids {
			switch _, err := s.store.Instance(t.Context(), id); {
			case err == nil:
				n++
			case !errors.Is(err, sql.ErrNotFound):
				t.Fatal(err)
			}
		}
		return n
	}
	first.retire(t.Context()) // it is to keep all
	first.Retention, other.Retention = Retention{Each: 2}, Retention{Age: time.Nanosecond, Each: 1}
	other.retire(t.Context())
	if n := there(); n != 3 {
		t.Errorf("%d of three instances are left, and nobody was to delete one", n)
	}
	first.retire(t.Context())
	if _, err := s.store.Instance(t.Context(), ids[0]); !errors.Is(err, sql.ErrNotFound) || there() != 2 {
		t.Errorf("%d are left, want the newest two; the oldest: %v", there(), err)
	}
	first.Retention = Retention{Age: time.Nanosecond}
	within(t, 20*time.Second, "all that ended are deleted", func() bool {
		first.retire(t.Context())
		return there() == 0
	})
}

// slotsOf are the slots of a master, none while a layout is being changed.
func slotsOf(m *Master) (slots []int) {
	owned, _, ok := heldSlots{m.slots, &m.hold}.Begin()
	if !ok {
		return nil
	}
	defer m.slots.End()
	for slot, mine := range owned {
		if mine {
			slots = append(slots, slot)
		}
	}
	return slots
}

// full is a store with so many batches of old fires.
type full struct {
	Store
	batches, minutes int
}

func (f *full) SweepFires(context.Context, dag.Millis) (int, error) {
	if f.batches == 0 {
		return 0, nil
	}
	f.batches--
	return 1, nil
}

func (f *full) SweepMinutes(context.Context, dag.Millis) error {
	f.minutes++
	return nil
}

// However many old fires there are, a sweep goes on while it has time; how minutes were spread goes with it.
func TestASweepTakesItsTime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	store := &full{Store: s.store, batches: 200}
	m := New(Config{Self: rpc.Process{Node: "m1", Incarnation: "a"}, Cluster: "test", Slots: 256, Store: store, Registry: s.registry, Logger: s.log})
	m.sweep(t.Context())
	if store.batches != 0 || store.minutes != 1 {
		t.Errorf("%d batches are left, minutes were swept %d times", store.batches, store.minutes)
	}
}

func TestTheLedgerIsBoundedByCount(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, _, _ := s.master("m1", "a")
	within(t, 20*time.Second, "the master has the first slot", first.hasFirstSlot)
	w := s.save("name: nap\ntasks:\n  - {name: nap, type: wait, for: 1ms}\n")
	sch, _, err := s.store.SaveSchedule(t.Context(), sql.Schedule{WorkflowID: w.ID, Name: "once", Spec: schedule.Spec{At: []string{"2190-01-01"}}, Enabled: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	// They were left out, so that nobody fires them.
	st := sql.Stretch{Schedule: sch, Until: sch.PlannedUntil}
	for at := range dag.Millis(3) {
		st.Fires = append(st.Fires, schedule.Fire{At: at + 1, Due: at + 1, Skip: schedule.ReasonCalendar})
	}
	if n, err := s.store.PlanFires(t.Context(), []sql.Stretch{st}); err != nil || n != 3 {
		t.Fatalf("planned %d, %v", n, err)
	}
	first.FiresEach = 1
	first.retire(t.Context())
	fires, err := s.store.FiresFrom(t.Context(), sch.ID, 0, 10, 10)
	if err != nil || len(fires) != 1 || fires[0].At != 3 {
		t.Errorf("left are %+v, %v; want the newest", fires, err)
	}
}
