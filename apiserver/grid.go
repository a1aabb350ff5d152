package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Grid is the instances of a workflow beside each other, task by task, in columns of letters.
type Grid struct {
	Version int `json:"version" doc:"The newest version, whose tasks are the first rows; 0 while there is none."`
	// States names the letters, so that whoever reads a grid by hand needs no other page.
	States    map[string]dag.TaskState `json:"states" nullable:"false" doc:"What the letters in cells stand for. A dot is no such task, a question mark a state without a letter."`
	Tasks     []string                 `json:"tasks" nullable:"false" doc:"The rows: the tasks of the newest version, each after all that it needs; then those that only older versions have."`
	Gone      int                      `json:"gone" doc:"The first row that the newest version does not have."`
	Median    []int64                  `json:"median_ms" nullable:"false" doc:"Per row, of the durations in this answer; took counts from it."`
	Instances []GridInstance           `json:"instances" nullable:"false" doc:"The newest last."`
	Next      string                   `json:"next_cursor,omitempty" doc:"For before: the instances older than these. Absent: there are none."`
}

// GridInstance is one column of a grid.
type GridInstance struct {
	ID           ID                `json:"id"`
	State        dag.InstanceState `json:"state"`
	Trigger      sql.Trigger       `json:"trigger" enum:"manual,schedule,end,webhook,backfill,child,rerun" doc:"What started it. end: the end of another workflow's instance."`
	Version      int               `json:"version"`
	Round        int               `json:"round"`
	Seq          int64             `json:"seq"`
	ScheduleTime Time              `json:"schedule_time,omitempty"`
	CreatedAt    Time              `json:"created_at"`
	StartedAt    Time              `json:"started_at,omitempty"`
	FinishedAt   Time              `json:"finished_at,omitempty"`
	Cells        string            `json:"cells" doc:"A letter per row, and behind it how often it stands there: s3f is sssf."`
	Took         string            `json:"took" doc:"A letter per row: how far the duration is from the row's median, in steps of 3 %, the letter in the middle of the alphabet being the median. A space is none, a tilde stands for one in far; spaces at the end are left out."`
	Far          []int64           `json:"far,omitempty" doc:"Pairs of a row and a duration in ms."`
	Attempts     []int             `json:"attempts,omitempty" doc:"Pairs of a row and its latest attempt, where that is not the first."`
}

type gridAnswer struct{ Body Grid }

