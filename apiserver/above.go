package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// PreviewedParent is an instance that goes again with its child.
type PreviewedParent struct {
	InstanceID ID              `json:"instance_id"`
	Project    string          `json:"project"`
	Workflow   string          `json:"workflow"`
	Task       string          `json:"task" doc:"The task that waits for the child again."`
	Tasks      []PreviewedTask `json:"tasks" nullable:"false" doc:"The tasks that would change, that one among them, in the order of the definition."`
}

// resultParentRunning is the result of a preview of what is refused because an instance above has not ended.
const resultParentRunning = "parent_running"

// parentRunning says that an instance above has not ended.
type parentRunning struct{ instance sql.InstanceRow }

func (e *parentRunning) Error() string {
	return fmt.Sprintf("its parent instance %d of %s/%s is %s: wait until that has ended, or stop it, so that it can go again with its child",
		e.instance.ID, e.instance.Project, e.instance.Workflow, e.instance.State)
}

// problem is the refusal.
func (e *parentRunning) problem() *Problem {
	return wrongField(http.StatusConflict, "state", resultParentRunning, string(e.instance.State), "%s", e.Error())
}

// above foresees what a new round of a child does to the instances above it, the nearest first. It ends with the
// first that has nothing to do with its child any more. The error is a parentRunning where one of them has not ended
// yet, and a Problem where the caller may not operate one of them.
func (s *Server) above(ctx context.Context, child sql.InstanceRow) ([]PreviewedParent, error) {
	var parents []PreviewedParent
	for child.Parent.Instance != 0 {
		row, err := s.store.Instance(ctx, child.Parent.Instance)
		if errors.Is(err, sql.ErrNotFound) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read parent instance: %w", err)
		}
		if row.State == dag.InstanceQuarantined {
			break
		}
		p, goes, err := s.aboveOne(ctx, row, child)
		if err != nil {
			return nil, err
		}
		if !goes {
			break
		}
		parents = append(parents, p)
		child = row
	}
	return parents, nil
}

// aboveOne takes the step of one parent on a copy; goes is false where that changes nothing.
func (s *Server) aboveOne(ctx context.Context, row, child sql.InstanceRow) (p PreviewedParent, goes bool, err error) {
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return p, false, fmt.Errorf("preview of parent: %w", err)
	}
	task, ok := plan.Task(child.Parent.Task)
	if !ok {
		return p, false, nil
	}
	role := callOf(ctx).who.role(row.ProjectID)
	if !row.State.Final() {
		if role < roleViewer {
			row.Project, row.Workflow = "another project", "another workflow"
		}
		return p, false, &parentRunning{row}
	}
	inst, err := s.rebuild(ctx, row, plan)
	if err != nil {
		return p, false, err
	}
	before := states(inst)
	effects := inst.Step(dag.ChildAgain{ID: 1, Task: task, Child: child.ID}, s.at())
	if !effects.NewRound {
		return p, false, nil
	}
	if role < roleOperator {
		return p, false, problem(http.StatusForbidden, "a parent of the instance goes again with it: this needs the role operator in its project, too")
	}
	p = PreviewedParent{InstanceID: ID(row.ID), Project: row.Project, Workflow: row.Workflow, Task: child.Parent.Task}
	p.Tasks, _ = changed(plan, inst, before, &effects)
	return p, true, nil
}

// opensRound says that a wish about an instance as it stands opens a new round of it.
func opensRound(v dag.Verb, in sql.InstanceRow) bool {
	switch v {
	case dag.VerbRecover, dag.VerbRerun, dag.VerbForceSuccess:
		return in.State.Final() && in.State != dag.InstanceQuarantined
	case dag.VerbPause, dag.VerbResume, dag.VerbStop, dag.VerbKill, dag.VerbSkip, dag.VerbApprove, dag.VerbReject, dag.VerbReplace:
	}
	return false
}

// aboveAgree refuses a wish that opens a round of a child whose parents can't go again with it.
func (s *Server) aboveAgree(ctx context.Context, in sql.InstanceRow, v dag.Verb) error {
	if !opensRound(v, in) {
		return nil
	}
	_, err := s.above(ctx, in)
	if running, ok := errors.AsType[*parentRunning](err); ok {
		return running.problem()
	}
	return err
}

// hashParents adds parents to what a preview's token stands for.
func hashParents(h io.Writer, parents []PreviewedParent) {
	for _, p := range parents {
		fmt.Fprintf(h, "parent %s %q\n", strconv.FormatInt(int64(p.InstanceID), 10), p.Task)
		hashTasks(h, p.Tasks)
	}
}
