package slot

import (
	"slices"
	"time"
)

// do is what Loop does, against the world instead of a registry.
func (l *life) do(e Effect) {
	w := l.w
	switch e := e.(type) {
	case Close:
		l.open = false
		answer := func() { l.hear(Quiet(e)) }
		if l.quiet = nil; l.busy > 0 {
			l.quiet = answer
			return
		}
		w.after(0, answer)
	case Open:
		w.log("%s opens epoch %d", l.self.Node, e.Epoch)
		l.open, l.owned, l.epoch = true, e.Owned, e.Epoch
	case SendAck:
		session := l.session
		w.after(w.lag(), func() {
			if w.up && w.ack(l, session, e.Ack) && w.rng.Float64() >= w.faults.unknown {
				revision := w.revision
				w.after(w.lag(), func() { l.hear(Acked{e.Ack, revision}) })
			}
		})
	case Contend:
		l.turn++
		turn := l.turn
		w.after(w.lag(), func() { l.claimLock(turn) })
	case Withdraw:
		l.turn++
		l.lock = 0
		w.queue = slices.DeleteFunc(w.queue, func(o *life) bool { return o == l })
	case Unlock:
		fence := l.lock
		l.lock = 0
		wipes := l.lockWipes
		w.after(w.lag(), func() {
			if wipes == w.wipes {
				w.unlock(l, fence)
			}
		})
	case RaiseFloor:
		w.after(w.lag(), func() {
			answer := Raised{Serial: e.Serial, Err: errAway}
			if w.dbUp {
				w.floor = max(w.floor+1, e.AtLeast)
				answer = Raised{Serial: e.Serial, Epoch: w.floor}
			}
			w.after(w.lag(), func() { l.hear(answer) })
		})
	case SendPrepare:
		fence := held{l.lock, l.lockWipes}
		l.write(e.Serial, func() bool { return w.writePrepare(fence, e.Prepare) })
	case SendCommit:
		fence := held{l.lock, l.lockWipes}
		l.write(e.Serial, func() bool { return w.writeCommit(fence, e) })
	case Record:
	}
}

// write is a coordinator's write; its answer may be lost, also when it was done.
func (l *life) write(serial int, do func() bool) {
	w := l.w
	w.after(w.lag(), func() {
		answer := Wrote{Serial: serial, Outcome: Unknown}
		if w.up {
			answer.Outcome = Conflict
			if do() {
				answer.Outcome, answer.Revision = Done, w.revision
			}
			if w.rng.Float64() < w.faults.unknown {
				answer.Outcome, answer.Revision = Unknown, 0
			}
		}
		w.after(w.lag(), func() { l.hear(answer) })
	})
}

func (w *world) ack(l *life, session int, a Ack) bool {
	if w.members[l.self.Node] != l || l.session != session {
		return false
	}
	w.log("ack %s %d", l.self.Node, a.Epoch)
	w.acks[l.self.Node], w.ackOf[l.self.Node] = Ackd{a, w.revision + 1}, l
	w.changed()
	return true
}

func (l *life) claimLock(turn int) {
	w := l.w
	if l.dead || l.turn != turn || w.members[l.self.Node] != l {
		return
	}
	if !w.up {
		w.after(time.Second, func() { l.claimLock(turn) })
		return
	}
	if !slices.Contains(w.queue, l) {
		w.queue = append(w.queue, l)
	}
	w.pass()
}

// pass gives a free lock to the next in the queue.
func (w *world) pass() {
	if w.holder != nil || len(w.queue) == 0 {
		return
	}
	l := w.queue[0]
	w.queue = w.queue[1:]
	w.revision++
	w.holder, w.fence = l, w.revision
	turn, fence := l.turn, w.fence
	w.log("lock to %s", l.self.Node)
	_, st := w.picture()
	wipes := w.wipes
	w.after(w.lag(), func() {
		l.see(Layout{st}, wipes)
		if wipes != w.wipes {
			return
		}
		if l.dead || l.turn != turn {
			w.unlock(l, fence)
			return
		}
		l.hear(given{held{fence, wipes}})
	})
}

