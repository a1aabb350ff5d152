// Package backfill takes backfills on: it looks at those of the master's slots that are active, lets the store
// start as many of their dates as may run, and asks instances to stop where a cancel wants that. It owns no
// state that matters: a step is one transaction in the store, which any master may do, and do again. The end
// of an instance makes it look at once; a slow poll finds what nobody told of.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/ended"
	"github.com/porpoise/porpoise/sql"
)

const (
	// pollEvery is the safety net under what it is told, and how long a new backfill may wait.
	pollEvery = time.Second
	// stepPause keeps the many ends of a wide backfill from being a step each.
	stepPause = 20 * time.Millisecond
	// datePause is what each date that was started adds to it, so that one master starts 400 dates a second at most. With 1,000, which is
	// what two cores can do, a start of another project took a p99 of 17 ms in place of 5.
	datePause = 2500 * time.Microsecond
	// awayWait is the pause after the store did not answer.
	awayWait = 300 * time.Millisecond
	// pageSize is how many backfills are read at a time.
	pageSize = 100
)

// Store keeps backfills. Its methods may be called by several masters at once.
type Store interface {
	// ActiveBackfills returns those of which something runs or will, by id.
	ActiveBackfills(ctx context.Context, after int64, limit int) ([]int64, error)
	// StepBackfill notes which dates have ended and starts as many as may.
	StepBackfill(ctx context.Context, id int64) (sql.BackfillStep, error)
	// AddControl writes a wish about an instance; sql.ErrNotFound where there is none.
	AddControl(ctx context.Context, c sql.ControlRow) (sql.ControlRow, error)
	// BackfillStopping notes that instances have been asked to stop.
	BackfillStopping(ctx context.Context, id int64, instances []int64) error
}

// Slots says which backfills are this master's; see package intake.
type Slots interface {
	Begin() (owned []bool, epoch int64, ok bool)
	End()
}

// Config is what a Filler needs; every field is required.
type Config struct {
	Store  Store
	Slots  Slots
	Logger hclog.Logger
	// Started says that new instances have a command, and Stopped that instances have a wish.
	Started func(instances []int64)
	Stopped func(instances []int64)
}

// Filler takes backfills on; see the package.
type Filler struct {
	Config
	log     hclog.Logger
	awaited *ended.Watch // ends of workflows that matter to a backfill of this master
	begun   int          // dates that the last Once has started
}

// New returns a Filler that does nothing before Run.
func New(c Config) *Filler {
	return &Filler{Config: c, log: c.Logger.Named("backfill"), awaited: ended.NewWatch()}
}

// Finished says that an instance of a workflow has ended. It never blocks and may be called by any goroutine.
func (f *Filler) Finished(workflow int64) { f.awaited.Finished(workflow) }

// Run takes backfills on until ctx ends; a step that is on its way then finishes.
func (f *Filler) Run(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		more, err := f.Once(ctx)
		wait := stepPause + time.Duration(f.begun)*datePause
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			f.log.Warn("backfills not taken on", "error", err)
			wait = awayWait
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if more || err != nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.awaited.Heard():
		case <-poll.C:
		}
	}
}

// Once takes each backfill of this master one step on; more says that one of them could start more at once. Run
// calls it, and it must not be called beside Run. What stands against one holds up no other.
func (f *Filler) Once(ctx context.Context) (more bool, err error) {
	f.begun = 0
	owned, _, ok := f.Slots.Begin()
	if !ok {
		return false, nil
	}
	defer f.Slots.End()
	workflows := map[int64]struct{}{}
	var wrong []error
	for after, last := int64(0), false; !last; {
		ids, err := f.Store.ActiveBackfills(ctx, after, pageSize)
		if err != nil {
			return false, err
		}
		last = len(ids) < pageSize
		for _, id := range ids {
			after = id
			if !owned[id%int64(len(owned))] {
				continue
			}
			again, err := f.step(ctx, id, workflows)
			if err != nil {
				wrong = append(wrong, err)
			}
			more = more || again
		}
	}
	f.awaited.Want(workflows)
	return more, errors.Join(wrong...)
}

// step takes one backfill on. It is not cut short by a stop of the master: what was started would wait for a poll.
func (f *Filler) step(ctx context.Context, id int64, workflows map[int64]struct{}) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	ctx = context.WithoutCancel(ctx)
	step, err := f.Store.StepBackfill(ctx, id)
	if err != nil {
		return false, err
	}
	for _, w := range step.WorkflowIDs {
		workflows[w] = struct{}{}
	}
	if len(step.Started) > 0 {
		f.log.Debug("dates started", "backfill", id, "count", len(step.Started))
		f.begun += len(step.Started)
		f.Started(step.Started)
	}
	for _, instance := range step.Stop {
		_, err := f.Store.AddControl(ctx, sql.ControlRow{InstanceID: instance, Verb: dag.VerbStop, By: step.By})
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return false, fmt.Errorf("stop what backfill %d runs: %w", id, err)
		}
	}
	if len(step.Stop) > 0 {
		f.Stopped(step.Stop)
		if err := f.Store.BackfillStopping(ctx, id, step.Stop); err != nil {
			return false, err
		}
	}
	return step.More, nil
}
