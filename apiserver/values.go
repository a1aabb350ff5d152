package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/expression"
	"github.com/porpoise/porpoise/sql"
)

// Value is a parameter or output of an instance, and where it comes from.
type Value struct {
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Origin    string   `json:"origin" enum:"start,workflow,task,output,project,built_in,env" doc:"What gave the value; of several with one name the strongest is named."`
	From      string   `json:"from,omitempty" doc:"The task, of an output."`
	Consumers []string `json:"consumers,omitempty" doc:"Tasks that see it and mention its name."`
}

type listValues struct {
	InstancePath
	Task string `query:"task" maxLength:"512" doc:"What this task gets, resolved; absent: the instance's parameters and every output."`
}

type valuesAnswer struct{ Body List[Value] }

type evaluate struct {
	InstancePath
	Expression string `query:"expression" required:"true" minLength:"1" maxLength:"4096" doc:"As in a condition of a definition, of any value."`
	Task       string `query:"task" maxLength:"512" doc:"Read as this task's conditions do; absent: the workflow's parameters, every output as task.name, and every task."`
}

// Evaluated is what an expression comes to.
type Evaluated struct {
	Value string `json:"value" doc:"As JSON."`
}

type evaluatedAnswer struct{ Body Evaluated }

func (s *Server) valueRoutes() {
	add(s, spec{
		id: "evaluate-expression", method: "GET", path: "/instances/{id}/evaluate", tag: "instances",
		summary: "Work out an expression with the parameters, outputs and states of an instance", access: access{need: roleViewer, object: ofInstance},
	}, s.evaluate)
	add(s, spec{
		id: "list-values", method: "GET", path: "/instances/{id}/values", tag: "instances", summary: "List parameters and outputs with their origin",
		access: access{need: roleViewer, object: ofInstance},
	}, s.listValues)
}

func (s *Server) listValues(ctx context.Context, in *listValues) (*valuesAnswer, error) {
	plan, inst, facts, err := s.resolved(ctx, callOf(ctx).instance)
	if err != nil {
		return nil, fmt.Errorf("list values: %w", err)
	}
	if in.Task == "" {
		items, err := instanceValues(plan, inst, facts)
		if err != nil {
			return nil, err
		}
		return &valuesAnswer{Body: List[Value]{Items: items}}, nil
	}
	i, ok := plan.Task(in.Task)
	if !ok || i >= len(inst.Tasks) {
		return nil, notFound()
	}
	items, err := taskValues(plan, inst, i, facts)
	if err != nil {
		return nil, err
	}
	return &valuesAnswer{Body: List[Value]{Items: items}}, nil
}

// resolved is an instance as its master knows it, with what its values are made of.
func (s *Server) resolved(ctx context.Context, row sql.InstanceRow) (plan *dag.Plan, inst *dag.Instance, facts dag.Facts, err error) {
	if plan, err = s.plans.get(ctx, row.WorkflowID, row.Version); err != nil {
		return nil, nil, facts, err
	}
	if inst, err = s.rebuild(ctx, row, plan); err != nil {
		return nil, nil, facts, err
	}
	if facts, err = row.Facts(); err != nil {
		return nil, nil, facts, err
	}
	if facts.ProjectParams, err = s.projectValues(ctx, row.ProjectID); err != nil {
		return nil, nil, facts, err
	}
	facts.Environments, err = s.environments(ctx, row.ProjectID)
	return plan, inst, facts, err
}

func (s *Server) evaluate(ctx context.Context, in *evaluate) (*evaluatedAnswer, error) {
	e, err := expression.Compile(in.Expression)
	if err != nil {
		return nil, wrongField(http.StatusUnprocessableEntity, "expression", document.CodeInvalid, shown(in.Expression), "%v", err)
	}
	plan, inst, facts, err := s.resolved(ctx, callOf(ctx).instance)
	if err != nil {
		return nil, fmt.Errorf("evaluate an expression: %w", err)
	}
	task := -1
	if in.Task != "" {
		i, ok := plan.Task(in.Task)
		if !ok || i >= len(inst.Tasks) {
			return nil, notFound()
		}
		task = i
	}
	value, err := inst.Evaluate(task, e, facts)
	if wrong, ok := errors.AsType[*expression.Error](err); ok {
		return nil, wrongField(http.StatusUnprocessableEntity, "expression", document.CodeInvalid, shown(in.Expression), "%v", wrong)
	}
	if err != nil {
		return nil, badValue(err)
	}
	text, err := json.Marshal(value)
	if err != nil { // a number that JSON does not have, such as an infinity
		return nil, wrongField(http.StatusUnprocessableEntity, "expression", document.CodeInvalid, shown(in.Expression), "its value can't be written: %v", err)
	}
	return &evaluatedAnswer{Body: Evaluated{Value: string(text)}}, nil
}

