package runner

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/worker/lease"
)

// leased is a task that says when it had TERM, on the clock that deadlines are of, and goes on.
func leased(n int64, h *harness, until time.Duration) *Start {
	s := shell(n, `trap 'cut -d" " -f1 /proc/uptime > `+pidFile(h, "term")+`; while :; do sleep 0.02; done' TERM
echo up; while :; do sleep 0.02; done`)
	s.Until = until.Nanoseconds()
	return s
}

// seconds reads a time since boot that a script has written.
func seconds(t *testing.T, path string) time.Duration {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(data)) + "s")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// T10, requirement F07: TERM a second before the deadline and KILL at it, without any control process.
func TestAnAttemptEndsAtItsDeadlineWithNobodyThere(t *testing.T) {
	t.Parallel()
	h := launch(t)
	until := lease.Now() + 2500*time.Millisecond
	h.start(leased(1, h, until))
	h.born("m1")
	h.detach()
	waitFor(t, "TERM", func() bool { data, _ := os.ReadFile(pidFile(h, "term")); return len(data) > 0 })
	pid := h.starts["m1"].Pid
	waitFor(t, "KILL", func() bool { return !alive(int(pid)) })
	ended := lease.Now()
	// uptime has two digits: it may be 10 ms early.
	if at := seconds(t, pidFile(h, "term")); at < until-lease.TermBefore-10*time.Millisecond || at > until-lease.TermBefore+500*time.Millisecond {
		t.Errorf("TERM %v before the deadline, want %v", until-at, lease.TermBefore)
	}
	if ended < until || ended > until+500*time.Millisecond {
		t.Errorf("ended %v after its deadline", ended-until)
	}
	for _, e := range h.connect().Exits {
		h.exits[e.Mark] = e
	}
	if e := h.exit("m1"); e.State != "lost" || e.Reason != "lease_ended" {
		t.Errorf("exit = %v, want lost", e)
	}
}

// T10: what extends a deadline names the attempt, or all; an older word changes nothing.
func TestOnlyFreshEvidenceMovesADeadline(t *testing.T) {
	t.Parallel()
	h := launch(t)
	now := lease.Now()
	first, later := now+1500*time.Millisecond, now+time.Hour
	s1, s2, s3 := shell(1, "echo x; exec sleep 1001"), shell(2, "exec sleep 1002"), shell(3, "exec sleep 1003")
	s1.Until, s2.Until = first.Nanoseconds(), first.Nanoseconds()
	h.start(s1, s2, s3)
	h.born("m1")
	h.client.Send(&Order{Leases: []*Lease{
		{Until: later.Nanoseconds(), Marks: []string{"m1"}}, {Until: (now + time.Second).Nanoseconds()}, {Until: 1, Marks: []string{"m1"}},
	}})
	if e := h.exit("m2"); e.State != "lost" {
		t.Errorf("exit of the one that nobody counts on = %v", e)
	}
	for _, mark := range []string{"m1", "m3"} {
		if pid := h.born(mark).Pid; !alive(int(pid)) {
			t.Errorf("%s has ended", mark)
		}
	}
	// Whoever comes next has no evidence of his own: an hour that was granted is his no more.
	h.detach()
	ours := lease.Now() + 1500*time.Millisecond
	c, err := Dial(t.Context(), h.dir, Attachment{Incarnation: "next", Until: ours})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan *Exit, 1)
	go func() {
		_ = c.Run(t.Context(), func(n *News) {
			for _, e := range n.Exits {
				if e.Mark == "m1" {
					ended <- e
				}
			}
		})
	}()
	select {
	case e := <-ended:
		if e.State != "lost" || lease.Now() < ours-lease.TermBefore {
			t.Errorf("exit = %v, %v before the deadline", e, ours-lease.Now())
		}
	case <-time.After(deadline):
		t.Error("the deadline that was granted to the process before still holds")
	}
	if pid := h.born("m3").Pid; !alive(int(pid)) {
		t.Error("the attempt without a deadline has ended")
	}
}
