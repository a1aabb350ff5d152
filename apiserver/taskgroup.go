package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// TaskGroup is a number of places that tasks of a project share.
type TaskGroup struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Size        int    `json:"size" doc:"How many places there are; 0 gives none."`
	Used        int    `json:"used" doc:"How many are taken; it may be over size after a forced start, or when size was lowered."`
	Waiting     int    `json:"waiting" doc:"How many tasks wait."`
	Rate        *Rate  `json:"rate,omitempty" doc:"How many tasks may start in a time; absent is as many as there are places."`
	Started     int    `json:"started,omitempty" doc:"How many started within the last per of the rate."`
	NextAt      Time   `json:"next_at,omitempty" doc:"When the rate lets the next task start, where it does not now."`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// Rate is how many tasks may start in any stretch of time that is per long.
type Rate struct {
	Tasks int    `json:"tasks" minimum:"1" maximum:"10000"`
	Per   string `json:"per" maxLength:"64" doc:"1s to 1d, such as 1m."`
}

// The bounds of a rate's time.
const (
	minRatePer = time.Second
	maxRatePer = 24 * time.Hour
)

// stored is the rate in the store's terms; nil is none.
func (r *Rate) stored() (sql.Rate, error) {
	if r == nil {
		return sql.Rate{}, nil
	}
	per, err := document.ParseDuration(r.Per)
	if err != nil {
		return sql.Rate{}, wrongField(http.StatusUnprocessableEntity, "rate.per", document.CodeInvalid, r.Per, "rate.per: %v", err)
	}
	if per < minRatePer || per > maxRatePer {
		return sql.Rate{}, wrongField(http.StatusUnprocessableEntity, "rate.per", document.CodeOutOfRange, r.Per, "rate.per: %s is not in 1s to 1d", document.Quoted(r.Per))
	}
	return sql.Rate{Tasks: r.Tasks, Per: per}, nil
}

func rateFace(r sql.Rate) *Rate {
	if r.Tasks == 0 {
		return nil
	}
	return &Rate{Tasks: r.Tasks, Per: document.FormatDuration(r.Per)}
}

// GroupTask is a task that has places of a group, or waits for them.
type GroupTask struct {
	InstanceID ID     `json:"instance_id"`
	Workflow   string `json:"workflow"`
	Task       string `json:"task"`
	State      string `json:"state" doc:"The task's state."`
	Waiting    bool   `json:"waiting"`
	Forced     bool   `json:"forced" doc:"Somebody gave it its places beyond the size."`
	ForcedBy   string `json:"forced_by,omitempty"`
	Why        string `json:"forced_reason,omitempty" doc:"What that somebody gave as the reason."`
	Weight     int    `json:"weight"`
	ReadyAt    Time   `json:"ready_at"`
}

// TaskGroupDetail is a group with its tasks.
type TaskGroupDetail struct {
	TaskGroup
	Tasks []GroupTask `json:"tasks" nullable:"false" doc:"Those that have places, then those that wait, in the order of their turn; 200 at most."`
}

// TaskGroupPath names a task group of a project in a path.
type TaskGroupPath struct {
	ProjectPath
	Group string `path:"group" maxLength:"512" doc:"The task group's name."`
}

type putTaskGroup struct {
	TaskGroupPath
	Body struct {
		Size        int    `json:"size" minimum:"0" maximum:"1000000" doc:"How many places there are; 0 gives none."`
		Description string `json:"description,omitempty" maxLength:"65536"`
		Rate        *Rate  `json:"rate,omitempty" doc:"How many tasks may start in a time; absent is as many as there are places."`
	}
}

type forceTask struct {
	TaskGroupPath
	Body struct {
		InstanceID ID     `json:"instance_id"`
		Task       string `json:"task" minLength:"1" maxLength:"512"`
		Reason     string `json:"reason,omitempty" maxLength:"1000" doc:"For people; kept beside the task."`
	}
}

type taskGroupList struct{ Body List[TaskGroup] }

type taskGroupPage struct {
	ProjectPath
	Paged
}

type taskGroupAnswer struct {
	Status int
	Body   TaskGroup
}

type taskGroupDetailAnswer struct {
	Status int
	Body   TaskGroupDetail
}

