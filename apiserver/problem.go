package apiserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	// maxErrors is how many wrong fields one answer lists.
	maxErrors = 100
	// maxErrorValue is how many characters of a wrong value are shown back.
	maxErrorValue = 64
	// retryAfterSeconds is what a client is told to wait while the database is away: it
	// is polled again about each second, so longer would only add to the outage.
	retryAfterSeconds = 2
)

// Problem is the body of every answer from 400 on: RFC 9457, with all wrong fields at once.
type Problem struct {
	Type      string           `json:"type" doc:"A URI reference that names the kind of problem; about:blank where the status says it all."`
	Title     string           `json:"title" doc:"The status in words."`
	Status    int              `json:"status" doc:"The HTTP status."`
	Detail    string           `json:"detail,omitempty" doc:"What went wrong this time, and what to do."`
	RequestID string           `json:"request_id,omitempty" doc:"Names this request in the server's log."`
	Errors    []dag.FieldError `json:"errors,omitempty" doc:"Every wrong field, at most 100."`

	headers http.Header
}

// Error lets a Problem travel as an error.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Detail
}

// GetStatus returns the HTTP status; huma asks for it.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers that go with the problem; huma asks for it.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType returns the media type of problems; huma asks for it.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

func (p *Problem) with(header, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(header, value)
	return p
}

// problem makes a Problem of a status, a sentence and the wrong fields.
func problem(status int, detail string, fields ...dag.FieldError) *Problem {
	if len(fields) > maxErrors {
		fields = fields[:maxErrors]
	}
	for i := range fields {
		fields[i].Value = shown(fields[i].Value)
	}
	title := http.StatusText(status)
	if title == "" {
		title = "Error"
	}
	return &Problem{Type: "about:blank", Title: title, Status: status, Detail: detail, Errors: fields}
}

// wrongField is a Problem with a single wrong field, whose message is also the detail.
func wrongField(status int, field, code, value, format string, args ...any) *Problem {
	msg := fmt.Sprintf(format, args...)
	return problem(status, msg, dag.FieldError{Field: field, Code: code, Message: msg, Value: value})
}

// notFoundText is the same for what is absent and for what belongs to others, so
// that an answer does not tell which ids exist.
const notFoundText = "there is no such object, or you may not see it"

func notFound() *Problem { return problem(http.StatusNotFound, notFoundText) }

// shown cuts a value to what an answer may repeat, and makes it printable.
func shown(v string) string {
	n := 0
	for i := range v {
		if n == maxErrorValue {
			v = v[:i]
			break
		}
		n++
	}
	if utf8.ValidString(v) && strings.IndexFunc(v, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return v
	}
	q := strconv.QuoteToGraphic(v)
	q = q[1 : len(q)-1]
	if len(q) > 4*maxErrorValue {
		q = strings.ToValidUTF8(q[:4*maxErrorValue], "")
	}
	return q
}

// problemOf is the one place where errors become answers. What it does not know is a
// fault of ours: it is logged whole, and the client learns only the request's id.
func (s *Server) problemOf(ctx context.Context, err error) *Problem {
	var p *Problem
	var fe dag.FieldError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &fe):
		return problem(http.StatusUnprocessableEntity, fe.Message, fe)
	case errors.Is(err, sql.ErrNotFound):
		return notFound()
	case errors.Is(err, sql.ErrBadCursor):
		return wrongField(http.StatusBadRequest, "cursor", "invalid", "", "the cursor is not one that this list gave")
	case errors.Is(err, sql.ErrExists):
		return problem(http.StatusConflict, "it exists already, or has already been asked for")
	case errors.Is(err, sql.ErrInUse):
		return inUse(err)
	case errors.Is(err, sql.ErrLastOwner):
		return wrongField(http.StatusConflict, "role", "last_owner", "", "the project must keep an owner: make somebody else one first")
	case errors.Is(err, sql.ErrStale):
		return problem(http.StatusPreconditionFailed, "it was changed meanwhile: read it again")
	case errors.Is(err, sql.ErrIdempotencyMismatch):
		return wrongField(http.StatusUnprocessableEntity, "Idempotency-Key", "mismatch", "", "this Idempotency-Key was used for another request in the last 24 hours")
	case errors.Is(err, sql.ErrUnavailable), errors.Is(err, context.Canceled) && s.patience.answering().Err() != nil:
		s.log.Warn("database unavailable", "request_id", requestID(ctx), "error", err)
		return unavailable("the database does not answer: try again")
	case errors.Is(err, context.DeadlineExceeded):
		s.log.Warn("request ran out of time", "request_id", requestID(ctx), "error", err)
		return unavailable("the request took too long: try again")
	case errors.Is(err, context.Canceled):
		return unavailable("the request was cancelled")
	}
	s.log.Error("request failed", "request_id", requestID(ctx), "error", err)
	return problem(http.StatusInternalServerError, "a fault of the server: its log has the request_id")
}

