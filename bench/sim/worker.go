package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/worker"
	"github.com/porpoise/porpoise/worker/journal"
	"github.com/porpoise/porpoise/worker/runner"
)

// workerNode is a worker's host: the real core of a worker as its control process, a disk, and
// a runner with its processes.
type workerNode struct {
	w      *world
	host   *host
	boots  int
	disk   *disk
	runner *runnerNode
	dark   time.Duration // when it last lost power

	// Of the control process that runs, if one does.
	proc    *proc
	self    rpc.Process
	core    *worker.Core
	session *session
	peers   []worker.Peer
	wanted  map[worker.Peer]time.Duration // the pause before it is dialled again
	streams []*stream
	order   *orders // the connection to the runner
	ready   bool    // the runner has said what is alive
	asleep  time.Duration
}

func newWorkerNode(w *world, name string) *workerNode {
	n := &workerNode{w: w, host: &host{w: w, name: name}, disk: &disk{w: w}}
	n.runner = newRunnerNode(n)
	n.start()
	return n
}

// disk is a journal file. What was written is there after a crash of the process; what was not yet
// synced is lost when the power goes.
type disk struct {
	w       *world
	records []journal.Record
	synced  int
	last    time.Duration
}

// syncEvery is how long what is written may wait for the disk.
const syncEvery = 50 * time.Millisecond

// Append implements worker.Disk.
func (d *disk) Append(records ...journal.Record) error {
	d.sync()
	for _, r := range records {
		d.records = append(d.records, journal.Record{Kind: r.Kind, Data: slices.Clone(r.Data)})
	}
	return nil
}

// sync counts as synced what is older than the pause between two syncs.
func (d *disk) sync() {
	if d.w.now-d.last > syncEvery {
		d.synced = len(d.records)
	}
	d.last = d.w.now
}

// Rewrite implements worker.Disk.
func (d *disk) Rewrite(records []journal.Record) error {
	d.records = nil
	err := d.Append(records...)
	d.synced = len(d.records) // a rewrite is synced before it takes the old one's place
	return err
}

// Size implements worker.Disk.
func (d *disk) Size() int64 {
	n := 0
	for _, r := range d.records {
		n += 9 + len(r.Data)
	}
	return int64(n)
}

// powerLoss forgets what was not synced.
func (d *disk) powerLoss() {
	d.sync()
	d.records = d.records[:d.synced]
}

