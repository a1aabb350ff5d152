// Package python runs a task's script in Python, unbuffered, so that its output is seen
// as it is made. The text is never edited: parameters are in os.environ. The worker asks
// it for the command line; the runner runs that.
package python

import (
	"strings"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

// Spec holds the keys of the type. An empty Interpreter is python3.
type Spec struct {
	Script      string `json:"script"`
	Interpreter string `json:"interpreter,omitempty"`
}

// Type is the type python.
type Type struct{}

// Command gives the interpreter and its script.
func (Type) Command(d *rpc.Dispatch) (task.Command, error) {
	var spec Spec
	if err := task.Decode(d, &spec); err != nil {
		return task.Command{}, err
	}
	if strings.TrimSpace(spec.Interpreter) == "" {
		spec.Interpreter = "python3 -u"
	}
	return task.Interpret(d, spec.Interpreter, "python3", spec.Script)
}
