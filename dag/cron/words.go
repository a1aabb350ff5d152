package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// Language is one that expressions are put into words in.
type Language string

// The languages, by the names that the console has for them.
const (
	English Language = "en"
	Chinese Language = "zh-CN"
)

// Words says what the expression means: when it fires by the clock on the wall. Two
// expressions with the same words name the same times. An unknown language is English.
func (e Expression) Words(l Language) string {
	v := voice(english{})
	if l == Chinese {
		v = chinese{}
	}
	if e.every > 0 {
		return v.every(document.FormatDuration(time.Duration(e.every)*time.Second), time.Unix(e.anchor, 0).UTC().Format(time.RFC3339))
	}
	if e.sets[second] == (set{}) {
		return ""
	}
	return v.whole(e.clockShape(v), e.dayShape(v))
}

// voice puts the parts of an expression into one language.
type voice interface {
	every(length, anchor string) string
	times(list []string) string // a few times of the day
	cycle(c cycle) string       // all else that the clock may be asked for
	days(ofMonth []int) string
	span(from, to string) string // of days, months and years that follow each other
	fromEnd(n int) string        // 0 is the last day
	near(n int) string
	nearEnd(n int) string
	weekday(n int) string
	month(n int) string
	nth(n, weekday int) string // n is 0 for the last
	list(items []string) string
	whole(c clockShape, d dayShape) string
}

// cycle is what the clock shows at fires that are too many to be listed.
type cycle struct {
	seconds, minutes, hours []int
	// step of the values, where they are all that a step from 0 on gives and go round
	// without a break; 1 says that every value counts, 0 that the list must be said.
	eachSecond, eachMinute, eachHour int
}

// clockShape is the time of the day, put into words.
type clockShape struct {
	text     string
	periodic bool // it reads as something that goes on, and needs no day
}

// dayShape is which days count, put into words; what is "" is not restricted.
type dayShape struct {
	ofMonth, ofWeek string
	plainWeek       bool // of days of the week only: not the first or the last of a month
	either          bool
	months, years   string
}

// maxTimes is how many times of the day are listed one by one.
const maxTimes = 6

func (e *Expression) clockShape(v voice) clockShape {
	seconds, minutes, hours := e.sets[second].values(), e.sets[minute].values(), e.sets[hour].values()
	if len(seconds)*len(minutes)*len(hours) <= maxTimes {
		var times []string
		for _, h := range hours {
			for _, m := range minutes {
				for _, s := range seconds {
					times = append(times, clockText(h, m, s))
				}
			}
		}
		return clockShape{text: v.times(times)}
	}
	c := cycle{seconds, minutes, hours, stepOf(seconds, 60), stepOf(minutes, 60), stepOf(hours, 24)}
	return clockShape{text: v.cycle(c), periodic: true}
}

// clockText is a time of the day; seconds are left out where they are zero.
func clockText(h, m, s int) string {
	if s == 0 {
		return fmt.Sprintf("%02d:%02d", h, m)
	}
	return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
}

// stepOf returns the step of values that go round evenly: 15 for 0, 15, 30, 45 of 60.
func stepOf(values []int, size int) int {
	n := len(values)
	if n < 2 || values[0] != 0 || size%n != 0 {
		return 0
	}
	for i, v := range values {
		if v != i*size/n {
			return 0
		}
	}
	return size / n
}

func (e *Expression) dayShape(v voice) dayShape {
	d := dayShape{either: e.either}
	if !e.all[dayOfMonth] {
		var items []string
		if days := e.sets[dayOfMonth].values(); len(days) > 0 {
			items = append(items, v.days(days))
		}
		for n := range 32 {
			bit := uint32(1) << n
			if e.days.near&bit != 0 {
				items = append(items, v.near(n))
			}
		}
		for n := 31; n >= 0; n-- {
			bit := uint32(1) << n
			if e.days.fromEnd&bit != 0 {
				items = append(items, v.fromEnd(n))
			}
			if e.days.nearEnd&bit != 0 {
				items = append(items, v.nearEnd(n))
			}
		}
		d.ofMonth = v.list(items)
	}
	if !e.all[dayOfWeek] {
		items := runs(fromMonday(e.sets[dayOfWeek].values()), v.weekday, v.span)
		d.plainWeek = !e.days.anyWeek
		for n := 1; n <= 6; n++ {
			marked := e.days.last
			if n < 6 {
				marked = e.days.nth[n]
			}
			for weekday := 1; weekday <= 7; weekday++ {
				if marked&(1<<(weekday%7)) != 0 {
					items = append(items, v.nth(n%6, weekday))
				}
			}
		}
		d.ofWeek = v.list(items)
	}
	if e.either && (d.ofMonth == "" || d.ofWeek == "") {
		d.ofMonth, d.ofWeek = "", "" // one of them names every day
	}
	if !e.all[month] {
		d.months = v.list(runs(e.sets[month].values(), v.month, v.span))
	}
	if !e.all[year] {
		years := e.sets[year].values()
		for i := range years {
			years[i] += firstYear
		}
		d.years = v.list(runs(years, func(n int) string { return fmt.Sprint(n) }, v.span))
	}
	return d
}

// fromMonday puts days of the week in the order of people, with 7 for Sunday.
func fromMonday(days []int) []int {
	if len(days) > 0 && days[0] == 0 {
		days = append(days[1:], 7)
	}
	return days
}

// runs names values one by one, and three or more that follow each other by their ends.
func runs(values []int, name func(n int) string, span func(from, to string) string) []string {
	var items []string
	for i := 0; i < len(values); {
		end := i
		for end+1 < len(values) && values[end+1] == values[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			items = append(items, name(values[i]))
		} else {
			items = append(items, span(name(values[i]), name(values[end])))
		}
		i = end + 1
	}
	return items
}

// numbers names the values of a clock, each with two digits or as it is.
func numbers(values []int, format string, span func(from, to string) string) []string {
	return runs(values, func(n int) string { return fmt.Sprintf(format, n) }, span)
}

// joined puts what is not empty into one text.
func joined(separator string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}
