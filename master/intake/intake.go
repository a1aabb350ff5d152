// Package intake takes commands: it reads those of the master's slots in the order of
// their priority, claims them, and hands the claimed instances on. It owns no state that
// matters: a claim is one transaction in the store, which one master wins. A hint from
// an apiserver makes it look at once; a slow poll finds what no hint told of.
package intake

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/sql"
)

const (
	// pollEvery is the safety net under the hints.
	pollEvery = time.Second
	// maxClaim bounds the commands of one claim.
	maxClaim = 200
	// awayWait is the pause after the store did not answer.
	awayWait = 300 * time.Millisecond
)

// Store reads and claims commands.
type Store interface {
	// Commands returns commands of the owned slots by priority and id, and where the walk
	// ended; a zero cursor is its end.
	Commands(ctx context.Context, owned []bool, limit int, after sql.CommandCursor) ([]sql.Command, sql.CommandCursor, error)
	// Claim takes commands for their owner; those that another took are left out.
	Claim(ctx context.Context, claims []sql.Claim) ([]sql.Claimed, error)
	// Load returns those of the instances that the owner owns, as Claim would have.
	Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
}

// Slots says whose commands to take.
type Slots interface {
	Owned() []bool
	Changed() <-chan struct{}
}

// Instances takes claimed instances and says how many more it can hold.
type Instances interface {
	Room() int
	Admit(claimed []sql.Claimed)
}

// Config is what an Intake needs; every field is required.
type Config struct {
	Owner     string
	Store     Store
	Slots     Slots
	Instances Instances
	Logger    hclog.Logger
}

// Intake takes commands; see the package.
type Intake struct {
	Config
	log  hclog.Logger
	hint chan struct{}
	// Run's own:
	after   sql.CommandCursor // where the walk over the commands goes on
	unknown []int64           // instances whose claim may or may not have been committed
}

// New returns an Intake that takes nothing before Run.
func New(c Config) *Intake {
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
		more, err := in.take(ctx)
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

// take claims one batch; more says that there may be another.
func (in *Intake) take(ctx context.Context) (more bool, err error) {
	if err := in.resolve(ctx); err != nil {
		return false, err
	}
	limit := min(maxClaim, in.Instances.Room())
	owned := in.Slots.Owned()
	if limit == 0 || !owns(owned) {
		return false, nil
	}
	commands, next, err := in.Store.Commands(ctx, owned, limit, in.after)
	if err != nil {
		return false, err
	}
	in.after = next
	if len(commands) > 0 {
		// What comes next may rank before what was just taken.
		in.after = sql.CommandCursor{}
		err = in.claim(ctx, commands)
	}
	return next != (sql.CommandCursor{}), err
}

func (in *Intake) claim(ctx context.Context, commands []sql.Command) error {
	claims := make([]sql.Claim, len(commands))
	for i, c := range commands {
		claims[i] = sql.Claim{Command: c, Owner: in.Owner}
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

func owns(owned []bool) bool {
	for _, o := range owned {
		if o {
			return true
		}
	}
	return false
}
