package slot

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestNoFaultBreaksTheBarrier moves clusters at random through joins, leaves, crashes, pauses, hung
// claims, a registry and a database that come and go, and messages that are lost, doubled, late and out of
// order. Meanwhile I09 and I10 must hold; after it, with everything well, all slots must have
// one master each that takes commands (I05), within seconds.
func TestNoFaultBreaksTheBarrier(t *testing.T) {
	t.Parallel()
	first, last := uint64(1), uint64(*simSeeds)
	if testing.Short() || racing {
		last /= 10
	}
	if *simSeed != 0 {
		first, last = *simSeed, *simSeed
	}
	claims, commits := 0, 0
	for seed := first; seed <= last; seed++ {
		w := rough(seed, *simSeed != 0)
		claims, commits = claims+w.claims, commits+len(w.committed)
		if len(w.wrong) > 0 {
			t.Fatalf("seed %d (again with -slot.seed=%d): %s", seed, seed, w.wrong[0])
		}
	}
	if n := int(last - first + 1); claims < 50*n || commits < 3*n {
		t.Errorf("%d seeds saw %d commits and %d claims: too few to tell anything", n, commits, claims)
	}
}

// rough is one seed: a time of faults, then a time of peace, then the look.
func rough(seed uint64, loud bool) *world {
	w := newWorld(seed, faults{})
	w.loud = loud
	w.faults = faults{
		lag: []time.Duration{2, 20, 100, 400}[w.rng.IntN(4)] * time.Millisecond, drop: []float64{0, 0.1, 0.4}[w.rng.IntN(3)],
		dup: []float64{0, 0.3}[w.rng.IntN(2)], unknown: []float64{0, 0.05, 0.3}[w.rng.IntN(3)],
	}
	for i := range 1 + w.rng.IntN(5) {
		w.boot(fmt.Sprint("m", i), 1+w.rng.IntN(3))
	}
	for range 5 + w.rng.IntN(15) {
		w.run(time.Duration(w.rng.Int64N(int64(3 * time.Second))))
		w.mischief()
	}
	w.log("peace")
	w.faults, w.up, w.dbUp, w.peace = faults{lag: 2 * time.Millisecond}, true, true, true
	if len(w.living()) == 0 {
		w.boot("last", 1)
	}
	for _, l := range w.living() {
		l.slow = 5 * time.Millisecond
	}
	w.run(40 * time.Second)
	w.look()
	return w
}

func (w *world) living() (list []*life) {
	for _, l := range w.all {
		if !l.dead {
			list = append(list, l)
		}
	}
	return list
}

// mischief does one thing that may happen to a cluster.
func (w *world) mischief() {
	living := w.living()
	var l *life
	if len(living) > 0 {
		l = living[w.rng.IntN(len(living))]
	}
	switch kind := w.rng.IntN(13); {
	case kind <= 2 || l == nil:
		w.boot(fmt.Sprint("m", w.rng.IntN(7)), 1+w.rng.IntN(3))
	case kind <= 4:
		w.kill(l)
	case kind == 5:
		w.log("leave %s", l.self.Node)
		l.dead = true
		w.expire(l)
	case kind <= 7:
		l.pause(time.Duration(w.rng.Int64N(int64(2 * simTTL))))
	case kind == 8:
		l.slow = []time.Duration{5 * time.Millisecond, 700 * time.Millisecond, 20 * time.Second}[w.rng.IntN(3)]
		w.log("claims of %s take %v", l.self.Node, l.slow)
	case kind == 9:
		w.outage("registry", &w.up)
	case kind == 10:
		w.outage("database", &w.dbUp)
	case kind == 11:
		if w.up {
			w.wipe()
		}
	case w.up: // the lease of a living master is lost, as by a slow renewal
		w.log("membership of %s lost", l.self.Node)
		w.expire(l)
		l.hear(Membership{false})
		w.after(w.lag(), l.join)
	}
}

// outage takes something away for a while, now and then longer than a lease.
func (w *world) outage(what string, up *bool) {
	*up = false
	d := time.Duration(w.rng.Int64N(int64(time.Second) << w.rng.IntN(4)))
	w.log("%s away for %v", what, d)
	w.after(d, func() { *up = true })
}

// look is I05 after peace: each slot has exactly one living master that takes its commands.
func (w *world) look() {
	owner := make([]string, simSlots)
	for _, l := range w.living() {
		if !l.open {
			w.fail("I05: %s takes no commands", l.self.Node)
			return
		}
		for s, owned := range l.owned {
			if owned && owner[s] != "" {
				w.fail("slot %d belongs to %s and %s", s, owner[s], l.self.Node)
			}
			if owned {
				owner[s] = l.self.Node
			}
		}
	}
	if s := slices.Index(owner, ""); s >= 0 {
		w.fail("I05: nobody takes the commands of slot %d", s)
	}
	if w.commit == nil || len(w.commit.Members) != len(w.living()) {
		w.fail("%d masters live, the layout is of %+v", len(w.living()), w.commit)
	}
}

func TestASeedReplaysIdentically(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 20; seed++ {
		a, b := rough(seed, false), rough(seed, false)
		if !slices.Equal(a.committed, b.committed) || a.claims != b.claims || a.revision != b.revision {
			t.Fatalf("seed %d: %v commits, %d claims, then %v and %d", seed, a.committed, a.claims, b.committed, b.claims)
		}
	}
}
