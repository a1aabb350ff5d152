package sql

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/dag/timer"
)

const (
	// planCandidates is how many timers one look for what is to be planned reads.
	planCandidates = 500
	// planTimersAtOnce bounds the timers of one transaction.
	planTimersAtOnce = 32
	// planRows bounds the tasks of one transaction, and those of one timer in it: it holds up the writers of SQLite for
	// some milliseconds. Two windows of a timer of every second have 600.
	planRows = 1000
)

// Planned is what one step of planning has written.
type Planned struct {
	Tasks int
	// More says that the next step has something to do, and Urgent that it is of timers whose plan runs out.
	More, Urgent bool
}

// brokenTimer is one that can't be planned any more.
type brokenTimer struct {
	timer Timer
	why   string
}

// planUrgent is how near the end of a plan is urgent.
const planUrgent = timer.Step / 4

// PlanTimers writes the next tasks of enabled timers whose plan ends within a window, those first whose ends first.
// owned says by the slot of its id, one of as many as the cluster has, whether a timer is the caller's. Each call is
// one transaction of some hundred rows; a second planner of the same timers finds them planned. now is by a clock that the
// caller trusts: one that leaps would leave out what is between, or plan nothing more.
func (s *Store) PlanTimers(ctx context.Context, owned []bool, now dag.Millis) (Planned, error) {
	type candidate struct {
		id    int64
		until dag.Millis
	}
	var mine []int64
	var out Planned
	after := candidate{until: math.MinInt64}
	for {
		some, err := collect(ctx, s, func(scan func(...any) error) (c candidate, err error) { return c, scan(&c.id, &c.until) },
			`SELECT id, planned_until FROM timer WHERE enabled = 1 AND planned_until < ? AND (planned_until > ? OR planned_until = ? AND id > ?)
				ORDER BY planned_until, id LIMIT ?`, now.Add(timer.Step), after.until, after.until, after.id, planCandidates)
		if err != nil {
			return out, fmt.Errorf("read timers to plan: %w", err)
		}
		for _, c := range some {
			after = c
			if owned[c.id%int64(len(owned))] {
				mine = append(mine, c.id)
				out.Urgent = out.Urgent || c.until.Sub(now) < planUrgent
			}
		}
		if len(mine) > 0 || len(some) < planCandidates {
			out.More = len(some) == planCandidates
			break
		}
	}
	if len(mine) == 0 {
		return Planned{}, nil
	}
	if len(mine) > planTimersAtOnce {
		mine, out.More = mine[:planTimersAtOnce], true
	}
	slices.Sort(mine)
	var broken []brokenTimer
	err := s.write(ctx, func(tx *sqlTx) error {
		list, err := s.lockTimers(ctx, tx, mine)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(t Timer) bool { return !t.Enabled || t.PlannedUntil >= now.Add(timer.Step) })
		done, gone, err := s.planTimers(ctx, tx, list, now)
		out.Tasks, out.More, broken = done.Tasks, out.More || done.More, gone
		return err
	})
	for i := 0; err == nil && i < len(broken); i++ {
		err = s.breakTimer(ctx, &broken[i], now)
	}
	if err != nil {
		return out, fmt.Errorf("plan timers: %w", err)
	}
	return out, nil
}

// maxTimerWhy is what is kept of the reason why a timer is broken, in characters.
const maxTimerWhy = 500

// breakTimer disables a timer that can't be planned any more, with the reason, and tells its project's listeners, both or neither.
func (s *Store) breakTimer(ctx context.Context, b *brokenTimer, now dag.Millis) error {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return err
	}
	why := []rune(b.why)
	text := string(why[:min(len(why), maxTimerWhy)])
	return s.write(ctx, func(tx *sqlTx) error {
		res, err := tx.ExecContext(ctx, `UPDATE timer SET enabled = 0, why = ?, changed_by = '', changed_at = ? WHERE id = ? AND enabled = 1`, text, now, b.timer.ID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err // another planner was first, or somebody has disabled it
		}
		s.log.Error("timer not planned, it is disabled", "timer", b.timer.ID, "error", b.why)
		return (&batch{s: s, tx: plainTx{tx, s}}).alert(ctx, &Alert{
			ID: id, ProjectID: b.timer.ProjectID, Kind: listen.TimerBroken, Subject: b.timer.Name, Message: text, CreatedAt: now,
		})
	})
}

// lockTimers locks and reads timers in the order of their ids.
func (s *Store) lockTimers(ctx context.Context, tx *sqlTx, ids []int64) (out []Timer, err error) {
	err = eachChunk(ids, func(chunk []any) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+timerColumns+` FROM timer t WHERE t.id IN (`+marks(len(chunk))+`) ORDER BY t.id`+s.dial.forUpdate(), chunk...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			t, err := scanTimer(rows.Scan)
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		return rows.Err()
	})
	return out, err
}

var timerTaskInsert = &table{
	name: "timer_task",
	cols: []string{"timer_id", "planned_at", "due_at", "bucket", "open", "state", "tries", "claimed_by", "called_at", "cost_ms", "status", "response", "error"},
}

var timerPlanned = &table{
	name: "timer", keys: []string{"id"}, cols: []string{"id", "planned_until"}, sets: []string{"planned_until"},
}

// planTimers writes the tasks of locked timers from where their plan ends up to two windows from now, planRows at
// most. A plan that ended longer ago than a call may be late goes on from then, and says so in a row of its own.
func (s *Store) planTimers(ctx context.Context, tx *sqlTx, list []Timer, now dag.Millis) (out Planned, broken []brokenTimer, err error) {
	until := now.Add(2 * timer.Step)
	var tasks, plans []any
	for i := range list {
		t := &list[i]
		room := planRows - out.Tasks
		if room <= 0 {
			out.More = true
			break
		}
		plan, err := t.Spec.Compile()
		if err != nil {
			// A timezone is gone with a new version of the program. Whoever plans breaks the timer; one that is enabled is found then.
			broken = append(broken, brokenTimer{*t, err.Error()})
			continue
		}
		from, row := t.PlannedUntil, func(at dag.Millis, state timer.State, why string) {
			tasks = append(tasks, t.ID, int64(at), int64(at), int64(schedule.Bucket(t.ID)), flag(state.Open()), string(state), int64(0), "", int64(0), int64(0), int64(0), "", why)
			out.Tasks++
		}
		if oldest := now.Add(-timer.MaxLate); from < oldest {
			if first, _ := plan.Fires(from, oldest, 1); len(first) > 0 {
				row(first[0], timer.Skipped, skippedGap)
			}
			from = oldest
		}
		fires, next := plan.Fires(from, until, room)
		for _, at := range fires {
			row(at, timer.Planned, "")
		}
		out.More = out.More || next < until
		plans = append(plans, t.ID, int64(next))
	}
	b := &batch{s: s, tx: plainTx{tx, s}}
	if err := b.rows(ctx, timerTaskInsert, s.dial.insertNew, tasks); err != nil {
		return out, nil, fmt.Errorf("insert tasks: %w", err)
	}
	if err := b.updates(ctx, timerPlanned, plans, false); err != nil {
		return out, nil, fmt.Errorf("note plans: %w", err)
	}
	return out, broken, nil
}

// Why tasks are skipped.
const (
	skippedDisabled = "the timer was disabled"
	skippedUnknown  = "the timer was disabled; whether the try before has reached the receiver is not known"
	skippedDeleted  = "the timer was deleted"
	skippedLate     = "its moment had passed by more than an hour"
	skippedGap      = "no master planned what was between this moment and an hour before the next task"
)
