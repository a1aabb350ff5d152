// Package failover gives the instances of dead masters a new owner. It compares the owners
// in the store with the masters in the registry; who is an owner but no member, and stays
// so for a while, is dead. It owns nothing: a takeover is a compare-and-set on owner and
// epoch, so a mistake costs work, never correctness. engine takes the instances.
package failover

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// lookEvery is how often owners and members are compared.
	lookEvery = time.Second
	// absence is how long an owner must have been out of the registry: its lease has
	// ended by then, and a master that is just joining has its key.
	absence = 2 * time.Second
	// maxTakeOver bounds the instances of one transaction.
	maxTakeOver = 200
)

// Store tells owners and moves instances from one to another.
type Store interface {
	Owners(ctx context.Context) ([]sql.OwnerCount, error)
	TakeOver(ctx context.Context, from, to string, limit int) ([]sql.Claimed, error)
	// Owned returns ids of the owner's instances above after, in order.
	Owned(ctx context.Context, owner string, after int64, limit int) ([]int64, error)
	// Load reads those of the instances that the owner owns.
	Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
}

// Instances takes over. Admit passes over what it has already.
type Instances interface {
	Room() int
	Has(id int64) bool
	Admit(claimed []sql.Claimed)
}

// Config is what a Failover needs; every field is required.
type Config struct {
	Self      rpc.Process
	Store     Store
	Instances Instances
	Logger    hclog.Logger
}

// Failover takes over from dead masters; see the package.
type Failover struct {
	Config
	log     hclog.Logger
	members chan map[string]bool
	absent  map[string]time.Time // owner -> since when it is no member
	doubt   bool                 // a takeover got no answer: it may have been written all the same
}

// New returns a Failover; it takes nothing over before the first Members.
func New(c Config) *Failover {
	return &Failover{
		Config: c, log: c.Logger.Named("failover"),
		members: make(chan map[string]bool, 1), absent: make(map[string]time.Time),
	}
}

// Members brings the owner texts of the masters that are registered. While the registry is
// away it must not be called: nobody dies then.
func (f *Failover) Members(owners map[string]bool) {
	for {
		select {
		case f.members <- owners:
			return
		case <-f.members: // nobody has looked at the list before: it is of no use any more
		}
	}
}

// Run takes over until ctx ends.
func (f *Failover) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var live map[string]bool
	for {
		select {
		case <-ctx.Done():
			return nil
		case live = <-f.members:
		case <-tick.C:
		}
		if live == nil {
			continue
		}
		owners, err := f.Store.Owners(ctx)
		if err != nil {
			f.log.Debug("owners not read", "error", err)
			continue
		}
		if f.doubt {
			f.resolve(ctx)
		}
		for _, owner := range f.dead(live, owners, time.Now()) {
			f.takeOver(ctx, owner)
		}
	}
}

// resolve takes in what this master owns without having it, after a takeover whose answer was lost.
func (f *Failover) resolve(ctx context.Context) {
	self := f.Self.String()
	for after := int64(0); ; {
		ids, err := f.Store.Owned(ctx, self, after, maxTakeOver)
		if err != nil {
			f.log.Debug("own instances not read", "error", err)
			return
		}
		if len(ids) == 0 {
			f.doubt = false
			return
		}
		after = ids[len(ids)-1]
		ids = slices.DeleteFunc(ids, f.Instances.Has)
		claimed, err := f.Store.Load(ctx, self, ids)
		if err != nil {
			f.log.Debug("own instances not loaded", "error", err)
			return
		}
		f.Instances.Admit(claimed)
	}
}

// dead returns the owners that are no members for long enough. An earlier incarnation of this
// very node needs no wait: this process holds the lock of its data folder.
func (f *Failover) dead(live map[string]bool, owners []sql.OwnerCount, now time.Time) []string {
	var dead []string
	seen := make(map[string]bool, len(owners))
	for _, o := range owners {
		seen[o.Owner] = true
		if live[o.Owner] || o.Owner == f.Self.String() {
			delete(f.absent, o.Owner)
			continue
		}
		since, known := f.absent[o.Owner]
		if !known {
			since = now
			f.absent[o.Owner] = now
		}
		if strings.HasPrefix(o.Owner, f.Self.Node+":") || now.Sub(since) >= absence {
			dead = append(dead, o.Owner)
		}
	}
	for owner := range f.absent {
		if !seen[owner] {
			delete(f.absent, owner)
		}
	}
	return dead
}

func (f *Failover) takeOver(ctx context.Context, owner string) {
	taken := 0
	for ctx.Err() == nil {
		limit := min(maxTakeOver, f.Instances.Room())
		if limit == 0 {
			break
		}
		claimed, err := f.Store.TakeOver(ctx, owner, f.Self.String(), limit)
		if err != nil {
			f.log.Warn("instances not taken over", "from", owner, "error", err)
			f.doubt = true
			break
		}
		f.Instances.Admit(claimed)
		taken += len(claimed)
		if len(claimed) < limit {
			break
		}
	}
	if taken > 0 {
		f.log.Info("instances taken over", "from", owner, "count", taken)
	}
}
