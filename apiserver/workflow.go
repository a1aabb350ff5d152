package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// Workflow is a workflow as lists show it.
type Workflow struct {
	ID          ID     `json:"id"`
	Project     string `json:"project"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Published   int    `json:"published" doc:"The version that starts and schedules use; 0 while none is."`
	Latest      int    `json:"latest" doc:"The newest version; 0 while there is only a draft."`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
	Draft       int64  `json:"draft_revision" doc:"The revision of the draft; 0 for none."`
}

// WorkflowText is a workflow with the text of its newest version.
type WorkflowText struct {
	Workflow
	Format   string `json:"format" enum:"yaml,json"`
	Text     string `json:"text" doc:"The definition, byte for byte as it was saved."`
	Backfill ID     `json:"active_backfill,omitempty" doc:"The newest backfill of it that is not over."`
}

// WorkflowPath names a workflow in a path.
type WorkflowPath struct {
	ProjectPath
	Workflow string `path:"workflow" maxLength:"512" doc:"The workflow's name."`
}

type workflowList struct{ Body List[Workflow] }

type listWorkflows struct {
	ProjectPath
	Paged
}

type workflowAnswer struct {
	ETag string `header:"ETag" doc:"The newest version, for If-Match."`
	Body WorkflowText
}

type putWorkflow struct {
	WorkflowPath
	IfMatch     string `header:"If-Match" doc:"The newest version as ETag gave it; * overwrites whatever there is. Without it a workflow is created."`
	ContentType string `header:"Content-Type"`
	Publish     bool   `query:"publish" default:"true" doc:"false saves the version without publishing it."`
	Message     string `query:"message" maxLength:"500" doc:"Why the version is saved; versions show it."`
	Draft       int64  `query:"draft" minimum:"0" doc:"The revision of the draft that the text comes from: that draft is removed as the version is saved, unless it has moved on."`
	RawBody     []byte `contentType:"application/yaml"`
}

type savedAnswer struct {
	Status int
	ETag   string `header:"ETag"`
	Body   struct {
		Workflow
		Version int  `json:"version" doc:"The version that holds the text now."`
		Created bool `json:"created" doc:"false where the text was the newest version's already."`
		Removed bool `json:"draft_removed" doc:"true where the draft went as the version came."`
	}
}

func (s *Server) workflowRoutes() {
	const one = "/projects/{project}/workflows/{workflow}"
	add(s, spec{id: "list-workflows", method: "GET", path: "/projects/{project}/workflows", tag: "workflows", summary: "List a project's workflows", access: access{need: roleViewer, object: ofProject}}, s.listWorkflows)
	add(s, spec{id: "get-workflow", method: "GET", path: one, tag: "workflows", summary: "Read a workflow with its newest text", access: access{need: roleViewer, object: ofWorkflow}}, s.getWorkflow)
	add(s, spec{id: "put-workflow", method: "PUT", path: one, tag: "workflows", summary: "Save a version, and publish it", body: definitionBody, access: access{need: roleEditor, object: ofProject}}, s.putWorkflow)
	add(s, spec{id: "delete-workflow", method: "DELETE", path: one, tag: "workflows", summary: "Delete a workflow that nothing runs or uses", access: access{need: roleEditor, object: ofWorkflow}}, s.deleteWorkflow)
}

func workflowFace(w sql.Workflow) Workflow {
	return Workflow{
		ID: ID(w.ID), Project: w.Project, Name: w.Name, Description: w.Description, Published: w.Published, Latest: w.Latest,
		CreatedAt: Time(w.CreatedAt), UpdatedAt: Time(w.UpdatedAt), Draft: w.DraftRevision,
	}
}

func etag(version int) string { return `"` + strconv.Itoa(version) + `"` }

func (s *Server) listWorkflows(ctx context.Context, in *listWorkflows) (*workflowList, error) {
	rows, next, err := s.store.Workflows(ctx, callOf(ctx).project.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	return &workflowList{Body: list(rows, next, workflowFace)}, nil
}

func (s *Server) getWorkflow(ctx context.Context, _ *WorkflowPath) (*workflowAnswer, error) {
	w := callOf(ctx).workflow
	if w.Latest == 0 {
		return &workflowAnswer{ETag: etag(0), Body: WorkflowText{Workflow: workflowFace(w), Format: document.YAML}}, nil
	}
	active, err := s.store.ActiveBackfill(ctx, w.ID)
	if err != nil {
		return nil, fmt.Errorf("look for a backfill of workflow %d: %w", w.ID, err)
	}
	v, err := s.store.Version(ctx, w.ID, w.Latest)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", w.Latest, w.ID, err)
	}
	return &workflowAnswer{ETag: etag(w.Latest), Body: WorkflowText{Workflow: workflowFace(w), Format: v.Format, Text: v.Text, Backfill: ID(active)}}, nil
}

func (s *Server) putWorkflow(ctx context.Context, in *putWorkflow) (*savedAnswer, error) {
	c := callOf(ctx)
	match, p := parseIfMatch(in.IfMatch)
	if p != nil {
		return nil, p
	}
	format := formatOf(in.ContentType)
	at := place{c.project, in.Workflow}
	def, wrong := dag.Parse(in.RawBody, format)
	if len(wrong) > 0 || def.Name != in.Workflow {
		return nil, s.refusal(ctx, at, in.RawBody, format)
	}
	before, err := s.store.Workflow(ctx, c.project.ID, in.Workflow)
	switch {
	case errors.Is(err, sql.ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("read workflow: %w", err)
	case before.Name != in.Workflow:
		return nil, nameTaken("workflow", in.Workflow, before.Name)
	}
	if p := checkMessage("message", in.Message); p != nil {
		return nil, p
	}
	if wrong, err = s.checkOthers(ctx, at, def); err != nil {
		return nil, err
	} else if len(wrong) > 0 {
		return nil, badDefinition(placed(in.RawBody, format, wrong))
	}
	return s.saveVersion(ctx, before, sql.SaveVersion{
		ProjectID: c.project.ID, Name: in.Workflow, Description: def.Description, Text: string(in.RawBody), Format: format,
		By: c.who.name, IfMatch: match, Publish: in.Publish, Message: in.Message, Draft: in.Draft,
	})
}

// saveVersion saves what has been checked, and tells those who look at the workflow.
func (s *Server) saveVersion(ctx context.Context, before sql.Workflow, save sql.SaveVersion) (*savedAnswer, error) {
	w, v, _, err := s.store.SaveVersion(ctx, save)
	if err != nil {
		return nil, s.notSaved(ctx, save.ProjectID, save.Name, save.IfMatch, err)
	}
	s.changed(w)
	out := &savedAnswer{Status: http.StatusOK, ETag: etag(w.Latest)}
	created := v.Version > before.Latest
	if created {
		out.Status = http.StatusCreated
	}
	out.Body.Workflow, out.Body.Version, out.Body.Created = workflowFace(w), v.Version, created
	out.Body.Removed = save.Draft != 0 && save.Draft == before.DraftRevision && w.DraftRevision == 0
	return out, nil
}

// notSaved says what stands in the way of a save: what is there now.
func (s *Server) notSaved(ctx context.Context, projectID int64, name string, match *int, cause error) error {
	if !errors.Is(cause, sql.ErrStale) && !errors.Is(cause, sql.ErrExists) && !errors.Is(cause, sql.ErrNotFound) {
		return fmt.Errorf("save a version: %w", cause)
	}
	now, err := s.store.Workflow(ctx, projectID, name)
	if errors.Is(err, sql.ErrNotFound) {
		return problem(http.StatusPreconditionFailed, "the workflow does not exist: leave If-Match out to create it")
	}
	if err != nil {
		return fmt.Errorf("read workflow: %w", err)
	}
	if match == nil {
		return problem(http.StatusPreconditionRequired, "the workflow exists: send If-Match with the version that you have read, or * to overwrite").
			with("ETag", etag(now.Latest))
	}
	return wrongField(http.StatusPreconditionFailed, "If-Match", "stale", strconv.Itoa(*match), "the newest version is %d by now: read it and change that", now.Latest).
		with("ETag", etag(now.Latest))
}

// badDefinition is 400 where the text could not be read at all, 422 where it could.
func badDefinition(wrong []dag.FieldError) *Problem {
	detail := strconv.Itoa(len(wrong)) + " fields of the definition are wrong"
	if len(wrong) == 1 {
		detail = wrong[0].Field + ": " + wrong[0].Message
	}
	return problem(http.StatusUnprocessableEntity, detail, wrong...)
}

// formatOf reads a Content-Type that takeBody has let through.
func formatOf(contentType string) string {
	if strings.HasPrefix(strings.ToLower(contentType), "application/json") {
		return "json"
	}
	return "yaml"
}

// parseIfMatch reads a version; nil is none given, -1 any.
func parseIfMatch(h string) (*int, *Problem) {
	h = strings.TrimSpace(h)
	if h == "" {
		return nil, nil
	}
	n := -1
	if h != "*" {
		text := strings.Trim(strings.TrimPrefix(h, "W/"), `"`)
		id, ok := parseID(text)
		ok = ok || text == "0" // of a workflow that is only a draft yet
		if !ok || id > 1<<31-1 {
			return nil, wrongField(http.StatusBadRequest, "If-Match", "invalid", h, "If-Match must be a version such as \"3\", or *")
		}
		n = int(id)
	}
	return &n, nil
}

// checkMessage bounds the words that go with a version.
func checkMessage(field, message string) *Problem {
	if strings.IndexFunc(message, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) >= 0 {
		return wrongField(http.StatusUnprocessableEntity, field, document.CodeInvalid, message, "a message must not have control characters")
	}
	return nil
}

func (s *Server) deleteWorkflow(ctx context.Context, _ *WorkflowPath) (*struct{}, error) {
	w := callOf(ctx).workflow
	if err := s.store.DeleteWorkflow(ctx, w.ID); err != nil {
		return nil, fmt.Errorf("delete workflow %d: %w", w.ID, err)
	}
	s.changedByID(ctx, w.ID)
	return nil, nil
}
