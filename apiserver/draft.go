package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// Draft is unfinished text: kept as it is, errors and all.
type Draft struct {
	Format      string `json:"format" enum:"yaml,json"`
	Text        string `json:"text"`
	BaseVersion int    `json:"base_version" doc:"The version that the draft was made from; 0 for none."`
	Revision    int64  `json:"revision" doc:"Rises with every change of the draft, also over its deletion."`
	UpdatedAt   Time   `json:"updated_at"`
	UpdatedBy   string `json:"updated_by"`
}

type draftAnswer struct {
	ETag string `header:"ETag" doc:"The revision, for If-Match."`
	Body Draft
}

type draftSaved struct {
	Status int
	ETag   string `header:"ETag" doc:"The revision, for If-Match."`
	Body   Draft
}

type putDraft struct {
	WorkflowPath
	IfMatch     string `header:"If-Match" doc:"The revision as ETag gave it; * overwrites whatever there is. Required where a draft exists."`
	BaseVersion int    `query:"base_version" default:"-1" minimum:"-1" maximum:"2147483647" doc:"The version that the text was made from, 0 for none. -1 leaves the draft's own, and is the newest version for a new draft."`
	ContentType string `header:"Content-Type"`
	RawBody     []byte `contentType:"application/yaml"`
}

type deleteDraft struct {
	WorkflowPath
	IfMatch string `header:"If-Match" doc:"The revision that is meant as ETag gave it, or *. Required."`
}

// Place is where a task stands on the canvas.
type Place struct {
	X float64 `json:"x" minimum:"-1000000" maximum:"1000000"`
	Y float64 `json:"y" minimum:"-1000000" maximum:"1000000"`
}

// Layout is the canvas of a workflow; tasks that are not named are placed automatically.
type Layout struct {
	Tasks map[string]Place `json:"tasks" nullable:"false" doc:"By task name."`
}

type layoutAnswer struct{ Body Layout }

type putLayout struct {
	WorkflowPath
	Body Layout
}

func (s *Server) draftRoutes() {
	const one = "/projects/{project}/workflows/{workflow}"
	view, edit := access{need: roleViewer, object: ofWorkflow}, access{need: roleEditor, object: ofWorkflow}
	add(s, spec{id: "get-draft", method: "GET", path: one + "/draft", tag: "workflows", summary: "Read the draft", access: view}, s.getDraft)
	add(s, spec{id: "put-draft", method: "PUT", path: one + "/draft", tag: "workflows", summary: "Keep a draft, errors allowed; a workflow that does not exist is made, without a version", body: definitionBody, access: access{need: roleEditor, object: ofProject}}, s.putDraft)
	add(s, spec{id: "delete-draft", method: "DELETE", path: one + "/draft", tag: "workflows", summary: "Throw the draft away, and with it a workflow that never had a version", access: edit}, s.deleteDraft)
	add(s, spec{id: "get-layout", method: "GET", path: one + "/layout", tag: "workflows", summary: "Read the canvas", access: view}, s.getLayout)
	add(s, spec{id: "put-layout", method: "PUT", path: one + "/layout", tag: "workflows", summary: "Keep the canvas", body: jsonBody, access: edit}, s.putLayout)
}

func draftFace(d sql.Draft) Draft {
	return Draft{
		Format: d.Format, Text: d.Text, BaseVersion: d.BaseVersion, Revision: d.Revision,
		UpdatedAt: Time(d.UpdatedAt), UpdatedBy: d.UpdatedBy,
	}
}

func revisionTag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

func (s *Server) getDraft(ctx context.Context, _ *WorkflowPath) (*draftAnswer, error) {
	d, err := s.store.Draft(ctx, callOf(ctx).workflow.ID)
	if err != nil {
		return nil, fmt.Errorf("read draft: %w", err)
	}
	return &draftAnswer{ETag: revisionTag(d.Revision), Body: draftFace(d)}, nil
}

