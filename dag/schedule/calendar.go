package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// MaxDays bounds the entries of a calendar: the holidays of a country for half a century.
const MaxDays = 1000

// BusinessDays names the calendar that is there without being made: Monday to Friday.
const BusinessDays = "business_days"

// Calendar is a set of days. An entry is one of
//
//	2026-12-25                a date
//	2026-12-24..2027-01-06    from one date to another, both included
//	12-25                     a day of every year; 02-29 is one of leap years
//	saturday                  a day of the week, or its first three letters
type Calendar struct {
	Days []string `json:"days"`
}

// date is a day without a clock, counted from 1970-01-01.
type date int

func dateOf(year int, month time.Month, day int) date {
	return date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

// civil is the midnight of a date, as if in UTC.
func (d date) civil() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

func (d date) weekday() time.Weekday { return d.civil().Weekday() }

const secondsPerDay = 24 * 60 * 60

// span is a stretch of dates, both ends included.
type span struct{ first, last date }

// days is a calendar that was read.
type days struct {
	spans    []span // in order of first, none touching another
	yearly   map[monthDay]bool
	weekdays [7]bool
}

type monthDay struct {
	month time.Month
	day   int
}

// Check returns everything that is wrong with the calendar; field is the path of its entries.
func (c Calendar) Check(field string) []dag.FieldError {
	_, wrong := c.read(field)
	return wrong
}

func (c Calendar) read(field string) (*days, []dag.FieldError) {
	switch {
	case len(c.Days) == 0:
		return nil, []dag.FieldError{{Field: field, Code: document.CodeRequired, Message: "a calendar has at least one day"}}
	case len(c.Days) > MaxDays:
		return nil, []dag.FieldError{{Field: field, Code: document.CodeTooLarge, Message: fmt.Sprintf("%d entries, at most %d are allowed", len(c.Days), MaxDays)}}
	}
	d := &days{yearly: map[monthDay]bool{}}
	var wrong []dag.FieldError
	for i, entry := range c.Days {
		if err := d.add(entry); err != nil && len(wrong) < document.MaxErrors {
			wrong = append(wrong, dag.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: document.CodeInvalid, Value: document.Shown(entry), Message: err.Error()})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	d.join()
	return d, nil
}

func (d *days) add(entry string) error {
	if w, ok := weekdayOf(entry); ok {
		d.weekdays[w] = true
		return nil
	}
	// A leap year, so that 02-29 is a day.
	if t, err := time.Parse(time.DateOnly, "2024-"+entry); err == nil {
		d.yearly[monthDay{t.Month(), t.Day()}] = true
		return nil
	}
	from, to, isRange := strings.Cut(entry, "..")
	if !isRange {
		to = from
	}
	first, err := readDate(from)
	if err != nil {
		return err
	}
	last, err := readDate(to)
	switch {
	case err != nil:
		return err
	case last < first:
		return fmt.Errorf("%s is before %s", document.Shown(to), document.Shown(from))
	}
	d.spans = append(d.spans, span{first, last})
	return nil
}

// join sorts the spans and makes one of those that touch, so that at most one holds a date.
func (d *days) join() {
	slices.SortFunc(d.spans, func(a, b span) int { return int(a.first - b.first) })
	joined := d.spans[:0]
	for _, s := range d.spans {
		if n := len(joined); n > 0 && s.first <= joined[n-1].last+1 {
			joined[n-1].last = max(joined[n-1].last, s.last)
			continue
		}
		joined = append(joined, s)
	}
	d.spans = joined
}

func readDate(text string) (date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("%s is no day: want 2026-12-25, 2026-12-24..2027-01-06, 12-25 or a day of the week", document.Quoted(text))
	}
	return dateOf(t.Date()), nil
}

func weekdayOf(text string) (time.Weekday, bool) {
	for w := time.Sunday; w <= time.Saturday; w++ {
		if name := w.String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return w, true
		}
	}
	return 0, false
}

// has tells whether the calendar holds a date.
func (d *days) has(day date) bool {
	if d.weekdays[day.weekday()] {
		return true
	}
	if len(d.yearly) > 0 {
		t := day.civil()
		if d.yearly[monthDay{t.Month(), t.Day()}] {
			return true
		}
	}
	i, exact := slices.BinarySearchFunc(d.spans, day, func(s span, day date) int { return int(s.first - day) })
	return exact || i > 0 && day <= d.spans[i-1].last
}
