// Package intake takes commands: it reads those of the master's slots in the order of
// their priority and in turns of their projects, claims them, and hands the claimed instances on. A
// master without room lends its commands to the others. It owns no state that
// matters: a claim is one transaction in the store, which one master wins. A hint from
// an apiserver makes it look at once; a slow poll finds what no hint told of.
package intake

import (
	"context"
	"slices"
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
	// awayWait is the pause after the store did not answer.
	awayWait = 300 * time.Millisecond
	// lendAfter is how long there must have been no room before commands are lent: a moment's
	// lack costs less than the writes.
	lendAfter = time.Second
	// maxLent bounds the commands that are lent at a time.
	maxLent = 200
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
	after   sql.CommandCursor // whose turn it is
	unknown []int64           // instances whose claim may or may not have been committed
	full    time.Time         // since when there is no room; zero while there is
}

// New returns an Intake that takes nothing before Run.
func New(c Config) *Intake {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Intake{Config: c, log: c.Logger.Named("intake"), hint: make(chan struct{}, 1)}
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
			return nil
		case err != nil:
			in.log.Warn("commands not taken", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(awayWait):
			}
			continue
		case more:
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-in.hint:
		case <-in.Slots.Changed():
		case <-poll.C:
		}
	}
}

// TakeOnce claims one batch; more says that there may be another. Run calls it, and it must not be
// called beside Run.
func (in *Intake) TakeOnce(ctx context.Context) (more bool, err error) {
	if err := in.resolve(ctx); err != nil {
		return false, err
	}
	// What begins here ends before this master agrees to another layout: the claim, too.
	owned, epoch, ok := in.Slots.Begin()
	if !ok {
		return false, nil
	}
	defer in.Slots.End()
	limit := min(maxClaim, in.Instances.Room())
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
	if len(commands) > 0 {
		if err := in.claim(ctx, commands, epoch); err != nil {
			return false, err
		}
	}
	in.after = next
	return next != (sql.CommandCursor{}), nil
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
	if err != nil {
		for _, c := range commands {
			in.unknown = append(in.unknown, c.InstanceID)
		}
		return err
	}
	in.Instances.Admit(claimed)
	return nil
}

// resolve finds out about claims that ended in an error: their transaction may have been
// committed all the same.
func (in *Intake) resolve(ctx context.Context) error {
	if len(in.unknown) == 0 {
		return nil
	}
	claimed, err := in.Store.Load(ctx, in.Owner, in.unknown)
	if err != nil {
		return err
	}
	in.Instances.Admit(claimed)
	in.unknown = nil
	return nil
}
