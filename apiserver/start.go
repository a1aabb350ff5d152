package apiserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/moment"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/sql"
)

// Text is a parameter's value. Numbers and booleans are taken as they are written.
type Text string

// UnmarshalJSON keeps a string's meaning, a number's or boolean's very digits, and a list as JSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("read a value: %w", err)
		}
		*t = Text(s)
		return nil
	}
	if len(raw) > 0 && raw[0] == '[' {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return fmt.Errorf("read a list: %w", err)
		}
		raw = b.Bytes()
	}
	*t = Text(raw)
	return nil
}

// Schema describes a value; huma asks for it.
func (Text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean}, {Type: huma.TypeArray, Items: &huma.Schema{}}}}
}

// StartOptions is how a workflow is to be run; all of it is optional.
type StartOptions struct {
	Params       map[string]Text `json:"params,omitempty" maxProperties:"1000" doc:"Values of declared parameters."`
	Version      int             `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"0 or absent is the published version."`
	ScheduleTime Time            `json:"schedule_time,omitempty" doc:"The moment that time expressions are about; absent is now."`
	Timezone     string          `json:"timezone,omitempty" maxLength:"64" doc:"Whose calendar the dates in parameters are of, as an IANA name; absent is UTC."`
	StartTasks   []string        `json:"start_tasks,omitempty" maxItems:"10000" doc:"Run only these, and what scope adds."`
	Scope        string          `json:"scope,omitempty" enum:"only,upstream,downstream" doc:"What start_tasks bring along; absent is downstream."`
	DryRun       bool            `json:"dry_run,omitempty" doc:"Go through the graph without running a task."`
	WorkerGroup  string          `json:"worker_group,omitempty" maxLength:"512" doc:"For tasks that name none."`
	Priority     string          `json:"priority,omitempty" enum:"highest,high,medium,low,lowest"`
	OnFailure    string          `json:"on_failure,omitempty" enum:"continue,end,compensate" doc:"Instead of the definition's."`
	Reply        *ReplyOptions   `json:"reply,omitempty" doc:"Who is told of what becomes of the instance."`
}

type startWorkflow struct {
	WorkflowPath
	IdempotencyKey string `header:"Idempotency-Key" doc:"The same key with the same request starts once, for 24 hours."`
	Preview        bool   `query:"preview" doc:"true checks everything and names the tasks, and starts nothing: the answer is 200 without an instance_id."`
	Body           *StartOptions
}

// Started names the instance that a start made, and what it is to run.
type Started struct {
	InstanceID StartedID `json:"instance_id" doc:"Empty in a preview."`
	Version    int       `json:"version"`
	Tasks      []string  `json:"tasks" nullable:"false" doc:"The tasks in scope, in the order of the definition."`
}

// StartedID is an id that a preview has none of.
type StartedID ID

// MarshalJSON writes the id, or an empty text for none.
func (id StartedID) MarshalJSON() ([]byte, error) {
	if id == 0 {
		return []byte(`""`), nil
	}
	return ID(id).MarshalJSON()
}

// Schema describes the id; huma asks for it.
func (StartedID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: `^([1-9][0-9]{0,18})?$`, Examples: []any{"42"}}
}

type startedAnswer struct {
	Status   int
	Location string `header:"Location" doc:"The instance; absent in a preview."`
	Body     Started
}

func (s *Server) startRoutes() {
	add(s, spec{
		id: "start-workflow", method: "POST", path: "/projects/{project}/workflows/{workflow}/start", tag: "instances", summary: "Start a workflow", status: 202,
		body: jsonBody, optional: true, starts: true, access: access{need: roleOperator, object: ofWorkflow},
	}, s.startWorkflow)
}

func (s *Server) startWorkflow(ctx context.Context, in *startWorkflow) (*startedAnswer, error) {
	c := callOf(ctx)
	if in.IdempotencyKey != "" {
		if p := checkIdempotencyKey(in.IdempotencyKey); p != nil {
			return nil, p
		}
	}
	options := StartOptions{}
	if in.Body != nil {
		options = *in.Body
	}
	version := options.Version
	if version == 0 {
		version = c.workflow.Published
	}
	if version == 0 {
		why := "no version of the workflow is published"
		if c.workflow.Latest == 0 {
			why = "the workflow has no version yet, only a draft: save one first"
		}
		return nil, wrongField(http.StatusConflict, "version", "not_published", "", "%s", why)
	}
	start, names, err := s.wish(ctx, c.workflow, version, options)
	if err != nil {
		return nil, err
	}
	if in.Preview {
		return &startedAnswer{Status: http.StatusOK, Body: Started{Version: version, Tasks: names}}, nil
	}
	if in.IdempotencyKey != "" {
		start.Idempotency = sql.Idempotency{UserID: c.who.userID, Key: in.IdempotencyKey, Hash: requestHash(c.workflow.ID, options)}
	}
	out, err := s.start(ctx, start)
	if err != nil {
		return nil, err
	}
	out.Body.Version, out.Body.Tasks = version, names
	return out, nil
}