func (s *Server) taskGroupRoutes() {
	may := func(need role) access { return access{need: need, object: ofProject} }
	const one = "/projects/{project}/task-groups/{group}"
	add(s, spec{id: "list-task-groups", method: "GET", path: "/projects/{project}/task-groups", tag: "task groups", summary: "List a project's task groups", access: may(roleViewer)}, s.listTaskGroups)
	add(s, spec{id: "get-task-group", method: "GET", path: one, tag: "task groups", summary: "Show a task group and who has its places", access: may(roleViewer)}, s.getTaskGroup)
	add(s, spec{id: "put-task-group", method: "PUT", path: one, tag: "task groups", summary: "Make a task group, or change its size at once", body: jsonBody, access: may(roleEditor)}, s.putTaskGroup)
	add(s, spec{id: "delete-task-group", method: "DELETE", path: one, tag: "task groups", summary: "Delete a task group that no task uses", access: may(roleEditor)}, s.deleteTaskGroup)
	add(s, spec{
		id: "force-task", method: "POST", path: one + "/force", tag: "task groups", summary: "Give a waiting task its places, whatever the group has left", status: 202,
		body: jsonBody, access: may(roleOperator),
	}, s.forceTask)
}

func taskGroupFace(g sql.TaskGroup) TaskGroup {
	return TaskGroup{
		Name: g.Name, Description: g.Description, Size: g.Size, Used: g.Used, Waiting: g.Waiting, CreatedAt: Time(g.CreatedAt), UpdatedAt: Time(g.UpdatedAt),
		Rate: rateFace(g.Rate), Started: g.Started, NextAt: Time(g.NextAt),
	}
}

func (s *Server) listTaskGroups(ctx context.Context, in *taskGroupPage) (*taskGroupList, error) {
	rows, next, err := s.store.TaskGroups(ctx, callOf(ctx).project.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list task groups: %w", err)
	}
	return &taskGroupList{Body: list(rows, next, taskGroupFace)}, nil
}

func (s *Server) getTaskGroup(ctx context.Context, in *TaskGroupPath) (*taskGroupDetailAnswer, error) {
	return s.showTaskGroup(ctx, in.Group, http.StatusOK)
}

func (s *Server) showTaskGroup(ctx context.Context, name string, status int) (*taskGroupDetailAnswer, error) {
	g, err := s.store.TaskGroup(ctx, callOf(ctx).project.ID, name)
	if err != nil {
		return nil, fmt.Errorf("read task group: %w", err)
	}
	rows, err := s.store.GroupTasks(ctx, g.ID)
	if err != nil {
		return nil, fmt.Errorf("read tasks of task group: %w", err)
	}
	out := TaskGroupDetail{TaskGroup: taskGroupFace(g), Tasks: make([]GroupTask, len(rows))}
	for i, r := range rows {
		out.Tasks[i] = GroupTask{
			InstanceID: ID(r.InstanceID), Workflow: r.Workflow, Task: r.TaskName, State: string(r.State), Waiting: r.Waiting, Forced: r.Forced, ForcedBy: r.ForcedBy, Why: r.ForcedReason,
			Weight: r.Weight, ReadyAt: Time(r.ReadyAt),
		}
	}
	return &taskGroupDetailAnswer{Status: status, Body: out}, nil
}

func (s *Server) putTaskGroup(ctx context.Context, in *putTaskGroup) (*taskGroupAnswer, error) {
	project := callOf(ctx).project.ID
	if wrong := dag.CheckName("group", in.Group); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
	}
	known, err := s.store.TaskGroup(ctx, project, in.Group)
	switch {
	case err == nil && known.Name != in.Group:
		return nil, nameTaken("group", in.Group, known.Name)
	case err != nil && !errors.Is(err, sql.ErrNotFound):
		return nil, fmt.Errorf("read task group: %w", err)
	}
	rate, err := in.Body.Rate.stored()
	if err != nil {
		return nil, err
	}
	g, made, err := s.store.PutTaskGroup(ctx, sql.TaskGroup{ProjectID: project, Name: in.Group, Description: in.Body.Description, Size: in.Body.Size, Rate: rate})
	if err != nil {
		return nil, fmt.Errorf("put task group: %w", err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return &taskGroupAnswer{Status: status, Body: taskGroupFace(g)}, nil
}

func (s *Server) deleteTaskGroup(ctx context.Context, in *TaskGroupPath) (*struct{}, error) {
	if err := s.store.DeleteTaskGroup(ctx, callOf(ctx).project.ID, in.Group); err != nil {
		return nil, fmt.Errorf("delete task group: %w", err)
	}
	return nil, nil
}

func (s *Server) forceTask(ctx context.Context, in *forceTask) (*taskGroupDetailAnswer, error) {
	g, err := s.store.TaskGroup(ctx, callOf(ctx).project.ID, in.Group)
	if err != nil {
		return nil, fmt.Errorf("read task group: %w", err)
	}
	notWaiting := func() error {
		return wrongField(http.StatusConflict, "task", "not_waiting", in.Body.Task, "no such task of instance %d waits for the places of %s", int64(in.Body.InstanceID), g.Name)
	}
	task, err := s.store.Task(ctx, int64(in.Body.InstanceID), in.Body.Task)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, notWaiting()
	}
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	err = s.store.ForceTask(ctx, sql.Force{GroupID: g.ID, InstanceID: task.InstanceID, Task: task.Index, By: callOf(ctx).who.name, Reason: in.Body.Reason})
	if errors.Is(err, sql.ErrNotFound) {
		return nil, notWaiting()
	}
	if err != nil {
		return nil, fmt.Errorf("force task: %w", err)
	}
	return s.showTaskGroup(ctx, in.Group, http.StatusAccepted)
}

