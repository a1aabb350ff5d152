package slot

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// debounce is the least time between two PREPAREs: a crowd that comes at once ends in few epochs.
	debounce = 500 * time.Millisecond
	// silence is how long a member may take to ack before it is asked again.
	silence = time.Second
	// maxTries is how often it is asked before the others go on without it: they wait some three seconds.
	maxTries = 3
	// writeAgain is the pause before a write without an answer is sent again.
	writeAgain = 200 * time.Millisecond
	// conflictWait is the pause before a commit that was refused is tried with newer acks.
	conflictWait = 50 * time.Millisecond
	// maxConflicts bounds them: the lock must have been lost then.
	maxConflicts = 5
)

// phase is what a coordinator waits for.
type phase int

const (
	following  phase = iota // it is none
	deciding                // it holds the lock and has nothing under way
	raising                 // the floor in the database
	preparing               // the PREPARE is being written
	collecting              // acks
	committing              // the COMMIT is being written
)

// coordinator is what the holder of the lock knows of its rebalance.
type coordinator struct {
	phase     phase
	serial    int
	begun     bool // a PREPARE was written: masters wait for a commit
	startedAt int64
	cause     string
	ask       string // that stood when the PREPARE was made
	prepare   Prepare
	commit    Commit
	out       []Master // who was silent in this rebalance
	sentAt    time.Time
	retryAt   time.Time // of a write without an answer or a refused commit; zero for none
	conflicts int
	restarts  int
	steps     []Step
	acked     map[string]bool // whose ack of this epoch is among the steps
}

// leads says that this master holds the lock, as far as it knows.
func (b *Barrier) leads() bool { return b.co.phase != following }

// lead begins with a lock that was just given.
func (b *Barrier) lead() { b.co = coordinator{phase: deciding, serial: b.co.serial} }

// resign gives the lock up.
func (b *Barrier) resign() {
	b.co = coordinator{serial: b.co.serial}
	b.do(Unlock{})
}

// coordinate does what the phase allows.
func (b *Barrier) coordinate(now time.Time) {
	c := &b.co
	switch c.phase {
	case following, raising:
	case deciding:
		b.decide(now)
	case preparing:
		if b.retryDue(now) {
			b.sendPrepare()
		}
	case collecting:
		if c.retryAt.IsZero() || !now.Before(c.retryAt) {
			b.collect(now)
		}
	case committing:
		// A commit without an answer is seen to stand, or sent again. Sent twice it is written once:
		// the second finds another revision of the commit's key.
		if b.retryDue(now) {
			c.phase = collecting
			b.collect(now)
		}
	}
}

func (b *Barrier) retryDue(now time.Time) bool {
	return !b.co.retryAt.IsZero() && !now.Before(b.co.retryAt)
}

// decide begins an epoch, once it is time for one; without a need it gives the lock up.
func (b *Barrier) decide(now time.Time) {
	if !b.co.begun && (b.settled(now) || b.doubts(now)) {
		b.resign()
		return
	}
	if members, _ := b.pick(now); len(members) == 0 || now.Before(b.nextPrepare()) {
		return
	}
	if !b.co.begun {
		b.co.startedAt, b.co.cause = now.UnixMilli(), b.why(now)
	}
	b.co.phase = raising
	b.co.serial++
	b.do(RaiseFloor{b.co.serial, b.highest() + 1})
}

// nextPrepare is the earliest moment for a PREPARE. The clock of who wrote the last may be ahead:
// then the moment counts at which it came.
func (b *Barrier) nextPrepare() time.Time {
	at := time.UnixMilli(b.co.prepare.At)
	if p := b.standing.Prepare; p != nil && p.Epoch > b.co.prepare.Epoch {
		at = time.UnixMilli(p.At)
		if b.prepareSeen.Before(at) {
			at = b.prepareSeen
		}
	}
	return at.Add(debounce)
}

// pick is wanted, without those that were silent in this rebalance.
func (b *Barrier) pick(now time.Time) (members, excluded []Master) {
	members, excluded = b.wanted(now)
	silent := func(m Master) bool { return find(b.co.out, m) >= 0 }
	if len(b.co.out) == 0 || !slices.ContainsFunc(members, func(m Master) bool { return !silent(m) }) {
		return members, excluded
	}
	for _, m := range members {
		if silent(m) {
			excluded = append(excluded, m)
		}
	}
	return slices.DeleteFunc(slices.Clone(members), silent), excluded
}

