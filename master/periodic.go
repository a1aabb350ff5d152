package master

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/master/schedule"
	"github.com/porpoise/porpoise/master/timer"
)

// remindEvery keeps a notice of waiting work from running out at the workers, where it
// counts for two seconds.
const remindEvery = time.Second

const (
	// sweepEvery is how often rows that have outlived their use are deleted; they live a day.
	sweepEvery = time.Minute
	// placesEvery is how often places are looked for that were given back without a word: the
	// transactions leave none, so that this is for what nobody thought of.
	placesEvery = 10 * time.Second
	// retireEvery is how often instances are looked for that need not be kept any more.
	retireEvery = 10 * time.Minute
	// sweepFor bounds one sweep of each kind: what is left waits for the next. Half of it is others', so that a master deletes some
	// ten thousand rows each second of the other half.
	sweepFor = 20 * time.Second
	// daysKept is how long the sums of days are kept apart, and then as one: of a year before they can be compared with this one.
	daysKept = 400 * 24 * time.Hour
	// DefaultFiresKept is how long the fires of schedules have rows of their own, where nothing else is said; their sums stay.
	DefaultFiresKept = 30 * 24 * time.Hour
)

// Sweeper deletes a small batch of rows that have outlived their use and returns how many.
type Sweeper interface {
	Sweep(ctx context.Context) (int, error)
	// Retire deletes a batch of the instances and backfills that ended until a moment.
	Retire(ctx context.Context, until dag.Millis) (int, error)
	// Surplus returns the workflows that have more instances than each, of which RetireSurplus deletes a batch.
	Surplus(ctx context.Context, each int) ([]int64, error)
	RetireSurplus(ctx context.Context, workflow int64, each int) (int, error)
	// SweepPlaces mends what no transaction should have left behind under the limits, and returns how much.
	SweepPlaces(ctx context.Context) (int, error)
	// SweepFires deletes a small batch of fires that were planned before a moment, and keeps their sums.
	SweepFires(ctx context.Context, before dag.Millis) (int, error)
	// SweepMinutes forgets how fires were spread that were planned before a moment.
	SweepMinutes(ctx context.Context, before dag.Millis) error
	// SurplusFires returns the schedules that have more fires than each, of which SweepSurplusFires deletes a batch.
	SurplusFires(ctx context.Context, each int) ([]int64, error)
	SweepSurplusFires(ctx context.Context, schedule int64, each int) (int, error)
	// FoldDays folds a batch of the sums of days before a moment into one.
	FoldDays(ctx context.Context, before dag.Millis) (int, error)
}

// periodic runs what a master does now and then, until ctx ends.
func (m *Master) periodic(ctx context.Context) error {
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		return fmt.Errorf("make scheduler: %w", err)
	}
	for _, job := range []struct {
		name  string
		every time.Duration
		do    func()
	}{
		{"remind", remindEvery, m.placer.Remind},
		{"sweep", sweepEvery, func() { m.sweep(ctx) }},
		{"places", placesEvery, func() { m.sweepPlaces(ctx) }},
		{"plan timers", timer.PlanEvery, func() { m.try(ctx, "timers not planned", m.timers.Plan) }},
		{"load timers", timer.LoadEvery, func() { m.try(ctx, "tasks of timers not read", m.timers.Load) }},
		{"sweep timers", timer.SweepEvery, func() { m.try(ctx, "old tasks of timers not deleted", m.timers.Sweep) }},
		{"retire", retireEvery, func() { m.retire(ctx) }},
		{"plan schedules", schedule.PlanEvery, func() { m.plan(ctx) }},
	} {
		// A run that is late is skipped, never run beside the one before.
		_, err := scheduler.NewJob(gocron.DurationJob(job.every), gocron.NewTask(job.do),
			gocron.WithName(job.name), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if err != nil {
			return fmt.Errorf("schedule %s: %w", job.name, err)
		}
	}
	scheduler.Start()
	<-ctx.Done()
	if err := scheduler.Shutdown(); err != nil {
		m.log.Warn("periodic work did not end in time", "error", err)
	}
	return nil
}

// sweep deletes old rows batch by batch.
func (m *Master) sweep(ctx context.Context) {
	old := dag.MillisOf(m.Now().Add(-m.FiresKept))
	for _, sweep := range []func(context.Context) (int, error){
		m.Store.Sweep,
		func(ctx context.Context) (int, error) { return m.Store.SweepFires(ctx, old) },
		func(ctx context.Context) (int, error) { return 0, m.Store.SweepMinutes(ctx, old) },
	} {
		for began := time.Now(); time.Since(began) < sweepFor; {
			start := time.Now()
			n, err := sweep(ctx)
			if err != nil {
				m.log.Debug("old rows not deleted", "error", err)
				return
			}
			if n == 0 || !pause(ctx, time.Since(start)) {
				break
			}
		}
	}
}

// plan writes the fires of schedules ahead until none of this master's needs it.
func (m *Master) plan(ctx context.Context) {
	err := guard.Do(m.log, "plan", func() error {
		for ctx.Err() == nil {
			if more, err := m.planner.Once(ctx); err != nil || !more {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		m.log.Warn("schedules not planned", "error", err)
	}
}

func (m *Master) sweepPlaces(ctx context.Context) {
	n, err := m.Store.SweepPlaces(ctx)
	if err != nil {
		m.log.Debug("places not looked through", "error", err)
		return
	}
	if n > 0 {
		m.log.Warn("places mended", "count", n)
		m.intake.Hint()
	}
}

// try does what comes again soon: that it could not be done is no more than worth a word.
func (m *Master) try(ctx context.Context, failed string, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil {
		m.log.Debug(failed, "error", err)
	}
}
