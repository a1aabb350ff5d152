package apiserver

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// overviewSpan is how far back the counts of a project reach.
const overviewSpan = 24 * time.Hour

// lastShown is how many instances of each workflow the overview tells of.
const lastShown = 10

// Day counts the instances that were created in the last 24 hours, each up to 1000.
type Day struct {
	Success int `json:"success"`
	Failed  int `json:"failed" doc:"Failed, or quarantined."`
	Stopped int `json:"stopped"`
	Open    int `json:"open" doc:"Not at their end yet."`
}

// ProjectOverview is a project with what went on in it lately.
type ProjectOverview struct {
	Project
	Workflows int `json:"workflows" doc:"How many it has."`
	Day       Day `json:"day" doc:"Its instances of the last 24 hours."`
}

// WorkflowOverview is a workflow with what went on with it lately.
type WorkflowOverview struct {
	Workflow
	ChangedBy string         `json:"changed_by" doc:"Who saved the newest version."`
	Last      []LastInstance `json:"last" nullable:"false" doc:"Its last ten instances, the newest first."`
}

// LastInstance is one of a workflow's last instances.
type LastInstance struct {
	ID        ID                `json:"id"`
	State     dag.InstanceState `json:"state"`
	CreatedAt Time              `json:"created_at"`
}

type projectOverviews struct{ Body List[ProjectOverview] }

type workflowOverviews struct{ Body List[WorkflowOverview] }

func (s *Server) overviewRoutes() {
	add(s, spec{id: "overview-projects", method: "GET", many: true, path: "/overview", tag: "projects", summary: "List the projects that the caller may see, with their last 24 hours", access: access{object: perItem}}, s.overviewProjects)
	add(s, spec{id: "overview-workflows", method: "GET", many: true, path: "/projects/{project}/overview", tag: "workflows", summary: "List a project's workflows with their last instances", access: access{need: roleViewer, object: ofProject}}, s.overviewWorkflows)
}

func (s *Server) overviewProjects(ctx context.Context, in *Paged) (*projectOverviews, error) {
	page, err := s.listProjects(ctx, in)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(page.Body.Items))
	for i, p := range page.Body.Items {
		ids[i] = int64(p.ID)
	}
	seen, err := s.store.ProjectActivities(ctx, ids, dag.MillisOf(s.now().Add(-overviewSpan)))
	if err != nil {
		return nil, fmt.Errorf("read the projects' last day: %w", err)
	}
	out := List[ProjectOverview]{Items: make([]ProjectOverview, len(ids)), NextCursor: page.Body.NextCursor}
	for i, p := range page.Body.Items {
		a := seen[int64(p.ID)]
		out.Items[i] = ProjectOverview{Project: p, Workflows: a.Workflows, Day: dayOf(a.Instances)}
	}
	return &projectOverviews{Body: out}, nil
}

func dayOf(counts map[dag.InstanceState]int) Day {
	var d Day
	for state, n := range counts {
		switch state {
		case dag.InstanceSuccess:
			d.Success += n
		case dag.InstanceFailed, dag.InstanceQuarantined:
			d.Failed += n
		case dag.InstanceStopped:
			d.Stopped += n
		case dag.InstanceSubmitted, dag.InstanceSerialWait, dag.InstanceRunning, dag.InstancePausing, dag.InstancePaused, dag.InstanceStopping:
			d.Open += n
		}
	}
	return d
}

func (s *Server) overviewWorkflows(ctx context.Context, in *listWorkflows) (*workflowOverviews, error) {
	rows, next, err := s.store.Workflows(ctx, callOf(ctx).project.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	ids := make([]int64, len(rows))
	for i, w := range rows {
		ids[i] = w.ID
	}
	seen, err := s.store.WorkflowActivities(ctx, ids, lastShown)
	if err != nil {
		return nil, fmt.Errorf("read the workflows' last instances: %w", err)
	}
	return &workflowOverviews{Body: list(rows, next, func(w sql.Workflow) WorkflowOverview {
		a := seen[w.ID]
		out := WorkflowOverview{Workflow: workflowFace(w), ChangedBy: a.ChangedBy, Last: make([]LastInstance, len(a.Last))}
		for i, l := range a.Last {
			out.Last[i] = LastInstance{ID: ID(l.ID), State: l.State, CreatedAt: Time(l.CreatedAt)}
		}
		return out
	})}, nil
}
