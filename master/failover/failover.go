// Package failover gives the instances of dead masters a new owner. It compares the owners
// in the store with the masters in the registry; who is an owner but no member, and stays
// so for a while, is dead. It owns nothing but the account of what it did: a takeover is a
// compare-and-set on owner and epoch, so a mistake costs work, never correctness. engine
// takes the instances; a master that leaves hands its own on by this package, too.
package failover

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// lookEvery is how often owners and members are compared.
	lookEvery = time.Second
	// absence is how long an owner must have been out of the registry. Its lease has ended by then; the
	// time is for one whose lease was lost by a hiccup and who registers again at once.
	absence = time.Second
	// compareEvery is how often what is owned is compared with what is in memory one by one, though the
	// numbers agree: memory may have what is no more its own, and lack what is.
	compareEvery = 30 * time.Second
	// maxTakeOver bounds the instances of one transaction.
	maxTakeOver = 200
	// maxOwned bounds one read of own ids.
	maxOwned = 2_000
)

// Store tells owners and moves instances from one to another.
type Store interface {
	Owners(ctx context.Context) ([]sql.OwnerCount, error)
	TakeOver(ctx context.Context, from, to string, limit int) ([]sql.Claimed, error)
	// Owned returns ids of the owner's instances above after, in order.
	Owned(ctx context.Context, owner string, after int64, limit int) ([]int64, error)
	// Load reads those of the instances that the owner owns.
	Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
	// HandOver gives instances of an owner to another and returns how many were its own.
	HandOver(ctx context.Context, from, to string, ids []int64) (int, error)
	// SaveFailover writes the account of a takeover.
	SaveFailover(ctx context.Context, f sql.FailoverRow) (sql.FailoverRow, error)
}

// Tally tells what became of the attempts of a takeover.
type Tally interface {
	Counts() (adopted, lost, waiting int)
}

// Instances takes over. Adopt passes over what it has already.
type Instances interface {
	Room() int
	Held() int
	Has(id int64) bool
	Adopt(claimed []sql.Claimed, tally Tally)
	NewTally() Tally
	// Verify compares what it has with the rows, if it has reason to, or if forced; false says that
	// the store did not tell.
	Verify(ctx context.Context, force bool) bool
}

// Config is what a Failover needs; every field without a default is required.
type Config struct {
	Self      rpc.Process
	Store     Store
	Instances Instances
	Logger    hclog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Sure says whether this master knows itself to be registered; nil is always. One that does not
	// must not judge others.
	Sure func(now time.Time) bool
	// Confirm reads the owner texts of the registered masters anew, right before somebody is called
	// dead: the list that Members brought may be old without anybody knowing. Nil is no check.
	Confirm func(ctx context.Context) (map[string]bool, error)
}

// Failover takes over from dead masters; see the package.
type Failover struct {
	Config
	log  hclog.Logger
	news chan struct{} // Members was called
	// Look's own:
	absent   map[string]time.Time // owner -> since when it is no member
	compared time.Time            // when all that is owned was last looked for in memory
	doubt    bool                 // what is owned may not be in memory: a takeover or the store got no answer
	open     map[string]*account  // owner -> the takeover that is under way

	mu       sync.Mutex      // guards what follows
	live     map[string]bool // owner texts of the registered masters; nil before the first Members
	accounts []*account      // that are still to be written
}

// New returns a Failover; it takes nothing over before the first Members.
func New(c Config) *Failover {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sure == nil {
		c.Sure = func(time.Time) bool { return true }
	}
	return &Failover{
		Config: c, log: c.Logger.Named("failover"),
		news: make(chan struct{}, 1), absent: make(map[string]time.Time), open: make(map[string]*account),
	}
}

// Members brings the owner texts of the masters that are registered. While the registry is
// away it must not be called: nobody dies then.
func (f *Failover) Members(owners map[string]bool) {
	f.mu.Lock()
	f.live = owners
	f.mu.Unlock()
	f.Hint()
}

