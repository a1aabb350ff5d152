package slot

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// ackAgain is how long an ack may be on its way before it is sent again.
	ackAgain = 500 * time.Millisecond
	// rankWait lets the first master by node coordinate; the others only help it out.
	rankWait = 300 * time.Millisecond
	// leaveWait lets a master that merely renews its membership come back unnoticed.
	leaveWait = 50 * time.Millisecond
	// readmitWait keeps a master that is silent now and then from stopping the others each time.
	readmitWait = 10 * time.Second
	// lockWait is the pause after a wait for the lock that failed.
	lockWait = 500 * time.Millisecond
	// floorWait is the pause of a coordinator that did not reach the database; others may be luckier.
	floorWait = time.Second
)

// Message is what a Barrier hears.
type Message interface{ message() }

// The messages.
type (
	// Members brings the registered masters, by node.
	Members struct {
		Members  []Master
		Revision int64
		Wiped    bool
	}
	// Layout brings what the registry has of the barrier.
	Layout struct{ Standing }
	// Membership says that this master is registered now, or is not any more. Its lock and its ack
	// went with the membership before.
	Membership struct{ On bool }
	// Quiet says that after the Close of that gate every claim has ended.
	Quiet struct{ Gate int }
	// Locked says that this master holds the lock.
	Locked struct{}
	// Refused says that the wait for the lock failed.
	Refused struct{}
	// Raised answers RaiseFloor.
	Raised struct {
		Serial int
		Epoch  int64
		Err    error
	}
	// Wrote answers SendPrepare and SendCommit, with the revision of what was written.
	Wrote struct {
		Serial   int
		Outcome  Outcome
		Revision int64
	}
	// Acked says that SendAck was done, and at which revision.
	Acked struct {
		Ack      Ack
		Revision int64
	}
	// Tick lets time pass.
	Tick struct{}
)

// Outcome is how a write to the registry ended.
type Outcome int

// The outcomes: written; refused, because the lock or what was compared is not as it was; or
// without an answer, so that it may have been written.
const (
	Done Outcome = iota
	Conflict
	Unknown
)

func (Members) message()    {}
func (Layout) message()     {}
func (Membership) message() {}
func (Quiet) message()      {}
func (Locked) message()     {}
func (Refused) message()    {}
func (Raised) message()     {}
func (Wrote) message()      {}
func (Acked) message()      {}
func (Tick) message()       {}

// Effect is what a Barrier asks for.
type Effect interface{ effect() }

// The effects.
type (
	// Close stops the taking of commands; Quiet answers when claims under way have ended.
	Close struct{ Gate int }
	// Open lets this master take commands of its slots.
	Open struct {
		Owned  []bool
		Epoch  int64
		Shared bool // there are other members
	}
	// SendAck writes this master's ack, bound to its membership.
	SendAck struct{ Ack Ack }
	// Contend waits for the lock; Locked answers, or Refused.
	Contend struct{}
	// Withdraw ends the wait for the lock.
	Withdraw struct{}
	// Unlock gives the lock up, if it is still held.
	Unlock struct{}
	// RaiseFloor raises the floor of epochs in the database by one, to AtLeast if that is more;
	// Raised answers with the new floor, which is this coordinator's next epoch.
	RaiseFloor struct {
		Serial  int
		AtLeast int64
	}
	// SendPrepare writes a PREPARE if the lock is held; Wrote answers.
	SendPrepare struct {
		Serial  int
		Prepare Prepare
	}
	// SendCommit writes a COMMIT if the lock is held, the last commit still has this revision (0:
	// there is none), and every ack stands as it was seen; Wrote answers.
	SendCommit struct {
		Serial   int
		Commit   Commit
		Revision int64
		Acks     []Guard
	}
	// Record keeps a commit in the history.
	Record struct{ Commit Commit }
)

// Guard is an ack that must stand at its revision.
type Guard struct {
	Node     string
	Revision int64
}

func (Close) effect()       {}
func (Open) effect()        {}
func (SendAck) effect()     {}
func (Contend) effect()     {}
func (Withdraw) effect()    {}
func (Unlock) effect()      {}
func (RaiseFloor) effect()  {}
func (SendPrepare) effect() {}
func (SendCommit) effect()  {}
func (Record) effect()      {}

// BarrierConfig is what a Barrier needs; every field is required.
type BarrierConfig struct {
	Self  Master
	Slots int
	// Trust is how long after the registry was wiped an absence proves nothing.
	Trust time.Duration
}

// Barrier is one master's part in the barrier: it stops taking commands when a PREPARE comes,
// acks, and goes on with the slots of a COMMIT; and it coordinates when it holds the lock.
// Step is all there is to it: no clock, no goroutine, no I/O. It needs no message to come
// once, in order or at all: what matters is what stands in the registry.
type Barrier struct {
	cfg BarrierConfig
	fx  []Effect

	// What the registry shows.
	members     []Master
	seenMembers bool
	memberRev   int64
	standing    Standing
	seenLayout  bool
	prepareSeen time.Time            // when the newest PREPARE came
	doubtUntil  time.Time            // the registry was wiped: absences prove nothing until then
	outSince    map[Master]time.Time // since when masters are left out

	// The taking of commands.
	joined  bool
	layout  *Commit // in force
	heard   int64   // the highest epoch of a PREPARE: only a commit of it or a later one opens again
	closed  bool
	quiet   bool
	gate    int
	acked   sentAck
	ackedAt time.Time

	// The lock.
	contending   bool
	unsettled    time.Time // since when there is something to do
	contendAfter time.Time

	co coordinator
}

