package dag

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// Facts are what an instance does not know of itself and its built-in parameters tell.
type Facts struct {
	Project, Workflow string
	ProjectID         int64
	WorkflowID        int64
	Version           int
	ScheduleTime      Millis // zero for a start by hand
	Now               Millis // when the instance was started
	// Depth is how many instances are above it, By who started the topmost one.
	Depth int
	By    string
	// Location is where the dates of its parameters are those of a calendar; nil is UTC.
	Location *time.Location
	// ProjectParams are the parameters of the instance's project, by name; they are not changed.
	ProjectParams map[string]string
	// Secrets are the values of those secrets that the task names, as far as there are any; they are not changed.
	Secrets map[string]string
	// Environments are the variables of the environments of the project, by folded name; they are not changed.
	Environments map[string]map[string]string
}

// Base is the moment that dates are reckoned from, in the location whose calendar they are of.
func (f Facts) Base() time.Time {
	at := f.Now
	if f.ScheduleTime != 0 {
		at = f.ScheduleTime
	}
	if f.Location == nil {
		return at.Time()
	}
	return at.Time().In(f.Location)
}

// Timezone is the name of Location, "" where there is none.
func (f Facts) Timezone() string {
	if f.Location == nil {
		return ""
	}
	return f.Location.String()
}

// TaskRun is a task made ready for a worker: parameters are put in.
type TaskRun struct {
	Type       string
	Spec       json.RawMessage // of the type's Spec struct
	Env        map[string]string
	Outputs    []string // names that are kept
	WorkingDir string
	// SecretEnv are the variables of env that hold secrets; they are not in Env.
	SecretEnv map[string]string
	// SecretSpec says that Spec holds secrets.
	SecretSpec bool
	// Secrets are the values of all secrets that were put in, by name.
	Secrets map[string]string
}

// builtins are the parameters that every task has. In scripts they have underscores,
// elsewhere dots in their place are understood too.
var builtins = [...]struct {
	name  string
	value func(in *Instance, task string, f Facts) string
}{
	{"system_biz_date", func(_ *Instance, _ string, f Facts) string { return f.Base().AddDate(0, 0, -1).Format("20060102") }},
	{"system_biz_curdate", func(_ *Instance, _ string, f Facts) string { return f.Base().Format("20060102") }},
	{"system_datetime", func(_ *Instance, _ string, f Facts) string { return f.Base().Format("20060102150405") }},
	{"system_workflow_instance_id", func(in *Instance, _ string, _ Facts) string { return strconv.FormatInt(in.ID, 10) }},
	{"system_workflow_name", func(_ *Instance, _ string, f Facts) string { return f.Workflow }},
	{"system_project_name", func(_ *Instance, _ string, f Facts) string { return f.Project }},
	{"system_task_name", nameOfTask},
	{"system_iteration", func(in *Instance, task string, _ Facts) string { return strconv.Itoa(in.iteration(task)) }},
	// The names that DolphinScheduler has for the same.
	{"system_workflow_definition_name", func(_ *Instance, _ string, f Facts) string { return f.Workflow }},
	{"system_workflow_definition_code", func(_ *Instance, _ string, f Facts) string { return strconv.FormatInt(f.WorkflowID, 10) }},
	{"system_project_code", func(_ *Instance, _ string, f Facts) string { return strconv.FormatInt(f.ProjectID, 10) }},
	{"system_task_definition_name", nameOfTask},
}

func nameOfTask(_ *Instance, task string, _ Facts) string { return task }

func builtinNames() []string {
	names := make([]string, len(builtins))
	for i := range builtins {
		names[i] = builtins[i].name
	}
	return names
}

// builtinOf returns the name with underscores of a built-in in either form.
func builtinOf(name string) (string, bool) {
	if !strings.HasPrefix(name, "system.") && !strings.HasPrefix(name, "system_") {
		return "", false
	}
	under := name
	if name[len("system")] == '.' {
		if strings.Contains(name, "_") {
			return "", false
		}
		under = strings.ReplaceAll(name, ".", "_")
	}
	for i := range builtins {
		if builtins[i].name == under {
			return under, true
		}
	}
	return "", false
}

func isBuiltin(name string) bool {
	_, ok := builtinOf(name)
	return ok
}

