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

func aChangeHoldsFromTheNextFire(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	ahead := dag.MillisOf(time.Now().Add(time.Minute))
	b.planned(sch, 1000, 2000, ahead)
	b.fire(sch, 1000)
	changed := sch
	changed.Spec.Cron = "30 * * * *"
	changed, _, err := b.SaveSchedule(b.ctx, changed, sch.Revision)
	b.must(err)
	if changed.PlannedUntil > ahead {
		t.Errorf("after the change it is planned until %d", changed.PlannedUntil)
	}
	if n, err := b.PlanFires(b.ctx, []sql.Stretch{{Schedule: sch, Fires: []schedule.Fire{{At: ahead, Due: ahead}}, Until: ahead + 1}}); err != nil || n != 0 {
		t.Errorf("a plan by the old revision wrote %d, %v", n, err)
	}
	b.fire(sch, 2000)
	b.fires(sch, "1000 fired", "2000 fired")
	b.must(b.DeleteSchedule(b.ctx, sch.ID))
	if out := b.fire(sch, 2000, ahead); len(out.Started) != 0 {
		t.Errorf("a deleted schedule started %v", out.Started)
	}
}

// aChangeLosesNoFire is about fires that are due, wait, or lie in their jitter when their schedule is changed.
func aChangeLosesNoFire(t *testing.T, b *bench) {
	_, _, err := b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"1999-01-01"}}, ChangedBy: "ann"})
	b.must(err)
	sch := b.hourly("hourly", overlapping(schedule.Wait), func(s *sql.Schedule) { s.Spec.Calendar = &schedule.CalendarRule{Skip: []string{"never"}} })
	now := dag.MillisOf(time.Now())
	jittered := now - 1000
	ahead := now.Add(time.Minute)
	_, err = b.PlanFires(b.ctx, []sql.Stretch{{
		Schedule: sch, Until: now.Add(time.Hour),
		Fires: []schedule.Fire{{At: 1000, Due: 1000}, {At: 2000, Due: 2000}, {At: jittered, Due: ahead}, {At: ahead, Due: ahead}},
	}})
	b.must(err)
	first := b.fire(sch, 1000, 2000).Started
	changed := sch
	changed.Spec.Cron = "30 * * * *"
	changed, _, err = b.SaveSchedule(b.ctx, changed, sch.Revision)
	b.must(err)
	_, _, err = b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"1999-01-02"}}, ChangedBy: "ann"})
	b.must(err)
	b.fires(sch, "1000 fired", "2000 waiting", fmt.Sprintf("%d planned", jittered))
	b.over(first[0], dag.InstanceSuccess)
	second := b.fire(sch, 2000).Started
	if len(second) != 1 {
		t.Fatalf("what waited started %v after two changes, want one", second)
	}
	b.over(second[0], dag.InstanceSuccess)
	b.fire(sch, jittered)
	b.fires(sch, "1000 fired", "2000 fired", fmt.Sprintf("%d fired", jittered))

	// A pause is another thing, also where the schedule is resumed and changed before anybody comes to the fire.
	sch, err = b.ScheduleByID(b.ctx, sch.ID)
	b.must(err)
	b.planned(sch, 3000)
	for _, enabled := range []bool{false, true} {
		_, err = b.EnableSchedules(b.ctx, []int64{sch.ID}, enabled, "", "bob")
		b.must(err)
	}
	changed.Spec.Cron = "45 * * * *"
	_, _, err = b.SaveSchedule(b.ctx, changed, -1)
	b.must(err)
	if out := b.fire(sch, 3000); len(out.Started) != 0 {
		t.Errorf("what was due at the pause started %v after it", out.Started)
	}
	b.fires(sch, "1000 fired", "2000 fired", "3000 skipped paused", fmt.Sprintf("%d fired", jittered))
}

// aTriggerTakesNoFire has a schedule fire at the very moment at which somebody triggered it.
func aTriggerTakesNoFire(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	id, err := b.TriggerSchedule(b.ctx, sch.ID, "eve")
	b.must(err)
	row, err := b.Instance(b.ctx, id)
	b.must(err)
	if of, ok := sql.ScheduleOf(row.TriggerKey); !ok || of != sch.ID {
		t.Errorf("the instance is of schedule %d, %v", of, ok)
	}
	at := row.ScheduleTime
	b.planned(sch, at)
	if out := b.fire(sch, at); len(out.Started) != 1 {
		t.Errorf("the fire of the moment of the trigger did %+v, want one started", out)
	}
	b.fires(sch, fmt.Sprintf("%d fired", at))
}
