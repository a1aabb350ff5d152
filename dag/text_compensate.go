package dag

import (
	"reflect"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// compensateCommon is what undoing a task has, whatever its type.
type compensateCommon struct {
	Type         string                          `json:"type" rule:"required" doc:"What kind of task undoes it."`
	Env          document.Entries[document.Text] `json:"env" rule:"max=1000" editor:"map" advanced:"true" doc:"Environment variables. ${name} is replaced by a parameter or an output, also one of the task that is undone."`
	WorkerGroup  string                          `json:"worker_group" default:"default" editor:"worker_group" doc:"The group of workers that may run it."`
	WorkerLabels document.Entries[document.Text] `json:"worker_labels" rule:"max=32" editor:"map" advanced:"true" doc:"Labels that a worker of the group must have to run it, each with its value."`
	Priority     string                          `json:"priority" rule:"enum=highest|high|medium|low|lowest" default:"medium" advanced:"true" doc:"Which tasks of a worker group go first."`
	Retry        *retryText                      `json:"retry" editor:"retry" doc:"When a failed attempt is followed by another one."`
	Timeout      *timeoutText                    `json:"timeout" editor:"timeout" doc:"How long an attempt may run."`
	WorkingDir   string                          `json:"working_dir" rule:"max=4096" pattern:"^(/|\\$\\{)" advanced:"true" doc:"A folder on the worker, as an absolute path."`
}

// compensateText is a compensation with the keys of its type, which stand flat beside the others.
type compensateText struct {
	compensateCommon
	spec Spec
}

// compensateTypes are the types of task that can undo something: those that a worker runs.
func compensateTypes() []string {
	var names []string
	for i := range taskTypes {
		if taskTypes[i].category == CategoryRun {
			names = append(names, taskTypes[i].name)
		}
	}
	return names
}

// ReadDocument finds the type first: it says which keys there may be.
func (c *compensateText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	c.spec = readTyped(d, n, at, compensateTypes(), &c.compensateCommon)
}

// CheckDocument checks the common keys by their tags, and the spec by its own word.
func (c compensateText) CheckDocument(at *document.Path) []FieldError {
	return append(document.Check(&c.compensateCommon, at), checkSpec(c.spec, at)...)
}

// DescribeDocument describes one form per type.
func (compensateText) DescribeDocument(s *document.Schemas) document.Schema {
	forms := make([]any, 0, len(taskTypes))
	for i := range taskTypes {
		t := &taskTypes[i]
		if t.category != CategoryRun {
			continue
		}
		name := "compensate_" + t.name
		if s.Defs[name] == nil {
			s.Defs[name] = t.typed(s, reflect.TypeFor[compensateCommon]())
		}
		forms = append(forms, document.Schema{"$ref": "#/$defs/" + name})
	}
	return document.Schema{"oneOf": forms, "type": "object", "required": []string{"type"}}
}

// readTyped reads a map whose type key, one of types, says which other keys it may have.
func readTyped(d *document.Decoder, n *document.Node, at *document.Path, types []string, common any) Spec {
	if n.Kind != document.Map {
		d.Want(n, at, "a map")
		return nil
	}
	name := n.Get("type")
	if name == nil || name.Kind != document.String {
		d.Struct(n, at, document.Keys{Open: true}, common)
		return nil
	}
	if !slices.Contains(types, name.Text) {
		message := "there is no task type " + document.Quoted(name.Text) + ": known are " + strings.Join(types, ", ")
		if slices.Contains(TaskTypes(), name.Text) {
			message = article(name.Text) + " " + name.Text + " task can't stand here: want " + strings.Join(types, ", ")
		} else if near := document.Nearest(name.Text, types); near != "" {
			message += "; did you mean " + document.Quoted(near) + "?"
		}
		d.Fail(name, at.Key("type"), CodeUnknownType, message)
		d.Struct(n, at, document.Keys{Open: true}, common)
		return nil
	}
	spec, _ := NewSpec(name.Text)
	d.Struct(n, at, document.Keys{Whose: article(name.Text) + " " + name.Text + " task"}, common, spec)
	return spec
}

// checkSpec has a spec check itself, with its fields below at.
func checkSpec(spec Spec, at *document.Path) []FieldError {
	if spec == nil {
		return nil
	}
	errs := spec.Validate()
	for i := range errs {
		errs[i].Field = at.String() + "." + errs[i].Field
	}
	return errs
}

// task is the task that undoes task i, and comes after it in the list of all.
func (c *compensateText) task(field string, of *Task, i int) (Task, []FieldError) {
	priority, _ := ParsePriority(c.Priority)
	out := Task{
		Name: of.Name + compensateSuffix, Type: c.Type, Needs: []string{of.Name}, Params: of.Params,
		WorkerGroup: c.WorkerGroup, Priority: priority, Retry: c.Retry.retry(), Timeout: c.Timeout.timeout(),
		WorkingDir: c.WorkingDir, Spec: c.spec, Compensates: i + 1, Environment: of.Environment,
	}
	errs := checkAsItStands(field, c.spec)
	if c.WorkerGroup != DefaultWorkerGroup {
		errs = append(errs, CheckName(field+".worker_group", c.WorkerGroup)...)
	}
	if c.WorkingDir != "" {
		if err := checkWorkingDir(field+".working_dir", c.WorkingDir); err != nil {
			errs = append(errs, *err)
		}
	}
	var more []FieldError
	out.WorkerLabels, more = labels(field+".worker_labels", c.WorkerLabels)
	errs = append(errs, more...)
	out.Env, more = variables(field+".env", c.Env)
	return out, append(errs, more...)
}
