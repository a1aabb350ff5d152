package sql

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/porpoise/porpoise/dag"
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
	err := s.write(ctx, func(tx *sqlTx) error {
		list, err := s.lockTimers(ctx, tx, mine)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(t Timer) bool { return !t.Enabled || t.PlannedUntil >= now.Add(timer.Step) })
		done, err := s.planTimers(ctx, tx, list, now)
		out.Tasks, out.More = done.Tasks, out.More || done.More
		return err
	})
	if err != nil {
		return out, fmt.Errorf("plan timers: %w", err)
	}
	return out, nil
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
func (s *Store) planTimers(ctx context.Context, tx *sqlTx, list []Timer, now dag.Millis) (out Planned, err error) {
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
			// A timezone is gone with a new version of the program: the timer stands still, and its list says so.
			s.log.Error("timer not planned, it is disabled", "timer", t.ID, "error", err)
			if _, err := tx.ExecContext(ctx, `UPDATE timer SET enabled = 0, changed_by = '', changed_at = ? WHERE id = ?`, now, t.ID); err != nil {
				return out, err
			}
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
		return out, fmt.Errorf("insert tasks: %w", err)
	}
	if err := b.updates(ctx, timerPlanned, plans, false); err != nil {
		return out, fmt.Errorf("note plans: %w", err)
	}
	return out, nil
}

// Why tasks are skipped.
const (
	skippedDisabled = "the timer was disabled"
	skippedUnknown  = "the timer was disabled; whether the try before has reached the receiver is not known"
	skippedDeleted  = "the timer was deleted"
	skippedLate     = "its moment had passed by more than an hour"
	skippedGap      = "no master planned what was between this moment and an hour before the next task"
)