// highest is the highest epoch that this master has seen in any place.
func (b *Barrier) highest() int64 {
	e := max(b.heard, b.co.prepare.Epoch)
	if b.layout != nil {
		e = max(e, b.layout.Epoch)
	}
	if c := b.standing.Commit; c != nil {
		e = max(e, c.Epoch)
	}
	for _, a := range b.standing.Acks {
		e = max(e, a.Epoch)
	}
	return e
}

func (b *Barrier) raised(m Raised, now time.Time) {
	if b.co.phase != raising || m.Serial != b.co.serial {
		return
	}
	if m.Err != nil {
		b.contendAfter = now.Add(floorWait)
		b.resign()
		return
	}
	members, excluded := b.pick(now)
	if len(members) == 0 {
		b.co.phase = deciding
		return
	}
	b.co.prepare = Prepare{
		Epoch: m.Epoch, Members: members, Excluded: excluded, Revision: b.memberRev, Cause: b.co.cause,
		Coordinator: b.name(), At: now.UnixMilli(), Try: 1,
	}
	b.co.ask = ""
	if a := b.standing.Ask; a != nil {
		b.co.ask = a.ID
	}
	b.co.acked = map[string]bool{}
	b.step("prepare", "", fmt.Sprintf("%d members", len(members)), now)
	b.sendPrepare()
}

func (b *Barrier) name() string { return b.cfg.Self.Node + ":" + b.cfg.Self.Incarnation }

func (b *Barrier) sendPrepare() {
	b.co.phase, b.co.retryAt = preparing, time.Time{}
	b.co.serial++
	b.do(SendPrepare{b.co.serial, b.co.prepare})
}

func (b *Barrier) wrote(m Wrote, now time.Time) {
	c := &b.co
	if m.Serial != c.serial || c.phase != preparing && c.phase != committing {
		return
	}
	switch {
	case m.Outcome == Unknown:
		c.retryAt = now.Add(writeAgain)
	case c.phase == preparing && m.Outcome == Conflict:
		b.resign() // only the lost lock refuses a PREPARE
	case c.phase == preparing:
		c.phase, c.begun, c.sentAt = collecting, true, now
		prepare := c.prepare
		b.stands(m.Revision, func(st *Standing) { st.Prepare = &prepare }, now)
	case m.Outcome == Conflict && c.conflicts == maxConflicts:
		b.resign()
	case m.Outcome == Conflict:
		// Either the lock is lost, or an ack went with its master's membership.
		c.conflicts++
		c.phase, c.retryAt = collecting, now.Add(conflictWait)
	default:
		commit := c.commit
		b.stands(m.Revision, func(st *Standing) { st.Commit, st.CommitRevision = &commit, m.Revision }, now)
		b.finish()
		b.follow()
	}
}

// stands notes what was just written, before the registry shows it: what it shows of before
// is old from here on.
func (b *Barrier) stands(revision int64, change func(*Standing), now time.Time) {
	if revision < b.standing.Revision {
		return // it is shown already
	}
	st := b.standing
	st.Revision = revision
	change(&st)
	b.seeLayout(st, now)
}

// collect waits for the acks of all members.
func (b *Barrier) collect(now time.Time) {
	c := &b.co
	c.retryAt = time.Time{}
	if seen := b.standing.Commit; seen != nil && seen.Epoch >= c.prepare.Epoch {
		b.finish() // ours, whose answer was lost; or the lock was, and another's stands
		return
	}
	if members, _ := b.pick(now); len(members) > 0 && !slices.Equal(members, c.prepare.Members) {
		b.again("restart", "", change(c.prepare.Members, members), now)
		return
	}
	var silent []Master
	for _, m := range c.prepare.Members {
		ack := b.standing.Acks[m.Node]
		if ack.Epoch != c.prepare.Epoch || ack.Incarnation != m.Incarnation {
			silent = append(silent, m)
		} else if !c.acked[m.Node] {
			c.acked[m.Node] = true
			b.step("ack", m.Node, "", now)
		}
	}
	switch {
	case len(silent) == 0:
		b.sendCommit(now)
	case now.Sub(c.sentAt) < silence:
	case c.prepare.Try >= maxTries && len(silent) < len(c.prepare.Members):
		c.out = append(c.out, silent...)
		b.again("exclude", nodes(silent), fmt.Sprintf("no ack to %d tries", c.prepare.Try), now)
	default:
		// Where nobody has acked, nobody can be left out: it is sent for as long as it takes.
		c.prepare.Try++
		b.step("resend", nodes(silent), "", now)
		b.sendPrepare()
	}
}

