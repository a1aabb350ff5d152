package master

import (
	"errors"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func TestTheMasterOfTheFirstSlotDeletesOldInstances(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, _, _ := s.master("m1", "a")
	other, _, _ := s.master("m2", "a")
	within(t, 20*time.Second, "one master has the first slot", func() bool { return first.hasFirstSlot() != other.hasFirstSlot() })
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
