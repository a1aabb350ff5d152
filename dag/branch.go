package dag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/expression"
)

// branchOutput is the output in which a branch task keeps its choice: the number of the case,
// from 0, or choiceElse. Nothing but the store and closed read it.
const (
	branchOutput = "branch"
	choiceElse   = "else"
)

// branches is where the branches of one task lead.
type branches struct {
	named   map[int]bool // tasks that stand in any of them: they run only where they are chosen
	cases   []branch
	other   map[int]bool // else
	hasElse bool
}

// branch is one case.
type branch struct {
	when *expression.Expression
	then map[int]bool
}

// takes says whether a choice leads to a task.
func (b *branches) takes(choice string, to int) bool {
	if k, err := strconv.Atoi(choice); err == nil && k >= 0 && k < len(b.cases) {
		return b.cases[k].then[to]
	}
	// A branch task that never chose, because somebody skipped it or it is disabled, takes else.
	return b.other[to]
}

// closed says that task from is done and has not chosen task to.
func (in *Instance) closed(from, to int) bool {
	b := in.plan.rules[from].branches
	return b != nil && b.named[to] && in.done(from) && !b.takes(in.Tasks[from].Outputs[branchOutput], to)
}

// gate holds a task back that stands in a branch until it is known who chose. It runs only
// where somebody chose it, whatever else it needs and whatever its join rule says.
func (in *Instance) gate(i int) (verdict, Reason) {
	v, reason := verdictRun, Reason("")
	for _, n := range in.plan.rules[i].gates {
		if in.Tasks[n].State == "" {
			continue
		}
		switch in.endFor(n, i) {
		case endOpen:
			return verdictOpen, ""
		case endDone:
			return verdictRun, ""
		case endBroken:
			v, reason = verdictBlock, ""
		case endPassed:
			if v == verdictRun {
				v, reason = verdictPass, ReasonNotChosen
			}
		}
	}
	return v, reason
}

// choose carries out a branch task: an attempt of its own that ends at once.
func (s *step) choose(i int) {
	s.attemptHere(i)
	choice, message := s.in.choice(i)
	if message != "" {
		reason := ReasonExpression
		if choice == choiceElse {
			reason = ReasonNoBranch
		}
		s.in.Tasks[i].Attempt.Message = message
		s.endAttempt(i, AttemptFailed, reason)
		s.enter(i, TaskFailed, reason)
		s.tell(i, message)
		s.endWith(i)
		return
	}
	outputs := map[string]string{branchOutput: choice}
	s.in.Tasks[i].Attempt.Outputs = outputs
	s.endAttempt(i, AttemptSuccess, "")
	s.enter(i, TaskSuccess, "")
	s.in.Tasks[i].Outputs = outputs
	s.tell(i, "")
}

// choice finds the first case of a branch task that holds. The message says why there is none;
// the choice is then choiceElse where every case was looked at.
func (in *Instance) choice(i int) (choice, message string) {
	b := in.plan.rules[i].branches
	values, err := in.values(i)
	if err != nil {
		return "", err.Error()
	}
	for k := range b.cases {
		holds, err := b.cases[k].when.Decide(values)
		if err != nil {
			return "", fmt.Sprintf("cases[%d].when: %v", k, err)
		}
		if holds {
			return strconv.Itoa(k), ""
		}
	}
	if !b.hasElse {
		return choiceElse, `no case holds, and there is no "else"`
	}
	return choiceElse, ""
}

// holds decides a condition of task i.
func (in *Instance) holds(i int, condition *expression.Expression) (bool, error) {
	values, err := in.values(i)
	if err != nil {
		return false, err
	}
	return condition.Decide(values)
}

// Evaluate works out an expression as the conditions of a task read it. For task -1 it reads the parameters of the workflow, every
// output as task.name, and every task. No secret is among that. The error is a FieldError of a parameter, or the expression's own.
func (in *Instance) Evaluate(task int, e *expression.Expression, facts Facts) (any, error) {
	r := resolver{in: in, task: task, t: &Task{}}
	if task >= 0 {
		r.t = &in.plan.Definition.Tasks[task]
	}
	if err := r.parameters(facts); err != nil {
		return nil, *err
	}
	if task >= 0 {
		return e.Eval(r.read())
	}
	return e.Eval(expression.Values{
		Param: func(name string) (any, bool) {
			if text, ok := r.values[name]; ok {
				return r.typed(name, text), true
			}
			for i := range in.Tasks {
				if output, ok := strings.CutPrefix(name, in.plan.Definition.Tasks[i].Name+"."); ok {
					text, ok := in.Tasks[i].Outputs[output]
					return text, ok
				}
			}
			return nil, false
		},
		Task: func(name string) (map[string]any, bool) {
			i, ok := in.plan.Task(name)
			if !ok {
				return nil, false
			}
			return in.Tasks[i].face(), true
		},
	})
}

// face is what expressions read of a task.
func (t *TaskInstance) face() map[string]any {
	return map[string]any{"state": string(t.State), "reason": string(t.Reason), "attempts": t.Attempts}
}

// values are what the expressions of task i can read: its parameters, the outputs that it
// sees, and how the tasks that it needs ended.
func (in *Instance) values(i int) (expression.Values, error) {
	r := resolver{in: in, task: i, t: &in.plan.Definition.Tasks[i]}
	if err := r.parameters(in.Facts); err != nil {
		return expression.Values{}, *err
	}
	return r.read(), nil
}

// read gives expressions what has been resolved.
func (r *resolver) read() expression.Values {
	in, i := r.in, r.task
	return expression.Values{
		Param: func(name string) (any, bool) {
			text, err := r.lookup(name)
			if err != nil {
				return nil, false
			}
			return r.typed(name, text), true
		},
		Task: func(name string) (map[string]any, bool) {
			n, ok := in.plan.Task(name)
			if !ok || !slices.Contains(in.plan.Pred[i], n) {
				return nil, false
			}
			return in.Tasks[n].face(), true
		},
	}
}

// typed reads a value as the type that its parameter was declared with.
func (r *resolver) typed(name, text string) any {
	for _, list := range [...][]Param{r.t.Params, r.in.plan.Definition.Params} {
		for k := range list {
			if list[k].Name == name {
				return list[k].Type.read(text)
			}
		}
	}
	return text
}

// read returns a value of the type as expressions know it, or the text where it is none.
func (t ParamType) read(text string) any {
	switch t {
	case ParamInteger:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case ParamNumber:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case ParamBoolean:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case ParamList:
		if list, ok := parseList(text); ok {
			return list
		}
	case ParamString, ParamDate:
	}
	return text
}
