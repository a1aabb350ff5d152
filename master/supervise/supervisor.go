// Package supervise is the net under the loops of the masters. One master at a time, elected by a
// lock, looks now and then for what is stuck: an attempt whose time is past, an instance that
// is to go on and has neither owner nor command, a command that nobody takes. It only asks for
// recovery, by a row that the owner answers; it knows no rule of workflows and never writes an
// instance's or an attempt's row. Each master answers what is asked about its own instances.
package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// LockName is the lock whose holder supervises.
const LockName = "supervisor"

const (
	// DefaultEvery is how often the supervisor looks where nothing is said.
	DefaultEvery = 5 * time.Second
	// settleLooks is for how many looks it only waits after it began, or the store was away: those who own
	// what seems stuck first have the time to say that it is not.
	settleLooks = 3
	// recoverWithin is what a repeated step gets, and longWithin one that failed Threshold times.
	recoverWithin = 30 * time.Second
	longWithin    = 5 * time.Minute
	// Threshold is how often a step is repeated soon; after one more, later, it is given up.
	Threshold = 3
	// orphanAfter and unclaimedAfter are how long an instance may be without owner and command,
	// and a command unclaimed.
	orphanAfter    = 10 * time.Second
	unclaimedAfter = 30 * time.Second
	// The bounds of one look.
	maxOverdue   = 100
	maxUnclaimed = 20
	window       = 1_000
)

// Store is what the supervisor and those it asks use of the store.
type Store interface {
	BeginSupervision(ctx context.Context, holder string, at dag.Millis, everyMS int64) (int64, error)
	Overdue(ctx context.Context, now dag.Millis, limit int) ([]sql.OverdueStep, error)
	Orphans(ctx context.Context, before dag.Millis, after sql.OrphanCursor, window int) ([]sql.Orphan, sql.OrphanCursor, error)
	Unclaimed(ctx context.Context, before dag.Millis, after int64, window, limit int) ([]sql.Command, int64, error)
	// AskRecovery is ErrStale where another one supervises.
	AskRecovery(ctx context.Context, fence int64, now dag.Millis, asks []sql.RecoveryRow) error
	RecoveriesOf(ctx context.Context, owner string) ([]sql.RecoveryRow, error)
	AnswerRecovery(ctx context.Context, owner string, r sql.RecoveryRow) error
}

// Locker gives locks.
type Locker interface {
	Lock(ctx context.Context, s registry.Session, name string) (registry.Lock, error)
}

// Instances recovers attempts.
type Instances interface {
	// Recover does what it can and says what, and how the recovery stands then; "" that it can't now.
	Recover(ctx context.Context, r sql.RecoveryRow, now time.Time) (result string, state sql.RecoveryState, err error)
	// Extend gives more time to the attempts that are known to be alive.
	Extend(ctx context.Context, now time.Time) error
}

// Config is what a Supervisor needs; every field without a default is required.
type Config struct {
	// Self is the owner text of this master.
	Self      string
	Store     Store
	Locks     Locker
	Instances Instances
	Logger    hclog.Logger
	// Every is how often the supervisor looks; zero is DefaultEvery.
	Every time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Held says whether the cluster is held on purpose: nothing is stuck then. Nil is never.
	Held func() bool
}

// Supervisor is one master's part: it supervises while it holds the lock, and answers always.
type Supervisor struct {
	Config
	log      hclog.Logger
	sessions chan registry.Session

	// Of Begin and Look:
	fence     int64
	quiet     time.Time // until when it only waits
	orphans   sql.OrphanCursor
	unclaimed int64
	suspects  map[int64]int64 // instances without owner, seen by the look before, with their epochs
	seen      map[int64]int64 // those of this walk
}

// New returns a Supervisor that does nothing before Run.
func New(c Config) *Supervisor {
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Held == nil {
		c.Held = func() bool { return false }
	}
	return &Supervisor{Config: c, log: c.Logger.Named("supervise"), sessions: make(chan registry.Session, 1)}
}

// Begin makes this master the supervisor in the store.
func (s *Supervisor) Begin(ctx context.Context, now time.Time) error {
	fence, err := s.Store.BeginSupervision(ctx, s.Self, dag.MillisOf(now), s.Every.Milliseconds())
	if err != nil {
		return err
	}
	s.fence, s.quiet = fence, now.Add(s.settle())
	s.orphans, s.unclaimed, s.suspects, s.seen = sql.OrphanCursor{}, 0, nil, make(map[int64]int64)
	s.log.Info("this master supervises", "fence", fence)
	return nil
}

