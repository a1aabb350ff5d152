package schedule

import (
	"math"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
)

// never is after every moment.
const never dag.Millis = math.MaxInt64

// maxMove is how many days away a calendar moves a fire at most; one that finds no day so near is skipped.
const maxMove = 31

// Fire is one planned fire.
type Fire struct {
	At   dag.Millis // when it is planned: its schedule time
	Due  dag.Millis // At and its jitter: when it starts
	Skip string     // the reason that it is left out for, "" where it fires
}

// Fires returns the fires from one moment until before another, in order and at most so many; and until when
// all are told: until, or where max cut it just after the last one, and math.MaxInt64 where no other comes ever.
func (p *Plan) Fires(from, until dag.Millis, most int) (fires []Fire, plannedUntil dag.Millis) {
	for after := from - 1; ; {
		f, ok := p.Next(after)
		switch {
		case !ok:
			return fires, never
		case f.At >= until:
			return fires, max(from, until)
		case len(fires) == most:
			if most == 0 {
				return nil, from
			}
			return fires, fires[most-1].At + 1
		}
		fires = append(fires, f)
		after = f.At
	}
}

// Next returns the first fire after a moment, whether it is left out or not; false where there is none.
func (p *Plan) Next(after dag.Millis) (Fire, bool) {
	f := Fire{}
	ok := false
	switch p.excluded {
	case moveNext, movePrevious:
		f, ok = p.nextMoved(after)
	default:
		if f.At, ok = p.base(max(after, p.start-1)); ok && p.excluded == moveSkip && !p.counts(p.dateAt(f.At)) {
			f.Skip = ReasonCalendar
		}
	}
	if !ok || f.At > p.end {
		return Fire{}, false
	}
	f.Due = f.At + p.jitterOf(f.At)
	return f, true
}

// maxLeftOut bounds the days that NextOn looks at: a calendar that leaves out more of them in a row leaves out all.
const maxLeftOut = 5 * 366

// NextOn returns the first fire after a moment that no calendar leaves out; false where there is none, or none for
// years. It goes over whole days, however many fires they have.
func (p *Plan) NextOn(after dag.Millis) (Fire, bool) {
	for range maxLeftOut {
		f, ok := p.Next(after)
		if !ok || f.Skip == "" {
			return f, ok
		}
		after = max(f.At, p.midnight(p.dateAt(f.At)+1)-1)
	}
	return Fire{}, false
}

// base is Next without start, end and calendars.
func (p *Plan) base(after dag.Millis) (dag.Millis, bool) {
	if p.untimed {
		return 0, false
	}
	if p.at != nil {
		i, found := slices.BinarySearch(p.at, after)
		if found {
			i++
		}
		if i == len(p.at) {
			return 0, false
		}
		return p.at[i], true
	}
	at, ok := p.cron.Next(time.UnixMilli(int64(after)), p.loc)
	return dag.Millis(at.UnixMilli()), ok
}

func (p *Plan) neverFires() bool {
	_, ok := p.Next(p.start - 1)
	return !ok
}

// dateAt is the date on the schedule's calendar.
func (p *Plan) dateAt(at dag.Millis) date { return dateOf(time.UnixMilli(int64(at)).In(p.loc).Date()) }

// counts tells whether fires are on a day.
func (p *Plan) counts(day date) bool {
	for _, c := range p.skip {
		if c.has(day) {
			return false
		}
	}
	for _, c := range p.only {
		if !c.has(day) {
			return false
		}
	}
	return true
}

// nextMoved is Next where fires of days that do not count are moved to others. It goes through the days: the fires of
// one are its own and those of the days next to it that are moved there. Two that meet are one.
func (p *Plan) nextMoved(after dag.Millis) (Fire, bool) {
	after = max(after, p.start-1)
	for day := p.dateAt(after); ; day++ {
		// A fire of this day or a later one stands for one from maxMove days before it on.
		source, ok := p.base(p.midnight(day-maxMove) - 1)
		if !ok || p.end != never && day > p.dateAt(p.end) {
			return Fire{}, false
		}
		if first := p.dateAt(source) - maxMove; first > day {
			day = first
		}
		if f, ok := p.first(day, after); ok {
			return f, true
		}
	}
}

