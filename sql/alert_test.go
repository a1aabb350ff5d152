package sql

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/schedule"
)

// listened makes a project with a listener of everything, and a workflow in it that is published.
func listened(t *testing.T, s *Store) (Listener, Workflow) {
	t.Helper()
	project, err := s.CreateProject(t.Context(), Project{Name: "Sales"})
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := s.PutListener(t.Context(), Listener{ProjectID: project.ID, Name: "ops", URL: "http://example.org", Secret: []byte{}, Enabled: true, CreatedBy: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	w, _, _, err := s.SaveVersion(t.Context(), SaveVersion{ProjectID: project.ID, Name: "Daily", Text: "name: Daily\n", Format: "yaml", By: "ann", Publish: true})
	if err != nil {
		t.Fatal(err)
	}
	return l, w
}

// ruled saves an enabled schedule.
func ruled(t *testing.T, s *Store, w Workflow, name string, rule *schedule.CalendarRule) Schedule {
	t.Helper()
	sch := Schedule{WorkflowID: w.ID, Name: name, Enabled: true, ChangedBy: "ann", Spec: schedule.Spec{Cron: "0 * * * *", Timezone: "UTC", Calendar: rule}}
	saved, _, err := s.SaveSchedule(t.Context(), sch, -1)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// A month after an alert nobody asks any more whether it was told, however its delivery stands: the two go together, and
// what is younger stays.
func TestOldAlertsAreSweptWithTheirDeliveries(t *testing.T) {
	t.Parallel()
	for name, s := range emptyStores(t) {
		began := s.millis()
		at := began
		s.now = func() time.Time { return at.Time() }
		ops, w := listened(t, s)
		var alerts []int64
		for i, age := range []time.Duration{deliveryKept + time.Hour, deliveryKept + time.Minute, deliveryKept - time.Minute, 0} {
			at = began.Add(-age)
			if err := s.BreakSchedule(t.Context(), ruled(t, s, w, fmt.Sprint("s", i), nil), "its timezone is gone", "m1:a"); err != nil {
				t.Fatal(err)
			}
			due, _, err := s.Deliveries(t.Context(), ops.ID, "", Page{})
			if err != nil || len(due) != i+1 || !due[0].Alert || due[0].Subject != fmt.Sprint("s", i) || due[0].Workflow != "Daily" {
				t.Fatalf("%s: deliveries are %+v, %v", name, due, err)
			}
			alerts = append(alerts, due[0].InstanceID)
		}
		at = began
		// One was told, one was given up, the others wait still.
		for i, state := range []DeliveryState{DeliveryIdle, DeliveryDead} {
			d, err := s.Delivery(t.Context(), ops.ID, alerts[i])
			if err != nil {
				t.Fatal(err)
			}
			if d.State = state; s.SaveDelivery(t.Context(), d) != nil {
				t.Fatalf("%s: delivery %d is not saved", name, i)
			}
		}
		if n, err := s.Sweep(t.Context()); err != nil || n != 2 {
			t.Errorf("%s: swept %d, %v; want the two that are old", name, n, err)
		}
		for i, id := range alerts {
			_, err := s.Alert(t.Context(), id)
			_, derr := s.Delivery(t.Context(), ops.ID, id)
			if gone := errors.Is(err, ErrNotFound) && errors.Is(derr, ErrNotFound); gone != (i < 2) || !gone && (err != nil || derr != nil) {
				t.Errorf("%s: alert %d is %v, its delivery %v", name, i, err, derr)
			}
		}
		if n, err := s.Sweep(t.Context()); err != nil || n != 0 {
			t.Errorf("%s: swept %d more, %v", name, n, err)
		}
		if !s.dial.mysql {
			plan := queryPlan(t, s, `SELECT id FROM alert WHERE created_at < ? ORDER BY created_at LIMIT ?`, []any{1, 1})
			if len(plan) != 1 || plan[0] != "SEARCH alert USING COVERING INDEX alert_created (created_at<?)" {
				t.Errorf("%s: plan %q", name, plan)
			}
		}
	}
}

// A calendar that changes waits for the schedules that ask for it, and for no other: those fire and are changed meanwhile.
func TestACalendarLocksTheSchedulesThatNameIt(t *testing.T) {
	t.Parallel()
	for name, s := range emptyStores(t) {
		_, w := listened(t, s)
		save := func(days ...string) error {
			_, _, err := s.SaveCalendar(t.Context(), Calendar{ProjectID: w.ProjectID, Name: "Holidays", Spec: schedule.Calendar{Days: days}, ChangedBy: "ann"})
			return err
		}
		if err := save("12-25"); err != nil {
			t.Fatal(err)
		}
		skips := func(calendar string) *schedule.CalendarRule { return &schedule.CalendarRule{Skip: []string{calendar}} }
		asks, other, free := ruled(t, s, w, "asks", skips("HOLIDAYS")), ruled(t, s, w, "other", skips("business_days")), ruled(t, s, w, "free", nil)
		// As a database of before has it: nobody wrote down what a schedule asks for, its document says it.
		if _, err := s.db.ExecContext(t.Context(), `UPDATE schedule_calendar SET name_key = '' WHERE schedule_id = ?`, asks.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.ExecContext(t.Context(), `INSERT INTO schedule_calendar (project_id, name_key, schedule_id) VALUES (?, '', ?)`, w.ProjectID, other.ID); err != nil {
			t.Fatal(err)
		}
		revisions := func() (out []int64) {
			t.Helper()
			for _, id := range []int64{asks.ID, other.ID, free.ID} {
				sch, err := s.ScheduleByID(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, sch.Revision)
			}
			return out
		}
		if err := save("12-25", "01-01"); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(revisions()); got != "[2 1 1]" {
			t.Errorf("%s: revisions are %s, want that of the one that asks for it to rise", name, got)
		}
		var rows string
		if err := s.db.QueryRowContext(t.Context(), `SELECT MAX(name_key) FROM schedule_calendar WHERE schedule_id IN (?, ?) HAVING COUNT(*) = 1`, asks.ID, other.ID).Scan(&rows); err != nil || rows != "holidays" {
			t.Errorf("%s: it is written down as %q, %v", name, rows, err)
		}
		if s.dial.mysql { // SQLite has one lock for all
			tx, err := s.db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []int64{other.ID, free.ID} { // one by one: of two of three the database would look at all
				if _, err := tx.ExecContext(t.Context(), `SELECT id FROM schedule WHERE id = ? FOR UPDATE`, id); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error, 1)
			go func() { done <- save("12-26") }()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case <-time.After(20 * time.Second):
				t.Errorf("%s: the calendar waits for schedules that do not ask for it", name)
			}
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
		} else {
			plan := queryPlan(t, s, `SELECT schedule_id, name_key FROM schedule_calendar WHERE project_id = ? AND name_key IN (?, '')`, []any{1, "holidays"})
			if len(plan) != 1 || plan[0] != "SEARCH schedule_calendar USING PRIMARY KEY (project_id=? AND name_key=?)" {
				t.Errorf("%s: plan %q", name, plan)
			}
		}
		// One that asks for it no more is free of it, and one that is deleted leaves nothing.
		ruled(t, s, w, "asks", nil)
		before := fmt.Sprint(revisions())
		if err := save("12-27"); err != nil || fmt.Sprint(revisions()) != before {
			t.Errorf("%s: revisions are %v, %v; want %s as before", name, revisions(), err, before)
		}
		ruled(t, s, w, "free", skips("holidays"))
		if err := s.DeleteSchedule(t.Context(), free.ID); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := s.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM schedule_calendar`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%s: %d rows are left, %v", name, left, err)
		}
		if err := s.DeleteCalendar(t.Context(), w.ProjectID, "holidays"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
