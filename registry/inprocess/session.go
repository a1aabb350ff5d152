package inprocess

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// session is one membership; every field but the constant ones is guarded by r.mu.
type session struct {
	r    *Registry
	ttl  time.Duration
	lost chan struct{}

	member  registry.Member
	renewed time.Time // while down or lost; else it is renewed all the time
	err     error
	timer   *time.Timer
}

// Join makes the member known, see registry.Registry.
func (r *Registry) Join(ctx context.Context, m registry.Member, ttl time.Duration) (registry.Session, error) {
	text, err := m.Encode()
	if err != nil {
		return nil, err
	}
	if err := registry.CheckTTL(ttl); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.call(ctx); err != nil {
		return nil, fmt.Errorf("join as %s %s: %w", m.Role, m.Node, err)
	}
	key := memberKey(m.Role, m.Node)
	if old, ok := r.entries[key]; ok {
		if was, err := registry.DecodeMember(old.value); err == nil && !m.Takeover && !was.Same(m) {
			return nil, fmt.Errorf("join as %s %s: %w", m.Role, m.Node, registry.ErrNodeTaken)
		}
		if old.owner != nil {
			r.end(old.owner, registry.ErrSessionLost)
		}
		r.remove(func(k string, _ entry) bool { return k == key })
	}
	m.Takeover = false
	s := &session{r: r, ttl: ttl, lost: make(chan struct{}), member: m}
	r.sessions[s] = true
	r.put(key, text, s)
	return s, nil
}

// end closes a session's Lost, if it is open, and deletes its keys. r.mu is held.
func (r *Registry) end(s *session, reason error) {
	r.fail(s, reason)
	delete(r.sessions, s)
	r.remove(func(_ string, e entry) bool { return e.owner == s })
}

// fail closes a session's Lost, once. r.mu is held.
func (r *Registry) fail(s *session, reason error) {
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.err != nil {
		return
	}
	if !r.down {
		s.renewed = time.Now()
	}
	s.err = reason
	close(s.lost)
}

// silence is the timer of a session that can't be renewed.
func (r *Registry) silence(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		r.fail(s, registry.ErrSilent)
	}
}

// forget is the timer of a lease that nobody came back for.
func (r *Registry) forget(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.down {
		r.end(s, registry.ErrSessionLost)
	}
}

func (s *session) Member() registry.Member {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.member
}

func (s *session) LastRenewed() time.Time {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.err == nil && !s.r.down {
		return time.Now()
	}
	return s.renewed
}

func (s *session) TTL() time.Duration { return s.ttl }

func (s *session) Lost() <-chan struct{} { return s.lost }

func (s *session) Err() error {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.err
}

func (s *session) Update(ctx context.Context, m registry.Member) error {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !m.Same(s.member) {
		return fmt.Errorf("update member %s: role, node and incarnation stay: %w", m.Node, registry.ErrInvalid)
	}
	m.Takeover = false
	text, err := m.Encode()
	if err != nil {
		return err
	}
	if s.err != nil {
		return fmt.Errorf("update member %s: %w", m.Node, s.err)
	}
	if err := s.r.call(ctx); err != nil {
		return fmt.Errorf("update member %s: %w", m.Node, err)
	}
	s.r.put(memberKey(m.Role, m.Node), text, s)
	s.member = m
	return nil
}

func (s *session) Leave(ctx context.Context) error {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.fail(s, registry.ErrLeft)
	if err := s.r.call(ctx); err != nil {
		return fmt.Errorf("leave as %s %s: %w", s.member.Role, s.member.Node, err)
	}
	s.r.end(s, registry.ErrLeft)
	return nil
}

func (s *session) Abandon() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.err != nil {
		return
	}
	s.r.fail(s, registry.ErrLeft)
	s.timer = time.AfterFunc(s.ttl, func() { s.r.forget(s) })
}
