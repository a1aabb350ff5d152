package cron

import (
	"fmt"
	"strings"
	"time"
)

// english is the voice of English.
type english struct{}

func (english) every(length, anchor string) string {
	return "every " + length + ", counted from " + anchor
}

func (v english) times(list []string) string { return "at " + v.list(list) }

func (v english) cycle(c cycle) string {
	one := func(what string, values []int, format string) string {
		if len(values) > 1 {
			what += "s"
		}
		return what + " " + v.list(numbers(values, format, v.span))
	}
	zero := len(c.seconds) == 1 && c.seconds[0] == 0
	full := len(c.minutes) == 1 && c.minutes[0] == 0
	hours := ""
	if c.eachHour != 1 {
		hours = " in the " + one("hour", c.hours, "%02d")
	}
	if zero && len(c.minutes) == 1 {
		// One fire an hour.
		from, to := clockText(c.hours[0], c.minutes[0], 0), clockText(c.hours[len(c.hours)-1], c.minutes[0], 0)
		switch {
		case c.eachHour == 1 && full:
			return "every hour"
		case c.eachHour == 1:
			return "every hour at " + one("minute", c.minutes, "%d")
		case c.eachHour > 1:
			return fmt.Sprintf("every %d hours from %s", c.eachHour, from)
		case len(c.hours) == c.hours[len(c.hours)-1]-c.hours[0]+1:
			return "every hour from " + from + " to " + to
		}
		return "at " + one("minute", c.minutes, "%d") + hours
	}
	minutes := ""
	switch {
	case zero && c.eachMinute == 1:
		return "every minute" + hours
	case zero && c.eachMinute > 1:
		return fmt.Sprintf("every %d minutes", c.eachMinute) + hours
	case zero && hours == "":
		return "at " + one("minute", c.minutes, "%d") + " of every hour"
	case zero:
		return "at " + one("minute", c.minutes, "%d") + hours
	case c.eachMinute != 1:
		minutes = " in " + one("minute", c.minutes, "%d")
		if hours == "" {
			hours = " of every hour"
		}
	}
	switch {
	case c.eachSecond == 1:
		return "every second" + minutes + hours
	case c.eachSecond > 1:
		return fmt.Sprintf("every %d seconds", c.eachSecond) + minutes + hours
	case minutes == "":
		minutes = " of every minute"
	}
	return "at " + one("second", c.seconds, "%d") + minutes + hours
}

func (v english) days(ofMonth []int) string {
	if len(ofMonth) == 1 {
		return fmt.Sprintf("day %d", ofMonth[0])
	}
	return "days " + v.list(numbers(ofMonth, "%d", v.span))
}

func (english) span(from, to string) string { return from + " to " + to }

func (english) fromEnd(n int) string {
	switch n {
	case 0:
		return "the last day"
	case 1:
		return "the day before the last"
	}
	return fmt.Sprintf("the day %d days before the last", n)
}

func (english) near(n int) string { return fmt.Sprintf("the working day nearest to day %d", n) }

func (v english) nearEnd(n int) string {
	if n == 0 {
		return "the last working day"
	}
	return "the working day nearest to " + v.fromEnd(n)
}

func (english) weekday(n int) string { return time.Weekday(n % 7).String() }
func (english) month(n int) string   { return time.Month(n).String() }

func (v english) nth(n, weekday int) string {
	return "the " + [...]string{"last", "first", "second", "third", "fourth", "fifth"}[n] + " " + v.weekday(weekday)
}

func (english) list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

func (v english) whole(c clockShape, d dayShape) string {
	ofMonth, ofWeek := d.ofMonth, d.ofWeek
	if ofMonth != "" {
		ofMonth += " of the month"
	}
	if ofWeek != "" && !d.plainWeek {
		ofWeek += " of the month"
	}
	days := ""
	switch {
	case ofMonth != "" && ofWeek != "" && d.either:
		days = "on " + ofMonth + ", and also on " + ofWeek
	case ofMonth != "" && ofWeek != "":
		days = "on " + ofMonth + ", but only if that is " + ofWeek
	case ofMonth != "" || ofWeek != "":
		days = "on " + ofMonth + ofWeek
	case !c.periodic:
		days = "every day"
	}
	months, years := d.months, d.years
	if months != "" {
		months = "in " + months
	}
	if years != "" {
		years = "in " + years
	}
	return joined(", ", joined(" ", c.text, days), months, years)
}
