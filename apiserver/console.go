package apiserver

import (
	"net/http"
	"strings"

	"github.com/gorilla/mux"
)

// consoleRoutes gives every path that nobody else has to the console, but never one
// below /api: a mistyped API path is a 404 in JSON, not a page.
func (s *Server) consoleRoutes() {
	if s.cfg.Console == nil {
		return
	}
	sp := spec{id: "console", method: "GET", path: "/", access: access{open: true}, produces: []string{"text/html", "text/css", "text/javascript", "image/png", "font/woff2", "application/json"}}
	sp.check()
	r := s.router.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool {
		p := r.URL.Path
		rest, ok := strings.CutPrefix(p, s.cfg.BasePath)
		return ok && strings.HasPrefix(rest+"/", "/") && rest != "/api" && !strings.HasPrefix(rest, "/api/") && !strings.Contains(rest, "//") &&
			!strings.Contains(rest, "/../") && !strings.HasSuffix(rest, "/..")
	}).Methods(http.MethodGet, http.MethodHead)
	r.Handler(s.guard(&sp, http.StripPrefix(s.cfg.BasePath, s.cfg.Console)))
	s.declared[r] = &sp
}
