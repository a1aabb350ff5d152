package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// Draft is unfinished text: kept as it is, errors and all.
type Draft struct {
	Format    string `json:"format" enum:"yaml,json"`
	Text      string `json:"text"`
	UpdatedAt Time   `json:"updated_at"`
	UpdatedBy string `json:"updated_by"`
}

type draftAnswer struct{ Body Draft }

type putDraft struct {
	WorkflowPath
	ContentType string `header:"Content-Type"`
	RawBody     []byte `contentType:"application/yaml"`
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
	add(s, spec{id: "put-draft", method: "PUT", path: one + "/draft", tag: "workflows", summary: "Keep a draft, errors allowed", body: definitionBody, access: edit}, s.putDraft)
	add(s, spec{id: "delete-draft", method: "DELETE", path: one + "/draft", tag: "workflows", summary: "Throw the draft away", access: edit}, s.deleteDraft)
	add(s, spec{id: "get-layout", method: "GET", path: one + "/layout", tag: "workflows", summary: "Read the canvas", access: view}, s.getLayout)
	add(s, spec{id: "put-layout", method: "PUT", path: one + "/layout", tag: "workflows", summary: "Keep the canvas", body: jsonBody, access: edit}, s.putLayout)
}

func draftFace(d sql.Draft) Draft {
	return Draft{Format: d.Format, Text: d.Text, UpdatedAt: Time(d.UpdatedAt), UpdatedBy: d.UpdatedBy}
}

func (s *Server) getDraft(ctx context.Context, _ *WorkflowPath) (*draftAnswer, error) {
	d, err := s.store.Draft(ctx, callOf(ctx).workflow.ID)
	if err != nil {
		return nil, fmt.Errorf("read draft: %w", err)
	}
	return &draftAnswer{Body: draftFace(d)}, nil
}

func (s *Server) putDraft(ctx context.Context, in *putDraft) (*draftAnswer, error) {
	c := callOf(ctx)
	if !utf8.Valid(in.RawBody) {
		return nil, wrongField(http.StatusUnprocessableEntity, "body", document.CodeEncoding, "", "the draft is not valid UTF-8")
	}
	d := sql.Draft{WorkflowID: c.workflow.ID, Text: string(in.RawBody), Format: formatOf(in.ContentType), UpdatedBy: c.who.name, UpdatedAt: s.at()}
	if err := s.store.PutDraft(ctx, d); err != nil {
		return nil, fmt.Errorf("keep draft: %w", err)
	}
	return &draftAnswer{Body: draftFace(d)}, nil
}

func (s *Server) deleteDraft(ctx context.Context, _ *WorkflowPath) (*struct{}, error) {
	if err := s.store.DeleteDraft(ctx, callOf(ctx).workflow.ID); err != nil {
		return nil, fmt.Errorf("delete draft: %w", err)
	}
	return nil, nil
}

func (s *Server) getLayout(ctx context.Context, _ *WorkflowPath) (*layoutAnswer, error) {
	l, err := s.store.Layout(ctx, callOf(ctx).workflow.ID)
	if errors.Is(err, sql.ErrNotFound) {
		// Nobody has moved a task yet: that is no error, all are placed automatically.
		return &layoutAnswer{Body: Layout{Tasks: map[string]Place{}}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read layout: %w", err)
	}
	out := &layoutAnswer{Body: Layout{Tasks: map[string]Place{}}}
	if err := json.Unmarshal([]byte(l.Layout), &out.Body); err != nil {
		return nil, fmt.Errorf("read layout of workflow %d: %w", l.WorkflowID, err)
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