type readGrid struct {
	WorkflowPath
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"30" doc:"At most so many instances; fewer where the workflow has thousands of tasks."`
	Before string `query:"before" maxLength:"1024" doc:"next_cursor of the answer before: older instances."`
	State  string `query:"state" maxLength:"200" doc:"Of instances, comma-separated. The rows stay the same."`
	Until  string `query:"until" maxLength:"64" doc:"Only instances that were created before this moment, RFC 3339."`
	IDs    string `query:"ids" maxLength:"2100" doc:"Only these instances of the workflow, comma-separated, at most 100; no other filter counts then."`
}

const (
	// maxGridIDs is how many instances are read anew at once.
	maxGridIDs = 100
	// maxGridCells bounds the cells of one answer, which are rows of the database: 2,000 tasks of 100 instances.
	maxGridCells = 200_000
)

func (s *Server) gridRoutes() {
	const one = "/projects/{project}/workflows/{workflow}"
	view := access{need: roleViewer, object: ofWorkflow}
	add(s, spec{id: "read-grid", method: "GET", many: true, path: one + "/grid", tag: "workflows", summary: "Read its last instances task by task, in columns", access: view}, s.readGrid)
	add(s, spec{id: "task-history", method: "GET", many: true, path: one + "/tasks/{task}/history", tag: "workflows", summary: "Read one task of its last instances, the newest first", access: view}, s.taskHistory)
}

func (s *Server) readGrid(ctx context.Context, in *readGrid) (*gridAnswer, error) {
	w := callOf(ctx).workflow
	f, err := gridFilter(in, w)
	if err != nil {
		return nil, err
	}
	out := Grid{Version: w.Latest, States: map[string]dag.TaskState{}, Tasks: []string{}, Instances: []GridInstance{}}
	for state, letter := range gridLetters {
		out.States[string(letter)] = state
	}
	if w.Latest > 0 {
		// A version that can no longer be read has no order: its tasks come as the instances have them.
		if plan, err := s.plans.get(ctx, w.ID, w.Latest); err == nil {
			for _, i := range plan.Order {
				out.Tasks = append(out.Tasks, plan.Definition.Tasks[i].Name)
			}
		}
	}
	out.Gone = len(out.Tasks)
	limit := min(max(1, in.Limit), max(1, maxGridCells/max(1, out.Gone)))
	rows, next, err := s.store.Instances(ctx, f, sql.Page{Cursor: in.Before, Limit: limit})
	if errors.Is(err, sql.ErrBadCursor) {
		return nil, wrongField(http.StatusBadRequest, "before", "invalid", "", "before is not what an answer of this grid gave")
	}
	if err != nil {
		return nil, fmt.Errorf("grid of workflow %d: %w", w.ID, err)
	}
	out.Next = next
	rows = slices.DeleteFunc(rows, func(r sql.InstanceRow) bool { return r.WorkflowID != w.ID })
	// Ids come as they were asked for, lists come the newest first: a grid is read from the left.
	slices.SortFunc(rows, func(a, b sql.InstanceRow) int {
		if a.CreatedAt != b.CreatedAt {
			return int(a.CreatedAt - b.CreatedAt)
		}
		return int(a.ID - b.ID)
	})
	if err := s.fillGrid(ctx, &out, rows); err != nil {
		return nil, err
	}
	return &gridAnswer{Body: out}, nil
}

func gridFilter(in *readGrid, w sql.Workflow) (sql.InstanceFilter, error) {
	f := sql.InstanceFilter{WorkflowID: w.ID}
	states, wrong := parseStates(in.State)
	if len(wrong) > 0 {
		return f, problem(http.StatusBadRequest, wrong[0].Message, wrong...)
	}
	f.States = states
	if in.Until != "" {
		until, err := parseTime(in.Until)
		if err != nil {
			return f, wrongField(http.StatusBadRequest, "until", "invalid_time", in.Until, "%v", err)
		}
		f.To = until
	}
	if in.IDs == "" {
		return f, nil
	}
	f.ProjectIDs, f.To = []int64{w.ProjectID}, 0
	for text := range strings.SplitSeq(in.IDs, ",") {
		id, ok := parseID(text)
		if !ok || len(f.IDs) >= maxGridIDs {
			return f, badID("ids", text)
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}

// fillGrid reads the cells, instance by instance: no statement holds the store for long.
func (s *Server) fillGrid(ctx context.Context, g *Grid, rows []sql.InstanceRow) error {
	place := make(map[string]int, len(g.Tasks))
	for i, name := range g.Tasks {
		place[name] = i
	}
	all := make([][]sql.Cell, len(rows))
	for i := range rows {
		var err error
		if all[i], err = s.cells.get(ctx, &rows[i]); err != nil {
			return err
		}
	}
	// The newest first: what is gone lately stands above what has been gone for long.
	for _, cells := range slices.Backward(all) {
		for _, c := range cells {
			if _, known := place[c.Name]; !known {
				place[c.Name] = len(g.Tasks)
				g.Tasks = append(g.Tasks, c.Name)
			}
		}
	}
	columns := make([]gridColumn, len(rows))
	for i, cells := range all {
		columns[i] = newGridColumn(len(g.Tasks))
		for _, c := range cells {
			columns[i].set(place[c.Name], c)
		}
	}
	g.Median = gridBase(columns, len(g.Tasks))
	g.Instances = make([]GridInstance, len(rows))
	for i := range rows {
		g.Instances[i] = gridFace(&rows[i])
		columns[i].encode(g.Median, &g.Instances[i])
	}
	return nil
}

func gridFace(r *sql.InstanceRow) GridInstance {
	return GridInstance{
		ID: ID(r.ID), State: r.State, Trigger: r.Trigger(), Version: r.Version, Round: r.Round, Seq: r.Seq,
		ScheduleTime: Time(r.ScheduleTime), CreatedAt: Time(r.CreatedAt), StartedAt: Time(r.StartedAt), FinishedAt: Time(r.FinishedAt),
	}
}
