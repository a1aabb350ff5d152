// Package timer says what a timer is: a cron expression and the HTTP call that is made at each of its moments.
//
// It owns the checks of a timer, the moments that it is planned for, and the rules of a try: how long it may
// take, when it is made again and when it is given up. It is pure: whoever calls it brings the moment. The
// apiserver checks timers with it, sql plans by it, and master/timer calls by it.
package timer

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/moment"
)

const (
	// Step is one window of planning. An enabled timer has the rows of the next one to two windows. It is short
	// enough for a timer of every second to cost 600 rows when it is enabled, and long enough for the database to be
	// away for minutes without a plan running out.
	Step = 5 * time.Minute
	// MaxLate is how late a call is still worth making. What no master was there for during longer than this is skipped.
	MaxLate = time.Hour
	// Kept is how long the row of a task is kept that is at its end: a timer of every second has 86,400 a day.
	Kept = 24 * time.Hour
	// ClaimAhead is how long before its moment a task may be claimed, and whether its timer is enabled is looked at:
	// so the claim costs the call no time.
	ClaimAhead = 250 * time.Millisecond
)

// Spec is what a timer does. It never changes: whoever wants another one deletes and creates.
type Spec struct {
	Cron           string              `json:"cron"` // see package dag/cron
	Dialect        string              `json:"dialect,omitempty"`
	Timezone       string              `json:"timezone,omitempty"` // IANA name; UTC where it is empty, never that of a machine
	Method         string              `json:"method"`
	URL            string              `json:"url"`
	Headers        map[string][]string `json:"headers,omitempty"`
	Body           string              `json:"body,omitempty"`
	TimeoutSeconds int                 `json:"timeout_seconds,omitempty"` // of one try; 0 is DefaultTimeout
	MaxTries       int                 `json:"max_tries,omitempty"`       // 0 is DefaultTries
}

// State is what a task, which is one firing of a timer, has come to.
type State string

// States of tasks. The first three are open, the others are final.
const (
	Planned State = "planned"
	Calling State = "calling" // a master has claimed it and calls, or died with it
	Retry   State = "retry"   // the call failed, and will be made again
	Success State = "success" // the receiver answered 2xx
	Failed  State = "failed"  // no try succeeded
	Skipped State = "skipped" // the timer was disabled or deleted, or no master was there for too long
)

// States returns all states.
func States() []State { return []State{Planned, Calling, Retry, Success, Failed, Skipped} }

// Open says that a task is not at its end.
func (s State) Open() bool { return s == Planned || s == Calling || s == Retry }

// Plan is a Spec whose moments can be asked for.
type Plan struct {
	cron cron.Expression
	loc  *time.Location
}

// Compile reads what the spec says of time. The errors are those of a column of a cron expression, or of a timezone
// that this program does not know.
func (s *Spec) Compile() (*Plan, error) {
	expression, err := cron.Parse(s.Cron, cron.Dialect(s.Dialect))
	if err != nil {
		return nil, err
	}
	loc, err := moment.Location(s.Timezone)
	if err != nil {
		return nil, err
	}
	return &Plan{expression, loc}, nil
}

// Never is where a timer is planned until that has no more moments.
const Never dag.Millis = math.MaxInt64

// Fires returns the moments at which the timer fires, from <= moment < until, the first max of them, and until where
// it is planned then: the first moment that was not returned, however far away it is, or Never.
func (p *Plan) Fires(from, until dag.Millis, most int) (fires []dag.Millis, plannedUntil dag.Millis) {
	for after := from - 1; ; {
		next, ok := p.cron.Next(after.Time(), p.loc)
		if !ok {
			return fires, Never
		}
		at := dag.MillisOf(next)
		if at >= until || len(fires) >= most {
			return fires, at
		}
		fires, after = append(fires, at), at
	}
}

const (
	// firstPause is the wait before the second try; it doubles up to maxPause.
	firstPause = time.Second
	maxPause   = time.Minute
)

// Pause is the wait after n failed tries.
func Pause(n int) time.Duration {
	pause := firstPause
	for ; n > 1 && pause < maxPause; n-- {
		pause *= 2
	}
	return min(pause, maxPause)
}

// Timeout bounds one try.
func (s *Spec) Timeout() time.Duration {
	if s.TimeoutSeconds == 0 {
		return DefaultTimeout
	}
	return time.Duration(s.TimeoutSeconds) * time.Second
}

// Tries is how often a task is tried at most. A try whose end nobody knows, since the master died with it, comes on top.
func (s *Spec) Tries() int {
	if s.MaxTries == 0 {
		return DefaultTries
	}
	return s.MaxTries
}

// Outcome is what a task has come to after a failed try, and the wait until the next one where there is one.
func (s *Spec) Outcome(tries int) (State, time.Duration) {
	if tries >= s.Tries() {
		return Failed, 0
	}
	return Retry, Pause(tries)
}

// Key names one firing of a timer: every try of it has the same, so that a receiver can tell a repetition.
func Key(timer int64, planned dag.Millis) string {
	return strconv.FormatInt(timer, 10) + "-" + strconv.FormatInt(int64(planned), 10)
}

// Methods are the methods of calls.
func Methods() []string { return slices.Clone(methods) }
