package master

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/registry"
)

// standing is what this master knows of its own membership and of the other masters.
type standing struct {
	mu      sync.Mutex // guards what follows
	session registry.Session
	members []registry.Member
	left    bool      // it has had a membership and lost it
	again   time.Time // when it got one back after that
}

// settled says that this master has not just come back: whoever was away with it, since the registry was
// away for all, has had two leases of time to come back, too.
func (s *standing) settled(now time.Time, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.again) >= 2*ttl
}

// stand notes a membership, nil for none.
func (s *standing) stand(session registry.Session, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case session == nil:
		s.left = s.left || s.session != nil
	case s.left:
		s.left, s.again = false, now
	}
	s.session = session
}

// sure says that the others still see this master: its lease was renewed so lately, by its own
// monotonic clock, that it cannot have run out. One that slept past its lease knows by that,
// before it has heard anything.
func (s *standing) sure(now time.Time) bool {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	return session != nil && session.Err() == nil &&
		now.Sub(session.LastRenewed()) <= session.TTL()-registry.Margin(session.TTL())
}

// draining writes into this master's record why it takes no more work.
func (s *standing) draining(ctx context.Context, why string) {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil {
		return
	}
	self := session.Member()
	self.Draining = why
	_ = session.Update(ctx, self) // who does not hear it loses a moment
}

func (s *standing) see(members []registry.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = members
}

func (s *standing) masters() []registry.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members
}

// lists says whether an owner is a registered master.
func (s *standing) lists(text string) bool {
	for _, member := range s.masters() {
		if owner(member) == text {
			return true
		}
	}
	return false
}

// Stand tells the master of its membership, nil for none. Run does it by itself.
func (m *Master) Stand(session registry.Session) {
	m.standing.stand(session, m.Now())
	m.barrier.Session(session)
	m.super.Session(session)
}

// judges says whether this master may call others dead: it knows itself to be registered, and has not
// just come back.
func (m *Master) judges(now time.Time) bool {
	return m.standing.sure(now) && m.standing.settled(now, m.TTL)
}

// Sure says whether this master knows itself to be registered; only then may it judge others,
// coordinate them or take new work.
func (m *Master) Sure(now time.Time) bool { return m.standing.sure(now) }

// owner is a member's owner text.
func owner(member registry.Member) string {
	return rpc.Process{Node: member.Node, Incarnation: member.Incarnation}.String()
}

// confirmWait bounds the reading of who is registered.
const confirmWait = 2 * time.Second

var errNotRegistered = errors.New("this master is not registered itself")

// confirm reads who is registered right now: a watch begins with the list as it is.
func (m *Master) confirm(ctx context.Context) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmWait)
	defer cancel()
	views, err := m.Registry.Watch(ctx, registry.Master)
	if err != nil {
		return nil, fmt.Errorf("read masters: %w", err)
	}
	view, ok := <-views
	if !ok {
		return nil, fmt.Errorf("read masters: %w", context.Cause(ctx))
	}
	owners := make(map[string]bool, len(view.Members))
	for _, member := range view.Members {
		owners[owner(member)] = true
	}
	if !owners[m.Self.String()] {
		return nil, errNotRegistered
	}
	return owners, nil
}

const (
	// pingEvery is how often the way to the database is tried, pingWait how long one try may take.
	pingEvery = time.Second
	pingWait  = 2 * time.Second
	// defaultPatience is how long the database may be out of reach before this master withdraws for
	// others who may reach it: longer than a restart of the database takes.
	defaultPatience = 10 * time.Second
)

// Pinger asks the database for a sign of life.
type Pinger interface {
	Ping(ctx context.Context) error
}

// watchStore tries the way to the database until ctx ends.
func (m *Master) watchStore(ctx context.Context) error {
	dog := failover.Watchdog{Patience: m.Patience}
	for pause(ctx, pingEvery) {
		ping, cancel := context.WithTimeout(ctx, pingWait)
		err := m.Store.Ping(ping)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		m.Pinged(&dog, m.Now(), err)
	}
	return nil
}

// Pinged takes the result of one ping. A master withdraws only for another: with nobody else there
// the database is away for all, and a membership given up would help no one.
func (m *Master) Pinged(dog *failover.Watchdog, now time.Time, err error) {
	stay := dog.Pinged(now, err)
	if cut, _ := m.reach.state(); stay || cut || len(m.peers()) > 0 {
		m.reach.set(!stay)
	}
}

// reach says whether this master is to stay away from the registry, since its database is cut off.
type reach struct {
	mu      sync.Mutex // guards what follows
	cut     bool
	changed chan struct{} // closes with the next change
}

func newReach() *reach { return &reach{changed: make(chan struct{})} }

func (r *reach) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut != cut {
		r.cut = cut
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

func (r *reach) state() (cut bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut, r.changed
}
