package sql

import (
	"context"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// FireCount is how many fires of one state were planned on a day.
type FireCount struct {
	// Day is the date, as days since 1970. Of fires that were pruned it is their day of UTC: nothing finer is left.
	Day    int64
	State  schedule.State
	Fires  int64
	LateMs int64 // how late those that fired were, together
	Pruned bool
}

// FireStretch is a time during which a clock shows the same offset from UTC, in milliseconds. To is not in it.
type FireStretch struct {
	From, To dag.Millis
	Offset   int64
}

// CountFires counts the fires of a schedule by the days of a clock, whose stretches follow each other, the oldest day first. A
// day that two stretches share has counts of both. A pruned day counts whole where any of it does.
func (s *Store) CountFires(ctx context.Context, scheduleID int64, stretches []FireStretch) ([]FireCount, error) {
	if len(stretches) == 0 {
		return nil, nil
	}
	// One statement, so that a fire which is pruned meanwhile counts once.
	var text strings.Builder
	var args []any
	for _, x := range stretches {
		fmt.Fprintf(&text, `SELECT d, state, COUNT(*), `+sumLate+`, 0 FROM
			(SELECT planned_at + %d - (planned_at + %d) %% %d AS d, state, fired_at, due_at FROM fire WHERE source_id = ? AND planned_at >= ? AND planned_at < ?) days GROUP BY d, state
			UNION ALL `, x.Offset, x.Offset, msPerDay)
		args = append(args, scheduleID, x.From, x.To)
	}
	fmt.Fprintf(&text, `SELECT day * %d, state, fires, late_ms, 1 FROM fire_day WHERE source_id = ? AND day >= ? AND day < ? ORDER BY 1, 2`, msPerDay)
	args = append(args, scheduleID, int64(stretches[0].From)/msPerDay, dayAfter(stretches[len(stretches)-1].To))
	out, err := collect(ctx, s, func(scan func(...any) error) (c FireCount, err error) {
		err = scan(&c.Day, &c.State, &c.Fires, &c.LateMs, &c.Pruned)
		c.Day /= msPerDay
		return c, err
	}, text.String(), args...)
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
