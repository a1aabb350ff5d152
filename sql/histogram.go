package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Bar is how many instances of one state were created within one bucket of a histogram.
type Bar struct {
	At    dag.Millis // where the bucket begins
	State dag.InstanceState
	Count int
}

// Histogram is the instances over time. Cut says that a state of a project had more than
// MaxCounted: the oldest of its instances are left out.
type Histogram struct {
	From, To dag.Millis
	Width    time.Duration
	Bars     []Bar
	Cut      bool
}

// MaxCounted bounds the index entries that a histogram reads of each state of each project.
const MaxCounted = 20000

// bucketWidths are those that a person can read off an axis.
var bucketWidths = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
	30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 168 * time.Hour, 720 * time.Hour,
}

// InstanceHistogram counts the instances that the filter shows, by state and by the time of
// their creation, in at most buckets parts of a round width. Without From it begins with
// the oldest; without To it ends now. Only what an index can answer counts: see InstanceFilter.
func (s *Store) InstanceHistogram(ctx context.Context, f InstanceFilter, buckets int) (Histogram, error) {
	visible, err := s.visible(ctx, f)
	if err != nil || !visible {
		return Histogram{}, err
	}
	if f.To == 0 {
		f.To = s.millis() + 1
	}
	if f.From == 0 {
		if f.From, err = s.oldest(ctx, f.streams()); err != nil || f.From == 0 {
			return Histogram{}, err
		}
	}
	h := Histogram{From: f.From, To: max(f.To, f.From+1), Width: bucketWidth(f.To.Sub(f.From), buckets)}
	width := h.Width.Milliseconds()
	for part := range slices.Chunk(f.streams(), maxStreams) {
		var text []string
		var args []any
		for _, st := range part {
			text = append(text, `SELECT state, b, COUNT(*) FROM (SELECT state, created_at - created_at % `+fmt.Sprint(width)+
				` AS b FROM workflow_instance WHERE `+st.where+` ORDER BY created_at DESC, id DESC LIMIT ?) AS h GROUP BY state, b`)
			args = append(append(args, st.args...), MaxCounted)
		}
		bars, err := collect(ctx, s, func(scan func(...any) error) (b Bar, err error) { return b, scan(&b.State, &b.At, &b.Count) },
			strings.Join(text, ` UNION ALL `), args...)
		if err != nil {
			return Histogram{}, fmt.Errorf("count instances over time: %w", err)
		}
		h.Bars = append(h.Bars, bars...)
	}
	h.merge()
	return h, nil
}

// merge sums the bars of several projects, and tells whether a stream was cut.
func (h *Histogram) merge() {
	type place struct {
		at    dag.Millis
		state dag.InstanceState
	}
	sums, totals := map[place]int{}, map[dag.InstanceState]int{}
	for _, b := range h.Bars {
		sums[place{b.At, b.State}] += b.Count
		totals[b.State] += b.Count
	}
	h.Bars = h.Bars[:0]
	for p, n := range sums {
		h.Bars = append(h.Bars, Bar{At: p.at, State: p.state, Count: n})
	}
	slices.SortFunc(h.Bars, func(a, b Bar) int {
		if c := compare(int64(a.At), int64(b.At)); c != 0 {
			return c
		}
		return strings.Compare(string(a.State), string(b.State))
	})
	for _, n := range totals {
		h.Cut = h.Cut || n >= MaxCounted
	}
}

// oldest is when the first instance of the streams was created; zero where there is none.
func (s *Store) oldest(ctx context.Context, streams []stream) (dag.Millis, error) {
	var oldest dag.Millis
	for part := range slices.Chunk(streams, maxStreams) {
		var text []string
		var args []any
		for _, st := range part {
			text = append(text, `SELECT * FROM (SELECT created_at FROM workflow_instance WHERE `+st.where+` ORDER BY created_at, id LIMIT 1) AS h`)
			args = append(args, st.args...)
		}
		got, err := collect(ctx, s, func(scan func(...any) error) (at dag.Millis, err error) { return at, scan(&at) }, strings.Join(text, ` UNION ALL `), args...)
		if err != nil {
			return 0, fmt.Errorf("find the oldest instance: %w", err)
		}
		for _, at := range got {
			if oldest == 0 || at < oldest {
				oldest = at
			}
		}
	}
	return oldest, nil
}

// bucketWidth is the smallest round width that divides a span into at most n parts.
func bucketWidth(span time.Duration, n int) time.Duration {
	for _, w := range bucketWidths {
		// One more than fits: the first and the last bucket may be cut by the span.
		if span/w+2 <= time.Duration(max(n, 3)) {
			return w
		}
	}
	last := bucketWidths[len(bucketWidths)-1]
	return last * (span/last/time.Duration(max(n, 3)-2) + 1)
}
