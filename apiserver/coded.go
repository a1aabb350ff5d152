package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// Coded is how every answer of the timers' routes begins. They keep the form of the service that they stand in for, so that
// its clients need no change: code 0 is success, any other is the HTTP status, and msg says why.
type Coded struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
}

// codedProblem is a refusal on a coded route.
type codedProblem struct {
	Coded
	RequestID string           `json:"request_id,omitempty"`
	Errors    []dag.FieldError `json:"errors,omitempty"`
}

func codedOf(p *Problem) codedProblem {
	msg := p.Error()
	if len(p.Errors) > 0 {
		parts := make([]string, len(p.Errors))
		for i, e := range p.Errors {
			parts[i] = e.Field + ": " + e.Message
		}
		msg = strings.Join(parts, "; ")
	}
	return codedProblem{Coded: Coded{p.Status, msg}, RequestID: p.RequestID, Errors: p.Errors}
}

// described is the document alone of an API: what is registered with it is no route.
type described struct{ huma.API }

// Adapter returns one that routes nothing.
func (d described) Adapter() huma.Adapter { return unrouted{d.API.Adapter()} }

type unrouted struct{ huma.Adapter }

// Handle does nothing: the route has a handler of its own.
func (unrouted) Handle(*huma.Operation, func(huma.Context)) {}

// coded registers a route whose answers, and refusals, are Coded. path is absolute. The OpenAPI document has it with I,
// which says its parameters and its Body, and with O, whose Body is what handle answers; handle itself reads the request,
// since what is wrong with it is told as a Coded. The answer begins with a Coded; an error becomes one.
func coded[I, O any](s *Server, sp spec, handle func(r *http.Request) (any, error)) {
	sp.coded = true
	sp.check()
	methods := []string{sp.method}
	if sp.method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	r := s.router.NewRoute().Path(s.cfg.BasePath + sp.path).Methods(methods...)
	r.Handler(s.guard(&sp, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := handle(r)
		if err != nil {
			writeProblem(w, r, s.problemOf(r.Context(), err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodHead {
			_, _ = w.Write(marshalJSON(out)) // a client that left has nobody to tell
		}
	})))
	s.declared[r] = &sp
	describeCoded[I, O](s, &sp)
}

// describeCoded writes a coded route into the OpenAPI document. Its path is below another server than those of the API.
func describeCoded[I, O any](s *Server, sp *spec) {
	doc := s.api.OpenAPI()
	op := huma.Operation{
		OperationID: sp.id, Method: sp.method, Path: sp.path, Summary: sp.summary, Tags: []string{sp.tag}, DefaultStatus: http.StatusOK,
		Description: "For " + sp.within.String() + "s of the app, which is a project, and above.",
		Security:    []map[string][]string{{"token": {}}, {"session": {}}},
		Responses:   map[string]*huma.Response{},
	}
	refusal := doc.Components.Schemas.Schema(reflect.TypeFor[codedProblem](), true, "CodedProblem")
	codes := append(sp.errors(), http.StatusNotFound, http.StatusInternalServerError)
	if sp.body != noBody {
		codes = append(codes, http.StatusUnprocessableEntity, http.StatusTooManyRequests)
	}
	for _, code := range codes {
		op.Responses[strconv.Itoa(code)] = &huma.Response{
			Description: http.StatusText(code), Content: map[string]*huma.MediaType{"application/json": {Schema: refusal}},
		}
	}
	huma.Register(described{s.api}, op, func(context.Context, *I) (*O, error) { return nil, nil })
	root := s.cfg.BasePath
	if root == "" {
		root = "/"
	}
	doc.Paths[sp.path].Servers = []*huma.Server{{URL: root}}
}

// readCoded reads a body that takeBody has checked. Fields that out does not know are refused.
func readCoded(r *http.Request, out any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return wrongField(http.StatusBadRequest, "body", "truncated", "", "the body ended early")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(out)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := wrong.Field
		if field == "" {
			field = "body"
		}
		return wrongField(http.StatusUnprocessableEntity, field, document.CodeWrongType, "", "must be %s, not %s", jsonWord(wrong.Type.Kind().String()), wrong.Value)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name = strings.Trim(name, `"`)
		return wrongField(http.StatusUnprocessableEntity, name, document.CodeUnknownField, "", "is not a known field")
	}
	return wrongField(http.StatusUnprocessableEntity, "body", document.CodeInvalid, "", "%s", err)
}

// jsonWord is what JSON calls a kind of Go's.
func jsonWord(kind string) string {
	switch kind {
	case "int", "int64":
		return "a whole number"
	case "slice":
		return "a list"
	case "map", "struct":
		return "an object"
	}
	return "a " + kind
}

// query reads the parameters of a coded route: known ones, once each.
type query struct {
	values map[string][]string
	wrong  []dag.FieldError
}

func queryOf(r *http.Request, known ...string) *query {
	q := &query{values: r.URL.Query()}
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		switch {
		case !slices.Contains(known, name):
			q.fail(name, "unknown_parameter", "", "is not a known parameter")
		case len(q.values[name]) > 1:
			q.fail(name, document.CodeDuplicateKey, "", "is given twice")
		}
	}
	return q
}

func (q *query) fail(name, code, value, format string, args ...any) {
	q.wrong = append(q.wrong, dag.FieldError{Field: name, Code: code, Value: value, Message: fmt.Sprintf(format, args...)})
}

func (q *query) text(name string) string {
	if v := q.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (q *query) required(name string) string {
	v := q.text(name)
	if v == "" {
		q.fail(name, document.CodeRequired, "", "is required")
	}
	return v
}

func (q *query) id(name string) int64 {
	v := q.required(name)
	id, ok := parseID(v)
	if v != "" && !ok {
		q.fail(name, "invalid_id", v, "must be a whole number from 1 to 9223372036854775807")
	}
	return id
}

// number reads a whole number from 1 to most; absent is what stands for it.
func (q *query) number(name string, absent, most int) int {
	v := q.text(name)
	if v == "" {
		return absent
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		q.fail(name, document.CodeOutOfRange, v, "must be a whole number from 1 to %d", most)
	}
	return n
}

// err is what is wrong with the parameters, all at once.
func (q *query) err() error {
	if len(q.wrong) == 0 {
		return nil
	}
	return problem(http.StatusBadRequest, q.wrong[0].Field+": "+q.wrong[0].Message, q.wrong...)
}
