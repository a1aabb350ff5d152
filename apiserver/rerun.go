package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// RerunOptions says what to run again. Without params, version and keep it is a new round of
// the same instance; with one of them, a new instance.
type RerunOptions struct {
	Seen
	From    []string        `json:"from,omitempty" maxItems:"10000" doc:"Run these again, and all that need them."`
	Keep    bool            `json:"keep,omitempty" doc:"The new instance takes over the tasks that from and the changed params leave valid, in place of running them."`
	Tasks   []string        `json:"tasks,omitempty" maxItems:"10000" doc:"Run these again, and what scope adds. Absent, with from: all."`
	Scope   string          `json:"scope,omitempty" enum:"only,upstream,downstream" doc:"What tasks bring along; absent is downstream."`
	Params  map[string]Text `json:"params,omitempty" maxProperties:"1000" doc:"All of the new instance; absent are those of the old one."`
	Version int             `json:"version,omitempty" minimum:"0" maximum:"2147483647"`
}

// RerunPreview says what a rerun would do.
type RerunPreview struct {
	Token       string      `json:"token" doc:"Sent with the rerun as preview, it is refused where that would do something else by then."`
	NewInstance bool        `json:"new_instance" doc:"A new instance, in place of a new round of this one."`
	Tasks       []RerunTask `json:"tasks" nullable:"false" doc:"All tasks in scope, in the order of the definition."`
	// Parents go again with their child, where this is a new round of it.
	Parents []PreviewedParent `json:"parents,omitempty" doc:"Of a child instance: the instances above it that go again with it, the nearest first."`
}

// RerunTask is what a rerun makes of one task.
type RerunTask struct {
	Task    string        `json:"task"`
	State   dag.TaskState `json:"state" doc:"As it stands."`
	Action  string        `json:"action" enum:"run,keep" doc:"run: it goes through the rules again. keep: it stays as it ended, and nothing of it runs."`
	Why     string        `json:"why" enum:"kept,chosen,parameter,upstream,not_done,last,all,round" doc:"chosen: by from. parameter: it uses a changed one. upstream: what it needs runs again. not_done: it has no result. last: it comes last or undoes another. all: keep was not asked for. round: the new round takes it up."`
	Because string        `json:"because,omitempty" doc:"The parameter, or the task that it needs."`
}

type rerun struct {
	InstancePath
	Body *RerunOptions
}

type rerunPreviewAnswer struct{ Body RerunPreview }

// KeptFrom is where a task ran that was taken over.
type KeptFrom struct {
	InstanceID ID  `json:"instance_id"`
	Attempt    int `json:"attempt,omitempty" doc:"Absent where it ended without an attempt."`
}

// anew says that a rerun makes a new instance.
func (o *RerunOptions) anew() bool { return o.Params != nil || o.Version != 0 || o.Keep }