func (w *world) unlock(l *life, fence int64) {
	if w.up && w.holder == l && w.fence == fence {
		w.holder = nil
		w.pass()
	} else if !w.up {
		w.after(time.Second, func() { w.unlock(l, fence) })
	}
}

// given is Locked with its fence, which a life that is paused learns later.
type given struct{ held }

func (given) message() {}

// held is If.Held.
func (w *world) held(h held) bool {
	return h.fence != 0 && w.holder != nil && w.fence == h.fence && w.wipes == h.wipes
}

// held is a lock of one generation of the registry.
type held struct {
	fence int64
	wipes int
}

func (w *world) writePrepare(fence held, p Prepare) bool {
	if !w.held(fence) {
		return false
	}
	w.log("PREPARE %d try %d of %v by %s: %s", p.Epoch, p.Try, nodes(p.Members), p.Coordinator, p.Cause)
	if p.Epoch < w.prepared {
		w.fail("PREPARE(%d) after PREPARE(%d)", p.Epoch, w.prepared)
	}
	w.prepared = p.Epoch
	w.prepare = &p
	w.changed()
	return true
}

func (w *world) writeCommit(fence held, e SendCommit) bool {
	if !w.held(fence) || w.commitAt != e.Revision {
		return false
	}
	for _, g := range e.Acks {
		if w.acks[g.Node].Revision != g.Revision {
			return false
		}
	}
	c := e.Commit
	w.log("COMMIT %d of %v without %v", c.Epoch, nodes(c.Members), nodes(c.Excluded))
	w.watchCommit(&c)
	w.revision++
	w.commit, w.commitAt = &c, w.revision
	w.changed()
	return true
}

// watchCommit is I09: epochs rise, and every slot has one owner that is registered.
func (w *world) watchCommit(c *Commit) {
	if n := len(w.committed); n > 0 && c.Epoch <= w.committed[n-1] {
		w.fail("I09: COMMIT(%d) after COMMIT(%d)", c.Epoch, w.committed[n-1])
	}
	w.committed = append(w.committed, c.Epoch)
	w.byEpoch[c.Epoch] = c
	if err := c.check(simSlots); err != nil {
		w.fail("I09: COMMIT(%d): %v", c.Epoch, err)
		return
	}
	for s, i := range c.Owners {
		m := c.Members[i]
		if l := w.members[m.Node]; l == nil || l.self.Incarnation != m.Incarnation {
			w.fail("I09: COMMIT(%d) gives slot %d to %s, which is not registered", c.Epoch, s, m.Node)
		}
	}
}

// claim takes commands whenever the table allows it, and watches I10: a master that acked, which
// every member of a commit has, claims in no older name from the commit on.
func (l *life) claim() {
	w := l.w
	if l.dead {
		return
	}
	every := 25 * time.Millisecond
	if w.peace {
		every = 500 * time.Millisecond
	}
	w.after(every, l.claim)
	if !l.open || w.now.Before(l.paused) || l.busy > 0 {
		return
	}
	l.busy++
	epoch, owned, acked := l.epoch, l.owned, w.acks[l.self.Node]
	if w.ackOf[l.self.Node] == l && acked.Epoch > epoch && acked.Incarnation == l.self.Incarnation {
		w.fail("I10: %s begins to claim in the name of %d after its ack of %d", l.self.Node, epoch, acked.Epoch)
	}
	w.after(l.slow, func() { l.claimed(epoch, owned) })
}

// claimed ends a claim: the transaction is written at this moment.
func (l *life) claimed(epoch int64, owned []bool) {
	w := l.w
	l.busy--
	if l.dead {
		return
	}
	w.claims++
	for e := range w.byEpoch {
		if e > epoch && find(w.byEpoch[e].Members, l.self) >= 0 {
			w.fail("I10: %s claims in the name of %d after COMMIT(%d), whose member it is", l.self.Node, epoch, e)
		}
	}
	if c := w.byEpoch[epoch]; c == nil || !slices.Equal(c.Of(l.self), owned) {
		w.fail("I09: %s claims slots that COMMIT(%d) did not give it", l.self.Node, epoch)
	}
	if l.busy == 0 && l.quiet != nil {
		answer := l.quiet
		l.quiet = nil
		answer()
	}
}
