package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// tickEvery is how often the schedule of a world fires: often enough that faults hit its fires, and seldom enough that
// its instances are not all of the load.
const tickEvery = 5 * time.Second

// ticker is the schedule of a world. It fires through all faults until the cluster is healed; then every moment of it must
// have one outcome, and an instance of its own where that is fired.
type ticker struct {
	w       *world
	sch     sql.Schedule
	rng     *rand.Rand          // of the edits
	stopped dag.Millis          // when it was paused
	open    map[dag.Millis]bool // the fires that had no outcome then
	closed  bool                // every fire before that has its outcome
}

// newTicker makes a schedule of the workflow that leads another one. All of its late fires start, so that none may be missed.
func newTicker(w *world) (*ticker, error) {
	sch, _, err := w.db.SaveSchedule(w.ctx, sql.Schedule{
		WorkflowID: w.opt.template.named(leader).ID, Name: "tick", Enabled: true, ChangedBy: "sim",
		Spec: schedule.Spec{Cron: fmt.Sprintf("*/%d * * * * *", int(tickEvery.Seconds())), Misfire: &schedule.Misfire{Policy: schedule.RunAll}},
	}, 0)
	t := &ticker{w: w, sch: sch, rng: rand.New(rand.NewPCG(w.opt.Seed, 0xed17))}
	w.after(t.pause(), nil, "edit", t.edit)
	return t, err
}

// pause is how long it takes until somebody changes the schedule again.
func (t *ticker) pause() time.Duration {
	return time.Second + time.Duration(t.rng.Int64N(int64(30*time.Second)))
}

// edit changes the schedule, until it is paused, so that its moments stay as they are: what is due, or lies in its jitter, and
// what nobody has planned yet must still fire once.
func (t *ticker) edit() {
	if t.stopped > 0 {
		return
	}
	sch := t.sch
	sch.Spec.Jitter = []string{"", "500ms", "2s", "4s"}[t.rng.IntN(4)]
	sch.Spec.Priority = []string{"low", "high"}[t.rng.IntN(2)]
	if _, _, err := t.w.db.SaveSchedule(t.w.ctx, sch, -1); err != nil {
		t.w.fail("I34", "the schedule is not changed: %v", err)
	}
	t.w.after(t.pause(), nil, "edit", t.edit)
}

// earliest is how far before its moment a fire may start: a master fires by its own clock, which may be ahead by what
// is no leap to it before it has been compared with the database's.
const earliest = 75 * time.Second

// started holds a new instance against its moment.
func (t *ticker) started(id, moment int64, by string) {
	if early := time.UnixMilli(moment).Sub(epoch.Add(t.w.now)); moment > 0 && early > earliest {
		t.w.fail("I01", "instance %d starts %v before its moment, by %s", id, early, by)
	}
}

// stop pauses the schedule, as a person would who wants the cluster to come to rest, but not before what was due so far
// has been planned: what a pause finds unplanned never gets a row. Nor before a run has succeeded, for which tasks may wait.
func (t *ticker) stop() error {
	if t.stopped > 0 || !t.w.audit.led {
		return nil
	}
	sch, err := t.w.db.ScheduleByID(t.w.ctx, t.sch.ID)
	if err != nil || sch.PlannedUntil <= dag.MillisOf(epoch.Add(t.w.now)) {
		return err
	}
	open, _, err := t.w.db.Fires(t.w.ctx, t.sch.ID, 0, dag.MillisOf(epoch.Add(t.w.now)), schedule.Planned, sql.Page{Limit: 200})
	if err != nil {
		return err
	}
	t.open = map[dag.Millis]bool{}
	for _, f := range open {
		t.open[f.At] = true
	}
	if _, err := t.w.db.EnableSchedules(t.w.ctx, []int64{t.sch.ID}, false, "the world ends", "sim"); err != nil {
		return err
	}
	sch, err = t.w.db.ScheduleByID(t.w.ctx, t.sch.ID)
	t.stopped = sch.ChangedAt
	return err
}

// left says what of the schedule is still to happen.
func (t *ticker) left() string {
	if t.closed {
		return ""
	}
	sums, err := t.w.db.SumFires(t.w.ctx, t.sch.ID, 0, math.MaxInt64/2)
	if err != nil {
		return err.Error()
	}
	if t.closed = t.stopped > 0 && sums.Open() == 0; t.closed {
		return ""
	}
	return fmt.Sprintf("%d fires of the schedule are open", sums.Open())
}

// fired counts the instances that the schedule may have.
func (t *ticker) fired() int {
	sums, err := t.w.db.SumFires(t.w.ctx, t.sch.ID, 0, math.MaxInt64/2)
	if err != nil {
		t.w.fail("I01", "fires are not counted: %v", err)
	}
	return int(sums.States[schedule.Fired])
}

// final holds the fires against the clock: I01, a moment of a schedule runs once.
func (t *ticker) final() {
	want := dag.MillisOf(time.UnixMilli(int64(t.sch.CreatedAt)).Add(tickEvery - 1).Truncate(tickEvery))
	instances := map[int64]bool{}
	for cursor := ""; ; {
		list, next, err := t.w.db.Fires(t.w.ctx, t.sch.ID, 0, math.MaxInt64/2, "", sql.Page{Cursor: cursor, Limit: 200})
		if err != nil {
			t.w.fail("I01", "fires are not read: %v", err)
			return
		}
		for _, f := range list {
			// The clock of a host may be ahead: it fires what the pause, by the database's clock, leaves out before that.
			for f.At > want && want >= t.stopped {
				want = want.Add(tickEvery)
			}
			// What was open when the schedule was paused is skipped for that, and nothing else is.
			paused := f.State == schedule.Skipped && f.Reason == schedule.ReasonPaused && t.open[f.At]
			switch {
			case f.At != want:
				t.w.fail("I01", "a fire of %d where one of %d is to be", f.At, want)
			case f.State != schedule.Fired && !paused:
				t.w.fail("I01", "the fire of %d is %s (%s)", f.At, f.State, f.Reason)
			case f.State == schedule.Fired && (t.w.audit.instances[f.Instance] == nil || instances[f.Instance]):
				t.w.fail("I01", "the fire of %d has instance %d, which is not its own", f.At, f.Instance)
			}
			instances[f.Instance] = true
			want = want.Add(tickEvery)
		}
		if cursor = next; next == "" {
			break
		}
	}
	// The clocks of hosts differ, and the plan of the pause is the database's.
	if want < t.stopped {
		t.w.fail("I01", "there is no fire of %d, and it was paused at %d", want, t.stopped)
	}
}
