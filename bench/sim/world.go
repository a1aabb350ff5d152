package main

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"
)

// epoch is what every clock without an offset shows when a world begins.
var epoch = time.UnixMilli(1_700_000_000_000)

// event is something that happens to a process; to nobody's where proc is nil.
type event struct {
	at   time.Duration
	seq  uint64 // of events of one moment, what was asked for first comes first
	proc *proc
	name string
	do   func()
}

// violation is a broken invariant; it ends the world that finds it.
type violation struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

func (v *violation) Error() string { return v.Rule + ": " + v.Text }

// world is one cluster in one goroutine: nothing in it happens but by an event from its heap, and
// nothing is left to chance but by its one source of random numbers.
type world struct {
	opt   options
	ctx   context.Context
	rng   *rand.Rand
	now   time.Duration
	seq   uint64
	queue queue
	hash  hash.Hash64
	trace *strings.Builder // what happened, for people; nil for nobody

	db      *database
	reg     *etcd
	net     *network
	masters []*masterNode
	workers []*workerNode
	client  *client
	ticker  *ticker
	audit   *audit
	proof   *evidence
	layouts *layouts

	healing bool
	misled  bool  // a master began while its clock was wrong: what it reckons may be, too
	hand    *host // whose process is at work; nil: the world's own
	bad     *violation
	count   counts
	tokens  int
}

// counts is what a world has seen.
type counts struct {
	Events, Rebalances, Starts, Acked, Attempts, Spawned, Late, Asked, Controls, Commits, Excused int
	Faults                                                                                        map[string]int
	Virtual                                                                                       time.Duration
}

func newWorld(ctx context.Context, opt options, tracing bool) (*world, error) {
	w := &world{opt: opt, ctx: ctx, hash: fnv.New64a(), rng: rand.New(rand.NewPCG(opt.Seed, 0x9e3779b97f4a7c15))}
	w.count.Faults = map[string]int{}
	if tracing {
		w.trace = &strings.Builder{}
	}
	w.audit, w.proof, w.layouts = newAudit(w), newEvidence(w), newLayouts(w)
	var err error
	if w.db, err = openDatabase(w); err != nil {
		return nil, err
	}
	w.reg, w.net = newEtcd(w), newNetwork(w)
	for i := range opt.Masters {
		w.masters = append(w.masters, newMasterNode(w, fmt.Sprintf("m%d", i+1)))
	}
	for i := range opt.Workers {
		w.workers = append(w.workers, newWorkerNode(w, fmt.Sprintf("w%d", i+1)))
	}
	w.client = newClient(w)
	w.ticker, err = newTicker(w)
	return w, err
}

func (w *world) close() error { return w.db.close() }

// after asks for an event of a process.
func (w *world) after(d time.Duration, p *proc, name string, do func()) {
	w.seq++
	w.queue.push(event{at: w.now + max(d, 0), seq: w.seq, proc: p, name: name, do: do})
}

// every repeats an event for as long as its process lives.
func (w *world) every(d time.Duration, p *proc, name string, do func()) {
	var again func()
	again = func() {
		w.after(d, p, name, again)
		do()
	}
	w.after(w.upTo(d), p, name, again)
}

// clock is what whoever is at work takes for the time.
func (w *world) clock() time.Time {
	if w.hand == nil {
		return epoch.Add(w.now)
	}
	return w.hand.clock()
}

// upTo draws a time below d.
func (w *world) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(d)))
}

// between draws a time from low to high.
func (w *world) between(low, high time.Duration) time.Duration { return low + w.upTo(high-low) }

// chance is true with the probability p.
func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

// pick draws one of a list.
func pick[T any](w *world, list []T) T { return list[w.rng.IntN(len(list))] }

// token names an attempt.
func (w *world) token() string {
	w.tokens++
	return fmt.Sprintf("t%d", w.tokens)
}

// note makes something part of the trace that two runs of one seed must share.
func (w *world) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	_, _ = w.hash.Write([]byte(line))
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%11.6f   %s\n", w.now.Seconds(), line)
	}
}

// fail notes the first broken invariant.
func (w *world) fail(rule, format string, args ...any) {
	if w.bad == nil {
		w.bad = &violation{rule, fmt.Sprintf("at %v: ", w.now) + fmt.Sprintf(format, args...)}
		w.note("VIOLATION %s", w.bad)
	}
}

// maxEvents ends a world that does not come to rest.
const maxEvents = 5_000_000

// run lets events happen until the moment, or until something is wrong.
func (w *world) run(until time.Duration) error {
	for w.bad == nil {
		e, ok := w.queue.pop(until)
		if !ok {
			w.now = until
			return nil
		}
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		w.now = max(w.now, e.at)
		if e.proc != nil && !e.proc.takes(e) {
			continue
		}
		if w.count.Events++; w.count.Events > maxEvents {
			return errors.New("too many events")
		}
		w.mark(e)
		w.step(e)
	}
	return nil
}

// mark makes the event itself part of the trace.
func (w *world) mark(e event) {
	var b [8]byte
	for i := range b {
		b[i] = byte(w.now >> (8 * i))
	}
	_, _ = w.hash.Write(b[:])
	_, _ = w.hash.Write([]byte(e.name))
	if e.proc != nil {
		_, _ = w.hash.Write([]byte(e.proc.id))
	}
	if w.trace != nil {
		who := "-"
		if e.proc != nil {
			who = e.proc.id
		}
		fmt.Fprintf(w.trace, "%11.6f %-6s %s\n", w.now.Seconds(), who, e.name)
	}
}

// step does one event. The code under test must not panic, whatever happens to it.
func (w *world) step(e event) {
	if e.proc != nil {
		w.hand = e.proc.host
	}
	defer func() {
		w.hand = nil
		if r := recover(); r != nil {
			w.fail("I42", "%s of %v: panic: %v\n%s", e.name, e.proc, r, stack())
		}
	}()
	e.do()
	if e.proc != nil && e.proc.after != nil && e.proc.alive {
		e.proc.after()
	}
	if len(w.db.commits) > 0 {
		actor := "-"
		if e.proc != nil {
			actor = e.proc.id
		}
		w.audit.drain(actor)
	}
}
