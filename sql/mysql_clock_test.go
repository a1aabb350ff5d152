package sql_test

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// An apiserver whose clock is ahead would else drop the fires between, and one whose clock is behind would plan them twice.
func TestAScheduleIsChangedByTheClockOfMySQL(t *testing.T) {
	t.Parallel()
	testMySQL(t)
	ctx := t.Context()
	s := openStore(t, sql.Config{DSN: newMySQL(t, t.Name()), Now: func() time.Time { return time.Now().Add(time.Hour) }})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.CreateProject(ctx, sql.Project{Name: "Sales"})
	must(err)
	w, _, _, err := s.SaveVersion(ctx, sql.SaveVersion{ProjectID: p.ID, Name: "Daily", Text: "name: Daily\n", Format: "yaml", By: "ann", Publish: true})
	must(err)
	cal := sql.Calendar{ProjectID: p.ID, Name: "never", Spec: schedule.Calendar{Days: []string{"1999-01-01"}}}
	_, _, err = s.SaveCalendar(ctx, cal)
	must(err)
	var sch sql.Schedule
	began := dag.MillisOf(time.Now().Add(-2 * time.Second))
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"a new one", func() (err error) {
			sch, _, err = s.SaveSchedule(ctx, sql.Schedule{
				WorkflowID: w.ID, Name: "tick", Enabled: true, Spec: schedule.Spec{Cron: "* * * * *", Calendar: &schedule.CalendarRule{Skip: []string{"never"}}},
			}, -1)
			return err
		}},
		{"a change", func() (err error) {
			sch.Spec.Cron = "*/2 * * * *"
			_, _, err = s.SaveSchedule(ctx, sch, -1)
			return err
		}},
		{"a change with others", func() (err error) {
			sch.Spec.Cron = "*/3 * * * *"
			_, _, err = s.SaveSchedules(ctx, []sql.Schedule{sch})
			return err
		}},
		{"a change of its calendar", func() (err error) {
			cal.Spec.Days = []string{"1999-01-02"}
			_, _, err = s.SaveCalendar(ctx, cal)
			return err
		}},
		{"a pause", func() (err error) {
			_, err = s.EnableSchedules(ctx, []int64{sch.ID}, false, "", "ann")
			return err
		}},
		{"the end of a pause", func() (err error) {
			_, err = s.EnableSchedules(ctx, []int64{sch.ID}, true, "", "ann")
			return err
		}},
	} {
		must(c.do())
		got, err := s.ScheduleByID(ctx, sch.ID)
		must(err)
		if now := dag.MillisOf(time.Now()); got.PlannedUntil < began || got.PlannedUntil > now+2000 {
			t.Errorf("%s by a clock that is an hour ahead: it is planned from %s on, and it is %s", c.name, got.PlannedUntil.Time(), now.Time())
		}
	}
}
