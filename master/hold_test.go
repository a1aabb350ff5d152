package master

import (
	"context"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// freeze holds the cluster and waits until the master knows.
func (s *site) freeze(m *Master) sql.Hold {
	s.t.Helper()
	h, _, err := s.store.SetHold(context.Background(), "ann", "")
	if err != nil {
		s.t.Fatal(err)
	}
	within(s.t, 2*time.Second, "the master knows of the hold", m.hold.held)
	return h
}

func (s *site) thaw() sql.Released {
	s.t.Helper()
	r, err := s.store.ReleaseHold(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestNothingBeginsWhileTheClusterIsHeld(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, addr, _ := s.master("m1", "i1")
	w := holding("w1", 10)
	s.join(w, addr)
	chain := s.save("name: chain\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop, needs: [a]}\n")
	id := s.start(chain)
	w.until(t, "the first task runs", func() bool { return len(w.got) == 1 && len(w.acks) == 1 })
	s.freeze(m)

	// What runs goes on, and its end is taken; its successor waits, and so does a new start.
	other := s.start(chain)
	w.report(report(w.got[0], dag.AttemptSuccess))
	within(t, 5*time.Second, "the successor is ready", func() bool { return s.tasks(id) == "a=success/1 b=ready/0" })
	for range 3 { // three looks at the hold, which poll for work as well
		m.LookAtHold(t.Context())
		if row, err := s.store.Instance(t.Context(), other); err != nil || row.State != dag.InstanceSubmitted || s.tasks(id) != "a=success/1 b=ready/0" {
			t.Fatalf("during the hold the new start is %s, the tasks are %s, %v", row.State, s.tasks(id), err)
		}
	}
	s.thaw()
	w.until(t, "all that waited runs", func() bool { return len(w.got) == 3 })
	for _, a := range w.got[1:] {
		w.report(report(a, dag.AttemptSuccess))
	}
	s.waitFor(id, dag.InstanceSuccess)
	w.until(t, "the last task runs", func() bool { return len(w.got) == 4 })
	w.report(report(w.got[3], dag.AttemptSuccess))
	s.waitFor(other, dag.InstanceSuccess)
}

func TestAHoldStopsTheClocksOfAttemptsRetriesAndInstances(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, addr, _ := s.master("m1", "i1")
	w := holding("w1", 10)
	var killed []*rpc.Kill
	w.killed = func(k *rpc.Kill) []*rpc.Report {
		killed = append(killed, k)
		return []*rpc.Report{report(k.GetAttempt(), dag.AttemptKilled)}
	}
	s.join(w, addr)
	quiet := s.start(s.save(single)) // without any moment of its own
	m.intake.Hint()
	w.until(t, "the first task runs", func() bool { return len(w.got) == 1 && len(w.acks) == 1 })
	timed := s.start(s.save("name: timed\ntimeout: {after: 3s, action: fail}\ntasks:\n  - {name: a, type: noop, timeout: {after: 2s, action: fail}}\n"))
	m.intake.Hint()
	w.until(t, "the task runs", func() bool { return len(w.got) == 2 && len(w.acks) == 2 })
	retried := s.start(s.save("name: retried\ntasks:\n  - {name: a, type: noop, retry: {times: 1, delay: 2s}}\n"))
	m.intake.Hint()
	w.until(t, "the other task runs", func() bool { return len(w.got) == 3 && len(w.acks) == 3 })
	w.report(report(w.got[2], dag.AttemptFailed))
	within(t, 5*time.Second, "it waits for its retry", func() bool { return s.tasks(retried) == "a=retry_wait/1" })
	h := s.freeze(m)
	attempt, err := s.store.Attempt(t.Context(), timed, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Until well after all three moments.
	over := time.UnixMilli(int64(attempt.Deadline)).Add(2 * time.Second)
	within(t, 10*time.Second, "the moments have passed", func() bool { return time.Now().After(over) })
	if got := s.tasks(timed) + " " + s.tasks(retried); got != "a=running/1 a=retry_wait/1" {
		t.Fatalf("during the hold: %s", got)
	}
	r := s.thaw()
	if r.Moments != 3 {
		t.Errorf("%d moments moved, want 3", r.Moments)
	}
	w.until(t, "the retry comes", func() bool { return len(w.got) == 4 })
	within(t, 10*time.Second, "the timeout comes", func() bool { return s.tasks(timed) == "a=failed/1" })
	row, err := s.store.Attempt(t.Context(), timed, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Read again once, and not taken up as after a crash.
	for id, state := range map[int64]dag.InstanceState{timed: dag.InstanceFailed, quiet: dag.InstanceRunning} {
		if in := s.waitFor(id, state); in.OwnerEpoch != 2 {
			t.Errorf("the %s instance is at epoch %d, want that of the release", state, in.OwnerEpoch)
		}
	}
	moved := attempt.Deadline.Add(r.At.Sub(h.Since))
	if len(killed) != 1 || row.FinishedAt < moved || row.Reason != dag.ReasonTimeout {
		t.Errorf("%d kills; it ended at %d by %q, want the timeout, not before %d", len(killed), row.FinishedAt, row.Reason, moved)
	}
}

func TestAMasterThatStartsDuringAHoldBeginsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, _, err := s.store.SetHold(t.Context(), "ann", ""); err != nil {
		t.Fatal(err)
	}
	id := s.start(s.save(single))
	m, addr, _ := s.master("m1", "i1")
	w := holding("w1", 1)
	s.join(w, addr)
	within(t, 5*time.Second, "the master is sure", func() bool { return m.Sure(time.Now()) })
	m.LookAtHold(t.Context())
	m.intake.Hint()
	if row, err := s.store.Instance(t.Context(), id); err != nil || row.State != dag.InstanceSubmitted {
		t.Fatalf("it is %s, %v", row.State, err)
	}
	s.thaw()
	w.until(t, "it begins", func() bool { return len(w.got) == 1 })
}
