package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// called is a schedule of the bench's workflow that fires by calls.
func (b *bench) called(overlap schedule.Overlap) sql.Schedule {
	return b.hourly("Deploy", overlapping(overlap), func(s *sql.Schedule) {
		s.Spec.Cron, s.Spec.Webhook = "", &schedule.Webhook{Secret: "deploys"}
	})
}

// call makes a call whose signature is that of no other.
func (b *bench) call(sch sql.Schedule, id string, params map[string]string) sql.Called {
	b.t.Helper()
	out, err := b.CallSchedule(b.ctx, sch, sql.Call{ID: id, Signature: "of " + id, Params: params}, "a1")
	b.must(err)
	return out
}

func aCallStartsOneInstance(t *testing.T, b *bench) {
	sch := b.called("")
	if _, err := b.CallOf(b.ctx, sch.ID, "one"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a call that never came: %v, want ErrNotFound", err)
	}
	first := b.call(sch, "one", map[string]string{"day": "7"})
	if first.Repeated || first.Fire.State != schedule.Fired || first.Fire.Call != "one" || len(first.Started) != 1 || first.Started[0] != first.Fire.Instance {
		t.Fatalf("the first call came to %+v", first)
	}
	row, err := b.Instance(b.ctx, first.Fire.Instance)
	b.must(err)
	if row.Params["day"] != "7" || row.Params["k"] != "v" || row.ScheduleTime != first.Fire.At || row.TriggerKey != sql.CallKey(sch.ID) || row.Priority != dag.PriorityLow {
		t.Errorf("the instance is %+v", row)
	}
	if id, ok := sql.ScheduleOf(row.TriggerKey); !ok || id != sch.ID {
		t.Errorf("its trigger key is of schedule %d, %v", id, ok)
	}
	if again := b.call(sch, "one", nil); !again.Repeated || again.Fire != first.Fire || len(again.Started) != 0 {
		t.Errorf("the same call again came to %+v, want %+v", again, first.Fire)
	}
	if _, err := b.CallSchedule(b.ctx, sch, sql.Call{ID: "two", Signature: "of one"}, "a1"); !errors.Is(err, sql.ErrExists) {
		t.Errorf("the same signature with another id: %v, want ErrExists", err)
	}
	// Calls of one moment have a fire each.
	second := b.call(sch, "two", nil)
	if second.Fire.At <= first.Fire.At || second.Fire.Instance == first.Fire.Instance {
		t.Errorf("the second call came to %+v after %+v", second.Fire, first.Fire)
	}
	_, err = b.EnableSchedules(b.ctx, []int64{sch.ID}, false, "holiday", "bob")
	b.must(err)
	if _, err := b.CallSchedule(b.ctx, sch, sql.Call{ID: "three", Signature: "of three"}, "a1"); !errors.Is(err, sql.ErrStale) {
		t.Errorf("a call of a paused one: %v, want ErrStale", err)
	}
	if again := b.call(sch, "two", nil); !again.Repeated {
		t.Errorf("a call that came before the pause came to %+v", again)
	}
	b.must(b.DeleteSchedule(b.ctx, sch.ID))
	if _, err := b.CallOf(b.ctx, sch.ID, "one"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("after the schedule's end: %v, want ErrNotFound", err)
	}
}

func callsGoByTheOverlapPolicy(t *testing.T, b *bench) {
	sch := b.called(schedule.Wait)
	first := b.call(sch, "one", nil)
	second := b.call(sch, "two", map[string]string{"day": "2"})
	third := b.call(sch, "three", map[string]string{"day": "3"})
	if first.Fire.State != schedule.Fired || second.Fire.State != schedule.Waiting || third.Fire.State != schedule.Waiting || third.Fire.Instance != 0 {
		t.Fatalf("they came to %+v, %+v, %+v", first.Fire, second.Fire, third.Fire)
	}
	if got, err := b.CallOf(b.ctx, sch.ID, "two"); err != nil || got.State != schedule.Skipped || got.Reason != schedule.ReasonNewer {
		t.Errorf("the second, whose turn the third took, is %+v, %v", got, err)
	}
	b.over(first.Fire.Instance, dag.InstanceSuccess)
	b.fire(sch, third.Fire.At)
	got, err := b.CallOf(b.ctx, sch.ID, "three")
	b.must(err)
	if row, err := b.Instance(b.ctx, got.Instance); err != nil || row.Params["day"] != "3" {
		t.Errorf("when its turn came the third started %+v, %v: want what its body gave", row, err)
	}
}

func aCallIsPrunedWithItsFire(t *testing.T, b *bench) {
	sch := b.called("")
	first := b.call(sch, "one", nil)
	if n, err := b.SweepFires(b.ctx, first.Fire.At+1); err != nil || n != 1 {
		t.Fatalf("swept %d, %v", n, err)
	}
	if _, err := b.CallOf(b.ctx, sch.ID, "one"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("after its fire: %v, want ErrNotFound", err)
	}
	if again := b.call(sch, "one", nil); again.Repeated {
		t.Errorf("a call of long after came to %+v", again)
	}
}

func aCallTogetherWithItselfIsOne(t *testing.T, b *bench) {
	sch := b.called("")
	var all sync.WaitGroup
	ids := make([]int64, 8)
	for i := range ids {
		all.Go(func() {
			out, err := b.CallSchedule(b.ctx, sch, sql.Call{ID: "one", Signature: fmt.Sprint(i)}, "a1")
			if err != nil {
				t.Errorf("call: %v", err)
			}
			ids[i] = out.Fire.Instance
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Errorf("they got the instances %v, want the same each", ids)
			break
		}
	}
}
