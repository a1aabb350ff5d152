package dispatch

import (
	"maps"
	"slices"
	"sync"

	"github.com/porpoise/porpoise/internal/rpc"
)

// Notice says that tasks of a group wait and that a worker of it should move asks here.
type Notice struct {
	Worker rpc.Process
	Group  string
	Count  int
}

// Dispatcher is a Core for many goroutines. Deliver and Notify are called without its
// lock held, from the goroutine whose call caused them.
type Dispatcher struct {
	// Deliver takes a grant of a task that had been queued: the owner of the instance
	// must answer it by running the task or by Refuse.
	Deliver func(Grant)
	// Notify tells a worker that its group has tasks waiting.
	Notify func(Notice)

	mu      sync.Mutex
	core    *Core
	stopped bool
}

// Stop ends the giving out of tasks: asks and tasks wait from now on.
func (d *Dispatcher) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Hold lets asks and tasks wait for one another until Release.
func (d *Dispatcher) Hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.Hold()
}

// Release gives tasks out again, also those that have waited meanwhile.
func (d *Dispatcher) Release() {
	d.mu.Lock()
	grants := d.core.Release()
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
}

// New returns a Dispatcher; Deliver and Notify must be set before its first use.
func New() *Dispatcher { return &Dispatcher{core: NewCore()} }

// Join adds a worker with no asks and tells it at once of what waits.
func (d *Dispatcher) Join(who rpc.Process, groups []string) {
	d.mu.Lock()
	grants := d.given(d.core.Join(who, groups))
	queued := d.core.Queued()
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
	for _, name := range groups {
		if queued[name] > 0 {
			d.Notify(Notice{Worker: who, Group: name, Count: queued[name]})
		}
	}
}

// Leave removes a worker, and delivers the tasks that waited for it.
func (d *Dispatcher) Leave(who rpc.Process) {
	d.mu.Lock()
	grants := d.given(d.core.Leave(who))
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
}

// given are the grants that may be delivered: none once tasks are no longer given out.
func (d *Dispatcher) given(grants []Grant) []Grant {
	if d.stopped {
		return nil
	}
	return grants
}

// Ask adds n asks of a worker and delivers the tasks that waited for them.
func (d *Dispatcher) Ask(who rpc.Process, n int) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	grants := d.core.Ask(who, n)
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
}

// Refuse gives an unused grant's ask back to its worker.
func (d *Dispatcher) Refuse(who rpc.Process) { d.Ask(who, 1) }

// Recall takes back up to n unused asks and returns how many there were.
func (d *Dispatcher) Recall(who rpc.Process, n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.Recall(who, n)
}

// Offer returns a grant for a ready task, or queues it and tells the group's workers
// when it is the first that waits.
func (d *Dispatcher) Offer(item Item) (Grant, bool) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return Grant{}, false
	}
	grant, ok := d.core.Offer(item)
	var members []rpc.Process
	count := 0
	if !ok {
		// The first that waits is news; so is each doubling, for workers that came in between.
		count = len(d.core.groups[item.Group].queue.items)
		if count&(count-1) == 0 {
			members = d.core.Members(item.Group)
		}
	}
	d.mu.Unlock()
	for _, who := range members {
		d.Notify(Notice{Worker: who, Group: item.Group, Count: count})
	}
	return grant, ok
}

// Remind tells the workers of every group with tasks that wait, since a notice counts
// with them only for two seconds.
func (d *Dispatcher) Remind() {
	var notices []Notice
	d.mu.Lock()
	queued := d.core.Queued()
	for _, group := range slices.Sorted(maps.Keys(queued)) {
		count := queued[group]
		for _, who := range d.core.Members(group) {
			notices = append(notices, Notice{Worker: who, Group: group, Count: count})
		}
	}
	d.mu.Unlock()
	for _, n := range notices {
		d.Notify(n)
	}
}

// Withdraw takes a task out of its group's queue, if it is there.
func (d *Dispatcher) Withdraw(group string, key Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.Withdraw(group, key)
}

// Queued returns how many tasks of each group wait for an ask.
func (d *Dispatcher) Queued() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.Queued()
}
