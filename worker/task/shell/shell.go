// Package shell runs a task's script in a shell. The text is never edited: parameters
// are variables of its environment. The worker asks it for the command line; the runner
// runs that.
package shell

import (
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

// Type is the type shell.
type Type struct{}

// Command gives the shell and its script.
func (Type) Command(d *rpc.Dispatch) (task.Command, error) {
	spec := dag.ShellSpec{Interpreter: "sh"}
	if err := task.Decode(d, &spec); err != nil {
		return task.Command{}, err
	}
	return task.Interpret(d, spec.Script, spec.Interpreter)
}
