package worker

import (
	"slices"
	"time"
)

const (
	// waitingFor is how long a master's word about waiting work counts.
	waitingFor = 2 * time.Second
	// recallFor is how long a recall may go without an answer. None comes where all the
	// asks meant were used: their dispatches came instead.
	recallFor = 2 * time.Second
)

// asks decides which master may send how many attempts: the standing asks together are
// never above the free slots, are spread evenly, and move to masters that say that work
// waits for them. It is pure: every method is a step with the time as an argument.
type asks struct {
	free    int
	masters map[string]*standing
}

// standing is what one master holds.
type standing struct {
	asked        int // grants that it has, those being recalled too
	recalled     int
	recalledAt   time.Time
	waiting      int
	waitingUntil time.Time
	doubted      bool // what it sends now would have to be given back
}

// grant is one change for one master: at most one of its numbers is not zero.
type grant struct {
	master      string
	ask, recall int
}

func newAsks() *asks { return &asks{masters: map[string]*standing{}} }

// up begins with a master whose link has just been made: it holds no grants.
func (a *asks) up(master string) { a.masters[master] = &standing{} }

// down forgets a master: a grant ends with the link that it was given on.
func (a *asks) down(master string) { delete(a.masters, master) }

// trust says whether an attempt of that master could run; while not, it holds no grants.
func (a *asks) trust(master string, trusted bool) {
	if s := a.masters[master]; s != nil {
		s.doubted = !trusted
	}
}

// used says that a master has sent n attempts.
func (a *asks) used(master string, n int) {
	if s := a.masters[master]; s != nil {
		s.asked = max(0, s.asked-n)
		s.recalled = min(s.recalled, s.asked)
		s.waiting = max(0, s.waiting-n)
	}
}

// unused says that n recalled asks came back; it answers the one recall under way.
func (a *asks) unused(master string, n int) {
	if s := a.masters[master]; s != nil {
		s.asked, s.recalled = max(0, s.asked-n), 0
	}
}

// held is how many grants the masters still have: each may have become a dispatch that is on its way.
func (a *asks) held() int {
	n := 0
	for _, s := range a.masters {
		n += s.asked
	}
	return n
}

// announce says how much work waits for an ask at a master.
func (a *asks) announce(master string, n int, now time.Time) {
	if s := a.masters[master]; s != nil {
		s.waiting, s.waitingUntil = n, now.Add(waitingFor)
	}
}

// step says what to ask and to recall, given the free slots. Masters are in order of name.
func (a *asks) step(free int, now time.Time) []grant {
	a.free = free
	names := make([]string, 0, len(a.masters))
	total := 0
	for name, s := range a.masters {
		names = append(names, name)
		total += s.asked
		if s.waiting > 0 && now.After(s.waitingUntil) {
			s.waiting = 0
		}
		if s.recalled > 0 && now.Sub(s.recalledAt) > recallFor {
			s.recalled = 0
		}
	}
	slices.Sort(names)
	wanted := a.wanted(names)
	spare := free - total
	var out []grant
	for _, name := range names {
		s := a.masters[name]
		kept, want := s.asked-s.recalled, wanted[name]
		switch {
		case kept < want && spare > 0 && s.recalled == 0:
			n := min(want-kept, spare)
			s.asked += n
			spare -= n
			out = append(out, grant{master: name, ask: n})
		case kept > want && s.recalled == 0 && (s.doubted || a.worthMoving(names, name, kept-want, spare)):
			s.recalled, s.recalledAt = kept-want, now
			out = append(out, grant{master: name, recall: kept - want})
		}
	}
	return out
}

// wanted spreads the free slots: a master without waiting work keeps one, so that its
// next task starts at once, if there are enough; the rest goes to those with waiting
// work, or evenly.
func (a *asks) wanted(names []string) map[string]int {
	wanted := make(map[string]int, len(names))
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return a.masters[name].doubted })
	rest := a.free
	give := func(who []string, most func(*standing) int) {
		for progress := true; rest > 0 && progress; {
			progress = false
			for _, name := range who {
				if rest > 0 && wanted[name] < most(a.masters[name]) {
					wanted[name]++
					rest--
					progress = true
				}
			}
		}
	}
	var hungry []string
	for _, name := range names {
		if a.masters[name].waiting > 0 {
			hungry = append(hungry, name)
		}
	}
	// One each, the hungry first; then what waits; then evenly.
	give(hungry, func(*standing) int { return 1 })
	give(names, func(*standing) int { return 1 })
	give(hungry, func(s *standing) int { return max(1, s.waiting) })
	if rest > 0 && len(names) > 0 {
		for i, name := range names {
			share := rest / len(names)
			if i < rest%len(names) {
				share++
			}
			wanted[name] += share
		}
	}
	return wanted
}

// worthMoving keeps a difference of one where nobody is in need: it would wander with
// every task that ends.
func (a *asks) worthMoving(names []string, from string, extra, spare int) bool {
	if spare < 0 || extra > 1 {
		return true
	}
	for _, name := range names {
		s := a.masters[name]
		if name != from && (s.asked == 0 || s.waiting > s.asked) {
			return true
		}
	}
	return false
}
