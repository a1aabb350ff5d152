package schedule

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/sql"
)

const (
	// PlanEvery is how often a master looks for what is to be planned, and so how long a new schedule may wait.
	PlanEvery = time.Second
	// leadParts is the part of the horizon that is planned when a schedule is planned on.
	leadParts = 5
	// maxPlanned bounds the schedules of one transaction, and maxStretch the fires of one of them.
	maxPlanned = 100
	maxStretch = 1000
	// maxLeap is how far the plan of a schedule that does not fire for long goes: its timezone may get other rules.
	maxLeap = 24 * time.Hour
)

// Planner writes the fires of schedules ahead; see the package.
type Planner struct {
	Config
}

// NewPlanner returns a Planner that does nothing before Once.
func NewPlanner(c Config) *Planner {
	c.Logger = c.Logger.Named("planner")
	if c.Horizon == 0 {
		c.Horizon = defaultHorizon
	}
	return &Planner{c}
}

// Once plans schedules of this master whose plan comes to its end, the farthest behind first; more says that others
// are left. It must not be called beside itself.
func (p *Planner) Once(ctx context.Context) (more bool, err error) {
	owned, _, ok := p.Slots.Begin()
	if !ok {
		return false, nil
	}
	defer p.Slots.End()
	now, err := p.Store.Clock(ctx) // by a clock of its own that is wrong a master would plan nothing, or years
	if err != nil {
		return false, err
	}
	list, more, err := p.Store.UnplannedSchedules(ctx, now.Add(p.Horizon/leadParts), maxPlanned, func(id int64) bool { return owned[id%int64(len(owned))] })
	if err != nil {
		return false, err
	}
	ahead := p.Horizon / leadParts
	if len(list) > 0 {
		ahead = list[0].PlannedUntil.Sub(now)
	}
	p.Figures.reaches(ahead)
	var stretches []sql.Stretch
	fires := 0
	for i := range list {
		plan, err := p.compile(ctx, &list[i])
		if err != nil {
			return false, err
		}
		if plan == nil {
			continue
		}
		st := sql.Stretch{Schedule: list[i]}
		broken := guard.Do(p.Logger, "rules of a schedule", func() error {
			st.Fires, st.Until = stretch(plan, st.Schedule.PlannedUntil, now.Add(p.Horizon))
			return nil
		})
		if broken != nil {
			if err := p.pause(ctx, &list[i], broken); err != nil {
				return false, err
			}
			continue
		}
		stretches = append(stretches, st)
		if fires += len(st.Fires); len(st.Fires) == maxStretch {
			more = true // it is behind
		}
		if fires > maxPlanned*10 {
			more = true
			break
		}
	}
	if len(stretches) == 0 {
		return more, nil
	}
	return more, p.write(ctx, stretches)
}

// stretch returns the next fires of a plan until a moment, and until when they are all that there are.
func stretch(plan *rules.Plan, from, until dag.Millis) ([]rules.Fire, dag.Millis) {
	fires, planned := plan.Fires(from, until, maxStretch)
	if planned != until {
		return fires, planned
	}
	// There is nothing until the next fire: a schedule that fires once a day is not looked at each minute.
	if next, ok := plan.Next(until - 1); ok {
		planned = min(next.At, until.Add(maxLeap))
	}
	return fires, planned
}

func (p *Planner) write(ctx context.Context, stretches []sql.Stretch) error {
	if err := failpoint.Hit("sched.plan.before"); err != nil {
		return err
	}
	n, err := p.Store.PlanFires(ctx, stretches)
	if err != nil {
		return err
	}
	p.Figures.plans(n)
	p.Logger.Debug("fires planned", "schedules", len(stretches), "fires", n)
	return failpoint.Hit("sched.plan.after")
}
