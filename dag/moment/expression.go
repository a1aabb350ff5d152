package moment

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// expression is what stands between $[ and ].
type expression struct {
	show  show
	shift func(c civil, at time.Time) civil // nil for none
}

// show turns what the calendar shows into text.
type show func(c civil, at time.Time) (string, *Error)

// value is what the expression says at a moment.
func (e *expression) value(at time.Time) (string, *Error) {
	c := civilOf(at)
	if e.shift != nil {
		c = e.shift(c, at)
	}
	if c.Year() < 1 || c.Year() > 9999 {
		return "", failf(0, "the date is not in the years 1 to 9999")
	}
	return e.show(c, at)
}

// shape is how many numbers a function takes after its pattern.
type shape struct {
	least, most int
	shift       func(c civil, n int) civil
}

// shifts are the functions that choose a day.
var shifts = map[string]shape{
	"this_day":        {0, 0, func(c civil, _ int) civil { return c }},
	"last_day":        {0, 0, func(c civil, _ int) civil { return c.addDays(-1) }},
	"add_months":      {1, 1, civil.addMonths},
	"month_begin":     {1, 1, func(c civil, n int) civil { return c.firstOfMonth().addDays(n) }},
	"month_end":       {1, 1, func(c civil, n int) civil { return c.lastOfMonth().addDays(n) }},
	"week_begin":      {1, 1, func(c civil, n int) civil { return c.monday().addDays(n) }},
	"week_end":        {1, 1, func(c civil, n int) civil { return c.sunday().addDays(n) }},
	"month_first_day": {0, 1, func(c civil, n int) civil { return c.firstOfMonth().addMonths(n) }},
	"month_last_day":  {0, 1, func(c civil, n int) civil { return c.firstOfMonth().addMonths(n).lastOfMonth() }},
	"week_first_day":  {0, 1, func(c civil, n int) civil { return c.monday().addDays(7 * n) }},
	"week_last_day":   {0, 1, func(c civil, n int) civil { return c.sunday().addDays(7 * n) }},
}

// parse reads one expression. The places of errors count from its beginning.
func parse(text string) (*expression, *Error) {
	if strings.TrimSpace(text) == "" {
		return nil, failf(0, "the time expression is empty: write a pattern like yyyyMMdd")
	}
	name, inside, isCall := function(text)
	if !isCall {
		return parsePattern(text)
	}
	if !strings.HasSuffix(text, ")") {
		return nil, failf(len(name), "%s( is not closed at the end: nothing may follow its )", name)
	}
	at := len(name) + 1
	switch name {
	case "timestamp":
		e, err := parse(inside)
		if err != nil {
			return nil, failf(at+err.Offset, "%s", err.Message)
		}
		return timestamp(at, e)
	case "year_week":
		return yearWeek(at, inside)
	}
	f, known := shifts[name]
	if !known {
		return nil, unknownFunction(name)
	}
	return f.parse(name, at, inside)
}

// function splits name(inside). A word is a function's name where it has an underscore:
// yyyy(MM) is a pattern.
func function(text string) (name, inside string, isCall bool) {
	name, inside, isCall = strings.Cut(text, "(")
	if !isCall || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || name != "timestamp" && !strings.Contains(name, "_") {
		return "", "", false
	}
	return name, strings.TrimSuffix(inside, ")"), true
}

func unknownFunction(name string) *Error {
	known := []string{"timestamp", "year_week"}
	for f := range shifts {
		known = append(known, f)
	}
	slices.Sort(known)
	if near := document.Nearest(name, known); near != "" {
		return failf(0, "there is no function %s; did you mean %s?", document.Quoted(name), near)
	}
	return failf(0, "there is no function %s: known are %s", document.Quoted(name), strings.Join(known, ", "))
}

// arguments splits pattern,number. A comma that no arithmetic follows belongs to the
// pattern.
func arguments(text string) (pattern, number string, has bool) {
	comma := strings.LastIndexByte(text, ',')
	if comma < 0 {
		return text, "", false
	}
	number = text[comma+1:]
	if strings.Trim(number, "0123456789+-*/() ") != "" || !strings.ContainsAny(number, "0123456789") {
		return text, "", false
	}
	return text[:comma], number, true
}

func (f shape) parse(name string, at int, inside string) (*expression, *Error) {
	text, number, has := arguments(inside)
	if has && f.most == 0 || !has && f.least == 1 {
		want := "a pattern and a number: " + name + "(yyyyMMdd,1)"
		if f.most == 0 {
			want = "a pattern alone: " + name + "(yyyyMMdd)"
		}
		return nil, failf(at, "%s takes %s", name, want)
	}
	n := 0
	if has {
		var err *Error
		if n, err = wholeOf(at+len(text)+1, number); err != nil {
			return nil, err
		}
	}
	show, err := compilePattern(text)
	if err != nil {
		return nil, failf(at+err.Offset, "%s", err.Message)
	}
	return &expression{show: show, shift: func(c civil, _ time.Time) civil { return f.shift(c, n) }}, nil
}