// wish checks the options of a start against the version and makes a row of them. names
// are the tasks that it is about.
func (s *Server) wish(ctx context.Context, w sql.Workflow, version int, o StartOptions) (start sql.Start, names []string, err error) {
	plan, err := s.plans.get(ctx, w.ID, version)
	if errors.Is(err, sql.ErrNotFound) {
		return sql.Start{}, nil, wrongField(http.StatusUnprocessableEntity, "version", "not_found", strconv.Itoa(version), "there is no version %d; the newest is %d", version, w.Latest)
	}
	if err != nil {
		return sql.Start{}, nil, err
	}
	start = sql.Start{
		WorkflowID: w.ID, ProjectID: w.ProjectID, Version: version, ScheduleTime: dag.Millis(o.ScheduleTime), Timezone: o.Timezone,
		StartTasks: o.StartTasks, Scope: dag.Scope(o.Scope), DryRun: o.DryRun, WorkerGroup: o.WorkerGroup,
		OnFailure: dag.OnFailure(o.OnFailure), By: callOf(ctx).who.name, At: s.at(),
	}
	start.Params = startParams(o.Params)
	wrong := dag.CheckParams(plan.Definition, start.Params)
	chosen := make([]int, 0, len(o.StartTasks))
	for i, name := range o.StartTasks {
		if t, ok := plan.Task(name); ok {
			chosen = append(chosen, t)
		} else {
			wrong = append(wrong, dag.FieldError{
				Field: fmt.Sprintf("start_tasks[%d]", i), Code: dag.CodeUnknownTask, Value: name, Args: dag.Args{"task": name, "version": version},
				Message: "version " + strconv.Itoa(version) + " has no such task",
			})
		}
	}
	if o.WorkerGroup != "" {
		wrong = append(wrong, dag.CheckName("worker_group", o.WorkerGroup)...)
	}
	_, badZone := location(o.Timezone)
	wrong = append(append(wrong, scheduleTimeErrors(start.ScheduleTime)...), badZone...)
	var badReply []dag.FieldError
	if start.Reply, badReply, err = s.reply(ctx, w.ProjectID, o.Reply); err != nil {
		return sql.Start{}, nil, err
	}
	wrong = append(wrong, badReply...)
	if o.Scope != "" && len(o.StartTasks) == 0 {
		wrong = append(wrong, dag.FieldError{Field: "scope", Code: "needs_start_tasks", Message: "means something only together with start_tasks"})
	}
	if len(wrong) > 0 {
		return sql.Start{}, nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if start.Scope == "" && len(o.StartTasks) > 0 {
		start.Scope = dag.ScopeDownstream
	}
	if start.OnFailure == "" {
		start.OnFailure = plan.Definition.OnFailure
	}
	start.Priority, _ = parsePriority(o.Priority) // its names were checked by the schema
	return start, inScope(plan, chosen, start.Scope), nil
}

// inScope names the tasks that an instance would have.
func inScope(plan *dag.Plan, chosen []int, scope dag.Scope) []string {
	names := make([]string, 0, len(plan.Definition.Tasks))
	for i, in := range plan.Select(chosen, scope) {
		if in {
			names = append(names, plan.Definition.Tasks[i].Name)
		}
	}
	return names
}

// startParams takes the values as texts; nil for none.
func startParams(given map[string]Text) map[string]string {
	if len(given) == 0 {
		return nil
	}
	params := make(map[string]string, len(given))
	for k, v := range given {
		params[k] = string(v)
	}
	return params
}

func scheduleTimeErrors(at dag.Millis) []dag.FieldError {
	const year2200 = 7258118400000 // a later schedule time is a mistake in its unit
	if at >= 0 && at <= year2200 {
		return nil
	}
	return []dag.FieldError{{Field: "schedule_time", Code: "out_of_range", Message: "must be between 1970 and 2200"}}
}

// location is that of a timezone's name.
func location(timezone string) (*time.Location, []dag.FieldError) {
	loc, err := moment.Location(timezone)
	if err != nil {
		return nil, []dag.FieldError{{Field: "timezone", Code: document.CodeInvalid, Value: document.Shown(timezone), Message: err.Error()}}
	}
	return loc, nil
}

// start writes the wish, and only then tells anybody.
func (s *Server) start(ctx context.Context, start sql.Start) (*startedAnswer, error) {
	if err := s.surges.take(ctx, start.ProjectID); err != nil {
		return nil, err
	}
	got, existed, err := s.store.Start(ctx, start)
	if err == nil {
		err = failpoint.Hit("api.reply.before")
	}
	if err != nil {
		return nil, fmt.Errorf("start workflow %d: %w", start.WorkflowID, err)
	}
	out := &startedAnswer{Status: http.StatusAccepted, Location: s.cfg.BasePath + "/api/v1/instances/" + strconv.FormatInt(got, 10), Body: Started{InstanceID: StartedID(got)}}
	if existed {
		out.Status = http.StatusOK
		return out, nil
	}
	if s.cfg.Hints != nil {
		s.cfg.Hints.Command(got)
	}
	if s.cfg.Events != nil {
		s.cfg.Events.Publish(watch.Change{Instance: got, Workflow: start.WorkflowID, Project: start.ProjectID, State: dag.InstanceSubmitted})
	}
	return out, nil
}

// requestHash tells two starts with the same key apart. Maps are written in key order.
func requestHash(workflowID int64, o StartOptions) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n", workflowID)
	_, _ = h.Write(marshalJSON(o)) // a hash never fails to take data
	return hex.EncodeToString(h.Sum(nil))
}
