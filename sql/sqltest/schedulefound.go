package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

func calendarsAreNamedBySchedules(t *testing.T, b *bench) {
	made, created, err := b.SaveCalendar(b.ctx, sql.Calendar{ProjectID: b.project.ID, Name: "Holidays", Spec: schedule.Calendar{Days: []string{"12-25"}}, ChangedBy: "ann"})
	if err != nil || !created || made.Spec.Days[0] != "12-25" || made.ChangedBy != "ann" {
		t.Fatalf("made %+v, %v, %v", made, created, err)
	}
	sch := b.hourly("hourly", func(s *sql.Schedule) { s.Spec.Calendar = &schedule.CalendarRule{Skip: []string{"HOLIDAYS"}} })
	other := b.hourly("other")
	ahead := dag.MillisOf(time.Now().Add(time.Minute))
	b.planned(sch, ahead)
	b.planned(other, ahead)
	made.Spec.Days = append(made.Spec.Days, "01-01")
	if saved, created, err := b.SaveCalendar(b.ctx, made); err != nil || created || len(saved.Spec.Days) != 2 {
		t.Errorf("saved %+v, %v, %v", saved, created, err)
	}
	b.fires(sch) // it is planned anew
	b.fires(other, fmt.Sprintf("%d planned", ahead))
	var used *sql.InUseError
	if err := b.DeleteCalendar(b.ctx, b.project.ID, "holidays"); !errors.As(err, &used) || !slices.Equal(used.References, []string{"schedule hourly"}) {
		t.Errorf("deleted while a schedule names it: %v", err)
	}
	b.must(b.DeleteSchedule(b.ctx, sch.ID))
	b.must(b.DeleteCalendar(b.ctx, b.project.ID, "holidays"))
	if list, err := b.Calendars(b.ctx, b.project.ID); err != nil || len(list) != 0 {
		t.Errorf("left: %+v, %v", list, err)
	}
}

func minutesAreSpreadOnce(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	var at []dag.Millis
	for i := range dag.Millis(600) {
		at = append(at, 60_000+i)
	}
	b.planned(sch, at...)
	for minute, want := range map[int64]int{0: 1, 1: schedule.Buckets(600)} {
		if got, err := b.MinuteBuckets(b.ctx, minute); err != nil || got != want {
			t.Errorf("minute %d has %d buckets, %v; want %d", minute, got, err, want)
		}
	}
	b.planned(b.hourly("other"), 1000)
	b.fire(sch, at...)
	if got, err := b.MinuteBuckets(b.ctx, 1); err != nil || got != schedule.Buckets(600) {
		t.Errorf("when its fires are over the minute has %d buckets, %v; want what was decided", got, err)
	}
}

func theClockIsTheDatabases(t *testing.T, b *bench) {
	before := dag.MillisOf(time.Now())
	got, err := b.Clock(b.ctx)
	b.must(err)
	if after := dag.MillisOf(time.Now()); got < before-1000 || got > after+1000 {
		t.Errorf("its clock shows %d, ours from %d to %d", got, before, after)
	}
}

func unplannedSchedulesAreFound(t *testing.T, b *bench) {
	first, second := b.hourly("first"), b.hourly("second")
	b.hourly("off", func(s *sql.Schedule) { s.Enabled = false })
	soon := dag.MillisOf(time.Now().Add(time.Minute))
	all := func(int64) bool { return true }
	got, more, err := b.UnplannedSchedules(b.ctx, soon, 1, all)
	if err != nil || len(got) != 1 || !more {
		t.Errorf("one of them: %d, more %v, %v", len(got), more, err)
	}
	got, more, err = b.UnplannedSchedules(b.ctx, soon, 5, func(id int64) bool { return id == second.ID })
	if err != nil || len(got) != 1 || more || got[0].ID != second.ID {
		t.Errorf("of the second's slot: %+v, more %v, %v", got, more, err)
	}
	b.planned(first)
	if got, _, err = b.UnplannedSchedules(b.ctx, soon, 5, all); err != nil || len(got) != 1 || got[0].ID != second.ID {
		t.Errorf("after the first was planned: %+v, %v", got, err)
	}
	// Those of others that are farther behind fill a page.
	var last sql.Schedule
	for i := range 520 {
		last = b.hourly(fmt.Sprint("one of many ", i))
	}
	if got, more, err = b.UnplannedSchedules(b.ctx, soon, 5, func(id int64) bool { return id >= last.ID-1 }); err != nil || more || len(got) == 0 || got[len(got)-1].ID != last.ID {
		t.Errorf("behind those of others: %d, more %v, %v", len(got), more, err)
	}
	if got, err = b.SchedulesByID(b.ctx, []int64{last.ID, 1 << 50, first.ID}); err != nil || len(got) != 2 || got[0].ID != last.ID || got[1].ID != first.ID {
		t.Errorf("two that are there and one that is not: %+v, %v", got, err)
	}
}