// inUse lists what stands in the way of a delete.
func inUse(err error) *Problem {
	p := problem(http.StatusConflict, "it is still in use")
	if use, ok := errors.AsType[*sql.InUseError](err); ok {
		for _, r := range use.References {
			p.Errors = append(p.Errors, dag.FieldError{Field: "references", Code: "in_use", Message: r})
		}
	}
	return p
}

func unavailable(detail string) *Problem {
	return problem(http.StatusServiceUnavailable, detail).with("Retry-After", strconv.Itoa(retryAfterSeconds))
}

// writeProblem writes p on a bare response, outside of huma.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	maps.Copy(w.Header(), p.headers)
	q := *p
	q.RequestID = requestID(r.Context())
	w.Header().Set("Content-Type", problemType)
	w.Header().Set("Cache-Control", "no-store")
	body := marshalJSON(&q)
	if sp := callOf(r.Context()).spec; sp != nil && sp.coded {
		w.Header().Set("Content-Type", "application/json")
		body = marshalJSON(codedOf(&q))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left has nobody to tell
	}
}

var humaOnce sync.Once

// teachHuma makes huma speak our errors. Its hooks are variables of that package, so
// they are set once per process, to functions without state.
func teachHuma() {
	humaOnce.Do(func() {
		huma.ValidateStrictCasing = true
		huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
			return humaProblem(nil, status, msg, errs)
		}
		huma.NewErrorWithContext = func(c huma.Context, status int, msg string, errs ...error) huma.StatusError {
			var op *huma.Operation
			if c != nil {
				op = c.Operation()
			}
			return humaProblem(op, status, msg, errs)
		}
	})
}

func humaProblem(op *huma.Operation, status int, msg string, errs []error) *Problem {
	fields := make([]dag.FieldError, 0, len(errs))
	for _, err := range errs {
		if p, ok := errors.AsType[*Problem](err); ok {
			return p
		}
		var d huma.ErrorDetailer
		if errors.As(err, &d) {
			f, inBody := fieldOf(op, d.ErrorDetail())
			if !inBody {
				// Path, query and headers: the request itself is wrong, not its content.
				status = http.StatusBadRequest
			}
			fields = append(fields, f)
		} else if err != nil {
			fields = append(fields, dag.FieldError{Field: "body", Code: "invalid", Message: err.Error()})
		}
	}
	if status == 0 {
		status = http.StatusInternalServerError // asked for by huma to learn the type only
	}
	if len(fields) == 1 {
		msg = fields[0].Field + ": " + fields[0].Message
	} else if len(fields) > 1 {
		msg = strconv.Itoa(len(fields)) + " fields are wrong"
	}
	return problem(status, msg, fields...)
}

// unlessAbsent returns the answer to an error that is not sql.ErrNotFound; nil for that and for none.
func (s *Server) unlessAbsent(ctx context.Context, err error) *Problem {
	if err == nil || errors.Is(err, sql.ErrNotFound) {
		return nil
	}
	return s.problemOf(ctx, err)
}
