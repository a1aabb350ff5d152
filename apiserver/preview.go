package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Preview says what a verb would do now. It is the master's own step on a copy, so it
// can't differ from what the verb does to an instance that has not moved on.
type Preview struct {
	Seq    int64           `json:"seq" doc:"The instance's latest event when this was worked out."`
	Token  string          `json:"token" doc:"Sent with the verb, it is refused where it would do something else by then."`
	Result string          `json:"result" doc:"applied, already, or why it is not possible; parent_running: an instance above has not ended."`
	Tasks  []PreviewedTask `json:"tasks" nullable:"false" doc:"The tasks that would change, in the order of the definition."`
	Kept   int             `json:"kept" doc:"Tasks that are done and stay as they are."`
	// Parents go again with their child, where the verb opens a new round of it.
	Parents []PreviewedParent `json:"parents,omitempty" doc:"Of a child instance: the instances above it that go again with it, the nearest first."`
}

// PreviewedTask is a task that a verb would change.
type PreviewedTask struct {
	Name string        `json:"name"`
	From dag.TaskState `json:"from"`
	To   dag.TaskState `json:"to"`
}

type preview struct {
	InstancePath
	Verb  string `query:"verb" required:"true" enum:"pause,resume,stop,kill,skip,force_success,recover,rerun"`
	Task  string `query:"task" maxLength:"512" doc:"Of kill, skip, force_success and rerun."`
	Scope string `query:"scope" enum:"only,upstream,downstream" doc:"What the task of a rerun brings along; absent is downstream."`
	Force bool   `query:"force" doc:"Of stop."`
}

type previewAnswer struct{ Body Preview }

func (s *Server) previewRoutes() {
	add(s, spec{
		id: "preview", method: "GET", path: "/instances/{id}/preview", tag: "control", summary: "Say which tasks a verb would change, without doing it",
		access: access{need: roleViewer, object: ofInstance},
	}, s.preview)
}

func (s *Server) preview(ctx context.Context, in *preview) (*previewAnswer, error) {
	row := sql.ControlRow{Verb: dag.Verb(in.Verb), Scope: dag.Scope(in.Scope), Force: in.Force}
	switch row.Verb {
	case dag.VerbKill, dag.VerbSkip, dag.VerbForceSuccess:
		if in.Task == "" {
			return nil, wrongField(http.StatusBadRequest, "task", "required", "", "%s is about one task: name it", in.Verb)
		}
	case dag.VerbPause, dag.VerbResume, dag.VerbStop, dag.VerbRecover, dag.VerbRerun, dag.VerbReplace, dag.VerbApprove, dag.VerbReject:
	}
	if in.Task != "" {
		row.Tasks = []string{in.Task}
		if row.Verb == dag.VerbRerun && row.Scope == "" {
			row.Scope = dag.ScopeDownstream
		}
	}
	out, err := s.foresee(ctx, callOf(ctx).instance, row)
	if err != nil {
		return nil, err
	}
	return &previewAnswer{Body: out}, nil
}

// foresee takes the step that a wish asks for, on a copy of the instance.
func (s *Server) foresee(ctx context.Context, row sql.InstanceRow, asked sql.ControlRow) (Preview, error) {
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return Preview{}, fmt.Errorf("preview: %w", err)
	}
	inst, err := s.rebuild(ctx, row, plan)
	if err != nil {
		return Preview{}, err
	}
	wish := dag.Control{ID: 1, Verb: asked.Verb, Scope: asked.Scope, Force: asked.Force, By: callOf(ctx).who.name}
	for _, name := range asked.Tasks {
		i, ok := plan.Task(name)
		if !ok || i >= len(inst.Tasks) {
			return Preview{}, notFound()
		}
		wish.Tasks = append(wish.Tasks, i)
	}
	before := states(inst)
	out := Preview{Seq: row.Seq}
	effects := inst.Step(wish, s.at())
	if len(effects.Applied) > 0 {
		out.Result = strings.ToLower(effects.Applied[0].Result)
	}
	out.Tasks, out.Kept = changed(plan, inst, before, &effects)
	if effects.NewRound {
		out.Parents, err = s.above(ctx, row)
		if _, ok := errors.AsType[*parentRunning](err); ok {
			out.Result, out.Tasks, out.Kept = resultParentRunning, []PreviewedTask{}, 0
		} else if err != nil {
			return Preview{}, err
		}
	}
	out.Token = out.token(asked, row.ID)
	return out, nil
}

