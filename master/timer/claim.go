package timer

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/sql"
)

// claim claims what comes, as much together as has come, until ctx ends.
func (r *Ringer) claim(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.claims:
		}
		r.claimAll(ctx)
	}
}

// claimAll claims what has come and has room.
func (r *Ringer) claimAll(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		some := r.ready.take(maxBatch)
		r.mu.Unlock()
		if len(some) == 0 {
			return
		}
		if err := r.claimSome(ctx, some); err != nil && ctx.Err() == nil {
			r.log.Warn("tasks of timers not claimed", "count", len(some), "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(awayWait):
			}
		}
	}
}

// claimSome claims tasks. Those that it does not get are forgotten: they are another master's, or at their end. After an
// error, too: what is open still comes with the next load.
func (r *Ringer) claimSome(ctx context.Context, some []*task) error {
	owned, _, ok := r.Slots.Begin()
	if !ok {
		r.forget(some)
		return nil
	}
	defer r.Slots.End()
	if !r.trusted.Load() {
		r.forget(some) // what is due still comes with the first load after
		return nil
	}
	claims := make([]sql.TimerClaim, 0, len(some))
	for _, t := range some {
		if !owned[t.slot] {
			continue
		}
		until := max(r.now(), t.due).Add(claimMargin)
		if t.spec != nil {
			until = until.Add(t.spec.Timeout())
		}
		claims = append(claims, sql.TimerClaim{TimerKey: t.key, Until: until})
	}
	// It is not cut short by a stop: what was claimed and not known to be would wait for the claim to run out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	var got []sql.ClaimedTimer
	// A panic is as an error: nobody else would forget them.
	err := guard.Do(r.log, "claim", func() (err error) {
		if err := failpoint.Hit("ring.claim.before"); err != nil {
			return err
		}
		if got, err = r.Store.ClaimTimerTasks(ctx, r.Owner, claims, r.now()); err != nil {
			return err
		}
		return failpoint.Hit("ring.claim.after")
	})
	if err != nil {
		r.forget(some)
		return err
	}
	mine := make(map[sql.TimerKey]sql.ClaimedTimer, len(got))
	for _, c := range got {
		mine[c.TimerKey] = c
	}
	var lost []*task
	var took []*task
	r.mu.Lock()
	for _, t := range some {
		c, ok := mine[t.key]
		if !ok || t.spec == nil {
			lost = append(lost, t)
			continue
		}
		t.claimed, t.tries, t.failing = true, c.Tries, c.Failing
		if c.Again {
			r.counts.Again++
			r.log.Debug("task of a timer is called again", "timer", t.key.TimerID, "planned_at", t.key.PlannedAt.Time(), "try", c.Tries)
		}
		took = append(took, t)
	}
	r.mu.Unlock()
	r.forget(lost)
	for _, t := range took {
		r.Moments.Arm(t.key, int64(t.due)) // what is due already comes at once
	}
	return nil
}

// forget forgets tasks that were under way, and lets others have their room.
func (r *Ringer) forget(tasks []*task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tasks {
		delete(r.held, t.key)
		r.ready.end(t)
	}
	if len(tasks) > 0 {
		r.claims.give()
	}
}
