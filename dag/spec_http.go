package dag

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// HTTPSpec is what an http task has for itself. The task's timeout bounds the whole
// call; an output named response, where declared, holds the answer's body.
type HTTPSpec struct {
	URL            string            `json:"url" rule:"required,max=8192" editor:"url" doc:"The address to call, http or https."`
	Method         string            `json:"method,omitempty" rule:"enum=GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS" default:"GET" doc:"The method of the call."`
	Headers        map[string]string `json:"headers,omitempty" rule:"max=100" editor:"map" doc:"Headers of the call."`
	Body           string            `json:"body,omitempty" rule:"max=1048576" editor:"text" doc:"The body of the call."`
	Expect         *HTTPExpect       `json:"expect,omitempty" doc:"What the answer must be for the task to succeed."`
	ConnectTimeout Duration          `json:"connect_timeout,omitempty" rule:"min=1ms,max=10m" default:"10s" advanced:"true" doc:"How long making the connection may take."`
}

// HTTPExpect is what an answer must be. All that is given must hold.
type HTTPExpect struct {
	Status          StatusRanges `json:"status,omitempty" editor:"statuses" doc:"Status codes that are a success: a code, a range such as 200-299, or a list of them."`
	BodyContains    string       `json:"body_contains,omitempty" rule:"max=65536" editor:"text" doc:"A text that the answer's body must contain."`
	BodyNotContains string       `json:"body_not_contains,omitempty" rule:"max=65536" editor:"text" doc:"A text that the answer's body must not contain."`
}

// Validate checks the address, the headers and the ranges.
func (s *HTTPSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	if message := s.wrongURL(); message != "" {
		errs = append(errs, FieldError{Field: "url", Code: document.CodeInvalid, Message: message, Value: document.Shown(s.URL)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		field := document.FieldKey("headers", name)
		if !isToken(name) {
			errs = append(errs, FieldError{Field: field, Code: CodeInvalidName, Message: document.Quoted(name) + " is not a header's name", Value: document.Shown(name)})
		}
		value := s.Headers[name]
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			errs = append(errs, FieldError{Field: field, Code: document.CodeInvalid, Message: "a header's value must not contain line ends or other control characters", Value: document.Shown(value)})
		}
	}
	return errs
}

// wrongURL is lenient where parts of the address are still to be put in.
func (s *HTTPSpec) wrongURL() string {
	const want = "want an address such as https://example.com/path"
	if s.URL == "" || strings.HasPrefix(s.URL, "${") {
		return ""
	}
	if strings.Contains(s.URL, "${") {
		if !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
			return want
		}
		return ""
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return want
	}
	return ""
}

// isToken is RFC 9110 5.6.2, the form of a header's name.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// Accepts tells whether a status code is a success: 200 to 299 where nothing is said.
func (e *HTTPExpect) Accepts(code int) bool {
	if e == nil || len(e.Status) == 0 {
		return code >= 200 && code <= 299
	}
	return slices.ContainsFunc(e.Status, func(r StatusRange) bool { return code >= r.From && code <= r.To })
}

// StatusRange is the status codes From to To.
type StatusRange struct{ From, To int }

// String returns the range as documents write it: 204, 200-299.
func (r StatusRange) String() string {
	if r.From == r.To {
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// StatusRanges is a set of status codes. In documents it is a code, a range, or a
// list of them; in JSON of ours always a list of texts.
type StatusRanges []StatusRange

// maxStatusRanges is more than there are sensible sets of status codes.
const maxStatusRanges = 50

// ReadDocument reads all three forms.
func (s *StatusRanges) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind != document.List {
		*s = StatusRanges{readStatus(d, n, at)}
		return
	}
	*s = make(StatusRanges, len(n.Items))
	for i := range n.Items {
		(*s)[i] = readStatus(d, &n.Items[i], at.Index(i))
	}
}

func readStatus(d *document.Decoder, n *document.Node, at *document.Path) StatusRange {
	if n.Kind != document.Number && n.Kind != document.String {
		d.Want(n, at, "a status code such as 200 or a range such as 200-299")
		return StatusRange{}
	}
	r, ok := parseStatus(n.Text)
	if !ok {
		d.Fail(n, at, document.CodeOutOfRange, "want a status code from 100 to 599, or a range such as 200-299")
	}
	return r
}

func parseStatus(text string) (StatusRange, bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	low, errLow := strconv.Atoi(from)
	high, errHigh := strconv.Atoi(to)
	return StatusRange{low, high}, errLow == nil && errHigh == nil && low >= 100 && high <= 599 && low <= high
}

// CheckDocument bounds the list.
func (s StatusRanges) CheckDocument(at *document.Path) []FieldError {
	if len(s) > maxStatusRanges || s != nil && len(s) == 0 {
		return []FieldError{{
			Field: at.String(), Code: document.CodeOutOfRange,
			Message: fmt.Sprintf("give 1 to %d status codes or ranges, not %d", maxStatusRanges, len(s)),
		}}
	}
	return nil
}

// DescribeDocument describes all three forms.
func (StatusRanges) DescribeDocument(*document.Schemas) document.Schema {
	one := document.Schema{"type": []string{"integer", "string"}, "minimum": 100, "maximum": 599, "pattern": "^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$"}
	return document.Schema{"anyOf": []any{one, document.Schema{"type": "array", "items": one, "minItems": 1, "maxItems": maxStatusRanges}}}
}

// MarshalText writes a range.
func (r StatusRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a range.
func (r *StatusRange) UnmarshalText(text []byte) error {
	var ok bool
	if *r, ok = parseStatus(string(text)); !ok {
		return fmt.Errorf("status %s is neither a code nor a range", document.Quoted(string(text)))
	}
	return nil
}

// encodeSpec returns a spec as JSON, without the escapes that HTML would want.
func encodeSpec(s Spec) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), nil
}
