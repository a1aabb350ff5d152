package worker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

// Open says that a stream to a master was made: Hello goes out first. Hello names what is alive, and a master
// takes what it does not name for gone: call it after the runner has said what is, by News.
func (c *Core) Open(l Link) {
	c.look()
	c.opening[l] = c.boot
	h := &rpc.Hello{
		Worker: c.cfg.Node, Incarnation: c.cfg.Incarnation, Predecessor: c.cfg.Predecessor, Groups: c.cfg.Groups, Labels: c.cfg.Labels,
		Slots: int32(c.cfg.Slots), Version: c.cfg.Version, Address: c.cfg.Address, TaskTypes: typeNames(),
	}
	for _, mark := range sorted(c.attempts) {
		if a := c.attempts[mark]; !a.void {
			h.Running = append(h.Running, a.running())
		}
	}
	h.Running = append(h.Running, c.outbox.waiting(maxNamed)...)
	c.message(l).Hello = h
}

// Closed says that a stream has ended.
func (c *Core) Closed(l Link) {
	c.look()
	delete(c.opening, l)
	c.forgetPending(l)
	node := l.Peer().Node
	if o := c.links[node]; o == nil || o.Link != l {
		return
	}
	delete(c.links, node)
	c.setRoutes()
	c.asks.down(node)
	c.beats.Failed(node)
}

// Message takes what a master sent on a stream.
func (c *Core) Message(l Link, m *rpc.MasterMessage) {
	c.look()
	if _, ok := c.opening[l]; ok && m.Welcome != nil {
		c.welcomed(l, m.Welcome)
	}
	node := l.Peer().Node
	o := c.links[node]
	if o == nil || o.Link != l {
		return // of a link that has been replaced
	}
	o.answered = c.boot
	for _, d := range m.Dispatches {
		switch {
		case d.Again:
		case c.types.instants[d.Type] != nil:
			o.owed++
		default:
			c.asks.used(node, 1)
		}
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
	// First the answer to a tick: it is evidence for what the same message may bring.
	if m.Tick != nil {
		c.answered(node, o, m.Tick)
	}
	for _, a := range m.Acks {
		if r := c.outbox.ack(a, c.now); r != nil {
			c.acked(r, a.Verdict)
		}
	}
	for _, d := range m.Dispatches {
		c.dispatch(node, d)
	}
	for _, k := range m.Kills {
		c.killFor(node, k)
	}
}

func (c *Core) welcomed(l Link, w *rpc.Welcome) {
	node := l.Peer().Node
	if !c.live(w.GetGeneration()) {
		c.log.Warn("master is of a generation before the cluster's restore, not linked", "master", node, "generation", w.GetGeneration())
		delete(c.opening, l)
		l.Reset()
		return
	}
	if old := c.links[node]; old != nil {
		old.Reset()
		c.beats.Failed(node)
	}
	// The welcome answers Hello: what the master sends now it sends to this process.
	c.book.Answered(node, c.opening[l])
	delete(c.opening, l)
	c.links[node] = &open{Link: l, answered: c.boot, owed: maxInstants}
	c.setRoutes()
	c.asks.up(node)
	c.outbox.linked(node, c.now)
	if why := c.unwilling(); why != "" {
		c.message(l).Draining = why
	}
	// What was adopted has the rest of a lease: its master is asked at once.
	c.beat()
	c.log.Info("link to master made", "master", node, "incarnation", w.GetIncarnation())
}

func (c *Core) setRoutes() { c.routes = sorted(c.links) }

// acked takes a report off the disk. Its master has all of it: what stays in memory is
// enough to answer a dispatch that comes again.
func (c *Core) acked(r *rpc.Report, verdict string) {
	c.kept.gone(r.OutboxId)
	if r.State == "running" {
		a := c.attempts[markOf(r.Attempt)]
		switch {
		case a == nil:
		case verdict == "stale" && a.kill == nil:
			// Its master has another attempt, or is done with the task: this one is nobody's.
			c.kill(a, &runner.Stop{Mark: a.mark, GraceMs: a.grace, Reason: verdict})
		case verdict == "ok":
			c.beats.Delivered(a.mark, a.told)
		}
		return
	}
	if verdict == "stale" && r.State == "success" {
		// A report that was sent twice, or a late one: then the attempt was given up, and its task may run again.
		c.log.Info("result not taken: known already, or too late", "instance", r.Attempt.GetInstanceId(), "task", r.Attempt.GetTask(), "attempt", r.Attempt.GetNumber(),
			"finished_at", time.UnixMilli(r.FinishedAt).UTC().Format(time.RFC3339))
	}
	short := protoReport(r)
	short.Message, short.Outputs, short.Tail = "", nil, nil
	c.finished.put(markOf(r.Attempt), short)
}

// stale says that a master's epoch is lower than one seen for the instance: it has lost
// the instance and does not know it yet.
func (c *Core) stale(instance, epoch int64) bool {
	seen, _ := c.epochs.get(instance)
	if epoch < seen {
		return true
	}
	c.epochs.put(instance, epoch)
	return false
}

// dispatch takes one attempt. The same token again is answered, never run again.
func (c *Core) dispatch(node string, d *rpc.Dispatch) {
	id := d.GetAttempt()
	mark := markOf(id)
	if failpoint.Hit("worker.recv.before") != nil {
		return
	}
	if c.stale(id.GetInstanceId(), d.OwnerEpoch) {
		c.log.Warn("dispatch of a former owner refused", "master", node, "instance", id.GetInstanceId(), "epoch", d.OwnerEpoch)
		return
	}
	if a := c.attempts[mark]; a != nil {
		if d.OwnerEpoch < a.epoch {
			return
		}
		a.epoch = d.OwnerEpoch
		c.own(a, node)
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
	case c.unwilling() != "":
		c.finish(a, &rpc.Report{State: "returned", Reason: "draining", Message: c.unwilling()})
	case !c.mayRun(node):
		// It was long on its way: it may have been given up before it could begin.
		c.finish(a, &rpc.Report{State: "returned", Reason: leaseEnded, Message: "nobody has counted on this worker for too long"})
	case len(c.attempts) >= c.cfg.Slots && c.types.instants[d.Type] == nil:
		c.finish(a, &rpc.Report{State: "returned", Reason: "no_slot", Message: fmt.Sprintf("all %d slots are taken", c.cfg.Slots)})
	default:
		c.begin(a, d)
	}
}

// begin runs an attempt, or says at once why it can't.
func (c *Core) begin(a *attempt, d *rpc.Dispatch) {
	if a.grace <= 0 {
		a.grace = killGrace.Milliseconds()
	}
	unpack(d)
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
		c.enter(a)
		a.call, a.until = call, c.book.Until(a.owner)
		c.callers = append(c.callers, func() { c.calls.Start(a.mark, a.id, d, call) })
	}
}

