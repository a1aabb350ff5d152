// Package dispatch decides which worker gets which ready task. Workers pull: each
// keeps standing asks with the master, and a ready task is given to a worker that
// asks, one per worker in turn, so that work spreads evenly and no worker gets more
// than it wants. It owns the ready tasks that found no ask and the asks that found no
// task; it never talks to a worker or the store. engine offers it tasks; link tells
// it of workers; it keeps one worker group from holding up another.
package dispatch

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// Key names a task of an instance.
type Key struct {
	Instance int64
	Task     int
}

// Item is one ready task. Items of a group are given out in the order instance
// priority, task priority, age, key.
type Item struct {
	Key
	Group            string
	InstancePriority dag.Priority
	TaskPriority     dag.Priority
	ReadyAt          dag.Millis
	// AvoidWorker is the node that gets the item only while its group has no worker of another one.
	AvoidWorker string
}

// Grant is a task given to a worker. It uses up one ask; Core.Refuse brings the ask back.
type Grant struct {
	Item   Item
	Worker rpc.Process
}

// Core is the state of the dispatcher: steps in, grants out, no clock and no I/O. It
// is not safe for concurrent use; Dispatcher is.
//
// Invariant: while a worker has an ask left, no group of it has a task queued that the worker may have,
// unless nothing is given out at all.
type Core struct {
	held    bool
	groups  map[string]*group
	workers map[rpc.Process]*worker
}

type group struct {
	queue queue
	ring  []*worker // the workers of the group, in the order in which they came
	turn  int       // index into ring of who is asked first
}

type worker struct {
	rpc.Process
	groups []string
	asks   int
}

// NewCore returns a Core without workers or tasks.
func NewCore() *Core {
	return &Core{groups: make(map[string]*group), workers: make(map[rpc.Process]*worker)}
}

// Join adds a worker with no asks. A worker that is known is first removed; the grants are of tasks that
// waited for it alone in groups that it is no longer in.
func (c *Core) Join(who rpc.Process, groups []string) []Grant {
	left := c.remove(who)
	w := &worker{Process: who, groups: slices.Clone(groups)}
	c.workers[who] = w
	for _, name := range w.groups {
		g := c.group(name)
		g.ring = append(g.ring, w)
	}
	return c.serve(left)
}

// Leave removes a worker and its asks. What it was granted is not the Core's concern. The grants are of
// tasks that waited for it, as they should have gone elsewhere, where nobody else is left.
func (c *Core) Leave(who rpc.Process) []Grant { return c.serve(c.remove(who)) }

// remove forgets a worker and returns its groups.
func (c *Core) remove(who rpc.Process) []string {
	w := c.workers[who]
	if w == nil {
		return nil
	}
	delete(c.workers, who)
	for _, name := range w.groups {
		g := c.groups[name]
		i := slices.Index(g.ring, w)
		g.ring = slices.Delete(g.ring, i, i+1)
		if g.turn > i {
			g.turn--
		}
		c.tidy(name)
	}
	return w.groups
}

// serve gives out what asks can have in groups that a worker has left.
func (c *Core) serve(names []string) []Grant {
	var grants []Grant
	for _, name := range names {
		g := c.groups[name]
		if g == nil || len(g.queue.items) == 0 {
			continue
		}
		for _, w := range slices.Clone(g.ring) {
			n := w.asks
			w.asks = 0
			grants = append(grants, c.Ask(w.Process, n)...)
		}
	}
	return grants
}

// Ask adds n asks of a worker and returns the tasks that were waiting for them. An
// unknown worker's asks are dropped.
func (c *Core) Ask(who rpc.Process, n int) []Grant {
	w := c.workers[who]
	if w == nil || n <= 0 {
		return nil
	}
	if c.held {
		w.asks += n
		return nil
	}
	var grants []Grant
	for ; n > 0; n-- {
		name, at := c.first(w)
		if name == "" {
			w.asks += n
			break
		}
		item := heap.Remove(&c.groups[name].queue, at).(Item)
		grants = append(grants, Grant{Item: item, Worker: who})
		c.tidy(name)
	}
	return grants
}

