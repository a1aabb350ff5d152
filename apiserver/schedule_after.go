package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// ScheduleAfter makes the end of another workflow a fire.
type ScheduleAfter struct {
	Workflow string   `json:"workflow" minLength:"1" maxLength:"1025" doc:"The workflow, by its name, or project/name where it is of another project."`
	States   []string `json:"states,omitempty" maxItems:"10" doc:"The final states of its instances that count: success failed stopped. Absent is success alone."`
}

func afterFace(a *schedule.After) *ScheduleAfter {
	if a == nil {
		return nil
	}
	out := &ScheduleAfter{Workflow: a.Workflow}
	for _, state := range a.States {
		out.States = append(out.States, string(state))
	}
	return out
}

func (a *ScheduleAfter) spec() *schedule.After {
	if a == nil {
		return nil
	}
	out := &schedule.After{Workflow: a.Workflow}
	for _, state := range a.States {
		out.States = append(out.States, dag.InstanceState(state))
	}
	return out
}

// codeCircle is the code of an error of a schedule: its workflow would come to start itself.
const codeCircle = "circle"

func startsItself(status int, a *ScheduleAfter) *Problem {
	return wrongField(status, "after.workflow", codeCircle, a.Workflow, "the end of this schedule's own workflow starts %s, so it would start itself for ever", a.Workflow)
}

// after finds the workflow whose end a schedule of w waits for, and refuses what closes a circle with what is saved and
// with what this check has seen before.
func (c *scheduleCheck) after(ctx context.Context, w sql.Workflow, rules *ScheduleRules) ([]dag.FieldError, error) {
	a := rules.After
	other, err := c.server.workflowAfter(ctx, w, a)
	if errors.Is(err, sql.ErrNotFound) {
		return []dag.FieldError{{Field: "after.workflow", Code: dag.CodeUnknownWorkflow, Value: a.Workflow, Message: "there is no such workflow, or you may not see it"}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read workflow %s: %w", a.Workflow, err)
	}
	c.found[a.Workflow] = other
	circle, err := schedule.Leads(w.ID, other, func(ids []int64) ([]int64, error) {
		before, err := c.server.store.StartedBy(ctx, ids)
		for _, id := range ids {
			before = append(before, c.before[id]...)
		}
		return before, err
	})
	if err != nil {
		return nil, err
	}
	if circle {
		return startsItself(http.StatusUnprocessableEntity, a).Errors, nil
	}
	c.before[w.ID] = append(c.before[w.ID], other)
	return nil, nil
}

// workflowAfter is the id of the workflow that a schedule of w names; sql.ErrNotFound also where the caller may not see it.
func (s *Server) workflowAfter(ctx context.Context, w sql.Workflow, a *ScheduleAfter) (int64, error) {
	projectID, name := w.ProjectID, a.Workflow
	if strings.Contains(a.Workflow, "/") {
		var project string
		project, name = a.spec().Names("")
		p, err := s.store.Project(ctx, project)
		if err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		if err != nil {
			return 0, err
		}
		projectID = p.ID
	}
	other, err := s.store.Workflow(ctx, projectID, name)
	return other.ID, err
}

// explainAfter says what a schedule that waits for ends waits for.
func (s *Server) explainAfter(ctx context.Context, sch sql.Schedule) (Explanation, error) {
	a := sch.Spec.After
	ends := ""
	for _, state := range a.Ends() {
		ends += " or " + string(state)
	}
	ends = strings.TrimPrefix(ends, " or ")
	args := map[string]string{"workflow": a.Workflow, "states": ends}
	_, err := s.store.WorkflowByID(ctx, sch.AfterWorkflow)
	if errors.Is(err, sql.ErrNotFound) {
		return Explanation{Code: "schedule_after_gone", Text: "it fires when an instance of " + a.Workflow + " ends, and that workflow was deleted: save it again", Args: args}, nil
	}
	if err != nil {
		return Explanation{}, fmt.Errorf("read workflow %s: %w", a.Workflow, err)
	}
	return Explanation{Code: "schedule_after", Text: "it fires when an instance of " + a.Workflow + " ends as " + ends, Args: args}, nil
}
