package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// Waiter is a dependent task of another instance that waits, or waited, for one: what Dependency is, from the other side.
type Waiter struct {
	Instance  ID                `json:"instance" doc:"The one that waits, or waited."`
	Project   string            `json:"project"`
	Workflow  string            `json:"workflow"`
	State     dag.InstanceState `json:"state"`
	Task      string            `json:"task" doc:"Its dependent task."`
	TaskState dag.TaskState     `json:"task_state" doc:"Running while it waits."`
	For       string            `json:"for,omitempty" doc:"The task that is waited for; absent where the whole instance is."`
	Date      string            `json:"date" doc:"Which runs are meant; see /dates."`
}

// WaiterList is who waits, or waited, for an instance.
type WaiterList struct {
	Items []Waiter `json:"items" nullable:"false" doc:"The newest first, by workflow; of projects that the caller may see."`
	Cut   bool     `json:"cut" doc:"There are more, or more instances than are looked at: some are missing."`
}

type waiterListAnswer struct{ Body WaiterList }

const (
	// maxWaiters bounds one answer.
	maxWaiters = 100
	// waitersBefore is how long before the instance's own moment what waits for it may have been submitted: "this
	// month" at the first of it means what is still to come.
	waitersBefore = 32 * 24 * time.Hour
)

func (s *Server) waiterRoutes() {
	add(s, spec{
		id: "list-waiters", method: "GET", path: "/instances/{id}/waiters", tag: "instances", summary: "List the dependent tasks of other instances that wait, or waited, for an instance",
		access: access{need: roleViewer, object: ofInstance},
	}, s.listWaiters)
}

func (s *Server) listWaiters(ctx context.Context, _ *InstancePath) (*waiterListAnswer, error) {
	row := callOf(ctx).instance
	facts, err := row.Facts()
	if err != nil {
		return nil, err
	}
	all, err := s.dependents(ctx)
	if err != nil {
		return nil, err
	}
	out := WaiterList{Items: []Waiter{}}
	own := awaited{id: row.ID, name: foldedName(row.Project, row.Workflow), at: facts.Base()}
	since := min(row.CreatedAt, dag.MillisOf(own.at)) - dag.Millis(waitersBefore.Milliseconds())
	for _, w := range all[own.name] {
		rows, next, err := s.store.Instances(ctx, sql.InstanceFilter{WorkflowID: w.workflow.ID, From: max(since, 1)}, sql.Page{Limit: maxPage})
		if err != nil {
			return nil, fmt.Errorf("read who waits: %w", err)
		}
		out.Cut = out.Cut || next != ""
		for i := range rows {
			found, err := s.waitersIn(ctx, &rows[i], own)
			if err != nil {
				return nil, err
			}
			if out.Items = append(out.Items, found...); len(out.Items) > maxWaiters {
				out.Items, out.Cut = out.Items[:maxWaiters], true
				return &waiterListAnswer{Body: out}, nil
			}
		}
	}
	return &waiterListAnswer{Body: out}, nil
}

// awaited is an instance that others may wait for.
type awaited struct {
	id   int64
	name [2]string
	at   time.Time
}

// waitersIn are the dependent tasks of an instance whose dates hold the moment of the awaited one.
func (s *Server) waitersIn(ctx context.Context, row *sql.InstanceRow, whom awaited) ([]Waiter, error) {
	if row.ID == whom.id {
		return nil, nil
	}
	facts, err := row.Facts()
	if err != nil {
		return nil, err
	}
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", row.Version, err)
	}
	var out []Waiter
	for i := range plan.Definition.Tasks {
		task := &plan.Definition.Tasks[i]
		spec, ok := task.Spec.(*dag.DependentSpec)
		if !ok {
			continue
		}
		one := Waiter{Instance: ID(row.ID), Project: row.Project, Workflow: row.Workflow, State: row.State, Task: task.Name}
		held := false
		spec.Each(row.Project, func(_ string, item interval.Item) {
			if held || foldedName(item.Project, item.Workflow) != whom.name {
				return
			}
			span, err := interval.Span(item.Date, facts.Base())
			if held = err == nil && span.Holds(whom.at); held {
				one.For, one.Date = item.Task, item.Date
			}
		})
		if !held {
			continue
		}
		state, err := s.store.Task(ctx, row.ID, task.Name)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return nil, fmt.Errorf("read task: %w", err)
		}
		one.TaskState = state.State
		out = append(out, one)
	}
	return out, nil
}
