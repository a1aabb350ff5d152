package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Instance is a workflow instance as it stands.
type Instance struct {
	ID           ID                `json:"id"`
	Project      string            `json:"project"`
	Workflow     string            `json:"workflow"`
	Version      int               `json:"version"`
	State        dag.InstanceState `json:"state"`
	Reason       dag.Reason        `json:"reason,omitempty"`
	Round        int               `json:"round"`
	Seq          int64             `json:"seq" doc:"The number of its latest event."`
	Owner        string            `json:"owner,omitempty" doc:"The master that drives it."`
	Epoch        int64             `json:"epoch" doc:"How often a master has taken it; what an older epoch writes is refused."`
	ScheduleTime Time              `json:"schedule_time,omitempty"`
	Timezone     string            `json:"timezone,omitempty" doc:"Whose calendar the dates in parameters are of; absent is UTC."`
	Params       map[string]string `json:"params" nullable:"false"`
	StartTasks   []string          `json:"start_tasks,omitempty"`
	Scope        dag.Scope         `json:"scope,omitempty"`
	DryRun       bool              `json:"dry_run"`
	WorkerGroup  string            `json:"worker_group,omitempty"`
	Priority     string            `json:"priority"`
	OnFailure    dag.OnFailure     `json:"on_failure"`
	RerunOf      ID                `json:"rerun_of,omitempty"`
	ParentID     ID                `json:"parent_instance_id,omitempty" doc:"The instance that this one is a child of; absent for none."`
	ParentTask   string            `json:"parent_task,omitempty" doc:"The sub_workflow task of the parent that made it."`
	Trigger      sql.Trigger       `json:"trigger" enum:"manual,schedule,end,webhook,backfill,child,rerun" doc:"What started it. end: the end of another workflow's instance."`
	BackfillID   ID                `json:"backfill_id,omitempty" doc:"The backfill that started it; absent for none."`
	CreatedBy    string            `json:"created_by"`
	CreatedAt    Time              `json:"created_at"`
	StartedAt    Time              `json:"started_at,omitempty"`
	FinishedAt   Time              `json:"finished_at,omitempty"`
	Deadline     Time              `json:"deadline,omitempty"`
	Acknowledged *Acknowledged     `json:"acknowledged,omitempty" doc:"Who has seen its failure and looks after it, in this round; absent for nobody, and in answers to verbs."`
	Outline      *Outline          `json:"outline,omitempty" doc:"In lists that ask for it."`
}

// Task is a task instance as it stands.
type Task struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	State      dag.TaskState     `json:"state"`
	Reason     dag.Reason        `json:"reason,omitempty"`
	Round      int               `json:"round"`
	Attempts   int               `json:"attempts" doc:"The number of its latest attempt; 0 before the first."`
	Retries    int               `json:"retries"`
	Lost       int               `json:"lost" doc:"Workers lost in this round."`
	Iteration  int               `json:"iteration,omitempty" doc:"Of a task with repeat_until: the iteration that it is in, from 1."`
	Items      int               `json:"items,omitempty" doc:"Of a dynamic task: how many children its list makes."`
	ItemStates map[string]int    `json:"item_states,omitempty" doc:"Of a dynamic task: how many of its items are waiting (their child is yet to be made, or to run again), running, success, failed or killed; of the view alone."`
	ReadyAt    Time              `json:"ready_at,omitempty"`
	NextAt     Time              `json:"next_at,omitempty"`
	StartedAt  Time              `json:"started_at,omitempty"`
	FinishedAt Time              `json:"finished_at,omitempty"`
	Outputs    map[string]string `json:"outputs,omitempty"`
	ChildID    ID                `json:"child_instance_id,omitempty" doc:"The child instance of the latest attempt of a sub_workflow task."`
	KeptFrom   *KeptFrom         `json:"kept_from,omitempty" doc:"Where it ran, of a task that was taken over from the instance that this one runs again; of the view alone."`
}

