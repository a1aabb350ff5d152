package worker

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// masterModel is a master as the protocol has it: it takes asks, gives back what is not
// used, and sends attempts; what it says is under way for a while.
type masterModel struct {
	held  int
	toHim []grant
	toUs  []func()
}

// deliver brings him what was sent; back tells how much of a recall he gives back.
func (m *masterModel) deliver(back func(n int)) {
	for _, g := range m.toHim {
		m.held += g.ask
		if n := min(g.recall, m.held); n > 0 {
			m.held -= n
			m.toUs = append(m.toUs, func() { back(n) })
		}
	}
	m.toHim = nil
}

func TestAsksAreNeverAboveTheFreeSlots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 20).Draw(t, "slots")
		a, now, running := newAsks(), noon, 0
		masters := map[string]*masterModel{}
		step := func() {
			for _, g := range a.step(slots-running, now) {
				m := masters[g.master]
				m.toHim = append(m.toHim, g)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"up": func(t *rapid.T) {
				name := fmt.Sprint("m", rapid.IntRange(1, 3).Draw(t, "master"))
				if masters[name] == nil {
					masters[name] = &masterModel{}
					a.up(name)
				}
			},
			"down": func(t *rapid.T) {
				name := fmt.Sprint("m", rapid.IntRange(1, 3).Draw(t, "master"))
				delete(masters, name)
				a.down(name)
			},
			"deliver": func(t *rapid.T) {
				for name, m := range masters {
					m.deliver(func(back int) { a.unused(name, back) })
				}
			},
			"send": func(t *rapid.T) {
				name := fmt.Sprint("m", rapid.IntRange(1, 3).Draw(t, "master"))
				if m := masters[name]; m != nil && m.held > 0 {
					m.held--
					m.toUs = append(m.toUs, func() { a.used(name, 1); running++ })
				}
			},
			"wait": func(t *rapid.T) {
				name := fmt.Sprint("m", rapid.IntRange(1, 3).Draw(t, "master"))
				n := rapid.IntRange(0, 30).Draw(t, "waiting")
				if m := masters[name]; m != nil {
					m.toUs = append(m.toUs, func() { a.announce(name, n, now) })
				}
			},
			"hear": func(t *rapid.T) {
				for _, m := range masters {
					for _, f := range m.toUs {
						f()
					}
					m.toUs = nil
				}
			},
			"end": func(t *rapid.T) { running = max(0, running-1) },
			"later": func(t *rapid.T) {
				// A recall is not given up while its answer is under way: links are ordered.
				now = now.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) {
				step()
				held := 0
				for _, m := range masters {
					held += m.held
					for _, g := range m.toHim {
						held += g.ask
					}
				}
				if held > slots-running {
					t.Fatalf("masters hold %d asks with %d free slots", held, slots-running)
				}
			},
		})
	})
}

func TestAsksSettleWhereWorkWaits(t *testing.T) {
	t.Parallel()
	a := newAsks()
	for _, name := range []string{"m1", "m2", "m3"} {
		a.up(name)
	}
	play := func(free int) {
		for range 10 {
			for _, g := range a.step(free, noon) {
				if g.recall > 0 {
					a.unused(g.master, g.recall)
				}
			}
		}
	}
	asked := func() string {
		return fmt.Sprint(a.masters["m1"].asked, a.masters["m2"].asked, a.masters["m3"].asked)
	}
	play(9)
	if asked() != "3 3 3" {
		t.Errorf("without waiting work: %s", asked())
	}
	a.announce("m2", 100, noon)
	play(9)
	if asked() != "1 7 1" {
		t.Errorf("with work at m2: %s", asked())
	}
	a.announce("m2", 0, noon)
	play(9)
	if asked() != "3 3 3" {
		t.Errorf("after it: %s", asked())
	}
	play(0)
	if asked() != "0 0 0" {
		t.Errorf("without a free slot: %s", asked())
	}
	a.announce("m3", 5, noon)
	play(1)
	if asked() != "0 0 1" {
		t.Errorf("one slot, work at m3: %s", asked())
	}
}

func TestARecallWithoutAnAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newAsks()
	a.up("m1")
	a.step(4, noon)
	if got := a.step(0, noon); len(got) != 1 || got[0].recall != 4 {
		t.Fatalf("grants = %v, want a recall of 4", got)
	}
	if got := a.step(0, noon.Add(time.Second)); len(got) != 0 {
		t.Errorf("a second recall while the first is under way: %v", got)
	}
	if got := a.step(0, noon.Add(3*time.Second)); len(got) != 1 || got[0].recall != 4 {
		t.Errorf("grants = %v, want the recall again", got)
	}
}

func TestAMasterWhoseAttemptsCouldNotRunIsNotAsked(t *testing.T) {
	t.Parallel()
	a := newAsks()
	a.up("m1")
	a.up("m2")
	a.trust("m1", false)
	if got, want := fmt.Sprint(a.step(4, noon)), "[{m2 4 0}]"; got != want {
		t.Errorf("asks while m1 is doubted = %s, want %s", got, want)
	}
	a.trust("m1", true)
	a.trust("m2", false)
	if got, want := fmt.Sprint(a.step(4, noon)), "[{m2 0 4}]"; got != want {
		t.Errorf("asks while m2 is doubted = %s, want %s: what it holds is recalled", got, want)
	}
	a.unused("m2", 4)
	if got, want := fmt.Sprint(a.step(4, noon)), "[{m1 4 0}]"; got != want {
		t.Errorf("asks after the recall = %s, want %s", got, want)
	}
}
