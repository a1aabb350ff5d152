package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/master/schedule"
	"github.com/porpoise/porpoise/master/supervise"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

const (
	masterTTL = 5 * time.Second
	workerTTL = 6 * time.Second
	// killGrace is short, so that a kill is over within a world's time.
	killGrace = 2 * time.Second
	slotCount = 16
)

// masterNode is a master's host; it drives the real loops of a master, one step an event.
type masterNode struct {
	w     *world
	host  *host
	boots int
	store *faultyStore

	// Of the process that runs, if one does.
	proc    *proc
	self    rpc.Process
	m       *master.Master
	parts   master.Parts
	session *session
	barrier *barrier
	dog     failover.Watchdog
	peers   []failover.Peer // the other masters, as last seen
	leaving bool
	links   []*stream
	turning bool // a turn is asked for
	calm    bool // nothing has happened that asks for one
	writing bool // a commit is under way
	alarm   time.Duration
	hinted  bool
	leads   bool // supervises, as far as it knows
}

func newMasterNode(w *world, name string) *masterNode {
	n := &masterNode{w: w, host: &host{w: w, name: name}}
	n.store = &faultyStore{Store: w.db.Store, db: w.db, host: n.host}
	n.start()
	return n
}

// complaints turns what a part logs as an error into a violation where it says that a rule was broken.
type complaints struct{ w *world }

// Write implements io.Writer for hclog.
func (c complaints) Write(p []byte) (int, error) {
	text := string(p)
	for _, word := range []string{"panic", "refused by the store", "cannot be loaded"} {
		if strings.Contains(text, word) {
			c.w.fail("I42", "%s", strings.TrimSpace(text))
		}
	}
	return len(p), nil
}

func (w *world) logger() hclog.Logger {
	o := &hclog.LoggerOptions{Level: hclog.Error, Output: complaints{w}, DisableTime: true}
	if w.trace != nil {
		o.Level, o.Output = hclog.Debug, io.MultiWriter(complaints{w}, w.trace)
	}
	return hclog.New(o)
}

// start makes a new process of the node.
func (n *masterNode) start() {
	w := n.w
	n.boots++
	n.self = rpc.Process{Node: n.host.name, Incarnation: fmt.Sprintf("b%d", n.boots)}
	if w.opt.has("clocks_differ") {
		n.host.offset = w.upTo(20*time.Second) - 10*time.Second
	}
	w.misled = w.misled || n.host.offset+n.host.ahead != 0
	n.proc = n.host.spawn(n.self.String())
	n.proc.after = n.follow
	n.m = master.New(master.Config{
		Self: n.self, Cluster: "sim", Address: n.host.name, Slots: slotCount, TTL: masterTTL, Takeover: true, KillGrace: killGrace,
		Store: n.store, Registry: door{e: w.reg, p: n.proc}, Logger: w.logger(), Now: n.host.clock, Token: w.token,
	})
	n.parts = n.m.Parts()
	n.session, n.links, n.peers, n.dog = nil, nil, nil, failover.Watchdog{Patience: 10 * time.Second}
	n.turning, n.calm, n.writing, n.alarm, n.hinted, n.leaving, n.leads = false, false, false, 0, false, false, false
	w.note("%s starts", n.self)
	n.barrier = newBarrier(n)
	p := n.proc
	w.after(w.upTo(50*time.Millisecond), p, "join", n.join)
	w.reg.watch(p, memberKey(registry.Master, ""), views(n.seeMasters))
	w.reg.watch(p, memberKey(registry.Worker, ""), views(n.m.SeeWorkers))
	w.every(time.Second, p, "take", n.take)
	w.every(time.Second, p, "control", func() { n.parts.Engine.ControlAll(w.ctx) })
	w.every(time.Second, p, "look", n.look)
	w.every(time.Second, p, "ping", n.ping)
	w.every(time.Second, p, "owned", func() { n.m.LookAtOwned(w.ctx) })
	w.every(time.Second, p, "remind", n.parts.Placer.Remind)
	w.every(schedule.PlanEvery, p, "plan", n.plan)
	w.after(w.upTo(time.Second), p, "fire", n.fire)
	w.every(time.Second, p, "attend", func() { n.parts.Super.Attend(w.ctx, n.m.Now()) })
	w.every(time.Second, p, "lead", n.lead)
	w.every(supervise.DefaultEvery, p, "supervise", n.supervise)
	w.every(500*time.Millisecond, p, "sweep", func() { n.parts.Engine.Sweep(n.m.Now()) })
	w.every(5*time.Second, p, "evict", func() { n.parts.Engine.Evict(n.m.Now()) })
}

