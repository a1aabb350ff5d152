package cron

import "strings"

// field is one place of an expression, in the order in which Quartz writes them.
type field int

const (
	second field = iota
	minute
	hour
	dayOfMonth
	month
	dayOfWeek
	year
	fieldCount
)

// span is what a field may hold.
type span struct {
	name     string
	min, max int
	maxStep  int // the longest step that means something, as Quartz has it
	names    []string
}

var (
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

// firstYear and lastYear are the years of Quartz's seventh field.
const (
	firstYear = 1970
	lastYear  = 2099
)

// spans are what the fields hold. The numbers of dayOfWeek depend on the dialect: spanOf
// knows them.
var spans = [fieldCount]span{
	second:     {name: "second", min: 0, max: 59, maxStep: 59},
	minute:     {name: "minute", min: 0, max: 59, maxStep: 59},
	hour:       {name: "hour", min: 0, max: 23, maxStep: 23},
	dayOfMonth: {name: "day of month", min: 1, max: 31, maxStep: 31},
	month:      {name: "month", min: 1, max: 12, maxStep: 12, names: monthNames},
	dayOfWeek:  {name: "day of week", min: 1, max: 7, maxStep: 7, names: weekdayNames},
	year:       {name: "year", min: firstYear, max: lastYear, maxStep: lastYear - firstYear},
}

// spanOf returns what a field may hold in a dialect. Unix counts the days of the week from
// Sunday, 0, and takes 7 for Sunday as well; Quartz counts from Sunday, 1.
func spanOf(f field, d Dialect) span {
	s := spans[f]
	if f == dayOfWeek && d == Unix {
		s.min = 0
	}
	return s
}

// named returns the number that a name stands for. The first name is that of the smallest
// number.
func (s *span) named(text string) (int, bool) {
	for i, name := range s.names {
		if strings.EqualFold(name, text) {
			return s.min + i, true
		}
	}
	return 0, false
}
