package timer

import (
	"context"
	"time"
)

const (
	// compareEvery is how often the clock is compared with the database's, while they agree; else each look does.
	compareEvery = 10 * time.Second
	// skewStop is by how much they may differ: beyond it tasks would be called in another minute than theirs, and skipped, or
	// planned, for good. It is that of schedules.
	skewStop = 30 * time.Second
)

// sure says whether the clock is one to plan and call by: that it agrees with the database's.
func (r *Ringer) sure(ctx context.Context) (bool, error) {
	r.clock.Lock()
	defer r.clock.Unlock()
	now, was := r.now(), r.trusted.Load()
	if was && now.Sub(r.compared).Abs() < compareEvery {
		return true, nil
	}
	database, err := r.Store.Clock(ctx)
	if err != nil {
		// Nothing is known to be wrong; whoever asks needs the database too.
		return was, err
	}
	off := database.Sub(r.now())
	sure := off.Abs() <= skewStop
	if r.compared = now; was && !sure {
		r.log.Error("no timers are called here: the clock differs from the database's", "by", off.String())
	}
	r.trusted.Store(sure)
	return sure, nil
}
