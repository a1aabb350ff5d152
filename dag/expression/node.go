package expression

import (
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// node is a part of an expression. Each is evaluated at most once in a run: the text's
// length bounds them.
type node interface {
	eval(r *run) (any, *Error)
	kind() kind // what its values can be, as far as the text tells
	place() int
}

// constant is a value that the text writes, or that was worked out when it was read.
type constant struct {
	at    int
	value any
}

func (c *constant) eval(r *run) (any, *Error) { return c.value, r.spend(1, c.at) }
func (c *constant) kind() kind                { return kindOf(c.value) }
func (c *constant) place() int                { return c.at }

// read is a parameter, an output or a built-in.
type read struct {
	at   int
	name string
}

func (n *read) kind() kind { return isAny }
func (n *read) place() int { return n.at }

// eval asks for the whole name first: a task's output is known as task.output. Where
// that is nothing, the name is a member of a map with a shorter name.
func (n *read) eval(r *run) (any, *Error) {
	if err := r.spend(1, n.at); err != nil {
		return nil, err
	}
	name, members := n.name, ""
	for r.values.Param != nil {
		v, ok := r.values.Param(name)
		if ok {
			return n.member(v, members)
		}
		cut := strings.LastIndexByte(name, '.')
		if cut <= 0 {
			break
		}
		name, members = name[:cut], n.name[cut+1:]
	}
	return nil, missing(n.at, "there is no value for", n.name, "; for a default write "+document.Shown(n.name)+" ?? value")
}

func (n *read) member(v any, members string) (any, *Error) {
	v, ok := normal(v)
	if !ok {
		return nil, failf(n.at, "the value of %s is none that an expression can use", document.Quoted(n.name))
	}
	for members != "" {
		var name string
		name, members, _ = strings.Cut(members, ".")
		var err *Error
		if v, err = member(n.at, v, name); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// taskRead is a member of a task.
type taskRead struct {
	at           int
	task, member string
}

// taskMembers are what x.member reads of a task x. An output of such a name is hidden
// behind it.
var taskMembers = map[string]bool{"state": true, "reason": true, "exit_code": true, "attempts": true}

func (n *taskRead) kind() kind { return isAny }
func (n *taskRead) place() int { return n.at }

func (n *taskRead) eval(r *run) (any, *Error) {
	if err := r.spend(1, n.at); err != nil {
		return nil, err
	}
	if r.values.Task != nil {
		if members, ok := r.values.Task(n.task); ok {
			return member(n.at, members, n.member)
		}
	}
	return nil, missing(n.at, "there is no task", n.task, "")
}

// member is the value of a map's key.
func member(at int, of any, name string) (any, *Error) {
	var v any
	var ok bool
	switch of := of.(type) {
	case map[string]any:
		v, ok = of[name]
	case map[string]string:
		v, ok = of[name]
	default:
		return nil, failf(at, "%s has no members: %s is not one", shown(of), document.Quoted(name))
	}
	if !ok {
		return nil, missing(at, "there is no member", name, "")
	}
	if v, ok = normal(v); !ok {
		return nil, failf(at, "the value of %s is none that an expression can use", document.Quoted(name))
	}
	return v, nil
}

// both is && and ||: the right side is evaluated only where it decides.
type both struct {
	at          int
	or          bool
	left, right node
}

func (n *both) kind() kind { return isBool }
func (n *both) place() int { return n.at }

func (n *both) eval(r *run) (any, *Error) {
	for _, side := range []node{n.left, n.right} {
		v, err := side.eval(r)
		if err != nil {
			return nil, err
		}
		decision, ok := boolean(v)
		if !ok {
			return nil, failf(side.place(), "%s wants true or false, not %s", n.sign(), shown(v))
		}
		if decision == n.or {
			return n.or, nil
		}
	}
	return !n.or, nil
}

func (n *both) sign() string {
	if n.or {
		return "||"
	}
	return "&&"
}

// choice is condition ? yes : no.
type choice struct {
	condition, yes, no node
}

func (n *choice) kind() kind { return n.yes.kind() | n.no.kind() }
func (n *choice) place() int { return n.condition.place() }

func (n *choice) eval(r *run) (any, *Error) {
	v, err := n.condition.eval(r)
	if err != nil {
		return nil, err
	}
	decision, ok := boolean(v)
	if !ok {
		return nil, failf(n.place(), "? wants true or false before it, not %s", shown(v))
	}
	if decision {
		return n.yes.eval(r)
	}
	return n.no.eval(r)
}

// fallback is value ?? other: the other where the value is nil or has a missing name.
type fallback struct {
	value, other node
}

func (n *fallback) kind() kind { return n.value.kind()&^isNil | n.other.kind() }
func (n *fallback) place() int { return n.value.place() }

func (n *fallback) eval(r *run) (any, *Error) {
	v, err := n.value.eval(r)
	if err != nil && !err.missing {
		return nil, err
	}
	if err != nil || v == nil {
		return n.other.eval(r)
	}
	return v, nil
}

// apply is an operator, a method or a function: all its operands are evaluated, then
// the work is done.
type apply struct {
	at       int
	gives    kind
	operands []node
	do       func(c *call) (any, *Error)
}

// call is one use of an operator.
type call struct {
	*run
	at int
	in []any
}

func (c *call) fail(format string, args ...any) (any, *Error) {
	return nil, failf(c.at, format, args...)
}

func (n *apply) kind() kind { return n.gives }
func (n *apply) place() int { return n.at }

func (n *apply) eval(r *run) (any, *Error) {
	if err := r.spend(1, n.at); err != nil {
		return nil, err
	}
	c := call{run: r, at: n.at, in: make([]any, len(n.operands))}
	for i, operand := range n.operands {
		var err *Error
		if c.in[i], err = operand.eval(r); err != nil {
			return nil, err
		}
	}
	return n.do(&c)
}
