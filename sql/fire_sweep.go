package sql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

var fireDay = &table{
	name: "fire_day",
	cols: []string{"source_id", "day", "state", "fires", "late_ms"},
}

// sweptFires bounds the fires of one sweep: some statements of some hundred rows each.
const sweptFires = 2048

// SweepFires deletes up to 2,048 fires that were planned before a moment and have their outcome, and returns how many.
// Each is added to the sums of its day, so that what SumFires says stays as it was, but for those whose schedule is
// gone. Several processes may sweep together.
func (s *Store) SweepFires(ctx context.Context, before dag.Millis) (n int, err error) {
	return s.sweepFires(ctx, ` WHERE planned_at < ? AND open = 0 ORDER BY planned_at`, before)
}

// SurplusFires returns the schedules that have more fires than each, of which SweepSurplusFires deletes a batch. It reads an index from end to end.
func (s *Store) SurplusFires(ctx context.Context, each int) ([]int64, error) {
	out, err := collect(ctx, s, scanID, `SELECT source_id FROM fire GROUP BY source_id HAVING COUNT(*) > ? ORDER BY source_id`, each)
	if err != nil {
		return nil, fmt.Errorf("count fires of schedules: %w", err)
	}
	return out, nil
}

// SweepSurplusFires deletes a batch of the fires of a schedule that have their outcome and are beyond the newest of that
// many, as SweepFires does.
func (s *Store) SweepSurplusFires(ctx context.Context, scheduleID int64, each int) (int, error) {
	newest, err := collect(ctx, s, scanID, `SELECT planned_at FROM fire WHERE source_id = ? AND open = 0 ORDER BY planned_at DESC LIMIT 1 OFFSET ?`, scheduleID, each)
	if err != nil {
		return 0, fmt.Errorf("find what schedule %d has too many: %w", scheduleID, err)
	}
	if len(newest) == 0 {
		return 0, nil
	}
	return s.sweepFires(ctx, ` WHERE source_id = ? AND planned_at <= ? AND open = 0 ORDER BY planned_at`, scheduleID, newest[0])
}

