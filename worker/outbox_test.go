package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/internal/rpc"
)

func testReport(n int, state string) *rpc.Report {
	return &rpc.Report{Attempt: &rpc.AttemptID{InstanceId: int64(n), Number: 1, Token: fmt.Sprint("t", n)}, State: state}
}

// Whatever is lost on the way, every end reaches its owner, and nothing is left when all
// is acked.
func TestEveryReportReachesItsOwner(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, now := newOutbox(), noon
		masters := []string{"m1", "m2", "m3"}
		owner := map[int]string{}
		heard := map[int]bool{}
		n := rapid.IntRange(1, 20).Draw(t, "reports")
		for i := range n {
			owner[i] = rapid.SampledFrom(masters).Draw(t, "owner")
			if rapid.Bool().Draw(t, "started") {
				o.put(fmt.Sprint(i), testReport(i, "running"), "m1", now)
			}
			o.put(fmt.Sprint(i), testReport(i, "success"), rapid.SampledFrom([]string{"", "m1", "gone"}).Draw(t, "to"), now)
		}
		for range 200 {
			lossy := rapid.Bool().Draw(t, "lossy") && now.Sub(noon) < 30*time.Second
			up := masters
			if now.Sub(noon) < 30*time.Second {
				up = masters[:rapid.IntRange(0, 3).Draw(t, "up")]
			}
			for _, s := range o.due(now, up, 5) {
				i := int(s.report.Attempt.InstanceId)
				if s.report.State == "running" {
					t.Fatalf("a start went out after its end was put")
				}
				if lossy {
					continue
				}
				a := &rpc.Ack{OutboxId: s.report.OutboxId, Verdict: "ok"}
				if s.to != owner[i] {
					a = &rpc.Ack{OutboxId: s.report.OutboxId, Verdict: "not_owner"}
					if rapid.Bool().Draw(t, "named") {
						a.Owner = owner[i] + ":1"
					}
				} else {
					heard[i] = true
				}
				o.ack(a, now)
			}
			now = now.Add(300 * time.Millisecond)
		}
		for i := range n {
			if !heard[i] {
				t.Fatalf("report %d never reached %s", i, owner[i])
			}
		}
		if len(o.items) != 0 || len(o.latest) != 0 || o.bytes != 0 {
			t.Fatalf("left in the outbox: %d, %d, %d bytes", len(o.items), len(o.latest), o.bytes)
		}
		if _, ok := o.next(); ok {
			t.Fatal("an empty outbox is due")
		}
	})
}

func TestTheWaitForAnAckDoubles(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	o.put("a", testReport(1, "success"), "m1", noon)
	var waits []time.Duration
	last := noon
	for range 8 {
		at, ok := o.next()
		if !ok || len(o.due(at, []string{"m1"}, 10)) != 1 {
			t.Fatal("nothing was due")
		}
		waits = append(waits, at.Sub(last))
		last = at
	}
	want := "[0s 200ms 400ms 800ms 1.6s 3.2s 5s 5s]"
	if fmt.Sprint(waits) != want {
		t.Errorf("waits = %v, want %v", waits, want)
	}
}

func TestAFinishTakesThePlaceOfItsStart(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	o.put("a", testReport(1, "running"), "m1", noon)
	if got := o.put("a", testReport(1, "success"), "m1", noon); got != 1 {
		t.Errorf("replaced = %d, want 1", got)
	}
	got := o.due(noon, []string{"m1"}, 10)
	if len(got) != 1 || got[0].report.State != "success" {
		t.Errorf("due = %v, want the finish alone", got)
	}
}

func TestTheJournalKeepsWhatIsNotAcked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k, err := openKept(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := newOutbox()
	for i := range 5 {
		r := testReport(i, "success")
		o.put(fmt.Sprint(i), r, "", noon)
		if err := k.report(r); err != nil {
			t.Fatal(err)
		}
	}
	call := &rpc.AttemptID{InstanceId: 77, Number: 1, Token: "call"}
	if err := k.begin(call); err != nil {
		t.Fatal(err)
	}
	k.gone(2)
	k.gone(5)
	if err := k.write(); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		again, err := openKept(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.reports) != 3 || again.reports[1] == nil || again.reports[3] == nil || again.reports[4] == nil ||
			len(again.begun) != 1 || again.nextID != 6 {
			t.Errorf("%s: kept %v, begun %v, next id %d", what, again.reports, again.begun, again.nextID)
		}
		_ = again.file.Close()
	}
	check("as it was written")
	path := filepath.Join(dir, "outbox.journal")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte{9, 0, 0, 0, 1, 2})
	_ = file.Close()
	check("with a torn end")
	k, err = openKept(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.rewrite(); err != nil {
		t.Fatal(err)
	}
	check("after a rewrite")
}
