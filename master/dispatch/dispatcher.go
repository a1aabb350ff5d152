package dispatch

import (
	"sync"

	"github.com/porpoise/porpoise/internal/rpc"
)

// Notice says that tasks of a group wait that a worker may have, and that it should move asks here.
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
	// Notify tells a worker that tasks wait for it.
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
func (d *Dispatcher) Join(who rpc.Process, groups []string, labels map[string]string) {
	d.mu.Lock()
	grants := d.given(d.core.Join(who, groups, labels))
	var notices []Notice
	for _, name := range groups {
		notices = append(notices, d.notices(name, who)...)
	}
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
	for _, n := range notices {
		d.Notify(n)
	}
}

// notices are what workers of a group are told of it; those for whom nothing waits are told nothing.
func (d *Dispatcher) notices(group string, members ...rpc.Process) []Notice {
	var notices []Notice
	for _, who := range members {
		if n := d.core.Waiting(group, who); n > 0 {
			notices = append(notices, Notice{Worker: who, Group: group, Count: n})
		}
	}
	return notices
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
func (d *Dispatcher) Ask(who rpc.Process, n int) { d.more(who, n, false) }

// AskInstant adds leave for n instant tasks of a worker and delivers those that waited for it.
func (d *Dispatcher) AskInstant(who rpc.Process, n int) { d.more(who, n, true) }

// Refuse gives what an unused grant had used up back to its worker.
func (d *Dispatcher) Refuse(who rpc.Process, instant bool) { d.more(who, 1, instant) }

func (d *Dispatcher) more(who rpc.Process, n int, instant bool) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	grants := d.core.more(who, n, instant)
	d.mu.Unlock()
	for _, grant := range grants {
		d.Deliver(grant)
	}
}

// Recall takes back up to n unused asks and returns how many there were.
func (d *Dispatcher) Recall(who rpc.Process, n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.Recall(who, n)
}

// Offer returns a grant for a ready task, or queues it and tells the workers that may have it
// when it is the first of its kind that waits.
func (d *Dispatcher) Offer(item Item) (Grant, bool) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return Grant{}, false
	}
	grant, ok := d.core.Offer(item)
	var notices []Notice
	if !ok && !item.Instant {
		// The first that waits is news; so is each doubling, for workers that came in between.
		if count := d.core.Queued(&item); count&(count-1) == 0 {
			notices = d.notices(item.Group, d.core.Members(item.Group, item.Labels)...)
		}
	}
	d.mu.Unlock()
	for _, n := range notices {
		d.Notify(n)
	}
	return grant, ok
}

// Remind tells the workers of what waits for them, since a notice counts with them only for
// two seconds.
func (d *Dispatcher) Remind() {
	var notices []Notice
	d.mu.Lock()
	for _, group := range d.core.Groups() {
		notices = append(notices, d.notices(group, d.core.Members(group, nil)...)...)
	}
	d.mu.Unlock()
	for _, n := range notices {
		d.Notify(n)
	}
}

// Withdraw takes a task that was offered out of its queue, if it is there.
func (d *Dispatcher) Withdraw(item Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.Withdraw(item)
}
