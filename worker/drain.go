package worker

import (
	"time"

	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// stopWait is how long tasks that were told to end are waited for beyond their grace.
	stopWait = 12 * time.Second
	// flushWait is how long a leaving worker waits for acks. What has none is on disk.
	flushWait = 2 * time.Second
)

// draining is how far a worker has come in leaving.
type draining struct {
	begun, ending, flushing, done bool

	until time.Time // of the step under way
}

// next is when the step under way is late.
func (d *draining) next() (time.Time, bool) { return d.until, d.begun && !d.done }

// beginDrain stops asking for work.
func (c *core) beginDrain() {
	c.drain.begun, c.drain.until = true, c.now.Add(c.cfg.DrainFor)
	for _, l := range c.links {
		c.message(l).Draining = "the worker is stopping"
	}
	c.log.Info("worker drains", "running", len(c.attempts), "for", c.cfg.DrainFor)
}

// drainStep moves the leaving on.
func (c *core) drainStep() {
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
	if d.flushing && (late || len(c.outbox.items) == 0 || len(c.routes) == 0) {
		d.done = true
		c.toRun.Quit = len(c.attempts) == 0
	}
}

// endAll ends what the runner is not to keep, and returns the longest grace.
func (c *core) endAll() time.Duration {
	longest := time.Duration(0)
	for _, a := range c.attempts {
		if c.cfg.KeepTasks && a.call == nil {
			continue
		}
		longest = max(longest, time.Duration(a.grace)*time.Millisecond)
		if a.kill == nil {
			c.kill(a, &runner.Stop{Mark: a.mark, GraceMs: a.grace, Reason: "resource_termination", GiveBack: true})
		}
	}
	return longest
}

// onlyKept says that all that is left stays with the runner.
func (c *core) onlyKept() bool {
	for _, a := range c.attempts {
		if !c.cfg.KeepTasks || a.call != nil {
			return false
		}
	}
	return true
}
