package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

const (
	// SliceColumns is onto how many columns the buckets of timers are folded for people.
	SliceColumns = 32
	// maxSliced bounds the firings of a minute that are counted one by one.
	maxSliced = 20_000
)

// TimerSlice is how many open firings of timers are due within a minute, by their buckets.
type TimerSlice struct {
	Minute  dag.Millis // where it begins
	Due     [SliceColumns]int64
	Buckets int  // onto how many the minute is folded for the masters; 0 where that is not decided yet
	Partly  bool // there are more than are counted: Due is foretold from how much of the minute these took
}

// TimerSlices returns the slices of minutes that follow each other, and the moment of the oldest firing that is open, 0 for none. It
// reads 20,000 firings of a minute at most.
func (s *Store) TimerSlices(ctx context.Context, from dag.Millis, minutes int) (out []TimerSlice, oldest dag.Millis, err error) {
	from -= from % msPerMinute
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE(MIN(due_at), 0) FROM timer_task WHERE open = 1`).Scan(&oldest)
	if err != nil {
		return nil, 0, fmt.Errorf("read the oldest firing: %w", explain(err))
	}
	type part struct {
		column, n int64
		last      dag.Millis
	}
	for i := range minutes {
		slice := TimerSlice{Minute: from + dag.Millis(i*msPerMinute)}
		parts, err := collect(ctx, s, func(scan func(...any) error) (p part, err error) { return p, scan(&p.column, &p.n, &p.last) },
			fmt.Sprintf(`SELECT bucket %% %d, COUNT(*), MAX(due_at) FROM (SELECT due_at, bucket FROM timer_task
				WHERE open = 1 AND due_at >= ? AND due_at < ? ORDER BY due_at, bucket LIMIT ?) d GROUP BY bucket %% %d`, SliceColumns, SliceColumns),
			slice.Minute, slice.Minute+msPerMinute, maxSliced)
		if err != nil {
			return nil, 0, fmt.Errorf("count firings of a minute: %w", err)
		}
		total, last := int64(0), slice.Minute
		for _, p := range parts {
			slice.Due[p.column] = p.n
			total, last = total+p.n, max(last, p.last)
		}
		if slice.Partly = total >= maxSliced; slice.Partly {
			for c := range slice.Due {
				slice.Due[c] = slice.Due[c] * msPerMinute / int64(last-slice.Minute+1)
			}
		}
		err = explain(s.read.QueryRowContext(ctx, `SELECT buckets FROM fire_minute WHERE minute = ?`, int64(slice.Minute)/msPerMinute).Scan(&slice.Buckets))
		if err != nil && !isAbsent(err) {
			return nil, 0, fmt.Errorf("read how a minute is spread: %w", err)
		}
		out = append(out, slice)
	}
	return out, oldest, nil
}
