package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"sort"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/porpoise/porpoise/sql"
)

// access is what a route declares: who may come, with which right, and how the object
// that the right is about is found.
type access struct {
	open   bool // anybody may call it; all others need a token or a session
	need   role // at least this, in the object's project; roleNone: being known is enough
	object resolver
}

// resolver says how a route finds its object. The project of an object always comes
// from the database, never from the path alone.
type resolver uint8

const (
	noObject   resolver = iota + 1 // the need is about the cluster: only an admin has any
	ofProject                      // {project} by name
	ofWorkflow                     // {project} and {workflow} by name
	ofInstance                     // {id}, then the instance's own project
	perItem                        // the handler filters: a list across projects, or topics
)

// spec is one route. method and path are relative to /api/v1, or absolute for plain routes.
type spec struct {
	id, method, path string
	summary, tag     string
	access           access

	status    int      // of success, where it is not the method's usual one
	produces  []string // media types of the answer; JSON when empty
	body      bodyKind
	optional  bool // the body may be absent
	stream    bool // no deadline: it ends when the client or the server does
	unaudited bool // a change that is not worth an audit row
	coded     bool // answers and refusals are Coded
	within    role // of a coded route: what its handler asks for in the project that the request names
	starts    bool // it asks for an instance, and waits with others that do
	many      bool // it reads many rows, and does so in its turn
	early     bool // also for a session whose user must choose a password first
}

// Keys of huma.Operation.Metadata.
const (
	metaSpec       = "spec"
	metaBodyFields = "body_fields"
)

// add registers one API route. It is the only way in: a route that huma gets from
// elsewhere has no spec and is refused by declare.
func add[I, O any](s *Server, sp spec, handle func(ctx context.Context, in *I) (*O, error)) {
	sp.check()
	op := huma.Operation{
		OperationID: sp.id, Method: sp.method, Path: sp.path, Summary: sp.summary, Tags: []string{sp.tag},
		DefaultStatus: sp.status, Errors: sp.errors(),
		Description: sp.describe(),
		// One byte over our own limit: huma counts a body of exactly its limit as too large.
		MaxBodyBytes: sp.body.limit() + 1, BodyReadTimeout: -1,
		Metadata: map[string]any{metaSpec: &sp, metaBodyFields: bodyFields(reflect.TypeFor[I]())},
	}
	if !sp.access.open {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	sp.documentBody(&op, false)
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return out, nil
	})
	sp.documentBody(&op, true)
}

// plain registers a route outside of the OpenAPI document: health, documents, console.
func (s *Server) plain(sp spec, h http.Handler) {
	sp.check()
	router, path := s.router, s.cfg.BasePath+sp.path
	if rest, ok := strings.CutPrefix(sp.path, "/api/v1"); ok {
		router, path = s.below, rest
	}
	r := router.NewRoute().Path(path).Methods(sp.method, http.MethodHead)
	r.Handler(s.guard(&sp, h))
	s.declared[r] = &sp
}

// declare puts the guard around a route of huma's.
func (s *Server) declare(op *huma.Operation, r *mux.Route) {
	sp, ok := op.Metadata[metaSpec].(*spec)
	if !ok {
		panic(fmt.Sprintf("route %s %s declares no access", op.Method, op.Path))
	}
	r.Handler(s.guard(sp, r.GetHandler()))
	s.declared[r] = sp
}

func (sp *spec) check() {
	if sp.access.object == 0 && !sp.access.open {
		panic(fmt.Sprintf("route %s %s declares no access", sp.method, sp.path))
	}
	if sp.access.need > roleNone && sp.access.need < roleAdmin && (sp.access.object == noObject || sp.access.object == perItem) {
		panic(fmt.Sprintf("route %s %s needs a project's role and has no project", sp.method, sp.path))
	}
}

func (sp *spec) safe() bool {
	return sp.method == http.MethodGet || sp.method == http.MethodHead
}

func (sp *spec) describe() string {
	switch {
	case sp.access.open:
		return "Open to everybody."
	case sp.access.need == roleNone:
		return "Open to everybody who is signed in."
	case sp.access.need == roleAdmin:
		return "For admins."
	default:
		return "For " + sp.access.need.String() + "s of the project and above."
	}
}

// errors lists the statuses that the route may answer beside its own.
func (sp *spec) errors() []int {
	codes := []int{http.StatusBadRequest, http.StatusServiceUnavailable}
	if !sp.access.open {
		codes = append(codes, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(sp.path, "{") {
		codes = append(codes, http.StatusNotFound)
	}
	if sp.body != noBody {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if !sp.safe() {
		codes = append(codes, http.StatusConflict)
	}
	if sp.starts {
		codes = append(codes, http.StatusTooManyRequests)
	}
	sort.Ints(codes)
	return codes
}

// bodyFields lists the JSON names at the top of an input's body, for suggestions.
func bodyFields(input reflect.Type) []string {
	f, ok := input.FieldByName("Body")
	if !ok {
		return nil
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// call is one request on its way: who asks, and the object that the guard has found.
type call struct {
	id       string
	spec     *spec
	who      *principal
	ip       string
	agent    string // what the client calls itself, cut to maxAgent
	tls      bool
	vars     map[string]string // decoded
	project  sql.Project
	workflow sql.Workflow
	instance sql.InstanceRow
	stay     stay // what its body takes of the room for bodies
}

type callKey struct{}

// callOf returns the request that ctx belongs to; every handler has one.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		c = &call{}
	}
	return c
}

func requestID(ctx context.Context) string { return callOf(ctx).id }

// object names what the call is about, for the audit.
func (c *call) object() string {
	var b strings.Builder
	for _, k := range []string{"project", "workflow", "backfill", "schedule", "calendar", "id", "task", "group", "listener", "param", "environment", "name", "user", "token", "session"} {
		if v, ok := c.vars[k]; ok {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(k + "=" + shown(v))
		}
	}
	return b.String()
}