// again gives the epoch up and begins the next.
func (b *Barrier) again(what, node, note string, now time.Time) {
	b.co.restarts++
	b.co.conflicts = 0
	b.step(what, node, note, now)
	b.co.phase = deciding
	b.decide(now)
}

func (b *Barrier) sendCommit(now time.Time) {
	c := &b.co
	if len(c.steps) == 0 || c.steps[len(c.steps)-1].What != "commit" {
		b.step("commit", "", "", now)
	}
	c.commit = Commit{
		Epoch: c.prepare.Epoch, Members: c.prepare.Members, Excluded: c.prepare.Excluded, Cause: c.cause, Coordinator: b.name(),
		Owners: Map(b.cfg.Slots, c.prepare.Members), StartedAt: c.startedAt, At: now.UnixMilli(), Restarts: c.restarts, Steps: c.steps,
		Ask: c.ask,
	}
	c.commit.Moved = moved(b.standing.Commit, &c.commit)
	c.phase, c.retryAt = committing, time.Time{}
	c.serial++
	guards := make([]Guard, len(c.commit.Members))
	for i, m := range c.commit.Members {
		guards[i] = Guard{m.Node, b.standing.Acks[m.Node].Revision}
	}
	b.do(SendCommit{Serial: c.serial, Commit: c.commit, Revision: b.standing.CommitRevision, Acks: guards})
}

// finish records the commit, if it is the one that stands, and gives the lock up.
func (b *Barrier) finish() {
	if seen := b.standing.Commit; seen != nil && seen.Epoch == b.co.commit.Epoch {
		b.do(Record{b.co.commit})
	}
	b.resign()
}

func (b *Barrier) step(what, node, note string, now time.Time) {
	if len(b.co.steps) < maxSteps {
		b.co.steps = append(b.co.steps, Step{Epoch: b.co.prepare.Epoch, What: what, Node: node, Note: note, At: now.UnixMilli()})
	}
}

// why says in words what asks for a rebalance.
func (b *Barrier) why(now time.Time) string {
	c, p := b.standing.Commit, b.standing.Prepare
	members, _ := b.pick(now)
	switch {
	case c == nil && p == nil && b.layout == nil:
		return "the first layout"
	case c == nil && b.layout != nil, c != nil && b.layout != nil && c.Epoch < b.layout.Epoch:
		return "the registry lost the layout"
	case p != nil && (c == nil || p.Epoch > c.Epoch):
		return fmt.Sprintf("the rebalance of %s was not finished", p.Coordinator)
	case c != nil:
		words := change(c.Members, members)
		if b.asked() {
			words = strings.TrimPrefix(words+", asked for by "+b.standing.Ask.By, ", ")
		}
		return words
	}
	return "no layout stands"
}

// maxNamed bounds the masters that a cause names.
const maxNamed = 5

// change says in words what differs between two lists of members.
func change(before, after []Master) string {
	var words []string
	for _, m := range after {
		i := slices.IndexFunc(before, func(o Master) bool { return o.Node == m.Node })
		switch {
		case i < 0:
			words = append(words, m.Node+" joined")
		case before[i].Incarnation != m.Incarnation:
			words = append(words, m.Node+" restarted")
		case before[i].Weight != m.Weight:
			words = append(words, fmt.Sprintf("%s has weight %d", m.Node, m.Weight))
		}
	}
	for _, m := range before {
		if !slices.ContainsFunc(after, func(o Master) bool { return o.Node == m.Node }) {
			words = append(words, m.Node+" left")
		}
	}
	if len(words) > maxNamed {
		words = append(words[:maxNamed:maxNamed], fmt.Sprintf("and %d more", len(words)-maxNamed))
	}
	return strings.Join(words, ", ")
}

func nodes(list []Master) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Node
	}
	return strings.Join(names, " ")
}

// moved counts the slots that have another owner than before.
func moved(before, after *Commit) (n int) {
	for s, i := range after.Owners {
		if before == nil || s >= len(before.Owners) || before.Members[before.Owners[s]].Node != after.Members[i].Node {
			n++
		}
	}
	return n
}
