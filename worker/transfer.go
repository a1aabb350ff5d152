package worker

import (
	"errors"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

// Carrier moves the artifacts of attempts between their folders here and a master. Fetch and Send say how they ended by
// Core.Fetched and Core.Sent, once each; Cancel ends what is under way for a mark, if anything. None of them waits.
type Carrier interface {
	// Fetch makes the folders of an attempt and fills that of its inputs.
	Fetch(mark string, attempt *rpc.AttemptID, files *rpc.Files)
	// Owes says that the attempt has artifacts to send once it succeeds, also if an earlier process began it.
	Owes(mark string) bool
	// Send brings a master what the attempt has left.
	Send(mark string, attempt *rpc.AttemptID)
	Cancel(mark string)
	// Drop deletes the folders of an attempt, if it has any.
	Drop(mark string)
	// Retain drops the folders of all attempts but those that keep names.
	Retain(keep func(mark string) bool)
}

// moving says what of an attempt is on its way. The process is not there meanwhile: the control process sees to the
// attempt's lease and to kills, as with a call.
type moving uint8

const (
	nothing moving = iota
	inputs         // before the process
	left           // after it
)

// here says that the attempt's lease is kept by this process, and not by the runner.
func (a *attempt) here() bool { return a.call != nil || a.moving != nothing }

// fetch brings an attempt what it uses, before its process is made.
func (c *Core) fetch(a *attempt, files *rpc.Files) {
	if c.carrier == nil {
		c.refuse(a, &task.Error{Reason: "unknown_type", Message: "this worker can't keep artifacts"})
		return
	}
	a.moving, a.until = inputs, c.book.Until(a.owner)
	c.enter(a)
	c.carrier.Fetch(a.mark, a.id, files)
}

// Fetched takes the end of a Fetch: env is what the process sees of its folders.
func (c *Core) Fetched(mark string, env []string, err error) {
	c.look()
	a := c.attempts[mark]
	if a == nil || a.moving != inputs {
		return
	}
	a.moving = nothing
	switch {
	case a.kill != nil:
		r := &rpc.Report{State: "killed", Reason: a.kill.Reason}
		if a.lost || a.kill.GiveBack {
			r.State = "returned" // it has not begun
		}
		c.finish(a, r)
	case err != nil:
		c.refuse(a, err)
	default:
		a.start.Env = append(a.start.Env, env...)
		if c.runner != nil { // else it goes out when there is one again
			c.start(a)
		}
	}
}

// send has a master keep what an attempt has left, before anybody hears that it succeeded. The runner remembers its
// end until then, so that another control process does the same again.
func (c *Core) send(a *attempt, e *runner.Exit) {
	if c.attempts[a.mark] == nil {
		a.epoch, a.startedAt, a.grace = e.GetAttempt().GetOwnerEpoch(), e.StartedAt, killGrace.Milliseconds()
		c.enter(a)
	}
	a.moving, a.exit, a.until = left, e, c.book.Until(a.owner)
	c.carrier.Send(a.mark, a.id)
}

// Sent takes the end of a Send.
func (c *Core) Sent(mark string, err error) {
	c.look()
	a := c.attempts[mark]
	if a == nil || a.moving != left {
		return
	}
	c.forget = append(c.forget, mark)
	r := exitReport(a.exit)
	switch {
	case err == nil:
	case a.kill != nil:
		r.State, r.Reason, r.Outputs = "killed", a.kill.Reason, nil
		switch {
		case a.lost:
			r.State, r.Message = "lost", "nobody counted on it any more while its artifacts were sent"
		case a.kill.GiveBack:
			r.State = "returned"
		}
	default:
		r.State, r.Reason, r.Message, r.Outputs = "failed", "artifact_refused", err.Error(), nil
		if te, ok := errors.AsType[*task.Error](err); ok {
			r.Reason, r.Message = te.Reason, te.Message
		}
	}
	c.finish(a, r)
}

// dropFolders deletes the folders of attempts whose ends are on disk.
func (c *Core) dropFolders() {
	for _, mark := range c.drops {
		c.carrier.Drop(mark)
	}
	c.drops = c.drops[:0]
}
