package worker

import (
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/heartbeat"
	"github.com/porpoise/porpoise/worker/journal"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

const (
	// maxFinished is how many ends are remembered, so that a dispatch that comes again is
	// answered and not run again.
	maxFinished = 20_000
	// maxEpochs is how many instances' owner epochs are remembered.
	maxEpochs = 100_000
	// maxSend is how many reports go out at one look.
	maxSend = 4096
	// maxInstants is how many instant tasks one master may have sent that were not heard of yet.
	maxInstants = 1024
	// linkSilence is how long a master's tick may go unanswered before the link is made anew.
	linkSilence = 6 * time.Second
)

// Link is a stream to one master as Core uses it. It is compared by identity.
type Link interface {
	// Peer is the master at the other end.
	Peer() Peer
	// Send adds to what goes out next, in order; it never blocks. A stream that ends loses what is left.
	Send(m *rpc.WorkerMessage)
	// Reset ends the stream; Core hears of it by Closed.
	Reset()
}

// Runner takes orders for processes as Core uses it. An order is lost where the connection ends. It is compared by identity.
type Runner interface{ Send(o *runner.Order) }

// Calls runs the attempts that need no process. Start comes after their beginning is on disk; of one that takes a while
// Core.CallLasts is told, and its end by Core.CallDone, once. Cancel may come for one that is over.
type Calls interface {
	Start(mark string, attempt *rpc.AttemptID, d *rpc.Dispatch, call task.Call)
	Cancel(mark string)
}

// Disk keeps the outbox; *journal.File does.
type Disk interface {
	Append(records ...journal.Record) error
	Rewrite(records []journal.Record) error
	Size() int64
}

// Core is the state of a worker as a step machine: it is told what has happened, one call at a time, and
// acts when Flush is called: first on the disk, then on the others. It starts no goroutine and reads
// no clock but those of its Config; equal calls have equal effects in equal order. One goroutine may use it.
// In production that is the loop of a Worker, in the simulator the simulator's own.
type Core struct {
	cfg   *Config
	log   hclog.Logger
	types types

	attempts map[string]*attempt // by mark
	finished *recent[string, *rpc.Report]
	epochs   *recent[int64, int64]
	outbox   *outbox
	kept     *kept
	asks     *asks
	beats    *heartbeat.Manager
	opening  map[Link]time.Duration // when Hello was sent
	links    map[string]*open       // by node: those that answered Welcome
	routes   []string               // their nodes, in order

	book  lease.Book
	sight lease.Sighting

	runner  Runner // nil: not there
	toRun   *runner.Order
	forget  []string // ends that the outbox has once it is written
	calls   Calls
	callers []func() // calls that begin once their beginning is written
	carrier Carrier
	drops   []string // attempts whose folders go once their ends are written

	ticked  time.Duration // 0: not yet
	drift   time.Duration
	lastID  int64
	now     time.Time
	boot    time.Duration
	drain   draining
	away    away
	dropped int64   // output that the disk did not take
	refused int64   // connections to the runner
	room    float64 // free share of the disk
	full    bool    // and whether it is too little

	pending map[Link]*rpc.WorkerMessage // of this turn
	order   []Link                      // in the order in which they came into pending
}

// open is a link that has answered Welcome.
type open struct {
	Link
	answered time.Duration
	owed     int           // instant tasks that the master may be given leave for
	ticked   time.Duration // when the last tick was sent
	ticks    []sentTick    // without an answer, oldest first
}

// sentTick is one tick on its way: its answer counts from when it was sent.
type sentTick struct {
	id   int64
	sent time.Duration
	beat int64 // the manager's message in it, 0: none
}

// OpenDisk reads the records that an earlier process left, in order, and opens the disk.
type OpenDisk func(each func(kind byte, data []byte) error) (Disk, error)

// Parts are what a Core works with. Calls and Carrier may be nil: then tasks that want them are refused.
type Parts struct {
	Disk    OpenDisk
	Calls   Calls
	Carrier Carrier
}

// NewCore makes the state of a worker from its disk.
func NewCore(cfg Config, parts Parts) (*Core, error) {
	if err := cfg.checkCore(); err != nil {
		return nil, err
	}
	k, err := openKept(parts.Disk)
	if err != nil {
		return nil, err
	}
	c := &Core{
		cfg: &cfg, log: cfg.Logger.Named("worker"), types: newTypes(&cfg, parts.Calls),
		attempts: map[string]*attempt{}, finished: newRecent[string, *rpc.Report](maxFinished),
		epochs: newRecent[int64, int64](maxEpochs), outbox: newOutbox(), kept: k, asks: newAsks(),
		beats: heartbeat.New(cfg.Heartbeat), opening: map[Link]time.Duration{}, links: map[string]*open{},
		toRun: &runner.Order{}, calls: parts.Calls, carrier: parts.Carrier, room: 1, pending: map[Link]*rpc.WorkerMessage{},
	}
	c.look()
	c.outbox.nextID = k.nextID
	for _, id := range sorted(k.reports) {
		r := k.reports[id]
		c.outbox.put(markOf(r.Attempt), r, "", c.now)
		c.finished.put(markOf(r.Attempt), r)
	}
	for _, mark := range sorted(k.begun) {
		now := c.now.UnixMilli()
		c.report(mark, &rpc.Report{
			Attempt: k.begun[mark], State: "failed", Reason: "worker_restarted", StartedAt: now, FinishedAt: now,
			Message: "the worker's process ended while the call was under way; it may have reached its goal",
		}, "")
	}
	return c, nil
}

// look reads the clocks: every step begins with it.
func (c *Core) look() { c.now, c.boot = c.cfg.Now(), c.cfg.Boot() }

// Next is when Flush, or the leaving, has something to do by time alone; ok is false when never.
func (c *Core) Next() (at time.Time, ok bool) {
	if len(c.routes) > 0 {
		at, ok = c.outbox.next()
	}
	if until, leaves := c.drain.next(); leaves && (!ok || until.Before(at)) {
		at, ok = until, true
	}
	return at, ok
}

// Flush carries out what the steps since the last one have decided.
func (c *Core) Flush() {
	c.look()
	c.drainStep()
	// With a full disk the ends still go out; what must not happen without a record waits:
	// calls are not made, and the runner keeps what it has.
	safe := true
	if err := c.kept.write(); err != nil {
		c.log.Error("outbox not written", "error", err)
		safe = false
	}
	for _, s := range c.outbox.due(c.now, c.routes, maxSend) {
		m := c.message(c.links[s.to].Link)
		m.Reports = append(m.Reports, s.report)
	}
	if safe {
		for _, begin := range c.callers {
			begin()
		}
		c.callers = c.callers[:0]
		c.toRun.Forget = append(c.toRun.Forget, c.forget...)
		c.forget = c.forget[:0]
		c.dropFolders()
	}
	c.flushRunner()
	for _, node := range c.routes {
		c.asks.trust(node, c.mayRun(node))
	}
	for _, g := range c.asks.step(c.freeSlots(), c.now) {
		if l := c.links[g.master]; l != nil {
			m := c.message(l.Link)
			m.Ask += int32(g.ask)
			m.Recall += int32(g.recall)
		}
	}
	c.giveLeave()
	for _, l := range c.order {
		l.Send(c.pending[l])
	}
	clear(c.pending)
	c.order = c.order[:0]
}

// giveLeave lets masters send more instant tasks: with what goes out anyway, or once much is owed.
func (c *Core) giveLeave() {
	if c.unwilling() != "" || c.outbox.full() {
		return
	}
	for _, node := range c.routes {
		l := c.links[node]
		if l.owed == 0 || c.pending[l.Link] == nil && l.owed < maxInstants/2 || !c.mayRun(node) {
			continue
		}
		c.message(l.Link).Instants = int32(l.owed)
		l.owed = 0
	}
}

func (c *Core) flushRunner() {
	o := c.toRun
	if c.runner == nil || (len(o.Starts)+len(o.Stops)+len(o.Forget)+len(o.Outputs)+len(o.Leases) == 0 && !o.Quit) {
		return
	}
	c.runner.Send(o)
	c.toRun = &runner.Order{}
}

// message is what goes to a link at the end of this turn.
func (c *Core) message(l Link) *rpc.WorkerMessage {
	m := c.pending[l]
	if m == nil {
		m = &rpc.WorkerMessage{}
		c.pending[l] = m
		c.order = append(c.order, l)
	}
	return m
}

// forgetPending drops what was to go to a link that is gone.
func (c *Core) forgetPending(l Link) {
	delete(c.pending, l)
	c.order = slices.DeleteFunc(c.order, func(other Link) bool { return other == l })
}

// mayRun says whether an attempt that a master sends now could begin: one without a lease is given back.
func (c *Core) mayRun(master string) bool {
	return !c.cfg.Leases || lease.At(c.book.Until(master), c.boot) == lease.Valid
}

// freeSlots is what may be asked for: nothing while reports pile up, the disk is nearly full or the
// worker takes no work, or while nobody is there to run tasks.
func (c *Core) freeSlots() int {
	if c.unwilling() != "" || c.outbox.full() || c.runner == nil {
		return 0
	}
	return max(0, c.cfg.Slots-len(c.attempts))
}

// unwilling is why the worker takes no work, "" where it does.
func (c *Core) unwilling() string {
	switch {
	case c.drain.begun:
		return "the worker is stopping"
	case c.away.reason != "":
		return c.away.reason
	case c.full:
		return "its disk is nearly full"
	default:
		return ""
	}
}

// report puts the end, or the start, of an attempt into the outbox.
func (c *Core) report(mark string, r *rpc.Report, owner string) {
	final := r.State != "running"
	if replaced := c.outbox.put(mark, r, owner, c.now); replaced != 0 {
		c.kept.gone(replaced)
	}
	if !final {
		if a := c.attempts[mark]; a != nil {
			a.told = c.boot
		}
		return
	}
	c.finished.put(mark, r)
	if err := c.kept.report(r); err != nil {
		c.log.Error("report not kept", "mark", mark, "error", err)
	}
}

// enter makes an attempt one that runs here.
func (c *Core) enter(a *attempt) {
	c.attempts[a.mark] = a
	c.beats.Add(a.mark, a.owner, c.boot)
}

// own says whose an attempt is: "" where that is not known any more.
func (c *Core) own(a *attempt, owner string) {
	a.owner = owner
	c.beats.Move(a.mark, owner)
}

// finish ends an attempt: its slot is free.
func (c *Core) finish(a *attempt, r *rpc.Report) {
	delete(c.attempts, a.mark)
	c.beats.Remove(a.mark)
	if c.carrier != nil {
		c.drops = append(c.drops, a.mark)
	}
	r.Attempt = a.id
	if a.void {
		c.bury(a, r)
		return
	}
	if r.StartedAt == 0 {
		r.StartedAt = a.startedAt
	}
	if r.FinishedAt == 0 {
		r.FinishedAt = c.now.UnixMilli()
	}
	c.report(a.mark, r, a.owner)
}
