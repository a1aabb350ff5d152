package worker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

// handle takes what a master sent.
func (c *core) handle(l *link, m *rpc.MasterMessage) {
	if c.links[l.peer.Node] != l {
		return // of a link that has been replaced
	}
	l.answered = c.now
	node := l.peer.Node
	if n := len(m.Dispatches); n > 0 {
		c.asks.used(node, n)
	}
	if m.Unused > 0 {
		c.asks.unused(node, int(m.Unused))
	}
	if len(m.Waiting) > 0 {
		waiting := 0
		for _, w := range m.Waiting {
			for _, g := range c.cfg.Groups {
				if g == w.Group {
					waiting += int(w.Count)
				}
			}
		}
		c.asks.announce(node, waiting, c.now)
	}
	for _, a := range m.Acks {
		if r := c.outbox.ack(a, c.now); r != nil {
			c.acked(r)
		}
	}
	for _, d := range m.Dispatches {
		c.dispatch(node, d)
	}
	for _, k := range m.Kills {
		c.killFor(node, k)
	}
	for _, v := range m.GetTick().GetVerdicts() {
		c.verdict(node, v)
	}
}

// acked takes a report off the disk. Its master has all of it: what stays in memory is
// enough to answer a dispatch that comes again.
func (c *core) acked(r *rpc.Report) {
	c.kept.gone(r.OutboxId)
	if r.State == "running" {
		return
	}
	short := protoReport(r)
	short.Message, short.Outputs, short.Tail = "", nil, nil
	c.finished.put(markOf(r.Attempt), short)
}

// stale says that a master's epoch is lower than one seen for the instance: it has lost
// the instance and does not know it yet.
func (c *core) stale(instance, epoch int64) bool {
	seen, _ := c.epochs.get(instance)
	if epoch < seen {
		return true
	}
	c.epochs.put(instance, epoch)
	return false
}

// dispatch takes one attempt. The same token again is answered, never run again.
func (c *core) dispatch(node string, d *rpc.Dispatch) {
	id := d.GetAttempt()
	mark := markOf(id)
	if c.stale(id.GetInstanceId(), d.OwnerEpoch) {
		c.log.Warn("dispatch of a former owner refused", "master", node, "instance", id.GetInstanceId(), "epoch", d.OwnerEpoch)
		return
	}
	if a := c.attempts[mark]; a != nil {
		if d.OwnerEpoch < a.epoch {
			return
		}
		a.owner, a.epoch = node, d.OwnerEpoch
		if a.startedAt != 0 && !c.outbox.resend(mark, node, c.now) {
			c.report(mark, &rpc.Report{Attempt: id, State: "running", StartedAt: a.startedAt}, node)
		}
		return
	}
	if r, ok := c.finished.get(mark); ok {
		if !c.outbox.resend(mark, node, c.now) {
			c.report(mark, protoReport(r), node)
		}
		return
	}
	a := &attempt{mark: mark, id: id, epoch: d.OwnerEpoch, owner: node, grace: d.KillGraceMs}
	switch {
	case c.drain.begun:
		c.finish(a, &rpc.Report{State: "returned", Reason: "draining", Message: "the worker takes no more work"})
	case len(c.attempts) >= c.cfg.Slots:
		c.finish(a, &rpc.Report{State: "returned", Reason: "no_slot", Message: fmt.Sprintf("all %d slots are taken", c.cfg.Slots)})
	default:
		c.begin(a, d)
	}
}

// begin runs an attempt, or says at once why it can't.
func (c *core) begin(a *attempt, d *rpc.Dispatch) {
	if a.grace <= 0 {
		a.grace = killGrace.Milliseconds()
	}
	if process := c.types.processes[d.Type]; process != nil {
		c.beginProcess(a, d, process)
		return
	}
	instant, call := c.types.instants[d.Type], c.types.calls[d.Type]
	if instant == nil && call == nil {
		c.refuse(a, &task.Error{Reason: "unknown_type", Message: fmt.Sprintf("this worker can't run tasks of type %q", d.Type)})
		return
	}
	a.startedAt = c.now.UnixMilli()
	switch {
	case d.DryRun:
		c.finish(a, &rpc.Report{State: "success"})
	case instant != nil:
		c.finish(a, resultReport(instant.Instant(d)))
	default:
		if err := c.kept.begin(a.id); err != nil {
			c.refuse(a, err)
			return
		}
		c.attempts[a.mark] = a
		c.beginCall(a, d, call)
		c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, a.owner)
	}
}

