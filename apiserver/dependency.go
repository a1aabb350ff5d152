package apiserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// Dependency is one thing that a dependent task waits, or waited, for, as it stands now.
type Dependency struct {
	Project  string            `json:"project"`
	Workflow string            `json:"workflow"`
	Task     string            `json:"task,omitempty" doc:"Absent where the whole workflow is meant."`
	Date     string            `json:"date" doc:"Which runs are meant; see /dates."`
	Once     bool              `json:"once,omitempty"`
	Verdict  interval.Verdict  `json:"verdict" enum:"waiting,success,failed"`
	Code     string            `json:"code"`
	Text     string            `json:"text"`
	Args     map[string]string `json:"args,omitempty" doc:"What text says, for programs: project, workflow, task, date, from, to, instance, state, gone."`
	Instance ID                `json:"instance,omitempty" doc:"The one that it waits for, or that has failed."`
	State    string            `json:"state,omitempty" doc:"Of that instance, or of its task."`
	Runs     []ID              `json:"runs" nullable:"false" doc:"The instances that have succeeded and count, one of each interval."`
}

// DependencyList is what one dependent task waits for.
type DependencyList struct {
	At    Time         `json:"at" doc:"The moment that dates are reckoned from."`
	Items []Dependency `json:"items" nullable:"false" doc:"In the order of the text, lists in it flattened."`
}

type dependencyListAnswer struct{ Body DependencyList }

func (s *Server) dependencyRoutes() {
	add(s, spec{
		id: "list-dependencies", method: "GET", path: "/instances/{id}/tasks/{task}/dependencies", tag: "instances", summary: "List what a dependent task waits for, with the instances that count",
		access: access{need: roleViewer, object: ofInstance},
	}, s.listDependencies)
}

func (s *Server) listDependencies(ctx context.Context, in *TaskPath) (*dependencyListAnswer, error) {
	row := callOf(ctx).instance
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", row.Version, err)
	}
	task, ok := plan.Task(in.Task)
	if !ok {
		return nil, notFound()
	}
	dependent, ok := plan.Definition.Tasks[task].Spec.(*dag.DependentSpec)
	if !ok {
		kind := plan.Definition.Tasks[task].Type
		return nil, wrongField(http.StatusConflict, "task", "wrong_type", kind, "task %q waits for no other workflow: it is of the type %s", in.Task, kind)
	}
	facts, err := row.Facts()
	if err != nil {
		return nil, err
	}
	by := sql.Asker{Instance: row.ID, WorkflowID: row.WorkflowID, At: facts.Base()}
	out := DependencyList{At: Time(dag.MillisOf(by.At)), Items: []Dependency{}}
	for _, item := range dependent.Tree(row.Project).Items() {
		f, err := s.finding(ctx, item, by)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, dependencyFace(item, f))
	}
	return &dependencyListAnswer{Body: out}, nil
}

func dependencyFace(item interval.Item, f interval.Finding) Dependency {
	d := Dependency{
		Project: item.Project, Workflow: item.Workflow, Task: item.Task, Date: item.Date, Once: item.Once,
		Verdict: f.Verdict, Code: f.Code, Text: f.Text, Args: f.Args, State: f.Args["state"], Runs: []ID{},
	}
	if id, ok := parseID(f.Args["instance"]); ok {
		d.Instance = ID(id)
	}
	for _, id := range f.Runs {
		d.Runs = append(d.Runs, ID(id))
	}
	return d
}
