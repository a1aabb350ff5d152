package sqltest

import (
	"testing"

	"github.com/porpoise/porpoise/dag/listen"
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
