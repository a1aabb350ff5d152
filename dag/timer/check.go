package timer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/moment"
)

// Bounds of a spec, and what stands for what is left out.
const (
	// DefaultTimeout and MaxTimeout bound one try: a claimed task is another master's after it, so that it must not be long.
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = time.Minute
	// DefaultTries is the first try and four more, within about a quarter of a minute.
	DefaultTries = 5
	MaxTries     = 20
	// MaxBody and maxHeaderBytes bound what is kept of a call, in every master's memory, too.
	MaxBody        = 64 << 10
	maxHeaders     = 50
	maxHeaderBytes = 8 << 10
)

var methods = []string{"GET", "POST", "DELETE", "PATCH"}

// ownHeaders are set by who calls. A Host of the user's own would also reach names that were not checked.
var ownHeaders = []string{"connection", "content-length", "host", "idempotency-key", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

// FieldURL is the field of the URL, which whoever calls checks.
const FieldURL = fieldCall + ".url"

// The fields of a spec as people write them.
const (
	fieldCall    = "notifyHTTPParam"
	fieldMethod  = fieldCall + ".method"
	fieldHeader  = fieldCall + ".header"
	fieldBody    = fieldCall + ".body"
	fieldTimeout = fieldCall + ".timeoutSeconds"
	fieldTries   = fieldCall + ".maxTries"
)

// Check returns everything that is wrong with the spec, but for the URL, by the fields of the API. now decides whether
// it ever fires.
func (s *Spec) Check(now dag.Millis) []dag.FieldError {
	wrong := s.checkTime(now)
	if !slices.Contains(methods, s.Method) {
		code := document.CodeNotInEnum
		if s.Method == "" {
			code = document.CodeRequired
		}
		wrong = append(wrong, dag.FieldError{
			Field: fieldMethod, Code: code, Value: document.Shown(s.Method), Message: "the method must be one of " + strings.Join(methods, ", "),
		})
	}
	wrong = append(wrong, s.checkHeaders()...)
	if len(s.Body) > MaxBody {
		wrong = append(wrong, dag.FieldError{Field: fieldBody, Code: document.CodeTooLarge, Message: fmt.Sprintf("the body has %d bytes, at most %d are allowed", len(s.Body), MaxBody)})
	}
	outside := func(field string, n, most int) {
		if n < 0 || n > most {
			wrong = append(wrong, dag.FieldError{Field: field, Code: document.CodeOutOfRange, Value: fmt.Sprint(n), Message: fmt.Sprintf("%d is not in 1-%d", n, most)})
		}
	}
	outside(fieldTimeout, s.TimeoutSeconds, int(MaxTimeout/time.Second))
	outside(fieldTries, s.MaxTries, MaxTries)
	return wrong
}

func (s *Spec) checkTime(now dag.Millis) (wrong []dag.FieldError) {
	if s.Cron == "" {
		wrong = append(wrong, dag.FieldError{Field: "cron", Code: document.CodeRequired, Message: "is required"})
	}
	if s.Dialect != "" && !slices.Contains(cron.Dialects(), s.Dialect) {
		wrong = append(wrong, dag.FieldError{
			Field: "dialect", Code: document.CodeNotInEnum, Value: document.Shown(s.Dialect), Message: "the dialect must be one of " + strings.Join(cron.Dialects(), ", "),
		})
	} else if _, err := cron.Parse(s.Cron, cron.Dialect(s.Dialect)); s.Cron != "" && err != nil {
		wrong = append(wrong, cronErrors(err)...)
	}
	if _, err := moment.Location(s.Timezone); err != nil {
		wrong = append(wrong, dag.FieldError{Field: "timezone", Code: document.CodeInvalid, Value: document.Shown(s.Timezone), Message: err.Error()})
	}
	if len(wrong) > 0 {
		return wrong
	}
	plan, err := s.Compile()
	if err != nil {
		return []dag.FieldError{{Field: "cron", Code: document.CodeInvalid, Value: document.Shown(s.Cron), Message: err.Error()}}
	}
	if _, next := plan.Fires(now, now, 0); next == Never {
		wrong = append(wrong, dag.FieldError{Field: "cron", Code: document.CodeInvalid, Value: document.Shown(s.Cron), Message: "it never fires any more"})
	}
	return wrong
}

// cronErrors are the mistakes of an expression, each with its column.
func cronErrors(err error) (list []dag.FieldError) {
	wrong, ok := errors.AsType[*cron.Errors](err)
	if !ok {
		return []dag.FieldError{{Field: "cron", Code: document.CodeInvalid, Message: err.Error()}}
	}
	for _, one := range wrong.List {
		list = append(list, dag.FieldError{Field: "cron", Code: one.Code, Message: one.Message, Value: one.Value, Line: 1, Column: one.Column})
	}
	return list
}

func (s *Spec) checkHeaders() (wrong []dag.FieldError) {
	fail := func(name, code, message string) {
		field := fieldHeader
		if name != "" {
			field += "." + document.Shown(name)
		}
		wrong = append(wrong, dag.FieldError{Field: field, Code: code, Message: message})
	}
	values, bytes := 0, 0
	for _, name := range sortedNames(s.Headers) {
		list := s.Headers[name]
		values += len(list)
		switch {
		case !isToken(name):
			fail(name, document.CodeInvalid, "this is not a name of a header")
		case slices.Contains(ownHeaders, strings.ToLower(name)):
			fail(name, document.CodeInvalid, "this header is set by who calls")
		}
		for _, v := range list {
			bytes += len(name) + len(v)
			if !isHeaderValue(v) {
				fail(name, document.CodeInvalid, "a value holds a line break or another control character, or is not valid UTF-8")
			}
		}
	}
	if values > maxHeaders {
		fail("", document.CodeTooLarge, fmt.Sprintf("%d values, at most %d are allowed", values, maxHeaders))
	}
	if bytes > maxHeaderBytes {
		fail("", document.CodeTooLarge, fmt.Sprintf("the headers have %d bytes, at most %d are allowed", bytes, maxHeaderBytes))
	}
	return wrong
}

func sortedNames(headers map[string][]string) []string {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isToken says whether text is a token as RFC 9110 5.6.2 has it.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return text != ""
}

func isHeaderValue(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.ValidString(text)
}
