package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// FiresFrom returns up to limit fires of a schedule that are planned from a moment until before another, the oldest first. Whoever
// walks them asks again from behind the last.
func (s *Store) FiresFrom(ctx context.Context, scheduleID int64, from, to dag.Millis, limit int) ([]Fire, error) {
	out, err := collect(ctx, s, scanFire, selectFire+` WHERE source_id = ? AND planned_at >= ? AND planned_at < ? ORDER BY planned_at LIMIT ?`, scheduleID, from, to, limit)
	if err != nil {
		return nil, fmt.Errorf("read fires of schedule %d: %w", scheduleID, err)
	}
	return out, nil
}

// PrunedDay is a day of UTC of which fires, or all of them, are left as sums.
type PrunedDay struct {
	Day    int64 // since 1970
	Pruned int64 // fires
	Rows   int64 // fires of the day that have their row still
}

// PrunedDays returns those of a schedule that any moment from one until before another is of, the first day first.
func (s *Store) PrunedDays(ctx context.Context, scheduleID int64, from, to dag.Millis) ([]PrunedDay, error) {
	// One statement, so that a fire which is pruned meanwhile counts once.
	out, err := collect(ctx, s, func(scan func(...any) error) (d PrunedDay, err error) { return d, scan(&d.Day, &d.Pruned, &d.Rows) },
		fmt.Sprintf(`SELECT d.day, SUM(d.fires), (SELECT COUNT(*) FROM fire f WHERE f.source_id = ? AND f.planned_at >= d.day * %d AND f.planned_at < (d.day + 1) * %[1]d)
			FROM fire_day d WHERE d.source_id = ? AND d.day >= ? AND d.day < ? GROUP BY d.day ORDER BY d.day`, msPerDay),
		scheduleID, scheduleID, int64(from)/msPerDay, dayAfter(to))
	if err != nil {
		return nil, fmt.Errorf("read pruned days of schedule %d: %w", scheduleID, err)
	}
	return out, nil
}

// StartedAs is what the unique index of instances is about, beside the workflow.
type StartedAs struct {
	At  dag.Millis // the schedule time
	Key string
}

// Triggers returns what started those of the instances that are there.
func (s *Store) Triggers(ctx context.Context, ids []int64) (map[int64]StartedAs, error) {
	out := make(map[int64]StartedAs, len(ids))
	type row struct {
		id int64
		StartedAs
	}
	err := eachChunk(ids, func(chunk []any) error {
		rows, err := collect(ctx, s, func(scan func(...any) error) (r row, err error) { return r, scan(&r.id, &r.At, &r.Key) },
			`SELECT id, schedule_time, trigger_key FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`)`, chunk...)
		for _, r := range rows {
			out[r.id] = r.StartedAs
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read triggers of instances: %w", err)
	}
	return out, nil
}

// Fireless returns the schedule times, from one until before another, of up to limit instances that the trigger key of a
// schedule started and that no fire of it is about. Days of which fires were pruned are left out: they have no rows to look at.
func (s *Store) Fireless(ctx context.Context, sch *Schedule, from, to dag.Millis, limit int) ([]dag.Millis, error) {
	key := ScheduleKey(sch.ID)
	if sch.Spec.Webhook != nil {
		key = CallKey(sch.ID)
	}
	out, err := collect(ctx, s, func(scan func(...any) error) (at dag.Millis, err error) { return at, scan(&at) },
		fmt.Sprintf(`SELECT i.schedule_time FROM workflow_instance i WHERE i.workflow_id = ? AND i.schedule_time >= ? AND i.schedule_time < ? AND i.trigger_key = ?
			AND NOT EXISTS (SELECT 1 FROM fire f WHERE f.source_id = ? AND f.planned_at = i.schedule_time)
			AND NOT EXISTS (SELECT 1 FROM fire_day d WHERE d.source_id = ? AND d.day * %d <= i.schedule_time AND (d.day + 1) * %[1]d > i.schedule_time)
			ORDER BY i.schedule_time LIMIT ?`, msPerDay),
		sch.WorkflowID, from, to, key, sch.ID, sch.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("look for instances of schedule %d without a fire: %w", sch.ID, err)
	}
	return out, nil
}