func (s *Store) sweepFires(ctx context.Context, which string, args ...any) (n int, err error) {
	old, err := collect(ctx, s, scanFire, selectFire+which+` LIMIT ?`, append(args, sweptFires)...)
	if err != nil {
		return 0, fmt.Errorf("read old fires: %w", err)
	}
	if len(old) == 0 {
		return 0, nil
	}
	// The order of locks.
	slices.SortFunc(old, func(a, b Fire) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.At, b.At)) })
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
	old, err = s.deleteFires(ctx, b, old)
	if err != nil {
		return 0, err
	}
	fires, lateMs := map[daySum]int64{}, map[daySum]int64{}
	var days []daySum
	for _, f := range old {
		if !known[f.Source] {
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
	return len(old), b.rows(ctx, fireDay, func(t *table, n int) string {
		return s.dial.insert(t, n) + s.dial.onConflict("source_id, day, state") + `fires = fire_day.fires + ` + s.dial.given("fires") +
			`, late_ms = fire_day.late_ms + ` + s.dial.given("late_ms")
	}, rows)
}

// deleteFires deletes fires and returns those that were there still.
func (s *Store) deleteFires(ctx context.Context, b *batch, old []Fire) (gone []Fire, err error) {
	for chunk := range slices.Chunk(old, maxStatementRows) {
		args := make([]any, 0, 2*len(chunk))
		for _, f := range chunk {
			args = append(args, f.Source, f.At)
		}
		where := s.dial.rowsIn("(source_id, planned_at)", 2, len(chunk)) + ` AND open = 0`
		there := map[fireKey]bool{}
		err := b.eachRow(ctx, `SELECT source_id, planned_at FROM fire WHERE `+where+s.dial.forUpdate(), args, func(scan func(...any) error) error {
			var k fireKey
			err := scan(&k.source, &k.at)
			there[k] = true
			return err
		})
		if err != nil || len(there) == 0 {
			return gone, err
		}
		if err := b.tx.exec(ctx, `DELETE FROM fire WHERE `+where, args, anyRows); err != nil {
			return nil, err
		}
		for _, f := range chunk {
			if there[fireKey{f.Source, f.At}] {
				gone = append(gone, f)
			}
		}
	}
	return gone, nil
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

// SweepMinutes forgets how the fires of minutes before a moment were spread.
func (s *Store) SweepMinutes(ctx context.Context, before dag.Millis) error {
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

var timerDay = &table{name: "timer_day", cols: []string{"project_id", "day", "state", "tasks", "tries", "late_ms"}}

// FoldDays folds a batch of the sums of days before one, of fires and of timers, into the sums of day 0, which nobody takes for
// a day, and returns how many; 0 says that none is left. What they come to together stays as it is.
func (s *Store) FoldDays(ctx context.Context, before dag.Millis) (n int, err error) {
	day := int64(before) / msPerDay
	err = s.write(ctx, func(tx *sqlTx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE cluster SET folded_until = ? WHERE folded_until < ?`, day*msPerDay, day*msPerDay); err != nil {
			return err
		}
		n = 0
		for _, t := range []*table{fireDay, timerDay} {
			some, err := s.foldDays(ctx, &batch{s: s, tx: plainTx{tx, s}}, t, day)
			if n += some; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("fold old days: %w", err)
	}
	return n, nil
}

// FoldedUntil is the moment before which days have no sums of their own.
func (s *Store) FoldedUntil(ctx context.Context) (until dag.Millis, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT folded_until FROM cluster WHERE one = 1`).Scan(&until); err != nil {
		return 0, fmt.Errorf("read until when days are folded: %w", explain(err))
	}
	return until, nil
}

// foldDays folds those of one table: its columns are whose day it is, the day and the state, which are its key, and the sums.
func (s *Store) foldDays(ctx context.Context, b *batch, t *table, before int64) (n int, err error) {
	type key struct {
		of    int64
		state string
	}
	sums := map[key][]int64{}
	var order []key
	var gone []any
	cols := strings.Join(t.cols, ", ")
	err = b.eachRow(ctx, `SELECT `+cols+` FROM `+t.name+` WHERE day < ? AND day > 0 ORDER BY day LIMIT ?`+s.dial.forUpdate(), []any{before, maxSwept}, func(scan func(...any) error) error {
		var k key
		var day int64
		values := make([]int64, len(t.cols)-3)
		into := []any{&k.of, &day, &k.state}
		for i := range values {
			into = append(into, &values[i])
		}
		if err := scan(into...); err != nil {
			return err
		}
		gone = append(gone, k.of, day, k.state)
		if sums[k] == nil {
			order, sums[k] = append(order, k), make([]int64, len(values))
		}
		for i, v := range values {
			sums[k][i] += v
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(gone, 3*maxStatementRows) {
		where := s.dial.rowsIn(`(`+strings.Join(t.cols[:3], ", ")+`)`, 3, len(chunk)/3)
		if err := b.tx.exec(ctx, `DELETE FROM `+t.name+` WHERE `+where, chunk, anyRows); err != nil {
			return 0, err
		}
	}
	var rows []any
	for _, k := range order {
		rows = append(rows, k.of, int64(0), k.state)
		for _, v := range sums[k] {
			rows = append(rows, v)
		}
	}
	return len(gone) / 3, b.rows(ctx, t, func(t *table, n int) string {
		var sets []string
		for _, c := range t.cols[3:] {
			sets = append(sets, c+` = `+t.name+`.`+c+` + `+s.dial.given(c))
		}
		return s.dial.insert(t, n) + s.dial.onConflict(strings.Join(t.cols[:3], ", ")) + strings.Join(sets, ", ")
	}, rows)
}
