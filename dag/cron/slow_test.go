package cron_test

import (
	"fmt"
	"strings"
	"time"
)

// slow is what an expression means, found by looking at every moment. It shares nothing
// with the package but the definition of the language.
type slow struct {
	text    string
	dialect string            // "" where the number of fields decides
	names   func(c wall) bool // the fields name this day
	shows   func(c wall) bool // the fields name this time on the wall
	real    bool
}

// wall is what a calendar and a clock show.
type wall struct{ year, month, day, weekday, hour, minute, second int }

func wallOf(t time.Time) wall {
	return wall{t.Year(), int(t.Month()), t.Day(), int(t.Weekday()), t.Hour(), t.Minute(), t.Second()}
}

// pick returns a number from 0 to n-1: of a seeded source, or of rapid.
type pick func(n int) int

func (p pick) of(texts ...string) string { return texts[p(len(texts))] }

func (p pick) between(low, high int) int { return low + p(high-low+1) }

// test tells whether a value is one that a field names.
type test func(v int) bool

var slowMonths = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")

// numbers makes a list of numbers for a field that goes round from low to high.
func (p pick) numbers(low, high int, name func(v int) string) (string, test) {
	var texts []string
	var tests []test
	for range p.between(1, 3) {
		text, one := p.number(low, high, name)
		texts, tests = append(texts, text), append(tests, one)
	}
	return strings.Join(texts, ","), func(v int) bool {
		for _, one := range tests {
			if one(v) {
				return true
			}
		}
		return false
	}
}

func (p pick) number(low, high int, name func(v int) string) (string, test) {
	size := high - low + 1
	a, b, step := p.between(low, high), p.between(low, high), p.between(1, min(size-1, 7))
	// In a range that goes round, a value is as many steps away as it takes to walk there.
	ahead := func(v int) int { return (v - a + size) % size }
	switch p(4) {
	case 0:
		return fmt.Sprintf("%s-%s", name(a), name(b)), func(v int) bool { return ahead(v) <= ahead(b) }
	case 1:
		return fmt.Sprintf("%s-%s/%d", name(a), name(b), step), func(v int) bool { return ahead(v) <= ahead(b) && ahead(v)%step == 0 }
	case 2:
		if a == low {
			break // that is a wildcard, which says more than numbers do
		}
		return fmt.Sprintf("%s/%d", name(a), step), func(v int) bool { return v >= a && (v-a)%step == 0 }
	}
	return name(a), func(v int) bool { return v == a }
}

// field makes a whole field, and says whether it is a wildcard.
func (p pick) field(low, high int, name func(v int) string) (text string, is test, wild bool) {
	switch p(4) {
	case 0:
		return "*", func(int) bool { return true }, true
	case 1:
		step := p.between(1, min(high-low, 20))
		is = func(v int) bool { return (v-low)%step == 0 }
		if p(2) == 0 && low == 0 {
			return fmt.Sprintf("0/%d", step), is, true
		}
		return fmt.Sprintf("*/%d", step), is, true
	}
	text, is = p.numbers(low, high, name)
	wild = true // a list that names all is a wildcard as well
	for v := low; v <= high; v++ {
		wild = wild && is(v)
	}
	return text, is, wild
}

func decimal(v int) string { return fmt.Sprint(v) }

// expression makes a random expression, in either dialect, with or without seconds that
// are other than zero.
func (p pick) expression(seconds bool) slow {
	quartz := p(2) == 0
	secondText, second := "0", test(func(v int) bool { return v == 0 })
	if seconds {
		secondText, second, _ = p.field(0, 59, decimal)
	}
	minuteText, minute, wildMinute := p.field(0, 59, decimal)
	hourText, hour, wildHour := p.field(0, 23, decimal)
	monthText, month := "*", test(func(int) bool { return true })
	if p(4) == 0 {
		monthText, month = p.numbers(1, 12, func(v int) string {
			if p(2) == 0 {
				return decimal(v)
			}
			return slowMonths[v-1]
		})
	}
	ofMonthText, ofMonth := p.ofMonth()
	ofWeekText, ofWeek := p.ofWeek(quartz)
	either := false
	if quartz {
		if p(2) == 0 {
			ofMonthText, ofMonth = p.of("?", "*"), func(wall) bool { return true }
		} else {
			ofWeekText, ofWeek = p.of("?", "*"), func(wall) bool { return true }
		}
		if ofMonthText == "?" && ofWeekText == "?" {
			ofWeekText = "*"
		}
	} else {
		either = ofMonthText[0] != '*' && ofWeekText[0] != '*'
	}
	s := slow{real: wildMinute || wildHour}
	s.text = fmt.Sprintf("%s %s %s %s %s", minuteText, hourText, ofMonthText, monthText, ofWeekText)
	year := test(func(int) bool { return true })
	switch {
	case quartz:
		s.text = secondText + " " + s.text
		if p(3) == 0 {
			var text string
			text, year = p.years()
			s.text += " " + text
		}
	case seconds:
		s.text, s.dialect = secondText+" "+s.text, "unix"
	}
	s.names = func(c wall) bool {
		if !year(c.year) {
			return false
		}
		if either {
			return month(c.month) && (ofMonth(c) || ofWeek(c))
		}
		return month(c.month) && ofMonth(c) && ofWeek(c)
	}
	var today wall // a walk asks for one day many times
	var named bool
	s.shows = func(c wall) bool {
		if !second(c.second) || !minute(c.minute) || !hour(c.hour) {
			return false
		}
		if day := (wall{year: c.year, month: c.month, day: c.day}); day != today {
			today, named = day, s.names(c)
		}
		return named
	}
	return s
}

