package dolphin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/expression"
)

// The task types there that more than one place asks about.
const (
	kindHTTP       = "HTTP"
	kindSwitch     = "SWITCH"
	kindConditions = "CONDITIONS"
	kindDependent  = "DEPENDENT"
)

// byType writes the keys of the task's type. A type that does not exist here becomes a script
// that fails: a task that silently does nothing would be worse.
func (w *writing) byType() {
	switch w.t.kind {
	case "SHELL":
		w.shell()
	case "PYTHON":
		w.python()
	case "SQL":
		w.sql()
	case "PROCEDURE":
		w.procedure()
	case kindHTTP:
		w.http()
	case kindSwitch:
		w.choice()
	case kindConditions:
		w.conditions()
	case "SUB_PROCESS", "SUB_WORKFLOW":
		w.sub()
	case "DYNAMIC":
		w.dynamic()
	case kindDependent:
		w.dependent()
	default:
		w.missing()
	}
}

func (w *writing) missing() {
	t := w.t
	kind := strings.Map(func(r rune) rune {
		if r == '_' || r < 0x7f && identifier(string(r)) == string(r) || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, cut(t.kind, dag.MaxName))
	t.notes.add(codeNoType, t.o.path("taskType"), kind)
	w.kind = typeShell
	w.own.set(keyScript, "echo 'the task type "+kind+" does not exist here: write what this task does' >&2\nexit 1\n")
	t.params.drop("resourceList", "waitStartTimeout", "varPool") // reported with what every task has
	t.params.rest(codeNoType)
	for key := range t.params.fields {
		t.params.drop(key)
	}
}

// choice writes a switch.
func (w *writing) choice() {
	w.kind = typeSwitch
	t := w.t
	o := t.params.object("switchResult")
	var cases list
	for _, c := range o.objects("dependTaskList") {
		when := w.when(c.path("condition"), c.text("condition"))
		if _, err := expression.Condition(when); err != nil {
			t.notes.add(codeExpression, c.path("condition"), err.Error())
		}
		cases.add(when, w.branch(c, "nextNode"))
		c.rest(codeUnknownField)
	}
	t.notes.add(codeSwitch, o.at)
	w.own.set(keyCases, cases)
	w.own.set(keyElse, w.branch(o, "nextNode"))
	o.rest(codeUnknownField)
}

// when is a condition of a switch. ${name} stands for a value in both languages.
func (w *writing) when(at, text string) string {
	return reference.ReplaceAllStringFunc(strings.TrimRight(strings.TrimSpace(w.lines(at, text)), ";"), func(ref string) string {
		if name, ok := w.refer(at, ref[2:len(ref)-1], true); ok {
			return "${" + name + "}"
		}
		return ref // a name that is given at the start only
	})
}

// add adds a case.
func (l *list) add(when string, then []string) {
	*l = append(*l, mapping{{keyWhen, when}, {keyThen, then}})
}

// branch returns the names of the tasks that a branch leads to.
func (w *writing) branch(o *object, key string) []string {
	t := w.t
	var codes []int64
	for _, code := range o.codes(key) {
		if slices.Contains(t.flow.next[t.code], code) {
			codes = append(codes, code)
		} else {
			t.notes.add(codeBranchUnknown, o.path(key), strconv.FormatInt(code, 10))
		}
	}
	if len(codes) > 0 {
		t.notes.add(codeBranch, o.path(key))
	}
	return t.flow.names(codes)
}

// conditions writes a task that looks at states. There as here it waits for all tasks before
// it, however they end, and a failure that only conditions look at fails no workflow.
func (w *writing) conditions() {
	w.kind = typeConditions
	t := w.t
	dependence, result := t.params.object("dependence"), t.params.object("conditionResult")
	var groups []string
	for _, g := range dependence.objects("dependTaskList") {
		var items []string
		for _, item := range g.objects("dependItemList") {
			items = append(items, w.condition(item))
		}
		if len(items) > 0 {
			groups = append(groups, joined(items, relation(g)))
		}
		g.rest(codeUnknownField)
	}
	t.notes.add(codeConditions, dependence.at)
	var cases list
	cases.add(joined(groups, relation(dependence)), w.branch(result, "successNode"))
	w.own.set(keyCases, cases)
	w.own = append(w.own, entry{keyElse, w.branch(result, "failedNode")})
	result.drop("conditionSuccess")
	dependence.rest(codeUnknownField)
	result.rest(codeUnknownField)
}

// condition is one state that is looked at.
func (w *writing) condition(o *object) string {
	code := o.number("depTaskCode", 0)
	state := dag.TaskSuccess
	if o.word("status", "SUCCESS", "SUCCESS", "FAILURE") == "FAILURE" {
		state = dag.TaskFailed
	}
	o.rest(codeUnknownField)
	name := "task " + strconv.FormatInt(code, 10)
	if t := w.t.flow.byCode[code]; t != nil {
		name = t.name
	} else {
		w.t.notes.add(codeUnknownCode, o.path("depTaskCode"), strconv.FormatInt(code, 10))
	}
	return fmt.Sprintf("%s == %q", stateOf(name), string(state))
}

// stateOf is the state of a task in an expression: by its name alone where an expression reads
// that as the task.
func stateOf(name string) string {
	plain := name + ".state"
	if e, err := expression.Compile(plain); err == nil && slices.Equal(e.Tasks(), []string{name}) {
		return plain
	}
	return "task(" + strconv.Quote(name) + ").state"
}

func relation(o *object) string {
	if o.word("relation", "AND", "AND", "OR") == "OR" {
		return " || "
	}
	return " && "
}

func joined(parts []string, by string) string {
	if len(parts) > 1 {
		for i := range parts {
			if strings.Contains(parts[i], " && ") || strings.Contains(parts[i], " || ") {
				parts[i] = "(" + parts[i] + ")"
			}
		}
	}
	return strings.Join(parts, by)
}

// meeting reports a task at which branches of a choice may meet.
func (w *writing) meeting() {
	f := w.t.flow
	if len(f.needs[w.t.code]) > 1 && f.chosen[w.t.code] {
		w.t.notes.add(codeJoin, w.t.o.at)
	}
}
