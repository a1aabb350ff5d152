package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// draftWord names the draft where a version is wanted.
const draftWord = "draft"

// Diff is what differs between two texts of a workflow. Order, comments and spacing do not
// count: where only they differ, same_text is false and all lists are empty.
type Diff struct {
	From     string      `json:"from" doc:"The first version, or draft."`
	To       string      `json:"to" doc:"The second version, or draft."`
	SameText bool        `json:"same_text" doc:"The two texts are the same, byte for byte."`
	Tasks    TasksDiff   `json:"tasks"`
	Edges    EdgesDiff   `json:"edges"`
	Settings []FieldDiff `json:"settings" nullable:"false" doc:"Fields of the workflow itself."`
	Cut      bool        `json:"cut" doc:"There is more than is listed."`
}

// TasksDiff is what differs in the tasks. They are told apart by name.
type TasksDiff struct {
	Added   []string   `json:"added" nullable:"false"`
	Removed []string   `json:"removed" nullable:"false"`
	Changed []TaskDiff `json:"changed" nullable:"false"`
}

// TaskDiff is what differs in a task that both texts have; its needs are edges.
type TaskDiff struct {
	Task   string      `json:"task"`
	Fields []FieldDiff `json:"fields" nullable:"false"`
}

// FieldDiff is one value that differs.
type FieldDiff struct {
	Field  string  `json:"field" doc:"As errors name it: retry.times, env.HOME."`
	Before *string `json:"before,omitempty" doc:"Absent where there was none. At most 2 KiB; one that was cut ends with …. A list is JSON."`
	After  *string `json:"after,omitempty" doc:"Absent where there is none any more."`
}

// EdgesDiff is what differs in the needs of all tasks.
type EdgesDiff struct {
	Added   []DiffEdge `json:"added" nullable:"false"`
	Removed []DiffEdge `json:"removed" nullable:"false"`
}

// DiffEdge is one entry of a task's needs: to needs from.
type DiffEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type diffVersions struct {
	VersionPath
	Other string `path:"other" maxLength:"32" doc:"Another version, or draft."`
}

type diffAnswer struct{ Body Diff }

func (s *Server) diffRoutes() {
	add(s, spec{
		id: "diff-versions", method: "GET", path: "/projects/{project}/workflows/{workflow}/versions/{version}/diff/{other}", tag: "workflows",
		summary: "Say what differs between two versions, or a version and the draft", access: access{need: roleViewer, object: ofWorkflow},
	}, s.diffVersions)
}

func (s *Server) diffVersions(ctx context.Context, in *diffVersions) (*diffAnswer, error) {
	before, err := s.textOf(ctx, in.Version, "version")
	if err != nil {
		return nil, err
	}
	after, err := s.textOf(ctx, in.Other, "other")
	if err != nil {
		return nil, err
	}
	d, wrong := dag.Compare([]byte(before.Text), []byte(after.Text), before.Format, after.Format)
	if len(wrong) > 0 {
		return nil, badDefinition(wrong)
	}
	out := Diff{
		From: in.Version, To: in.Other, SameText: before.Text == after.Text, Cut: d.Cut,
		Tasks:    TasksDiff{Added: orEmpty(d.Added), Removed: orEmpty(d.Removed), Changed: make([]TaskDiff, len(d.Changed))},
		Edges:    EdgesDiff{Added: edgesFace(d.EdgesAdded), Removed: edgesFace(d.EdgesRemoved)},
		Settings: fieldsFace(d.Settings),
	}
	for i, c := range d.Changed {
		out.Tasks.Changed[i] = TaskDiff{Task: c.Task, Fields: fieldsFace(c.Fields)}
	}
	return &diffAnswer{Body: out}, nil
}

// textOf reads a version of the call's workflow, or its draft as if it were one.
func (s *Server) textOf(ctx context.Context, which, field string) (sql.Version, error) {
	w := callOf(ctx).workflow
	if which == draftWord {
		d, err := s.store.Draft(ctx, w.ID)
		if errors.Is(err, sql.ErrNotFound) {
			return sql.Version{}, problem(http.StatusNotFound, "the workflow has no draft")
		}
		if err != nil {
			return sql.Version{}, fmt.Errorf("read draft: %w", err)
		}
		return sql.Version{Text: d.Text, Format: d.Format}, nil
	}
	n, ok := parseID(which)
	if !ok {
		return sql.Version{}, wrongField(http.StatusBadRequest, field, "invalid_id", which, "%s must be a version's number, or draft", field)
	}
	if n > 1<<31-1 {
		return sql.Version{}, notFound()
	}
	v, err := s.store.Version(ctx, w.ID, int(n))
	if err != nil {
		return sql.Version{}, fmt.Errorf("read version %s of workflow %d: %w", strconv.FormatInt(n, 10), w.ID, err)
	}
	return v, nil
}

func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func edgesFace(edges []dag.Edge) []DiffEdge {
	out := make([]DiffEdge, len(edges))
	for i, e := range edges {
		out[i] = DiffEdge(e)
	}
	return out
}

func fieldsFace(fields []dag.FieldDifference) []FieldDiff {
	out := make([]FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = FieldDiff(f)
	}
	return out
}
