// Package python runs a task's script in Python, unbuffered, so that its output is seen
// as it is made. The text is never edited: parameters are in os.environ. The worker asks
// it for the command line; the runner runs that.
package python

import (
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

// Type is the type python.
type Type struct{}

// Command gives the interpreter and its script.
func (Type) Command(d *rpc.Dispatch) (task.Command, error) {
	spec := dag.PythonSpec{Interpreter: "python3"}
	if err := task.Decode(d, &spec); err != nil {
		return task.Command{}, err
	}
	return task.Interpret(d, spec.Script, spec.Interpreter, "-u")
}