// first returns the group, and the place in its queue, of the first task that a worker may have.
func (c *Core) first(w *worker) (best string, at int) {
	for _, name := range w.groups {
		g := c.groups[name]
		if g == nil {
			continue
		}
		i := g.first(w.Node)
		if i >= 0 && (best == "" || before(g.queue.items[i], c.groups[best].queue.items[at])) {
			best, at = name, i
		}
	}
	return best, at
}

// first returns the place of the first task that a node may have, or -1.
func (g *group) first(node string) int {
	best := -1
	for i := range g.queue.items {
		switch {
		case g.avoids(&g.queue.items[i], node):
		case i == 0:
			return 0
		case best < 0 || before(g.queue.items[i], g.queue.items[best]):
			best = i
		}
	}
	return best
}

// avoids says that an item waits for another node than this one.
func (g *group) avoids(item *Item, node string) bool {
	return item.AvoidWorker != "" && item.AvoidWorker == node && slices.ContainsFunc(g.ring, func(w *worker) bool { return w.Node != node })
}

// Recall takes back up to n asks of a worker and returns how many there were.
func (c *Core) Recall(who rpc.Process, n int) int {
	w := c.workers[who]
	if w == nil {
		return 0
	}
	n = max(0, min(n, w.asks))
	w.asks -= n
	return n
}

// Offer gives a ready task to the next worker of its group that asks, or queues it.
// An item that is queued already stays where it is.
func (c *Core) Offer(item Item) (Grant, bool) {
	g := c.group(item.Group)
	for range g.ring {
		if c.held {
			break
		}
		w := g.ring[g.turn%len(g.ring)]
		g.turn = (g.turn + 1) % len(g.ring)
		if w.asks > 0 && !g.avoids(&item, w.Node) {
			w.asks--
			return Grant{Item: item, Worker: w.Process}, true
		}
	}
	if _, queued := g.queue.place[item.Key]; !queued {
		heap.Push(&g.queue, item)
	}
	return Grant{}, false
}

// Withdraw takes a task out of the queue of its group, if it is there.
func (c *Core) Withdraw(name string, key Key) {
	g := c.groups[name]
	if g == nil {
		return
	}
	if i, ok := g.queue.place[key]; ok {
		heap.Remove(&g.queue, i)
		c.tidy(name)
	}
}

// Refuse gives the ask of a grant that was not used back to its worker; the next task
// that waits gets it.
func (c *Core) Refuse(who rpc.Process) []Grant { return c.Ask(who, 1) }

// Hold lets asks and tasks wait for one another until Release.
func (c *Core) Hold() { c.held = true }

// Release gives out again, and returns the grants that could have been made meanwhile, one per worker
// in turn.
func (c *Core) Release() []Grant {
	if !c.held {
		return nil
	}
	c.held = false
	workers := slices.SortedFunc(maps.Values(c.workers), func(a, b *worker) int { return cmp.Compare(a.String(), b.String()) })
	var grants []Grant
	for more := true; more; {
		more = false
		for _, w := range workers {
			if w.asks == 0 {
				continue
			}
			w.asks--
			if given := c.Ask(w.Process, 1); len(given) > 0 {
				grants, more = append(grants, given...), true
			}
		}
	}
	return grants
}

// Queued returns how many tasks of each group wait for an ask.
func (c *Core) Queued() map[string]int {
	queued := make(map[string]int)
	for name, g := range c.groups {
		if len(g.queue.items) > 0 {
			queued[name] = len(g.queue.items)
		}
	}
	return queued
}

// Members returns the workers of a group, in the order in which they came.
func (c *Core) Members(name string) []rpc.Process {
	g := c.groups[name]
	if g == nil {
		return nil
	}
	members := make([]rpc.Process, len(g.ring))
	for i, w := range g.ring {
		members[i] = w.Process
	}
	return members
}

// Asks returns how many asks of a worker are unused.
func (c *Core) Asks(who rpc.Process) int {
	if w := c.workers[who]; w != nil {
		return w.asks
	}
	return 0
}

func (c *Core) group(name string) *group {
	g := c.groups[name]
	if g == nil {
		g = &group{queue: queue{place: make(map[Key]int)}}
		c.groups[name] = g
	}
	return g
}

// tidy forgets a group that has neither workers nor tasks, so that made-up names do not pile up.
func (c *Core) tidy(name string) {
	if g := c.groups[name]; g != nil && len(g.ring) == 0 && len(g.queue.items) == 0 {
		delete(c.groups, name)
	}
}