// sentAck is an ack as it was sent last, and what it answered.
type sentAck struct {
	epoch int64
	try   int
}

// NewBarrier returns a barrier that is closed until a commit comes.
func NewBarrier(c BarrierConfig) *Barrier {
	return &Barrier{cfg: c, closed: true, quiet: true, outSince: map[Master]time.Time{}}
}

// Step hears a message and returns what is to be done for it, in order.
func (b *Barrier) Step(m Message, now time.Time) []Effect {
	b.fx = nil
	switch m := m.(type) {
	case Members:
		b.seeMembers(m, now)
	case Layout:
		b.seeLayout(m.Standing, now)
	case Membership:
		b.member(m.On)
	case Quiet:
		b.quiet = b.quiet || m.Gate == b.gate
	case Locked:
		b.contending = false
		b.lead()
	case Refused:
		b.contending, b.contendAfter = false, now.Add(lockWait)
	case Raised:
		b.raised(m, now)
	case Wrote:
		b.wrote(m, now)
	case Acked:
		b.sent(m, now)
	case Tick:
	}
	b.follow()
	b.ack(now)
	b.coordinate(now)
	b.contend(now)
	return b.fx
}

// Busy says that a Tick is due within milliseconds; otherwise one each second will do.
func (b *Barrier) Busy() bool { return b.closed || b.contending || b.leads() || !b.unsettled.IsZero() }

// Layout returns the layout in force; nil before the first.
func (b *Barrier) Layout() *Commit { return b.layout }

func (b *Barrier) do(e Effect) { b.fx = append(b.fx, e) }

func (b *Barrier) seeMembers(m Members, now time.Time) {
	if m.Revision < b.memberRev && !m.Wiped {
		return // it came late
	}
	b.doubt(m.Wiped, now)
	b.members, b.memberRev, b.seenMembers = m.Members[:min(len(m.Members), maxMembers)], m.Revision, true
}

func (b *Barrier) seeLayout(st Standing, now time.Time) {
	if st.Revision < b.standing.Revision && !st.Wiped {
		return
	}
	b.doubt(st.Wiped, now)
	if c := &b.co; st.Wiped && (c.phase == preparing || c.phase == committing) {
		// The answer to what is being written would tell of a revision that is no more.
		c.serial++
		c.retryAt = now.Add(writeAgain)
	}
	if p := st.Prepare; p != nil && (b.standing.Prepare == nil || b.standing.Prepare.Epoch != p.Epoch) {
		b.prepareSeen = now
	}
	b.standing, b.seenLayout = st, true
	out, _ := b.outcasts()
	for m := range b.outSince {
		if find(out, m) < 0 {
			delete(b.outSince, m)
		}
	}
	for _, m := range out {
		if _, known := b.outSince[m]; !known {
			b.outSince[m] = now
		}
	}
}

func (b *Barrier) doubt(wiped bool, now time.Time) {
	if wiped {
		b.doubtUntil = now.Add(b.cfg.Trust)
	}
}

// member notes a change of the own membership. What the lock allowed is over with it.
func (b *Barrier) member(on bool) {
	b.joined = on
	if b.contending || b.leads() {
		b.do(Withdraw{})
	}
	b.contending, b.co, b.acked = false, coordinator{}, sentAck{}
	if on && b.seenMembers && find(b.members, b.cfg.Self) < 0 {
		// It is a fact, though the list that shows it may take a tenth of a second to come.
		others := slices.DeleteFunc(slices.Clone(b.members), func(m Master) bool { return m.Node == b.cfg.Self.Node })
		b.members = append(others, b.cfg.Self)
		slices.SortFunc(b.members, func(a, b Master) int { return cmp.Compare(a.Node, b.Node) })
	}
}

// follow opens and closes by what stands in the registry.
func (b *Barrier) follow() {
	adopted := false
	if c := b.standing.Commit; c != nil && (b.layout == nil || c.Epoch > b.layout.Epoch) {
		b.layout, adopted = c, true
	}
	if p := b.standing.Prepare; p != nil {
		b.heard = max(b.heard, p.Epoch)
	}
	open := b.layout != nil && b.layout.Epoch >= b.heard && !b.excluded()
	switch {
	case !open && !b.closed:
		b.closed, b.quiet = true, false
		b.gate++
		b.do(Close{b.gate})
	case open && (b.closed || adopted):
		b.closed = false
		b.do(Open{Owned: b.layout.Of(b.cfg.Self), Epoch: b.layout.Epoch, Shared: len(b.layout.Members) > 1})
	}
}

// excluded says that the layout in force leaves this master out because it was silent.
func (b *Barrier) excluded() bool { return b.layout != nil && find(b.layout.Excluded, b.cfg.Self) >= 0 }

