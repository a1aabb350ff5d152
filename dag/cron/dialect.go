package cron

// Dialect is how an expression counts and combines days.
//
//	         fields                    Sunday   both day fields are set
//	Unix     5, or 6 with seconds      0 or 7   a day that either names
//	Quartz   6, or 7 with a year       1        refused
type Dialect string

// The dialects. Auto is what Parse resolves by one rule: five fields are Unix, six and
// seven are Quartz. An expression never has Auto.
const (
	Auto   Dialect = ""
	Unix   Dialect = "unix"
	Quartz Dialect = "quartz"
)

// Dialects are the words for a dialect that people may give.
func Dialects() []string { return []string{string(Unix), string(Quartz)} }

// resolve returns the dialect of an expression of so many fields, and whether it has so
// many.
func (d Dialect) resolve(fields int) (Dialect, bool) {
	switch {
	case d == Auto && fields == 5:
		d = Unix
	case d == Auto:
		d = Quartz
	}
	switch fields {
	case 5:
		return d, d == Unix
	case 6:
		return d, true
	case 7:
		return d, d == Quartz
	}
	return d, false
}

// wants says how many fields a dialect has.
func (d Dialect) wants() string {
	switch d {
	case Unix:
		return "5 (minute, hour, day of month, month, day of week), or 6 with the second first"
	case Quartz:
		return "6 (second, minute, hour, day of month, month, day of week), or 7 with the year last"
	case Auto:
	}
	return "5 (Unix, from minute to day of week), 6 (Quartz, second first) or 7 (Quartz, year last)"
}
