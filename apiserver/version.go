package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Version is one saved text of a workflow, without the text.
type Version struct {
	Version   int    `json:"version"`
	Format    string `json:"format" enum:"yaml,json"`
	Hash      string `json:"hash" doc:"SHA-256 of the text."`
	Published bool   `json:"published"`
	CreatedAt Time   `json:"created_at"`
	CreatedBy string `json:"created_by"`
}

// VersionText is a version with its text.
type VersionText struct {
	Version
	Text string `json:"text"`
}

type versionList struct{ Body List[Version] }

type listVersions struct {
	WorkflowPath
	Paged
}

// VersionPath names a version in a path.
type VersionPath struct {
	WorkflowPath
	Version string `path:"version" maxLength:"32"`
}

type versionAnswer struct{ Body VersionText }

type publish struct {
	WorkflowPath
	Body struct {
		Version int `json:"version" minimum:"1" maximum:"2147483647"`
	}
}

type publishedAnswer struct{ Body Workflow }

type validate struct {
	ContentType string `header:"Content-Type"`
	RawBody     []byte `contentType:"application/yaml"`
}

// Findings is what is wrong with a definition; none is a definition that can be saved.
type Findings struct {
	Valid  bool             `json:"valid"`
	Name   string           `json:"name,omitempty"`
	Tasks  int              `json:"tasks"`
	Errors []dag.FieldError `json:"errors" nullable:"false"`
}

type findingsAnswer struct{ Body Findings }

func (s *Server) versionRoutes() {
	const one = "/projects/{project}/workflows/{workflow}"
	view := access{need: roleViewer, object: ofWorkflow}
	add(s, spec{id: "list-versions", method: "GET", path: one + "/versions", tag: "workflows", summary: "List the versions, newest first", access: view}, s.listVersions)
	add(s, spec{id: "get-version", method: "GET", path: one + "/versions/{version}", tag: "workflows", summary: "Read a version", access: view}, s.getVersion)
	add(s, spec{id: "publish", method: "POST", path: one + "/publish", tag: "workflows", summary: "Publish a version", body: jsonBody, access: access{need: roleEditor, object: ofWorkflow}}, s.publish)
	add(s, spec{id: "validate", method: "POST", path: "/validate", tag: "workflows", summary: "Check a definition without saving it", body: definitionBody, unaudited: true, access: access{object: noObject}}, s.validate)
	s.plain(spec{id: "workflow-schema", method: "GET", path: "/api/v1/schema/workflow.json", access: access{object: noObject}}, http.HandlerFunc(serveSchema))
}

func versionFace(v sql.Version, published int) Version {
	return Version{Version: v.Version, Format: v.Format, Hash: v.Hash, Published: v.Version == published, CreatedAt: Time(v.CreatedAt), CreatedBy: v.CreatedBy}
}

func (s *Server) listVersions(ctx context.Context, in *listVersions) (*versionList, error) {
	w := callOf(ctx).workflow
	rows, next, err := s.store.Versions(ctx, w.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return &versionList{Body: list(rows, next, func(v sql.Version) Version { return versionFace(v, w.Published) })}, nil
}

func (s *Server) getVersion(ctx context.Context, in *VersionPath) (*versionAnswer, error) {
	w := callOf(ctx).workflow
	n, ok := parseID(in.Version)
	if !ok {
		return nil, badID("version", in.Version)
	}
	if n > 1<<31-1 {
		return nil, notFound()
	}
	v, err := s.store.Version(ctx, w.ID, int(n))
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", n, w.ID, err)
	}
	return &versionAnswer{Body: VersionText{Version: versionFace(v, w.Published), Text: v.Text}}, nil
}

func (s *Server) publish(ctx context.Context, in *publish) (*publishedAnswer, error) {
	w := callOf(ctx).workflow
	err := s.store.Publish(ctx, w.ID, in.Body.Version)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, wrongField(http.StatusUnprocessableEntity, "version", "not_found", fmt.Sprint(in.Body.Version), "there is no version %d; the newest is %d", in.Body.Version, w.Latest)
	}
	if err != nil {
		return nil, fmt.Errorf("publish version %d of workflow %d: %w", in.Body.Version, w.ID, err)
	}
	w, err = s.store.WorkflowByID(ctx, w.ID)
	if err != nil {
		return nil, fmt.Errorf("read workflow: %w", err)
	}
	return &publishedAnswer{Body: workflowFace(w)}, nil
}

func (s *Server) validate(_ context.Context, in *validate) (*findingsAnswer, error) {
	def, wrong := dag.Parse(in.RawBody, formatOf(in.ContentType))
	out := &findingsAnswer{Body: Findings{Valid: len(wrong) == 0, Errors: []dag.FieldError{}}}
	if len(wrong) > 0 {
		out.Body.Errors = wrong[:min(len(wrong), maxErrors)]
	} else {
		out.Body.Name, out.Body.Tasks = def.Name, len(def.Tasks)
	}
	return out, nil
}

func serveSchema(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/schema+json")
	_, _ = w.Write(dag.Schema()) // a client that left has nobody to tell
}