// states are the states of an instance's tasks.
func states(inst *dag.Instance) []dag.TaskState {
	out := make([]dag.TaskState, len(inst.Tasks))
	for i := range inst.Tasks {
		out[i] = inst.Tasks[i].State
	}
	return out
}

// changed lists the tasks that a step changed, which had these states before it, and counts those that are done and
// stay as they are.
func changed(plan *dag.Plan, inst *dag.Instance, before []dag.TaskState, effects *dag.Effects) (tasks []PreviewedTask, kept int) {
	tasks = []PreviewedTask{}
	// A task that ran and is to run again may look the same before and after: what the
	// step touched counts, not only what reads differently.
	touched := make([]bool, len(inst.Tasks))
	for _, i := range effects.Tasks {
		touched[i] = true
	}
	for i := range inst.Tasks {
		t := &inst.Tasks[i]
		switch {
		case before[i] == "" && t.State == "":
		case touched[i] || before[i] != t.State:
			tasks = append(tasks, PreviewedTask{Name: plan.Definition.Tasks[i].Name, From: before[i], To: t.State})
		case t.State == dag.TaskSuccess || t.State == dag.TaskForcedSuccess:
			kept++
		}
	}
	return tasks, kept
}

// token stands for what the preview says: the event that it was worked out at, and a hash
// of the wish with its outcome. It is no secret and grants nothing.
func (p *Preview) token(asked sql.ControlRow, instance int64) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%q\n%s\n%t\n%s\n", instance, asked.Verb, asked.Tasks, asked.Scope, asked.Force, p.Result)
	hashTasks(h, p.Tasks)
	hashParents(h, p.Parents)
	return strconv.FormatInt(p.Seq, 10) + "." + hex.EncodeToString(h.Sum(nil)[:16])
}

func hashTasks(h io.Writer, tasks []PreviewedTask) {
	for _, t := range tasks {
		fmt.Fprintf(h, "%q %s %s\n", t.Name, t.From, t.To)
	}
}

// stillAsSeen refuses a wish whose outcome is no longer what its sender looked at, and
// says what has happened since. The master decides last, as it always does: between this
// and its step there is the time of one write.
func (s *Server) stillAsSeen(ctx context.Context, in sql.InstanceRow, row sql.ControlRow, token string) error {
	seq, _, ok := strings.Cut(token, ".")
	since, err := strconv.ParseInt(seq, 10, 64)
	if !ok || err != nil || since < 0 {
		return wrongField(http.StatusUnprocessableEntity, "preview", "invalid", token, "preview is not the token of a preview")
	}
	now, err := s.foresee(ctx, in, row)
	if err != nil {
		return err
	}
	if _, hash, _ := strings.Cut(now.Token, "."); strings.HasSuffix(token, "."+hash) {
		return nil
	}
	events, err := s.store.Events(ctx, in.ID, since, maxPage)
	if err != nil {
		return fmt.Errorf("read what has happened since event %d: %w", since, err)
	}
	var moved []dag.FieldError
	for i := len(events) - 1; i >= 0 && len(moved) < maxMoved; i-- {
		e := events[i]
		what := e.TaskName
		if what == "" {
			what = "instance"
		}
		if e.State != "" {
			moved = append(moved, dag.FieldError{Field: what, Code: "moved", Value: e.State, Message: "is " + e.State + " since then"})
		}
	}
	moved = append(moved, dag.FieldError{Field: "preview", Code: "stale", Message: "look at what it would do now, and ask again"})
	return problem(http.StatusConflict, "the instance has moved on since the preview: what this would do is no longer what you saw", moved...)
}

// maxMoved bounds the changes that a refused wish is told of, the latest first.
const maxMoved = 10
