package master

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/registry"
)

// A worker may reach the registry and this master, but not the owner of what it runs. Then this
// master asks the owner, by a key in the registry, for the instances that run on that worker: relayed
// reports alone would leave kills and new tasks without a way. The owner gives them by
// compare-and-set, unless it hears the worker itself.

// strayFolder is where masters ask: strayFolder/<owner's node>/<worker's node>.
const strayFolder = "stray"

// strayRequest is the value of such a key.
type strayRequest struct {
	Worker string `json:"worker"`
	Owner  string `json:"owner"` // who is asked; another process of its node must not answer
	To     string `json:"to"`
}

// strays collects what the links bring, from many goroutines.
type strays struct {
	mu      sync.Mutex // guards tracker
	tracker *failover.Strays
}

func (s *strays) saw(worker rpc.Process, owner string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.Saw(failover.Stray{Worker: worker.Node, Owner: rpc.ParseProcess(owner)}, now)
}

func (s *strays) due(now time.Time) []failover.Stray {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracker.Due(now)
}

// AskForStrays asks the live owners of what strays run. Run calls it each second.
func (m *Master) AskForStrays(ctx context.Context, now time.Time) {
	if !m.standing.sure(now) {
		return
	}
	for _, stray := range m.strays.due(now) {
		if !m.standing.lists(stray.Owner.String()) {
			continue // it is dead: failover's
		}
		value, err := json.Marshal(strayRequest{Worker: stray.Worker, Owner: stray.Owner.String(), To: m.Self.String()})
		if err != nil {
			m.log.Error("stray not asked for", "worker", stray.Worker, "error", err)
			continue
		}
		key := strings.Join([]string{strayFolder, stray.Owner.Node, stray.Worker}, "/")
		call, cancel := context.WithTimeout(ctx, confirmWait)
		_, err = m.Registry.Put(call, key, value, registry.If{})
		cancel()
		m.log.Warn("worker does not reach the owner of what it runs, asked for its instances", "worker", stray.Worker, "owner", stray.Owner.String(), "error", err)
	}
}

// GiveStrays hands the instances that others asked for to them.
func (m *Master) GiveStrays(ctx context.Context, requests registry.Listing) {
	for _, entry := range requests.Entries {
		if err := m.giveStray(ctx, entry); err != nil {
			m.log.Warn("instances of a stray worker not handed over", "key", entry.Key, "error", err)
		}
		call, cancel := context.WithTimeout(ctx, confirmWait)
		err := m.Registry.Delete(call, entry.Key, registry.If{ModRevision: entry.ModRevision})
		cancel()
		if err != nil && !errors.Is(err, registry.ErrConflict) {
			m.log.Debug("request for a stray worker not deleted", "key", entry.Key, "error", err)
		}
	}
}

func (m *Master) giveStray(ctx context.Context, entry registry.Entry) error {
	var r strayRequest
	if err := json.Unmarshal(entry.Value, &r); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if r.Owner != m.Self.String() || r.To == r.Owner || !m.standing.lists(r.To) || m.engine.Hears(r.Worker) {
		return nil
	}
	ids := m.engine.On(r.Worker)
	if len(ids) == 0 {
		return nil
	}
	n, err := m.Store.HandOver(ctx, m.Self.String(), r.To, ids)
	if err != nil {
		return err
	}
	m.engine.Forget(ids)
	m.log.Info("instances of a stray worker handed over", "worker", r.Worker, "to", r.To, "count", n)
	return nil
}

// strayEvery is how often strays are looked at.
const strayEvery = time.Second

// watchStrays asks and gives until ctx ends.
func (m *Master) watchStrays(ctx context.Context) error {
	requests, err := m.Registry.Follow(ctx, strayFolder+"/"+m.Self.Node)
	if err != nil {
		return fmt.Errorf("follow requests for strays: %w", err)
	}
	tick := time.NewTicker(strayEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			m.AskForStrays(ctx, m.Now())
		case listing, ok := <-requests:
			if !ok {
				<-ctx.Done()
				return nil
			}
			m.GiveStrays(ctx, listing)
		}
	}
}
