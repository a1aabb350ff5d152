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

func (s *Server) valueRoutes() {
	add(s, spec{
		id: "list-values", method: "GET", path: "/instances/{id}/values", tag: "instances", summary: "List parameters and outputs with their origin",
		access: access{need: roleViewer, object: ofInstance},
	}, s.listValues)
}

func (s *Server) listValues(ctx context.Context, in *listValues) (*valuesAnswer, error) {
	row := callOf(ctx).instance
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, fmt.Errorf("list values: %w", err)
	}
	inst, err := s.rebuild(ctx, row, plan)
	if err != nil {
		return nil, err
	}
	facts, err := row.Facts()
	if err != nil {
		return nil, err
	}
	if facts.ProjectParams, err = s.projectValues(ctx, row.ProjectID); err != nil {
		return nil, err
	}
	if facts.Environments, err = s.environments(ctx, row.ProjectID); err != nil {
		return nil, err
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
