// Package schedule fires the schedules of a cluster. A planner writes the fires of the schedules of this master's slots
// ahead, as rows; a firer reads what is due in the next seconds and starts it at its moment. Neither owns a state that
// matters: a fire has its outcome by one transaction in the store, which any master may do, and do again, so two that
// believe to own a slot cost work and nothing else. When a schedule fires, and what becomes of late fires, is decided
// by package dag/schedule.
package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/sql"
)

// Store keeps schedules and their fires. Its methods may be called by several masters at once.
type Store interface {
	// UnplannedSchedules returns enabled schedules whose fires have rows only before a moment.
	UnplannedSchedules(ctx context.Context, before dag.Millis, limit int, owns func(id int64) bool) ([]sql.Schedule, bool, error)
	// PlanFires writes the next fires of schedules.
	PlanFires(ctx context.Context, stretches []sql.Stretch) (int, error)
	// ScheduleCalendars returns the calendars of a project by their folded names.
	ScheduleCalendars(ctx context.Context, projectID int64) (map[string]rules.Calendar, error)
	// BreakSchedule pauses a schedule that can't be planned any more, with an alert.
	BreakSchedule(ctx context.Context, sch sql.Schedule, why, by string) error
	// PlanEnds writes the fires of the ends that schedules wait for.
	PlanEnds(ctx context.Context, limit int, owns func(id int64) bool) (fires []sql.Verdict, more bool, err error)
	// DueFires returns the fires that are planned and due between two moments, in order.
	DueFires(ctx context.Context, from, until dag.Millis, limit int) ([]sql.DueFire, error)
	// OverdueFires returns one fire of each schedule of which some are late, and what waits.
	OverdueFires(ctx context.Context, now dag.Millis, limit int, owns func(id int64, due dag.Millis) bool) (late, waiting []sql.DueFire, err error)
	// MinuteBuckets returns onto how many buckets the fires of a minute are folded.
	MinuteBuckets(ctx context.Context, minute int64) (int, error)
	// SchedulesByID returns those of some schedules that are there.
	SchedulesByID(ctx context.Context, ids []int64) ([]sql.Schedule, error)
	// LateFires returns the open fires of schedules that are planned from a moment on and were due before another.
	LateFires(ctx context.Context, ids []int64, from, before dag.Millis) (map[int64][]sql.Fire, error)
	// SettleFires gives fires their outcomes and starts the instances of those that fire.
	SettleFires(ctx context.Context, verdicts []sql.Verdict, master string, epoch int64) (sql.Settlement, error)
	// Clock returns the time of the database.
	Clock(ctx context.Context) (dag.Millis, error)
}

// Slots says which schedules and which slices of minutes are this master's; see package intake.
type Slots interface {
	Begin() (owned []bool, epoch int64, ok bool)
	End()
}

// Config is what a Planner and a Firer need; fields without a remark are required.
type Config struct {
	// Master names this one in the outcomes that it sets.
	Master string
	Store  Store
	Slots  Slots
	Logger hclog.Logger
	Now    func() time.Time // the clock on the wall, with a monotonic reading
	// Confirmed is told, every few seconds, that the database's clock shows the same as this one; nil is nobody.
	Confirmed func()
	// Figures count what is done; nil counts nothing.
	Figures *Figures
	// Horizon is how far ahead fires have their rows; zero is 10 minutes.
	Horizon time.Duration
	// Started says that new instances have a command, and Stopped that instances have a wish.
	Started func(instances []int64)
	Stopped func(instances []int64)
}

// defaultHorizon is short, since a change of a schedule deletes what lies ahead, and long enough for a database that is
// slow to be ahead of.
const defaultHorizon = 10 * time.Minute

func (c *Config) now() dag.Millis { return dag.MillisOf(c.Now()) }

// compile makes a schedule ready. One that can't be, say because its timezone is gone from the rules of this binary, is
// paused and says why: it must hold up no other, and nobody may believe that it fires.
func (c *Config) compile(ctx context.Context, sch *sql.Schedule) (plan *rules.Plan, err error) {
	var calendars map[string]rules.Calendar
	if sch.Spec.Calendar != nil {
		if calendars, err = c.Store.ScheduleCalendars(ctx, sch.ProjectID); err != nil {
			return nil, err
		}
	}
	broken := guard.Do(c.Logger, "rules of a schedule", func() error {
		made, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
		if len(wrong) > 0 {
			return fmt.Errorf("%s: %s", wrong[0].Field, wrong[0].Message)
		}
		plan = made
		return nil
	})
	if broken != nil {
		return nil, c.pause(ctx, sch, broken)
	}
	return plan, nil
}

// maxWhy is what the column of why takes.
const maxWhy = 500

func (c *Config) pause(ctx context.Context, sch *sql.Schedule, broken error) error {
	c.Logger.Error("schedule paused, it can't be planned", "schedule", sch.ID, "name", sch.Name, "project", sch.Project, "workflow", sch.Workflow, "error", broken)
	why := []rune("it can't be planned: " + broken.Error())
	return c.Store.BreakSchedule(ctx, *sch, string(why[:min(len(why), maxWhy)]), c.Master)
}