// open is worker.OpenDisk.
func (d *disk) open(each func(kind byte, data []byte) error) (worker.Disk, error) {
	for _, r := range d.records {
		if err := each(r.Kind, r.Data); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// membership is what the core knows of the registry.
type membership struct{ n *workerNode }

// LastRenewed implements worker.Membership.
func (m membership) LastRenewed() time.Time {
	if m.n.session == nil {
		return time.Time{}
	}
	return m.n.session.LastRenewed()
}

// Hold implements worker.Membership.
func (m membership) Hold(_ context.Context, length time.Duration) (time.Time, error) {
	if err := m.n.session.hold(length); err != nil {
		return time.Time{}, err
	}
	return m.n.host.clock(), nil
}

// start makes a new control process of the node.
func (n *workerNode) start() {
	w := n.w
	before := n.self.Incarnation
	n.boots++
	n.self = rpc.Process{Node: n.host.name, Incarnation: fmt.Sprintf("b%d", n.boots)}
	if w.opt.has("clocks_differ") && !n.runner.proc.alive {
		n.host.offset = w.upTo(20*time.Second) - 10*time.Second
	}
	n.proc = n.host.spawn(n.self.String())
	n.session, n.peers, n.wanted, n.streams, n.order, n.ready = nil, nil, map[worker.Peer]time.Duration{}, nil, nil, false
	w.note("%s starts", n.self)
	var err error
	n.core, err = worker.NewCore(worker.Config{
		Node: n.self.Node, Incarnation: n.self.Incarnation, Predecessor: before, Slots: w.opt.Slots, Leases: true,
		Membership: membership{n}, Logger: w.logger(), Now: n.host.clock, Boot: func() time.Duration { return w.now + time.Hour },
		Load: func() float64 { return 0 }, FreeDisk: func() float64 { return 1 },
	}, worker.Parts{Disk: n.disk.open})
	if err != nil {
		w.fail("I42", "%s cannot start: %v", n.self, err)
		return
	}
	p := n.proc
	p.after = n.flush
	w.after(w.upTo(50*time.Millisecond), p, "join", n.join)
	w.after(w.upTo(20*time.Millisecond), p, "attach", n.attach)
	w.every(n.core.TickEvery(), p, "tick", n.core.Tick)
	w.reg.watch(p, memberKey(registry.Master, ""), views(n.seeMasters))
}

func (n *workerNode) join() {
	w, p := n.w, n.proc
	member := registry.Member{
		Role: registry.Worker, Node: n.self.Node, Incarnation: n.self.Incarnation, Slots: w.opt.Slots,
		StartedAt: n.host.clock().UnixMilli(), Takeover: true,
	}
	lost := func() {
		_ = n.session.Leave(w.ctx)
		w.after(w.upTo(100*time.Millisecond), p, "join", n.join)
	}
	s, err := w.reg.join(p, member, workerTTL, lost)
	if err != nil {
		w.after(500*time.Millisecond, p, "join", n.join)
		return
	}
	n.session = s
}

// attach connects to the runner, and makes one where there is none.
func (n *workerNode) attach() {
	if n.order != nil && n.order.open {
		return
	}
	w := n.w
	if !n.runner.proc.alive {
		n.runner.start()
		w.after(w.between(5*time.Millisecond, 200*time.Millisecond), n.proc, "attach", n.attach)
		return
	}
	n.order = n.runner.connect(n)
}

// news is what the runner said.
func (n *workerNode) news(o *orders, news *runner.News) {
	if n.order != o {
		return
	}
	n.core.News(o, news)
	if news.Attached != nil && !n.ready {
		n.ready = true
		for _, peer := range n.peers {
			n.dial(peer)
		}
	}
}

// runnerGone says that the connection to the runner has ended.
func (n *workerNode) runnerGone(o *orders) {
	n.core.RunnerGone(o)
	if n.order == o {
		n.order = nil
		n.w.after(n.w.upTo(time.Second), n.proc, "attach", n.attach)
	}
}

// seeMasters dials those who are new and leaves those who are gone.
func (n *workerNode) seeMasters(view registry.View) {
	var peers []worker.Peer
	for _, m := range view.Members {
		peers = append(peers, worker.Peer{Node: m.Node, Incarnation: m.Incarnation, Address: m.Address})
	}
	n.peers = peers
	for _, s := range slices.Clone(n.streams) {
		if !slices.Contains(peers, s.peer) {
			s.Reset()
		}
	}
	if !n.ready {
		return
	}
	for _, peer := range peers {
		if n.wanted[peer] == 0 {
			n.dial(peer)
		}
	}
}

const (
	reconnectFirst = 100 * time.Millisecond
	reconnectMost  = 2 * time.Second
)

// dial makes a stream to a master, for as long as the registry lists it.
func (n *workerNode) dial(peer worker.Peer) {
	if !slices.Contains(n.peers, peer) {
		delete(n.wanted, peer)
		return
	}
	if n.wanted[peer] == 0 {
		n.wanted[peer] = reconnectFirst
	}
	w := n.w
	target := w.masterOf(peer)
	a, b := n.host.name, peer.Node
	if target == nil || w.net.cut(a, b) || w.net.cut(b, a) {
		n.redial(peer)
		return
	}
	w.net.next++
	s := &stream{w: w, id: w.net.next, worker: n, master: target, wproc: n.proc, mproc: target.proc, peer: peer, wopen: true, mopen: true}
	w.net.all = append(w.net.all, s)
	n.streams = append(n.streams, s)
	n.core.Open(s)
	w.after(welcomeWithin, n.proc, "welcome is late", func() {
		if !s.welcomed {
			s.closeWorker("no welcome")
		}
	})
}

func (n *workerNode) redial(peer worker.Peer) {
	pause := n.wanted[peer]
	n.wanted[peer] = min(reconnectMost, 2*pause)
	n.w.after(n.w.between(pause/2, pause), n.proc, "dial", func() { n.dial(peer) })
}

func (w *world) masterOf(peer worker.Peer) *masterNode {
	for _, m := range w.masters {
		if m.self.Node == peer.Node && m.self.Incarnation == peer.Incarnation && m.proc.alive {
			return m
		}
	}
	return nil
}

// message is what a master said.
func (n *workerNode) message(s *stream, m *rpc.MasterMessage) {
	if m.Welcome != nil {
		s.welcomed = true
		n.wanted[s.peer] = reconnectFirst
	}
	n.w.proof.acked(n, m.Acks)
	n.core.Message(s, m)
}

// closed forgets a stream that has ended.
func (n *workerNode) closed(s *stream) {
	n.streams = slices.DeleteFunc(n.streams, func(other *stream) bool { return other == s })
	n.core.Closed(s)
	n.redial(s.peer)
}

// flush is what the core does after something has happened to it.
func (n *workerNode) flush() {
	n.core.Flush()
	next, ok := n.core.Next()
	if !ok {
		return
	}
	at := n.w.now + max(next.Sub(n.host.clock()), time.Millisecond)
	if n.asleep > n.w.now && n.asleep <= at {
		return
	}
	n.asleep = at
	n.w.after(at-n.w.now, n.proc, "wake", func() {})
}

// crash is kill -9 of the control process.
func (n *workerNode) crash() {
	if !n.proc.alive {
		return
	}
	n.w.note("%s dies", n.self)
	n.proc.kill()
	n.w.net.crashed(n.proc)
	n.runner.gone(n.order)
}

// powerLoss takes the whole host down.
func (n *workerNode) powerLoss() {
	n.w.note("%s loses power", n.host.name)
	n.dark = n.w.now
	n.crash()
	n.runner.powerLoss()
	n.disk.powerLoss()
}

// up makes sure that a control process runs.
func (n *workerNode) up() {
	if !n.proc.alive {
		n.start()
	}
}
