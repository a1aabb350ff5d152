package apiserver

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// docsFiles render the OpenAPI document in a browser, with nothing from elsewhere.
//
//go:embed docs
var docsFiles embed.FS

func (s *Server) docsRoutes() error {
	var err error
	if s.document, err = json.Marshal(s.api.OpenAPI()); err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	open := access{open: true}
	document := s.static("application/json", s.document)
	s.plain(spec{id: "openapi", method: "GET", path: "/openapi.json", access: open, produces: anyMedia}, document)
	s.plain(spec{id: "openapi-api", method: "GET", path: "/api/v1/openapi.json", access: open, produces: anyMedia}, document)
	for _, f := range []struct{ path, file, media string }{
		{"/docs", "docs/index.html", "text/html; charset=utf-8"},
		{"/docs/docs.js", "docs/docs.js", "text/javascript; charset=utf-8"},
		{"/docs/docs.css", "docs/docs.css", "text/css; charset=utf-8"},
	} {
		body, err := docsFiles.ReadFile(f.file)
		if err != nil {
			return fmt.Errorf("read embedded %s: %w", f.file, err)
		}
		s.plain(spec{id: "docs", method: "GET", path: f.path, access: open, produces: []string{"text/html", "text/javascript", "text/css", "application/json"}}, s.static(f.media, body))
	}
	return nil
}

func (s *Server) static(media string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Header().Set("Cache-Control", "no-cache")
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // a client that left has nobody to tell
		}
	})
}

// OpenAPI returns the document as it is served.
func (s *Server) OpenAPI() []byte { return s.document }