// seeMasters is a view of who else is there.
func (n *masterNode) seeMasters(view registry.View) {
	n.peers = nil
	for _, m := range view.Members {
		if m.Node != n.self.Node && m.Draining == "" {
			n.peers = append(n.peers, failover.Peer{Owner: rpc.Process{Node: m.Node, Incarnation: m.Incarnation}.String(), Weight: m.Weight})
		}
	}
	n.m.SeeMasters(view)
	n.barrier.members(view)
	n.w.after(n.w.upTo(time.Millisecond), n.proc, "look", n.look)
}

func (n *masterNode) look() {
	if !n.leaving {
		n.parts.Failover.Look(n.w.ctx, n.m.Now())
	}
}

// join registers, unless the database is out of reach from here.
func (n *masterNode) join() {
	if n.session != nil || n.leaving {
		return
	}
	w, p := n.w, n.proc
	member := registry.Member{
		Role: registry.Master, Node: n.self.Node, Incarnation: n.self.Incarnation, Weight: 1,
		StartedAt: n.host.clock().UnixMilli(), Takeover: true,
	}
	lost := func() {
		n.unjoin()
		w.after(w.upTo(100*time.Millisecond), p, "join", n.join)
	}
	if n.m.Withdrawn() {
		w.after(500*time.Millisecond, p, "join", n.join)
		return
	}
	s, err := w.reg.join(p, member, masterTTL, lost)
	if err != nil {
		w.after(500*time.Millisecond, p, "join", n.join)
		return
	}
	n.session = s
	n.m.Stand(s)
	n.barrier.session(s)
}

// supervisorKey is the lock of the one who supervises.
const supervisorKey = "locks/" + supervise.LockName

// lead makes this master the supervisor where the lock is free. One whose membership has ended without its
// knowing supervises on: its fence has to stop it.
func (n *masterNode) lead() {
	w := n.w
	if n.leads || n.session == nil || n.leaving || !w.reg.answers(n.proc) {
		return
	}
	if _, taken := w.reg.keys[supervisorKey]; taken || n.session.lease.gone {
		return
	}
	w.reg.put(supervisorKey, []byte(n.proc.id), n.session.lease)
	if err := n.parts.Super.Begin(w.ctx, n.m.Now()); err != nil {
		w.reg.remove(supervisorKey)
		return
	}
	n.leads = true
}

// supervise looks for what is stuck.
func (n *masterNode) supervise() {
	if n.leads && errors.Is(n.parts.Super.Look(n.w.ctx, n.m.Now()), sql.ErrStale) {
		n.w.note("%s supervises no more", n.self)
		n.leads = false
	}
}

// unjoin gives a membership up.
func (n *masterNode) unjoin() {
	s := n.session
	n.session, n.leads = nil, false
	n.m.Stand(nil)
	n.barrier.session(nil)
	_ = s.Leave(n.w.ctx)
}

// ping tries the way to the database.
func (n *masterNode) ping() {
	n.m.Pinged(&n.dog, n.m.Now(), n.store.Ping(n.w.ctx))
	if n.m.Withdrawn() && n.session != nil {
		n.w.note("%s withdraws", n.self)
		n.unjoin()
		n.w.after(500*time.Millisecond, n.proc, "join", n.join)
	}
}

// leave hands all instances to the others and ends the process, as a planned stop does.
func (n *masterNode) leave() {
	if !n.proc.alive || n.proc.paused > 0 || n.leaving {
		return
	}
	w := n.w
	w.note("%s leaves", n.self)
	n.leaving = true
	if n.session != nil {
		self := n.session.Member()
		self.Draining = "the master is stopping"
		_ = n.session.Update(w.ctx, self)
	}
	n.parts.Placer.Stop()
	n.parts.Engine.Leave()
	w.after(0, n.proc, "quiet", func() { n.settle(w.now + time.Second) })
}

// settle waits for what is under way, hands over, and ends.
func (n *masterNode) settle(until time.Duration) {
	w := n.w
	if !n.parts.Engine.Quiet() && w.now < until {
		w.after(2*time.Millisecond, n.proc, "quiet", func() { n.settle(until) })
		return
	}
	if len(n.peers) > 0 && n.m.Sure(n.m.Now()) {
		handed, err := n.parts.Failover.HandOver(w.ctx, n.peers)
		w.note("%s hands over %d: %v", n.self, handed, err)
		w.audit.drain(n.proc.id)
	}
	if n.session != nil {
		n.unjoin()
	}
	n.crash()
}

// take claims what there is.
func (n *masterNode) take() {
	n.hinted = false
	if n.leaving {
		return
	}
	more, err := n.parts.Intake.TakeOnce(n.w.ctx)
	if err == nil && more {
		n.hint()
	}
}

