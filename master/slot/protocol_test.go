package slot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// calm is a world in which nothing goes wrong by itself, with masters that have a layout.
func calm(t *testing.T, nodes ...string) *world {
	t.Helper()
	w := newWorld(1, faults{lag: 2 * time.Millisecond})
	for _, node := range nodes {
		w.boot(node, 1)
	}
	w.run(2 * time.Second)
	w.hold(t)
	return w
}

// hold ends the test unless all living masters share the slots.
func (w *world) hold(t *testing.T) {
	t.Helper()
	w.look()
	if len(w.wrong) > 0 {
		t.Fatal(strings.Join(w.wrong, "\n"))
	}
}

// until moves the world until something holds, and returns how long it took.
func (w *world) until(t *testing.T, what string, ok func() bool) time.Duration {
	t.Helper()
	from := w.now
	for !ok() {
		if w.now.Sub(from) > time.Minute {
			t.Fatalf("waited in vain until %s", what)
		}
		w.run(time.Millisecond)
	}
	return w.now.Sub(from)
}

func (w *world) epoch() int64 {
	if len(w.committed) == 0 {
		return 0
	}
	return w.committed[len(w.committed)-1]
}

func TestAMasterAloneHasAllSlotsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(1, faults{})
	l := w.boot("m1", 1)
	if took := w.until(t, "it takes commands", func() bool { return l.open }); took > 50*time.Millisecond {
		t.Errorf("it took %v, want a few answers of the registry", took)
	}
	w.hold(t)
	if w.epoch() != 1 {
		t.Errorf("epoch %d, want the first", w.epoch())
	}
}

func TestAJoinTakesOneEpochAndALeaveAnother(t *testing.T) {
	t.Parallel()
	w := calm(t, "m1")
	w.boot("m2", 1)
	w.until(t, "m1 stops", func() bool { return !w.nodes["m1"].open })
	closed := w.until(t, "m1 goes on", func() bool { return w.nodes["m1"].open })
	if closed > 100*time.Millisecond {
		t.Errorf("no commands were taken for %v", closed)
	}
	w.run(time.Second)
	w.hold(t)
	w.nodes["m2"].dead = true
	w.expire(w.nodes["m2"])
	w.run(2 * time.Second)
	w.hold(t)
	if w.epoch() != 3 || w.commit.Cause != "m2 left" {
		t.Errorf("epoch %d because of %q, want 3 because m2 left", w.epoch(), w.commit.Cause)
	}
}

func TestACrowdOfTwentyEndsInThreeEpochs(t *testing.T) {
	t.Parallel()
	for _, spread := range []time.Duration{0, 200 * time.Millisecond, time.Second} {
		w := calm(t, "m0")
		before := w.epoch()
		for i := range 20 {
			w.after(spread*time.Duration(i)/20, func() { w.boot(fmt.Sprint("n", i), 1) })
		}
		w.run(5 * time.Second)
		w.hold(t)
		if n := w.prepared - before; n > 3 {
			t.Errorf("20 joins within %v took %d epochs, want 3 at most", spread, n)
		}
	}
}

func TestAWeightCountsAndItsChangeIsARebalance(t *testing.T) {
	t.Parallel()
	w := calm(t, "m1", "m2")
	w.nodes["m2"].self.Weight = 100 // as its record says from now on
	w.changed()
	w.run(2 * time.Second)
	w.hold(t)
	if n := count(w.commit.Of(w.nodes["m2"].self)); n < simSlots/2 {
		t.Errorf("m2 with 100 times the weight has %d of %d slots", n, simSlots)
	}
}

// TestACoordinatorMayDieAnywhere kills the coordinator after each of its steps.
func TestACoordinatorMayDieAnywhere(t *testing.T) {
	t.Parallel()
	holds := func(w *world) bool { return w.holder != nil && w.holder.self.Node == "a" }
	acks := func(w *world, n int) bool {
		have := 0
		for _, a := range w.acks {
			if w.prepare != nil && a.Epoch == w.prepare.Epoch {
				have++
			}
		}
		return w.prepare != nil && w.prepare.Epoch > w.epoch() && have >= n
	}
	for name, at := range map[string]func(w *world) bool{
		"the lock was taken":       holds,
		"the floor was raised":     func(w *world) bool { return holds(w) && w.floor > w.prepared },
		"PREPARE was written":      func(w *world) bool { return acks(w, 0) },
		"the first ack":            func(w *world) bool { return acks(w, 1) },
		"the second ack":           func(w *world) bool { return acks(w, 2) },
		"the last ack":             func(w *world) bool { return acks(w, 4) },
		"COMMIT, before unlocking": func(w *world) bool { return w.epoch() == w.prepared && holds(w) && w.commit.Epoch > 1 },
	} {
		w := calm(t, "a", "b", "c")
		w.boot("d", 1)
		w.until(t, name, func() bool { return at(w) })
		a := w.nodes["a"]
		w.kill(a)
		took := w.until(t, "the others have a layout of their own", func() bool { return len(w.commit.Members) == 3 && find(w.commit.Members, a.self) < 0 })
		if took > 7*time.Second {
			t.Errorf("the coordinator died after %s: it took %v, want the lease and a moment", name, took)
		}
		w.run(2 * time.Second)
		w.hold(t)
	}
}

