package supervise

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

const (
	// attendEvery is how often a master looks for what it is asked.
	attendEvery = time.Second
	// callTimeout bounds one look, and one answer.
	callTimeout = 10 * time.Second
	// againWait is the pause before the lock is asked for again.
	againWait = time.Second
	// unlockWait bounds the farewell of a supervisor that stops.
	unlockWait = time.Second
)

// Session brings this master's membership, nil when it is lost. It never blocks; one goroutine at a
// time may call it.
func (s *Supervisor) Session(session registry.Session) {
	registry.Offer(s.sessions, session, func(_, newest registry.Session) registry.Session { return newest })
}

// Run answers requests, and supervises while this master holds the lock, until ctx ends.
func (s *Supervisor) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(guard.Loop(ctx, s.log, "attend", s.attend))
	all.Go(guard.Loop(ctx, s.log, "lead", s.lead))
	return all.Wait()
}

// attend answers until ctx ends.
func (s *Supervisor) attend(ctx context.Context) error {
	tick := time.NewTicker(attendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.Attend(ctx, s.Now())
		}
	}
}

// Attend answers what is asked about the instances of this master, and says of its attempts which are
// alive. What it cannot do now stays asked.
func (s *Supervisor) Attend(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := s.Instances.Extend(ctx, now); err != nil {
		s.log.Debug("attempts did not get more time", "error", err)
		return
	}
	asked, err := s.Store.RecoveriesOf(ctx, s.Self)
	if err != nil {
		s.log.Debug("requests to recover not read", "error", err)
		return
	}
	for _, r := range asked {
		result, state, err := s.Instances.Recover(ctx, r, now)
		if err != nil {
			s.log.Warn("recovery did not succeed, it will be tried again", "instance", r.InstanceID, "task", r.Task, "attempt", r.Attempt, "error", err)
			continue
		}
		if result == "" {
			continue
		}
		r.Result, r.State, r.AnsweredAt = result, state, dag.MillisOf(now)
		if err := s.Store.AnswerRecovery(ctx, s.Self, r); err != nil {
			s.log.Debug("recovery not answered", "recovery", r.ID, "error", err)
			return
		}
		log := s.log.Info
		if state == sql.RecoveryError {
			log = s.log.Error
		}
		log("stuck attempt recovered", "instance", r.InstanceID, "task", r.Task, "attempt", r.Attempt, "step", r.Step, "failures", r.Failures, "result", result)
	}
}

// lead contends for the lock with each session, and supervises while it has it, until ctx ends.
func (s *Supervisor) lead(ctx context.Context) error {
	var session registry.Session
	for {
		if session == nil {
			select {
			case <-ctx.Done():
				return nil
			case session = <-s.sessions:
			}
			continue
		}
		term, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		held := session
		go func() {
			defer close(ended)
			_ = guard.Do(s.log, "supervise", func() error { s.term(term, held); return nil }) // the next term comes
		}()
		select {
		case <-ctx.Done():
		case session = <-s.sessions:
		case <-ended:
			if session.Err() != nil {
				session = nil
			}
		}
		stop()
		<-ended
		if ctx.Err() != nil {
			return nil
		}
		pause(ctx, againWait)
	}
}

// term waits for the lock and supervises until it is lost, another one supervises, or ctx ends.
func (s *Supervisor) term(ctx context.Context, session registry.Session) {
	lock, err := s.Locks.Lock(ctx, session, LockName)
	if err != nil {
		s.log.Debug("the lock of the supervisor was not given", "error", err)
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWait)
		defer cancel()
		if err := lock.Unlock(ctx); err != nil {
			s.log.Debug("the lock of the supervisor goes with its session", "error", err)
		}
	}()
	if err := s.within(ctx, func(ctx context.Context) error { return s.Begin(ctx, s.Now()) }); err != nil {
		s.log.Warn("not supervising, trying again", "error", err)
		return
	}
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	for {
		err := s.within(ctx, func(ctx context.Context) error { return s.Look(ctx, s.Now()) })
		switch {
		case errors.Is(err, sql.ErrStale):
			s.log.Info("another master supervises", "fence", s.fence)
			return
		case err != nil && ctx.Err() == nil:
			s.log.Debug("the store did not tell what is stuck", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-lock.Lost():
			return
		case <-tick.C:
		}
	}
}

func (s *Supervisor) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return do(ctx)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