// instanceValues are the parameters, those of the workflow and those of the start, then the outputs in the order
// of the definition.
func instanceValues(plan *dag.Plan, in *dag.Instance, facts dag.Facts) ([]Value, error) {
	trace, err := dag.TraceTask(in, -1, facts)
	if err != nil {
		return nil, badValue(err)
	}
	texts := taskTexts(plan)
	items := []Value{}
	for _, origin := range []dag.Origin{dag.OriginWorkflow, dag.OriginStart} {
		for _, v := range trace.Values {
			if first := v.Chain[0]; first.Origin == origin {
				items = append(items, Value{Name: v.Name, Value: first.Value, Origin: string(origin), Consumers: texts.mention(v.Name, nil)})
			}
		}
	}
	for i := range in.Tasks {
		below := plan.Select([]int{i}, dag.ScopeDownstream)
		below[i] = false
		for _, name := range slices.Sorted(maps.Keys(in.Tasks[i].Outputs)) {
			items = append(items, Value{
				Name: name, Value: in.Tasks[i].Outputs[name], Origin: "output", From: plan.Definition.Tasks[i].Name, Consumers: texts.mention(name, below),
			})
		}
	}
	return items, nil
}

// badValue is the answer where a value does not fit where it is put.
func badValue(err error) error {
	if wrong, ok := errors.AsType[dag.FieldError](err); ok {
		return problem(http.StatusConflict, wrong.Message, wrong)
	}
	return fmt.Errorf("resolve parameters: %w", err)
}

// texts are what a person wrote into each task.
type texts struct {
	plan *dag.Plan
	of   []string
}

func taskTexts(plan *dag.Plan) texts {
	t := texts{plan: plan, of: make([]string, len(plan.Definition.Tasks))}
	for i := range plan.Definition.Tasks {
		d := &plan.Definition.Tasks[i]
		text, err := json.Marshal([]any{d.Spec, d.Env, d.Params, d.WorkingDir})
		if err == nil { // a spec is plain data: it was read from a document
			t.of[i] = string(text)
		}
	}
	return t
}

// mention lists the tasks, of those that see it, in whose text a name stands as a word.
func (t texts) mention(name string, sees []bool) []string {
	word, err := regexp.Compile(`\b` + regexp.QuoteMeta(name) + `\b`)
	if err != nil {
		return nil
	}
	var out []string
	for i, text := range t.of {
		if (sees == nil || sees[i]) && word.MatchString(text) {
			out = append(out, t.plan.Definition.Tasks[i].Name)
		}
	}
	return out
}

// taskValues resolves a task as its master does, and names the origin of each value.
func taskValues(plan *dag.Plan, in *dag.Instance, i int, facts dag.Facts) ([]Value, error) {
	run, err := dag.ResolveShown(in, i, facts)
	if err != nil {
		return nil, badValue(err)
	}
	above := plan.Select([]int{i}, dag.ScopeUpstream)
	above[i] = false
	items := make([]Value, 0, len(run.Env))
	for _, name := range slices.Sorted(maps.Keys(run.Env)) {
		v := Value{Name: name, Value: run.Env[name]}
		v.Origin, v.From = originOf(plan, in, i, v, facts, above)
		items = append(items, v)
	}
	return items, nil
}

// originOf finds the strongest source that gives a name, in the order of dag.Resolve.
func originOf(plan *dag.Plan, in *dag.Instance, task int, v Value, facts dag.Facts, above []bool) (origin, from string) {
	name, value := v.Name, v.Value
	d := &plan.Definition.Tasks[task]
	named := func(p dag.Param) bool { return p.Name == name }
	if slices.ContainsFunc(d.Env, func(e dag.EnvVar) bool { return e.Name == name }) {
		return "env", ""
	}
	if _, given := in.Params[name]; given {
		return "start", ""
	}
	if slices.ContainsFunc(d.Params, named) {
		return "task", ""
	}
	// The nearest comes last in a topological order; two unrelated producers are refused at save.
	for _, i := range slices.Backward(plan.Order) {
		if got, ok := in.Tasks[i].Outputs[name]; above[i] && ok && got == value {
			return "output", plan.Definition.Tasks[i].Name
		}
	}
	if slices.ContainsFunc(plan.Definition.Params, named) {
		return "workflow", ""
	}
	if facts.ProjectParams[name] == value {
		return "project", ""
	}
	return "built_in", ""
}
