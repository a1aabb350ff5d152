package sqltest

import (
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// ears makes a listener of the bench's project that hears of everything.
func (b *bench) ears() sql.Listener {
	b.t.Helper()
	l, _, err := b.PutListener(b.ctx, sql.Listener{ProjectID: b.project.ID, Name: "ears", URL: "http://example.org", Secret: []byte{}, Enabled: true, CreatedBy: "ann"})
	b.must(err)
	return l
}

// alerts are those that wait for a listener.
func (b *bench) alerts(l sql.Listener) (out []sql.Alert) {
	b.t.Helper()
	list, _, err := b.Deliveries(b.ctx, l.ID, sql.DeliveryDue, sql.Page{})
	b.must(err)
	for _, d := range list {
		a, err := b.Alert(b.ctx, d.InstanceID)
		b.must(err)
		out = append(out, a)
	}
	return out
}

func aBrokenScheduleIsPausedWithAnAlert(t *testing.T, b *bench) {
	ops := b.ears()
	sch := b.hourly("nightly")
	old := sch
	old.Revision--
	b.must(b.BreakSchedule(b.ctx, old, "it was so once", "m1:a"))
	if got, err := b.ScheduleByID(b.ctx, sch.ID); err != nil || !got.Enabled || len(b.alerts(ops)) != 0 {
		t.Errorf("one that was changed since is %+v, %v", got, err)
	}
	for range 2 { // two masters find it
		b.must(b.BreakSchedule(b.ctx, sch, "its timezone is gone", "m1:a"))
	}
	if got, err := b.ScheduleByID(b.ctx, sch.ID); err != nil || got.Enabled || got.Why != "its timezone is gone" || got.ChangedBy != "m1:a" {
		t.Errorf("it is %+v, %v", got, err)
	}
	a := b.alerts(ops)
	if len(a) != 1 || a[0].Kind != listen.ScheduleBroken || a[0].Project != "Sales" || a[0].Workflow != "Daily" || a[0].Subject != "nightly" || a[0].Message != "its timezone is gone" {
		t.Errorf("alerts are %+v, want one", a)
	}
}

// missedFiresAreToldOnce has an outage come to its end in two settlements, and then another one.
func missedFiresAreToldOnce(t *testing.T, b *bench) {
	ops := b.ears()
	sch, other := b.hourly("nightly"), b.hourly("other")
	b.planned(sch, 1000, 2000, 3000, 4000, 5000, 6000)
	b.planned(other, 1000, 2000)
	missed := func(sch sql.Schedule, at ...dag.Millis) (out []sql.Verdict) {
		for _, m := range at {
			out = append(out, sql.Verdict{Source: sch.ID, At: m, State: schedule.Missed, Reason: schedule.ReasonOlder})
		}
		return out
	}
	settle := func(v ...sql.Verdict) {
		t.Helper()
		_, err := b.SettleFires(b.ctx, v, "m1:a", 7)
		b.must(err)
	}
	settle(append(missed(other, 1000), missed(sch, 1000, 2000)...)...)
	settle(missed(sch, 1000, 2000)...) // by another master
	settle(missed(sch, 3000)...)
	for _, v := range []sql.Verdict{{Source: sch.ID, At: 4000}, {Source: other.ID, At: 2000}} {
		v.State, v.Reason = schedule.Skipped, schedule.ReasonOverlap
		settle(v)
	}
	settle(append(missed(sch, 5000), missed(sch, 6000)...)...)
	var got []string
	for _, a := range b.alerts(ops) {
		if a.Kind != listen.ScheduleMissed || a.Project != "Sales" || a.Workflow != "Daily" || a.By != "m1:a" || !strings.Contains(a.Message, "misfire_latest") {
			t.Errorf("told %+v", a)
		}
		from, _, _ := strings.Cut(strings.TrimPrefix(a.Message, "fires were missed from "), " on:")
		got = append(got, a.Subject+" "+from)
	}
	slices.Sort(got)
	if want := []string{"nightly 1970-01-01T00:00:01Z", "nightly 1970-01-01T00:00:05Z", "other 1970-01-01T00:00:01Z"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
