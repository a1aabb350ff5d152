package worker

import (
	"time"

	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// stopWait is how long tasks that were told to end are waited for beyond their grace.
	stopWait = 12 * time.Second
	// flushWait is how long a leaving worker waits for acks, and for the dispatches that its asks may have
	// brought about already: those it gives back. What has no ack is on disk.
	flushWait = 2 * time.Second
)

// draining is how far a worker has come in leaving.
type draining struct {
	begun, ending, flushing, done bool

	until time.Time // of the step under way
}

// next is when the step under way is late.
func (d *draining) next() (time.Time, bool) { return d.until, d.begun && !d.done }

// Leave begins the worker's end: it asks for no more work, waits for what runs as its Config says,
// ends or leaves the rest, and then Left says so.
func (c *Core) Leave() {
	c.look()
	c.drain.begun, c.drain.until = true, c.now.Add(c.cfg.DrainFor)
	c.tellUnwilling()
	c.log.Info("worker drains", "running", len(c.attempts), "for", c.cfg.DrainFor)
}

// Left says that the worker has left: nothing more is to be done.
func (c *Core) Left() bool { return c.drain.done }

// Keeps is how many attempts are still there; after Left they are the runner's.
func (c *Core) Keeps() int { return len(c.attempts) }

func (c *Core) tellUnwilling() {
	for _, node := range c.routes {
		c.message(c.links[node].Link).Draining = c.unwilling()
	}
}

// away is a worker that takes no work although it goes on.
type away struct {
	reason string
	until  time.Time // what runs then is given back; zero: it may end
	ended  bool
}

// Drain stops taking work until Resume: what runs may end, or is given back after a while where
// one is named. Said again it only changes the reason and the time.
func (c *Core) Drain(reason string, giveBack time.Duration) {
	c.look()
	c.away = away{reason: reason}
	if giveBack > 0 {
		c.away.until = c.now.Add(giveBack)
	}
	c.tellUnwilling()
	c.log.Info("worker drains by request", "reason", reason, "running", len(c.attempts), "give_back_after", giveBack)
}

// Resume takes work again.
func (c *Core) Resume() {
	c.look()
	if c.away.reason != "" {
		c.away = away{}
		c.log.Info("worker takes work again")
	}
}

// awayStep gives back what a drain does not wait for.
func (c *Core) awayStep() {
	if c.away.until.IsZero() || c.away.ended || c.now.Before(c.away.until) {
		return
	}
	c.away.ended = true
	for _, mark := range sorted(c.attempts) {
		c.giveBack(c.attempts[mark])
	}
}

// giveBack ends an attempt as no failure of its own: it goes to another worker.
func (c *Core) giveBack(a *attempt) {
	if a.kill == nil {
		c.kill(a, &runner.Stop{Mark: a.mark, GraceMs: a.grace, Reason: "resource_termination", GiveBack: true})
	}
}

// drainStep moves the leaving on.
func (c *Core) drainStep() {
	d := &c.drain
	if !d.begun || d.done {
		return
	}
	late := !c.now.Before(d.until)
	if !d.ending && (late || len(c.attempts) == 0) {
		d.ending, d.until = true, c.now.Add(c.endAll()+stopWait)
		late = false
	}
	if d.ending && !d.flushing && (late || c.onlyKept()) {
		d.flushing, d.until = true, c.now.Add(flushWait)
		late = false
	}
	if d.flushing && (late || len(c.routes) == 0 || (len(c.outbox.items) == 0 && c.asks.held() == 0)) {
		d.done = true
		c.toRun.Quit = len(c.attempts) == 0
	}
}

// endAll ends what the runner is not to keep, and returns the longest grace.
func (c *Core) endAll() time.Duration {
	longest := time.Duration(0)
	for _, mark := range sorted(c.attempts) {
		a := c.attempts[mark]
		if c.cfg.KeepTasks && a.call == nil && a.moving != inputs {
			continue // of one whose artifacts are sent the runner remembers the end
		}
		longest = max(longest, time.Duration(a.grace)*time.Millisecond)
		c.giveBack(a)
	}
	return longest
}

// onlyKept says that all that is left stays with the runner, which has said so of each.
func (c *Core) onlyKept() bool {
	for _, a := range c.attempts {
		if !c.cfg.KeepTasks || a.call != nil || a.startedAt == 0 {
			return false
		}
	}
	return true
}
