package worker

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// maxEvents is how many events may wait for the loop; a link that brings more waits itself.
	maxEvents = 1024
	// maxFinished is how many ends are remembered, so that a dispatch that comes again is
	// answered and not run again.
	maxFinished = 20_000
	// maxEpochs is how many instances' owner epochs are remembered.
	maxEpochs = 100_000
	// maxSend is how many reports go out at one look.
	maxSend = 4096
	// linkSilence is how long a master's tick may go unanswered before the link is made anew.
	linkSilence = 6 * time.Second
)

// event is something that happened; the loop runs it.
type event func(c *core)

// core is the state of a worker. One goroutine runs its loop and touches it.
type core struct {
	cfg    *Config
	log    hclog.Logger
	types  types
	events chan event

	attempts map[string]*attempt // by mark
	finished *recent[string, *rpc.Report]
	epochs   *recent[int64, int64]
	outbox   *outbox
	kept     *kept
	asks     *asks
	links    map[string]*link // by node: those that answered Welcome
	routes   []string         // their nodes, in order

	runner  *runner.Client // nil: not there
	toRun   *runner.Order
	ready   chan struct{} // closed when the runner has said for the first time what is alive
	forget  []string      // ends that the outbox has once it is written
	calls   callers
	pacer   int
	ticked  time.Time
	lastID  int64
	now     time.Time
	drain   draining
	pending map[*link]*rpc.WorkerMessage // of this turn
}

func newCore(cfg *Config, k *kept) *core {
	c := &core{
		cfg: cfg, log: cfg.Logger.Named("worker"), types: newTypes(cfg), events: make(chan event, maxEvents),
		attempts: map[string]*attempt{}, finished: newRecent[string, *rpc.Report](maxFinished),
		epochs: newRecent[int64, int64](maxEpochs), outbox: newOutbox(), kept: k, asks: newAsks(),
		links: map[string]*link{}, toRun: &runner.Order{}, pending: map[*link]*rpc.WorkerMessage{}, now: time.Now(),
		ready: make(chan struct{}),
	}
	c.outbox.nextID = k.nextID
	ids := make([]int64, 0, len(k.reports))
	for id := range k.reports {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		r := k.reports[id]
		c.outbox.put(markOf(r.Attempt), r, "", c.now)
		c.finished.put(markOf(r.Attempt), r)
	}
	for mark, id := range k.begun {
		now := c.now.UnixMilli()
		c.report(mark, &rpc.Report{
			Attempt: id, State: "failed", Reason: "worker_restarted", StartedAt: now, FinishedAt: now,
			Message: "the worker's process ended while the call was under way; it may have reached its goal",
		}, "")
	}
	return c
}

