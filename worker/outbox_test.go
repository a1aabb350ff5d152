package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/journal"
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
	disk := func(each func(kind byte, data []byte) error) (Disk, error) {
		return journal.Open(filepath.Join(dir, "outbox.journal"), each)
	}
	k, err := openKept(disk)
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
		again, err := openKept(disk)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.reports) != 3 || again.reports[1] == nil || again.reports[3] == nil || again.reports[4] == nil ||
			len(again.begun) != 1 || again.nextID != 6 {
			t.Errorf("%s: kept %v, begun %v, next id %d", what, again.reports, again.begun, again.nextID)
		}
		_ = again.file.(*journal.File).Close()
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
	k, err = openKept(disk)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.rewrite(); err != nil {
		t.Fatal(err)
	}
	check("after a rewrite")
}

func TestAReportGoesAtOnceToAnOwnerWhoIsNamedForTheFirstTime(t *testing.T) {
	t.Parallel()
	o, now, up := newOutbox(), noon, []string{"m1", "m2", "m3"}
	o.put("a", &rpc.Report{State: "success"}, "m1", now)
	for range 8 { // the owner does not answer: the pauses have become long
		o.due(now, up, 10)
		now = now.Add(resendMost)
	}
	sent := o.due(now, up, 10)
	if len(sent) != 1 {
		t.Fatalf("%d reports are due after the longest pause, want 1", len(sent))
	}
	id := sent[0].report.OutboxId
	o.ack(&rpc.Ack{OutboxId: id, Verdict: "not_owner", Owner: "m3:i"}, now)
	if sent = o.due(now, up, 10); len(sent) != 1 || sent[0].to != "m3" {
		t.Errorf("after m3 was named: %v, want the report on its way to m3", sent)
	}
	o.ack(&rpc.Ack{OutboxId: id, Verdict: "not_owner", Owner: "m3:i"}, now)
	if sent = o.due(now, up, 10); len(sent) != 0 {
		t.Errorf("m3 is named again: %v, want a pause", sent)
	}
}