// first returns the first fire of a day that is after a moment.
func (p *Plan) first(day date, after dag.Millis) (best Fire, found bool) {
	take := func(f Fire) {
		if f.At > after && (!found || f.At < best.At) {
			best, found = f, true
		}
	}
	own := p.of(day)
	if !p.counts(day) {
		if _, ok := p.target(day); !ok {
			for _, at := range own {
				take(Fire{At: at, Skip: ReasonCalendar})
			}
		}
		return best, found
	}
	for _, at := range own {
		take(Fire{At: at})
	}
	step := date(-1)
	if p.excluded == movePrevious {
		step = 1
	}
	for from := day + step; from != day+step*(maxMove+1) && !p.counts(from); from += step {
		for _, at := range p.of(from) {
			take(Fire{At: p.shift(at, day)})
		}
	}
	return best, found
}

// target is the day that the fires of one that does not count are moved to.
func (p *Plan) target(day date) (date, bool) {
	step := date(1)
	if p.excluded == movePrevious {
		step = -1
	}
	for n := date(1); n <= maxMove; n++ {
		if p.counts(day + n*step) {
			return day + n*step, true
		}
	}
	return 0, false
}

// of returns the fires of a day by the schedule alone.
func (p *Plan) of(day date) []dag.Millis {
	var list []dag.Millis
	end := p.midnight(day + 1)
	for at, ok := p.base(p.midnight(day) - 1); ok && at < end; at, ok = p.base(at) {
		list = append(list, at)
	}
	return list
}

// midnight is the first moment of a date, or the moment at which the clocks leapt over it.
func (p *Plan) midnight(day date) dag.Millis { return p.clock(day, 0) }

// clock is the moment at which the clock shows a time of a day, the first of two, and the first after a gap.
func (p *Plan) clock(day date, ofDay time.Duration) dag.Millis {
	t := day.civil().Add(ofDay)
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), p.loc)
	wall := func(at time.Time) time.Time {
		_, offset := at.Zone()
		return at.UTC().Add(time.Duration(offset) * time.Second)
	}
	if shown := wall(at); !shown.Equal(t) {
		// In a gap, which is between what time.Date gives and where its offset changes.
		began, ends := at.ZoneBounds()
		if shown.After(t) {
			return dag.Millis(began.UnixMilli())
		}
		return dag.Millis(ends.UnixMilli())
	}
	// Of a time that is shown twice it is not said which one time.Date gives.
	if began, _ := at.ZoneBounds(); !began.IsZero() {
		_, now := at.Zone()
		_, before := began.Add(-1).Zone()
		if earlier := at.Add(time.Duration(now-before) * time.Second); earlier.Before(began) && wall(earlier).Equal(t) {
			at = earlier
		}
	}
	return dag.Millis(at.UnixMilli())
}

// shift is the moment of the same time of the day on another one.
func (p *Plan) shift(at dag.Millis, day date) dag.Millis {
	t := time.UnixMilli(int64(at)).In(p.loc)
	h, m, s := t.Clock()
	return p.clock(day, time.Duration(h)*time.Hour+time.Duration(m)*time.Minute+time.Duration(s)*time.Second+time.Duration(t.Nanosecond()))
}

// jitterOf is how much later than planned a fire is due: by chance as far as people can see, and the same for the
// same fire of the same schedule whoever reckons it.
func (p *Plan) jitterOf(at dag.Millis) dag.Millis {
	if p.jitter == 0 {
		return 0
	}
	return dag.Millis(mix(mix(uint64(p.id))^uint64(at)) % uint64(p.jitter.Milliseconds()+1))
}

// mix spreads the bits of a number (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Location is the timezone whose clock the schedule goes by.
func (p *Plan) Location() *time.Location { return p.loc }

// Mark says what a change of the clocks has to do with a fire, and with cron.MarkGap the time that the clock left out.
func (p *Plan) Mark(at dag.Millis) (mark cron.Mark, leftOut string) {
	if p.at != nil || p.untimed {
		return "", ""
	}
	fires := p.cron.Fires(time.UnixMilli(int64(at)-1), p.loc, 1)
	if len(fires) == 0 || dag.Millis(fires[0].At.UnixMilli()) != at {
		return "", ""
	}
	return fires[0].Mark, fires[0].LeftOut
}
