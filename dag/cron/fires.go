package cron

import "time"

// Mark says that a change of the clocks has to do with a fire.
type Mark string

// The marks. A fire without one is an ordinary one.
const (
	// MarkGap: the time that the fire stands for was left out by the clock, and this is
	// the first instant after it.
	MarkGap Mark = "gap"
	// MarkRepeated: the clock shows this time twice on this day. An expression that
	// follows real time fires at both, any other at the first.
	MarkRepeated Mark = "repeated"
)

// Fire is one fire as a preview shows it.
type Fire struct {
	At      time.Time // in the location that was asked for
	Mark    Mark
	LeftOut string // with MarkGap the time of the day that was left out first, 02:30:00
}

// Fires returns the first n fires after a moment; fewer where Next has no more.
func (e Expression) Fires(after time.Time, loc *time.Location, n int) []Fire {
	var list []Fire
	for range n {
		at, ok := e.Next(after, loc)
		if !ok {
			break
		}
		list = append(list, e.fireAt(at))
		after = at
	}
	return list
}

func (e *Expression) fireAt(at time.Time) Fire {
	f := Fire{At: at}
	unix := at.Unix()
	p := periodAt(unix, at.Location())
	if unix == p.began && !e.FollowsRealTime() {
		if wall := e.leftOut(p); wall >= 0 {
			f.Mark, f.LeftOut = MarkGap, time.Unix(wall, 0).UTC().Format(time.TimeOnly)
			return f
		}
	}
	after := periodAt(p.ends, at.Location()).offset
	if unix+p.offset < p.began+p.before || unix+p.offset >= p.ends+after {
		f.Mark = MarkRepeated
	}
	return f
}

// Shortest returns the shortest time between two fires by the clock on the wall, and false
// where there is only one fire. A change of the clocks can bring two of an expression that
// does not follow real time nearer to each other. It is what a least interval is held to.
func (e Expression) Shortest() (time.Duration, bool) {
	if e.every > 0 {
		return time.Duration(e.every) * time.Second, true
	}
	shortest := 0
	consider := func(seconds int) {
		if shortest == 0 || seconds < shortest {
			shortest = seconds
		}
	}
	// From within a minute to within a day: what the last fire of one is away from the
	// first of the next.
	first, last := 0, 0
	for _, f := range []field{second, minute, hour} {
		unit := [...]int{second: 1, minute: 60, hour: 3600}[f]
		s := &e.sets[f]
		for v := s.first(); v >= 0; {
			next := s.from(v + 1)
			if next >= 0 {
				consider((next-v)*unit + first - last)
			}
			v = next
		}
		first, last = first+s.first()*unit, last+s.last()*unit
	}
	before := int64(-1)
	e.eachMonth(func(y int, m time.Month, days mask) bool {
		for d := 1; d <= 31; d++ {
			if days&(1<<d) == 0 {
				continue
			}
			day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
			if before >= 0 {
				consider(int(day-before) + first - last)
			}
			before = day
		}
		return shortest != secondsPerDay+first-last // two days in a row are as near as days get
	})
	return time.Duration(shortest) * time.Second, shortest > 0
}
