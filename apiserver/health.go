package apiserver

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyTimeout is how long the database may take to say that it is there.
const readyTimeout = 2 * time.Second

func (s *Server) healthRoutes() {
	s.plain(spec{id: "healthz", method: "GET", path: "/healthz", access: access{open: true}, produces: anyMedia}, http.HandlerFunc(s.healthy))
	s.plain(spec{id: "readyz", method: "GET", path: "/readyz", access: access{open: true}, produces: anyMedia}, http.HandlerFunc(s.ready))
	metrics := promhttp.HandlerFor(s.metrics.with(s.cfg.Metrics), promhttp.HandlerOpts{})
	s.plain(spec{id: "metrics", method: "GET", path: "/metrics", access: access{object: noObject}, produces: anyMedia}, metrics)
}

var anyMedia = []string{"text/plain", "application/json", "application/openmetrics-text", "text/html"}

func (s *Server) healthy(w http.ResponseWriter, r *http.Request) { sayStatus(w, r, "ok") }

// ready says whether this process can do its work: it can while the database answers.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.store.Ping(ctx); err != nil {
		s.log.Warn("not ready", "error", err)
		writeProblem(w, r, unavailable("the database does not answer"))
		return
	}
	sayStatus(w, r, "ready")
}

func sayStatus(w http.ResponseWriter, r *http.Request, status string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodHead {
		_, _ = w.Write(marshalJSON(map[string]string{"status": status})) // a client that left has nobody to tell
	}
}
