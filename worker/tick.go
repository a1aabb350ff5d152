package worker

import (
	"time"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/heartbeat"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// tickEvery is how often a link is used at least: its answers are what leases live on.
	tickEvery = time.Second
	// diskLow and diskEnough are the free shares of the disk under which a worker asks for no
	// more work and over which it asks again.
	diskLow    = 0.05
	diskEnough = 0.10
	// maxTicks bounds the ticks of one link without an answer; the link ends long before.
	maxTicks = 64
)

// TickEvery is the pace in which Tick wants to be called.
func (c *Core) TickEvery() time.Duration { return min(tickEvery, c.cfg.Heartbeat.Period) }

// Tick is the pulse: beats and empty ticks go to the masters, deadlines to the runner.
func (c *Core) Tick() {
	c.look()
	if c.ticked != 0 {
		c.drift = max(0, c.boot-c.ticked-c.TickEvery())
	}
	c.ticked = c.boot
	c.lookAtDisk()
	if m := c.cfg.Membership; m != nil {
		if at := m.LastRenewed(); !at.IsZero() {
			c.book.Renewed(c.sight.See(at, c.now, c.boot))
		}
	}
	c.endCalls()
	for _, mark := range c.beats.Lapsed(c.boot) {
		c.reconcile(c.attempts[mark])
	}
	c.awayStep()
	c.beat()
	c.handLeases()
}

// beat sends ticks, with the beats that are due, to the masters that answer.
func (c *Core) beat() {
	var up []string
	for _, node := range c.routes {
		l := c.links[node]
		if c.boot-l.answered > linkSilence {
			c.log.Warn("master does not answer", "master", node)
			l.Reset()
			continue
		}
		up = append(up, node)
	}
	if failpoint.Hit("hb.send.before") != nil {
		return // as if they had been lost
	}
	beats := map[string]heartbeat.Message{}
	for _, m := range c.beats.Tick(c.boot, up) {
		beats[m.To] = m
	}
	load := c.cfg.Load()
	for _, node := range up {
		l, beat := c.links[node], beats[node]
		if len(beat.Attempts) == 0 && c.boot-l.ticked < tickEvery-tickEvery/10 {
			continue
		}
		c.lastID++
		l.ticked = c.boot
		if len(l.ticks) < maxTicks {
			l.ticks = append(l.ticks, sentTick{id: c.lastID, sent: c.boot, beat: beat.ID})
		}
		t := &rpc.Tick{
			Id: c.lastID, Load: load, DriftMs: c.drift.Milliseconds(),
			FreeSlots: int32(c.freeSlots()), Outbox: int32(len(c.outbox.items)),
		}
		for _, mark := range beat.Attempts {
			t.Running = append(t.Running, c.attempts[mark].running())
		}
		c.message(l.Link).Tick = t
	}
}

// answered takes the answer to a tick: evidence for the attempts of that master, from when the tick was sent.
func (c *Core) answered(node string, l *open, reply *rpc.TickReply) {
	var tick sentTick
	for len(l.ticks) > 0 && tick.id != reply.Id {
		if l.ticks[0].id > reply.Id {
			return
		}
		tick, l.ticks = l.ticks[0], l.ticks[1:]
	}
	if tick.id != reply.Id || tick.id == 0 {
		return
	}
	if tick.beat != 0 {
		c.verdicts(node, tick, reply)
	}
	if !reply.Unsure {
		c.book.Answered(node, tick.sent)
		c.handLeases() // at once: this process may not live to its next tick
	}
}

// verdicts takes what a master says of the attempts that a tick named.
func (c *Core) verdicts(node string, tick sentTick, reply *rpc.TickReply) {
	verdicts := make([]heartbeat.Verdict, 0, len(reply.Verdicts))
	for _, v := range reply.Verdicts {
		mark := markOf(v.GetAttempt())
		verdicts = append(verdicts, heartbeat.Verdict{
			Attempt: mark, Kind: v.Verdict, Owner: nodeOf(v.Owner), RetryAfter: time.Duration(v.RetryAfterMs) * time.Millisecond,
		})
		a := c.attempts[mark]
		switch {
		case a == nil:
		case v.Verdict == "ok" && a.owner != node && c.links[a.owner] == nil:
			a.owner = node // the manager finds the same
		case v.Verdict == "not_owner" && (a.owner == node || v.Owner != ""):
			a.owner = nodeOf(v.Owner)
		}
	}
	for _, v := range c.beats.Answer(node, tick.beat, verdicts, c.boot) {
		if a := c.attempts[v.Attempt]; a != nil && a.kill == nil {
			c.kill(a, &runner.Stop{Mark: a.mark, GraceMs: a.grace, Reason: v.Kind})
		}
	}
}