// years makes a field of some of the years whose changes of clocks are walked along. It does not go round.
func (p pick) years() (string, test) {
	a, b := p.between(2024, 2027), p.between(1, 3)
	switch p(4) {
	case 0:
		return fmt.Sprintf("%d-%d", a, a+b), func(v int) bool { return v >= a && v <= a+b }
	case 1:
		return fmt.Sprintf("%d/%d", a, b), func(v int) bool { return v >= a && v <= 2099 && (v-a)%b == 0 } // the last that the field takes
	case 2:
		return fmt.Sprintf("%d,%d", a, a+b), func(v int) bool { return v == a || v == a+b }
	}
	return fmt.Sprint(a), func(v int) bool { return v == a }
}

// ofMonth makes a field of days of the month.
func (p pick) ofMonth() (string, func(c wall) bool) {
	n := p.between(1, 31)
	switch p(8) {
	case 0:
		return "L", func(c wall) bool { return c.day == c.length() }
	case 1:
		n = p.between(1, 30)
		return fmt.Sprintf("L-%d", n), func(c wall) bool { return c.day == c.length()-n }
	case 2:
		return "LW", func(c wall) bool { return c.day == c.working(c.length()) }
	case 3:
		return fmt.Sprintf("%dW", n), func(c wall) bool { return c.day == c.working(n) }
	case 4:
		m := p.between(1, 30)
		return fmt.Sprintf("L-%dW,%d", m, n), func(c wall) bool { return c.day == n || c.day == c.working(c.length()-m) }
	case 5:
		text, is := p.numbers(1, 31, decimal)
		return text, func(c wall) bool { return is(c.day) }
	case 6:
		step := p.between(1, 20)
		return fmt.Sprintf("*/%d", step), func(c wall) bool { return (c.day-1)%step == 0 }
	}
	return "*", func(wall) bool { return true }
}

var slowDays = strings.Fields("SUN MON TUE WED THU FRI SAT")

// ofWeek makes a field of days of the week.
func (p pick) ofWeek(quartz bool) (string, func(c wall) bool) {
	name := func(v int) string {
		switch {
		case p(2) == 0:
			return slowDays[v]
		case quartz:
			return decimal(v + 1)
		}
		return decimal(v)
	}
	d := p(7)
	switch p(5) {
	case 0:
		return name(d) + "L", func(c wall) bool { return c.weekday == d && c.day+7 > c.length() }
	case 1:
		n, m := p.between(1, 4), p.between(1, 5)
		return fmt.Sprintf("%s#%d,%s#%d", name(d), n, name(d), m), func(c wall) bool {
			return c.weekday == d && ((c.day+6)/7 == n || (c.day+6)/7 == m)
		}
	case 2, 3:
		text, is := p.numbers(0, 6, name)
		return text, func(c wall) bool { return is(c.weekday) }
	}
	return "*", func(wall) bool { return true }
}

// length is how many days the month has.
func (c wall) length() int {
	return time.Date(c.year, time.Month(c.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// working is the day from Monday to Friday that is nearest to a day; 0 where the month does
// not have it.
func (c wall) working(day int) int {
	if day < 1 || day > c.length() {
		return 0
	}
	best := 0
	for d := 1; d <= c.length(); d++ {
		weekday := time.Date(c.year, time.Month(c.month), d, 0, 0, 0, 0, time.UTC).Weekday()
		if weekday != time.Saturday && weekday != time.Sunday && (best == 0 || distance(d, day) < distance(best, day)) {
			best = d
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// walk is every moment of a stretch of time, with what the clock of a zone shows.
type walk struct {
	at    []time.Time
	shows []wall
	order []time.Time // the same as shows, as if in UTC, to compare
}

func walkFrom(from, to time.Time, step time.Duration, loc *time.Location) walk {
	var w walk
	for at := from; at.Before(to); at = at.Add(step) {
		local := at.In(loc)
		w.at = append(w.at, at)
		w.shows = append(w.shows, wallOf(local))
		w.order = append(w.order, time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC))
	}
	return w
}

// fires returns the indexes at which an expression fires: for one that follows real time
// all that show a time of it. For all others each time on the wall is looked for in turn:
// it fires when the clock shows it first, or has leapt over it.
func (w walk) fires(s slow, step time.Duration) map[int]bool {
	found := map[int]bool{}
	if s.real {
		for i, c := range w.shows {
			if s.shows(c) {
				found[i] = true
			}
		}
		return found
	}
	i := 0 // the clock has shown all before
	for t := w.order[0]; i < len(w.order); t = t.Add(step) {
		for i < len(w.order) && w.order[i].Before(t) {
			i++
		}
		if i < len(w.order) && s.shows(wallOf(t)) {
			found[i] = true
		}
	}
	return found
}
