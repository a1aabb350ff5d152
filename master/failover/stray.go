package failover

import (
	"cmp"
	"slices"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// strayAfter is how long a worker must have brought reports that are another master's before that
	// master is asked for their instances: a worker that reaches their owner has found it by then.
	strayAfter = 3 * time.Second
	// strayGone is after how long without such a report a worker is no stray any more.
	strayGone = 10 * time.Second
	// maxStrays bounds the pairs of worker and owner that are watched.
	maxStrays = 10_000
)

// Stray is a worker that reaches this master but not the owner of what it runs.
type Stray struct {
	Worker string // its node
	Owner  rpc.Process
}

// Strays watches for workers that bring reports which are for a master that they do not reach. It is
// pure, and not safe for concurrent use.
type Strays struct {
	seen map[Stray]*strayed
}

type strayed struct{ first, last, asked time.Time }

// NewStrays returns Strays that has seen none.
func NewStrays() *Strays { return &Strays{seen: make(map[Stray]*strayed)} }

// Saw notes a report of a worker that was for another owner.
func (s *Strays) Saw(stray Stray, now time.Time) {
	known := s.seen[stray]
	if known == nil {
		if len(s.seen) >= maxStrays {
			return
		}
		known = &strayed{first: now}
		s.seen[stray] = known
	}
	known.last = now
}

// Due returns the strays whose owner is to be asked for their instances now, in order; the same one
// again only after a while.
func (s *Strays) Due(now time.Time) []Stray {
	var due []Stray
	for stray, known := range s.seen {
		switch {
		case now.Sub(known.last) > strayGone:
			delete(s.seen, stray)
		case known.last.Sub(known.first) >= strayAfter && now.Sub(known.asked) > strayGone:
			known.asked = now
			due = append(due, stray)
		}
	}
	slices.SortFunc(due, func(a, b Stray) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Owner.String(), b.Owner.String()))
	})
	return due
}