func TestACoordinatorThatSleptCannotFinishWhatItBegan(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b", "c")
	first := w.boot("0", 1) // the first by node: it coordinates its own coming
	w.until(t, "all have acked", func() bool { return w.prepare.Epoch == 2 && len(w.acks) == 4 && w.acks["c"].Epoch == 2 })
	first.pause(8 * time.Second)
	w.until(t, "the others have another layout", func() bool { return w.epoch() >= 3 })
	if len(w.commit.Members) != 3 {
		t.Errorf("the layout after it has the members %s, want the three that are awake", nodes(w.commit.Members))
	}
	w.run(15 * time.Second)
	w.hold(t)
	if slices.Contains(w.committed, 2) {
		t.Error("the epoch of the one that slept was committed")
	}
}

func TestOneThatHangsIsLeftOutAndComesBack(t *testing.T) {
	t.Parallel()
	for _, hung := range []string{"a", "c"} { // the coordinator of the rest, and another
		w := calm(t, "a", "b", "c")
		l := w.nodes[hung]
		l.slow = 25 * time.Second
		w.until(t, "its claim hangs", func() bool { return l.busy > 0 })
		w.run(100 * time.Millisecond)
		w.boot("d", 1)
		w.until(t, "b stops", func() bool { return !w.nodes["b"].open })
		if stopped := w.until(t, "b goes on", func() bool { return w.nodes["b"].open }); stopped > 5*time.Second {
			t.Errorf("%s hangs: the others took nothing for %v", hung, stopped)
		}
		if len(w.commit.Members) != 3 || find(w.commit.Excluded, l.self) < 0 {
			t.Errorf("the layout has %s without %s, want all but %s", nodes(w.commit.Members), nodes(w.commit.Excluded), hung)
		}
		l.slow = 5 * time.Millisecond
		w.until(t, "it is let in again", func() bool { return len(w.commit.Members) == 4 })
		w.run(time.Second)
		w.hold(t)
	}
}

func TestWhereAllHangNobodyIsLeftOut(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	for _, l := range w.living() {
		l.slow = 20 * time.Second
	}
	w.run(100 * time.Millisecond)
	w.expire(w.nodes["a"])
	w.nodes["a"].hear(Membership{false})
	w.nodes["a"].join()
	w.boot("c", 1)
	w.kill(w.nodes["c"])
	w.run(10 * time.Second)
	for _, l := range w.living() {
		l.slow = 5 * time.Millisecond
	}
	w.run(30 * time.Second)
	w.hold(t)
}

func TestAPrepareThatWasAckedIsAckedAgainAndDoesNothing(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	self := Master{"m1", "i", 1}
	b := NewBarrier(BarrierConfig{Self: self, Slots: 4, Trust: time.Second})
	b.Step(Membership{true}, now)
	c := &Commit{Epoch: 1, Members: []Master{self}, Owners: []int{0, 0, 0, 0}}
	st := Standing{Commit: c, CommitRevision: 2, Acks: map[string]Ackd{}, Revision: 2}
	if fx := b.Step(Layout{st}, now); len(fx) != 1 || fx[0].(Open).Epoch != 1 {
		t.Fatalf("after COMMIT(1): %v, want Open", fx)
	}
	prepare := Prepare{Epoch: 2, Members: []Master{self}, Try: 1}
	st.Prepare, st.Revision = &prepare, 3
	if fx := b.Step(Layout{st}, now); len(fx) != 1 || fx[0] != Effect(Close{1}) {
		t.Fatalf("after PREPARE(2): %v, want Close", fx)
	}
	if fx := b.Step(Quiet{0}, now); len(fx) != 0 {
		t.Fatalf("when the claims of before another gate have ended: %v, want nothing", fx)
	}
	ack := SendAck{Ack{Epoch: 2, Incarnation: "i", At: now.UnixMilli()}}
	if fx := b.Step(Quiet{1}, now); len(fx) != 1 || fx[0] != Effect(ack) {
		t.Fatalf("when claims have ended: %v, want the ack", fx)
	}
	st.Revision = 4
	if fx := b.Step(Layout{st}, now); len(fx) != 0 {
		t.Errorf("the same PREPARE from the same try: %v, want nothing while the ack is on its way", fx)
	}
	again := prepare
	again.Try = 2
	st.Prepare, st.Revision = &again, 5
	if fx := b.Step(Layout{st}, now); len(fx) != 1 || fx[0] != Effect(ack) {
		t.Errorf("PREPARE(2) again: %v, want the same ack and nothing else", fx)
	}
	if fx := b.Step(Tick{}, now.Add(time.Hour)); slices.ContainsFunc(fx, func(e Effect) bool { _, open := e.(Open); return open }) {
		t.Errorf("an hour later: %v, want it closed until a commit comes", fx)
	}
	older := *c
	st.Commit, st.Revision = &older, 6
	if fx := b.Step(Layout{st}, now); len(fx) > 1 {
		t.Errorf("the commit of before: %v, want it closed", fx)
	}
}