// post hands an event to the loop; it waits while too many are there.
func (c *core) post(ctx context.Context, e event) bool {
	select {
	case c.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// run is the loop. It ends when the worker has drained after leave was closed.
func (c *core) run(ctx context.Context, leave <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	wake := time.NewTimer(time.Hour)
	defer wake.Stop()
	for !c.drain.done {
		select {
		case <-ctx.Done():
			return
		case <-leave:
			leave = nil
			c.now = time.Now()
			c.beginDrain()
		case e := <-c.events:
			c.now = time.Now()
			e(c)
			c.more()
		case <-wake.C:
			c.now = time.Now()
		case at := <-tick.C:
			c.now = time.Now()
			c.tick(at)
		}
		c.drainStep()
		c.flush()
		c.setWake(wake)
	}
}

// more takes what else has come, so that one write serves all.
func (c *core) more() {
	for range maxEvents {
		select {
		case e := <-c.events:
			e(c)
		default:
			return
		}
	}
}

func (c *core) setWake(wake *time.Timer) {
	wait := time.Hour
	if at, ok := c.outbox.next(); ok && len(c.routes) > 0 {
		wait = max(time.Millisecond, time.Until(at))
	}
	if at, ok := c.drain.next(); ok {
		wait = min(wait, max(time.Millisecond, time.Until(at)))
	}
	wake.Reset(wait)
}

// flush carries out what the turn has decided: first the disk, then the others.
func (c *core) flush() {
	// With a full disk the ends still go out; what must not happen without a record waits:
	// calls are not made, and the runner keeps what it has.
	safe := true
	if err := c.kept.write(); err != nil {
		c.log.Error("outbox not written", "error", err)
		safe = false
	}
	for _, s := range c.outbox.due(c.now, c.routes, maxSend) {
		m := c.message(c.links[s.to])
		m.Reports = append(m.Reports, s.report)
	}
	if safe {
		c.calls.release()
		c.toRun.Forget = append(c.toRun.Forget, c.forget...)
		c.forget = c.forget[:0]
	}
	if c.runner != nil && (len(c.toRun.Starts)+len(c.toRun.Stops)+len(c.toRun.Forget)+len(c.toRun.Outputs) > 0 || c.toRun.Quit) {
		c.runner.Send(c.toRun)
		c.toRun = &runner.Order{}
	}
	for _, g := range c.asks.step(c.freeSlots(), c.now) {
		if l := c.links[g.master]; l != nil {
			m := c.message(l)
			m.Ask += int32(g.ask)
			m.Recall += int32(g.recall)
		}
	}
	for l, m := range c.pending {
		l.send(m)
	}
	clear(c.pending)
}

// message is what goes to a link at the end of this turn.
func (c *core) message(l *link) *rpc.WorkerMessage {
	m := c.pending[l]
	if m == nil {
		m = &rpc.WorkerMessage{}
		c.pending[l] = m
	}
	return m
}

// freeSlots is what may be asked for: nothing while reports pile up or the worker leaves,
// or while nobody is there to run tasks.
func (c *core) freeSlots() int {
	if c.drain.begun || c.outbox.full() || c.runner == nil {
		return 0
	}
	return max(0, c.cfg.Slots-len(c.attempts))
}

// report puts the end, or the start, of an attempt into the outbox.
func (c *core) report(mark string, r *rpc.Report, owner string) {
	final := r.State != "running"
	if replaced := c.outbox.put(mark, r, owner, c.now); replaced != 0 {
		c.kept.gone(replaced)
	}
	if !final {
		return
	}
	c.finished.put(mark, r)
	if err := c.kept.report(r); err != nil {
		c.log.Error("report not kept", "mark", mark, "error", err)
	}
}

// finish ends an attempt: its slot is free.
func (c *core) finish(a *attempt, r *rpc.Report) {
	delete(c.attempts, a.mark)
	r.Attempt = a.id
	if r.StartedAt == 0 {
		r.StartedAt = a.startedAt
	}
	if r.FinishedAt == 0 {
		r.FinishedAt = c.now.UnixMilli()
	}
	c.report(a.mark, r, a.owner)
}

// tick goes to every link each second.
func (c *core) tick(at time.Time) {
	drift := int64(0)
	if !c.ticked.IsZero() {
		drift = (c.now.Sub(c.ticked) - time.Second).Milliseconds()
	}
	c.ticked = c.now
	running := c.chosen()
	load := loadAverage()
	for _, node := range c.routes {
		l := c.links[node]
		if c.now.Sub(l.answered) > linkSilence {
			c.log.Warn("master does not answer", "master", node)
			l.reset()
			continue
		}
		c.lastID++
		c.message(l).Tick = &rpc.Tick{
			Id: c.lastID, Running: running[node], Load: load, DriftMs: max(0, drift),
			FreeSlots: int32(c.freeSlots()), Outbox: int32(len(c.outbox.items)),
		}
	}
}

// maxBeats is how many attempts one tick lists per master.
const maxBeats = 200

// chosen picks the attempts of this tick, in turn, by the master that owns them.
func (c *core) chosen() map[string][]*rpc.Running {
	out := map[string][]*rpc.Running{}
	if len(c.routes) == 0 {
		return out
	}
	marks := make([]string, 0, len(c.attempts))
	for mark := range c.attempts {
		marks = append(marks, mark)
	}
	slices.Sort(marks)
	n := min(len(marks), maxBeats*len(c.routes))
	for range n {
		c.pacer = (c.pacer + 1) % len(marks)
		a := c.attempts[marks[c.pacer]]
		node := a.owner
		if c.links[node] == nil {
			node = c.routes[c.pacer%len(c.routes)]
		}
		if len(out[node]) < maxBeats {
			out[node] = append(out[node], a.running())
		}
	}
	return out
}
