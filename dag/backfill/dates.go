package backfill

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
)

// Points gives the moments that a backfill is about, one after the other.
type Points interface {
	// Next returns the first one after a moment; false where none comes.
	Next(after time.Time) (time.Time, bool)
}

// The steps of Every.
const (
	EveryDay  = "1d"
	EveryHour = "1h"
)

// Every returns the beginnings of the days (1d) or hours (1h) of a location's calendar. A day with a change
// of the clocks is one day, and the hour that is shown twice has one beginning.
func Every(step string, loc *time.Location) (Points, error) {
	switch step {
	case EveryDay:
		return every{"today", loc}, nil
	case EveryHour:
		return every{"currentHour", loc}, nil
	}
	return nil, fmt.Errorf("%.32q is no step: want %s or %s", step, EveryDay, EveryHour)
}

// every gives the beginnings of the stretches that a date value names.
type every struct {
	value string
	loc   *time.Location
}

// Next implements Points.
func (e every) Next(after time.Time) (time.Time, bool) {
	span, err := interval.Span(e.value, after.In(e.loc))
	if err != nil {
		panic(fmt.Sprintf("backfill: date value %q: %v", e.value, err))
	}
	return span.To, true
}

// maxCounted bounds the dates that Between counts beyond those that it returns: whoever is over the limit by
// that much need not know by how much.
const maxCounted = 100_000

// Between returns the points from one moment to another, both of them included, up to most. Their count goes
// on beyond that, up to 100,000.
func Between(points Points, from, to time.Time, most int) (dates []time.Time, count int) {
	at, ok := points.Next(from.Add(-time.Millisecond))
	for ok && !at.After(to) && count < maxCounted {
		if count++; count <= most {
			dates = append(dates, at)
		}
		at, ok = points.Next(at)
	}
	return dates, count
}

// Sorted returns dates in an order, each of them once. It changes the given ones.
func Sorted(dates []dag.Millis, order Order) []dag.Millis {
	slices.Sort(dates)
	dates = slices.Compact(dates)
	if order == Newest {
		slices.Reverse(dates)
	}
	return dates
}

// layouts are the forms of a moment on a location's calendar.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// Moment reads a moment: RFC 3339 with an offset, or a date with or without a time of day on the calendar of a
// location. Of a date alone first is the beginning of the day and last its end, less a millisecond; otherwise both
// are the same. A time of day that a change of the clocks left out is refused; one that comes twice is the first.
func Moment(text string, loc *time.Location) (first, last time.Time, err error) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		at = at.Truncate(time.Millisecond)
		return at, at, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.UTC); err == nil {
		// Noon is in the day wherever its clocks are changed.
		noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, loc)
		if noon.Format(time.DateOnly) != text {
			return first, last, fmt.Errorf("%s is not on the calendar of %s", text, loc)
		}
		span, err := interval.Span("today", noon)
		if err != nil {
			return first, last, fmt.Errorf("read the day of %s: %w", text, err)
		}
		return span.From, span.To.Add(-time.Millisecond), nil
	}
	for _, layout := range layouts {
		at, err := time.ParseInLocation(layout, text, loc)
		if err != nil {
			continue
		}
		if at.Format(layout) != text {
			return first, last, fmt.Errorf("%s is not on the calendar of %s: the clocks leave it out", text, loc)
		}
		if earlier := at.Add(-time.Hour); earlier.Format(layout) == text {
			at = earlier
		}
		return at, at, nil
	}
	return first, last, fmt.Errorf("%.40q is no moment: want a date such as 2026-03-01, with a time 2026-03-01 05:00, or 2026-03-01T05:00:00Z", text)
}
