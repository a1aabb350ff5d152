package watch

import (
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// maxPending is how many instances a subscriber may be behind. Changes of one instance
// replace each other, so it is reached only by somebody who watches everything and
// reads nothing; he is told to read again.
const maxPending = 1024

// Change says how far an instance has come in the store.
type Change struct {
	Instance int64
	Workflow int64
	Project  int64
	Seq      int64
	State    dag.InstanceState
}

// Subscription gets the changes that its filter lets through. Close it.
type Subscription struct {
	w      *Watcher
	filter func(Change) bool
	ready  chan struct{}

	mu      sync.Mutex
	pending map[int64]Change
	order   []int64 // of pending, oldest first
	lagged  bool
}

// Subscribe starts handing changes to a new Subscription. filter is called under a lock
// for every change: it must be quick and call nothing of the Watcher. nil lets all through.
func (w *Watcher) Subscribe(filter func(Change) bool) *Subscription {
	s := &Subscription{w: w, filter: filter, ready: make(chan struct{}, 1), pending: map[int64]Change{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subs[s] = struct{}{}
	return s
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	delete(s.w.subs, s)
}

// Ready yields a value when there is something to Take.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns the changes since the last Take, the latest of each instance, oldest
// first. lagged says that some may be missing: read the rows again.
func (s *Subscription) Take() (changes []Change, lagged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		changes = append(changes, s.pending[id])
	}
	lagged = s.lagged
	clear(s.pending)
	s.order, s.lagged = s.order[:0], false
	return changes, lagged
}

func (s *Subscription) add(c Change) {
	if s.filter != nil && !s.filter(c) {
		return
	}
	s.mu.Lock()
	old, there := s.pending[c.Instance]
	switch {
	case there && old.Seq > c.Seq: // told out of order by two masters
	case there:
		s.pending[c.Instance] = c
	case len(s.order) < maxPending:
		s.pending[c.Instance] = c
		s.order = append(s.order, c.Instance)
	default:
		s.lagged = true
	}
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) lag() {
	s.mu.Lock()
	s.lagged = true
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default: // told already
	}
}

func (w *Watcher) publish(changes []*rpc.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range changes {
		c := Change{Instance: m.GetInstanceId(), Workflow: m.GetWorkflowId(), Project: m.GetProjectId(), Seq: m.GetSeq(), State: dag.InstanceState(m.GetState())}
		for s := range w.subs {
			s.add(c)
		}
	}
}

// Publish hands a change to the subscribers as if a master had told it. The API uses
// it for instances that it has just written and that no master knows yet.
func (w *Watcher) Publish(c Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		s.add(c)
	}
}

// lag tells every subscriber to read again.
func (w *Watcher) lag() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		s.lag()
	}
}
