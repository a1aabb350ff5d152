package main

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// session is one membership as its process knows it. It implements registry.Session, but for the
// channel of Lost: who drives it by steps is called.
type session struct {
	e       *etcd
	p       *proc
	member  registry.Member
	lease   *tenure
	renewed time.Time // when the newest answered renewal was sent, by the clock of the host
	err     error
	onLost  func()
}

// join makes a process a member; lost is called once when it is none any more.
func (e *etcd) join(p *proc, m registry.Member, ttl time.Duration, lost func()) (*session, error) {
	if !e.answers(p) {
		return nil, registry.ErrUnavailable
	}
	key := memberKey(m.Role, m.Node)
	if old, there := e.keys[key]; there {
		if was, err := registry.DecodeMember(old.Value); err == nil && !m.Takeover && !was.Same(m) {
			return nil, registry.ErrNodeTaken
		}
		if l := e.owners[key]; l != nil {
			e.revoke(l)
		}
		e.remove(key)
	}
	m.Takeover = false
	s := &session{e: e, p: p, member: m, lease: e.grant(ttl), renewed: p.host.clock(), onLost: lost}
	if err := s.write(m); err != nil {
		return nil, err
	}
	e.w.note("%s joined", p.id)
	s.keep()
	return s, nil
}

func (s *session) write(m registry.Member) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	s.member = m
	s.e.put(memberKey(m.Role, m.Node), text, s.lease)
	return nil
}

// keep renews the lease some times in its length, and gives up in time when nobody answers.
func (s *session) keep() {
	w, ttl := s.e.w, s.lease.ttl
	w.after(ttl/4, s.p, "renew", func() {
		if s.err != nil {
			return
		}
		sent := s.p.host.clock()
		w.after(w.between(time.Millisecond, 20*time.Millisecond), s.p, "renewed", func() { s.answer(sent) })
		s.keep()
	})
	w.after(ttl-registry.Margin(ttl), s.p, "watchdog", func() {
		if s.err == nil && s.p.host.clock().Sub(s.renewed) >= ttl-registry.Margin(ttl) {
			s.fail(registry.ErrSilent)
		}
	})
}

func (s *session) answer(sent time.Time) {
	switch {
	case s.err != nil || !s.e.answers(s.p):
	case s.lease.gone:
		s.fail(registry.ErrSessionLost)
	default:
		s.e.renew(s.lease)
		if sent.After(s.renewed) {
			s.renewed = sent
		}
	}
}

func (s *session) fail(err error) {
	s.err = err
	s.e.w.note("%s lost its membership: %v", s.p.id, err)
	s.onLost()
}

// Member implements registry.Session.
func (s *session) Member() registry.Member { return s.member }

// Update implements registry.Session.
func (s *session) Update(_ context.Context, m registry.Member) error {
	if s.err != nil || s.lease.gone {
		return registry.ErrSessionLost
	}
	if !s.e.answers(s.p) {
		return registry.ErrUnavailable
	}
	return s.write(m)
}

// LastRenewed implements registry.Session.
func (s *session) LastRenewed() time.Time { return s.renewed }

// TTL implements registry.Session.
func (s *session) TTL() time.Duration { return s.lease.ttl }

// Lost implements registry.Session.
func (s *session) Lost() <-chan struct{} { return nil }

// Err implements registry.Session.
func (s *session) Err() error { return s.err }

// Leave implements registry.Session.
func (s *session) Leave(context.Context) error {
	if s.err == nil {
		s.err = registry.ErrLeft
	}
	if !s.e.answers(s.p) {
		return registry.ErrUnavailable
	}
	s.e.revoke(s.lease)
	return nil
}

// Abandon implements registry.Session.
func (s *session) Abandon() {
	if s.err == nil {
		s.err = registry.ErrLeft
	}
}

// hold keeps the place for so long without a renewal.
func (s *session) hold(length time.Duration) error {
	if s == nil || s.err != nil || s.lease.gone || !s.e.answers(s.p) {
		return registry.ErrUnavailable
	}
	s.err = registry.ErrLeft
	if length > 0 {
		s.lease.ttl = length
		s.e.renew(s.lease)
	}
	return nil
}

// door is the registry as a process reaches it by calls that are answered at once: what a master asks
// for in the middle of a step.
type door struct {
	registry.Registry // nil: nothing else is called
	e                 *etcd
	p                 *proc
}

// Watch gives the list as it is, and no later one.
func (d door) Watch(_ context.Context, role registry.Role) (<-chan registry.View, error) {
	ch := make(chan registry.View, 1)
	if d.e.answers(d.p) {
		views(func(v registry.View) { ch <- v })(d.e.list(memberKey(role, "")), d.e.revision, false)
	}
	close(ch)
	return ch, nil
}

func (d door) String() string { return fmt.Sprintf("door of %s", d.p.id) }
