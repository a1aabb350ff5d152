package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

func aMissedFireIsMadeUpForOnce(t *testing.T, b *bench) {
	sch := b.hourly("hourly", overlapping(schedule.Skip))
	b.planned(sch, 1000, 2000, 3000, 4000, 5000)
	_, err := b.SettleFires(b.ctx, []sql.Verdict{
		{Source: sch.ID, At: 1000, State: schedule.Missed, Reason: schedule.ReasonNone},
		{Source: sch.ID, At: 2000, State: schedule.Fired},
		{Source: sch.ID, At: 3000, State: schedule.Fired},
		{Source: sch.ID, At: 4000, State: schedule.Missed, Reason: schedule.ReasonOlder},
	}, "m1:a", 7)
	b.must(err)
	// The second runs, so that the third was skipped; the fifth is open.
	b.fires(sch, "1000 missed misfire_none", "2000 fired", "3000 skipped overlap", "4000 missed misfire_latest", "5000 planned")
	before, err := b.SumFires(b.ctx, sch.ID, 0, 10_000)
	b.must(err)

	var group sync.WaitGroup
	var mu sync.Mutex
	var started []int64
	for range 4 { // people who press the same button
		group.Go(func() {
			fires, some, err := b.RunFires(b.ctx, sch.ID, []dag.Millis{3000, 1000, 2000, 5000, 6000, 1000}, "ann")
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(fires) != 2 || fires[0].At != 1000 || fires[1].At != 3000 || fires[0].Instance == 0 || fires[0].Instance == fires[1].Instance {
				t.Errorf("made up for %+v, %v; want those of 1000 and 3000", fires, err)
			}
			started = append(started, some...)
		})
	}
	group.Wait()
	if slices.Sort(started); len(started) != 2 {
		t.Fatalf("started are %v, want one for each of the two", started)
	}
	rows, _, err := b.Fires(b.ctx, sch.ID, 0, 10_000, "", sql.Page{})
	b.must(err)
	for i, want := range []string{"missed misfire_none ann", "fired  ", "skipped overlap ann", "missed misfire_latest ", "planned  "} {
		f, by := rows[i], ""
		if f.Instance != 0 && f.State != schedule.Fired {
			in, err := b.Instance(b.ctx, f.Instance)
			b.must(err)
			if by = in.CreatedBy; in.ScheduleTime != f.At || in.TriggerKey != sql.ScheduleKey(sch.ID) || in.WorkerGroup != "big" {
				t.Errorf("the instance of %d is %+v", f.At, in)
			}
		}
		if got := fmt.Sprintf("%s %s %s", f.State, f.Reason, by); got != want {
			t.Errorf("fire %d is %q, want %q", f.At, got, want)
		}
	}
	after, err := b.SumFires(b.ctx, sch.ID, 0, 10_000)
	if b.must(err); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("it sums up to %+v, before to %+v", after, before)
	}
	// Each has its command, so that a master takes it.
	found := 0
	for _, c := range b.claim("m1:a") {
		if slices.Contains(started, c.Instance.ID) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d of them have a command, want both", found)
	}
	if _, _, err := b.RunFires(b.ctx, sch.ID+1_000_000, []dag.Millis{1000}, "ann"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("of no schedule: %v, want ErrNotFound", err)
	}
}
