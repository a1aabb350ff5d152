package dag

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/expression"
)

// compile reads what the tasks' own keys say of when they run. Like connect it reports what
// does not fit the graph; names of parameters are looked at with all other references.
func (p *Plan) compile() []FieldError {
	var errs []FieldError
	tasks := p.Definition.Tasks
	p.rules = make([]rules, len(tasks))
	for i := range tasks {
		t, r := &tasks[i], &p.rules[i]
		field := p.Definition.field(i)
		if t.Join == "" || slices.Contains(joinRules[:], JoinRule(t.Join)) {
			r.join = JoinRule(t.Join)
		} else if near := document.Nearest(t.Join, joinWords()); near != "" {
			errs = append(errs, FieldError{
				Field: field + ".join", Code: CodeExpression, Value: document.Shown(t.Join),
				Message: "there is no join rule " + document.Quoted(t.Join) + "; did you mean " + document.Quoted(near) + "?",
			})
		} else {
			errs = append(errs, p.condition(i, field+".join", t.Join, &r.condition)...)
		}
		if r.join == "" {
			r.join = JoinAllSuccess
		}
		if t.When != "" {
			errs = append(errs, p.condition(i, field+".when", t.When, &r.when)...)
		}
		errs = append(errs, p.retryCondition(i, &r.retry)...)
		if t.Repeat.Until != "" {
			errs = append(errs, p.condition(i, field+"."+untilField, t.Repeat.Until, &r.until)...)
		}
		if d, ok := t.Spec.(*DynamicSpec); ok && d.Filter != "" {
			errs = append(errs, p.condition(i, field+"."+filterField, d.Filter, &r.filter)...)
		}
		if b, ok := t.Spec.(brancher); ok {
			errs = append(errs, p.link(i, b)...)
		}
		errs = append(errs, p.checkLast(i)...)
	}
	for _, i := range p.Order {
		switch tasks[i].phase() {
		case phaseUndo:
			p.undo = append(p.undo, i)
		case phaseFinally:
			p.finally = append(p.finally, i)
		case phaseWork:
		}
		for _, n := range p.Pred[i] {
			if b := p.rules[n].branches; b != nil && b.named[i] {
				p.rules[i].gates = append(p.rules[i].gates, n)
			}
		}
	}
	return errs
}

func joinWords() []string {
	words := make([]string, len(joinRules))
	for i, rule := range joinRules {
		words[i] = string(rule)
	}
	return words
}

// checkLast holds a task that comes last against the tasks that need it.
func (p *Plan) checkLast(i int) []FieldError {
	t := &p.Definition.Tasks[i]
	if t.Finally {
		return nil
	}
	var errs []FieldError
	for k, need := range t.Needs {
		if n, ok := p.index[need]; ok && p.Definition.Tasks[n].Finally {
			errs = append(errs, FieldError{
				Field: fmt.Sprintf("%s.needs[%d]", p.Definition.field(i), k), Code: CodeConflict, Value: document.Shown(need), Args: Args{"task": t.Name, "need": need},
				Message: "the task " + document.Quoted(need) + " comes last (finally), so only tasks that come last too can need it",
			})
		}
	}
	return errs
}

// condition compiles an expression of task i, and holds the tasks that it reads against its needs.
func (p *Plan) condition(i int, field, text string, out **expression.Expression) []FieldError {
	e, err := expression.Condition(text)
	if err != nil {
		fail := FieldError{Field: field, Code: CodeExpression, Value: document.Shown(text), Message: err.Error()}
		if at, ok := errors.AsType[*expression.Error](err); ok {
			fail.Args = Args{"offset": at.Offset}
		}
		return []FieldError{fail}
	}
	*out = e
	var errs []FieldError
	for _, name := range e.Tasks() {
		if slices.Contains(p.Definition.Tasks[i].Needs, name) {
			continue
		}
		message := "the expression reads the task " + document.Quoted(name) + ", which this task does not need: add it to needs"
		if _, ok := p.index[name]; !ok {
			message = "the expression reads a task: " + p.noTask(name)
		}
		errs = append(errs, FieldError{Field: field, Code: CodeUnknownTask, Value: document.Shown(name), Message: message, Args: Args{"task": p.Definition.Tasks[i].Name, "need": name}})
	}
	return errs
}

// link connects the branches of task i to the tasks that need it.
func (p *Plan) link(i int, spec brancher) []FieldError {
	var errs []FieldError
	name := p.Definition.Tasks[i].Name
	b := &branches{named: map[int]bool{}}
	p.rules[i].branches = b
	to := func(field string, names []string) map[int]bool {
		set := make(map[int]bool, len(names))
		for k, target := range names {
			n, ok := p.index[target]
			at := field + "[" + strconv.Itoa(k) + "]"
			switch {
			case !ok:
				errs = append(errs, FieldError{Field: at, Code: CodeUnknownTask, Value: document.Shown(target), Message: p.noTask(target), Args: Args{"task": name, "need": target}})
			case !slices.Contains(p.Definition.Tasks[n].Needs, name):
				errs = append(errs, FieldError{
					Field: at, Code: CodeUnknownTask, Value: document.Shown(target), Args: Args{"task": name, "need": target},
					Message: "the task " + document.Quoted(target) + " does not need " + document.Quoted(name) + ": add it to the needs of " + document.Quoted(target),
				})
			case set[n]:
				errs = append(errs, FieldError{Field: at, Code: CodeDuplicateEdge, Value: document.Shown(target), Message: document.Quoted(target) + " stands here twice", Args: Args{"task": name, "need": target}})
			default:
				set[n], b.named[n] = true, true
			}
		}
		return set
	}
	field := p.Definition.field(i)
	cases, other := spec.branches()
	for k := range cases {
		at := fmt.Sprintf("%s.cases[%d]", field, k)
		var one branch
		if cases[k].When != "" { // reported as missing otherwise
			errs = append(errs, p.condition(i, at+".when", cases[k].When, &one.when)...)
		}
		one.then = to(at+".then", cases[k].Then)
		b.cases = append(b.cases, one)
	}
	b.other, b.hasElse = to(field+".else", other), other != nil
	return errs
}

// expressions yields every expression of a task with its field, relative to the task.
func (r *rules) expressions(yield func(field string, e *expression.Expression)) {
	if r.condition != nil {
		yield("join", r.condition)
	}
	if r.when != nil {
		yield("when", r.when)
	}
	if r.retry != nil {
		yield(retryWhen, r.retry)
	}
	if r.filter != nil {
		yield(filterField, r.filter)
	}
	if r.until != nil {
		yield(untilField, r.until)
	}
	if r.branches != nil {
		for k := range r.branches.cases {
			if e := r.branches.cases[k].when; e != nil {
				yield(fmt.Sprintf("cases[%d].when", k), e)
			}
		}
	}
}
