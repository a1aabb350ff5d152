package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// LiveTask is a task that has not ended, wherever it runs or waits.
type LiveTask struct {
	InstanceID  ID                `json:"instance_id"`
	Project     string            `json:"project"`
	Workflow    string            `json:"workflow"`
	Instance    dag.InstanceState `json:"instance_state"`
	Task        string            `json:"task"`
	Type        string            `json:"type"`
	State       dag.TaskState     `json:"state"`
	Reason      dag.Reason        `json:"reason,omitempty"`
	Attempts    int               `json:"attempts"`
	Since       Time              `json:"since,omitempty" doc:"Since when it is in its state."`
	NextAt      Time              `json:"next_at,omitempty" doc:"When it is tried again, or goes on."`
	Worker      string            `json:"worker,omitempty" doc:"Who has the attempt in flight."`
	WorkerGroup string            `json:"worker_group,omitempty"`
	TaskGroup   string            `json:"task_group,omitempty" doc:"Whose places it needs."`
	Usual       *UsualWait        `json:"usual,omitempty" doc:"How long it usually waits; of older=usual alone, and absent of what waits to be tried again."`
	Why         *Explanation      `json:"why,omitempty" doc:"Why it waits; of is=waiting alone. Absent while its rows are on the move."`
}

// UsualWait is how long a task waited in the newest successful instances of its workflow.
type UsualWait struct {
	P90   string `json:"p90" doc:"Nine of ten waited no longer."`
	Of    int    `json:"of" doc:"How many waits are known. Fewer than ten say nothing: then it is shown from ten minutes on."`
	Bound string `json:"bound" doc:"Waiting for longer is more than usual: p90, but at least 30s."`
}

type listLiveTasks struct {
	Cursor      string `query:"cursor" maxLength:"1024" doc:"next_cursor of the page before."`
	Limit       int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Items per page, at most. A page may hold fewer, even none, and still have a next_cursor."`
	Is          string `query:"is" enum:"running,waiting" default:"running" doc:"running: dispatched, running or killing; waiting: ready to run, or to be tried again."`
	Project     string `query:"project" maxLength:"512"`
	Workflow    string `query:"workflow" maxLength:"512" doc:"Of the project; needs project."`
	State       string `query:"state" maxLength:"200" doc:"States of tasks among those of is, comma-separated."`
	Worker      string `query:"worker" maxLength:"512" doc:"Who has the attempt in flight."`
	WorkerGroup string `query:"worker_group" maxLength:"512"`
	TaskGroup   string `query:"task_group" maxLength:"512"`
	Task        string `query:"task" maxLength:"512" doc:"A part of the task's name."`
	Older       string `query:"older" maxLength:"32" doc:"In its state for at least this long: 90s 10m 2h. usual, with is=waiting: for longer than nine of ten times before."`
}

type liveTaskList struct{ Body List[LiveTask] }

// liveStates are the states behind each value of is.
var liveStates = map[string][]dag.TaskState{
	"running": {dag.TaskDispatched, dag.TaskRunning, dag.TaskKilling},
	"waiting": {dag.TaskReady, dag.TaskRetryWait},
}

// olderUsual asks for what waits for longer than usual.
const olderUsual = "usual"

func (s *Server) liveTaskRoutes() {
	add(s, spec{
		id: "list-live-tasks", method: "GET", path: "/tasks", tag: "instances", summary: "List the tasks that run or wait now, those of the oldest instances first",
		access: access{object: perItem},
	}, s.listLiveTasks)
}

func (s *Server) listLiveTasks(ctx context.Context, in *listLiveTasks) (*liveTaskList, error) {
	out := &liveTaskList{Body: List[LiveTask]{Items: []LiveTask{}}}
	f, none, err := s.liveTaskFilter(ctx, in)
	if err != nil || none {
		return out, err
	}
	rows, next, err := s.store.LiveTasks(ctx, f, Paged{in.Cursor, in.Limit}.page())
	if err != nil {
		return nil, fmt.Errorf("list live tasks: %w", err)
	}
	out.Body.NextCursor = next
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Instance.ID == rows[0].Instance.ID {
			n++
		}
		faces, err := s.liveTasksOf(ctx, in, rows[:n])
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, faces...)
		rows = rows[n:]
	}
	return out, nil
}

