package interval

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// Cycle is the kind of stretch that a date value speaks of.
type Cycle string

// The cycles of date values.
const (
	CycleHour  Cycle = "hour"
	CycleDay   Cycle = "day"
	CycleWeek  Cycle = "week"
	CycleMonth Cycle = "month"
)

// ErrUnknownValue is in the chain of errors of Of and Check.
var ErrUnknownValue = errors.New("not a date value")

// value is one date value.
type value struct {
	name  string
	cycle Cycle
	about string
	of    func(at time.Time) []Interval
}

// values are those of DolphinScheduler 3.2.2 (DependentUtils.getDateIntervalList), in the
// order in which its form shows them. One differs: there thisMonthEnd is the month's first
// day.
var values = []value{
	{"currentHour", CycleHour, "the hour itself", func(at time.Time) []Interval { return []Interval{hourOf(at)} }},
	{"last1Hour", CycleHour, "the hour before", func(at time.Time) []Interval { return hours.last(at, 1) }},
	{"last2Hours", CycleHour, "each of the 2 hours before", func(at time.Time) []Interval { return hours.last(at, 2) }},
	{"last3Hours", CycleHour, "each of the 3 hours before", func(at time.Time) []Interval { return hours.last(at, 3) }},
	{"last24Hours", CycleHour, "each hour from 01:00 of the day before to 01:00 of the day", lastDayByHours},
	{"today", CycleDay, "the day itself", func(at time.Time) []Interval { return []Interval{dayOf(at)} }},
	{"last1Days", CycleDay, "the day before", func(at time.Time) []Interval { return days.last(at, 1) }},
	{"last2Days", CycleDay, "each of the 2 days before", func(at time.Time) []Interval { return days.last(at, 2) }},
	{"last3Days", CycleDay, "each of the 3 days before", func(at time.Time) []Interval { return days.last(at, 3) }},
	{"last7Days", CycleDay, "each of the 7 days before", func(at time.Time) []Interval { return days.last(at, 7) }},
	{"thisWeek", CycleWeek, "each day from Monday to the day itself", func(at time.Time) []Interval { return days.between(weekStart(at, 0), dayOf(at).To) }},
	{"lastWeek", CycleWeek, "each day of the week before, Monday to Sunday", func(at time.Time) []Interval { return days.between(weekStart(at, -1), weekStart(at, 0)) }},
	{"lastMonday", CycleWeek, "Monday of the week before", weekday(0)},
	{"lastTuesday", CycleWeek, "Tuesday of the week before", weekday(1)},
	{"lastWednesday", CycleWeek, "Wednesday of the week before", weekday(2)},
	{"lastThursday", CycleWeek, "Thursday of the week before", weekday(3)},
	{"lastFriday", CycleWeek, "Friday of the week before", weekday(4)},
	{"lastSaturday", CycleWeek, "Saturday of the week before", weekday(5)},
	{"lastSunday", CycleWeek, "Sunday of the week before", weekday(6)},
	{"thisMonth", CycleMonth, "each day from the month's first to the day itself", func(at time.Time) []Interval { return days.between(monthStart(at, 0), dayOf(at).To) }},
	{"thisMonthBegin", CycleMonth, "the month's first day", func(at time.Time) []Interval { return []Interval{dayOf(monthStart(at, 0))} }},
	{"thisMonthEnd", CycleMonth, "the month's last day", func(at time.Time) []Interval { return []Interval{dayOf(monthStart(at, 1).Add(-1))} }},
	{"lastMonth", CycleMonth, "each day of the month before", func(at time.Time) []Interval { return days.between(monthStart(at, -1), monthStart(at, 0)) }},
	{"lastMonthBegin", CycleMonth, "the first day of the month before", func(at time.Time) []Interval { return []Interval{dayOf(monthStart(at, -1))} }},
	{"lastMonthEnd", CycleMonth, "the last day of the month before", func(at time.Time) []Interval { return []Interval{dayOf(monthStart(at, 0).Add(-1))} }},
}

// weekday returns a day of the week before, n days after its Monday.
func weekday(n int) func(at time.Time) []Interval {
	return func(at time.Time) []Interval {
		year, month, day := weekStart(at, -1).Date()
		return []Interval{dayOf(startOf(year, month, day+n, at.Location()))}
	}
}

// lastDayByHours is what an hourly upstream makes of one day: the run at 01:00 loads the
// first hour of it, the run at 00:00 of the next day the last one.
func lastDayByHours(at time.Time) []Interval {
	today := dayOf(at)
	yesterday := dayOf(today.From.Add(-1))
	return hours.between(hourOf(yesterday.From).To, hourOf(today.From).To)
}

// Names returns all date values, by cycle.
func Names() []string {
	names := make([]string, len(values))
	for i := range values {
		names[i] = values[i].name
	}
	return names
}

// Of returns the intervals that a date value means at a moment, the earliest first. The
// calendar is that of the moment's location. There is at least one, and no two overlap.
func Of(value string, at time.Time) ([]Interval, error) {
	v, err := find(value)
	if err != nil {
		return nil, err
	}
	return v.of(at), nil
}

// Span returns the stretch from the first interval of a date value to the last one's end:
// the runs in it are what Judge wants to know.
func Span(value string, at time.Time) (Interval, error) {
	intervals, err := Of(value, at)
	if err != nil {
		return Interval{}, err
	}
	return spanOf(intervals), nil
}

func spanOf(intervals []Interval) Interval {
	return Interval{intervals[0].From, intervals[len(intervals)-1].To}
}

// CycleOf returns the cycle of a date value, "" for what is none.
func CycleOf(value string) Cycle {
	v, err := find(value)
	if err != nil {
		return ""
	}
	return v.cycle
}

// About returns in words what a date value means, "" for what is none.
func About(value string) string {
	v, err := find(value)
	if err != nil {
		return ""
	}
	return v.about
}

// Check returns an error with ErrUnknownValue for what is no date value; it names the
// value that was probably meant.
func Check(value string) error {
	_, err := find(value)
	return err
}

func find(name string) (*value, error) {
	for i := range values {
		if values[i].name == name {
			return &values[i], nil
		}
	}
	if near := document.Nearest(name, Names()); near != "" {
		return nil, fmt.Errorf("%s is %w; did you mean %s?", document.Quoted(name), ErrUnknownValue, document.Quoted(near))
	}
	return nil, fmt.Errorf("%s is %w: known are %s", document.Quoted(name), ErrUnknownValue, strings.Join(Names(), ", "))
}
