package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Cache reads what is kept of tasks.
type Cache interface {
	// Cached returns what is kept under the keys, by key.
	Cached(ctx context.Context, keys []string) (map[string]dag.CacheEntry, error)
}

// maxRecalls bounds the tasks that one question to the store is about.
const maxRecalls = 200

// recall is a ready task that asks what is kept for it. Nothing of it is stored: whoever loads the instance next
// asks again.
type recall struct {
	actor *actor
	task  int
	key   string
}

// recalled is the answer; entry is nil where nothing is kept.
type recalled struct {
	task  int
	entry *dag.CacheEntry
}

// recallQueue holds the tasks that ask, in the order in which they came.
type recallQueue struct {
	some chan struct{}

	mu      sync.Mutex // guards waiting
	waiting []recall
}

func newRecallQueue() *recallQueue { return &recallQueue{some: make(chan struct{}, 1)} }

func (q *recallQueue) push(r recall) {
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

func (q *recallQueue) peek() []recall {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiting[:min(len(q.waiting), maxRecalls)])
}

func (q *recallQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = q.waiting[n:]
}

// recalls says that a ready task is to ask for what is kept before it is run. One that was told that there is nothing
// asks no more while it is ready.
func (a *actor) recalls(task int) bool { return a.in.Recalls(task) && !a.recalled[task] }

// askCache asks for what is kept for a ready task, whose state is committed.
func (e *Engine) askCache(a *actor, task int) {
	if _, asked := a.recalled[task]; asked {
		return
	}
	a.recalled[task] = false
	e.recalls.push(recall{actor: a, task: task, key: a.in.CacheKey(task)})
}

// recall ends a task with what is kept for it. Where there is nothing that fits, it is run.
func (a *actor) recall(r *recalled, now dag.Millis) dag.Effects {
	if answered, asked := a.recalled[r.task]; !asked || answered || !a.runnable(r.task) {
		return dag.Effects{}
	}
	if r.entry != nil {
		if fx := a.in.Step(dag.Recall{Task: r.task, Entry: *r.entry}, now); !fx.Stale {
			return fx
		}
	}
	a.recalled[r.task] = true
	return dag.Effects{Actions: []dag.Action{dag.Enqueue{Task: r.task}}}
}

// recaller reads what is kept until ctx ends.
func (e *Engine) recaller(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.recalls.some:
		}
		for ctx.Err() == nil {
			away := true // as after a panic
			e.guard("cache", func() { away = e.RecallOnce(ctx) })
			if !away {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(awayWait):
			}
		}
	}
}

// RecallOnce reads what is kept for the tasks that ask, and brings it to their instances. away says that some ask
// still: the store did not answer, or a mailbox was full.
func (e *Engine) RecallOnce(ctx context.Context) (away bool) {
	for asks := e.recalls.peek(); len(asks) > 0; asks = e.recalls.peek() {
		var keys []string
		for _, r := range asks {
			if r.key != "" {
				keys = append(keys, r.key)
			}
		}
		slices.Sort(keys)
		found, err := e.Store.Cached(ctx, slices.Compact(keys))
		if err != nil {
			e.log.Warn("kept results not read", "tasks", len(asks), "error", err)
			return true
		}
		for i, r := range asks {
			answer := &recalled{task: r.task}
			if entry, ok := found[r.key]; ok {
				answer.entry = &entry
			}
			if !e.mailTo(r.actor, mail{recalled: answer}) && e.current(r.actor) {
				e.recalls.drop(i)
				return true
			}
		}
		e.recalls.drop(len(asks))
	}
	return false
}

// current says that an instance in memory is driven by this very actor.
func (e *Engine) current(a *actor) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.actors[a.in.ID] == a
}
