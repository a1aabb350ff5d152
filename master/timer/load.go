package timer

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	rules "github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

// maxSpecs and maxSpecBytes bound the timers whose calls are kept in memory.
const (
	maxSpecs     = 50_000
	maxSpecBytes = 64 << 20
	msPerMinute  = 60_000
)

// Plan writes the next tasks of this master's timers. It takes its time, so that the calls have the database, unless a
// plan runs out. It must not be called beside itself, and ends with ctx.
func (r *Ringer) Plan(ctx context.Context) error {
	for began := r.Now(); r.Now().Sub(began) < planFor; {
		step := r.Now()
		planned, err := r.plan(ctx)
		if err != nil {
			return err
		}
		r.count(func(c *Counts) { c.Planned += int64(planned.Tasks) })
		if !planned.More {
			return nil
		}
		if planned.Urgent {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.Now().Sub(step)): // half of the time is others'
		}
	}
	return nil
}

func (r *Ringer) plan(ctx context.Context) (sql.Planned, error) {
	owned, _, ok := r.Slots.Begin()
	if !ok {
		return sql.Planned{}, nil
	}
	defer r.Slots.End()
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	if sure, err := r.sure(ctx); err != nil || !sure {
		return sql.Planned{}, err
	}
	return r.Store.PlanTimers(ctx, owned, r.now())
}

// Sweep deletes tasks that have been at their end for long. The master of the first slot does it for all. It must not be
// called beside itself, and ends with ctx.
func (r *Ringer) Sweep(ctx context.Context) error {
	owned, _, ok := r.Slots.Begin()
	if !ok {
		return nil
	}
	defer r.Slots.End()
	if !owned[0] || !r.trusted.Load() {
		return nil
	}
	for n := 0; n < sweptTasks; {
		some, err := r.Store.SweepTimerTasks(ctx, r.now(), maxBatch)
		if n += some; err != nil || some < maxBatch {
			return err
		}
	}
	return nil
}

// Load reads what is due soon in this master's slices, and arms it. It must not be called beside itself.
func (r *Ringer) Load(ctx context.Context) error {
	owned, _, ok := r.Slots.Begin()
	if !ok {
		return nil
	}
	defer r.Slots.End()
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	if sure, err := r.sure(ctx); err != nil || !sure {
		return err
	}
	room := maxHeld - r.Held()
	if room < maxHeld/2 {
		return nil
	}
	now := r.now()
	r.mu.Lock()
	maps.DeleteFunc(r.buckets, func(minute int64, _ int) bool { return minute < int64(now)/msPerMinute-1 })
	r.mu.Unlock()
	var fresh []*task
	var wrong error
	err := r.Store.DueTimerTasks(ctx, now.Add(horizon), func(d sql.DueTimerTask) bool {
		slot, err := r.slotOf(ctx, d, now, len(owned))
		if err != nil {
			wrong = err
			return false
		}
		if owned[slot] && !r.holds(d.TimerKey) {
			fresh = append(fresh, &task{key: d.TimerKey, due: d.DueAt, slot: slot})
		}
		return len(fresh) < room
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	if err := r.describe(ctx, fresh); err != nil {
		return err
	}
	r.arm(fresh)
	return nil
}

// slotOf is the slot of a task's slice. What is late by more than a minute is not spread: nobody decides about minutes
// that have passed.
func (r *Ringer) slotOf(ctx context.Context, d sql.DueTimerTask, now dag.Millis, slots int) (int, error) {
	minute := int64(d.DueAt) / msPerMinute
	if minute < int64(now)/msPerMinute-1 {
		return schedule.SlotOf(d.DueAt, d.Bucket, 1, slots), nil
	}
	r.mu.Lock()
	buckets, known := r.buckets[minute]
	r.mu.Unlock()
	if !known {
		var err error
		if buckets, err = r.Store.MinuteBuckets(ctx, minute); err != nil {
			return 0, err
		}
		r.mu.Lock()
		r.buckets[minute] = buckets
		r.mu.Unlock()
	}
	return schedule.SlotOf(d.DueAt, d.Bucket, buckets, slots), nil
}

// Held is how many tasks are in memory.
func (r *Ringer) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held)
}

func (r *Ringer) holds(key sql.TimerKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[key] != nil
}

// describe gives tasks the calls of their timers, which are read once and kept, since they never change.
func (r *Ringer) describe(ctx context.Context, tasks []*task) error {
	var missing []int64
	r.mu.Lock()
	asked := map[int64]bool{}
	for _, t := range tasks {
		id := t.key.TimerID
		if r.specs[id] == nil && !asked[id] {
			asked[id] = true
			missing = append(missing, id)
		}
	}
	r.mu.Unlock()
	timers, err := r.Store.TimersByID(ctx, missing)
	if err != nil {
		return err
	}
	read := make(map[int64]*spec, len(timers))
	for i := range timers {
		t := &timers[i]
		receiver, err := webhook.Receiver(t.Spec.URL)
		if err != nil {
			return fmt.Errorf("timer %d: %w", t.ID, err) // it was checked when the timer was created
		}
		read[t.ID] = &spec{Spec: t.Spec, project: t.ProjectID, receiver: receiver}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(read)
	for _, t := range tasks {
		if t.spec = read[t.key.TimerID]; t.spec == nil {
			t.spec = r.specs[t.key.TimerID]
		}
	}
	return nil
}

// keep keeps timers in memory, and forgets the others where they are too many: those that are needed come again.
func (r *Ringer) keep(read map[int64]*spec) {
	bytes := 0
	for _, s := range r.specs {
		bytes += len(s.Body)
	}
	if len(r.specs)+len(read) > maxSpecs || bytes > maxSpecBytes {
		clear(r.specs)
	}
	maps.Copy(r.specs, read)
}

// arm holds tasks until their claim may begin.
func (r *Ringer) arm(tasks []*task) {
	r.mu.Lock()
	for _, t := range tasks {
		r.held[t.key] = t
	}
	r.mu.Unlock()
	for _, t := range tasks {
		r.Moments.Arm(t.key, int64(t.due.Add(-rules.ClaimAhead)))
	}
}
