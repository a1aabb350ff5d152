package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// InstanceView is all that the console's page of an instance shows first, in one answer:
// its tasks are not paged, since the definition bounds them.
type InstanceView struct {
	Instance Instance `json:"instance"`
	Tasks    []Task   `json:"tasks" nullable:"false" doc:"All of them, in the order of the definition."`
	// Approvals is absent for an instance that has asked nobody.
	Approvals []Approval `json:"approvals,omitempty" doc:"Of its approval tasks the latest attempts, with what people said."`
	Graph     *Graph     `json:"graph,omitempty" doc:"Of the instance's version; absent unless drawing is asked for."`
	Layout    *Layout    `json:"layout,omitempty" doc:"The workflow's canvas; absent unless drawing is asked for."`
}

type viewAnswer struct{ Body InstanceView }

type viewInstance struct {
	InstancePath
	Drawing bool `query:"drawing" doc:"Whether the graph and the canvas are wanted, too: the graph of a version never changes."`
}

func (s *Server) viewRoutes() {
	add(s, spec{
		id: "view-instance", method: "GET", path: "/instances/{id}/view", tag: "instances",
		summary: "Read an instance with all its tasks, and how to draw them", access: access{need: roleViewer, object: ofInstance},
	}, s.viewInstance)
}

func (s *Server) viewInstance(ctx context.Context, in *viewInstance) (*viewAnswer, error) {
	row := callOf(ctx).instance
	rows, err := s.allTasks(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	faces, err := s.acknowledgedFaces(ctx, []sql.InstanceRow{row})
	if err != nil {
		return nil, err
	}
	out := &viewAnswer{Body: InstanceView{Instance: faces[0], Tasks: make([]Task, len(rows))}}
	for i := range rows {
		out.Body.Tasks[i] = taskFace(rows[i])
	}
	if err := s.addKept(ctx, row, rows, out.Body.Tasks); err != nil {
		return nil, err
	}
	if err := s.addItems(ctx, row.ID, rows, out.Body.Tasks); err != nil {
		return nil, err
	}
	if out.Body.Approvals, err = s.approvalsOf(ctx, row, rows, func(sql.TaskRow) bool { return true }); err != nil {
		return nil, err
	}
	if !in.Drawing {
		return out, nil
	}
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return nil, fmt.Errorf("graph of version %d: %w", row.Version, err)
	}
	graph := graphFace(plan.Definition, row.Version)
	layout, err := s.layoutOf(ctx, row.WorkflowID)
	if err != nil {
		return nil, err
	}
	out.Body.Graph, out.Body.Layout = &graph, &layout
	return out, nil
}

// allTasks reads an instance's tasks page by page: no statement holds the store for long.
func (s *Server) allTasks(ctx context.Context, instanceID int64) ([]sql.TaskRow, error) {
	var all []sql.TaskRow
	page := sql.Page{Limit: maxPage}
	for {
		rows, next, err := s.store.Tasks(ctx, instanceID, page)
		if err != nil {
			return nil, fmt.Errorf("read tasks: %w", err)
		}
		all = append(all, rows...)
		if next == "" {
			return all, nil
		}
		page.Cursor = next
	}
}

// addItems says of dynamic tasks how far their items are.
func (s *Server) addItems(ctx context.Context, instanceID int64, rows []sql.TaskRow, tasks []Task) error {
	at := map[int]*Task{}
	for i := range rows {
		if rows[i].ItemCount > 0 {
			at[rows[i].Index] = &tasks[i]
		}
	}
	if len(at) == 0 {
		return nil
	}
	counts, err := s.store.ItemCounts(ctx, instanceID)
	if err != nil {
		return err
	}
	for _, c := range counts {
		task, ok := at[c.Task]
		if !ok {
			continue // its list came after the tasks were read
		}
		if task.ItemStates == nil {
			task.ItemStates = map[string]int{}
		}
		if c.State == dag.ItemAgain || c.State == dag.ItemRejoin {
			c.State = dag.ItemWaiting
		}
		task.ItemStates[string(c.State)] += c.Count
	}
	return nil
}

// addKept says of tasks that were taken over where they ran; those of later rounds ran here.
func (s *Server) addKept(ctx context.Context, in sql.InstanceRow, rows []sql.TaskRow, tasks []Task) error {
	if in.RerunOf == 0 {
		return nil
	}
	kept, err := s.store.Kept(ctx, in.ID)
	if err != nil {
		return err
	}
	from := make(map[int]KeptFrom, len(kept))
	for _, k := range kept {
		from[k.Task] = KeptFrom{InstanceID: ID(k.FromInstance), Attempt: k.FromAttempt}
	}
	for i := range rows {
		if k, ok := from[rows[i].Index]; ok && rows[i].Round == 1 {
			tasks[i].KeptFrom = &k
		}
	}
	return nil
}
