package interval

import "time"

// Interval is a stretch of time: From belongs to it, To does not.
type Interval struct{ From, To time.Time }

// Holds tells whether t lies in the interval.
func (i Interval) Holds(t time.Time) bool { return !t.Before(i.From) && t.Before(i.To) }

// A day begins when the clock first shows its 00:00, or where that is left out, when the
// clock passes it. What a clock set back across midnight shows again belongs to the new day.
// A date that a zone never had (30 December 2011 in Apia) is no day.

// startOf returns when a date begins in a location. Month and day may be out of range, as
// in time.Date; a date that never was begins with the one after it.
func startOf(year int, month time.Month, day int, loc *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, loc)
	began, ends := t.ZoneBounds()
	switch midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); clock(t).Compare(midnight) {
	case -1: // left out: t stands before the change, or after it
		return ends
	case 1:
		return began
	}
	if began.IsZero() {
		return t
	}
	// The clock may have shown this midnight before it was set back.
	_, now := t.Zone()
	_, before := began.Add(-1).Zone()
	if first := t.Add(time.Duration(now-before) * time.Second); first.Before(began) {
		return first
	}
	return t
}

// clock returns what the clock shows at t, as if in UTC, so that it can be compared.
func clock(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// dayOf returns the day that t lies in.
func dayOf(t time.Time) Interval {
	year, month, day := t.Date()
	d := Interval{startOf(year, month, day, t.Location()), startOf(year, month, day+1, t.Location())}
	for ; !t.Before(d.To); day++ {
		d = Interval{d.To, startOf(year, month, day+2, t.Location())}
	}
	return d
}

// unit gives the hour, or the day, that a moment lies in.
type unit func(t time.Time) Interval

var (
	hours unit = hourOf
	days  unit = dayOf
)

// between returns the units from the one that begins at from up to the moment to.
func (of unit) between(from, to time.Time) []Interval {
	var units []Interval
	for at := from; at.Before(to); {
		one := of(at)
		units = append(units, one)
		at = one.To
	}
	return units
}

// last returns the n units before the one of t, the earliest first.
func (of unit) last(t time.Time, n int) []Interval {
	units := make([]Interval, n)
	at := of(t).From
	for i := n - 1; i >= 0; i-- {
		units[i] = of(at.Add(-1))
		at = units[i].From
	}
	return units
}

// weekStart returns when the Monday begins that is some weeks away from the week of t. It
// counts by the date of the day, which a clock set back across midnight does not change.
func weekStart(t time.Time, weeks int) time.Time {
	d := dateOf(t)
	sinceMonday := (int(d.Weekday()) + 6) % 7
	return startOf(d.Year(), d.Month(), d.Day()-sinceMonday+7*weeks, t.Location())
}

// monthStart returns when the month begins that is some months away from that of t.
func monthStart(t time.Time, months int) time.Time {
	d := dateOf(t)
	return startOf(d.Year(), d.Month()+time.Month(months), 1, t.Location())
}

// dateOf returns the date of the day that t lies in, as midnight in UTC.
func dateOf(t time.Time) time.Time {
	year, month, day := dayOf(t).To.Add(-1).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// An hour begins when the clock shows a full hour, or with its day. So every hour has one
// full hour in it, at which an hourly schedule fires: where clocks are set by 30 minutes
// (Lord Howe), one hour of that day has 90 minutes.

// hourOf returns the hour that t lies in.
func hourOf(t time.Time) Interval {
	day := dayOf(t)
	h := Interval{lastFullHour(t), nextFullHour(t)}
	if h.From.Before(day.From) {
		h.From = day.From
	}
	if h.To.After(day.To) {
		h.To = day.To
	}
	return h
}

// lastFullHour returns the last moment up to t at which the clock shows a full hour.
func lastFullHour(t time.Time) time.Time {
	for {
		full := t.Add(-sinceFullHour(t))
		began, _ := t.ZoneBounds()
		if began.IsZero() || !full.Before(began) {
			return full
		}
		t = began.Add(-1)
	}
}

// nextFullHour returns the first moment after t at which the clock shows a full hour.
func nextFullHour(t time.Time) time.Time {
	for {
		full := t.Add(time.Hour - sinceFullHour(t))
		_, ends := t.ZoneBounds()
		// On 31 December of a leap year after 2037 the end that package time tells is past.
		if ends.IsZero() || !ends.After(t) || full.Before(ends) {
			return full
		}
		if t = ends; sinceFullHour(t) == 0 {
			return t
		}
	}
}

func sinceFullHour(t time.Time) time.Duration {
	_, m, s := t.Clock()
	return time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
}
