package dispatch

import (
	"cmp"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// maxLooked bounds how many waiting tasks of a group are looked at for the oldest: the dispatcher stands still meanwhile.
// The heap's first ones are those that go first, so that a longer queue's figure is at most a little too young.
const maxLooked = 10_000

// Figures are how the queue of a worker group is doing. The counters begin anew with a group that was forgotten
// between, for it had neither tasks nor workers.
type Figures struct {
	Group          string
	Waiting        int
	Oldest         dag.Millis // since when the one that waits longest is ready; zero where none waits
	Offered, Given int64
}

// Figures are those of every group that is known, by name.
func (c *Core) Figures() []Figures {
	list := make([]Figures, 0, len(c.groups))
	for name, g := range c.groups {
		f := Figures{Group: name, Offered: g.offered, Given: g.given}
		left := maxLooked
		for _, q := range g.queues {
			f.Waiting += len(q.items)
			for i := range q.items[:min(left, len(q.items))] {
				if at := q.items[i].ReadyAt; f.Oldest == 0 || at < f.Oldest {
					f.Oldest = at
				}
				left--
			}
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Figures) int { return cmp.Compare(a.Group, b.Group) })
	return list
}

// Figures are those of every group that is known, by name.
func (d *Dispatcher) Figures() []Figures {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.Figures()
}
