package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/registry"
)

// barrier moves the real slot.Barrier of one master, and does what it asks for by the world's
// registry: late, in its order, and not at all where that is away.
type barrier struct {
	n    *masterNode
	p    *proc
	rule *slot.Barrier
	lock int64 // 0: not held
	want *waiter
	busy bool
}

func newBarrier(n *masterNode) *barrier {
	b := &barrier{n: n, p: n.proc}
	b.rule = slot.NewBarrier(slot.BarrierConfig{
		Self: slot.Master{Node: n.self.Node, Incarnation: n.self.Incarnation, Weight: 1}, Slots: slotCount, Trust: 2 * masterTTL,
	})
	w := n.w
	w.every(time.Second, b.p, "barrier", func() { b.hear(slot.Tick{}) })
	w.reg.watch(b.p, "data/"+slot.Folder+"/", func(entries []registry.Entry, revision int64, wiped bool) {
		b.hear(b.read(entries, revision, wiped))
	})
	return b
}

func (b *barrier) read(entries []registry.Entry, revision int64, wiped bool) slot.Layout {
	l := registry.Listing{Revision: revision, Wiped: wiped}
	for _, e := range entries {
		e.Key = strings.TrimPrefix(e.Key, "data/")
		l.Entries = append(l.Entries, e)
	}
	st, err := slot.Read(l, slotCount)
	if err != nil {
		b.n.w.fail("I09", "%s cannot read the layout: %v", b.p.id, err)
	}
	return slot.Layout{Standing: st}
}

// members brings a view of the masters.
func (b *barrier) members(view registry.View) {
	m := slot.Members{Revision: view.Revision, Wiped: view.Wiped}
	for _, member := range view.Members {
		m.Members = append(m.Members, slot.Master{Node: member.Node, Incarnation: member.Incarnation, Weight: max(1, member.Weight)})
	}
	b.hear(m)
}

// session says that this master is registered now, or is not any more.
func (b *barrier) session(s *session) {
	b.drop()
	b.lock = 0
	b.hear(slot.Membership{On: false})
	if s != nil {
		b.hear(slot.Membership{On: true})
	}
}

func (b *barrier) hear(m slot.Message) {
	for _, e := range b.rule.Step(m, b.n.m.Now()) {
		b.do(e)
	}
	if !b.busy && b.rule.Busy() {
		b.busy = true
		b.n.w.after(50*time.Millisecond, b.p, "barrier", func() {
			b.busy = false
			b.hear(slot.Tick{})
		})
	}
}

func (b *barrier) do(e slot.Effect) {
	n, w := b.n, b.n.w
	switch e := e.(type) {
	case slot.Close:
		n.parts.Slots.Close(func() { w.after(0, b.p, "quiet", func() { b.hear(slot.Quiet(e)) }) })
	case slot.Open:
		w.note("%s opens layout %d", b.p.id, e.Epoch)
		n.parts.Slots.Open(e.Owned, e.Epoch, e.Shared)
		n.hint()
	case slot.SendAck:
		b.ack(e)
	case slot.Contend:
		b.contend()
	case slot.Withdraw:
		b.drop()
		b.lock = 0
	case slot.Unlock:
		fence := b.lock
		b.lock = 0
		b.unlock(fence)
	case slot.RaiseFloor:
		w.after(n.store.latency(), b.p, "floor", func() {
			epoch, err := n.store.NextLayout(w.ctx, e.AtLeast)
			b.hear(slot.Raised{Serial: e.Serial, Epoch: epoch, Err: err})
		})
	case slot.SendPrepare:
		b.write(e.Serial, slot.PrepareKey, e.Prepare, func(etcd *etcd, fence int64) bool { return etcd.held(fence) })
	case slot.SendCommit:
		b.write(e.Serial, slot.CommitKey, e.Commit, func(etcd *etcd, fence int64) bool { return commits(etcd, fence, e) })
	case slot.Record: // what the history says decides nothing
	}
}

// commits says whether what a commit compares is as it was seen.
func commits(e *etcd, fence int64, c slot.SendCommit) bool {
	if !e.held(fence) || e.keys["data/"+slot.CommitKey].ModRevision != c.Revision {
		return false
	}
	for _, g := range c.Acks {
		if e.keys["data/"+slot.AckFolder+"/"+g.Node].ModRevision != g.Revision {
			return false
		}
	}
	e.w.layouts.committed(c.Commit)
	return true
}

