package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/worker/lease"
)

// drainFolder holds the wishes that workers take no work, by node.
const drainFolder = "drain"

// membership is a worker's place in the registry: what the leases of its attempts live on. It is never
// given up while attempts may be alive, only left to run out.
type membership struct {
	reg registry.Registry
	log hclog.Logger

	mu      sync.Mutex // guards what follows
	member  registry.Member
	session registry.Session // nil before the first
	held    bool             // the place belongs to what stays behind
}

// LastRenewed is when the newest answered renewal was sent; zero: never.
func (m *membership) LastRenewed() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return time.Time{}
	}
	return m.session.LastRenewed()
}

// Hold keeps the place for so long without a renewal; 0 only keeps it from being revoked.
func (m *membership) Hold(ctx context.Context, length time.Duration) (time.Time, error) {
	m.mu.Lock()
	m.held = true
	member := m.member
	m.mu.Unlock()
	sent := time.Now()
	if length == 0 {
		return sent, nil
	}
	member.Draining = "the worker restarts, its tasks run on"
	session, err := m.reg.Join(ctx, member, length)
	if err != nil {
		return time.Time{}, fmt.Errorf("hold the place of %s: %w", member.Node, err)
	}
	session.Abandon()
	return sent, nil
}

// Run keeps the worker registered until ctx ends. It begins when ready is closed: the process before may
// have been granted deadlines that this one must shorten first. Without the registry the process works on.
func (m *membership) Run(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return nil
	case <-ready:
	}
	for ctx.Err() == nil {
		session, err := m.join(ctx)
		if err != nil {
			if errors.Is(err, registry.ErrInvalid) {
				return fmt.Errorf("register worker %s: %w", m.member.Node, err)
			}
			if ctx.Err() == nil {
				m.log.Warn("not registered, trying again", "role", string(registry.Worker), "error", err)
			}
			pause(ctx, rejoinWait)
			continue
		}
		select {
		case <-ctx.Done():
		case <-session.Lost():
			m.log.Warn("membership lost, joining again", "role", string(registry.Worker), "error", session.Err())
		}
		if m.leave(ctx, session) {
			<-ctx.Done()
		}
	}
	return nil
}

func (m *membership) join(ctx context.Context) (registry.Session, error) {
	m.mu.Lock()
	member := m.member
	m.mu.Unlock()
	session, err := m.reg.Join(ctx, member, lease.Length)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session = session
	return session, nil
}

// leave ends a session: revoked only where nothing that it speaks for is left.
func (m *membership) leave(ctx context.Context, session registry.Session) (held bool) {
	m.mu.Lock()
	held = m.held
	m.mu.Unlock()
	if held || ctx.Err() == nil {
		session.Abandon()
		return held
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if err := session.Leave(leave); err != nil {
		m.log.Debug("lease runs out instead of being revoked", "role", string(registry.Worker), "error", err)
	}
	return false
}

// show tells others why the worker takes no work, "" where it does.
func (m *membership) show(ctx context.Context, draining string) {
	m.mu.Lock()
	m.member.Draining = draining
	member, session := m.member, m.session
	m.mu.Unlock()
	if session == nil {
		return // it joins with it
	}
	if err := session.Update(ctx, member); err != nil {
		m.log.Debug("the list does not say yet that the worker drains", "error", err)
	}
}

// drainable is the part of a worker that obeys wishes.
type drainable interface {
	Drain(ctx context.Context, reason string, giveBack time.Duration)
	Resume(ctx context.Context)
}

// obey follows the wish that this node takes no work, until ctx ends.
func (m *membership) obey(ctx context.Context, w drainable) error {
	folders, err := m.reg.Follow(ctx, drainFolder)
	if err != nil {
		return fmt.Errorf("follow the wishes to drain: %w", err)
	}
	key, seen := drainFolder+"/"+m.member.Node, int64(0)
	for folder := range folders {
		var wish apiserver.DrainWish
		revision := int64(0)
		for _, e := range folder.Entries {
			if e.Key == key && json.Unmarshal(e.Value, &wish) == nil {
				revision = e.ModRevision
			}
		}
		switch {
		case revision == seen:
			continue
		case revision != 0:
			giveBack := wish.GiveBack
			if giveBack > 0 {
				giveBack = max(time.Millisecond, time.Until(time.UnixMilli(int64(wish.At)).Add(giveBack)))
			}
			w.Drain(ctx, wish.Reason, giveBack)
		default:
			w.Resume(ctx)
		}
		seen = revision
		m.show(ctx, wish.Reason)
	}
	return nil
}

// workers is what the API knows of workers beyond who is there, and how it tells them to drain.
type workers struct {
	reg     registry.Registry
	figures interface {
		Figures(worker string) (*rpc.WorkerFigures, bool)
		Heard(worker string) (time.Time, bool)
	}
}

// Figures are the newest of a worker.
func (w workers) Figures(worker string) (*rpc.WorkerFigures, bool) { return w.figures.Figures(worker) }

// Heard says when they came.
func (w workers) Heard(worker string) (time.Time, bool) { return w.figures.Heard(worker) }

// Drain writes the wish where the worker finds it, now or when it comes back.
func (w workers) Drain(ctx context.Context, worker string, wish apiserver.DrainWish) error {
	text, err := json.Marshal(wish)
	if err != nil {
		return fmt.Errorf("write the wish to drain: %w", err)
	}
	_, err = w.reg.Put(ctx, drainFolder+"/"+worker, text, registry.If{})
	return err
}

// Resume takes the wish away.
func (w workers) Resume(ctx context.Context, worker string) error {
	return w.reg.Delete(ctx, drainFolder+"/"+worker, registry.If{})
}
