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
	Message   string `json:"message" doc:"Why it was saved; empty where nobody said."`
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

type restore struct {
	VersionPath
	IfMatch string `header:"If-Match" doc:"The newest version as ETag gave it. Without it the text becomes the newest whatever there is: nothing is lost, all versions stay."`
	Publish bool   `query:"publish" default:"true" doc:"false saves the version without publishing it."`
	Body    *struct {
		Message string `json:"message,omitempty" maxLength:"500" doc:"Why; versions show it."`
	}
}

type publishedAnswer struct{ Body Workflow }

func (s *Server) versionRoutes() {
	const one = "/projects/{project}/workflows/{workflow}"
	view := access{need: roleViewer, object: ofWorkflow}
	add(s, spec{id: "list-versions", method: "GET", path: one + "/versions", tag: "workflows", summary: "List the versions, newest first", access: view}, s.listVersions)
	add(s, spec{id: "get-version", method: "GET", path: one + "/versions/{version}", tag: "workflows", summary: "Read a version", access: view}, s.getVersion)
	add(s, spec{id: "restore-version", method: "POST", path: one + "/versions/{version}/restore", tag: "workflows", summary: "Save a version's text as the newest version", body: jsonBody, optional: true, access: access{need: roleEditor, object: ofWorkflow}}, s.restoreVersion)
	add(s, spec{id: "publish", method: "POST", path: one + "/publish", tag: "workflows", summary: "Publish a version", body: jsonBody, access: access{need: roleEditor, object: ofWorkflow}}, s.publish)
	s.plain(spec{id: "workflow-schema", method: "GET", path: "/api/v1/schema/workflow.json", access: access{object: noObject}}, http.HandlerFunc(serveSchema))
}

func versionFace(v sql.Version, published int) Version {
	return Version{Version: v.Version, Format: v.Format, Hash: v.Hash, Message: v.Message, Published: v.Version == published, CreatedAt: Time(v.CreatedAt), CreatedBy: v.CreatedBy}
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
	n, err := versionNumber(in.Version)
	if err != nil {
		return nil, err
	}
	v, err := s.store.Version(ctx, w.ID, n)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", n, w.ID, err)
	}
	return &versionAnswer{Body: VersionText{Version: versionFace(v, w.Published), Text: v.Text}}, nil
}

// restoreVersion saves an older text anew: versions are a history, which only grows.
func (s *Server) restoreVersion(ctx context.Context, in *restore) (*savedAnswer, error) {
	c := callOf(ctx)
	match, p := parseIfMatch(in.IfMatch)
	if p != nil {
		return nil, p
	}
	n, err := versionNumber(in.Version)
	if err != nil {
		return nil, err
	}
	message := ""
	if in.Body != nil {
		message = in.Body.Message
	}
	if p := checkMessage("message", message); p != nil {
		return nil, p
	}
	v, err := s.store.Version(ctx, c.workflow.ID, n)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", n, c.workflow.ID, err)
	}
	def, wrong := dag.Parse([]byte(v.Text), v.Format)
	if len(wrong) > 0 {
		return nil, badDefinition(wrong) // an older program took what this one refuses
	}
	if wrong, err = s.checkChildren(ctx, place{c.project, c.workflow.Name}, def); err != nil {
		return nil, err
	} else if len(wrong) > 0 {
		return nil, badDefinition(placed([]byte(v.Text), v.Format, wrong))
	}
	if match == nil {
		match = new(int)
		*match = sql.AnyVersion
	}
	return s.saveVersion(ctx, c.workflow, sql.SaveVersion{
		ProjectID: c.project.ID, Name: c.workflow.Name, Description: def.Description, Text: v.Text, Format: v.Format,
		By: c.who.name, IfMatch: match, Publish: in.Publish, Message: message,
	})
}

// versionNumber reads a version in a path. One that cannot be is absent like any other.
func versionNumber(text string) (int, error) {
	n, ok := parseID(text)
	if !ok {
		return 0, badID("version", text)
	}
	if n > 1<<31-1 {
		return 0, notFound()
	}
	return int(n), nil
}

func (s *Server) publish(ctx context.Context, in *publish) (*publishedAnswer, error) {
	w := callOf(ctx).workflow
	// What an older version runs may lead back here by now.
	if plan, err := s.plans.get(ctx, w.ID, in.Body.Version); err == nil {
		wrong, err := s.checkChildren(ctx, place{callOf(ctx).project, w.Name}, plan.Definition)
		if err != nil {
			return nil, err
		} else if len(wrong) > 0 {
			return nil, badDefinition(wrong)
		}
	}
	err := s.store.Publish(ctx, w.ID, in.Body.Version, callOf(ctx).who.name)
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
	s.changed(w)
	return &publishedAnswer{Body: workflowFace(w)}, nil
}

func serveSchema(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/schema+json")
	_, _ = w.Write(dag.Schema()) // a client that left has nobody to tell
}
