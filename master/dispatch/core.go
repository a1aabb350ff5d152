// Package dispatch decides which worker gets which ready task. Workers pull: each
// keeps standing asks with the master, and a ready task is given to a worker that
// asks, one per worker in turn, so that work spreads evenly and no worker gets more
// than it wants. It owns the ready tasks that found no ask and the asks that found no
// task; it never talks to a worker or the store. engine offers it tasks; link tells
// it of workers; it keeps one worker group, and within a group the tasks that ask for some
// labels, from holding up others.
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

// Item is one ready task. Of the items that a worker may have, it gets them in the order instance
// priority, task priority, age, key.
type Item struct {
	Key
	Group            string
	Labels           dag.Labels // that the worker must have beside its group
	InstancePriority dag.Priority
	TaskPriority     dag.Priority
	ReadyAt          dag.Millis
	// AvoidWorker is the node that gets the item only while no worker of another one may have it.
	AvoidWorker string
	// Instant says that the task ends as it begins: it takes no slot of its worker, and no ask.
	Instant bool
}

// lane is where the item waits within its group.
func (i *Item) lane() string { return lane(i.Labels, i.Instant) }

func lane(labels dag.Labels, instant bool) string {
	if instant {
		return "instant " + labels.String()
	}
	return labels.String()
}

// Grant is a task given to a worker. It uses up one ask, or one leave for an instant task; Core.Refuse brings it back.
type Grant struct {
	Item   Item
	Worker rpc.Process
}

// Core is the state of the dispatcher: steps in, grants out, no clock and no I/O. It
// is not safe for concurrent use; Dispatcher is.
//
// Invariant: while a worker has an ask left, no group of it has a task queued that the worker may have,
// unless nothing is given out at all; while it has leave for instant tasks, none of those.
type Core struct {
	held    bool
	groups  map[string]*group
	workers map[rpc.Process]*worker
}

// group is a worker group. Tasks that ask for different labels, and instant ones, wait in different queues, so that an ask looks at no
// task that its worker can't have; its price is one look at each queue, of which there are as many as the
// waiting tasks name sets of labels.
type group struct {
	queues map[string]*queue // by lane; none is empty
	ring   []*worker         // its workers; who was offered a task longest ago stands first
	// offered and given count the tasks that came and went, for as long as the group is known.
	offered, given int64
}

type worker struct {
	rpc.Process
	groups []string
	labels map[string]string
	asks   int
	// leave is how many instant tasks it takes beside those that it asked for.
	leave int
}

// left is what the worker still takes of one kind.
func (w *worker) left(instant bool) *int {
	if instant {
		return &w.leave
	}
	return &w.asks
}

// may says that a worker of the group has the labels of an item.
func (w *worker) may(item *Item) bool { return item.Labels.In(w.labels) }

// NewCore returns a Core without workers or tasks.
func NewCore() *Core {
	return &Core{groups: make(map[string]*group), workers: make(map[rpc.Process]*worker)}
}

// Join adds a worker with no asks. A worker that is known is first removed; the grants are of tasks that
// waited for it alone in groups that it is no longer in, or by labels that it no longer has.
func (c *Core) Join(who rpc.Process, groups []string, labels map[string]string) []Grant {
	left := c.remove(who)
	w := &worker{Process: who, groups: slices.Clone(groups), labels: maps.Clone(labels)}
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
		c.tidy(name)
	}
	return w.groups
}

// serve gives out what asks can have in groups that a worker has left.
func (c *Core) serve(names []string) []Grant {
	var grants []Grant
	for _, name := range names {
		g := c.groups[name]
		if g == nil || len(g.queues) == 0 {
			continue
		}
		for _, w := range slices.Clone(g.ring) {
			grants = append(grants, c.give(w)...)
		}
	}
	return grants
}

// Ask adds n asks of a worker and returns the tasks that were waiting for them. An
// unknown worker's asks are dropped.
func (c *Core) Ask(who rpc.Process, n int) []Grant { return c.more(who, n, false) }

// AskInstant adds leave for n instant tasks of a worker and returns those that were waiting for it. An unknown
// worker's are dropped.
func (c *Core) AskInstant(who rpc.Process, n int) []Grant { return c.more(who, n, true) }

func (c *Core) more(who rpc.Process, n int, instant bool) []Grant {
	w := c.workers[who]
	if w == nil || n <= 0 {
		return nil
	}
	*w.left(instant) += n
	return c.give(w)
}

// give gives a worker what waits for it.
func (c *Core) give(w *worker) []Grant {
	if c.held {
		return nil
	}
	var grants []Grant
	for {
		q, at := c.first(w)
		if q == nil {
			return grants
		}
		grants = append(grants, c.hand(w, q, at))
	}
}

// hand gives a worker a task from its place in a queue.
func (c *Core) hand(w *worker, q *queue, at int) Grant {
	item := c.take(q, at)
	*w.left(item.Instant)--
	return Grant{Item: item, Worker: w.Process}
}

