package supervise

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// book is a store with one fence, and what it has been asked.
type book struct {
	Store
	fence   int64
	overdue []sql.OverdueStep
	orphans []sql.Orphan
	asked   []sql.RecoveryRow
	away    bool
	looks   int
}

func (b *book) BeginSupervision(context.Context, string, dag.Millis, int64) (int64, error) {
	b.fence++
	return b.fence, nil
}

func (b *book) Overdue(context.Context, dag.Millis, int) ([]sql.OverdueStep, error) {
	b.looks++
	if b.away {
		return nil, sql.ErrUnavailable
	}
	return b.overdue, nil
}

func (b *book) Orphans(_ context.Context, _ dag.Millis, at sql.OrphanCursor, _ int) ([]sql.Orphan, sql.OrphanCursor, error) {
	if at.State == 0 {
		return b.orphans, sql.OrphanCursor{State: 1}, nil
	}
	return nil, sql.OrphanCursor{}, nil
}

func (b *book) Unclaimed(context.Context, dag.Millis, int64, int, int) ([]sql.Command, int64, error) {
	return nil, 0, nil
}

func (b *book) AskRecovery(_ context.Context, fence int64, _ dag.Millis, asks []sql.RecoveryRow) error {
	if b.away {
		return sql.ErrUnavailable
	}
	if fence != b.fence {
		return sql.ErrStale
	}
	b.asked = append(b.asked, asks...)
	return nil
}

func supervisor(b *book) *Supervisor {
	return New(Config{Self: "m1:a", Store: b, Logger: hclog.NewNullLogger(), Every: time.Second})
}

var start = time.UnixMilli(1_000_000)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func TestOwnersHaveTimeToSpeakBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	b := &book{overdue: []sql.OverdueStep{{InstanceID: 7, Attempt: 1, State: dag.AttemptRunning}}}
	s := supervisor(b)
	look := func(at int, want int) {
		t.Helper()
		if err := s.Look(t.Context(), after(at)); err != nil && !b.away {
			t.Fatal(err)
		}
		if len(b.asked) != want {
			t.Fatalf("after %d s asked %d times, want %d", at, len(b.asked), want)
		}
	}
	if err := s.Begin(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	look(1, 0)
	look(3, 1)
	held := true
	s.Held = func() bool { return held }
	look(4, 1)
	held = false
	look(5, 1)
	look(7, 2)
	b.asked = b.asked[:1]
	b.away = true
	look(8, 1)
	b.away = false
	look(10, 1)
	look(11, 2)
}

func TestASupervisorThatSleptDoesNothing(t *testing.T) {
	t.Parallel()
	b := &book{overdue: []sql.OverdueStep{{InstanceID: 7, Attempt: 1, State: dag.AttemptRunning}}}
	slept, awake := supervisor(b), supervisor(b)
	for _, s := range []*Supervisor{slept, awake} {
		if err := s.Begin(t.Context(), start); err != nil {
			t.Fatal(err)
		}
	}
	if err := slept.Look(t.Context(), after(60)); !errors.Is(err, sql.ErrStale) || len(b.asked) != 0 {
		t.Errorf("it looks: %v, and asked %+v", err, b.asked)
	}
	if err := awake.Look(t.Context(), after(60)); err != nil || len(b.asked) != 1 {
		t.Errorf("the one who supervises looks: %v, and asked %+v", err, b.asked)
	}
}

func TestAnInstanceMustBeFoundWithoutOwnerTwice(t *testing.T) {
	t.Parallel()
	b := &book{orphans: []sql.Orphan{{InstanceID: 7, OwnerEpoch: 1}}}
	s := supervisor(b)
	if err := s.Begin(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	for look, want := range []int{0, 0, 1} { // a walk takes two looks
		if err := s.Look(t.Context(), after(10+look)); err != nil {
			t.Fatal(err)
		}
		if len(b.asked) != want {
			t.Fatalf("after look %d asked %+v, want %d", look+1, b.asked, want)
		}
	}
	if got := b.asked[0]; got.Step != sql.StepStart || got.InstanceID != 7 || got.Task != -1 {
		t.Errorf("asked for %+v", got)
	}
	b.asked, b.orphans = nil, []sql.Orphan{{InstanceID: 8, OwnerEpoch: 3}}
	for look := range 2 {
		if err := s.Look(t.Context(), after(20+look)); err != nil {
			t.Fatal(err)
		}
	}
	b.orphans[0].OwnerEpoch = 4 // somebody had it meanwhile
	if err := s.Look(t.Context(), after(30)); err != nil || len(b.asked) != 0 {
		t.Errorf("one that had an owner between: %v, asked %+v", err, b.asked)
	}
}

func TestAStepIsRepeatedThenWaitedForThenGivenUp(t *testing.T) {
	t.Parallel()
	now := dag.Millis(1_000_000)
	o := sql.OverdueStep{InstanceID: 7, Task: 2, Attempt: 3, State: dag.AttemptKilling}
	for want := 1; want <= Threshold+2; want++ {
		r := Again(o, now)
		wait := recoverWithin
		if want == Threshold+1 {
			wait = longWithin
		}
		if r.Failures != want || r.CompleteBy != now.Add(wait) || r.GiveUp != (want == Threshold+2) || r.Step != "killing" {
			t.Errorf("request %d is %+v", want, r)
		}
		o.Failures, o.Recovery = r.Failures, sql.RecoveryApplied
	}
	o.Failures, o.Recovery = 2, sql.RecoveryAsked
	if r := Again(o, now); r.Failures != 2 {
		t.Errorf("a request that nobody has answered counts as failure %d of the step", r.Failures)
	}
	o.Recovery = sql.RecoveryDone
	if r := Again(o, now); r.Failures != 1 {
		t.Errorf("of a step that was well since it is failure %d", r.Failures)
	}
}
