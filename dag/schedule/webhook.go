package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// Webhook makes a signed call of somebody outside a fire, in place of cron, at and after.
type Webhook struct {
	Secret string `json:"secret" rule:"required"` // the name of the project's secret that signs the calls
	// Params take values from the body of a call: the name of a parameter to the path of a field, with dots between its
	// parts; a whole number counts into a list, from 0.
	Params map[string]string `json:"params,omitempty"`
}

const (
	// maxPath bounds the path of a field, and maxParts its parts.
	maxPath  = 512
	maxParts = 32
)

// Given returns the values that the body of a call gives to parameters. A field that is not there, or is null, gives
// none; a list or an object gives its JSON. The error says why the body is not read.
func (w *Webhook) Given(body []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // the digits stay as they are
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	given := make(map[string]string, len(w.Params))
	for name, path := range w.Params {
		if value, ok := written(field(root, path)); ok {
			given[name] = value
		}
	}
	return given, nil
}

// field is the value at a path; nil where there is none.
func field(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}

func written(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(fmt.Sprintf("schedule: a value that was read from JSON is none: %v", err))
	}
	return strings.TrimSpace(b.String()), true
}

// webhook reads what a call starts.
func (c *compiler) webhook(s *Spec) {
	w := s.Webhook
	switch wrong := dag.CheckSecretName("webhook.secret", w.Secret); {
	case w.Secret == "":
		c.fail("webhook.secret", document.CodeRequired, "", "name the project's secret that signs the calls")
	case len(wrong) > 0:
		c.wrong = append(c.wrong, wrong...)
	}
	if len(w.Params) > maxParams {
		c.fail("webhook.params", document.CodeTooLarge, "", "%d values, at most %d are allowed", len(w.Params), maxParams)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.Params)) {
		path := w.Params[name]
		at := document.FieldKey("webhook.params", name)
		switch parts := strings.Split(path, "."); {
		case len(path) > maxPath || len(parts) > maxParts:
			c.fail(at, document.CodeTooLarge, path, "a path has at most %d bytes and %d parts", maxPath, maxParts)
		case slices.Contains(parts, ""):
			c.fail(at, document.CodeInvalid, path, "want the path of a field of the body, such as day or release.day")
		}
	}
}
