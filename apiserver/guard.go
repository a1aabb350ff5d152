package apiserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/porpoise/porpoise/sql"
)

// handlerTimeout is how long a handler that does not stream may take.
const handlerTimeout = 30 * time.Second

// outer is around every request, matched or not: its id, the headers that every answer
// has, the length of its target, and the last line of defence against a panic.
func (s *Server) outer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{id: s.prefix + "-" + strconv.FormatUint(s.requests.Add(1), 36), ip: s.clientIP(r), agent: agentOf(r), tls: r.TLS != nil}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		setHeaders(w.Header())
		w.Header().Set("X-Request-Id", c.id)
		defer func() {
			if v := recover(); v != nil {
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				s.log.Error("handler panicked", "request_id", c.id, "panic", v, "stack", string(debug.Stack()))
				writeProblem(w, r, problem(http.StatusInternalServerError, "a fault of the server: its log has the request_id"))
			}
		}()
		if len(r.RequestURI) > maxURL {
			writeProblem(w, r, problem(http.StatusRequestURITooLong, "the URL is longer than 8 KiB"))
			return
		}
		s.router.ServeHTTP(w, r)
	})
}

// setHeaders sets what a browser must know of every answer. Scripts and styles come
// from files of ours only, nobody may frame us, and no other origin may read us.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// maxAgent bounds what is kept of a client's own name for itself, as the column does.
const maxAgent = 255

// agentOf returns the client's name for itself, without what can't be shown.
func agentOf(r *http.Request) string {
	name := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, r.UserAgent())
	return name[:min(len(name), maxAgent)]
}

