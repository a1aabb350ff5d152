package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// LeftOutWorkflow is a workflow downstream that is not run.
type LeftOutWorkflow struct {
	Project  string `json:"project"`
	Workflow string `json:"workflow"`
	Why      string `json:"why" enum:"not_allowed,params" doc:"not_allowed: the caller may not start it; params: a parameter without default must be given."`
}

const (
	// dependingPage is how many workflows with dependents are read at a time.
	dependingPage = 200
	// maxDownstream bounds the workflows of one backfill.
	maxDownstream = 100
)

// waiter is a workflow with dependent tasks, as it is published.
type waiter struct {
	workflow sql.Workflow
	plan     *dag.Plan
}

// below is what waits for what, by the folded names of project and workflow. What the caller may not see is not there.
type below map[[2]string][]waiter

func foldedName(project, workflow string) [2]string {
	return [2]string{dag.FoldName(project), dag.FoldName(workflow)}
}

// dependents reads which workflows wait for which.
func (s *Server) dependents(ctx context.Context) (below, error) {
	who, out := callOf(ctx).who, below{}
	for after, last := int64(0), false; !last; {
		ids, err := s.store.DependingWorkflows(ctx, after, dependingPage)
		if err != nil {
			return nil, fmt.Errorf("read what waits: %w", err)
		}
		if last = len(ids) < dependingPage; len(ids) == 0 {
			break
		}
		after = ids[len(ids)-1]
		workflows, err := s.store.WorkflowsByID(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("read what waits: %w", err)
		}
		for _, w := range workflows {
			if w.Published == 0 || who.role(w.ProjectID) < roleViewer {
				continue
			}
			plan, err := s.plans.get(ctx, w.ID, w.Published)
			if err != nil {
				return nil, err
			}
			for name := range waitsFor(w.Project, plan.Definition) {
				out[name] = append(out[name], waiter{w, plan})
			}
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b waiter) int { return cmp.Compare(a.workflow.ID, b.workflow.ID) })
	}
	return out, nil
}

// waitsFor are the workflows that the dependent tasks of a definition look at.
func waitsFor(project string, def *dag.Definition) map[[2]string]bool {
	names := map[[2]string]bool{}
	for i := range def.Tasks {
		if spec, ok := def.Tasks[i].Spec.(*dag.DependentSpec); ok {
			spec.Each(project, func(_ string, item interval.Item) { names[foldedName(item.Project, item.Workflow)] = true })
		}
	}
	return names
}

// downstream lists all that waits for a workflow, directly or through others, in an order in which each comes after
// what it waits for. Where they wait for each other in a circle, the one that is met first comes first. What is
// left out is not followed, since it will not run.
func (s *Server) downstream(ctx context.Context, root sql.Workflow) (list []waiter, out []LeftOutWorkflow, err error) {
	all, err := s.dependents(ctx)
	if err != nil {
		return nil, nil, err
	}
	who, seen := callOf(ctx).who, map[int64]bool{root.ID: true}
	var visit func(project, workflow string)
	visit = func(project, workflow string) {
		for _, w := range all[foldedName(project, workflow)] {
			if seen[w.workflow.ID] {
				continue
			}
			seen[w.workflow.ID] = true
			switch {
			case who.role(w.workflow.ProjectID) < roleOperator:
				out = append(out, LeftOutWorkflow{w.workflow.Project, w.workflow.Name, "not_allowed"})
				continue
			case len(dag.CheckParams(w.plan.Definition, nil)) > 0:
				out = append(out, LeftOutWorkflow{w.workflow.Project, w.workflow.Name, "params"})
				continue
			}
			visit(w.workflow.Project, w.workflow.Name)
			list = append(list, w) // after all that wait for it
		}
	}
	visit(root.Project, root.Name)
	slices.Reverse(list)
	return list, out, nil
}