func wholeOf(at int, text string) (int, *Error) {
	v, err := calculate(text)
	if err == nil {
		var n int
		if n, err = whole(v); err == nil {
			return n, nil
		}
	}
	return 0, failf(at+err.Offset, "%s", err.Message)
}

// parsePattern reads a pattern with days after it: yyyyMMdd-1, HHmmss+1/24.
func parsePattern(text string) (*expression, *Error) {
	text, days := splitDays(text)
	e := &expression{}
	var err *Error
	if days != "" {
		if e.shift, err = shiftOf(len(text), days); err != nil {
			return nil, err
		}
	}
	if e.show, err = compilePattern(text); err != nil {
		return nil, err
	}
	return e, nil
}

// splitDays finds the first + or - outside of quotes that a number follows to the end.
func splitDays(text string) (pattern, days string) {
	quoted := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case !quoted && (c == '+' || c == '-'):
			rest := strings.TrimLeft(text[i+1:], " (")
			if rest != "" && rest[0] >= '0' && rest[0] <= '9' && strings.Trim(rest, "0123456789+-*/() ") == "" {
				return text[:i], text[i:]
			}
		}
	}
	return text, ""
}

// shiftOf is a shift by days. Whole days are of the calendar, the rest is time that
// passes.
func shiftOf(at int, text string) (func(c civil, at time.Time) civil, *Error) {
	v, err := calculate(text)
	if err != nil {
		return nil, failf(at+err.Offset, "%s", err.Message)
	}
	const day = 24 * 60 * 60
	seconds := new(big.Rat).Mul(v, big.NewRat(day, 1))
	switch {
	case !seconds.IsInt():
		return nil, failf(at, "the shift is no whole number of seconds: an hour is 1/24, a minute 1/24/60")
	case !seconds.Num().IsInt64() || seconds.Num().Int64() > maxDays*day || seconds.Num().Int64() < -maxDays*day:
		return nil, failf(at, "the shift is too far: at most %d days are allowed", maxDays)
	}
	days, rest := int(seconds.Num().Int64()/day), time.Duration(seconds.Num().Int64()%day)*time.Second
	return func(c civil, at time.Time) civil {
		switch {
		case rest == 0:
			return c.addDays(days)
		case days == 0:
			return civilOf(at.Add(rest))
		}
		return civilOf(c.addDays(days).in(at.Location()).Add(rest))
	}, nil
}

// timestampPattern is what the text within timestamp(...) must be of.
const timestampPattern = "20060102150405"

// timestamp is the seconds since 1970 of a time that another expression writes as
// yyyyMMddHHmmss; parts of it may be written out, as in yyyyMMdd000000.
func timestamp(at int, inner *expression) (*expression, *Error) {
	show := func(c civil, at time.Time) (string, *Error) {
		text, err := inner.show(c, at)
		if err != nil {
			return "", err
		}
		t, parseErr := time.Parse(timestampPattern, text)
		if parseErr != nil {
			return "", failf(0, "timestamp wants a time of the form yyyyMMddHHmmss, not %s", document.Quoted(text))
		}
		if t.Equal(civilOf(at).Truncate(time.Second)) {
			return strconv.FormatInt(at.Unix(), 10), nil // of two with one name, this one
		}
		return strconv.FormatInt(civil{t}.in(at.Location()).Unix(), 10), nil
	}
	e := &expression{show: show, shift: inner.shift}
	if _, err := show(civil{time.Date(2020, 12, 1, 12, 30, 0, 0, time.UTC)}, time.Time{}); err != nil {
		return nil, failf(at, "%s", err.Message)
	}
	return e, nil
}

// yearWeek is the year and the number of the week; a dash stands between them where the
// pattern has one. A number from 1 to 7 says on which day the week begins.
func yearWeek(at int, inside string) (*expression, *Error) {
	text, number, has := arguments(inside)
	first := 1
	if has {
		var err *Error
		if first, err = wholeOf(at+len(text)+1, number); err != nil {
			return nil, err
		}
		if first < 1 || first > 7 {
			return nil, failf(at+len(text)+1, "a week begins on a day from 1, Monday, to 7, Sunday, not %d", first)
		}
	}
	if _, err := compilePattern(text); err != nil {
		return nil, failf(at+err.Offset, "%s", err.Message)
	}
	dash := ""
	if strings.Contains(text, "-") {
		dash = "-"
	}
	return &expression{show: func(c civil, _ time.Time) (string, *Error) {
		year, week := c.week(first)
		return pad(year, 4) + dash + pad(week, 2), nil
	}}, nil
}
