package worker

import (
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
)

// AttachUntil is what a new connection to the runner says of deadlines: whatever was granted
// to the process before, this one has no evidence older than a lease. 0 is nothing.
func (c *Core) AttachUntil() time.Duration {
	if !c.cfg.Leases {
		return 0
	}
	return c.cfg.Boot() + lease.Length
}

// RunnerGone says that the connection to the runner has ended.
func (c *Core) RunnerGone(r Runner) {
	c.look()
	if c.runner == r {
		c.runner = nil
	}
}

// News takes what the runner said.
func (c *Core) News(r Runner, n *runner.News) {
	c.look()
	if n.Attached != nil {
		c.attach(r, n.Attached)
	}
	c.dropped = max(c.dropped, n.DroppedBytes)
	c.refused = max(c.refused, n.Refused)
	for _, s := range n.Started {
		c.started(s)
	}
	for _, e := range n.Exits {
		c.ended(e)
	}
	for _, s := range n.Stuck {
		if a := c.attempts[s.Mark]; a != nil && !a.void {
			c.log.Error("kill not confirmed", "instance", a.id.GetInstanceId(), "task", a.id.GetTask(), "pids", s.Pids)
			c.report(a.mark, &rpc.Report{
				Attempt: a.id, State: "running", StartedAt: a.startedAt, Reason: "unkillable",
				Message: "processes of this attempt do not end by KILL",
			}, a.owner)
		}
	}
}

// attach makes what the runner says of its tasks the truth: what is alive is adopted,
// what has ended is reported, and what it never took is sent to it again.
func (c *Core) attach(r Runner, attached *runner.Attached) {
	c.runner = r
	for _, s := range attached.Running {
		c.adopt(s)
	}
	for _, e := range attached.Exits {
		c.ended(e)
	}
	// Orders that were lost with the last connection are made again; each is idempotent.
	c.toRun.Starts, c.toRun.Stops, c.toRun.Leases = nil, nil, nil
	alive := make(map[string]bool, len(attached.Running))
	for _, s := range attached.Running {
		alive[s.Mark] = true
	}
	for _, mark := range sorted(c.attempts) {
		a := c.attempts[mark]
		if a.here() {
			continue
		}
		if !alive[mark] && a.start != nil {
			c.start(a)
		}
		if a.kill != nil {
			c.toRun.Stops = append(c.toRun.Stops, a.kill)
		}
	}
	if c.carrier != nil {
		c.carrier.Retain(func(mark string) bool { return c.attempts[mark] != nil })
	}
	if len(c.attempts) > 0 {
		c.log.Info("attempts adopted", "running", len(attached.Running), "ended", len(attached.Exits))
	}
}

// adopt takes over an attempt that the runner has kept alive.
func (c *Core) adopt(s *runner.Started) {
	if a := c.attempts[s.Mark]; a != nil {
		c.started(s)
		return
	}
	epoch := s.GetAttempt().GetOwnerEpoch()
	a := &attempt{
		mark: s.Mark, id: fromRunner(s.Attempt), epoch: epoch, startedAt: s.StartedAt, grace: killGrace.Milliseconds(),
	}
	c.enter(a)
	if seen, _ := c.epochs.get(a.id.GetInstanceId()); epoch > seen {
		c.epochs.put(a.id.GetInstanceId(), epoch)
	}
	if a.startedAt != 0 {
		c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, "")
	}
}

func (c *Core) started(s *runner.Started) {
	a := c.attempts[s.Mark]
	if a == nil || a.void || s.StartedAt == 0 || a.startedAt == s.StartedAt {
		return
	}
	a.startedAt = s.StartedAt
	c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, a.owner)
}

// ended takes the end of a process. The runner may forget it once the outbox has it.
func (c *Core) ended(e *runner.Exit) {
	a := c.attempts[e.Mark]
	if a != nil && a.moving == left {
		return // said again, to a connection that was made anew
	}
	if a == nil {
		if _, ok := c.finished.get(e.Mark); ok {
			c.forget = append(c.forget, e.Mark)
			return
		}
		a = &attempt{mark: e.Mark, id: fromRunner(e.Attempt)}
	}
	if e.State == "success" && !a.void && c.carrier != nil && c.carrier.Owes(e.Mark) {
		c.send(a, e)
		return
	}
	c.forget = append(c.forget, e.Mark)
	c.finish(a, exitReport(e))
}

func exitReport(e *runner.Exit) *rpc.Report {
	return &rpc.Report{
		State: e.State, Reason: e.Reason, Message: e.Message, StartedAt: e.StartedAt, FinishedAt: e.FinishedAt,
		ExitCode: e.ExitCode, Outputs: e.Outputs, Tail: e.Tail, LogBytes: e.LogBytes,
	}
}
