package apiserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// checkDependents holds the dependent tasks of a definition that is to be at a place against what there is:
// the workflows that they wait for, which the caller must be allowed to see, and their tasks.
func (s *Server) checkDependents(ctx context.Context, at place, def *dag.Definition) (wrong []dag.FieldError, err error) {
	for i := range def.Tasks {
		spec, ok := def.Tasks[i].Spec.(*dag.DependentSpec)
		if !ok {
			continue
		}
		spec.Each(at.project.Name, func(field string, item interval.Item) {
			if err != nil || len(wrong) >= maxErrors {
				return
			}
			var found *dag.FieldError
			if found, err = s.checkItem(ctx, at, item); found != nil {
				found.Field = fmt.Sprintf("tasks[%d].%s.%s", i, field, found.Field)
				found.Args = dag.Args{"task": def.Tasks[i].Name, "workflow": item.Workflow}
				wrong = append(wrong, *found)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// checkItem says what is wrong with one thing that is waited for.
func (s *Server) checkItem(ctx context.Context, at place, item interval.Item) (*dag.FieldError, error) {
	fail := func(key, value, message string) (*dag.FieldError, error) {
		return &dag.FieldError{Field: key, Code: dag.CodeUnknownWorkflow, Value: document.Shown(value), Message: message}, nil
	}
	p, err := s.store.Project(ctx, item.Project)
	if err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
		err = sql.ErrNotFound
	}
	if errors.Is(err, sql.ErrNotFound) {
		return fail("project", item.Project, "there is no project "+document.Quoted(item.Project))
	} else if err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	if (place{p, item.Workflow}).same(at) {
		return nil, nil // itself, which may be about to come
	}
	w, err := s.store.Workflow(ctx, p.ID, item.Workflow)
	if errors.Is(err, sql.ErrNotFound) {
		return fail("workflow", item.Workflow, "there is no workflow "+document.Quoted(item.Workflow)+" in the project "+document.Quoted(p.Name))
	} else if err != nil {
		return nil, fmt.Errorf("read workflow: %w", err)
	}
	if item.Task == "" || w.Published == 0 {
		return nil, nil
	}
	plan, err := s.plans.get(ctx, w.ID, w.Published)
	if err != nil {
		return nil, err
	}
	if _, ok := plan.Task(item.Task); !ok {
		return fail("task", item.Task, "the workflow "+document.Quoted(w.Name)+" has no task "+document.Quoted(item.Task))
	}
	return nil, nil
}

// addDependents adds to each dependent task that waits what it waits for, as a master would find it now.
func (s *Server) addDependents(ctx context.Context, row sql.InstanceRow, inst *dag.Instance, plan *dag.Plan, e *Explanation) error {
	for i := range e.Causes {
		if err := s.addDependents(ctx, row, inst, plan, &e.Causes[i]); err != nil {
			return err
		}
	}
	task, ok := plan.Task(e.Args["task"])
	if !ok || inst.Tasks[task].State != dag.TaskRunning || e.Code != string(dag.TaskRunning) {
		return nil
	}
	spec, ok := plan.Definition.Tasks[task].Spec.(*dag.DependentSpec)
	if !ok {
		return nil
	}
	facts, err := row.Facts()
	if err != nil {
		return err
	}
	by := sql.Asker{Instance: row.ID, WorkflowID: row.WorkflowID, At: facts.Base()}
	tree := spec.Tree(row.Project)
	items := tree.Items()
	findings := make([]interval.Finding, len(items))
	for i, item := range items {
		if findings[i], err = s.finding(ctx, item, by); err != nil {
			return err
		}
	}
	e.Causes = append(e.Causes, findingFace(interval.Decide(tree, findings, interval.OnFailure(spec.OnFailure))))
	return nil
}

// finding judges one item for the caller, who may not know its project.
func (s *Server) finding(ctx context.Context, item interval.Item, by sql.Asker) (interval.Finding, error) {
	if p, err := s.store.Project(ctx, item.Project); err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
		return interval.Finding{Verdict: interval.Waiting, Code: interval.CodeMissing, Text: "it waits for a run in a project that you may not see"}, nil
	}
	facts, _, err := s.store.Dependency(ctx, item, by)
	if err != nil {
		return interval.Finding{}, fmt.Errorf("read what is waited for: %w", err)
	}
	return interval.Judge(item, by.At, facts), nil
}

func findingFace(f interval.Finding) Explanation {
	e := Explanation{Code: f.Code, Args: f.Args, Text: f.Text}
	for _, c := range f.Causes {
		e.Causes = append(e.Causes, findingFace(c))
	}
	return e
}