// putDraft is about a project's workflow that need not be there: a new definition is kept
// from its first word on, long before it can be saved.
func (s *Server) putDraft(ctx context.Context, in *putDraft) (*draftSaved, error) {
	c := callOf(ctx)
	match, p := parseRevision(in.IfMatch)
	if p != nil {
		return nil, p
	}
	if !utf8.Valid(in.RawBody) {
		return nil, wrongField(http.StatusUnprocessableEntity, "body", document.CodeEncoding, "", "the draft is not valid UTF-8")
	}
	if wrong := dag.CheckName("workflow", in.Workflow); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
	}
	before, err := s.store.Workflow(ctx, c.project.ID, in.Workflow)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		if match != nil && *match != sql.AnyRevision {
			return nil, problem(http.StatusPreconditionFailed, "the workflow does not exist: leave If-Match out to begin it")
		}
	case err != nil:
		return nil, fmt.Errorf("read workflow: %w", err)
	case before.Name != in.Workflow:
		return nil, nameTaken("workflow", in.Workflow, before.Name)
	}
	w, d, _, err := s.store.SaveDraft(ctx, sql.SaveDraft{
		ProjectID: c.project.ID, Name: in.Workflow, Text: string(in.RawBody), Format: formatOf(in.ContentType), By: c.who.name,
		BaseVersion: in.BaseVersion, IfMatch: match,
	})
	if errors.Is(err, sql.ErrNotFound) && before.Latest < in.BaseVersion {
		return nil, wrongField(http.StatusUnprocessableEntity, "base_version", "not_found", strconv.Itoa(in.BaseVersion), "there is no version %d; the newest is %d", in.BaseVersion, before.Latest)
	}
	if err != nil {
		return nil, s.draftNotKept(ctx, c.project.ID, in.Workflow, match, err)
	}
	s.changed(w)
	out := &draftSaved{Status: http.StatusOK, ETag: revisionTag(d.Revision), Body: draftFace(d)}
	if before.DraftRevision == 0 {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// draftNotKept says whose draft stands in the way.
func (s *Server) draftNotKept(ctx context.Context, projectID int64, name string, match *int64, cause error) error {
	if !errors.Is(cause, sql.ErrStale) && !errors.Is(cause, sql.ErrExists) {
		return fmt.Errorf("keep draft: %w", cause)
	}
	w, err := s.store.Workflow(ctx, projectID, name)
	if err != nil {
		return fmt.Errorf("read workflow: %w", err)
	}
	now, err := s.store.Draft(ctx, w.ID)
	if errors.Is(err, sql.ErrNotFound) {
		p := wrongField(http.StatusPreconditionFailed, "If-Match", "gone", revisionTag(*match), "the draft is gone: %s saved or threw it away", w.ChangedBy)
		p.Errors[0].Args = dag.Args{"by": w.ChangedBy, "at": Time(w.ChangedAt), "revision": 0}
		return p
	}
	if err != nil {
		return fmt.Errorf("read draft: %w", err)
	}
	args := dag.Args{"by": now.UpdatedBy, "at": Time(now.UpdatedAt), "revision": now.Revision}
	var p *Problem
	if match == nil {
		p = wrongField(http.StatusPreconditionRequired, "If-Match", "required", "", "there is a draft of %s: send If-Match with the revision that you have read, or * to overwrite", now.UpdatedBy)
	} else {
		p = wrongField(http.StatusPreconditionFailed, "If-Match", "stale", strconv.FormatInt(*match, 10), "%s has changed the draft meanwhile, its revision is %d by now", now.UpdatedBy, now.Revision)
	}
	p.Errors[0].Args = args
	return p.with("ETag", revisionTag(now.Revision))
}

func (s *Server) deleteDraft(ctx context.Context, in *deleteDraft) (*struct{}, error) {
	c := callOf(ctx)
	match, p := parseRevision(in.IfMatch)
	if p != nil {
		return nil, p
	}
	if match == nil {
		p := wrongField(http.StatusPreconditionRequired, "If-Match", "required", "", "send If-Match with the revision that you have read, or * for whatever there is")
		return nil, p
	}
	err := s.store.DeleteDraft(ctx, sql.DeleteDraft{WorkflowID: c.workflow.ID, IfMatch: *match, By: c.who.name})
	if errors.Is(err, sql.ErrStale) {
		return nil, s.draftNotKept(ctx, c.project.ID, c.workflow.Name, match, err)
	}
	if err != nil {
		return nil, fmt.Errorf("delete draft: %w", err)
	}
	s.changedByID(ctx, c.workflow.ID)
	return nil, nil
}

// parseRevision reads the If-Match of a draft; nil is none given.
func parseRevision(h string) (*int64, *Problem) {
	h = strings.TrimSpace(h)
	if h == "" {
		return nil, nil
	}
	n := int64(sql.AnyRevision)
	if h != "*" {
		var ok bool
		if n, ok = parseID(strings.Trim(strings.TrimPrefix(h, "W/"), `"`)); !ok {
			return nil, wrongField(http.StatusBadRequest, "If-Match", "invalid", h, "If-Match must be a revision such as \"3\", or *")
		}
	}
	return &n, nil
}

func (s *Server) getLayout(ctx context.Context, _ *WorkflowPath) (*layoutAnswer, error) {
	l, err := s.layoutOf(ctx, callOf(ctx).workflow.ID)
	return &layoutAnswer{Body: l}, err
}

// layoutOf returns a workflow's canvas, an empty one where none was kept.
func (s *Server) layoutOf(ctx context.Context, workflowID int64) (Layout, error) {
	out := Layout{Tasks: map[string]Place{}}
	l, err := s.store.Layout(ctx, workflowID)
	if errors.Is(err, sql.ErrNotFound) {
		// Nobody has moved a task yet: that is no error, all are placed automatically.
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read layout: %w", err)
	}
	if err := json.Unmarshal([]byte(l.Layout), &out); err != nil {
		return out, fmt.Errorf("read layout of workflow %d: %w", workflowID, err)
	}
	return out, nil
}

func (s *Server) putLayout(ctx context.Context, in *putLayout) (*layoutAnswer, error) {
	for name := range in.Body.Tasks {
		if wrong := dag.CheckName("tasks."+shown(name), name); len(wrong) > 0 {
			return nil, problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
		}
	}
	l := sql.Layout{WorkflowID: callOf(ctx).workflow.ID, Layout: string(marshalJSON(in.Body)), UpdatedAt: s.at()}
	if err := s.store.PutLayout(ctx, l); err != nil {
		return nil, fmt.Errorf("keep layout: %w", err)
	}
	return &layoutAnswer{Body: in.Body}, nil
}
