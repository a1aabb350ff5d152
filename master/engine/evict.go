package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const (
	// evictAfter is how long a passive instance stays in memory without mail: short enough that
	// instances which wait for hours cost nothing, long enough that one which waits for
	// seconds is not read again each time.
	evictAfter = 30 * time.Second
	// evictShare of the limit must be free: below it passive instances go at once, since commands wait for their places.
	evictShare = 4
	// sweepsPerEvict is after how many sweeps passive instances are looked for.
	sweepsPerEvict = 10
	// maxWake bounds the instances that one call brings back.
	maxWake = 200
)

// Evict takes instances out of memory that only wait for a moment: for the end of a retry's delay,
// of a task's own, of a wait task, of the whole's time. Their rows keep their owner, and the wheel keeps the moment,
// which brings them back, as a wish or a report does.
func (e *Engine) Evict(now time.Time) {
	after := evictAfter
	if e.crowded() {
		after = 0
	}
	e.mu.Lock()
	ids := slices.Sorted(maps.Keys(e.actors))
	e.mu.Unlock()
	for _, id := range ids {
		e.evict(id, now, after)
	}
}

// crowded says that memory is nearly full.
func (e *Engine) crowded() bool { return e.Room() < e.Limit/evictShare }

// evict does so for one instance if it is passive and has been idle for long enough. Without a timer of its own nothing would bring it back.
func (e *Engine) evict(id int64, now time.Time, after time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.actors[id]
	if a == nil || e.leaving {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.phase != idle || now.Sub(a.idleAt) < after || !passive(a.in) {
		return
	}
	a.phase = gone
	delete(e.actors, id)
	e.evicted[id] = struct{}{}
}

// passive says that an instance waits for nothing but moments, which the wheel keeps.
func passive(in *dag.Instance) bool {
	if in.State != dag.InstanceRunning {
		return false
	}
	armed := false
	for i := range in.Tasks {
		switch in.Tasks[i].State {
		case dag.TaskReady:
			if !in.Delayed(i) {
				return false
			}
			armed = true
		case dag.TaskDispatched, dag.TaskKilling:
			return false
		case dag.TaskRunning:
			if in.Tasks[i].Attempt.Worker != "" {
				return false
			}
			armed = true
		case dag.TaskRetryWait:
			armed = true
		case "", dag.TaskWaiting, dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskFailed, dag.TaskKilled, dag.TaskSkipped,
			dag.TaskUpstreamFailed, dag.TaskDisabled:
		}
	}
	return armed
}

// wake asks for an evicted instance to be brought back; false says that it is none.
func (e *Engine) wake(instance int64) bool {
	e.mu.Lock()
	_, evicted := e.evicted[instance]
	e.mu.Unlock()
	if evicted {
		e.wakes.push(instance)
	}
	return evicted
}

// waker brings instances back until ctx ends.
func (e *Engine) waker(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.wakes.some:
		case <-e.retakes.some:
		}
		for again := true; again && ctx.Err() == nil; {
			again = false
			e.guard("wake", func() { again = e.WakeOnce(ctx) })
		}
		if e.wakes.empty() && e.retakes.empty() {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(awayWait):
		}
	}
}

// WakeOnce brings back evicted instances that something came for, and takes up again those that
// made the engine panic. It returns true if there are more to bring back at once; those that the
// store did not give are tried with a later call.
func (e *Engine) WakeOnce(ctx context.Context) (more bool) {
	if !e.retake(ctx) {
		return false
	}
	ids := e.wakes.take()
	if len(ids) > maxWake {
		e.wakes.push(ids[maxWake:]...)
		ids, more = ids[:maxWake], true
	}
	if len(ids) == 0 {
		return false
	}
	claimed, err := e.Store.Load(ctx, e.Owner, ids)
	if err != nil {
		e.log.Warn("instances not brought back to memory", "count", len(ids), "error", err)
		e.wakes.push(ids...)
		return false
	}
	for i := range claimed {
		e.admit(&claimed[i], admission{woken: true})
	}
	// Those that did not come are another's by now.
	e.mu.Lock()
	for _, id := range ids {
		delete(e.evicted, id)
	}
	e.mu.Unlock()
	return more
}