// options of a rerun, checked as far as they concern each other.
func (in *rerun) options() (RerunOptions, error) {
	o := RerunOptions{}
	if in.Body != nil {
		o = *in.Body
	}
	var wrong []dag.FieldError
	if o.From != nil && o.Tasks != nil {
		wrong = append(wrong, dag.FieldError{Field: "from", Code: dag.CodeConflict, Message: "from and tasks exclude each other: give one"})
	}
	if o.Keep && o.Tasks != nil {
		wrong = append(wrong, dag.FieldError{Field: "keep", Code: dag.CodeConflict, Message: "keep goes with from, not with tasks"})
	}
	if o.anew() && !o.Keep && o.From != nil {
		wrong = append(wrong, dag.FieldError{Field: "from", Code: "needs_keep", Message: "of a new instance, from means something only together with keep"})
	}
	if len(wrong) > 0 {
		return o, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if !o.anew() && o.From != nil {
		o.Tasks, o.Scope = o.From, string(dag.ScopeDownstream)
	}
	return o, nil
}

func (s *Server) rerun(ctx context.Context, in *rerun) (*controlledAnswer, error) {
	o, err := in.options()
	if err != nil {
		return nil, err
	}
	if !o.anew() {
		row, err := s.roundWish(ctx, o)
		if err != nil {
			return nil, err
		}
		return s.control(ctx, row, o.Preview)
	}
	start, seen, err := s.rerunStart(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Preview != "" && o.Preview != seen.Token {
		return nil, problem(http.StatusConflict, "the instance has moved on since the preview: what this would do is no longer what you saw",
			dag.FieldError{Field: "preview", Code: "stale", Message: "look at what it would do now, and ask again"})
	}
	started, err := s.start(ctx, start)
	if err != nil {
		return nil, err
	}
	made, err := s.store.Instance(ctx, int64(started.Body.InstanceID))
	if err != nil {
		return nil, fmt.Errorf("read the new instance: %w", err)
	}
	return &controlledAnswer{Status: http.StatusAccepted, Location: started.Location, Body: instanceFace(made)}, nil
}

func (s *Server) previewRerun(ctx context.Context, in *rerun) (*rerunPreviewAnswer, error) {
	o, err := in.options()
	if err != nil {
		return nil, err
	}
	if o.anew() {
		_, out, err := s.rerunStart(ctx, o)
		return &rerunPreviewAnswer{Body: out}, err
	}
	row, err := s.roundWish(ctx, o)
	if err != nil {
		return nil, err
	}
	instance := callOf(ctx).instance
	if onInstance(row.Verb, instance, false) == refuse {
		return nil, notRerun(instance)
	}
	if err := s.aboveAgree(ctx, instance, row.Verb); err != nil {
		return nil, err
	}
	seen, err := s.foresee(ctx, instance, row)
	if err != nil {
		return nil, err
	}
	tasks, err := s.allTasks(ctx, instance.ID)
	if err != nil {
		return nil, err
	}
	out := RerunPreview{Token: seen.Token, Parents: seen.Parents, Tasks: make([]RerunTask, len(tasks))}
	for i, t := range tasks {
		out.Tasks[i] = RerunTask{Task: t.Name, State: t.State, Action: "keep", Why: string(dag.RerunKept)}
		if slices.ContainsFunc(seen.Tasks, func(p PreviewedTask) bool { return p.Name == t.Name }) {
			out.Tasks[i].Action, out.Tasks[i].Why = "run", "round"
		}
	}
	return &rerunPreviewAnswer{Body: out}, nil
}

func notRerun(in sql.InstanceRow) *Problem {
	return wrongField(http.StatusConflict, "state", "wrong_state", string(in.State), "rerun is not possible: the instance is %s", in.State)
}

// roundWish is the wish for a new round of the call's instance.
func (s *Server) roundWish(ctx context.Context, o RerunOptions) (sql.ControlRow, error) {
	row := sql.ControlRow{Verb: dag.VerbRerun, Tasks: o.Tasks, Scope: dag.Scope(o.Scope)}
	field := "tasks"
	if o.From != nil {
		field = "from"
	}
	var wrong []dag.FieldError
	for i, name := range o.Tasks {
		_, err := s.store.Task(ctx, callOf(ctx).instance.ID, name)
		if p := s.unlessAbsent(ctx, err); p != nil {
			return row, p
		}
		if err != nil {
			wrong = append(wrong, noSuchTask(field, i, name))
		}
	}
	if row.Scope != "" && len(row.Tasks) == 0 {
		wrong = append(wrong, dag.FieldError{Field: "scope", Code: "needs_tasks", Message: "means something only together with tasks"})
	}
	if len(wrong) > 0 {
		return row, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if row.Scope == "" && len(row.Tasks) > 0 {
		row.Scope = dag.ScopeDownstream
	}
	return row, nil
}

func noSuchTask(field string, i int, name string) dag.FieldError {
	return dag.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: "unknown_task", Value: name, Message: "the instance has no such task"}
}

// rerunStart is the start of a new instance that repeats the call's, with what is to be seen of it before.
func (s *Server) rerunStart(ctx context.Context, o RerunOptions) (sql.Start, RerunPreview, error) {
	old := callOf(ctx).instance
	w, err := s.store.WorkflowByID(ctx, old.WorkflowID)
	if err != nil {
		return sql.Start{}, RerunPreview{}, fmt.Errorf("read workflow %d: %w", old.WorkflowID, err)
	}
	again := StartOptions{
		Params: o.Params, Version: o.Version, ScheduleTime: Time(old.ScheduleTime), Timezone: old.Timezone, StartTasks: o.Tasks, Scope: o.Scope,
		DryRun: old.DryRun, WorkerGroup: old.WorkerGroup, Priority: priorityName(old.Priority), OnFailure: string(old.OnFailure),
	}
	if again.Version == 0 {
		again.Version = old.Version
	}
	if again.Params == nil {
		again.Params = make(map[string]Text, len(old.Params))
		for k, v := range old.Params {
			again.Params[k] = Text(v)
		}
	}
	if o.Keep {
		again.StartTasks, again.Scope = old.StartTasks, string(old.Scope)
		if old.ScheduleTime == 0 { // dates are reckoned from the same moment, or what is kept would be about another
			again.ScheduleTime = Time(old.CreatedAt)
		}
	}
	start, names, err := s.wish(ctx, w, again.Version, again)
	if err != nil {
		return sql.Start{}, RerunPreview{}, err
	}
	start.RerunOf = old.ID
	seen := RerunPreview{NewInstance: true, Tasks: make([]RerunTask, 0, len(names))}
	if !o.Keep {
		for _, name := range names {
			seen.Tasks = append(seen.Tasks, RerunTask{Task: name, Action: "run", Why: "all"})
		}
	} else if err := s.keep(ctx, old, o.From, &start, &seen); err != nil {
		return sql.Start{}, RerunPreview{}, err
	}
	seen.Token = seen.token(old, &start)
	return start, seen, nil
}

// keep adds to a start the tasks of the old instance that it takes over, and says so in the preview.
func (s *Server) keep(ctx context.Context, old sql.InstanceRow, from []string, start *sql.Start, seen *RerunPreview) error {
	switch {
	case !old.State.Final() || old.State == dag.InstanceQuarantined:
		return notRerun(old)
	case start.Version != old.Version:
		return wrongField(http.StatusUnprocessableEntity, "keep", dag.CodeConflict, strconv.Itoa(start.Version), "nothing of version %d can be kept by version %d", old.Version, start.Version)
	}
	plan, err := s.plans.get(ctx, old.WorkflowID, old.Version)
	if err != nil {
		return fmt.Errorf("read version %d: %w", old.Version, err)
	}
	inst, err := s.rebuild(ctx, old, plan)
	if err != nil {
		return err
	}
	var chosen []int
	var wrong []dag.FieldError
	for i, name := range from {
		task, ok := plan.Task(name)
		if !ok || inst.Tasks[task].State == "" {
			wrong = append(wrong, noSuchTask("from", i, name))
		}
		chosen = append(chosen, task)
	}
	if len(wrong) > 0 {
		return problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	before, err := s.store.Kept(ctx, old.ID)
	if err != nil {
		return err
	}
	for _, p := range inst.PlanRerun(start.Params, chosen) {
		t := &inst.Tasks[p.Task]
		line := RerunTask{Task: plan.Definition.Tasks[p.Task].Name, State: t.State, Action: "run", Why: string(p.Why), Because: p.Because}
		if p.Keep() {
			line.Action = "keep"
			kept := sql.KeptTask{Kept: inst.Kept(p.Task), FromInstance: old.ID, FromAttempt: t.Attempts}
			for _, k := range before {
				if k.Task == p.Task && t.Attempts == 0 { // it was taken over there, too
					kept.FromInstance, kept.FromAttempt = k.FromInstance, k.FromAttempt
				}
			}
			start.Kept = append(start.Kept, kept)
		}
		seen.Tasks = append(seen.Tasks, line)
	}
	return nil
}

// token stands for what the preview says, and for what it was asked. It is no secret and grants nothing.
func (p *RerunPreview) token(old sql.InstanceRow, start *sql.Start) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %q %d\n", old.ID, old.Round, start.Version, start.Params, start.ScheduleTime)
	for _, t := range p.Tasks {
		fmt.Fprintf(h, "%q %s %s %q\n", t.Task, t.State, t.Action, t.Because)
	}
	return strconv.FormatInt(old.Seq, 10) + "." + hex.EncodeToString(h.Sum(nil)[:16])
}
