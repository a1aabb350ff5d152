// Package expression is the language of conditions: what a workflow's author writes
// after when:, in switch, in join rules, in repeat_until and in retry rules.
//
// The grammar and the parser are expr-lang's; the evaluation is our own and total: an
// expression has no loops, no names but those it is given, and spends from a fixed
// budget, so that none runs long or takes much memory, whoever wrote it. It does no
// I/O and reads no clock. dag compiles expressions where a definition is saved and
// decides them in Step. The language is described in docs/EXPRESSIONS.md.
package expression

import (
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag/document"
)

// The bounds of an expression.
const (
	// MaxText is how many bytes an expression may have. What people write has under
	// 200; a generated switch over some hundred values still fits.
	MaxText = 4 << 10
	// MaxResult is how many bytes a text that an expression makes may have: as many as
	// one value of a parameter.
	MaxResult = 100 << 10
	// maxSteps is what one evaluation may spend: one step for each part of the
	// expression, and more for long texts, so that the worst takes some ten
	// milliseconds. A usual condition takes fewer than twenty.
	maxSteps = 1 << 20
)

// Error says what is wrong with an expression, or why it could not be evaluated.
type Error struct {
	Offset  int // of the byte in the text where the cause stands
	Message string

	missing bool // a name has no value; ?? catches this one
}

// Error is the message and its place.
func (e *Error) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Message, e.Offset) }

// Values is what an expression reads: either function may be nil, and then knows no
// name. A value is nil, a boolean, a number, a string, a list ([]any, []string) or a
// map (map[string]any, map[string]string); the evaluation changes none of them.
type Values struct {
	// Param gives a parameter, an output by task.name, or a built-in; false where
	// there is no such name.
	Param func(name string) (any, bool)
	// Task gives the members of a task: state, reason, exit_code and attempts.
	Task func(name string) (map[string]any, bool)
}

// Expression is a compiled text. It never changes: goroutines may share it.
type Expression struct {
	root  node
	names []string
	tasks []string
}

// Compile reads an expression of any value. The error is an *Error with the place of
// the first thing that is wrong.
func Compile(text string) (*Expression, error) {
	c, err := compile(text)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Condition is Compile for an expression that decides something: one that can be
// seen to give a number, a list, the state of a task or other text than true and false is refused.
func Condition(text string) (*Expression, error) {
	e, err := compile(text)
	if err != nil {
		return nil, err
	}
	if e.root.kind()&(isBool|isText) == 0 {
		return nil, failf(e.root.place(), "a condition is true or false, this is always %s", e.root.kind())
	}
	switch n := e.root.(type) {
	case *constant:
		if _, ok := boolean(n.value); !ok {
			return nil, failf(n.at, "a condition is true or false, this is always %s", shown(n.value))
		}
	case *taskRead:
		return nil, failf(n.at, "a condition is true or false, the %s of a task never is: compare it", n.member)
	}
	return e, nil
}

// Eval evaluates the expression: the result is nil, a bool, an int64, a float64, a
// string, or a list or map as Values has it, which the caller must not change. The error is an *Error: a name without a
// value, operands that the operator cannot take, or a bound that is reached.
func (e *Expression) Eval(v Values) (any, error) {
	result, err := e.root.eval(&run{values: v, left: maxSteps})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Decide evaluates a condition. The texts true and false, of a parameter for example,
// are booleans too; every other result is an error.
func (e *Expression) Decide(v Values) (bool, error) {
	result, err := e.Eval(v)
	if err != nil {
		return false, err
	}
	decision, ok := boolean(result)
	if !ok {
		return false, failf(e.root.place(), "a condition wants true or false, not %s", shown(result))
	}
	return decision, nil
}

// Names returns the names that the expression asks Param for, sorted: parameters,
// built-ins, and a.b for what stands so in the text. A name a.b that has no value of
// its own is the member b of a map a.
func (e *Expression) Names() []string { return slices.Clone(e.names) }

// Tasks returns the tasks whose members the expression reads, sorted.
func (e *Expression) Tasks() []string { return slices.Clone(e.tasks) }

// run is one evaluation.
type run struct {
	values Values
	left   int // steps
}

// spend takes n steps for what stands at a place.
func (r *run) spend(n, at int) *Error {
	r.left -= n
	if r.left < 0 {
		return failf(at, "the expression takes too long: its texts are too large for what is done with them")
	}
	return nil
}

func failf(at int, format string, args ...any) *Error {
	return &Error{Offset: at, Message: fmt.Sprintf(format, args...)}
}

// missing is the error for a name that has no value.
func missing(at int, what, name, way string) *Error {
	return &Error{Offset: at, Message: what + " " + document.Quoted(name) + way, missing: true}
}

func sortedKeys[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
