package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// maxShownValue is how many bytes of a parameter's value a preview shows.
const maxShownValue = 16 << 10

// PreviewOptions is what parameters are to be worked out for.
type PreviewOptions struct {
	Text         string          `json:"text,omitempty" doc:"A definition that need not be saved; version is then left out."`
	Format       string          `json:"format,omitempty" enum:"yaml,json" doc:"Of text; absent is yaml."`
	Version      int             `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"0 or absent is the published version."`
	Params       map[string]Text `json:"params,omitempty" maxProperties:"1000" doc:"As a start would give them."`
	ScheduleTime Time            `json:"schedule_time,omitempty" doc:"The moment that built-in dates are about; absent is now."`
	Timezone     string          `json:"timezone,omitempty" maxLength:"64" doc:"Whose calendar dates are of, as an IANA name; absent is UTC."`
	InstanceID   ID              `json:"instance_id,omitempty" doc:"An instance of the workflow whose outputs stand for those of the tasks above; without one they are unresolved."`
	Task         string          `json:"task,omitempty" maxLength:"512" doc:"The task to work out; absent is the workflow itself."`
}

// ParameterPreview is what the parameters would be, and where they come from.
type ParameterPreview struct {
	Params     []PreviewedParam `json:"params" nullable:"false" doc:"By name."`
	Task       *PreviewedSpec   `json:"task,omitempty"`
	Unresolved []UnresolvedName `json:"unresolved" nullable:"false" doc:"What has no value yet: parameters that a start must give, outputs of tasks above, and variables that nothing sets."`
}

// PreviewedParam is one parameter with all its sources.
type PreviewedParam struct {
	Name   string      `json:"name"`
	Value  string      `json:"value" doc:"At most 16 KiB; one that was cut ends with …"`
	Type   string      `json:"type" enum:"string,integer,number,boolean,date,list"`
	Origin string      `json:"origin" enum:"start,task,output,workflow,project,built_in" doc:"Of the value, which is that of the first in chain."`
	Chain  []ChainLink `json:"chain" nullable:"false" doc:"Every source that has the name, the strongest first."`
}

// ChainLink is one source of a parameter.
type ChainLink struct {
	Origin string `json:"origin" enum:"start,task,output,workflow,project,built_in"`
	Value  string `json:"value" doc:"A default that a start's value hides is shown as it is written."`
	From   string `json:"from,omitempty" doc:"The task of an output."`
}

// PreviewedSpec is a task as a worker would get it.
type PreviewedSpec struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Env        map[string]string `json:"env" nullable:"false" doc:"The variables of its process, but those that every attempt has of its own."`
	Fields     map[string]any    `json:"fields" nullable:"false" doc:"The keys of its type with values put in. A script stands as it is: it reads its variables itself."`
	WorkingDir string            `json:"working_dir,omitempty"`
}

// UnresolvedName is a name without a value, at its field.
type UnresolvedName struct {
	Name  string `json:"name"`
	Field string `json:"field" doc:"Relative to the task, or params.<name> of the workflow."`
}

type previewParameters struct {
	WorkflowPath
	Body PreviewOptions
}

type parametersAnswer struct{ Body ParameterPreview }

func (s *Server) parameterRoutes() {
	add(s, spec{
		id: "preview-parameters", method: "POST", path: "/projects/{project}/workflows/{workflow}/parameters", tag: "workflows",
		summary: "Work out parameters, and say where each comes from, without a start", body: textBody, unaudited: true, access: access{need: roleViewer, object: ofWorkflow},
	}, s.previewParameters)
}