// Resolve puts the parameters into a task that is about to be dispatched. Its
// environment holds every parameter and output that the task sees, byte for byte,
// and its own env on top; its text fields have each ${name} replaced once, values of
// params and env each $[...] too. Of values
// with one name the first of these wins: the start's, the task's own, outputs of
// ancestors (the nearest), the workflow's, the project's, built-in ones. The error is a FieldError:
// a name without a value, or a value that does not fit where it is put; it is an NoSecretError where that
// is a secret. No error shows a secret's value.
func Resolve(in *Instance, task int, facts Facts) (TaskRun, error) {
	r := resolver{in: in, task: task, t: &in.plan.Definition.Tasks[task], secrets: facts.Secrets, used: map[string]string{}}
	run := TaskRun{Type: r.t.Type, Outputs: r.t.Outputs, WorkingDir: r.t.WorkingDir}
	if err := r.parameters(facts); err != nil {
		return TaskRun{}, *err
	}
	// The task's env refers to parameters, never to itself: order means nothing there.
	own := make([]string, len(r.t.Env))
	hidden := make([]bool, len(r.t.Env))
	for i, e := range r.t.Env {
		value, err := datedExpand(e.Value, r.base, r.sealed(&hidden[i]))
		if err != nil {
			return TaskRun{}, r.failure(hush(err, hidden[i]), document.FieldKey("env", e.Name))
		}
		own[i] = value
	}
	spec := r.t.Spec
	if in.plan.refs[task] {
		var err *FieldError
		if spec, err = r.spec(&run.SecretSpec); err != nil {
			return TaskRun{}, r.why(*err)
		}
		if run.WorkingDir, err = expand(run.WorkingDir, r.lookup); err == nil && run.WorkingDir != "" {
			err = checkResolvedDir(run.WorkingDir)
		}
		if err != nil {
			return TaskRun{}, r.at(err, "working_dir")
		}
	}
	text, err := encodeSpec(spec)
	if err != nil {
		return TaskRun{}, fmt.Errorf("encode the spec of task %s: %w", document.Quoted(r.t.Name), err)
	}
	run.Spec = text
	if err := r.environment(facts); err != nil {
		return TaskRun{}, *err
	}
	for i, e := range r.t.Env {
		if !hidden[i] {
			r.values[e.Name] = own[i]
			continue
		}
		if run.SecretEnv == nil {
			run.SecretEnv = make(map[string]string)
		}
		run.SecretEnv[e.Name] = own[i]
		delete(r.values, e.Name) // a parameter of that name, which the variable hides
	}
	run.Env, run.Secrets = r.values, r.used
	return run, nil
}

// resolver gathers the values of one task.
type resolver struct {
	in      *Instance
	task    int
	t       *Task
	base    time.Time // what dates are reckoned from
	project map[string]string
	values  map[string]string
	secrets map[string]string // by name, as far as there are any
	used    map[string]string // those that were put in
	// noSecret is the name of a secret that there is not.
	noSecret string
	// trace is where each value came from, weakest first; nil for a real run.
	trace map[string][]Link
}

// put sets a value over those of weaker sources.
func (r *resolver) put(name, value string, origin Origin, from string) {
	r.values[name] = value
	r.note(name, Link{Origin: origin, Value: value, From: from})
}

func (r *resolver) note(name string, l Link) {
	if r.trace != nil {
		r.trace[name] = append(r.trace[name], l)
	}
}

// at gives an error its place in the definition.
func (r *resolver) at(err *FieldError, field string) FieldError {
	e := *err
	e.Field = r.in.plan.Definition.field(r.task) + "." + field
	return e
}

// failure gives an error its place, and its kind.
func (r *resolver) failure(err *FieldError, field string) error { return r.why(r.at(err, field)) }

// why tells the lack of a secret from other errors.
func (r *resolver) why(e FieldError) error {
	if r.noSecret != "" {
		return NoSecretError{FieldError: e, Name: r.noSecret}
	}
	return e
}

// parameters fills values, the weakest source first.
func (r *resolver) parameters(facts Facts) *FieldError {
	if err := r.seen(facts); err != nil {
		return err
	}
	return r.declared(r.in.plan.Definition.field(r.task)+".params", r.t.Params, OriginTask)
}

// seen fills values with all but the task's own parameters.
func (r *resolver) seen(facts Facts) *FieldError {
	def := r.in.plan.Definition
	r.base = facts.Base()
	r.values = make(map[string]string, len(builtins)+len(def.Params)+len(r.t.Params)+len(r.t.Env)+8)
	for i := range builtins {
		r.put(builtins[i].name, builtins[i].value(r.in, r.t.Name, facts), OriginBuiltin, "")
	}
	r.project = facts.ProjectParams
	for name, value := range r.project {
		r.put(name, value, OriginProject, "")
	}
	// Workflow parameters refer to built-in names and to the project's alone, so that lookups among values
	// must not find the ones before them: they are put in together, afterwards.
	if err := r.declared("params", def.Params, OriginWorkflow); err != nil {
		return err
	}
	if r.task >= 0 {
		for from := range r.in.plan.outputs.seenBy(r.task) {
			// Of two that give one name, the later is the nearer.
			for name, value := range r.in.Tasks[from].Outputs {
				r.put(name, value, OriginOutput, def.Tasks[from].Name)
			}
		}
	}
	for name, value := range r.in.Params {
		r.put(name, value, OriginStart, "")
	}
	if r.task >= 0 && r.t.Repeat.Max > 0 {
		for name, value := range r.in.Tasks[r.task].Outputs {
			r.put(name, value, OriginOutput, r.t.Name)
		}
	}
	return nil
}