// Look looks once for what is stuck and asks for its recovery. sql.ErrStale says that another one
// supervises by now: nothing was written.
func (s *Supervisor) Look(ctx context.Context, now time.Time) error {
	if s.Held() {
		s.quiet = now.Add(s.settle())
	}
	var asks []sql.RecoveryRow
	if !now.Before(s.quiet) {
		var err error
		if asks, err = s.stuck(ctx, now); err != nil {
			s.quiet = now.Add(s.settle())
			return err
		}
	}
	err := s.Store.AskRecovery(ctx, s.fence, dag.MillisOf(now), asks)
	if err != nil && !errors.Is(err, sql.ErrStale) {
		s.quiet = now.Add(s.settle())
	}
	if err != nil {
		return err
	}
	for _, a := range asks {
		s.log.Warn("stuck, recovery asked for", "instance", a.InstanceID, "task", a.Task, "attempt", a.Attempt, "step", a.Step,
			"failures", a.Failures, "give_up", a.GiveUp)
	}
	return nil
}

func (s *Supervisor) settle() time.Duration { return settleLooks * s.Every }

// stuck finds what is stuck.
func (s *Supervisor) stuck(ctx context.Context, now time.Time) ([]sql.RecoveryRow, error) {
	overdue, err := s.Store.Overdue(ctx, dag.MillisOf(now), maxOverdue)
	if err != nil {
		return nil, err
	}
	asks := make([]sql.RecoveryRow, 0, len(overdue))
	for _, o := range overdue {
		asks = append(asks, Again(o, dag.MillisOf(now)))
	}
	orphans, err := s.ownerless(ctx, now)
	if err != nil {
		return nil, err
	}
	asks = append(asks, orphans...)
	commands, next, err := s.Store.Unclaimed(ctx, dag.MillisOf(now.Add(-unclaimedAfter)), s.unclaimed, window, maxUnclaimed)
	if err != nil {
		return nil, err
	}
	s.unclaimed = next
	for _, c := range commands {
		asks = append(asks, sql.RecoveryRow{
			InstanceID: c.InstanceID, Task: -1, Attempt: int(c.ID), Step: sql.StepCommand, Failures: 1, CompleteBy: dag.MillisOf(now.Add(recoverWithin)),
		})
	}
	return asks, nil
}

// ownerless finds instances without owner and command that a look before has found so, too: between
// two looks of one of them lies a whole walk over all that are to go on.
func (s *Supervisor) ownerless(ctx context.Context, now time.Time) ([]sql.RecoveryRow, error) {
	orphans, next, err := s.Store.Orphans(ctx, dag.MillisOf(now.Add(-orphanAfter)), s.orphans, window)
	if err != nil {
		return nil, err
	}
	var asks []sql.RecoveryRow
	for _, o := range orphans {
		if epoch, twice := s.suspects[o.InstanceID]; twice && epoch == o.OwnerEpoch {
			asks = append(asks, sql.RecoveryRow{
				InstanceID: o.InstanceID, Task: -1, Step: sql.StepStart, Failures: 1, CompleteBy: dag.MillisOf(now.Add(recoverWithin)),
			})
			continue
		}
		s.seen[o.InstanceID] = o.OwnerEpoch
	}
	if s.orphans = next; next == (sql.OrphanCursor{}) {
		s.suspects, s.seen = s.seen, make(map[int64]int64)
	}
	return asks, nil
}

// Again is the request for a step whose time is past: Threshold times soon, once after a longer wait,
// then that it be given up. A request that its owner has not answered is no failure of the step: it
// waits for the owner, or his successor.
func Again(o sql.OverdueStep, now dag.Millis) sql.RecoveryRow {
	r := sql.RecoveryRow{
		InstanceID: o.InstanceID, Task: o.Task, Attempt: o.Attempt, Step: string(o.State), Failures: o.Failures, CompleteBy: now.Add(recoverWithin),
	}
	switch o.Recovery {
	case sql.RecoveryAsked:
	case sql.RecoveryDone:
		r.Failures = 1 // it was well since
	case "", sql.RecoveryApplied, sql.RecoveryError:
		r.Failures++
	}
	switch {
	case r.Failures > Threshold+1:
		r.GiveUp = true
	case r.Failures == Threshold+1:
		r.CompleteBy = now.Add(longWithin)
	}
	return r
}
