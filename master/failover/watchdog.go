package failover

import "time"

// Watchdog tells when a master's own way to its database has been cut for too long while it is
// registered: then it withdraws, so that others, who may reach it, take over.
type Watchdog struct {
	// Patience is how long pings may fail.
	Patience time.Duration
	failing  time.Time // since when; zero while they succeed
}

// Pinged takes the result of one ping and says whether the master should be registered.
func (w *Watchdog) Pinged(now time.Time, err error) (stay bool) {
	if err == nil {
		w.failing = time.Time{}
		return true
	}
	if w.failing.IsZero() {
		w.failing = now
	}
	return now.Sub(w.failing) <= w.Patience
}
