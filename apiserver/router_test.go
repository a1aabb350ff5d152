package apiserver

import (
	"encoding/json"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/gorilla/mux"
)

// routes lists every route of the router with what it declares.
func (b *bench) routes() map[string]*spec {
	b.t.Helper()
	found := map[string]*spec{}
	err := b.server.router.Walk(func(r *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		if r.GetHandler() == nil {
			return nil // a prefix that only holds others
		}
		path, _ := r.GetPathTemplate()
		methods, _ := r.GetMethods()
		sp := b.server.declared[r]
		if sp == nil {
			b.t.Errorf("route %v %s declares no access", methods, path)
			return nil
		}
		if path == "" {
			path = "/"
		}
		found[methods[0]+" "+path] = sp
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

func TestEveryRouteDeclaresItsAccess(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Console = http.NotFoundHandler() })
	found := b.routes()
	for _, must := range []string{
		"GET /healthz", "GET /readyz", "GET /metrics", "GET /docs", "GET /docs/docs.js", "GET /openapi.json", "GET /sign-in/{secret}",
		"GET /api/v1/stream", "GET /", "GET /api/v1/instances/{id}/tasks/{task}/attempts/{number}/log", "POST /api/v1/session",
	} {
		if found[must] == nil {
			t.Errorf("route %s is missing", must)
		}
	}
	var open []string
	for name, sp := range found {
		if sp.access.open {
			open = append(open, name)
		}
	}
	sort.Strings(open)
	want := []string{
		"GET /", "GET /api/v1/openapi.json", "GET /docs", "GET /docs/docs.css", "GET /docs/docs.js", "GET /healthz", "GET /openapi.json", "GET /readyz",
		"GET /sign-in/{secret}", "POST /api/v1/hooks/{id}", "POST /api/v1/session",
	}
	if strings.Join(open, "\n") != strings.Join(want, "\n") {
		t.Errorf("open routes are\n%s\nwant\n%s", strings.Join(open, "\n"), strings.Join(want, "\n"))
	}
}

func TestUndeclaredRouteCannotBeRegistered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, sp := range map[string]spec{
		"no access":           {id: "x", method: "GET", path: "/x"},
		"role without object": {id: "x", method: "GET", path: "/x", access: access{need: roleEditor, object: noObject}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: registered", name)
				}
			}()
			b.server.plain(sp, http.NotFoundHandler())
		}()
	}
}

func TestOpenAPIDescribesEveryRouteOfTheAPI(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var doc struct {
		OpenAPI string
		Paths   map[string]struct {
			Get, Put, Post, Delete *struct{ OperationID string }
			Servers                []struct{ URL string }
		}
	}
	if err := json.Unmarshal(b.must(200, "GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("openapi = %q", doc.OpenAPI)
	}
	described := map[string]string{}
	for path, item := range doc.Paths {
		if len(item.Servers) == 0 {
			path = "/api/v1" + path
		} else if item.Servers[0].URL != "/" {
			t.Errorf("%s is below %q", path, item.Servers[0].URL)
		}
		for method, op := range map[string]*struct{ OperationID string }{"GET": item.Get, "PUT": item.Put, "POST": item.Post, "DELETE": item.Delete} {
			if op != nil {
				described[method+" "+path] = op.OperationID
			}
		}
	}
	for name, sp := range b.routes() {
		if !sp.coded && !strings.Contains(name, " /api/v1/") || sp.id == "openapi-api" || sp.id == "workflow-schema" {
			continue
		}
		if described[name] != sp.id {
			t.Errorf("%s is described as %q, want %q", name, described[name], sp.id)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is described and does not exist", name)
	}
}

func TestDocsPageNeedsNoOtherHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|<script>|style=|\son[a-z]+=`)
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/docs.css"} {
		w := b.do(asked{method: "GET", path: path})
		if w.Code != 200 {
			t.Errorf("GET %s = %d", path, w.Code)
		}
		body := strings.ReplaceAll(w.Body.String(), "// Draws", "")
		if path == "/docs/docs.js" {
			body = regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(body, "")
		}
		if m := elsewhere.FindString(body); m != "" {
			t.Errorf("%s holds %q", path, m)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") {
			t.Errorf("CSP of %s = %q", path, csp)
		}
	}
}

func TestWrongMethodSaysWhichAreKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.do(asked{method: "PATCH", path: "/api/v1/projects/x", token: b.admin})
	if w.Code != 405 || w.Header().Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("PATCH = %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestBasePathIsBeforeEverything(t *testing.T) {
	t.Parallel()
	served := ""
	b := newBench(t, func(c *Config) {
		c.BasePath = "/porpoise"
		c.Console = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served = r.URL.Path })
	})
	for path, want := range map[string]int{
		"/porpoise/healthz": 200, "/healthz": 404, "/porpoise/docs": 200, "/porpoise/openapi.json": 200, "/porpoise/api/v1/nothing": 404, "/porpoise/instances/5": 200,
		"/porpoise/api": 404, "/other": 404,
	} {
		if w := b.do(asked{method: "GET", path: path}); w.Code != want {
			t.Errorf("GET %s = %d, want %d", path, w.Code, want)
		}
	}
	if served != "/instances/5" {
		t.Errorf("console got %q", served)
	}
	if !strings.HasPrefix(b.link, "/porpoise/sign-in/") {
		t.Errorf("link = %q", b.link)
	}
}
