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

// Cases are the test cases of a workflow: the text that porpoise test reads. They are beside the draft, and of no version.
type Cases struct {
	Text      string `json:"text" doc:"Kept as it is, errors and all; empty where none were written."`
	Revision  int64  `json:"revision" doc:"Rises with every change; 0 where there are none yet."`
	UpdatedAt Time   `json:"updated_at,omitempty"`
	UpdatedBy string `json:"updated_by,omitempty"`
}

// CasesText is what is kept of test cases.
type CasesText struct {
	Text     string `json:"text" maxLength:"1048576" doc:"The cases, as porpoise test reads them from a file."`
	Revision int64  `json:"revision" minimum:"-1" doc:"The revision that the author has read, 0 for none; -1 overwrites whatever there is."`
}

type casesAnswer struct{ Body Cases }

type putCases struct {
	WorkflowPath
	Body CasesText
}

func (s *Server) casesRoutes() {
	const one = "/projects/{project}/workflows/{workflow}/cases"
	add(s, spec{id: "get-cases", method: "GET", path: one, tag: "workflows", summary: "Read the test cases", access: access{need: roleViewer, object: ofWorkflow}}, s.getCases)
	add(s, spec{
		id: "put-cases", method: "PUT", path: one, tag: "workflows", summary: "Keep the test cases, errors allowed",
		body: textBody, access: access{need: roleEditor, object: ofWorkflow},
	}, s.putCases)
}

func casesFace(c sql.Cases) Cases {
	return Cases{Text: c.Text, Revision: c.Revision, UpdatedAt: Time(c.UpdatedAt), UpdatedBy: c.UpdatedBy}
}

func (s *Server) getCases(ctx context.Context, _ *WorkflowPath) (*casesAnswer, error) {
	c, err := s.store.Cases(ctx, callOf(ctx).workflow.ID)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	// A workflow without cases is no error: most have none.
	return &casesAnswer{Body: casesFace(c)}, nil
}

func (s *Server) putCases(ctx context.Context, in *putCases) (*casesAnswer, error) {
	c := callOf(ctx)
	kept, err := s.store.PutCases(ctx, sql.Cases{WorkflowID: c.workflow.ID, Text: in.Body.Text, UpdatedBy: c.who.name}, in.Body.Revision)
	if errors.Is(err, sql.ErrStale) {
		now, err := s.store.Cases(ctx, c.workflow.ID)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return nil, err
		}
		p := wrongField(http.StatusPreconditionFailed, "revision", "stale", strconv.FormatInt(in.Body.Revision, 10),
			"%s has changed the test cases meanwhile, their revision is %d by now", now.UpdatedBy, now.Revision)
		p.Errors[0].Args = dag.Args{"by": now.UpdatedBy, "at": Time(now.UpdatedAt), "revision": now.Revision}
		return nil, p
	}
	if err != nil {
		return nil, fmt.Errorf("keep test cases: %w", err)
	}
	return &casesAnswer{Body: casesFace(kept)}, nil
}
