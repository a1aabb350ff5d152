package slot

import (
	"cmp"
	"container/heap"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

var (
	simSeed  = flag.Uint64("slot.seed", 0, "run only this seed of the simulation, with its trace")
	simSeeds = flag.Int("slot.seeds", 2000, "seeds of the simulation")
)

var errAway = errors.New("the database is away")

// world is a cluster of masters around one registry, moved from one heap of moments. It knows
// nothing of how a Barrier works: it keeps the registry's promises, breaks everything that a
// network and a machine may break, and watches.
type world struct {
	rng    *rand.Rand
	now    time.Time
	seq    int
	events events
	loud   bool

	// The registry.
	up       bool
	revision int64
	members  map[string]*life // registered lives by node
	prepare  *Prepare
	commit   *Commit
	commitAt int64 // revision
	ask      *Ask
	acks     map[string]Ackd
	ackOf    map[string]*life
	holder   *life
	fence    int64
	queue    []*life // who waits for the lock
	wipes    int
	prepared int64 // the newest PREPARE ever

	floor int64 // in the database
	dbUp  bool

	nodes  map[string]*life // the newest life of each node
	all    []*life
	faults faults
	peace  bool

	// What is watched.
	wrong     []string
	committed []int64
	byEpoch   map[int64]*Commit
	claims    int
}

// faults say how rough the world is.
type faults struct {
	lag       time.Duration // the longest delay of a message
	drop, dup float64
	unknown   float64 // of writes: done, but the answer is lost
}

// life is one process of a master.
type life struct {
	w       *world
	self    Master
	b       *Barrier
	dead    bool
	paused  time.Time // until then
	pending []func()  // what waits for the end of a pause
	session int       // rises with each membership; 0 for none
	lock    int64     // the fence of the lock that it holds; 0 for none
	turn    int
	slow    time.Duration // how long its claims take
	wipes   [2]int        // seen by the members and the layout
	// lockWipes is the generation of the registry that gave the lock: what stands in the lock's key is
	// nobody else's, though the revision may be.
	lockWipes int
	// The table:
	open  bool
	owned []bool
	epoch int64
	busy  int
	quiet func()
}

type event struct {
	at  time.Time
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

const (
	simSlots = 16
	simTTL   = 5 * time.Second
)

func newWorld(seed uint64, f faults) *world {
	return &world{
		rng: rand.New(rand.NewPCG(seed, 1)), now: time.UnixMilli(1_700_000_000_000), up: true, dbUp: true, faults: f, revision: 1,
		members: map[string]*life{}, acks: map[string]Ackd{}, ackOf: map[string]*life{}, nodes: map[string]*life{}, byEpoch: map[int64]*Commit{},
	}
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, event{w.now.Add(d), w.seq, do})
}

// run moves the world for a time.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for len(w.events) > 0 && !w.events[0].at.After(end) {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	w.now = end
}

func (w *world) log(format string, args ...any) {
	if w.loud {
		fmt.Printf("%8.3f "+format+"\n", append([]any{w.now.Sub(time.UnixMilli(1_700_000_000_000)).Seconds()}, args...)...)
	}
}

func (w *world) fail(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	w.log("WRONG "+format, args...)
}

func (w *world) lag() time.Duration {
	if w.faults.lag <= 0 {
		return time.Millisecond
	}
	return time.Duration(w.rng.Int64N(int64(w.faults.lag))) + 100*time.Microsecond
}

// boot starts a life of a node; one before it is over.
func (w *world) boot(node string, weight int) *life {
	incarnation := fmt.Sprint("i", len(w.all))
	l := &life{w: w, self: Master{node, incarnation, weight}, slow: 5 * time.Millisecond}
	l.b = NewBarrier(BarrierConfig{Self: l.self, Slots: simSlots, Trust: 2 * simTTL})
	if old := w.nodes[node]; old != nil {
		w.kill(old)
		w.expire(old)
	}
	w.nodes[node], w.all = l, append(w.all, l)
	w.log("boot %s %s", node, incarnation)
	l.join()
	l.tick()
	l.claim()
	return l
}

func (w *world) kill(l *life) {
	if !l.dead {
		l.dead = true
		w.log("kill %s", l.self.Node)
		w.after(simTTL, func() { w.expire(l) })
	}
}

// expire ends a membership: the lease, the ack, the lock.
func (w *world) expire(l *life) {
	if !w.up {
		w.after(simTTL, func() {
			if l.dead || w.now.Before(l.paused) { // else it has renewed its lease
				w.expire(l)
			}
		})
		return
	}
	if w.members[l.self.Node] == l {
		delete(w.members, l.self.Node)
		w.log("expired %s", l.self.Node)
	}
	if w.ackOf[l.self.Node] == l {
		delete(w.acks, l.self.Node)
		delete(w.ackOf, l.self.Node)
	}
	w.queue = slices.DeleteFunc(w.queue, func(o *life) bool { return o == l })
	if w.holder == l {
		w.holder = nil
		w.pass()
	}
	w.changed()
}