// Hint makes Run look at once: a master that left may have handed instances over.
func (f *Failover) Hint() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Run takes over until ctx ends.
func (f *Failover) Run(ctx context.Context) error {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.news:
		case <-next.C:
		}
		next.Reset(f.Look(ctx, f.Now()))
	}
}

// Look compares the owners in the store with those who live, takes over from the dead, and takes in
// what others handed over. It returns after how long to look again: a second, or less while
// somebody is missed. Run does so; one goroutine may call it itself instead, at any time.
func (f *Failover) Look(ctx context.Context, now time.Time) (again time.Duration) {
	again = lookEvery
	f.mu.Lock()
	live := f.live
	f.mu.Unlock()
	defer f.write(ctx, now)
	owners, err := f.Store.Owners(ctx)
	if err != nil {
		f.log.Debug("owners not read", "error", err)
		f.doubt = true // the store that comes back may not be the one that went
		return again
	}
	if f.compared.IsZero() {
		f.compared = now
	} else if now.Sub(f.compared) >= compareEvery {
		f.compared, f.doubt = now, true
	}
	if f.Instances.Verify(ctx, f.doubt) {
		f.takeIn(ctx, owners)
	}
	if live == nil || !f.Sure(now) {
		// Whoever does not know itself to be registered may be looking at an old list.
		clear(f.absent)
		return again
	}
	dead := f.dead(live, owners, now)
	for _, since := range f.absent {
		if left := absence - now.Sub(since); left > 0 {
			again = min(again, left)
		}
	}
	if len(dead) == 0 {
		return again
	}
	if f.Confirm != nil {
		if live, err = f.Confirm(ctx); err != nil {
			f.log.Debug("members not read again, nobody is taken over", "error", err)
			return again
		}
		dead = slices.DeleteFunc(dead, func(owner string) bool { return live[owner] })
	}
	for _, owner := range dead {
		f.takeOver(ctx, owner, now)
	}
	return again
}

// takeIn takes in what this master owns without having it: after a takeover whose answer was lost, or
// a handover by a master that left.
func (f *Failover) takeIn(ctx context.Context, owners []sql.OwnerCount) {
	self := f.Self.String()
	owned := 0
	for _, o := range owners {
		if o.Owner == self {
			owned = o.Instances
		}
	}
	if !f.doubt && owned <= f.Instances.Held() {
		return
	}
	for after := int64(0); ; {
		ids, err := f.Store.Owned(ctx, self, after, maxOwned)
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
		for chunk := range slices.Chunk(ids, maxTakeOver) {
			if chunk = chunk[:min(len(chunk), f.Instances.Room())]; len(chunk) == 0 {
				return // the rest when there is room
			}
			claimed, err := f.Store.Load(ctx, self, chunk)
			if err != nil {
				f.log.Debug("own instances not loaded", "error", err)
				return
			}
			f.Instances.Adopt(claimed, nil)
		}
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
		if f.own(o.Owner) || now.Sub(since) >= absence {
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

// own says that an owner was an earlier process of this node.
func (f *Failover) own(owner string) bool { return strings.HasPrefix(owner, f.Self.Node+":") }

// takeOver takes what a dead owner has, as far as there is room.
func (f *Failover) takeOver(ctx context.Context, owner string, now time.Time) {
	a := f.account(owner, now)
	var taken []int64
	for ctx.Err() == nil {
		limit := min(maxTakeOver, f.Instances.Room())
		if limit == 0 {
			f.log.Warn("no room for the instances of a dead master", "from", owner)
			break
		}
		claimed, err := f.Store.TakeOver(ctx, owner, f.Self.String(), limit)
		if err != nil {
			f.log.Warn("instances not taken over", "from", owner, "error", err)
			f.doubt = true
			break
		}
		f.Instances.Adopt(claimed, a.tally)
		for i := range claimed {
			taken = append(taken, claimed[i].Instance.ID)
		}
		if len(claimed) < limit {
			break
		}
	}
	f.took(a, taken)
	if len(taken) == 0 && a.row.Instances == 0 {
		delete(f.open, owner)
		return
	}
	f.log.Info("instances taken over", "from", owner, "count", len(taken))
}