func (b *barrier) ack(e slot.SendAck) {
	w, s := b.n.w, b.n.session
	if s == nil {
		return
	}
	w.reg.call(b.p, func() {
		if !s.lease.gone {
			w.layouts.acked(b.n.self.String(), e.Ack.Epoch)
			w.reg.put("data/"+slot.AckFolder+"/"+b.n.self.Node, marshal(e.Ack), s.lease)
		}
	}, func(bool) {})
}

// contend waits for the lock.
func (b *barrier) contend() {
	b.drop()
	s, w := b.n.session, b.n.w
	if s == nil {
		return
	}
	want := &waiter{tenure: s.lease, proc: b.p}
	want.given = func(fence int64) {
		// The holder before may have finished: his writes were answered before the lock was free.
		if !want.off {
			b.hear(b.read(w.reg.list("data/"+slot.Folder+"/"), w.reg.revision, false))
		}
		if want.off { // nobody waits for it any more
			b.unlock(fence)
			return
		}
		b.lock = fence
		b.hear(slot.Locked{})
	}
	b.want = want
	w.reg.call(b.p, func() {
		w.reg.waiting = append(w.reg.waiting, want)
		w.reg.pass()
	}, func(heard bool) {
		if !heard && !want.off && b.lock == 0 {
			want.off = true
			b.hear(slot.Refused{})
		}
	})
}

// unlock gives a holding of the lock up, however often that takes.
func (b *barrier) unlock(fence int64) {
	reg, s := b.n.w.reg, b.n.session
	reg.call(b.p, func() {
		if reg.held(fence) {
			reg.remove(lockKey)
		}
	}, func(heard bool) {
		if !heard && s == b.n.session && s != nil {
			b.unlock(fence)
		}
	})
}

func (b *barrier) drop() {
	if b.want != nil {
		b.want.off = true
		b.want = nil
	}
}

// write is a write of the coordinator.
func (b *barrier) write(serial int, key string, value any, allowed func(e *etcd, fence int64) bool) {
	w, fence := b.n.w, b.lock
	outcome, revision := slot.Conflict, int64(0)
	w.reg.call(b.p, func() {
		if allowed(w.reg, fence) {
			outcome, revision = slot.Done, w.reg.put("data/"+key, marshal(value), nil)
		}
	}, func(heard bool) {
		if !heard {
			outcome, revision = slot.Unknown, 0
		}
		b.hear(slot.Wrote{Serial: serial, Outcome: outcome, Revision: revision})
	})
}

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// layouts holds the layouts of slots against I09, and claims against I10.
type layouts struct {
	w      *world
	epochs map[int64]slot.Commit
	last   int64
	acks   map[string]int64 // by owner text: the epoch that it agreed to wait for
}

func newLayouts(w *world) *layouts {
	return &layouts{w: w, epochs: map[int64]slot.Commit{}, acks: map[string]int64{}}
}

func (l *layouts) acked(owner string, epoch int64) { l.acks[owner] = max(l.acks[owner], epoch) }

func (l *layouts) committed(c slot.Commit) {
	w := l.w
	w.count.Rebalances++
	w.note("layout %d of %d members", c.Epoch, len(c.Members))
	if c.Epoch <= l.last {
		w.fail("I09", "layout %d is committed after layout %d", c.Epoch, l.last)
	}
	l.last = max(l.last, c.Epoch)
	l.epochs[c.Epoch] = c
	if len(c.Owners) != slotCount {
		w.fail("I09", "layout %d has %d slots", c.Epoch, len(c.Owners))
	}
	for _, m := range c.Members {
		if owner := m.Node + ":" + m.Incarnation; l.acks[owner] < c.Epoch {
			w.fail("I09", "layout %d has the member %s, which has agreed to %d", c.Epoch, owner, l.acks[owner])
		}
		entry, there := w.reg.keys[memberKey(registry.Master, m.Node)]
		member, err := registry.DecodeMember(entry.Value)
		if !there || err != nil || member.Incarnation != m.Incarnation {
			w.fail("I09", "layout %d has the member %s:%s, which is not registered", c.Epoch, m.Node, m.Incarnation)
		}
	}
}

// claimed holds the claim of a command against what its master has agreed to.
func (l *layouts) claimed(in *instance, owner string, epoch int64) {
	w := l.w
	if acked := l.acks[owner]; epoch < acked {
		w.fail("I10", "%v is claimed by %s under layout %d, and it has agreed to wait for %d", in, owner, epoch, acked)
	}
	if _, known := l.epochs[epoch]; !known {
		w.fail("I10", "%v is claimed by %s under layout %d, which was never committed", in, owner, epoch)
	}
}
