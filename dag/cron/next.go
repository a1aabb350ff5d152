package cron

import (
	"math/bits"
	"time"
)

// endYear is the last year in which anything fires: the last that RFC 3339 can write.
const endYear = 9999

// Next returns the first fire after a moment, in a location (nil is UTC); it is false when
// there is none before the year 10000. What it returns is always later than after, so that
// a loop over it makes progress, and it returns within the search of one cycle of the
// calendar however rare the fires are.
//
// What the clock on the wall does when it is changed is decided here. An expression that
// FollowsRealTime fires at every moment at which the clock shows a time of it: never at one
// that is left out, twice at one that is repeated. Every other fires once for each such
// time: at the first instant after the gap for one that is left out, and at the first of
// two that are repeated.
func (e Expression) Next(after time.Time, loc *time.Location) (time.Time, bool) {
	if loc == nil {
		loc = time.UTC
	}
	at, ok := e.next(after.Unix(), loc)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(at, 0).In(loc), true
}

// next is Next in Unix seconds. It goes from one change of the clocks to the next: between
// two of them the clock on the wall is a constant offset away.
func (e *Expression) next(after int64, loc *time.Location) (int64, bool) {
	after = max(after, startOfTime)
	if e.every > 0 && after < endOfTime {
		at := after + e.every - floorMod(after-e.anchor, e.every)
		return at, at < endOfTime
	}
	for from := after + 1; from < endOfTime; {
		p := periodAt(from, loc)
		wall := from + p.offset
		if !e.real {
			if from == p.began && e.leftOut(p) >= 0 {
				return from, true
			}
			// What the clock showed before it was set back has had its fire.
			wall = max(wall, p.began+p.before)
		}
		wall, ok := e.match(wall)
		if !ok {
			return 0, false
		}
		at := wall - p.offset
		if at < p.ends {
			return at, at < endOfTime
		}
		next := p.ends
		if p.ends-from > largestChange {
			// No change before the one near at shows a time from before from again.
			next = max(next, at-largestChange)
		}
		from = next
	}
	return 0, false
}

// leftOut returns the first time of the expression, on the wall, that the clock left out
// when the period began; -1 where there is none.
func (e *Expression) leftOut(p period) int64 {
	if p.before >= p.offset {
		return -1
	}
	if wall, ok := e.match(p.began + p.before); ok && wall < p.began+p.offset {
		return wall
	}
	return -1
}

// period is a stretch of time without a change of the clocks, in Unix seconds.
type period struct {
	began, ends int64
	offset      int64 // of the clock on the wall, east of UTC
	before      int64 // the offset until began
}

// The bounds of a first and of a last period: far from every date, and far from overflow.
var (
	startOfTime = time.Date(-endYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	endOfTime   = time.Date(endYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

func periodAt(at int64, loc *time.Location) period {
	t := time.Unix(at, 0).In(loc)
	began, ends := t.ZoneBounds()
	_, offset := t.Zone()
	p := period{startOfTime, endOfTime, int64(offset), int64(offset)}
	if !began.IsZero() {
		p.began = began.Unix()
		_, before := began.Add(-time.Second).Zone()
		p.before = int64(before)
	}
	if !ends.IsZero() {
		p.ends = ends.Unix()
	}
	if p.ends <= at {
		// Beyond the changes that a zone lists one by one (2037), ZoneBounds gives every
		// year 365 days. No rule changes a clock on the 31 December that leap years lack so.
		p.ends = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return p
}

const (
	secondsPerDay = 24 * 60 * 60
	// largestChange is more than a clock was ever changed by: a day (Apia, 2011).
	largestChange = 2 * secondsPerDay
)

// match returns the first time on the wall, from one on, that the fields name; both in
// seconds since 1970 as if in UTC.
func (e *Expression) match(wall int64) (int64, bool) {
	ofDay := floorMod(wall, secondsPerDay)
	for date := wall - ofDay; ; {
		found, ok := e.dateFrom(date)
		if !ok {
			return 0, false
		}
		if found > date {
			ofDay = 0
		}
		if clock := e.clockFrom(int(ofDay)); clock >= 0 {
			return found + int64(clock), true
		}
		date, ofDay = found+secondsPerDay, 0
	}
}

// dateFrom returns the first date, from one on, that the fields name. Dates are the
// seconds of their midnight.
func (e *Expression) dateFrom(date int64) (int64, bool) {
	y, m, d := time.Unix(date, 0).UTC().Date()
	last := endYear
	if !e.all[year] {
		last = firstYear + e.sets[year].last()
		if y < firstYear {
			y, m, d = firstYear, time.January, 1
		}
	}
	for ; y <= last; y, m, d = y+1, time.January, 1 {
		if !e.inYear(y) {
			continue
		}
		for next := e.sets[month].from(int(m)); next >= 0; next = e.sets[month].from(next + 1) {
			if time.Month(next) > m {
				m, d = time.Month(next), 1
			}
			if days := e.daysIn(calendarOf(y, m)) >> d << d; days != 0 {
				return time.Date(y, m, bits.TrailingZeros64(days), 0, 0, 0, 0, time.UTC).Unix(), true
			}
		}
	}
	return 0, false
}

// clockFrom returns the first time of the day, from one on, that the fields name, in
// seconds; -1 where the day has none left.
func (e *Expression) clockFrom(ofDay int) int {
	h, m, s := ofDay/3600, ofDay/60%60, ofDay%60
	next := e.sets[hour].from(h)
	if next == h {
		if inHour := e.inHourFrom(m, s); inHour >= 0 {
			return h*3600 + inHour
		}
		next = e.sets[hour].from(h + 1)
	}
	if next < 0 {
		return -1
	}
	return next*3600 + e.inHourFrom(0, 0)
}

// inHourFrom is clockFrom within one hour.
func (e *Expression) inHourFrom(m, s int) int {
	next := e.sets[minute].from(m)
	if next == m {
		if inMinute := e.sets[second].from(s); inMinute >= 0 {
			return m*60 + inMinute
		}
		next = e.sets[minute].from(m + 1)
	}
	if next < 0 {
		return -1
	}
	return next*60 + e.sets[second].first()
}

// floorMod is the remainder that is never negative.
func floorMod(a, b int64) int64 { return (a%b + b) % b }
