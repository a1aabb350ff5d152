package sqltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// whatNobodyPlannedIsSkipped is about schedules that were planned until three hours ago: two fires were due since.
func whatNobodyPlannedIsSkipped(t *testing.T, b *bench) {
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
	want := func(reason string) []string {
		return []string{fmt.Sprintf("%d skipped %s", ago(2), reason), fmt.Sprintf("%d skipped %s", ago(1), reason)}
	}

	paused := late("paused")
	_, err = b.EnableSchedules(b.ctx, []int64{paused.ID}, false, "holiday", "bob")
	b.must(err)
	b.fires(paused, want("paused")...)
	// Nothing was due while it was paused.
	_, err = b.EnableSchedules(b.ctx, []int64{paused.ID}, true, "", "bob")
	b.must(err)
	b.fires(paused, want("paused")...)

	changed := late("changed")
	changed.Spec.At = changed.Spec.At[3:]
	_, _, err = b.SaveSchedule(b.ctx, changed, -1)
	b.must(err)
	b.fires(changed, want("schedule_changed")...)

	// A calendar that changes is asked for what it was.
	ruled := late("ruled", func(s *sql.Schedule) { s.Spec.Calendar = &schedule.CalendarRule{Skip: []string{"never"}} })
	_, _, err = b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}}, ChangedBy: "ann"})
	b.must(err)
	b.fires(ruled, want("schedule_changed")...)

	// One whose rules can't be read is paused all the same.
	broken := late("broken", func(s *sql.Schedule) { s.Spec.Timezone = "Mars/Base" })
	if n, err := b.EnableSchedules(b.ctx, []int64{broken.ID}, false, "broken", "m1"); err != nil || n != 1 {
		t.Errorf("paused %d, %v", n, err)
	}
	b.fires(broken)
}
