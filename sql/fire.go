package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// Fire is one moment of a schedule, from when it is planned until long after it came to its outcome.
type Fire struct {
	Source   int64      // the schedule
	At       dag.Millis // when it was planned: the schedule time of its instance, see Trigger
	Due      dag.Millis // At and its jitter
	Revision int64      // of the schedule that planned it
	State    schedule.State
	Reason   string // of an outcome that is not fired
	Instance int64  // 0 until it fired; of one that was missed or skipped, the one that RunFires started in its place
	FiredAt  dag.Millis
	Master   string // which set the outcome
	Epoch    int64  // of the layout of slots by which it did
	// After is the instance whose end it is, 0 for the fire of a moment; At is when that ended, and ScheduleTime the
	// moment that it was about, 0 for none.
	After        int64
	ScheduleTime dag.Millis
	Call         string // the call whose fire it is, as its sender calls it
}

const selectFire = `SELECT source_id, planned_at, due_at, revision, state, reason, instance_id, fired_at, master, epoch, after_id, schedule_time, call_id FROM fire`

func scanFire(scan func(...any) error) (f Fire, err error) {
	return f, scan(&f.Source, &f.At, &f.Due, &f.Revision, &f.State, &f.Reason, &f.Instance, &f.FiredAt, &f.Master, &f.Epoch, &f.After, &f.ScheduleTime, &f.Call)
}

// Fires returns a page of the fires of a schedule that are planned from a moment until before another, the oldest
// first; with a state, of those alone. What was pruned is not among them, see SumFires.
func (s *Store) Fires(ctx context.Context, scheduleID int64, from, to dag.Millis, state schedule.State, page Page) ([]Fire, string, error) {
	after := keyCursor{int64(from) - 1}
	if err := page.decode("fires", &after); err != nil {
		return nil, "", err
	}
	where, args := ` WHERE source_id = ? AND planned_at > ? AND planned_at < ?`, []any{scheduleID, max(after.Key, int64(from)-1), to}
	if state != "" {
		where, args = where+` AND state = ?`, append(args, string(state))
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanFire, selectFire+where+` ORDER BY planned_at LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read fires of schedule %d: %w", scheduleID, err)
	}
	return cut(out, limit, "fires", func(f Fire) any { return keyCursor{int64(f.At)} })
}

// FireSums say what became of the fires of a schedule.
type FireSums struct {
	// States counts them; those of Planned and Waiting are open.
	States map[schedule.State]int64
	// LateMs is how late those that fired were, together, in milliseconds after they were due.
	LateMs int64
	// Pruned are those of States whose rows are gone; they are counted by whole days of UTC.
	Pruned int64
}

// Total counts all of them.
func (f *FireSums) Total() int64 {
	n := int64(0)
	for _, k := range f.States {
		n += k
	}
	return n
}

// Open counts those that have no outcome yet.
func (f *FireSums) Open() int64 { return f.States[schedule.Planned] + f.States[schedule.Waiting] }

// msPerDay is how long the days are by which pruned fires are summed.
const msPerDay = 24 * 60 * 60 * 1000

// SumFires counts the fires of a schedule that are planned from a moment until before another. A pruned one counts
// where any of its day does.
func (s *Store) SumFires(ctx context.Context, scheduleID int64, from, to dag.Millis) (FireSums, error) {
	type sum struct {
		state  schedule.State
		n      int64
		lateMs int64
		pruned bool
	}
	// One statement, so that a fire which is pruned meanwhile counts once.
	sums, err := collect(ctx, s, func(scan func(...any) error) (x sum, err error) {
		return x, scan(&x.state, &x.n, &x.lateMs, &x.pruned)
	}, `SELECT state, COUNT(*), `+sumLate+`, 0 FROM fire WHERE source_id = ? AND planned_at >= ? AND planned_at < ? GROUP BY state
		UNION ALL SELECT state, SUM(fires), SUM(late_ms), 1 FROM fire_day WHERE source_id = ? AND day >= ? AND day < ? GROUP BY state`,
		scheduleID, from, to, scheduleID, int64(from)/msPerDay, dayAfter(to))
	if err != nil {
		return FireSums{}, fmt.Errorf("sum fires of schedule %d: %w", scheduleID, err)
	}
	out := FireSums{States: map[schedule.State]int64{}}
	for _, x := range sums {
		out.States[x.state] += x.n
		out.LateMs += x.lateMs
		if x.pruned {
			out.Pruned += x.n
		}
	}
	return out, nil
}

// sumLate is how late the fires of a group were that fired. A clock may have stepped back between.
const sumLate = `COALESCE(SUM(CASE WHEN state = 'fired' AND fired_at > due_at THEN fired_at - due_at ELSE 0 END), 0)`

// dayAfter is the first day of which nothing is before a moment.
func dayAfter(to dag.Millis) int64 {
	day := int64(to) / msPerDay
	if int64(to)%msPerDay > 0 {
		day++
	}
	return day
}
