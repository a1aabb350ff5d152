// Package noop is the task that does nothing and succeeds: a place where branches meet.
// It makes no process, file or goroutine, so that tens of thousands a second go through
// one worker. The worker's control process runs it.
package noop

import (
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

// Type is the type noop.
type Type struct{}

// Instant ends at once.
func (Type) Instant(d *rpc.Dispatch) task.Result {
	// Most have no keys at all: reading "{}" would cost more than all the rest.
	if s := d.GetSpec(); len(s) == 0 || string(s) == "{}" {
		return task.Result{}
	}
	if err := task.Decode(d, &dag.NoopSpec{}); err != nil {
		return task.Result{Reason: "bad_spec", Message: err.Error()}
	}
	return task.Result{}
}
