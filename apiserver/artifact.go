package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Artifact is a file that an attempt has left.
type Artifact struct {
	Name      string `json:"name" doc:"Its path below $PORPOISE_ARTIFACTS."`
	Size      int64  `json:"size" doc:"In bytes."`
	SHA256    string `json:"sha256" doc:"Of all its bytes, in hexadecimal digits."`
	CreatedAt Time   `json:"created_at"`
}

func artifactFace(a sql.Artifact) Artifact {
	return Artifact{Name: a.Name, Size: a.Size, SHA256: a.SHA256, CreatedAt: Time(a.CreatedAt)}
}

type artifactList struct{ Body List[Artifact] }

type downloadArtifact struct {
	AttemptPath
	Name string `path:"name" maxLength:"255" doc:"The artifact's name; a slash in it is written as %2F."`
}

func (s *Server) artifactRoutes() {
	view := access{need: roleViewer, object: ofInstance}
	add(s, spec{
		id: "list-artifacts", method: "GET", path: "/instances/{id}/tasks/{task}/attempts/{number}/artifacts", tag: "instances",
		summary: "List the files that an attempt has left", access: view,
	}, s.listArtifacts)
	add(s, spec{
		id: "download-artifact", method: "GET", path: "/instances/{id}/tasks/{task}/attempts/{number}/artifacts/{name}", tag: "instances",
		summary: "Download a file that an attempt has left", stream: true, produces: []string{"application/octet-stream"}, access: view,
	}, s.downloadArtifact)
}

// artifactsOf lists what an attempt has left.
func (s *Server) artifactsOf(ctx context.Context, in *AttemptPath) ([]sql.Artifact, error) {
	a, err := s.attemptRow(ctx, in)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Artifacts(ctx, a.InstanceID, a.Task)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	var own []sql.Artifact
	for _, f := range all {
		if f.Attempt == a.Number {
			own = append(own, f)
		}
	}
	return own, nil
}

func (s *Server) listArtifacts(ctx context.Context, in *AttemptPath) (*artifactList, error) {
	rows, err := s.artifactsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	return &artifactList{Body: list(rows, "", artifactFace)}, nil
}

// downloadArtifact sends a file as it is, chunk by chunk: no more than one is in memory.
func (s *Server) downloadArtifact(ctx context.Context, in *downloadArtifact) (*huma.StreamResponse, error) {
	rows, err := s.artifactsOf(ctx, &in.AttemptPath)
	if err != nil {
		return nil, err
	}
	for _, a := range rows {
		if a.Name == in.Name {
			return &huma.StreamResponse{Body: func(h huma.Context) { s.sendArtifact(h, a) }}, nil
		}
	}
	if fault := dag.ArtifactFault(in.Name); fault != "" {
		return nil, problem(http.StatusNotFound, "the attempt has no such artifact: "+fault)
	}
	return nil, problem(http.StatusNotFound, "the attempt has left no artifact "+strconv.Quote(in.Name))
}

func (s *Server) sendArtifact(h huma.Context, a sql.Artifact) {
	r, w := humamux.Unwrap(h)
	// Whatever is in it, a browser is to keep it and not to show it.
	h.SetHeader("Content-Type", "application/octet-stream")
	h.SetHeader("Content-Disposition", attachment(path.Base(a.Name)))
	h.SetHeader("Content-Length", strconv.FormatInt(a.Size, 10))
	h.SetHeader("ETag", `"`+a.SHA256+`"`)
	h.SetStatus(http.StatusOK)
	for chunk := range a.Chunks() {
		data, err := s.store.ArtifactChunk(r.Context(), a, chunk)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			s.log.Debug("artifact download ended early", "instance", a.InstanceID, "artifact", a.Name, "error", err)
			panic(http.ErrAbortHandler) // the length says that something is missing
		}
	}
}
