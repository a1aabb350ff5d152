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
	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/worker"
)

const (
	// memberTTL is the lease of apiservers: a pause of the whole process that is shorter is forgiven.
	memberTTL = 5 * time.Second
	// rejoinWait is the pause before a membership that failed is asked for again.
	rejoinWait = 500 * time.Millisecond
	// leaveTimeout bounds how long a leaving process waits for the registry.
	leaveTimeout = 2 * time.Second
)

// keepMember keeps a process registered until ctx ends. Without the registry the
// process works on; it is registered again when the registry is back.
func keepMember(ctx context.Context, reg registry.Registry, m registry.Member, log hclog.Logger) error {
	for ctx.Err() == nil {
		session, err := reg.Join(ctx, m, memberTTL)
		if err != nil {
			if errors.Is(err, registry.ErrInvalid) {
				return fmt.Errorf("register %s %s: %w", m.Role, m.Node, err)
			}
			if ctx.Err() == nil {
				log.Warn("not registered, trying again", "role", string(m.Role), "error", err)
			}
			pause(ctx, rejoinWait)
			continue
		}
		select {
		case <-ctx.Done():
		case <-session.Lost():
			log.Warn("membership lost, joining again", "role", string(m.Role), "error", session.Err())
		}
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		if err := session.Leave(leave); err != nil {
			log.Debug("lease runs out instead of being revoked", "role", string(m.Role), "error", err)
		}
		cancel()
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// peers tells a worker who serves in a role.
type peers struct {
	reg  registry.Registry
	role registry.Role
}

// Watch gives the list of a role's members, and again after each change.
func (p peers) Watch(ctx context.Context) (<-chan []worker.Peer, error) {
	return follow(ctx, p.reg, p.role, func(m registry.Member) worker.Peer {
		return worker.Peer{Node: m.Node, Incarnation: m.Incarnation, Address: m.Address}
	})
}

// masters tells an apiserver's watcher where the masters are.
type masters struct{ reg registry.Registry }

// Masters gives the list of masters, and again after each change.
func (m masters) Masters(ctx context.Context) (<-chan []watch.Master, error) {
	return follow(ctx, m.reg, registry.Master, func(m registry.Member) watch.Master {
		return watch.Master{Node: m.Node, Address: m.Address}
	})
}

// follow translates a registry's views. The newest view replaces one that was not taken.
func follow[T any](ctx context.Context, reg registry.Registry, role registry.Role, face func(registry.Member) T) (<-chan []T, error) {
	views, err := reg.Watch(ctx, role)
	if err != nil {
		return nil, fmt.Errorf("watch %ss: %w", role, err)
	}
	out := make(chan []T, 1)
	go func() {
		defer close(out)
		for view := range views {
			list := make([]T, len(view.Members))
			for i, m := range view.Members {
				list[i] = face(m)
			}
			registry.Offer(out, list, func(_, v []T) []T { return v })
		}
	}()
	return out, nil
}

// members is the apiserver's picture of the cluster, from memory.
type members struct {
	reg    registry.Registry
	slots  int    // of the cluster's layout
	caHash string // of its authority

	mu     sync.Mutex
	nodes  map[registry.Role][]registry.Member
	layout slot.Standing
}

func newMembers(reg registry.Registry, slots int, caHash string) *members {
	return &members{reg: reg, slots: slots, caHash: caHash, nodes: map[registry.Role][]registry.Member{}}
}

// Run follows the registry until ctx ends.
func (m *members) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, role := range []registry.Role{registry.Master, registry.Worker} {
		views, err := m.reg.Watch(ctx, role)
		if err != nil {
			return fmt.Errorf("watch %ss: %w", role, err)
		}
		wg.Go(func() {
			for view := range views {
				m.mu.Lock()
				m.nodes[role] = view.Members
				m.mu.Unlock()
			}
		})
	}
	listings, err := m.reg.Follow(ctx, slot.Folder)
	if err != nil {
		return fmt.Errorf("follow the layout of slots: %w", err)
	}
	wg.Go(func() {
		for listing := range listings {
			layout, _ := slot.Read(listing, m.slots) // the masters log what is wrong with it
			m.mu.Lock()
			m.layout = layout
			m.mu.Unlock()
		}
	})
	<-ctx.Done()
	return nil
}

func (m *members) list(role registry.Role) []apiserver.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	nodes := make([]apiserver.Node, len(m.nodes[role]))
	for i, n := range m.nodes[role] {
		nodes[i] = apiserver.Node{
			Name: n.Node, Incarnation: n.Incarnation, Address: n.Address, Version: n.Version,
			Groups: n.Groups, Labels: n.Labels, Slots: n.Slots, Weight: n.Weight, StartedAt: dag.Millis(n.StartedAt), Draining: n.Draining,
		}
	}
	return nodes
}

// Masters lists the masters that are alive.
func (m *members) Masters() []apiserver.Node { return m.list(registry.Master) }

// Workers lists the workers that are alive.
func (m *members) Workers() []apiserver.Node { return m.list(registry.Worker) }

// Slots is who owns which command slot, as the masters have agreed on it.
func (m *members) Slots() apiserver.SlotLayout {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := apiserver.SlotLayout{}
	if c := m.layout.Commit; c != nil {
		out = apiserver.SlotLayout{
			Epoch: c.Epoch, Cause: c.Cause, Coordinator: c.Coordinator, CommittedAt: dag.Millis(c.At), Owners: c.Owners,
			Members: slotHolders(c.Members), Excluded: slotHolders(c.Excluded),
		}
	} else {
		out.Owners = make([]int, m.slots)
		for i := range out.Owners {
			out.Owners[i] = -1
		}
	}
	if p := m.layout.Prepare; p != nil && p.Epoch > out.Epoch {
		out.Preparing = &apiserver.Preparing{
			Epoch: p.Epoch, Cause: p.Cause, Coordinator: p.Coordinator, At: dag.Millis(p.At), Members: slotHolders(p.Members),
		}
		out.Preparing.Owners = slot.Map(m.slots, p.Members)
		for _, member := range p.Members {
			if ack := m.layout.Acks[member.Node]; ack.Epoch == p.Epoch && ack.Incarnation == member.Incarnation {
				out.Preparing.Acked = append(out.Preparing.Acked, member.Node)
			}
		}
	}
	return out
}

func slotHolders(list []slot.Master) []apiserver.LayoutMember {
	out := make([]apiserver.LayoutMember, len(list))
	for i, m := range list {
		out[i] = apiserver.LayoutMember{Node: m.Node, Incarnation: m.Incarnation, Weight: m.Weight}
	}
	return out
}

// Rebalance asks the masters to agree anew, provided that the layout of that epoch still stands.
func (m *members) Rebalance(ctx context.Context, by string, epoch int64, at dag.Millis) error {
	m.mu.Lock()
	stands := m.layout
	m.mu.Unlock()
	if stands.Commit == nil || stands.Commit.Epoch != epoch {
		return registry.ErrConflict
	}
	text, err := json.Marshal(slot.Ask{ID: newIncarnation(), By: by, At: int64(at)})
	if err != nil {
		return fmt.Errorf("write the ask for a rebalance: %w", err)
	}
	// Of two who ask about one layout, the second changes nothing that the first has not asked for.
	_, err = m.reg.Put(ctx, slot.AskKey, text, registry.If{Others: []registry.KeyRevision{{Key: slot.CommitKey, ModRevision: stands.CommitRevision}}})
	return err
}

// CA is the hash of the cluster's authority.
func (m *members) CA() string { return m.caHash }