func (s *Server) previewParameters(ctx context.Context, in *previewParameters) (*parametersAnswer, error) {
	w, o := callOf(ctx).workflow, in.Body
	plan, version, err := s.previewPlan(ctx, w, o)
	if err != nil {
		return nil, err
	}
	given := startParams(o.Params)
	where, wrong := location(o.Timezone)
	wrong = append(wrong, scheduleTimeErrors(dag.Millis(o.ScheduleTime))...)
	for _, e := range dag.CheckParams(plan.Definition, given) {
		if e.Code != document.CodeRequired { // a missing one is told as unresolved
			wrong = append(wrong, e)
		}
	}
	task := -1
	if o.Task != "" {
		var ok bool
		if task, ok = plan.Task(o.Task); !ok {
			wrong = append(wrong, dag.FieldError{Field: "task", Code: dag.CodeUnknownTask, Value: o.Task, Message: "the definition has no such task"})
		}
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	inst := dag.NewInstance(plan, int64(o.InstanceID), dag.StartOptions{Params: given})
	if o.InstanceID != 0 {
		if err := s.borrowOutputs(ctx, inst, plan, w, int64(o.InstanceID)); err != nil {
			return nil, err
		}
	}
	project, err := s.projectValues(ctx, w.ProjectID)
	if err != nil {
		return nil, err
	}
	secrets, err := s.secretNames(ctx, w.ProjectID)
	if err != nil {
		return nil, err
	}
	trace, err := dag.TraceTask(inst, task, dag.Facts{
		Project: w.Project, Workflow: w.Name, ProjectID: w.ProjectID, WorkflowID: w.ID, Version: version, ScheduleTime: dag.Millis(o.ScheduleTime), Now: s.at(), Location: where, ProjectParams: project, Secrets: secrets,
	})
	if err != nil {
		return nil, err // a value that does not fit where it is put: a FieldError
	}
	return &parametersAnswer{Body: traceFace(trace, plan, task)}, nil
}

// previewPlan reads the definition that the options name.
func (s *Server) previewPlan(ctx context.Context, w sql.Workflow, o PreviewOptions) (*dag.Plan, int, error) {
	if o.Text != "" {
		if o.Version != 0 {
			return nil, 0, wrongField(http.StatusUnprocessableEntity, "version", dag.CodeConflict, strconv.Itoa(o.Version), "text and version exclude each other")
		}
		format := o.Format
		if format == "" {
			format = document.YAML
		}
		plan, wrong := dag.ParsePlan([]byte(o.Text), format)
		if len(wrong) > 0 {
			return nil, 0, badDefinition(wrong)
		}
		return plan, w.Latest, nil
	}
	version := o.Version
	if version == 0 {
		version = w.Published
	}
	if version == 0 {
		return nil, 0, wrongField(http.StatusConflict, "version", "not_published", "", "no version of the workflow is published: give a version or a text")
	}
	plan, err := s.plans.get(ctx, w.ID, version)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, 0, wrongField(http.StatusUnprocessableEntity, "version", "not_found", strconv.Itoa(version), "there is no version %d; the newest is %d", version, w.Latest)
	}
	return plan, version, err
}

// borrowOutputs takes the outputs of another instance of the workflow, by the names of tasks:
// it may be of another version.
func (s *Server) borrowOutputs(ctx context.Context, inst *dag.Instance, plan *dag.Plan, w sql.Workflow, id int64) error {
	row, err := s.store.Instance(ctx, id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && row.WorkflowID != w.ID {
		return wrongField(http.StatusUnprocessableEntity, "instance_id", "not_found", strconv.FormatInt(id, 10), "the workflow has no such instance")
	}
	if err != nil {
		return fmt.Errorf("read instance %d: %w", id, err)
	}
	for page := (sql.Page{Limit: maxPage}); ; {
		rows, next, err := s.store.Tasks(ctx, id, page)
		if err != nil {
			return fmt.Errorf("read tasks: %w", err)
		}
		for _, t := range rows {
			if i, ok := plan.Task(t.Name); ok && len(t.Outputs) > 0 {
				inst.SetOutputs(i, t.Outputs)
			}
		}
		if page.Cursor = next; next == "" {
			return nil
		}
	}
}

func traceFace(trace dag.Trace, plan *dag.Plan, task int) ParameterPreview {
	out := ParameterPreview{Params: make([]PreviewedParam, len(trace.Values)), Unresolved: []UnresolvedName{}}
	for i, v := range trace.Values {
		p := PreviewedParam{Name: v.Name, Value: cutValue(v.Chain[0].Value), Type: string(v.Type), Origin: string(v.Chain[0].Origin)}
		for _, l := range v.Chain {
			p.Chain = append(p.Chain, ChainLink{Origin: string(l.Origin), Value: cutValue(l.Value), From: l.From})
		}
		out.Params[i] = p
	}
	for _, u := range trace.Unresolved {
		field := u.Field
		if task >= 0 {
			field = strings.TrimPrefix(field, "tasks["+strconv.Itoa(task)+"].")
		}
		out.Unresolved = append(out.Unresolved, UnresolvedName{Name: u.Name, Field: field})
	}
	if task >= 0 {
		t := &plan.Definition.Tasks[task]
		out.Task = &PreviewedSpec{Name: t.Name, Type: t.Type, Env: trace.Env, Fields: trace.Spec, WorkingDir: trace.WorkingDir}
		for name, value := range trace.Env {
			out.Task.Env[name] = cutValue(value)
		}
	}
	return out
}

func cutValue(value string) string {
	if len(value) <= maxShownValue {
		return value
	}
	n := maxShownValue
	for n > 0 && !utf8.RuneStart(value[n]) {
		n--
	}
	return value[:n] + "…"
}
