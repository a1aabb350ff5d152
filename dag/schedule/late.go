package schedule

import (
	"time"

	"github.com/porpoise/porpoise/dag"
)

// The reasons of outcomes that the rules of a schedule give.
const (
	ReasonCalendar = "calendar"         // skipped: its day is left out
	ReasonNone     = "misfire_none"     // missed: late, and late fires are let go
	ReasonOlder    = "misfire_latest"   // missed: late, and a newer one fires
	ReasonMax      = "misfire_max"      // missed: late, and there are more than max newer ones
	ReasonAge      = "misfire_max_age"  // missed: late by more than max_age
	ReasonOverlap  = "overlap"          // skipped: an instance of the schedule had not ended
	ReasonNewer    = "overlap_newer"    // skipped: it waited, and a newer one came to wait
	ReasonPaused   = "paused"           // skipped: the schedule was paused when it was due
	ReasonChanged  = "schedule_changed" // skipped, in old ledgers alone: the schedule was changed when it was due
)

const (
	defaultGrace = 30 * time.Second
	// defaultAll is how many late fires all runs where it gives no max: an outage of a day must not start 86,400.
	defaultAll = 100
	// maxAll bounds max of all.
	maxAll = 10_000
)

// Outcome is what becomes of a late fire.
type Outcome struct {
	At   dag.Millis // when it was planned
	Fire bool
	Why  string // where it does not fire, the reason that it is missed for
}

// Late tells whether a fire that was due at one moment is late at another: it is then for Judge to say what
// becomes of it. An end or a call is never late: nobody foretold it, and what it starts is wanted whenever a master is there.
func (p *Plan) Late(due, now dag.Millis) bool { return !p.untimed && now.Sub(due) > p.grace }

// Judge says what becomes of late fires, by the moments they were planned for, the oldest first. All that are
// late together must be given at once: which is the newest counts.
func (p *Plan) Judge(late []dag.Millis, now dag.Millis) []Outcome {
	out := make([]Outcome, len(late))
	for i, at := range late {
		newer := len(late) - 1 - i
		out[i] = Outcome{At: at}
		switch {
		case p.policy == RunNone:
			out[i].Why = ReasonNone
		case p.maxAge > 0 && now.Sub(at) > p.maxAge:
			out[i].Why = ReasonAge
		case p.policy == RunLatest && newer > 0:
			out[i].Why = ReasonOlder
		case p.policy == RunAll && newer >= p.most:
			out[i].Why = ReasonMax
		default:
			out[i].Fire = true
		}
	}
	return out
}
