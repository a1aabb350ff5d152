// Package noop is the task that does nothing and succeeds. It makes no process, file or
// goroutine: tens of thousands a second go through one worker.
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
