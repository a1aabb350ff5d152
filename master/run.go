package master

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/master/failover"
)

// errStopped ends the loops that take work when one of those that do it has ended.
var errStopped = errors.New("a loop of the master ended")

// Run schedules until ctx ends, then hands its instances to the other masters and leaves the
// registry, so that they go on at once.
func (m *Master) Run(ctx context.Context) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	m.hold.unknown() // until the first look, which ends it by Release
	m.placer.Hold()
	working, work := errgroup.WithContext(life)
	working.Go(guard.Loop(work, m.log, "engine", m.engine.Run))
	working.Go(guard.Loop(work, m.log, "alarms", m.alarms.Run))
	working.Go(guard.Loop(work, m.log, "barrier", m.barrier.Run))
	working.Go(guard.Loop(work, m.log, "member", m.member))
	working.Go(guard.Loop(work, m.log, "watchMasters", m.watchMasters))
	working.Go(guard.Loop(work, m.log, "watchWorkers", m.watchWorkers))
	working.Go(guard.Loop(work, m.log, "watchStore", m.watchStore))
	working.Go(guard.Loop(work, m.log, "watchStrays", m.watchStrays))
	working.Go(guard.Loop(work, m.log, "watchOwned", m.watchOwned))
	working.Go(guard.Loop(work, m.log, "periodic", m.periodic))
	working.Go(guard.Loop(work, m.log, "supervisor", m.super.Run))
	working.Go(guard.Loop(work, m.log, "watchHold", m.watchHold))
	working.Go(guard.Loop(work, m.log, "notify", m.notifier.Run))

	// What takes work ends first: a claim that is on its way then is in memory, and handed over.
	taking, take := errgroup.WithContext(ctx)
	taking.Go(guard.Loop(take, m.log, "intake", m.intake.Run))
	taking.Go(guard.Loop(take, m.log, "backfill", m.filler.Run))
	taking.Go(guard.Loop(take, m.log, "firer", m.firer.Run))
	taking.Go(guard.Loop(take, m.log, "moments", m.moments.Run))
	taking.Go(guard.Loop(take, m.log, "timers", m.timers.Run))
	taking.Go(guard.Loop(take, m.log, "failover", m.failover.Run))
	taking.Go(guard.Loop(take, m.log, "stop", func(take context.Context) error {
		select {
		case <-take.Done():
			return nil
		case <-work.Done():
			return errStopped
		}
	}))
	err := taking.Wait()
	if errors.Is(err, errStopped) {
		err = nil // the loop's own error says more
	} else {
		m.leave(work)
	}
	stop()
	return errors.Join(err, working.Wait())
}

const (
	// handOverWait bounds a handover; what is not given by then is taken over.
	handOverWait = 3 * time.Second
	// quietWait bounds the wait for commits that are on their way, within that.
	quietWait = time.Second
)

// leave hands what this master has to the others. Its record says first that it is leaving, so that
// another one that leaves does not hand its own to it. The farewell that follows makes the others look.
func (m *Master) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, handOverWait)
	defer cancel()
	m.standing.draining(ctx, "the master is stopping")
	m.placer.Stop()
	m.engine.Leave()
	peers := m.peers()
	if len(peers) == 0 || !m.standing.sure(m.Now()) {
		return
	}
	began := time.Now()
	quiet, done := context.WithTimeout(ctx, quietWait)
	for !m.engine.Quiet() && pause(quiet, 2*time.Millisecond) {
		continue
	}
	done()
	n, err := m.failover.HandOver(ctx, peers)
	if err != nil {
		m.log.Warn("instances not handed over, they will be taken over", "handed", n, "error", err)
		return
	}
	m.log.Info("instances handed over", "count", n, "masters", len(peers), "took", time.Since(began).String())
}

// peers are the other masters, but those that leave.
func (m *Master) peers() []failover.Peer {
	var peers []failover.Peer
	for _, member := range m.standing.masters() {
		if member.Node != m.Self.Node && member.Draining == "" {
			peers = append(peers, failover.Peer{Owner: owner(member), Weight: member.Weight})
		}
	}
	return peers
}

// pause waits for a while; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
