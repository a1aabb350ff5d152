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
}

// Grant is a task given to a worker. It uses up one ask; Core.Refuse brings the ask back.
type Grant struct {
	Item   Item
	Worker rpc.Process
}

// Core is the state of the dispatcher: steps in, grants out, no clock and no I/O. It
// is not safe for concurrent use; Dispatcher is.
//
// Invariant: while a worker has an ask left, no group of it has a task queued, unless nothing is
// given out at all.
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

// Join adds a worker with no asks. A worker that is known is first removed.
func (c *Core) Join(who rpc.Process, groups []string) {
	c.Leave(who)
	w := &worker{Process: who, groups: slices.Clone(groups)}
	c.workers[who] = w
	for _, name := range w.groups {
		g := c.group(name)
		g.ring = append(g.ring, w)
	}
}

// Leave removes a worker and its asks. What it was granted is not the Core's concern.
func (c *Core) Leave(who rpc.Process) {
	w := c.workers[who]
	if w == nil {
		return
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
		name := c.first(w.groups)
		if name == "" {
			w.asks += n
			break
		}
		g := c.groups[name]
		item := heap.Pop(&g.queue).(Item)
		grants = append(grants, Grant{Item: item, Worker: who})
		c.tidy(name)
	}
	return grants
}

// first returns the group whose first task comes before those of the other groups.
func (c *Core) first(names []string) string {
	best := ""
	for _, name := range names {
		g := c.groups[name]
		if g == nil || len(g.queue.items) == 0 {
			continue
		}
		if best == "" || before(g.queue.items[0], c.groups[best].queue.items[0]) {
			best = name
		}
	}
	return best
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
		if w.asks > 0 {
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
