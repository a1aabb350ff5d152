package cron

import "time"

// Expression is when a schedule fires. The zero Expression never does. It is a small value
// that never changes, so it may be copied and used by any number of goroutines.
type Expression struct {
	text    string
	dialect Dialect
	fields  int // 5, 6 or 7; 0 of a word such as @daily

	sets [fieldCount]set
	all  [fieldCount]bool // the field holds every value, so its set need not be asked
	days special
	// either: a day counts that one of the day fields names; else both must.
	either bool
	// real: minute or hour is a wildcard, so that the expression follows real time when
	// clocks change, and not the clock on the wall.
	real bool

	every  int64 // seconds of @every; 0 of all others
	anchor int64 // a moment at which @every fires, in Unix seconds
}

// special is what the day fields name beside numbers. Bit n of a mask is the n of its name.
type special struct {
	fromEnd  uint32   // L, L-n: the n-th day before the month's last
	near     uint32   // nW: the working day nearest to day n
	nearEnd  uint32   // LW, L-nW: the working day nearest to the n-th day before the last
	last     uint8    // nL: the last of a day of the week in the month
	nth      [6]uint8 // d#n: by n, from 1 to 5, the days of the week
	anyMonth bool     // something is set
	anyWeek  bool
}

// String returns the text that was parsed.
func (e Expression) String() string { return e.text }

// Dialect returns Unix or Quartz, as it was given or as the number of fields says.
func (e Expression) Dialect() Dialect { return e.dialect }

// Fields returns how many fields the text has: 5, 6 or 7, and 0 for a word such as @daily.
func (e Expression) Fields() int { return e.fields }

// FollowsRealTime tells whether a change of the clocks moves the fires: so it is where the
// minute or the hour is *, */n or says the same, and for @every. All others stand for a
// time on the wall, at which they fire once a day whatever the clocks do.
func (e Expression) FollowsRealTime() bool { return e.real || e.every > 0 }

// From returns the expression with the moment, cut to seconds, that @every counts from. All
// others do not count, and stay as they are.
func (e Expression) From(anchor time.Time) Expression {
	if e.every > 0 {
		e.anchor = anchor.Unix()
	}
	return e
}