// plan writes the fires of schedules ahead.
func (n *masterNode) plan() {
	if !n.leaving {
		_, err := n.parts.Planner.Once(n.w.ctx)
		n.w.note("%s plans: %v", n.self, err)
	}
}

// fire starts what is due, and asks to be called when the next is.
func (n *masterNode) fire() {
	if n.leaving {
		return
	}
	next, err := n.parts.Firer.Once(n.w.ctx)
	if err != nil {
		n.w.note("%s fires: %v", n.self, err)
	}
	wait := time.UnixMilli(int64(next)).Sub(n.host.clock())
	n.w.after(max(wait, time.Millisecond), n.proc, "fire", n.fire)
}

// hint is an apiserver's word, or the intake's own, that there may be commands.
func (n *masterNode) hint() {
	if !n.hinted {
		n.hinted = true
		n.w.after(n.w.upTo(time.Millisecond), n.proc, "take hinted", n.take)
	}
}

// follow lets the loops of the master go on after something has happened to it.
func (n *masterNode) follow() {
	n.flush()
	if wait, some := n.parts.Alarms.Turn(); some {
		n.arm(wait)
	}
	if n.calm {
		n.calm = false
		return
	}
	if !n.turning {
		n.turning = true
		n.w.after(n.w.upTo(2*time.Millisecond), n.proc, "turn", n.turn)
	}
}

// arm asks for an event when the next timer is due.
func (n *masterNode) arm(wait time.Duration) {
	at := n.w.now + max(wait, 0)
	if n.alarm > n.w.now && n.alarm <= at {
		return
	}
	n.alarm = at
	p := n.proc
	n.w.after(at-n.w.now, p, "alarm", func() {})
}

// turn steps some instances; their commits follow.
func (n *masterNode) turn() {
	n.turning = false
	n.parts.Engine.ControlOnce(n.w.ctx)
	n.parts.Engine.WakeOnce(n.w.ctx)
	n.enter()
	n.parts.Engine.GroupOnce(n.w.ctx)
	stepped := 0
	for n.parts.Engine.StepOne() {
		if stepped++; n.w.chance(0.1) {
			break
		}
	}
	n.calm = stepped == 0
	if stepped > 0 && !n.writing {
		n.writing = true
		n.w.after(n.store.latency()/4, n.proc, "commit", n.commit)
	}
}

// enter asks for the places of instances that are under a limit.
func (n *masterNode) enter() {
	if _, away := n.parts.Engine.EnterOnce(n.w.ctx); away {
		n.w.after(200*time.Millisecond, n.proc, "enter again", n.enter)
	}
}

// commit writes what the turns left.
func (n *masterNode) commit() {
	turns, away := n.parts.Engine.CommitOnce(n.w.ctx)
	switch {
	case away:
		n.w.after(200*time.Millisecond, n.proc, "commit again", n.commit)
	case turns > 0:
		// Its answer is on the way for a while; the next may be written then.
		n.w.after(n.store.latency(), n.proc, "committed", n.commit)
	default:
		n.writing, n.calm = false, true
	}
}

// flush sends what the links hold.
func (n *masterNode) flush() {
	for _, s := range n.links {
		if s.link == nil || !s.mopen {
			continue
		}
		if m := s.link.Take(); m != nil {
			s.sendDown(m)
		}
	}
}

// hear takes a worker's message; the first one is the hello.
func (n *masterNode) hear(s *stream, m *rpc.WorkerMessage) {
	if s.link == nil {
		if m.GetHello() == nil {
			return
		}
		s.link = n.parts.Links.Open(m.GetHello(), func(error) { n.w.after(0, n.proc, "replaced", s.closeMaster) })
		n.links = append(n.links, s)
	}
	n.parts.Links.Hear(n.w.ctx, s.link, m)
}

// closed forgets a stream that has ended.
func (n *masterNode) closed(s *stream) {
	if s.link != nil && s.mproc == n.proc {
		n.parts.Links.Close(s.link)
	}
	for i, other := range n.links {
		if other == s {
			n.links = append(n.links[:i], n.links[i+1:]...)
			return
		}
	}
}

// crash is kill -9; nothing of a master but its rows and its folder's lock outlives it.
func (n *masterNode) crash() {
	if !n.proc.alive {
		return
	}
	n.w.note("%s dies", n.self)
	n.proc.kill()
	n.w.net.crashed(n.proc)
}

// up makes sure that a process of the node runs.
func (n *masterNode) up() {
	if !n.proc.alive {
		n.start()
	}
}
