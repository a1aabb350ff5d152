package heartbeat

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Settings are the knobs of a manager. Their names in a configuration are heartbeat-timeout,
// heartbeat-cycle, heartbeat-period, heartbeat-batch and heartbeat-max-retry.
type Settings struct {
	Timeout  time.Duration // an attempt without a verdict for so long is asked about everywhere
	Cycle    time.Duration // every attempt beats once in it
	Period   time.Duration // one message per master at most in it
	Batch    int           // attempts in one message
	MaxRetry int           // tries after the first within one cycle
	Send     time.Duration // a message without an answer for so long has failed
}

// The defaults, and a bound: three cycles fit into the timeout, so that a lost message costs a task nothing.
const (
	Timeout  = 15 * time.Second
	Cycle    = 5 * time.Second
	Period   = time.Second
	Batch    = 200
	MaxRetry = 3
	// Send is how long the slowest answer may take: the link is made anew a second later.
	Send = 5 * time.Second
	// MaxBatch keeps a message with all its attempts far below 4 MiB.
	MaxBatch = 4096
	// share is how much of what could be sent the attempts may need: the rest is for what
	// is sent again.
	share = 0.5
)

// WithDefaults fills in what is zero.
func (s Settings) WithDefaults() Settings {
	set := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	set(&s.Timeout, Timeout)
	set(&s.Cycle, Cycle)
	set(&s.Period, Period)
	set(&s.Send, Send)
	if s.Batch == 0 {
		s.Batch = Batch
	}
	if s.MaxRetry == 0 {
		s.MaxRetry = MaxRetry
	}
	return s
}

// Check says everything that is wrong, by the names that a configuration has. slots is how many
// attempts the worker runs at once.
func (s Settings) Check(slots int) []error {
	var wrong []error
	add := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	add(s.Period >= 10*time.Millisecond && s.Period <= time.Minute, "heartbeat-period: %s is not within 10ms and 1m", s.Period)
	add(s.Batch >= 1 && s.Batch <= MaxBatch, "heartbeat-batch: %d is not within 1 and %d", s.Batch, MaxBatch)
	add(s.MaxRetry >= 1 && s.MaxRetry <= 100, "heartbeat-max-retry: %d is not within 1 and 100", s.MaxRetry)
	add(s.Timeout > 0 && s.Timeout <= 24*time.Hour, "heartbeat-timeout: %s is not within 0 and 24h", s.Timeout)
	if len(wrong) > 0 {
		return wrong
	}
	add(s.Cycle >= s.Period, "heartbeat-cycle: %s is shorter than heartbeat-period %s", s.Cycle, s.Period)
	// One cycle that fails as a whole must leave time for another one.
	most := (s.Timeout - s.Send) / 2
	add(s.Cycle <= most, "heartbeat-cycle: %s does not fit twice into heartbeat-timeout %s less %s for the slowest answer: at most %s",
		s.Cycle, s.Timeout, s.Send, max(0, most))
	if len(wrong) == 0 {
		room := s.Capacity()
		add(slots <= room, "slots: %d attempts are more than heartbeat-batch %d per heartbeat-period %s can list within heartbeat-cycle %s: at most %d",
			slots, s.Batch, s.Period, s.Cycle, room)
	}
	return wrong
}

// Capacity is how many attempts one worker may run with these settings.
func (s Settings) Capacity() int {
	return int(share * float64(s.Batch) * (float64(s.Cycle) / float64(s.Period)))
}

// BatchFor is the smallest batch, but no less than the default, that lists so many slots at the
// default pace.
func BatchFor(slots int) int {
	perMessage := share * float64(Cycle) / float64(Period)
	return max(Batch, int(math.Ceil(float64(slots)/perMessage)))
}

// Err joins what Check finds.
func (s Settings) Err(slots int) error { return errors.Join(s.Check(slots)...) }