// taskGroupState says whether a ready task waits for the places of its group, and who has them; false
// where it has its own.
func (s *Server) taskGroupState(ctx context.Context, row sql.InstanceRow, in *dag.Instance, task int, def *dag.Task) (Explanation, bool, error) {
	g, err := s.store.TaskGroup(ctx, row.ProjectID, def.TaskGroup.Name)
	args := map[string]string{"task_group": def.TaskGroup.Name, "task": def.Name}
	if errors.Is(err, sql.ErrNotFound) {
		return Explanation{Code: "no_task_group", Args: args, Text: fmt.Sprintf("there is no task group %q in the project", def.TaskGroup.Name)}, true, nil
	}
	if err != nil {
		return Explanation{}, false, fmt.Errorf("read task group: %w", err)
	}
	place, err := s.store.TaskPlace(ctx, in.ID, task)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return Explanation{}, false, fmt.Errorf("read place of task: %w", err)
	}
	if err == nil && !place.Waiting {
		return Explanation{}, false, nil
	}
	for name, n := range map[string]int{"size": g.Size, "used": g.Used, "weight": def.TaskGroup.Weight, "ahead": place.Ahead} {
		args[name] = strconv.Itoa(n)
	}
	e := Explanation{Code: "task_group_full", Args: args, Since: Time(in.Tasks[task].ReadyAt)}
	switch {
	case g.Size == 0:
		e.Code, e.Text = "task_group_stopped", fmt.Sprintf("task group %q has size 0: it gives no place", g.Name)
		return e, true, nil
	case def.TaskGroup.Weight > g.Size:
		e.Code, e.Text = "task_group_small", fmt.Sprintf("it needs %d places, and task group %q has %d in all", def.TaskGroup.Weight, g.Name, g.Size)
		return e, true, nil
	}
	if g.NextAt != 0 {
		per, next := document.FormatDuration(g.Rate.Per), g.NextAt.Time().Format(timeLayout)
		args["tasks"], args["per"], args["at"] = strconv.Itoa(g.Rate.Tasks), per, next
		e.Code, e.Text = "task_group_rate", fmt.Sprintf("task group %q starts at most %d tasks in %s: the next may start at %s, %d are before it",
			g.Name, g.Rate.Tasks, per, next, place.Ahead)
		return e, true, nil
	}
	e.Text = fmt.Sprintf("it waits for task group %q: %d of %d places are taken, %d tasks are before it", g.Name, g.Used, g.Size, place.Ahead)
	tasks, err := s.store.GroupTasks(ctx, g.ID)
	if err != nil {
		return Explanation{}, false, fmt.Errorf("read tasks of task group: %w", err)
	}
	for _, t := range tasks {
		if t.Waiting || len(e.Causes) == maxHolders {
			break
		}
		id := strconv.FormatInt(t.InstanceID, 10)
		e.Causes = append(e.Causes, Explanation{
			Code: "holds_task_group", Args: map[string]string{"instance": id, "task": t.TaskName, "state": string(t.State), "weight": strconv.Itoa(t.Weight)},
			Text: fmt.Sprintf("task %s of instance %s, which is %s, has %d", t.TaskName, id, t.State, t.Weight), Since: Time(t.ReadyAt),
		})
	}
	return e, true, nil
}

// maxHolders bounds the tasks that an explanation names.
const maxHolders = 10
