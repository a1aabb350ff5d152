package master

import (
	"context"
	"sync"
	"time"
)

const (
	// ownedEvery is how often a master that is not sure of its membership asks the rows whether its
	// instances are still its own; ownedFor is how long an answer counts.
	ownedEvery = time.Second
	ownedFor   = 2 * time.Second
)

// owned is when the rows last said that this master owns instances.
type owned struct {
	mu sync.Mutex
	at time.Time
}

// Unsure says that another master may have taken the instances here over. Its answers to ticks are then
// no evidence that an attempt is wanted, or a worker that is cut off together with it would go
// on with attempts that were started elsewhere. While the registry is away for all, the rows vouch.
func (m *Master) Unsure() bool {
	now := m.Now()
	if m.standing.sure(now) {
		return false
	}
	m.owned.mu.Lock()
	defer m.owned.mu.Unlock()
	return m.owned.at.IsZero() || now.Sub(m.owned.at) > ownedFor
}

// LookAtOwned asks the rows, if the membership is in doubt. The question counts from when it was asked.
func (m *Master) LookAtOwned(ctx context.Context) {
	now := m.Now()
	if m.standing.sure(now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ownedFor)
	defer cancel()
	rows, err := m.Store.Standings(ctx, m.Self.String(), 0, 1)
	if err != nil || len(rows) == 0 {
		return
	}
	m.owned.mu.Lock()
	defer m.owned.mu.Unlock()
	m.owned.at = now
}

// watchOwned does so until ctx ends.
func (m *Master) watchOwned(ctx context.Context) error {
	for pause(ctx, ownedEvery) {
		m.LookAtOwned(ctx)
	}
	return nil
}