// Attempt is one try to run a task.
type Attempt struct {
	Number       int               `json:"number"`
	Round        int               `json:"round"`
	Iteration    int               `json:"iteration,omitempty" doc:"Of a task with repeat_until: the iteration that the attempt belongs to, from 1."`
	Worker       string            `json:"worker,omitempty"`
	State        dag.AttemptState  `json:"state"`
	Reason       dag.Reason        `json:"reason,omitempty"`
	Message      string            `json:"message,omitempty"`
	DispatchedAt Time              `json:"dispatched_at,omitempty"`
	StartedAt    Time              `json:"started_at,omitempty"`
	FinishedAt   Time              `json:"finished_at,omitempty"`
	ExitCode     int               `json:"exit_code"`
	LogBytes     int64             `json:"log_bytes"`
	Tail         string            `json:"tail,omitempty" doc:"The last 2 KiB of output."`
	Outputs      map[string]string `json:"outputs,omitempty"`
	ChildID      ID                `json:"child_instance_id,omitempty" doc:"The child instance that the attempt of a sub_workflow task waits, or waited, for."`
	CachedFrom   ID                `json:"cached_from_instance_id,omitempty" doc:"The instance whose outputs the attempt took over instead of running, of a task with a cache; it may have been deleted since."`
	Artifacts    []Artifact        `json:"artifacts,omitempty" doc:"The files that it has left."`
}

// Event is one line of an instance's history.
type Event struct {
	Seq     int64         `json:"seq"`
	At      Time          `json:"at"`
	Code    dag.EventCode `json:"code"`
	Task    string        `json:"task,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Round   int           `json:"round"`
	State   string        `json:"state,omitempty"`
	Reason  dag.Reason    `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
	By      string        `json:"by,omitempty"`
	Warning bool          `json:"warning,omitempty"`
}

// InstancePath names an instance in a path.
type InstancePath struct {
	ID string `path:"id" maxLength:"512" doc:"The instance's id."`
}

// TaskPath names a task of an instance in a path.
type TaskPath struct {
	InstancePath
	Task string `path:"task" maxLength:"512" doc:"The task's name."`
}

// AttemptPath names one attempt of a task.
type AttemptPath struct {
	TaskPath
	Number string `path:"number" maxLength:"32" doc:"The attempt's number."`
}

type instanceAnswer struct {
	Status int
	Body   Instance
}

type (
	instanceList struct{ Body List[Instance] }
	taskList     struct{ Body List[Task] }
	attemptList  struct{ Body List[Attempt] }
	eventList    struct{ Body List[Event] }
)

type listInstances struct {
	Paged
	Project  string `query:"project" maxLength:"512"`
	Workflow string `query:"workflow" maxLength:"512" doc:"Of the project; needs project."`
	State    string `query:"state" maxLength:"200" doc:"States, comma-separated."`
	From     string `query:"from" maxLength:"64" doc:"Created at or after, RFC 3339."`
	To       string `query:"to" maxLength:"64" doc:"Created before, RFC 3339."`
	IDs      string `query:"ids" maxLength:"4000" doc:"Only these, comma-separated, at most 200; no other filter than the caller's rights counts then."`
	// These look into the rows: a page may then hold fewer than limit, with a next_cursor.
	Version      int    `query:"version" minimum:"0" maximum:"2147483647" doc:"Of the definition. This and the next look into the rows: a page may hold fewer than limit, even none, and still have a next_cursor."`
	By           string `query:"by" maxLength:"512" doc:"Created by this user."`
	Param        string `query:"param" maxLength:"512" doc:"name=value of one of its parameters contains this."`
	Longer       string `query:"longer" maxLength:"32" doc:"Took longer than this, or runs for longer: 90s 10m 2h."`
	Trigger      string `query:"trigger" enum:"manual,schedule,end,webhook,backfill,child,rerun" doc:"What started it."`
	Late         bool   `query:"late" doc:"Only those that run for longer than any of the last 20 successes of their workflow, of three or more."`
	Worker       string `query:"worker" maxLength:"512" doc:"A worker by name: only those of which it had an attempt."`
	Outline      bool   `query:"outline" doc:"Whether each is to have its outline, too."`
	Acknowledged string `query:"acknowledged" enum:"yes,no" doc:"Only those whose failure somebody has acknowledged, or only those without."`
}