func (s *Server) liveTaskFilter(ctx context.Context, in *listLiveTasks) (f sql.LiveTaskFilter, none bool, err error) {
	of, none, err := s.instanceFilter(ctx, &listInstances{Project: in.Project, Workflow: in.Workflow})
	if err != nil || none {
		return f, none, err
	}
	f = sql.LiveTaskFilter{ProjectIDs: of.ProjectIDs, WorkflowID: of.WorkflowID, Worker: in.Worker, Name: in.Task, States: liveStates[in.Is]}
	var wrong []dag.FieldError
	if in.State != "" {
		f.States = nil
		for name := range strings.SplitSeq(in.State, ",") {
			state, known := dag.TaskState(name), false
			for _, allowed := range liveStates[in.Is] {
				known = known || state == allowed
			}
			if !known {
				wrong = append(wrong, dag.FieldError{Field: "state", Code: "unknown_state", Value: name, Message: "is not a state of tasks that are " + in.Is})
				continue
			}
			f.States = append(f.States, state)
		}
	}
	switch {
	case in.Older == olderUsual && in.Is == "waiting":
		f.BeyondUsual = true
	case in.Older == olderUsual:
		wrong = append(wrong, dag.FieldError{Field: "older", Code: "invalid_duration", Value: in.Older, Message: "usual is of tasks that wait: give is=waiting too"})
	case in.Older != "":
		if f.OlderThan, err = time.ParseDuration(in.Older); err != nil || f.OlderThan <= 0 {
			wrong = append(wrong, dag.FieldError{Field: "older", Code: "invalid_duration", Value: in.Older, Message: "is not a duration like 90s, 10m or 2h, nor usual"})
		}
	}
	if len(wrong) > 0 {
		return f, false, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	return f, false, nil
}

// liveTasksOf are the tasks of one instance that fit the groups which are asked for; they stand in its definition.
func (s *Server) liveTasksOf(ctx context.Context, in *listLiveTasks, rows []sql.LiveTask) ([]LiveTask, error) {
	row := rows[0].Instance
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, err
	}
	groups := dag.NewInstance(plan, row.ID, dag.StartOptions{WorkerGroup: row.WorkerGroup})
	var inst *dag.Instance
	if in.Is == "waiting" {
		if inst, err = s.steady(ctx, row, plan); err != nil {
			return nil, err
		}
	}
	var out []LiveTask
	for _, r := range rows {
		if r.Task.Index >= len(plan.Definition.Tasks) {
			continue
		}
		face := liveTaskFace(r)
		if plan.NeedsPlace(r.Task.Index) {
			face.TaskGroup = plan.Definition.Tasks[r.Task.Index].TaskGroup.Name
		}
		if !groups.InMaster(r.Task.Index) {
			face.WorkerGroup = groups.GroupOf(r.Task.Index)
		}
		if in.WorkerGroup != "" && face.WorkerGroup != in.WorkerGroup || in.TaskGroup != "" && dag.FoldName(face.TaskGroup) != dag.FoldName(in.TaskGroup) {
			continue
		}
		if inst != nil && r.Task.Index < len(inst.Tasks) {
			why, err := s.explainTask(ctx, row, inst, plan, r.Task.Index, 0)
			if err != nil {
				return nil, err
			}
			face.Why = &why
		}
		out = append(out, face)
	}
	return out, nil
}

// steady makes an instance of its rows; nil where they were moved on while they were read, which the next answer mends.
func (s *Server) steady(ctx context.Context, row sql.InstanceRow, plan *dag.Plan) (*dag.Instance, error) {
	inst, err := s.rebuild(ctx, row, plan)
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		return nil, nil
	}
	return inst, err
}

func liveTaskFace(r sql.LiveTask) LiveTask {
	face := LiveTask{
		InstanceID: ID(r.Instance.ID), Project: r.Instance.Project, Workflow: r.Instance.Workflow, Instance: r.Instance.State,
		Task: r.Task.Name, Type: r.Task.Type, State: r.Task.State, Reason: r.Task.Reason, Attempts: r.Task.Attempts,
		Since: Time(r.Since), NextAt: Time(r.Task.NextAt), Worker: r.Worker,
	}
	if u := r.Usual; u != nil {
		face.Usual = &UsualWait{P90: document.FormatDuration(u.P90.Round(time.Second)), Of: u.Of, Bound: document.FormatDuration(u.Bound().Round(time.Second))}
	}
	return face
}