// reconcile asks about an attempt that no master has spoken of for long: the report
// goes to whoever may own it until one answers, and that answer decides.
func (c *Core) reconcile(a *attempt) {
	if a == nil || a.startedAt == 0 {
		return
	}
	c.log.Warn("attempt without a verdict, asking about it", "instance", a.id.GetInstanceId(), "task", a.id.GetTask(), "owner", a.owner)
	c.own(a, "")
	if !c.outbox.resend(a.mark, "", c.now) {
		c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, "")
	}
}

// handLeases tells the runner until when its attempts may run. What is evidence for all goes once;
// the attempts of a master that answers later than that are named.
func (c *Core) handLeases() {
	if !c.cfg.Leases || len(c.attempts) == 0 {
		return
	}
	all := c.book.Until("")
	if all != 0 {
		c.toRun.Leases = append(c.toRun.Leases, &runner.Lease{Until: all.Nanoseconds()})
	}
	var later map[string][]string
	for _, mark := range sorted(c.attempts) {
		if a := c.attempts[mark]; !a.here() && c.book.Until(a.owner) > all {
			if later == nil {
				later = map[string][]string{}
			}
			later[a.owner] = append(later[a.owner], mark)
		}
	}
	for _, owner := range sorted(later) {
		c.toRun.Leases = append(c.toRun.Leases, &runner.Lease{Until: c.book.Until(owner).Nanoseconds(), Marks: later[owner]})
	}
}

// endCalls ends the calls and transfers that nobody has counted on for the length of a lease.
func (c *Core) endCalls() {
	if !c.cfg.Leases {
		return
	}
	for _, mark := range sorted(c.attempts) {
		a := c.attempts[mark]
		if !a.here() {
			continue
		}
		a.until = max(a.until, c.book.Until(a.owner))
		if lease.At(a.until, c.boot) != lease.Valid && a.kill == nil {
			a.lost = true
			c.kill(a, &runner.Stop{Mark: a.mark, Reason: leaseEnded})
		}
	}
}

// leaseEnded is the reason of an attempt that ended because nobody counted on it.
const leaseEnded = "lease_ended"

// lookAtDisk finds out whether there is room for the output of more tasks.
func (c *Core) lookAtDisk() {
	c.room = c.cfg.FreeDisk()
	full := c.room < diskLow || (c.full && c.room < diskEnough)
	if full != c.full {
		c.full = full
		c.log.Warn("disk decides whether work is taken", "free", c.room, "takes_work", !full)
	}
}

// Figures are how the worker is doing now.
func (c *Core) Figures() *rpc.WorkerFigures {
	c.look()
	set, f := c.cfg.Heartbeat, c.beats.Figures(c.boot)
	return &rpc.WorkerFigures{
		Load: c.cfg.Load(), DriftMs: c.drift.Milliseconds(), Running: int32(len(c.attempts)), FreeSlots: int32(c.freeSlots()),
		Outbox: int32(len(c.outbox.items)), Draining: c.unwilling(), FreeDisk: c.room, DroppedLogBytes: c.dropped, RunnerRefused: c.refused,
		Heartbeat: &rpc.HeartbeatFigures{
			Main: int32(f.Main), Backup: int32(f.Backup), InFlight: int32(f.InFlight),
			PeriodMs: set.Period.Milliseconds(), CycleMs: set.Cycle.Milliseconds(), TimeoutMs: set.Timeout.Milliseconds(),
			Batch: int32(set.Batch), Capacity: int32(set.Capacity()), Utilisation: f.Utilisation, LastCycle: int32(f.LastCycle),
			Messages: f.Messages, Sent: f.Sent, Throttled: f.Throttled, Retried: f.Retried, Moved: f.Moved,
			Overruns: f.Overruns, Lapsed: f.Lapsed, OldestMs: f.Oldest.Milliseconds(), NearDeadline: int32(f.Near),
		},
	}
}