// clientIP is who connects, or whom the proxy saw where one is trusted.
func (s *Server) clientIP(r *http.Request) string {
	if s.cfg.TrustProxy {
		if f := r.Header.Values("X-Forwarded-For"); len(f) > 0 {
			all := strings.Split(f[len(f)-1], ",")
			if ip := net.ParseIP(strings.TrimSpace(all[len(all)-1])); ip != nil {
				return ip.String()
			}
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// guard stands before a route's handler: it knows who asks, finds the object, weighs
// the right, reads the body under its limits, and writes the audit.
func (s *Server) guard(sp *spec, next http.Handler) http.Handler {
	if sp.many {
		next = s.inTurn(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		c := callOf(r.Context())
		c.spec = sp
		ctx := r.Context()
		answering := context.Background()
		if strings.HasPrefix(r.URL.Path, s.cfg.BasePath+"/api/") {
			answering = s.patience.answering()
		}
		if !sp.stream {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, handlerTimeout)
			defer cancel()
			defer context.AfterFunc(answering, cancel)()
			r = r.WithContext(ctx)
		}
		defer c.stay.leave()
		sw := &statusWriter{ResponseWriter: w}
		if strings.HasPrefix(r.URL.Path, s.cfg.BasePath+"/api/") {
			w.Header().Set("Cache-Control", "no-store")
		}
		if sp.body != noBody {
			// A writer without deadlines, as in a test, has no slow client either.
			rc := http.NewResponseController(w)
			_ = rc.SetReadDeadline(began.Add(bodyTimeout))
			defer func() { _ = rc.SetReadDeadline(time.Time{}) }()
		}
		if answering.Err() != nil {
			writeProblem(sw, r, unavailable("the database does not answer: try again"))
		} else if p := s.admit(sp, c, &r); p != nil {
			writeProblem(sw, r, p)
		} else {
			next.ServeHTTP(sw, r)
		}
		s.metrics.observe(sp, sw.code(), time.Since(began))
		s.record(ctx, c, sw.code())
	})
}

// admit decides whether the handler runs; nil is yes. It may replace the request by one
// with decoded path variables and a body that was read.
func (s *Server) admit(sp *spec, c *call, r **http.Request) *Problem {
	if p := decodeVars(c, r); p != nil {
		return p
	}
	ctx := (*r).Context()
	who, err := s.identify(*r)
	if err != nil && !sp.access.open {
		return s.refusedIdentity(ctx, err)
	}
	c.who = who
	if !sp.safe() && (*r).Header.Get("Authorization") == "" {
		// A browser adds the cookie by itself; a token is only ever added on purpose.
		if err := s.csrf.Check(*r); err != nil {
			return problem(http.StatusForbidden, "a page of another origin may not do this")
		}
	}
	if !sp.access.open {
		if !sp.early && who.session != "" && who.mustChange {
			return wrongField(http.StatusForbidden, "password", "must_change_password", "", "choose a password of your own first")
		}
		if p := s.resolve(ctx, sp, c); p != nil {
			return p
		}
		if p := weigh(sp, c); p != nil {
			return p
		}
	}
	if !accepts((*r).Header.Values("Accept"), sp.produces) {
		return problem(http.StatusNotAcceptable, "the answer is "+strings.Join(sp.media(), " or ")+", which Accept excludes")
	}
	return s.takeBody(sp, c, r)
}

// decodeVars undoes the path's escapes, after routing: a name may hold any character, a
// route may not depend on it.
func decodeVars(c *call, r **http.Request) *Problem {
	raw := mux.Vars(*r)
	if len(raw) == 0 {
		return nil
	}
	c.vars = make(map[string]string, len(raw))
	for k, v := range raw {
		d, err := url.PathUnescape(v)
		if err != nil {
			return wrongField(http.StatusBadRequest, k, "invalid", v, "%s is not escaped correctly in the path", k)
		}
		c.vars[k] = d
	}
	*r = mux.SetURLVars(*r, c.vars)
	return nil
}

func (s *Server) refusedIdentity(ctx context.Context, err error) *Problem {
	if errors.Is(err, errUnknown) {
		return problem(http.StatusUnauthorized, "sign in, or send a valid API token as Authorization: Bearer").
			with("WWW-Authenticate", `Bearer realm="porpoise"`)
	}
	return s.problemOf(ctx, err)
}

// resolve finds the object in the database, with its project.
func (s *Server) resolve(ctx context.Context, sp *spec, c *call) *Problem {
	var err error
	switch sp.access.object {
	case noObject, perItem:
		return nil
	case ofProject:
		c.project, err = s.store.Project(ctx, c.vars["project"])
	case ofWorkflow:
		var found located
		found, err = s.workflows.get(ctx, workflowName{c.vars["project"], c.vars["workflow"]})
		c.project, c.workflow = found.project, found.workflow
	case ofInstance:
		id, ok := parseID(c.vars["id"])
		if !ok {
			return badID("id", c.vars["id"])
		}
		if c.instance, err = s.store.Instance(ctx, id); err == nil {
			c.project = sql.Project{ID: c.instance.ProjectID, Name: c.instance.Project}
		}
	default:
		panic("route " + sp.path + " has an unknown resolver")
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNotFound) && sp.creates() && c.project.ID == 0 && c.who.isAdmin() {
		return nil
	}
	return s.problemOf(ctx, err)
}

// workflowName is how a path names a workflow.
type workflowName struct{ project, workflow string }

// located is a workflow and its project.
type located struct {
	project  sql.Project
	workflow sql.Workflow
}

// locate finds a workflow by its names. Where the project alone is there, it is in the answer beside the error.
func (s *Server) locate(ctx context.Context, name workflowName) (found located, err error) {
	found.project, found.workflow, err = s.store.WorkflowNamed(ctx, name.project, name.workflow)
	return found, err
}

// creates tells the one route whose object need not exist yet: PUT of a project.
func (sp *spec) creates() bool { return sp.id == "put-project" }

// weigh compares the right that the caller has with the one that the route needs.
// Whoever may not even see the object is told that there is none.
func weigh(sp *spec, c *call) *Problem {
	has := roleNone
	switch sp.access.object {
	case noObject, perItem:
		if c.who.isAdmin() {
			has = roleAdmin
		}
	case ofProject, ofWorkflow, ofInstance:
		if has = c.who.role(c.project.ID); has < roleViewer {
			return notFound()
		}
	}
	if has < sp.access.need {
		return problem(http.StatusForbidden, "this needs the role "+sp.access.need.String())
	}
	return nil
}

func (sp *spec) media() []string {
	if len(sp.produces) == 0 {
		return []string{"application/json"}
	}
	return sp.produces
}

// accepts tells whether one of the media types, JSON when there are none, is allowed by
// the Accept header. Answers with errors are sent whatever it says.
func accepts(header, media []string) bool {
	if len(header) == 0 {
		return true
	}
	if len(media) == 0 {
		media = []string{"application/json"}
	}
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			want, params, _ := strings.Cut(part, ";")
			want = strings.ToLower(strings.TrimSpace(want))
			if q := strings.ReplaceAll(params, " ", ""); q == "q=0" || q == "q=0.0" {
				continue
			}
			for _, m := range media {
				kind, _, _ := strings.Cut(m, "/")
				if want == "*/*" || want == m || want == kind+"/*" || want == "" && line == "" {
					return true
				}
			}
		}
	}
	return false
}

// unknown answers what no route takes: 405 for a known path with an unknown method, and
// 404 for the rest. mux can't tell the two apart across a subrouter, so it is asked
// again with each method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		var match mux.RouteMatch
		if s.router.Match(probe, &match) && s.declared[match.Route] != nil && s.declared[match.Route].id != "console" {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		writeProblem(w, r, problem(http.StatusNotFound, "there is nothing at this path; /docs describes what there is"))
		return
	}
	known := strings.Join(allow, ", ")
	writeProblem(w, r, problem(http.StatusMethodNotAllowed, "this path knows "+known).with("Allow", known))
}

// statusWriter remembers the status, and lets streams flush and set deadlines.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the first final status.
func (w *statusWriter) WriteHeader(code int) {
	if w.status == 0 && code >= 200 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
