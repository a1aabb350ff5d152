package sql

import (
	"time"

	"github.com/porpoise/porpoise/dag"
)

// By when an attempt has moved on, or has shown a sign of life: what is past that is stuck, and the
// supervisor asks for its recovery. Each is far above what the owner's own repeats need.
const (
	// DispatchWithin is from an attempt's commit to the worker's word that it has started.
	DispatchWithin = 30 * time.Second
	// RunWithin is from a sign of life of a running attempt to the next that its owner has noted.
	RunWithin = 5 * time.Minute
	// KillWithin is from the end of a kill's grace to the word that the attempt is over.
	KillWithin = time.Minute
)

// completeBy is the moment by which an attempt as it is written at at must have moved on; 0 where
// it is over, or waits in the master for nothing but a moment.
func completeBy(a *dag.Attempt, at dag.Millis, grace time.Duration) dag.Millis {
	if a.Worker == "" {
		return 0
	}
	switch a.State {
	case dag.AttemptDispatched:
		return at.Add(DispatchWithin)
	case dag.AttemptRunning:
		by := at.Add(RunWithin)
		if a.Deadline != 0 {
			by = min(by, a.Deadline.Add(KillWithin))
		}
		return by
	case dag.AttemptKilling:
		return at.Add(grace + KillWithin)
	case dag.AttemptSuccess, dag.AttemptFailed, dag.AttemptKilled, dag.AttemptLost, dag.AttemptReturned:
	}
	return 0
}
