// Package task says what a task type is to a worker: either a Process, which becomes a
// command line that the runner runs, or a Call, which the control process runs itself.
// It owns the environment that processes get and the codes for what can't be run; it
// starts nothing and knows no master. Each type has a package below; tasktest holds the
// contract that all of them keep.
package task

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/internal/rpc"
)

// Path is where programs of tasks are looked for, and PATH in their environment.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Process is a type whose tasks are processes. Command answers within microseconds and
// touches nothing; it returns an *Error where the task can't be run.
type Process interface {
	Command(d *rpc.Dispatch) (Command, error)
}

// Command is what the runner starts. A Script goes to the process as /dev/fd/3.
type Command struct {
	Argv   []string
	Script []byte
}

// Call is a type whose tasks need no process. Call returns when the task is over, soon
// after ctx ends; what it writes to out is the task's output.
type Call interface {
	Call(ctx context.Context, d *rpc.Dispatch, out io.Writer) Result
}

// Instant is a Call that is over at once: the worker makes no goroutine for it.
type Instant interface {
	Instant(d *rpc.Dispatch) Result
}

// Result is the end of a Call. A Reason makes it a failure.
type Result struct {
	Reason, Message string
	Outputs         map[string]string
}

// Error is why a task can't be run: Reason is the attempt's code, Message names the cause.
type Error struct{ Reason, Message string }

// Error gives both.
func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// Decode reads a type's own keys. An unknown key is an *Error: the text came from a
// newer master, and half of it must not be run.
func Decode(d *rpc.Dispatch, spec any) error {
	if len(d.GetSpec()) == 0 {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(d.GetSpec()))
	in.DisallowUnknownFields()
	if err := in.Decode(spec); err != nil {
		return &Error{"bad_spec", fmt.Sprintf("keys of type %s: %v", d.GetType(), err)}
	}
	return nil
}

// Env makes the whole environment of a process: nothing of the worker's own but HOME,
// LANG and TZ. Parameters stand in it byte for byte.
func Env(d *rpc.Dispatch) ([]string, error) {
	values := d.GetEnv()
	env := make([]string, 0, len(values)+9)
	for _, plain := range [][2]string{{"PATH", Path}, {"HOME", home()}, {"LANG", lang()}, {"TZ", os.Getenv("TZ")}} {
		if _, own := values[plain[0]]; !own && plain[1] != "" {
			env = append(env, plain[0]+"="+plain[1])
		}
	}
	// In order of name: equal dispatches make equal processes.
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return nil, &Error{"bad_env", fmt.Sprintf("%q is no name for a variable", name)}
		case strings.HasPrefix(name, "PORPOISE_"):
			return nil, &Error{"bad_env", fmt.Sprintf("the name %q is kept for the system", name)}
		case strings.ContainsRune(value, 0):
			return nil, &Error{"bad_env", fmt.Sprintf("the value of %q holds a zero byte, which no environment can", name)}
		}
		env = append(env, name+"="+value)
	}
	number := strconv.Itoa(int(d.GetAttempt().GetNumber()))
	env = append(env, "PORPOISE_ATTEMPT="+number, "PORPOISE_FENCE="+number,
		"PORPOISE_IDEMPOTENCY_KEY="+d.GetIdempotencyKey())
	return slices.Clip(env), nil
}

func home() string {
	if h := os.Getenv("HOME"); h != "" {
		return h
	}
	return "/"
}

func lang() string {
	if l := os.Getenv("LANG"); l != "" {
		return l
	}
	return "C.UTF-8"
}