// ack answers the PREPARE that stands, once no claim is under way; a master that was left
// out acks the layout that did so, to be let in again.
func (b *Barrier) ack(now time.Time) {
	if !b.closed || !b.quiet || !b.joined {
		return
	}
	var want sentAck
	p := b.standing.Prepare
	switch {
	case p != nil && p.Epoch == b.heard && (b.layout == nil || b.heard > b.layout.Epoch):
		want = sentAck{p.Epoch, p.Try}
	case b.excluded() && b.layout.Epoch >= b.heard:
		want = sentAck{b.layout.Epoch, 0}
	default:
		return
	}
	stands := b.standing.Acks[b.cfg.Self.Node]
	there := stands.Epoch == want.epoch && stands.Incarnation == b.cfg.Self.Incarnation
	if want == b.acked && (there || now.Sub(b.ackedAt) < ackAgain) {
		return
	}
	b.acked, b.ackedAt = want, now
	b.do(SendAck{Ack{Epoch: want.epoch, Incarnation: b.cfg.Self.Incarnation, At: now.UnixMilli()}})
}

// sent notes an ack that was written, before the registry shows it.
func (b *Barrier) sent(m Acked, now time.Time) {
	p := b.standing.Prepare
	if !b.joined || b.acked.epoch != m.Ack.Epoch || p == nil || p.Epoch != m.Ack.Epoch {
		return
	}
	b.stands(m.Revision, func(st *Standing) {
		acks := map[string]Ackd{}
		maps.Copy(acks, st.Acks)
		st.Acks = acks
		st.Acks[b.cfg.Self.Node] = Ackd{m.Ack, m.Revision}
	}, now)
}

// contend asks for the lock when there is something to do for a coordinator.
func (b *Barrier) contend(now time.Time) {
	if b.leads() {
		return
	}
	if !b.joined || !b.seenMembers || !b.seenLayout || find(b.members, b.cfg.Self) < 0 || b.settled(now) || b.doubts(now) {
		b.unsettled = time.Time{}
		if b.contending {
			b.contending = false
			b.do(Withdraw{})
		}
		return
	}
	if b.unsettled.IsZero() {
		b.unsettled = now
	}
	if !b.contending && !now.Before(b.unsettled.Add(b.patience())) && !now.Before(b.contendAfter) {
		b.contending = true
		b.do(Contend{})
	}
}

// patience is how long this master leaves it to others to coordinate.
func (b *Barrier) patience() (wait time.Duration) {
	if find(b.members, b.cfg.Self) > 0 {
		wait = rankWait
	}
	if c := b.standing.Commit; c != nil && slices.ContainsFunc(c.Members, func(m Master) bool { return find(b.members, m) < 0 }) {
		wait += leaveWait
	}
	return wait
}

// settled says that the layout is that of the masters that are registered.
func (b *Barrier) settled(now time.Time) bool {
	c, p := b.standing.Commit, b.standing.Prepare
	if c == nil || p != nil && p.Epoch > c.Epoch || c.Epoch < b.heard || b.layout != nil && c.Epoch < b.layout.Epoch {
		return false
	}
	members, _ := b.wanted(now)
	return len(members) > 0 && slices.Equal(members, c.Members) && !b.asked()
}

// asked says that somebody wishes for another layout than the one that stands.
func (b *Barrier) asked() bool {
	c, a := b.standing.Commit, b.standing.Ask
	return c != nil && a != nil && a.ID != c.Ask
}

// doubts says that the registry was emptied and not all members are back yet: what is in
// force stays so, unless a PREPARE got lost and nobody takes commands.
func (b *Barrier) doubts(now time.Time) bool {
	if !now.Before(b.doubtUntil) || b.layout == nil || b.heard > b.layout.Epoch {
		return false
	}
	return slices.ContainsFunc(b.layout.Members, func(m Master) bool { return find(b.members, m) < 0 })
}

// outcasts returns who is left out for its silence, and the epoch that said so.
func (b *Barrier) outcasts() ([]Master, int64) {
	c, p := b.standing.Commit, b.standing.Prepare
	switch {
	case p != nil && (c == nil || p.Epoch > c.Epoch):
		return p.Excluded, p.Epoch
	case c != nil:
		return c.Excluded, c.Epoch
	}
	return nil, 0
}

// wanted divides the registered masters into those that a layout should have and those that
// it leaves out. Who was left out comes back when it has acked since, after a while.
func (b *Barrier) wanted(now time.Time) (members, excluded []Master) {
	out, epoch := b.outcasts()
	for _, m := range b.members {
		i := slices.IndexFunc(out, func(o Master) bool { return sameProcess(o, m) })
		if i < 0 {
			members = append(members, m)
			continue
		}
		ack := b.standing.Acks[m.Node]
		if ack.Incarnation == m.Incarnation && ack.Epoch >= epoch && (b.asked() || now.Sub(b.outSince[out[i]]) >= readmitWait) {
			members = append(members, m)
			continue
		}
		excluded = append(excluded, m)
	}
	if len(members) == 0 {
		return excluded, nil // there is nobody better
	}
	return members, excluded
}