func TestThoseThatStayHaveWhatADeadMasterHad(t *testing.T) {
	t.Parallel()
	w := calm(t, "a")
	w.kill(w.nodes["a"])
	w.run(10 * time.Second)
	w.boot("b", 1)
	if took := w.until(t, "b has all slots", func() bool { return w.nodes["b"].open }); took > time.Second {
		t.Errorf("it took %v though nobody else is there", took)
	}
	w.run(time.Second)
	w.hold(t)
	w.boot("b", 1) // restarted on its own folder
	if took := w.until(t, "b has all slots again", func() bool { return w.nodes["b"].open }); took > 2*debounce {
		t.Errorf("a restart took %v", took)
	}
	w.run(time.Second)
	w.hold(t)
}

func TestTheLayoutHoldsWhileTheRegistryIsAway(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	w.up = false
	for _, l := range w.living() {
		l.hear(Membership{false}) // after the silence of a lease
	}
	before := w.claims
	w.run(time.Minute)
	if w.claims < before+1000 {
		t.Errorf("%d claims in a minute without the registry, want them to go on", w.claims-before)
	}
	w.up = true
	for _, l := range w.living() {
		l.join()
	}
	w.run(5 * time.Second)
	w.hold(t)
}

func TestAWipedRegistryStartsAboveTheFloorAndKeepsWhoIsMissing(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b", "c")
	w.boot("d", 1)
	w.run(2 * time.Second)
	floor := w.floor
	w.nodes["d"].pause(4 * time.Second) // it comes back late
	w.wipe()
	before := w.claims
	w.run(3 * time.Second)
	if w.commit != nil {
		t.Errorf("a layout of %s was made before all were back", nodes(w.commit.Members))
	}
	if w.claims < before+100 {
		t.Errorf("%d claims after the wipe, want the last layout to hold", w.claims-before)
	}
	w.run(10 * time.Second)
	w.hold(t)
	if w.epoch() <= floor {
		t.Errorf("epoch %d after the wipe, want more than the floor %d", w.epoch(), floor)
	}
}

func TestWithoutTheDatabaseNothingIsBegun(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	w.dbUp = false
	w.boot("c", 1)
	before := w.prepared
	w.run(20 * time.Second)
	if w.prepared != before || !w.nodes["a"].open {
		t.Errorf("PREPARE(%d) was written, though no epoch could be had", w.prepared)
	}
	w.dbUp = true
	w.run(5 * time.Second)
	w.hold(t)
}

func TestACommitTellsHowItCameAbout(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	w.nodes["b"].slow = 30 * time.Second
	w.run(100 * time.Millisecond)
	w.boot("c", 1)
	w.until(t, "there is a layout with c", func() bool { return find(w.commit.Members, w.nodes["c"].self) >= 0 })
	var words []string
	for _, s := range w.commit.Steps {
		words = append(words, strings.TrimSpace(s.What+" "+s.Node))
	}
	got := strings.Join(words, ", ")
	if want := "prepare, ack a, ack c, resend b, resend b, exclude b, prepare, ack a, ack c, commit"; got != want &&
		got != strings.Replace(want, "ack a, ack c", "ack c, ack a", 2) && got != strings.Replace(want, "ack a, ack c", "ack c, ack a", 1) {
		t.Errorf("steps are %s, want %s", got, want)
	}
	if w.commit.Restarts != 1 || w.commit.Cause != "c joined" || w.commit.At-w.commit.StartedAt < 3000 {
		t.Errorf("%d restarts because of %q in %d ms", w.commit.Restarts, w.commit.Cause, w.commit.At-w.commit.StartedAt)
	}
}

func TestOneThatDiesUnackedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b", "c")
	c := w.nodes["c"]
	c.pause(time.Minute)
	w.boot("d", 1)
	w.until(t, "a stops", func() bool { return !w.nodes["a"].open })
	c.dead = true
	w.expire(c)
	if took := w.until(t, "a goes on", func() bool { return w.nodes["a"].open }); took > 2*debounce {
		t.Errorf("the others waited %v for one that was gone", took)
	}
	w.run(time.Second)
	w.hold(t)
}

func TestADatabaseThatWasSetBackDoesNotSetEpochsBack(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	w.boot("c", 1)
	w.run(2 * time.Second)
	w.floor = 0
	before := w.epoch()
	w.boot("d", 1)
	w.run(2 * time.Second)
	w.hold(t)
	if w.epoch() != before+1 {
		t.Errorf("epoch %d after %d", w.epoch(), before)
	}
}

func TestARegistryThatWasSetBackDoesNotBringAnOldLayoutBack(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b")
	old := *w.commit
	w.boot("c", 1)
	w.run(2 * time.Second)
	w.wipe()
	w.commit, w.commitAt = &old, w.revision
	w.changed()
	w.run(10 * time.Millisecond)
	for _, l := range w.living() {
		if !l.open || l.epoch <= old.Epoch {
			t.Errorf("%s: takes commands: %v, in the name of %d; want the newer layout to hold", l.self.Node, l.open, l.epoch)
		}
	}
	w.run(15 * time.Second)
	w.hold(t)
}
