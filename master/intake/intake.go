// Package intake takes commands: it reads those of the master's slots in the order of
// their priority and in turns of their projects, claims them, and hands the claimed instances on. A
// master without room lends its commands to the others. It owns no state that
// matters: a claim is one transaction in the store, which one master wins. A hint from
// an apiserver makes it look at once; a slow poll finds what no hint told of.
//
// A command that came while this master had its slot can't have brought another master down: it is claimed by the
// transaction that begins its instance, which saves a commit. Any other is claimed by a transaction of its own, which
// counts how often an instance was taken up without ever getting to a commit.
package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/sql"
)

const (
	// pollEvery is the safety net under the hints.
	pollEvery = time.Second
	// maxClaim bounds the commands of one claim.
	maxClaim = 200
	// maxBeside bounds them where one project floods and another does not: what the quiet one starts waits for the group that
	// begins and for its own. That took 88 ms at the median with groups of 200, and 38 ms with these, on two busy cores; it
	// costs a third of the flood's rate.
	maxBeside = 24
	// besideFor is how long after the last sight of that groups stay small.
	besideFor = 10 * time.Second
	// awayWait is the pause after the store did not answer.
	awayWait = 300 * time.Millisecond
	// lendAfter is how long there must have been no room before commands are lent: a moment's
	// lack costs less than the writes.
	lendAfter = time.Second
	// maxLent bounds the commands that are lent at a time.
	maxLent = 200
	// skew is by how much the clocks of hosts may differ, for what came before this master had a slot.
	skew = 2 * time.Second
	// endWait bounds the wait for instances that begin, at the end.
	endWait = 2 * time.Second
	// unsureWait is how old a command must be for a master that may not be registered any more: what
	// it takes, the others take from it as from the dead. If they are there, they are
	// quicker; if the registry is away for all, commands only wait for so long.
	unsureWait = 3 * time.Second
)

// Store reads and claims commands.
type Store interface {
	// Commands returns commands of the owned slots, and lent ones, and where the turns go on; a
	// zero cursor says that these are all.
	Commands(ctx context.Context, owned []bool, limit int, after sql.CommandCursor) ([]sql.Command, sql.CommandCursor, error)
	// Lend lets any master take these commands.
	Lend(ctx context.Context, ids []int64) error
	// Claim takes commands for their owner; those that another took are left out.
	Claim(ctx context.Context, claims []sql.Claim) ([]sql.Claimed, error)
	// Unbegun returns those of the instances that were never begun and have no owner, as Claim would.
	Unbegun(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
	// Load returns those of the instances that the owner owns, as Claim would have.
	Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
}

// Slots says which commands may be taken, and when.
type Slots interface {
	// Begin asks to take commands: of which slots, and in the name of which layout. Where it allows
	// that, End must follow when the claim has ended.
	Begin() (owned []bool, epoch int64, ok bool)
	End()
	// Shared says that there are masters to lend to.
	Shared() bool
	Changed() <-chan struct{}
}

// Instances takes claimed instances and says how many more it can hold.
type Instances interface {
	Room() int
	Admit(claimed []sql.Claimed)
	// Start claims instances by their first commits, and calls done once, from any goroutine, with an error for each: nil,
	// sql.ErrNotOwner where it is another's, sql.ErrUnavailable where that is not known, any other where it must be claimed by itself.
	Start(list []sql.Beginning, done func(errs []error))
}

// Config is what an Intake needs; every field but the last two is required.
type Config struct {
	Owner     string
	Store     Store
	Slots     Slots
	Instances Instances
	Logger    hclog.Logger
	Now       func() time.Time // nil is time.Now
	// Sure says whether the others see this master; nil is always.
	Sure func(now time.Time) bool
}

// Intake takes commands; see the package.
type Intake struct {
	Config
	log  hclog.Logger
	hint chan struct{}
	// Run's own:
	after  sql.CommandCursor // whose turn it is
	full   time.Time         // since when there is no room; zero while there is
	beside time.Time         // when a quiet project was last seen beside one that floods
	since  []time.Time       // since when each slot is this master's; zero while it is not
	layout int64             // the epoch of the layout that since was last held against

	taken, lost atomic.Int64 // commands

	mu      sync.Mutex         // guards what follows
	unknown []int64            // instances whose claim may or may not have been committed
	apart   map[int64]struct{} // instances that can't be claimed by their first commits
	begins  chan struct{}      // closed once those that begin have begun; nil where none do
	missed  bool               // somebody wanted a look meanwhile
}

// New returns an Intake that takes nothing before Run.
func New(c Config) *Intake {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Intake{Config: c, log: c.Logger.Named("intake"), hint: make(chan struct{}, 1), apart: map[int64]struct{}{}}
}

// Hint says that a command was written. It never blocks and may be called by any goroutine.
func (in *Intake) Hint() {
	select {
	case in.hint <- struct{}{}:
	default:
	}
}

// Run takes commands until ctx ends; a claim that is on its way then finishes.
func (in *Intake) Run(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		more, err := in.TakeOnce(ctx)
		switch {
		case ctx.Err() != nil:
			in.settle()
			return nil
		case err != nil:
			in.log.Warn("commands not taken", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(awayWait):
			}
			continue
		case more:
			continue
		}
		select {
		case <-ctx.Done():
		case <-in.hint:
		case <-in.Slots.Changed():
		case <-poll.C:
		}
	}
}

