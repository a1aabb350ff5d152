package master

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/registry"
)

const (
	// rejoinWait is the pause before a membership that failed is asked for again.
	rejoinWait = 500 * time.Millisecond
	// leaveWait bounds the farewell to the registry.
	leaveWait = 2 * time.Second
)

// member keeps this master registered. Without a membership it goes on with what it has: others
// may take it over, and the epochs in the store then tell. It withdraws while its own way to
// the database is cut.
func (m *Master) member(ctx context.Context) error {
	self := registry.Member{
		Role: registry.Master, Node: m.Self.Node, Incarnation: m.Self.Incarnation, Address: m.Address,
		Version: m.Version, Weight: max(1, m.Weight), StartedAt: m.Now().UnixMilli(), Takeover: m.Takeover,
	}
	for ctx.Err() == nil {
		cut, changed := m.reach.state()
		if cut {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		session, err := m.Registry.Join(ctx, self, m.TTL)
		if err != nil {
			if ctx.Err() == nil {
				m.log.Warn("not registered, trying again", "error", err)
			}
			pause(ctx, rejoinWait)
			continue
		}
		m.log.Info("registered", "node", m.Self.Node, "incarnation", m.Self.Incarnation, "address", m.Address)
		m.Stand(session)
		select {
		case <-ctx.Done():
		case <-changed:
			m.log.Error("the database is out of reach from here, membership given up", "for", m.Patience.String())
		case <-session.Lost():
			m.log.Warn("membership lost", "error", session.Err())
		}
		m.Stand(nil)
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
		if err := session.Leave(leave); err != nil {
			m.log.Debug("lease not revoked, it will run out", "error", err)
		}
		cancel()
	}
	return nil
}

// watchMasters sees the masters of every view.
func (m *Master) watchMasters(ctx context.Context) error {
	views, err := m.Registry.Watch(ctx, registry.Master)
	if err != nil {
		return fmt.Errorf("watch masters: %w", err)
	}
	m.masters.follow(views, m.SeeMasters)
	return nil
}

// watchWorkers sees the workers of every view.
func (m *Master) watchWorkers(ctx context.Context) error {
	views, err := m.Registry.Watch(ctx, registry.Worker)
	if err != nil {
		return fmt.Errorf("watch workers: %w", err)
	}
	m.workers.follow(views, m.SeeWorkers)
	return nil
}

// trust says whether a member that a view does not list may be called gone. After the registry
// was wiped or set back, everybody first needs two leases of time to come back.
type trust struct {
	wait  time.Duration
	until time.Time
	held  *registry.View // the last view, if its absences are not trusted yet
}

func (t *trust) absences(view registry.View, now time.Time) bool {
	if view.Wiped {
		t.until = now.Add(t.wait)
	}
	trusted := !now.Before(t.until)
	if t.held = nil; !trusted {
		view.Wiped = false
		t.held = &view
	}
	return trusted
}

// again is how often a view whose absences were not trusted is looked at again: no other may come.
const again = time.Second

// follow shows each view, and the last one again while it is held, until views ends.
func (t *trust) follow(views <-chan registry.View, see func(registry.View)) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		select {
		case view, ok := <-views:
			if !ok {
				return
			}
			see(view)
		case <-tick.C:
			if t.held != nil {
				see(*t.held)
			}
		}
	}
}