func (c *Core) beginProcess(a *attempt, d *rpc.Dispatch, process task.Process) {
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
		Env: env, Dir: d.WorkingDir, Outputs: d.Outputs, Secrets: d.GetSecrets().GetValues(),
	}
	if d.GetFiles() != nil {
		c.fetch(a, d.GetFiles())
		return
	}
	c.enter(a)
	if c.runner != nil { // else it goes out when there is one again
		c.start(a)
	}
}

// start has the runner make the process of an attempt; twice is once.
func (c *Core) start(a *attempt) {
	if c.cfg.Leases {
		a.start.Until = c.book.Until(a.owner).Nanoseconds()
	}
	c.toRun.Starts = append(c.toRun.Starts, a.start)
}

// refuse ends an attempt that can't be run here.
func (c *Core) refuse(a *attempt, err error) {
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
func (c *Core) killFor(node string, k *rpc.Kill) {
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
		a.epoch = k.OwnerEpoch
		c.own(a, node)
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
func (c *Core) kill(a *attempt, stop *runner.Stop) {
	a.kill = stop
	if a.call != nil {
		c.calls.Cancel(a.mark)
		return
	}
	if a.moving != nothing {
		c.carrier.Cancel(a.mark)
		return
	}
	if c.runner != nil {
		c.toRun.Stops = append(c.toRun.Stops, stop)
	}
}

// CallOutput takes what a call writes: the runner keeps all output.
func (c *Core) CallOutput(attempt *rpc.AttemptID, data []byte) {
	c.toRun.Outputs = append(c.toRun.Outputs, &runner.Output{Attempt: toRunner(attempt, 0), Data: data})
}

// CallLasts takes that a call has been under way for a while, so that its master is to hear of its start.
func (c *Core) CallLasts(mark string) {
	c.look()
	if a := c.attempts[mark]; a != nil && a.told == 0 {
		c.report(mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, a.owner)
	}
}

// CallDone takes the end of a call; written is what it has written, tail the end of that.
func (c *Core) CallDone(mark string, result task.Result, written int64, tail []byte) {
	c.look()
	a := c.attempts[mark]
	if a == nil {
		return
	}
	if written > 0 {
		c.toRun.Outputs = append(c.toRun.Outputs, &runner.Output{Attempt: toRunner(a.id, 0), End: true})
	}
	r := resultReport(result)
	if a.kill != nil {
		r = &rpc.Report{State: "killed", Reason: a.kill.Reason}
		switch {
		case a.lost:
			r.State, r.Message = "lost", "nobody counted on it any more: it may have reached its goal"
		case a.kill.GiveBack:
			r.State = "returned"
		}
	}
	r.LogBytes, r.Tail = written, tail
	c.finish(a, r)
}