// settle waits for the instances that begin, so that they are in memory and can be handed over.
func (in *Intake) settle() {
	in.mu.Lock()
	begins := in.begins
	in.mu.Unlock()
	if begins == nil {
		return
	}
	select {
	case <-begins:
	case <-time.After(endWait):
	}
}

// TakeOnce claims one batch; more says that there may be another. While instances of an earlier one begin, it does
// nothing: their end is a hint. Run calls it, and it must not be called beside Run.
func (in *Intake) TakeOnce(ctx context.Context) (more bool, err error) {
	in.mu.Lock()
	begins := in.begins != nil
	in.missed = begins
	in.mu.Unlock()
	if begins {
		return false, nil
	}
	if err := in.resolve(ctx); err != nil {
		return false, err
	}
	// What begins here ends before this master agrees to another layout: the claim, too.
	owned, epoch, ok := in.Slots.Begin()
	if !ok {
		return false, nil
	}
	defer func() {
		if !begins {
			in.Slots.End()
		}
	}()
	in.held(owned, epoch)
	limit := min(in.group(), in.Instances.Room())
	if limit == 0 {
		return false, in.lend(ctx, owned)
	}
	in.full = time.Time{}
	commands, next, err := in.Store.Commands(ctx, owned, limit, in.after)
	if err == nil && len(commands) > 0 {
		err = failpoint.Hit("cmd.fetch.after")
	}
	if err != nil {
		return false, err
	}
	if in.Sure != nil && !in.Sure(in.Now()) {
		old := dag.MillisOf(in.Now().Add(-unsureWait))
		commands = slices.DeleteFunc(commands, func(c sql.Command) bool { return c.CreatedAt > old })
		next = sql.CommandCursor{} // the next poll looks again
	}
	if len(commands) == 0 && next == (sql.CommandCursor{}) {
		in.forgetApart() // another master has them by now
	}
	if len(commands) == limit && uneven(commands) {
		in.beside = in.Now()
	}
	fresh, others, err := in.fresh(ctx, commands, epoch)
	if err == nil && len(others) > 0 {
		err = in.claim(ctx, others, epoch)
	}
	if err != nil {
		return false, err
	}
	in.after = next
	more = next != (sql.CommandCursor{})
	if begins = len(fresh) > 0; begins {
		in.begin(fresh, more)
		more = false
	}
	return more, nil
}

// group is how many commands are taken together.
func (in *Intake) group() int {
	if in.beside.IsZero() || in.Now().Sub(in.beside) > besideFor {
		return maxClaim
	}
	return maxBeside
}

// uneven says that a project has less than half of what it would have if all had the same.
func uneven(commands []sql.Command) bool {
	of := map[int64]int{}
	for _, c := range commands {
		of[c.ProjectID]++
	}
	for _, n := range of {
		if 2*n*len(of) < len(commands) {
			return true
		}
	}
	return false
}

func (in *Intake) forgetApart() {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.apart)
}

// held notes since when each slot is this master's. Layouts are numbered one by one: where this master has not looked at one
// of them, a slot may have been another's meanwhile.
func (in *Intake) held(owned []bool, epoch int64) {
	if len(in.since) != len(owned) || epoch > in.layout+1 {
		in.since = make([]time.Time, len(owned))
	}
	in.layout = epoch
	now := in.Now()
	for slot, mine := range owned {
		switch {
		case !mine:
			in.since[slot] = time.Time{}
		case in.since[slot].IsZero():
			in.since[slot] = now
		}
	}
}

