package moment

import "time"

// civil is what a calendar and a clock on the wall show. It is kept as a time.Time of UTC,
// where no date lacks an hour: in a zone, a midnight may not exist.
type civil struct{ time.Time }

func civilOf(at time.Time) civil {
	y, m, d := at.Date()
	h, min, s := at.Clock()
	return civil{time.Date(y, m, d, h, min, s, at.Nanosecond(), time.UTC)}
}

// in is the moment when a zone's clock shows c: the earlier one where it does so twice,
// and the moment as much later where the clock leaps over it.
func (c civil) in(loc *time.Location) time.Time {
	y, m, d := c.Date()
	h, min, s := c.Clock()
	t := time.Date(y, m, d, h, min, s, c.Nanosecond(), loc)
	// For a time that is leapt over Date uses either offset, with the one after the leap
	// the result is before it.
	_, before := t.Add(-12 * time.Hour).Zone()
	_, after := t.Add(12 * time.Hour).Zone()
	if before != after {
		if early := c.Add(-time.Duration(before) * time.Second).In(loc); civilOf(early).Equal(c.Time) || !civilOf(t).Equal(c.Time) {
			return early
		}
	}
	return t
}

func (c civil) addDays(n int) civil { return civil{c.AddDate(0, 0, n)} }

// addMonths keeps to the month: a month after 31 January is the last day of February.
func (c civil) addMonths(n int) civil {
	first := c.firstOfMonth().AddDate(0, n, 0)
	last := civil{first}.lastOfMonth().Day()
	return civil{first.AddDate(0, 0, min(c.Day(), last)-1)}
}

func (c civil) firstOfMonth() civil { return c.addDays(1 - c.Day()) }

func (c civil) lastOfMonth() civil {
	return civil{c.firstOfMonth().AddDate(0, 1, -1)}
}

// weekday counts from 1, which is the first day of the week: 1 for Monday to 7 for Sunday.
func (c civil) weekday(first int) int { return (int(c.Weekday())+6-(first-1)+7)%7 + 1 }

func (c civil) monday() civil { return c.addDays(1 - c.weekday(1)) }
func (c civil) sunday() civil { return c.addDays(7 - c.weekday(1)) }

// week is the number of the week and the year that it belongs to: the one that has at
// least four of its days (ISO 8601 where the week begins on Monday).
func (c civil) week(first int) (year, week int) {
	middle := c.addDays(4 - c.weekday(first))
	return middle.Year(), (middle.YearDay()-1)/7 + 1
}
