// Package ended wakes a loop when an instance has ended of a workflow that it waits for.
//
// It owns the set of those workflows and a wake-up that is never lost, and knows nothing of instances. The loops of backfills
// and of schedules have one each; a hint that is missing costs them no more than their poll.
package ended

import "sync"

// Watch knows for which workflows one loop waits. It is safe for concurrent use.
type Watch struct {
	heard chan struct{}

	mu        sync.Mutex
	workflows map[int64]struct{}
}

// NewWatch returns a Watch that waits for nothing.
func NewWatch() *Watch { return &Watch{heard: make(chan struct{}, 1)} }

// Want says for which workflows the loop waits from now on; the Watch keeps the map.
func (w *Watch) Want(workflows map[int64]struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workflows = workflows
}

// Finished says that an instance of a workflow has ended. It never blocks.
func (w *Watch) Finished(workflow int64) {
	w.mu.Lock()
	_, wanted := w.workflows[workflow]
	w.mu.Unlock()
	if !wanted {
		return
	}
	select {
	case w.heard <- struct{}{}:
	default:
	}
}

// Heard gives a value once one or more of them have ended.
func (w *Watch) Heard() <-chan struct{} { return w.heard }
