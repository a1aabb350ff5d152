package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

var fireDay = &table{
	name: "fire_day",
	cols: []string{"source_id", "day", "state", "fires", "late_ms"},
}

// SweepFires deletes up to 512 fires that were planned before a moment and have their outcome, and returns how many.
// Each is added to the sums of its day, so that what SumFires says stays as it was, but for those whose schedule is
// gone. Several processes may sweep together.
func (s *Store) SweepFires(ctx context.Context, before dag.Millis) (n int, err error) {
	old, err := collect(ctx, s, scanFire, selectFire+` WHERE planned_at < ? AND open = 0 ORDER BY planned_at LIMIT ?`, before, maxSwept)
	if err != nil {
		return 0, fmt.Errorf("read old fires: %w", err)
	}
	if len(old) == 0 {
		return 0, s.sweepMinutes(ctx, before)
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		n, err = s.sumAndDelete(ctx, &batch{s: s, tx: plainTx{tx, s}}, old)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete old fires: %w", err)
	}
	return n, nil
}

// daySum is what a day's fires of one state come to.
type daySum struct {
	source, day int64
	state       schedule.State
}

// sumAndDelete adds fires to their days, and deletes them. Another may have done so since they were read.
func (s *Store) sumAndDelete(ctx context.Context, b *batch, old []Fire) (n int, err error) {
	known, err := s.schedulesOf(ctx, b, old)
	if err != nil {
		return 0, err
	}
	fires, lateMs := map[daySum]int64{}, map[daySum]int64{}
	var days []daySum
	for _, f := range old {
		res, err := b.tx.(plainTx).ExecContext(ctx, `DELETE FROM fire WHERE source_id = ? AND planned_at = ? AND open = 0`, f.Source, f.At)
		if err != nil {
			return 0, err
		}
		met, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		if n += int(met); met == 0 || !known[f.Source] {
			continue
		}
		if err := forgetCause(ctx, b.tx.(plainTx), &f); err != nil {
			return 0, err
		}
		day := daySum{f.Source, int64(f.At) / msPerDay, f.State}
		if fires[day] == 0 {
			days = append(days, day)
		}
		fires[day]++
		if f.State == schedule.Fired {
			lateMs[day] += max(0, int64(f.FiredAt-f.Due))
		}
	}
	var rows []any
	for _, d := range days {
		rows = append(rows, d.source, d.day, string(d.state), fires[d], lateMs[d])
	}
	return n, b.rows(ctx, fireDay, func(t *table, n int) string {
		return s.dial.insert(t, n) + s.dial.onConflict("source_id, day, state") + `fires = fire_day.fires + ` + s.dial.given("fires") +
			`, late_ms = fire_day.late_ms + ` + s.dial.given("late_ms")
	}, rows)
}

// schedulesOf says which of the fires' schedules are there still.
func (s *Store) schedulesOf(ctx context.Context, b *batch, fires []Fire) (map[int64]bool, error) {
	known := map[int64]bool{}
	var ids []int64
	for _, f := range fires {
		if _, seen := known[f.Source]; !seen {
			known[f.Source] = false
			ids = append(ids, f.Source)
		}
	}
	return known, eachChunk(ids, func(chunk []any) error {
		return b.eachRow(ctx, `SELECT id FROM schedule WHERE id IN (`+marks(len(chunk))+`)`, chunk, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			known[id] = true
			return err
		})
	})
}

// sweepMinutes forgets how the fires of old minutes were spread.
func (s *Store) sweepMinutes(ctx context.Context, before dag.Millis) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM fire_minute WHERE minute < ?`, int64(before)/msPerMinute)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete old minutes: %w", err)
	}
	return nil
}

const msPerMinute = 60_000
