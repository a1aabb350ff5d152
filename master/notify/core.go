package notify

import (
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

const (
	// maxAttempts and maxAge bound how often, and for how long, one event is tried: with the pauses below the
	// former is about an hour and a half, and the latter is for who was not asked that often meanwhile.
	maxAttempts = 16
	maxAge      = 24 * time.Hour
	// firstPause is the wait before the second attempt; it doubles up to maxPause.
	firstPause = time.Second
	maxPause   = 15 * time.Minute
	// maxRest bounds the pause of a lane whose receiver fails: a receiver that is back is found within it.
	maxRest = time.Minute
	// leaseTime is how long a claimed delivery is its master's. It must outlive a call, with a margin for clocks
	// that differ: two masters would call at the same time otherwise.
	leaseTime = 3 * webhook.Timeout
	// maxError bounds what is kept of an error.
	maxError = 500
)

// pauseAfter is the wait after n failed attempts in a row, up to a limit.
func pauseAfter(n int, limit time.Duration) time.Duration {
	pause := firstPause
	for ; n > 1 && pause < limit; n-- {
		pause *= 2
	}
	return min(pause, limit)
}

// took says that the receiver took event seq: there may be more.
func took(d sql.Delivery, seq int64, status int, now dag.Millis) sql.Delivery {
	d.State, d.Seq, d.Attempts, d.Since, d.Status, d.Error = sql.DeliveryDue, seq, 0, 0, status, ""
	d.NextAt = now.Add(leaseTime)
	return d
}

// failed says that it did not: the event is tried again after a pause, or given up with all that is behind
// it, since a listener hears of an instance in order or not at all.
func failed(d sql.Delivery, status int, err error, now dag.Millis) sql.Delivery {
	d.Attempts++
	if d.Since == 0 {
		d.Since = now
	}
	d.Status, d.Error = status, cut(err)
	d.State, d.NextAt = sql.DeliveryDue, now.Add(pauseAfter(d.Attempts, maxPause))
	if d.Attempts >= maxAttempts || now.Sub(d.Since) >= maxAge {
		d.State = sql.DeliveryDead
	}
	return d
}

func cut(err error) string {
	text := []rune(fmt.Sprint(err))
	return string(text[:min(len(text), maxError)])
}

// rest is how a lane does whose receiver fails.
type rest struct {
	failures int
	until    dag.Millis
}

// maxResting bounds the lanes whose rest is remembered: of others each delivery has its own pause still.
const maxResting = 10_000

// lanes is what a notifier knows of lanes: it lives in memory alone, since every delivery has its own
// next moment in the store.
type lanes struct {
	busy    map[string]struct{}
	resting map[string]rest
}

// begin takes a lane, and says how many of its deliveries may run together; 0 is none.
func (l *lanes) begin(lane string, now dag.Millis) int {
	if _, busy := l.busy[lane]; busy || len(l.busy) >= maxLanes {
		return 0
	}
	r, troubled := l.resting[lane]
	if now < r.until {
		return 0
	}
	l.busy[lane] = struct{}{}
	if troubled {
		return 1
	}
	return laneWidth
}

// end gives a lane back. failed says that a call of it has failed and none succeeded after that.
func (l *lanes) end(lane string, failed bool, now dag.Millis) {
	delete(l.busy, lane)
	if !failed {
		delete(l.resting, lane)
		return
	}
	r, known := l.resting[lane]
	if !known && len(l.resting) >= maxResting {
		return
	}
	r.failures++
	r.until = now.Add(pauseAfter(r.failures, maxRest))
	l.resting[lane] = r
}
