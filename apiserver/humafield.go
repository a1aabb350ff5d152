package apiserver

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

var requiredProperty = regexp.MustCompile(`^expected required property (\S+) to be present$`)

// fieldOf translates one finding of huma to a field of ours, and tells whether it is in the body.
func fieldOf(op *huma.Operation, d *huma.ErrorDetail) (f dag.FieldError, inBody bool) {
	place, name, _ := strings.Cut(d.Location, ".")
	inBody = place == "body" || place == ""
	f = dag.FieldError{Field: name, Message: d.Message, Code: codeOf(d.Message)}
	if f.Field == "" {
		f.Field = "body"
	}
	if m := requiredProperty.FindStringSubmatch(d.Message); m != nil {
		f.Field = strings.TrimPrefix(name+"."+m[1], ".")
		f.Message = "is required"
		return f, inBody
	}
	if f.Code == document.CodeUnknownField || f.Code == "unknown_parameter" {
		f.Message = "is not a known field"
		if near := nearest(lastName(name), knownNames(op, place)); near != "" {
			f.Message += fmt.Sprintf(": did you mean %q?", near)
		}
		return f, inBody
	}
	switch v := d.Value.(type) {
	case nil, map[string]any, []any:
	case string:
		f.Value = v
	default:
		f.Value = fmt.Sprint(v)
	}
	return f, inBody
}

// codeOf names huma's findings; the messages are fixed texts of its validation package.
func codeOf(msg string) string {
	switch {
	case msg == "unexpected property":
		return document.CodeUnknownField
	case msg == "unknown query parameter":
		return "unknown_parameter"
	case strings.HasPrefix(msg, "expected required property"), strings.HasSuffix(msg, "parameter is missing"):
		return document.CodeRequired
	case strings.HasPrefix(msg, "expected value to be one of"):
		return document.CodeNotInEnum
	case strings.HasPrefix(msg, "expected number "), strings.HasPrefix(msg, "expected length"), strings.HasPrefix(msg, "expected array length"),
		strings.HasPrefix(msg, "expected object with at"):
		return document.CodeOutOfRange
	case msg == "expected boolean", msg == "expected number", msg == "expected integer", msg == "expected string",
		msg == "expected array", msg == "expected object", strings.HasPrefix(msg, "expected value to match at least one schema"), strings.HasPrefix(msg, "invalid integer"), strings.HasPrefix(msg, "invalid boolean"):
		return document.CodeWrongType
	default:
		return document.CodeInvalid
	}
}

func lastName(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}

// knownNames lists what the operation would have understood at the top of its body or
// in its query.
func knownNames(op *huma.Operation, place string) []string {
	if op == nil {
		return nil
	}
	var names []string
	if place == "query" {
		for _, p := range op.Parameters {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		return names
	}
	if known, ok := op.Metadata[metaBodyFields].([]string); ok {
		names = known
	}
	return names
}

// nearest returns the candidate that is at most two edits from name; "" for none.
func nearest(name string, candidates []string) string {
	best, bestCost := "", 3
	for _, c := range candidates {
		if cost := distance(name, c); cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// distance is the Levenshtein distance; long texts are told apart by their length alone.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