// fresh parts commands into instances that may begin with their claims, and the others.
func (in *Intake) fresh(ctx context.Context, commands []sql.Command, epoch int64) (fresh []sql.Beginning, others []sql.Command, err error) {
	young := make(map[int64]sql.Command, len(commands))
	var ids []int64
	in.mu.Lock()
	for _, c := range commands {
		_, apart := in.apart[c.InstanceID]
		since := in.since[c.Slot]
		if c.Kind != sql.CommandStart || c.Lent || apart || since.IsZero() || c.CreatedAt <= dag.MillisOf(since.Add(skew)) {
			others = append(others, c)
			continue
		}
		young[c.InstanceID] = c
		ids = append(ids, c.InstanceID)
	}
	in.mu.Unlock()
	if len(ids) == 0 {
		return nil, others, nil
	}
	list, err := in.Store.Unbegun(ctx, in.Owner, ids)
	switch {
	case errors.Is(err, sql.ErrUnavailable) || ctx.Err() != nil:
		return nil, nil, err
	case err != nil:
		// One that can't be read must not keep the others: the claim finds out which it is.
		in.log.Warn("new instances can't be read together, they are claimed by themselves", "instances", len(ids), "error", err)
		list = nil
	}
	fresh = make([]sql.Beginning, len(list))
	for i, c := range list {
		fresh[i] = sql.Beginning{Claimed: c, Claim: sql.Claim{Command: young[c.Instance.ID], Owner: in.Owner, LayoutEpoch: epoch}}
		delete(young, c.Instance.ID)
	}
	for _, id := range ids {
		if c, left := young[id]; left {
			others = append(others, c) // begun already: the claim does away with the command
		}
	}
	return fresh, others, nil
}

// begin hands over instances that begin with their claims. The slots stay as they are until that is over.
func (in *Intake) begin(fresh []sql.Beginning, more bool) {
	over := make(chan struct{})
	in.mu.Lock()
	in.begins = over
	in.mu.Unlock()
	in.Instances.Start(fresh, func(errs []error) {
		in.mu.Lock()
		again := in.missed || more
		for i, err := range errs {
			switch id := fresh[i].Instance.ID; {
			case err == nil:
				in.taken.Add(1)
				continue
			case errors.Is(err, sql.ErrNotOwner):
				in.lost.Add(1)
			case errors.Is(err, sql.ErrUnavailable):
				in.unknown = append(in.unknown, id)
			default:
				in.apart[id] = struct{}{}
			}
			again = true
		}
		in.begins = nil
		in.mu.Unlock()
		in.Slots.End()
		close(over)
		if again {
			in.Hint()
		}
	})
}

// lend lets the others take what this master has had no room for. It keeps its slots: with
// room again, it takes their commands like anybody.
func (in *Intake) lend(ctx context.Context, owned []bool) error {
	now := in.Now()
	if in.full.IsZero() {
		in.full = now
	}
	if now.Sub(in.full) < lendAfter || !in.Slots.Shared() || !slices.Contains(owned, true) {
		return nil
	}
	commands, _, err := in.Store.Commands(ctx, owned, maxLent, sql.CommandCursor{})
	if err != nil {
		return err
	}
	var ids []int64
	for _, c := range commands {
		if !c.Lent {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	in.log.Info("no room, commands lent to other masters", "count", len(ids))
	return in.Store.Lend(ctx, ids)
}

func (in *Intake) claim(ctx context.Context, commands []sql.Command, epoch int64) error {
	claims := make([]sql.Claim, len(commands))
	for i, c := range commands {
		claims[i] = sql.Claim{Command: c, Owner: in.Owner, LayoutEpoch: epoch}
	}
	// The claim is not cut short by a stop: what was claimed would have to wait for a takeover.
	claimed, err := in.Store.Claim(context.WithoutCancel(ctx), claims)
	in.mu.Lock()
	for _, c := range commands {
		delete(in.apart, c.InstanceID)
		if err != nil {
			in.unknown = append(in.unknown, c.InstanceID)
		}
	}
	in.mu.Unlock()
	if err != nil {
		return err
	}
	in.taken.Add(int64(len(claimed)))
	in.lost.Add(int64(len(commands) - len(claimed)))
	in.Instances.Admit(claimed)
	return nil
}

// Counts returns how many commands this intake has taken, and how many another master had taken before it.
func (in *Intake) Counts() (taken, lost int64) { return in.taken.Load(), in.lost.Load() }

// resolve finds out about claims that ended in an error: their transaction may have been
// committed all the same.
func (in *Intake) resolve(ctx context.Context) error {
	in.mu.Lock()
	unknown := in.unknown
	in.mu.Unlock()
	if len(unknown) == 0 {
		return nil
	}
	claimed, err := in.Store.Load(ctx, in.Owner, unknown)
	if err != nil {
		return err
	}
	in.Instances.Admit(claimed)
	in.mu.Lock()
	in.unknown = nil // nothing begins meanwhile
	in.mu.Unlock()
	return nil
}
