package cron

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// element is one of the elements of a field's list.
type element struct {
	*parser
	f    field
	span span
	part part
}

// read adds what the element names to the expression.
func (el *element) read() {
	text := el.part.text
	switch {
	case text == "":
		el.fail(0, document.CodeInvalid, "", "%s has a list with an empty element", el.span.name)
	case text == "?":
		el.fail(0, document.CodeInvalid, text, "? cannot stand in a list of %s", el.span.name)
	case el.f == dayOfMonth && el.dayFromEnd(), el.f == dayOfWeek && el.dayOfMonthsWeek():
	default:
		el.values()
	}
}

// values reads *, a value or a range, with or without a step.
func (el *element) values() {
	text, stepText, stepped := strings.Cut(el.part.text, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		switch {
		case !digits(stepText):
			el.fail(len(text)+1, document.CodeInvalid, stepText, "the step of %s wants a number in 1-%d after the /", el.span.name, el.span.maxStep)
			return
		case err != nil || n < 1 || n > el.span.maxStep:
			message := fmt.Sprintf("the step %s of %s is not in 1-%d", document.Shown(stepText), el.span.name, el.span.maxStep)
			if unit := "smh"[min(int(el.f), 2)]; err == nil && n > 0 && el.f <= hour {
				message += fmt.Sprintf(": a field begins anew each time; for a longer cycle write @every %d%c", n, unit)
			}
			el.fail(len(text)+1, document.CodeOutOfRange, stepText, "%s", message)
			return
		}
		step = n
	}
	if text == "*" || text == "" && stepped {
		el.open(el.span.min, step)
		return
	}
	lowText, highText, ranged := strings.Cut(text, "-")
	low, ok := el.value(lowText, 0)
	if ranged {
		high, also := el.value(highText, len(lowText)+1)
		if ok && also {
			el.closed(low, high, step)
		}
		return
	}
	switch {
	case !ok:
	case stepped:
		el.open(low, step)
	default:
		el.closed(low, low, 1)
	}
}

// open adds every step-th value from one to the field's last. From the field's first value
// on, it is a wildcard.
func (el *element) open(low, step int) {
	if low == el.span.min && (el.f == minute || el.f == hour) {
		el.e.real = true
	}
	high := el.span.max
	if el.f == dayOfWeek && low < 7 {
		high = el.span.min + 6
	}
	el.closed(low, high, step)
}

// closed adds every step-th value of a range, which goes on from the field's first value
// where it ends before it begins. Years do not come again.
func (el *element) closed(low, high, step int) {
	if low > high {
		if el.f == year {
			el.fail(0, document.CodeInvalid, el.part.text, "year has the range %d-%d, which ends before it begins", low, high)
			return
		}
		high += el.size()
	}
	for v := low; v <= high; v += step {
		el.e.sets[el.f].add(el.kept(v))
	}
}

// size is how many different values the field has.
func (el *element) size() int {
	if el.f == dayOfWeek {
		return 7
	}
	return el.span.max - el.span.min + 1
}

// kept is a value, which may have gone over the last one, as the set has it.
func (el *element) kept(v int) int {
	switch el.f {
	case dayOfWeek:
		return (v - el.span.min) % 7
	case year:
		return v - firstYear
	case second, minute, hour, dayOfMonth, month, fieldCount:
	}
	return el.span.min + (v-el.span.min)%el.size()
}

// value reads a number or a name that stands at an offset of the element.
func (el *element) value(text string, at int) (int, bool) {
	if !digits(text) {
		if v, ok := el.span.named(text); ok {
			return v, true
		}
		el.fail(at, document.CodeInvalid, text, "%s", el.unknown(text))
		return 0, false
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < el.span.min || v > el.span.max {
		message := fmt.Sprintf("%s %s is not in %d-%d", el.span.name, document.Shown(text), el.span.min, el.span.max)
		if el.f == dayOfWeek && el.e.dialect == Quartz {
			message += "; Quartz counts from 1, Sunday"
		}
		el.fail(at, document.CodeOutOfRange, text, "%s", message)
		return 0, false
	}
	return v, true
}

// unknown says what a text could have been that is neither a number nor a name.
func (el *element) unknown(text string) string {
	message := fmt.Sprintf("%s %s is not a number in %d-%d", el.span.name, document.Quoted(text), el.span.min, el.span.max)
	if text == "" {
		message = fmt.Sprintf("%s wants a number in %d-%d here", el.span.name, el.span.min, el.span.max)
	}
	if len(el.span.names) == 0 {
		return message
	}
	message += fmt.Sprintf(" or a name in %s-%s", el.span.names[0], el.span.names[len(el.span.names)-1])
	upper := strings.ToUpper(text)
	near := document.Nearest(upper, el.span.names)
	for _, name := range el.span.names {
		if strings.HasPrefix(upper, name) { // MONDAY
			near = name
		}
	}
	if near != "" {
		message += "; did you mean " + near + "?"
	}
	return message
}

// dayFromEnd reads L, L-3, LW, L-3W and 15W; it is false for all else.
func (el *element) dayFromEnd() bool {
	text := strings.ToUpper(el.part.text)
	rest, working := strings.CutSuffix(text, "W")
	if number, fromEnd := strings.CutPrefix(rest, "L"); fromEnd {
		n := 0
		if number != "" {
			var ok bool
			if number, ok = strings.CutPrefix(number, "-"); !ok {
				return false
			}
			if n, ok = el.number(number, 2, "the days before the last", 1, 30); !ok {
				return true
			}
		}
		if working {
			el.e.days.nearEnd |= 1 << n
		} else {
			el.e.days.fromEnd |= 1 << n
		}
	} else {
		if !working || rest == "" {
			return false
		}
		n, ok := el.number(rest, 0, "the day before W", 1, 31)
		if !ok {
			return true
		}
		el.e.days.near |= 1 << n
	}
	el.e.days.anyMonth = true
	return true
}

// dayOfMonthsWeek reads 6L, FRIL, 6#3, FRI#3 and Quartz's bare L; it is false for all else.
func (el *element) dayOfMonthsWeek() bool {
	text := strings.ToUpper(el.part.text)
	if text == "L" {
		if el.e.dialect == Unix {
			el.fail(0, document.CodeInvalid, text, "day of week L means Saturday only in Quartz: write SAT, or SATL for the month's last one")
		} else {
			el.e.sets[dayOfWeek].add(6)
		}
		return true
	}
	if name, n, found := strings.Cut(text, "#"); found {
		weekday, ok := el.value(name, 0)
		which, also := el.number(n, len(name)+1, "the number after #", 1, 5)
		if ok && also {
			el.e.days.nth[which] |= 1 << el.kept(weekday)
			el.e.days.anyWeek = true
		}
		return true
	}
	name, found := strings.CutSuffix(text, "L")
	if !found {
		return false
	}
	if weekday, ok := el.value(name, 0); ok {
		el.e.days.last |= 1 << el.kept(weekday)
		el.e.days.anyWeek = true
	}
	return true
}

// number reads the number of an L, a W or a #.
func (el *element) number(text string, at int, what string, low, high int) (int, bool) {
	n, err := strconv.Atoi(text)
	if !digits(text) || err != nil || n < low || n > high {
		code := document.CodeOutOfRange
		if !digits(text) {
			code = document.CodeInvalid
		}
		el.fail(at, code, text, "%s: %s wants a number in %d-%d", el.span.name, what, low, high)
		return 0, false
	}
	return n, true
}

func (el *element) fail(at int, code, value, format string, args ...any) {
	el.wrongField(el.f, el.part.at+at, code, value, format, args...)
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
