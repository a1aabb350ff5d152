package sqltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// whatNobodyPlannedIsPlanned is about schedules that were planned until three hours ago: two fires were due since. A change
// plans them, a pause skips them.
func whatNobodyPlannedIsPlanned(t *testing.T, b *bench) {
	now := time.Now().Truncate(time.Second)
	ago := func(h int) dag.Millis { return dag.MillisOf(now.Add(-time.Duration(h) * time.Hour)) }
	_, _, err := b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"1999-01-01"}}, ChangedBy: "ann"})
	b.must(err)
	late := func(name string, change ...func(*sql.Schedule)) sql.Schedule {
		t.Helper()
		sch := b.hourly(name, append(change, func(s *sql.Schedule) {
			s.Spec.Cron, s.Spec.At = "", nil
			for _, h := range []int{4, 2, 1, -1} {
				s.Spec.At = append(s.Spec.At, now.Add(-time.Duration(h)*time.Hour).UTC().Format(time.RFC3339))
			}
		})...)
		_, err := b.PlanFires(b.ctx, []sql.Stretch{{Schedule: sch, Until: ago(3)}})
		b.must(err)
		return sch
	}
	want := func(outcome string) []string {
		return []string{fmt.Sprintf("%d %s", ago(2), outcome), fmt.Sprintf("%d %s", ago(1), outcome)}
	}

	paused := late("paused")
	_, err = b.EnableSchedules(b.ctx, []int64{paused.ID}, false, "holiday", "bob")
	b.must(err)
	b.fires(paused, want("skipped paused")...)
	// Nothing was due while it was paused.
	_, err = b.EnableSchedules(b.ctx, []int64{paused.ID}, true, "", "bob")
	b.must(err)
	b.fires(paused, want("skipped paused")...)

	changed := late("changed")
	changed.Spec.At = changed.Spec.At[3:]
	_, _, err = b.SaveSchedule(b.ctx, changed, -1)
	b.must(err)
	b.fires(changed, want("planned")...)
	if out := b.fire(changed, ago(2), ago(1)); len(out.Started) != 2 {
		t.Errorf("after the change they started %v, want two", out.Started)
	}

	// A calendar that changes is asked for what it was.
	ruled := late("ruled", func(s *sql.Schedule) { s.Spec.Calendar = &schedule.CalendarRule{Skip: []string{"never"}} })
	_, _, err = b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}}, ChangedBy: "ann"})
	b.must(err)
	b.fires(ruled, want("planned")...)

	// Of very many the newest have their rows: they are what a misfire policy wants.
	ticks := b.hourly("ticks", func(s *sql.Schedule) { s.Spec.Cron = "* * * * * *" })
	_, err = b.PlanFires(b.ctx, []sql.Stretch{{Schedule: ticks, Until: ago(3)}})
	b.must(err)
	before := dag.MillisOf(time.Now())
	ticks.Spec.Cron = "0 0 1 1 *"
	_, _, err = b.SaveSchedule(b.ctx, ticks, -1)
	b.must(err)
	got, err := b.LateFires(b.ctx, []int64{ticks.ID}, 0, before)
	n := len(got[ticks.ID])
	if err != nil || n < 800 || n > 1000 || got[ticks.ID][n-1].At < before-2000 {
		t.Errorf("of three hours of seconds %d are planned, %v; want the newest, up to 1,000", n, err)
	}

	// One whose rules can't be read is paused all the same.
	broken := late("broken", func(s *sql.Schedule) { s.Spec.Timezone = "Mars/Base" })
	if n, err := b.EnableSchedules(b.ctx, []int64{broken.ID}, false, "broken", "m1"); err != nil || n != 1 {
		t.Errorf("paused %d, %v", n, err)
	}
	b.fires(broken)
}