// join registers a life, again after each loss.
func (l *life) join() {
	if l.dead || !l.w.up {
		if !l.dead {
			l.w.after(500*time.Millisecond, l.join)
		}
		return
	}
	l.w.expire(l)
	for _, before := range l.w.all {
		if before != l && before.self.Node == l.self.Node {
			l.w.expire(before) // it is dead: l holds the lock of the node's data folder
		}
	}
	l.w.members[l.self.Node] = l
	l.session++
	l.hear(Membership{true})
	l.w.changed()
}

// changed tells everybody, in some order, late, twice or never, what stands now.
func (w *world) changed() {
	w.revision++
	for _, l := range w.all {
		if !l.dead {
			w.tell(l, true)
		}
	}
}

func (w *world) tell(l *life, lossy bool) {
	if lossy && w.rng.Float64() < w.faults.drop {
		return // a list is read again now and then: see tick
	}
	for range 1 + w.chance(w.faults.dup) {
		m, st := w.picture()
		wipes := w.wipes
		w.after(w.lag(), func() { l.see(m, wipes) })
		w.after(w.lag(), func() { l.see(Layout{st}, wipes) })
	}
}

// see brings a picture of the registry, unless it is from before a wipe that was seen: a list is
// read from one connection, in order. The first that comes after a wipe says so.
func (l *life) see(m Message, wipes int) {
	switch m := m.(type) {
	case Members:
		if wipes < l.wipes[0] {
			return
		}
		m.Wiped = wipes > l.wipes[0]
		l.wipes[0] = wipes
		l.hear(m)
	case Layout:
		if wipes < l.wipes[1] {
			return
		}
		m.Wiped = wipes > l.wipes[1]
		l.wipes[1] = wipes
		l.hear(m)
	}
}

func (w *world) chance(p float64) int {
	if w.rng.Float64() < p {
		return 1
	}
	return 0
}

func (w *world) picture() (Members, Standing) {
	m := Members{Revision: w.revision}
	for _, l := range w.members {
		m.Members = append(m.Members, l.self)
	}
	slices.SortFunc(m.Members, func(a, b Master) int { return cmp.Compare(a.Node, b.Node) })
	st := Standing{CommitRevision: w.commitAt, Acks: map[string]Ackd{}, Revision: w.revision}
	if w.prepare != nil {
		p := *w.prepare
		st.Prepare = &p
	}
	if w.commit != nil {
		c := *w.commit
		st.Commit = &c
	}
	if w.ask != nil {
		a := *w.ask
		st.Ask = &a
	}
	maps.Copy(st.Acks, w.acks)
	return m, st
}

// hear brings a message to a life, or keeps it until its pause is over.
func (l *life) hear(m Message) {
	if l.dead {
		return
	}
	if l.w.now.Before(l.paused) {
		l.pending = append(l.pending, func() { l.hear(m) })
		return
	}
	if g, ok := m.(given); ok {
		l.lock, l.lockWipes, m = g.fence, g.wipes, Locked{}
	}
	for _, e := range l.b.Step(m, l.w.now) {
		l.do(e)
	}
}

// wipe loses everything that the registry has.
func (w *world) wipe() {
	w.log("wipe")
	w.wipes++
	w.revision, w.commitAt = 1, 0
	w.members, w.acks, w.ackOf = map[string]*life{}, map[string]Ackd{}, map[string]*life{}
	w.prepare, w.commit, w.ask, w.holder, w.queue = nil, nil, nil, nil, nil
	for _, l := range w.all {
		if l.dead {
			continue
		}
		w.after(w.lag()+time.Duration(w.rng.Int64N(int64(2*time.Second))), func() {
			if !l.dead && w.members[l.self.Node] != l && !w.now.Before(l.paused) {
				l.hear(Membership{false})
				l.join()
			}
		})
	}
	w.changed()
}

// pause stops a life for a while; a pause longer than the lease ends its membership.
func (l *life) pause(d time.Duration) {
	w := l.w
	if w.now.Before(l.paused) {
		return
	}
	w.log("pause %s for %v", l.self.Node, d)
	l.paused = w.now.Add(d)
	session := l.session
	if d > simTTL {
		w.after(simTTL, func() {
			if l.session == session && !l.dead && w.now.Before(l.paused) {
				w.expire(l)
			}
		})
	}
	w.after(d, func() {
		if l.dead {
			return
		}
		l.hear(Tick{}) // what it does first, it does with what it knew
		todo := l.pending
		l.pending = nil
		for _, do := range todo {
			do()
		}
		if w.members[l.self.Node] != l {
			l.hear(Membership{false})
			l.join()
		}
	})
}

// tick lets time pass for a life, and lists the registry each second or so.
func (l *life) tick() {
	w := l.w
	if l.dead {
		return
	}
	every := time.Second
	if l.b.Busy() {
		every = 20 * time.Millisecond
	}
	w.after(every, func() {
		l.hear(Tick{})
		if w.up && w.rng.IntN(20) == 0 || every == time.Second {
			w.tell(l, false)
		}
		l.tick()
	})
}
