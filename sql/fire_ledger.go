package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// FireCount is how many fires of one state were planned within a quarter of an hour.
type FireCount struct {
	// At is where the quarter begins. Of fires that were pruned it is their day (UTC): nothing finer is left.
	At     dag.Millis
	State  schedule.State
	Fires  int64
	LateMs int64 // how late those that fired were, together
	Pruned bool
}

// msPerQuarter is the grain of CountFires: every offset of a timezone since 1970 is a number of quarters of an hour, so
// that the counts add up to the days of any of them.
const msPerQuarter = 15 * 60 * 1000

// CountFires counts the fires of a schedule that are planned from a moment until before another, the oldest first. A
// pruned day counts whole where any of it does.
func (s *Store) CountFires(ctx context.Context, scheduleID int64, from, to dag.Millis) ([]FireCount, error) {
	// One statement, so that a fire which is pruned meanwhile counts once.
	out, err := collect(ctx, s, func(scan func(...any) error) (c FireCount, err error) {
		return c, scan(&c.At, &c.State, &c.Fires, &c.LateMs, &c.Pruned)
	}, fmt.Sprintf(`SELECT b, state, COUNT(*), `+sumLate+`, 0 FROM
			(SELECT planned_at - planned_at %% %d AS b, state, fired_at, due_at FROM fire WHERE source_id = ? AND planned_at >= ? AND planned_at < ?) quarters GROUP BY b, state
		UNION ALL SELECT day * %d, state, fires, late_ms, 1 FROM fire_day WHERE source_id = ? AND day >= ? AND day < ?
		ORDER BY 1, 2`, msPerQuarter, msPerDay),
		scheduleID, from, to, scheduleID, int64(from)/msPerDay, dayAfter(to))
	if err != nil {
		return nil, fmt.Errorf("count fires of schedule %d: %w", scheduleID, err)
	}
	return out, nil
}

// LastFires returns, by schedule, the latest fire up to a moment that came to its outcome and has its row yet. A schedule
// without one is left out.
func (s *Store) LastFires(ctx context.Context, schedules []int64, until dag.Millis) (map[int64]Fire, error) {
	out := map[int64]Fire{}
	err := eachChunk(schedules, func(chunk []any) error {
		fires, err := collect(ctx, s, scanFire, selectFire+` JOIN (SELECT s.id AS of_id,
				(SELECT g.planned_at FROM fire g WHERE g.source_id = s.id AND g.planned_at <= ? AND g.open = 0 ORDER BY g.planned_at DESC LIMIT 1) AS last_at
				FROM schedule s WHERE s.id IN (`+marks(len(chunk))+`)) l ON source_id = l.of_id AND planned_at = l.last_at`,
			append([]any{until}, chunk...)...)
		for _, f := range fires {
			out[f.Source] = f
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the last fires: %w", err)
	}
	return out, nil
}
