package cron

import "time"

// mask is the days of one month: bit 1 is the first, bit 31 the last.
type mask = uint64

// calendar is what the day fields need to know of a month.
type calendar struct {
	length int // days
	first  int // the day of the week of day 1, 0 is Sunday
}

func calendarOf(year int, month time.Month) calendar {
	return calendar{
		length: time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day(),
		first:  int(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()),
	}
}

// whole is all days of the month.
func (c calendar) whole() mask { return 1<<(c.length+1) - 2 }

// on is every day of the month with a day of the week.
func (c calendar) on(weekday int) mask {
	const weeks = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	return weeks << (1 + (weekday-c.first+7)%7) & c.whole()
}

// near is the working day, Monday to Friday, that is nearest to a day without leaving the
// month; 0 where the month does not have the day.
func (c calendar) near(day int) mask {
	if day < 1 || day > c.length {
		return 0
	}
	switch weekday := (c.first + day - 1) % 7; {
	case weekday == 6 && day == 1:
		day += 2
	case weekday == 6:
		day--
	case weekday == 0 && day == c.length:
		day -= 2
	case weekday == 0:
		day++
	}
	return 1 << day
}

// daysIn returns the days of a month that the day fields name.
func (e *Expression) daysIn(c calendar) mask {
	byMonth, byWeek := e.byMonth(c), e.byWeek(c)
	if e.either {
		return byMonth | byWeek
	}
	return byMonth & byWeek
}

func (e *Expression) byMonth(c calendar) mask {
	if e.all[dayOfMonth] {
		return c.whole()
	}
	days := e.sets[dayOfMonth][0] & c.whole()
	if e.days.anyMonth {
		for n := range 32 {
			if e.days.fromEnd&(1<<n) != 0 && n < c.length {
				days |= 1 << (c.length - n)
			}
			if e.days.near&(1<<n) != 0 {
				days |= c.near(n)
			}
			if e.days.nearEnd&(1<<n) != 0 {
				days |= c.near(c.length - n)
			}
		}
	}
	return days
}

func (e *Expression) byWeek(c calendar) mask {
	if e.all[dayOfWeek] {
		return c.whole()
	}
	var days mask
	for weekday := range 7 {
		on, bit := c.on(weekday), uint8(1)<<weekday
		if e.sets[dayOfWeek].has(weekday) {
			days |= on
		}
		if !e.days.anyWeek {
			continue
		}
		if e.days.last&bit != 0 {
			days |= on &^ (1<<(c.length-6) - 1) // the last seven days
		}
		for n := 1; n <= 5; n++ {
			if e.days.nth[n]&bit != 0 {
				days |= on & (0b11111110 << (7 * (n - 1)))
			}
		}
	}
	return days
}

// eachMonth visits the months of enough years to see every kind of year there is: of 28
// without a turn of the century each begins on every day of the week, leap years too.
func (e *Expression) eachMonth(visit func(year int, m time.Month, days mask) (more bool)) {
	first, last := 2000, 2027
	if !e.all[year] {
		first, last = firstYear+e.sets[year].first(), firstYear+e.sets[year].last()
	}
	for y := first; y <= last; y++ {
		if !e.inYear(y) {
			continue
		}
		for m := time.January; m <= time.December; m++ {
			if e.sets[month].has(int(m)) && !visit(y, m, e.daysIn(calendarOf(y, m))) {
				return
			}
		}
	}
}

func (e *Expression) inYear(y int) bool {
	return e.all[year] || y >= firstYear && y <= lastYear && e.sets[year].has(y-firstYear)
}

// possible tells whether the calendar ever has a day that the expression names.
func (e *Expression) possible() bool {
	found := false
	e.eachMonth(func(_ int, _ time.Month, days mask) bool {
		found = days != 0
		return !found
	})
	return found
}