// first returns the queue, and the place in it, of the first task that a worker may have and still takes; nil where there is none.
func (c *Core) first(w *worker) (best *queue, at int) {
	for _, name := range w.groups {
		g := c.groups[name]
		for _, q := range g.queues {
			if !w.may(&q.items[0]) || *w.left(q.items[0].Instant) == 0 {
				continue
			}
			i := g.first(q, w.Node)
			if i >= 0 && (best == nil || before(q.items[i], best.items[at])) {
				best, at = q, i
			}
		}
	}
	return best, at
}

// first returns the place in a queue of the first task that a node may have, or -1.
func (g *group) first(q *queue, node string) int {
	best := -1
	for i := range q.items {
		switch {
		case g.avoids(&q.items[i], node):
		case i == 0:
			return 0
		case best < 0 || before(q.items[i], q.items[best]):
			best = i
		}
	}
	return best
}

// avoids says that an item waits for another node than this one.
func (g *group) avoids(item *Item, node string) bool {
	return item.AvoidWorker != "" && item.AvoidWorker == node &&
		slices.ContainsFunc(g.ring, func(w *worker) bool { return w.Node != node && w.may(item) })
}

// take removes the task at a place of a queue.
func (c *Core) take(q *queue, at int) Item {
	item := heap.Remove(q, at).(Item)
	c.groups[item.Group].given++
	if len(q.items) == 0 {
		delete(c.groups[item.Group].queues, item.lane())
		c.tidy(item.Group)
	}
	return item
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

// Offer gives a ready task to the next worker that asks and may have it, or queues it.
// An item that is queued already stays where it is.
func (c *Core) Offer(item Item) (Grant, bool) {
	g := c.group(item.Group)
	if !c.held {
		for i, w := range g.ring {
			if *w.left(item.Instant) > 0 && w.may(&item) && !g.avoids(&item, w.Node) {
				*w.left(item.Instant)--
				g.offered, g.given = g.offered+1, g.given+1
				g.ring = append(slices.Delete(g.ring, i, i+1), w)
				return Grant{Item: item, Worker: w.Process}, true
			}
		}
	}
	lane := item.lane()
	q := g.queues[lane]
	if q == nil {
		q = &queue{place: make(map[Key]int)}
		g.queues[lane] = q
	}
	if _, queued := q.place[item.Key]; !queued {
		g.offered++
		heap.Push(q, item)
	}
	return Grant{}, false
}

// Withdraw takes a task that was offered out of its queue, if it is there.
func (c *Core) Withdraw(item Item) {
	g := c.groups[item.Group]
	if g == nil {
		return
	}
	if q := g.queues[item.lane()]; q != nil {
		if i, ok := q.place[item.Key]; ok {
			c.take(q, i)
		}
	}
}

// Refuse gives what a grant that was not used had used up back to its worker; the next task
// that waits gets it.
func (c *Core) Refuse(who rpc.Process, instant bool) []Grant { return c.more(who, 1, instant) }

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
			if q, at := c.first(w); q != nil {
				grants, more = append(grants, c.hand(w, q, at)), true
			}
		}
	}
	return grants
}

// Groups returns the groups in which tasks wait, in the order of their names.
func (c *Core) Groups() []string {
	var names []string
	for name, g := range c.groups {
		if len(g.queues) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Waiting returns how many tasks of a group wait for an ask that a worker of it may have.
func (c *Core) Waiting(name string, who rpc.Process) int {
	g, w, n := c.groups[name], c.workers[who], 0
	if g == nil || w == nil || !slices.Contains(w.groups, name) {
		return 0
	}
	for _, q := range g.queues {
		if first := &q.items[0]; !first.Instant && w.may(first) {
			n += len(q.items)
		}
	}
	return n
}

// Members returns the workers of a group that have some labels, who was offered a task longest ago first.
func (c *Core) Members(name string, labels dag.Labels) []rpc.Process {
	g := c.groups[name]
	if g == nil {
		return nil
	}
	var members []rpc.Process
	for _, w := range g.ring {
		if labels.In(w.labels) {
			members = append(members, w.Process)
		}
	}
	return members
}

// Queued returns how many tasks wait where an item does: those of its group that ask for the same labels.
func (c *Core) Queued(item *Item) int {
	if g := c.groups[item.Group]; g != nil && g.queues[item.lane()] != nil {
		return len(g.queues[item.lane()].items)
	}
	return 0
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
		g = &group{queues: make(map[string]*queue)}
		c.groups[name] = g
	}
	return g
}

// tidy forgets a group that has neither workers nor tasks, so that made-up names do not pile up.
func (c *Core) tidy(name string) {
	if g := c.groups[name]; g != nil && len(g.ring) == 0 && len(g.queues) == 0 {
		delete(c.groups, name)
	}
}
