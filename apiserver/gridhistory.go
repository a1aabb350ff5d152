package apiserver

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// TaskRun is one task of one instance, in the task's history.
type TaskRun struct {
	InstanceID    ID                `json:"instance_id"`
	InstanceState dag.InstanceState `json:"instance_state"`
	Version       int               `json:"version"`
	ScheduleTime  Time              `json:"schedule_time,omitempty"`
	CreatedAt     Time              `json:"created_at" doc:"Of the instance."`
	State         dag.TaskState     `json:"state"`
	Reason        dag.Reason        `json:"reason,omitempty"`
	Attempts      int               `json:"attempts"`
	Lost          int               `json:"lost" doc:"Workers lost in its latest round."`
	ReadyAt       Time              `json:"ready_at,omitempty"`
	StartedAt     Time              `json:"started_at,omitempty"`
	FinishedAt    Time              `json:"finished_at,omitempty"`
}

type taskRuns struct{ Body List[TaskRun] }

type taskHistory struct {
	WorkflowPath
	Task  string `path:"task" maxLength:"512" doc:"The task's name."`
	State string `query:"state" maxLength:"200" doc:"Of instances, comma-separated."`
	Paged
}

// taskHistory reads a page of the workflow's instances and of each the one task. A definition says at which index the
// task stands, so that of an instance one row is read and not all its tasks; instances without the task are left out.
func (s *Server) taskHistory(ctx context.Context, in *taskHistory) (*taskRuns, error) {
	w := callOf(ctx).workflow
	states, wrong := parseStates(in.State)
	if len(wrong) > 0 {
		return nil, problem(http.StatusBadRequest, wrong[0].Message, wrong...)
	}
	rows, next, err := s.store.Instances(ctx, sql.InstanceFilter{WorkflowID: w.ID, States: states}, in.page())
	if err != nil {
		return nil, fmt.Errorf("history of a task: %w", err)
	}
	at := map[int][]int64{}
	for _, r := range rows {
		plan, err := s.plans.get(ctx, w.ID, r.Version)
		if err != nil {
			continue // a version that can no longer be read says nothing of its tasks
		}
		if i, ok := plan.Task(in.Task); ok {
			at[i] = append(at[i], r.ID)
		}
	}
	tasks := make(map[int64]sql.TaskRow, len(rows))
	for index, ids := range at {
		found, err := s.store.TasksAt(ctx, index, ids)
		if err != nil {
			return nil, fmt.Errorf("history of a task: %w", err)
		}
		maps.Copy(tasks, found)
	}
	out := List[TaskRun]{Items: []TaskRun{}, NextCursor: next}
	for _, r := range rows {
		t, ok := tasks[r.ID]
		if !ok || t.Name != in.Task || t.State == "" {
			continue
		}
		out.Items = append(out.Items, TaskRun{
			InstanceID: ID(r.ID), InstanceState: r.State, Version: r.Version, ScheduleTime: Time(r.ScheduleTime), CreatedAt: Time(r.CreatedAt),
			State: t.State, Reason: t.Reason, Attempts: t.Attempts, Lost: t.Lost, ReadyAt: Time(t.ReadyAt), StartedAt: Time(t.StartedAt), FinishedAt: Time(t.FinishedAt),
		})
	}
	return &taskRuns{Body: out}, nil
}
