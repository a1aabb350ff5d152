// Package noop is the task that does nothing and succeeds, for joins and for measuring.
// It owns only the reading of its (no) keys. It never makes a process, a file or a
// goroutine, so tens of thousands a second go through one worker.
//
// The worker runs it in its own loop; cmd/porpoise puts it among the worker's types.
package noop

import (
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

// Spec holds the keys of the type: none.
type Spec struct{}

// Type is the type noop.
type Type struct{}

// Instant ends at once.
func (Type) Instant(d *rpc.Dispatch) task.Result {
	var spec Spec
	// Most have no keys at all: reading "{}" would cost more than all the rest.
	if s := d.GetSpec(); len(s) == 0 || string(s) == "{}" {
		return task.Result{}
	}
	if err := task.Decode(d, &spec); err != nil {
		return task.Result{Reason: "bad_spec", Message: err.Error()}
	}
	return task.Result{}
}