func (c *core) beginProcess(a *attempt, d *rpc.Dispatch, process task.Process) {
	command, err := process.Command(d)
	var env []string
	if err == nil {
		env, err = task.Env(d)
	}
	if err != nil {
		c.refuse(a, err)
		return
	}
	if d.DryRun {
		a.startedAt = c.now.UnixMilli()
		c.finish(a, &rpc.Report{State: "success"})
		return
	}
	a.start = &runner.Start{
		Attempt: toRunner(a.id, a.epoch), Mark: a.mark, Argv: command.Argv, Script: command.Script,
		Env: env, Dir: d.WorkingDir, Outputs: d.Outputs,
	}
	c.attempts[a.mark] = a
	if c.runner != nil { // else it goes out when there is one again
		c.toRun.Starts = append(c.toRun.Starts, a.start)
	}
}

// refuse ends an attempt that can't be run here.
func (c *core) refuse(a *attempt, err error) {
	reason := "exec_failed"
	message := err.Error()
	if te, ok := errors.AsType[*task.Error](err); ok {
		reason, message = te.Reason, te.Message
	}
	a.startedAt = c.now.UnixMilli()
	c.finish(a, &rpc.Report{State: "failed", Reason: reason, Message: message, Tail: []byte("porpoise: " + message + "\n")})
}

func resultReport(r task.Result) *rpc.Report {
	if r.Reason != "" {
		return &rpc.Report{State: "failed", Reason: r.Reason, Message: strings.ToValidUTF8(r.Message, "?")}
	}
	return &rpc.Report{State: "success", Outputs: r.Outputs}
}

// protoReport copies what a report says, without its id: it goes out as a new one.
func protoReport(r *rpc.Report) *rpc.Report {
	return &rpc.Report{
		Attempt: r.Attempt, State: r.State, Reason: r.Reason, Message: r.Message, StartedAt: r.StartedAt,
		FinishedAt: r.FinishedAt, ExitCode: r.ExitCode, Outputs: r.Outputs, Tail: r.Tail, LogBytes: r.LogBytes,
	}
}

// killFor ends an attempt because its master says so.
func (c *core) killFor(node string, k *rpc.Kill) {
	id := k.GetAttempt()
	if c.stale(id.GetInstanceId(), k.OwnerEpoch) {
		c.log.Warn("kill of a former owner refused", "master", node, "instance", id.GetInstanceId(), "epoch", k.OwnerEpoch)
		return
	}
	mark := markOf(id)
	if a := c.attempts[mark]; a != nil {
		if k.OwnerEpoch < a.epoch {
			return
		}
		a.owner, a.epoch = node, k.OwnerEpoch
		grace := k.GraceMs
		if grace <= 0 {
			grace = a.grace
		}
		c.kill(a, &runner.Stop{Mark: mark, GraceMs: grace, Reason: k.Reason})
		return
	}
	if r, ok := c.finished.get(mark); ok {
		if !c.outbox.resend(mark, node, c.now) {
			c.report(mark, protoReport(r), node)
		}
		return
	}
	// It never came, or ended long ago. Remembered as ended, it can't start any more.
	now := c.now.UnixMilli()
	c.report(mark, &rpc.Report{
		Attempt: id, State: "killed", Reason: k.Reason, StartedAt: now, FinishedAt: now, Message: "it was not on this worker",
	}, node)
}

// kill ends an attempt; its report follows when nothing of it is left.
func (c *core) kill(a *attempt, stop *runner.Stop) {
	a.kill = stop
	if a.call != nil {
		a.call(errKilled)
		return
	}
	if c.runner != nil {
		c.toRun.Stops = append(c.toRun.Stops, stop)
	}
}

var errKilled = errors.New("killed")

// verdict takes a master's word about an attempt that a tick listed.
func (c *core) verdict(node string, v *rpc.Verdict) {
	a := c.attempts[markOf(v.GetAttempt())]
	if a == nil {
		return
	}
	switch v.Verdict {
	case "gone", "cancelled", "stale":
		if a.kill == nil {
			c.kill(a, &runner.Stop{Mark: a.mark, GraceMs: a.grace, Reason: v.Verdict})
		}
	case "not_owner":
		if a.owner == node {
			a.owner = ""
		}
	}
}

// callDone takes the end of a call.
func (c *core) callDone(mark string, result task.Result, sent int64, tail []byte) {
	a := c.attempts[mark]
	if a == nil {
		return
	}
	r := resultReport(result)
	if a.kill != nil {
		r = &rpc.Report{State: "killed", Reason: a.kill.Reason}
		if a.kill.GiveBack {
			r.State = "returned"
		}
	}
	r.LogBytes, r.Tail = sent, tail
	c.finish(a, r)
}
