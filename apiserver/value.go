package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/dag"
)

// ID is an object's number; in JSON it is text, because JavaScript rounds above 2^53.
type ID int64

// MarshalJSON writes the id as text.
func (id ID) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(id), 10)), nil
}

// UnmarshalJSON reads the id as text or as a number, never rounded.
func (id *ID) UnmarshalJSON(text []byte) error {
	n, ok := parseID(string(bytes.Trim(text, `"`)))
	if !ok {
		return fmt.Errorf("%s is not an id", text)
	}
	*id = ID(n)
	return nil
}

// Schema describes an id; huma asks for it.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: `^[1-9][0-9]{0,18}$`, Examples: []any{"42"}}
}

// parseID reads 1 to 2^63-1 in plain decimal digits: no sign, space, base or exponent.
func parseID(text string) (int64, bool) {
	if text == "" || len(text) > 19 || text[0] == '0' {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func badID(field, value string) *Problem {
	return wrongField(http.StatusBadRequest, field, "invalid_id", value, "%s must be a whole number from 1 to 9223372036854775807", field)
}

// Time is a moment as JSON shows it: RFC 3339 in UTC with milliseconds. Zero is left out.
type Time dag.Millis

const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes the moment.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	b := make([]byte, 0, len(timeLayout)+2)
	b = append(b, '"')
	b = dag.Millis(t).Time().AppendFormat(b, timeLayout)
	return append(b, '"'), nil
}

// UnmarshalJSON reads a moment in any zone, cut to milliseconds.
func (t *Time) UnmarshalJSON(text []byte) error {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	if s == nil {
		*t = 0
		return nil
	}
	m, err := parseTime(*s)
	if err != nil {
		return err
	}
	*t = Time(m)
	return nil
}

// Schema describes a moment; huma asks for it.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-11-21T12:00:00.000Z"}}
}

func parseTime(text string) (dag.Millis, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time like 2026-11-21T12:00:00Z", shown(text))
	}
	return dag.MillisOf(at), nil
}

var priorityNames = [...]string{
	dag.PriorityHighest: "highest", dag.PriorityHigh: "high", dag.PriorityMedium: "medium", dag.PriorityLow: "low", dag.PriorityLowest: "lowest",
}

func priorityName(p dag.Priority) string {
	if p < 0 || int(p) >= len(priorityNames) {
		return "medium"
	}
	return priorityNames[p]
}

// parsePriority reads a priority's name; "" is medium.
func parsePriority(name string) (dag.Priority, bool) {
	if name == "" {
		return dag.PriorityMedium, true
	}
	for p, n := range priorityNames {
		if n == name {
			return dag.Priority(p), true
		}
	}
	return 0, false
}

// List is a page of a list; next_cursor is absent on the last one.
type List[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Give it as cursor to get the next page; absent on the last one."`
}

func list[R, T any](rows []R, next string, face func(R) T) List[T] {
	l := List[T]{Items: make([]T, len(rows)), NextCursor: next}
	for i, r := range rows {
		l.Items[i] = face(r)
	}
	return l
}

const (
	// maxPage bounds every list; defaultPage is what a list without limit gives.
	maxPage     = 200
	defaultPage = 50
)

func marshalJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only our own types come here; none of them can fail.
		panic(fmt.Sprintf("marshal %T: %v", v, err))
	}
	return b.Bytes()
}

// checkIdempotencyKey checks the header of that name: 1 to 128 printable ASCII characters.
func checkIdempotencyKey(key string) *Problem {
	const most = 128
	if len(key) <= most && strings.IndexFunc(key, func(r rune) bool { return r < 0x21 || r > 0x7e }) < 0 {
		return nil
	}
	return wrongField(http.StatusBadRequest, "Idempotency-Key", "invalid", key, "Idempotency-Key must be 1 to %d printable ASCII characters without space", most)
}
