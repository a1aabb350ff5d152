package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// Preview says what a verb would do now. It is the master's own step on a copy, so it
// can't differ from what the verb does to an instance that has not moved on; seq tells
// whether it has.
type Preview struct {
	Seq    int64           `json:"seq" doc:"The instance's latest event when this was worked out."`
	Result string          `json:"result" doc:"applied, already, or why it is not possible."`
	Tasks  []PreviewedTask `json:"tasks" nullable:"false" doc:"The tasks that would change, in the order of the definition."`
	Kept   int             `json:"kept" doc:"Tasks that are done and stay as they are."`
}

// PreviewedTask is a task that a verb would change.
type PreviewedTask struct {
	Name string        `json:"name"`
	From dag.TaskState `json:"from"`
	To   dag.TaskState `json:"to"`
}

type preview struct {
	InstancePath
	Verb  string `query:"verb" required:"true" enum:"pause,resume,stop,kill,skip,recover,rerun"`
	Task  string `query:"task" maxLength:"512" doc:"Of kill, skip and rerun."`
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
	row := callOf(ctx).instance
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	inst, err := s.rebuild(ctx, row, plan)
	if err != nil {
		return nil, err
	}
	wish := dag.Control{ID: 1, Verb: dag.Verb(in.Verb), Scope: dag.Scope(in.Scope), Force: in.Force, By: callOf(ctx).who.name}
	if in.Task != "" {
		i, ok := plan.Task(in.Task)
		if !ok || i >= len(inst.Tasks) {
			return nil, notFound()
		}
		wish.Tasks = []int{i}
		if wish.Verb == dag.VerbRerun && wish.Scope == "" {
			wish.Scope = dag.ScopeDownstream
		}
	} else if wish.Verb == dag.VerbKill || wish.Verb == dag.VerbSkip {
		return nil, wrongField(http.StatusBadRequest, "task", "required", "", "%s is about one task: name it", in.Verb)
	}
	before := make([]dag.TaskState, len(inst.Tasks))
	for i := range inst.Tasks {
		before[i] = inst.Tasks[i].State
	}
	out := Preview{Seq: row.Seq, Tasks: []PreviewedTask{}}
	effects := inst.Step(wish, s.at())
	if len(effects.Applied) > 0 {
		out.Result = strings.ToLower(effects.Applied[0].Result)
	}
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
			out.Tasks = append(out.Tasks, PreviewedTask{Name: plan.Definition.Tasks[i].Name, From: before[i], To: t.State})
		case t.State == dag.TaskSuccess || t.State == dag.TaskForcedSuccess:
			out.Kept++
		}
	}
	return &previewAnswer{Body: out}, nil
}
