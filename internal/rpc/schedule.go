package rpc

import "time"

// LateBounds are the bounds of ScheduleFigures.Late: from what nobody notices to the minutes that an outage takes.
func LateBounds() []time.Duration {
	return []time.Duration{
		5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
		500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour,
	}
}