// declared puts in the defaults of parameters where the start gives no value.
func (r *resolver) declared(field string, params []Param, origin Origin) *FieldError {
	if len(params) == 0 {
		return nil
	}
	type pair struct{ name, value string }
	resolved := make([]pair, 0, len(params))
	for i := range params {
		p := &params[i]
		if _, given := r.in.Params[p.Name]; given || p.Default == nil {
			if p.Default != nil {
				r.note(p.Name, Link{Origin: origin, Value: *p.Default})
			}
			continue
		}
		value, err := datedExpand(*p.Default, r.base, r.lookup)
		if err == nil && value != *p.Default {
			if code, message := p.wrong(value); message != "" {
				err = &FieldError{Code: code, Message: message, Value: document.Shown(value)}
			}
		}
		if err != nil {
			e := *err
			e.Field = document.FieldKey(field, p.Name)
			return &e
		}
		resolved = append(resolved, pair{p.Name, value})
	}
	for _, p := range resolved {
		r.put(p.name, p.value, origin, "")
	}
	return nil
}

// lookup returns the value of a name, or of an output by task.name.
func (r *resolver) lookup(name string) (string, *FieldError) {
	if value, ok := r.values[name]; ok {
		return value, nil
	}
	if under, ok := builtinOf(name); ok {
		return r.values[under], nil
	}
	missing := func(why string) *FieldError {
		return &FieldError{Code: CodeUnknownName, Value: document.Shown(name), Message: "there is no value for ${" + document.Shown(name) + "}: " + why}
	}
	if param, ok := projectName(r.in.plan, name); ok {
		value, ok := r.project[param]
		if !ok {
			return "", missing("the project has no parameter " + document.Quoted(param))
		}
		return value, nil
	}
	task, output, ok := cutLast(name)
	if !ok {
		return "", missing("no parameter and no finished task before this one gives it")
	}
	from, ok := r.in.plan.Task(task)
	if !ok || !r.in.plan.outputs.sees(r.task, from) {
		return "", missing("this task does not come after a task " + document.Quoted(task))
	}
	value, ok := r.in.Tasks[from].Outputs[output]
	if !ok {
		return "", missing("the task " + document.Quoted(task) + " has not given the output " + document.Quoted(output))
	}
	return value, nil
}

// spec returns a copy of the task's spec with the values put in, checked once more. holds is set where
// secrets are among them.
func (r *resolver) spec(holds *bool) (Spec, *FieldError) {
	fail := func(err error) *FieldError {
		return &FieldError{Field: r.in.plan.Definition.field(r.task), Code: document.CodeInvalid, Message: "copy the spec: " + err.Error()}
	}
	text, err := encodeSpec(r.t.Spec)
	if err != nil {
		return nil, fail(err)
	}
	spec, _ := NewSpec(r.t.Type)
	if err := json.Unmarshal(text, spec); err != nil {
		return nil, fail(err)
	}
	var first *FieldError
	secret, _ := spec.(secretive)
	eachText(reflect.ValueOf(spec), "", func(field, text string) string {
		lookup := r.lookup
		if secret != nil && secret.secretField(field) {
			lookup = r.sealed(holds)
		}
		value, err := expand(text, lookup)
		if err != nil {
			if first == nil {
				e := r.at(err, field)
				first = &e
			}
			return text
		}
		return value
	})
	if s, ok := spec.(scripted); ok && r.t.Raw && first == nil {
		text, err := r.rawScript(*s.text())
		if err != nil {
			e := r.at(err, "script")
			first = &e
		}
		*s.text() = text
	}
	if first != nil {
		return nil, first
	}
	if errs := spec.Validate(); len(errs) > 0 {
		e := r.at(hush(&errs[0], *holds), errs[0].Field)
		return nil, &e
	}
	return spec, nil
}

func checkResolvedDir(dir string) *FieldError {
	if strings.HasPrefix(dir, "${") { // a value that looks like a reference is none
		return &FieldError{Code: document.CodeInvalid, Message: "want an absolute path", Value: document.Shown(dir)}
	}
	return checkWorkingDir("working_dir", dir)
}