// InstanceCounts says how many instances are in each state.
type InstanceCounts struct {
	States map[dag.InstanceState]int `json:"states" nullable:"false" doc:"States that no instance is in are left out."`
	AtMost int                       `json:"at_most" doc:"A count that high means at least that many."`
}

type countsAnswer struct{ Body InstanceCounts }

type countInstances struct {
	Project  string `query:"project" maxLength:"512"`
	Workflow string `query:"workflow" maxLength:"512" doc:"Of the project; needs project."`
	From     string `query:"from" maxLength:"64" doc:"Created at or after, RFC 3339."`
	To       string `query:"to" maxLength:"64" doc:"Created before, RFC 3339."`
}

type listTasks struct {
	InstancePath
	Paged
}

type listEvents struct {
	InstancePath
	Cursor string `query:"cursor" maxLength:"64" doc:"The seq after which to read."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

func (s *Server) instanceRoutes() {
	view := access{need: roleViewer, object: ofInstance}
	add(s, spec{id: "list-instances", method: "GET", many: true, path: "/instances", tag: "instances", summary: "List instances, newest first", access: access{object: perItem}}, s.listInstances)
	// Before the path with an id, which would take "counts" for one.
	add(s, spec{id: "count-instances", method: "GET", many: true, path: "/instances/counts", tag: "instances", summary: "Count instances by state", access: access{object: perItem}}, s.countInstances)
	add(s, spec{id: "get-instance", method: "GET", path: "/instances/{id}", tag: "instances", summary: "Read an instance", access: view}, s.getInstance)
	add(s, spec{id: "list-tasks", method: "GET", path: "/instances/{id}/tasks", tag: "instances", summary: "List its tasks, in the order of the definition", access: view}, s.listTasks)
	add(s, spec{id: "list-attempts", method: "GET", path: "/instances/{id}/tasks/{task}/attempts", tag: "instances", summary: "List a task's attempts", access: view}, s.listAttempts)
	add(s, spec{id: "list-events", method: "GET", path: "/instances/{id}/events", tag: "instances", summary: "Read its history", access: view}, s.listEvents)
	add(s, spec{id: "list-children", method: "GET", path: "/instances/{id}/children", tag: "instances", summary: "List the instances that its sub_workflow tasks made, newest first", access: view}, s.listChildren)
}

func instanceFace(r sql.InstanceRow) Instance {
	in := Instance{
		ID: ID(r.ID), Project: r.Project, Workflow: r.Workflow, Version: r.Version, State: r.State, Reason: r.Reason, Round: r.Round, Seq: r.Seq,
		ScheduleTime: Time(r.ScheduleTime), Timezone: r.Timezone, Params: r.Params, StartTasks: r.StartTasks, Scope: r.Scope, DryRun: r.DryRun, WorkerGroup: r.WorkerGroup,
		Priority: priorityName(r.Priority), OnFailure: r.OnFailure, RerunOf: ID(r.RerunOf), ParentID: ID(r.Parent.Instance), ParentTask: r.Parent.Task, CreatedBy: r.CreatedBy,
		CreatedAt: Time(r.CreatedAt), StartedAt: Time(r.StartedAt), FinishedAt: Time(r.FinishedAt), Deadline: Time(r.Deadline),
	}
	in.Epoch, in.Trigger = r.OwnerEpoch, r.Trigger()
	in.Owner, _, _ = strings.Cut(r.Owner, ":")
	if id, ok := sql.BackfillOf(r.TriggerKey); ok {
		in.BackfillID = ID(id)
	}
	if in.Params == nil {
		in.Params = map[string]string{}
	}
	return in
}

func taskFace(r sql.TaskRow) Task {
	return Task{
		Name: r.Name, Type: r.Type, State: r.State, Reason: r.Reason, Round: r.Round, Attempts: r.Attempts, Retries: r.Retries, Lost: r.Lost, Iteration: r.Iteration, Items: r.ItemCount,
		ReadyAt: Time(r.ReadyAt), NextAt: Time(r.NextAt), StartedAt: Time(r.StartedAt), FinishedAt: Time(r.FinishedAt), Outputs: r.Outputs,
		ChildID: ID(r.Child),
	}
}

func attemptFace(r sql.AttemptRow) Attempt {
	return Attempt{
		Number: r.Number, Round: r.Round, Iteration: r.Iteration, Worker: r.Worker, State: r.State, Reason: r.Reason, Message: r.Message,
		DispatchedAt: Time(r.DispatchedAt), StartedAt: Time(r.StartedAt), FinishedAt: Time(r.FinishedAt), ExitCode: r.ExitCode,
		LogBytes: r.LogBytes, Tail: strings.ToValidUTF8(string(r.Tail), "�"), Outputs: r.Outputs, ChildID: ID(r.Child),
		CachedFrom: ID(r.CachedFrom),
	}
}

func eventFace(r sql.EventRow) Event {
	return Event{
		Seq: r.Seq, At: Time(r.At), Code: r.Code, Task: r.TaskName, Attempt: r.Attempt, Round: r.Round, State: r.State,
		Reason: r.Reason, Message: r.Message, By: r.By, Warning: r.Warning,
	}
}

func (s *Server) listInstances(ctx context.Context, in *listInstances) (*instanceList, error) {
	f, none, err := s.instanceFilter(ctx, in)
	if err != nil {
		return nil, err
	}
	if none {
		return &instanceList{Body: List[Instance]{Items: []Instance{}}}, nil
	}
	rows, next, err := s.store.Instances(ctx, f, in.page())
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	faces, err := s.acknowledgedFaces(ctx, rows)
	if err != nil {
		return nil, err
	}
	if in.Outline {
		if err := s.addOutlines(ctx, rows, faces); err != nil {
			return nil, err
		}
	}
	return &instanceList{Body: List[Instance]{Items: faces, NextCursor: next}}, nil
}

func (s *Server) countInstances(ctx context.Context, in *countInstances) (*countsAnswer, error) {
	out := &countsAnswer{Body: InstanceCounts{States: map[dag.InstanceState]int{}, AtMost: sql.MaxCount}}
	f, none, err := s.instanceFilter(ctx, &listInstances{Project: in.Project, Workflow: in.Workflow, From: in.From, To: in.To})
	if err != nil || none {
		return out, err
	}
	counts, err := s.store.InstanceCounts(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("count instances: %w", err)
	}
	if counts != nil {
		out.Body.States = counts
	}
	return out, nil
}

// instanceFilter reads the query; none says that the caller may see nothing of it.
func (s *Server) instanceFilter(ctx context.Context, in *listInstances) (f sql.InstanceFilter, none bool, err error) {
	var wrong []dag.FieldError
	f.States, wrong = parseStates(in.State)
	for _, t := range []struct {
		field, text string
		to          *dag.Millis
	}{{"from", in.From, &f.From}, {"to", in.To, &f.To}} {
		if t.text == "" {
			continue
		}
		m, err := parseTime(t.text)
		if err != nil {
			wrong = append(wrong, dag.FieldError{Field: t.field, Code: "invalid_time", Value: t.text, Message: err.Error()})
		}
		*t.to = m
	}
	if in.IDs != "" {
		for text := range strings.SplitSeq(in.IDs, ",") {
			id, ok := parseID(text)
			if !ok || len(f.IDs) >= maxPage {
				return f, false, badID("ids", text)
			}
			f.IDs = append(f.IDs, id)
		}
	}
	f.Version, f.By, f.Param, f.Trigger, f.Late, f.Worker = in.Version, in.By, in.Param, sql.Trigger(in.Trigger), in.Late, in.Worker
	if in.Acknowledged != "" {
		yes := in.Acknowledged == "yes"
		f.Acknowledged = &yes
	}
	if in.Longer != "" {
		if f.LongerThan, err = time.ParseDuration(in.Longer); err != nil || f.LongerThan <= 0 {
			wrong = append(wrong, dag.FieldError{Field: "longer", Code: "invalid_duration", Value: in.Longer, Message: "is not a duration like 90s, 10m or 2h"})
		}
	}
	if in.Workflow != "" && in.Project == "" {
		wrong = append(wrong, dag.FieldError{Field: "workflow", Code: "needs_project", Message: "a workflow's name is unique in its project only: give project too"})
	}
	if len(wrong) > 0 {
		return f, false, problem(http.StatusBadRequest, wrong[0].Message, wrong...)
	}
	who := callOf(ctx).who
	if in.Project == "" {
		ids, all := who.projects()
		f.ProjectIDs = ids
		return f, !all && len(ids) == 0, nil
	}
	p, err := s.store.Project(ctx, in.Project)
	if err == nil && who.role(p.ID) < roleViewer {
		err = sql.ErrNotFound
	}
	if err == nil && in.Workflow != "" {
		var w sql.Workflow
		w, err = s.store.Workflow(ctx, p.ID, in.Workflow)
		f.WorkflowID = w.ID
	}
	if errors.Is(err, sql.ErrNotFound) {
		return f, false, notFound()
	}
	f.ProjectIDs = []int64{p.ID}
	return f, false, err
}

var instanceStates = map[dag.InstanceState]bool{
	dag.InstanceSubmitted: true, dag.InstanceSerialWait: true, dag.InstanceRunning: true, dag.InstancePausing: true, dag.InstancePaused: true,
	dag.InstanceStopping: true, dag.InstanceStopped: true, dag.InstanceFailed: true, dag.InstanceSuccess: true, dag.InstanceQuarantined: true,
}

func parseStates(text string) (states []dag.InstanceState, wrong []dag.FieldError) {
	if text == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		state := dag.InstanceState(name)
		if !instanceStates[state] {
			wrong = append(wrong, dag.FieldError{Field: "state", Code: "unknown_state", Value: name, Message: "is not a state of an instance"})
			continue
		}
		states = append(states, state)
	}
	return states, wrong
}

func (s *Server) getInstance(ctx context.Context, _ *InstancePath) (*instanceAnswer, error) {
	faces, err := s.acknowledgedFaces(ctx, []sql.InstanceRow{callOf(ctx).instance})
	if err != nil {
		return nil, err
	}
	return &instanceAnswer{Status: http.StatusOK, Body: faces[0]}, nil
}

func (s *Server) listTasks(ctx context.Context, in *listTasks) (*taskList, error) {
	rows, next, err := s.store.Tasks(ctx, callOf(ctx).instance.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return &taskList{Body: list(rows, next, taskFace)}, nil
}

func (s *Server) listAttempts(ctx context.Context, in *TaskPath) (*attemptList, error) {
	id := callOf(ctx).instance.ID
	t, err := s.store.Task(ctx, id, in.Task)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	rows, err := s.store.Attempts(ctx, id, t.Index)
	if err != nil {
		return nil, fmt.Errorf("list attempts: %w", err)
	}
	files, err := s.store.Artifacts(ctx, id, t.Index)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	return &attemptList{Body: list(rows, "", func(r sql.AttemptRow) Attempt {
		a := attemptFace(r)
		for _, f := range files {
			if f.Attempt == r.Number {
				a.Artifacts = append(a.Artifacts, artifactFace(f))
			}
		}
		return a
	})}, nil
}

func (s *Server) listEvents(ctx context.Context, in *listEvents) (*eventList, error) {
	var after int64
	if in.Cursor != "" && in.Cursor != "0" {
		var ok bool
		if after, ok = parseID(in.Cursor); !ok {
			return nil, sql.ErrBadCursor
		}
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultPage
	}
	rows, err := s.store.Events(ctx, callOf(ctx).instance.ID, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	next := ""
	if len(rows) == limit {
		next = fmt.Sprint(rows[len(rows)-1].Seq)
	}
	return &eventList{Body: list(rows, next, eventFace)}, nil
}
