package dag

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// schemaCheck is as much of a JSON Schema validator as our schema needs; a keyword
// that it does not know fails the test, so that none is passed over.
type schemaCheck struct {
	t    testing.TB
	root map[string]any
}

func newSchemaCheck(t testing.TB) *schemaCheck {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	return &schemaCheck{t: t, root: root}
}

func (c *schemaCheck) check(n *document.Node) []string { return c.node(c.root, n, "$") }

func (c *schemaCheck) node(schema map[string]any, n *document.Node, at string) []string {
	var errs []string
	fail := func(format string, args ...any) { errs = append(errs, at+": "+fmt.Sprintf(format, args...)) }
	for keyword, want := range schema {
		switch keyword {
		case "$schema", "$id", "$defs", "title", "description", "default", "examples", "format", "required", "properties",
			document.Order, document.Editor, document.Advanced:
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/$defs/")
			errs = append(errs, c.node(c.root["$defs"].(map[string]any)[name].(map[string]any), n, at)...)
		case "type":
			if !hasType(want, n) {
				fail("is %v, want %v", n.Kind, want)
			}
		case "const":
			if n.Text != want {
				fail("is %q, want %q", n.Text, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), any(n.Text)) {
				fail("is %q, want one of %v", n.Text, want)
			}
		case "pattern":
			// ECMA's lookahead is not in Go's dialect; it only says "not empty".
			pattern := strings.ReplaceAll(want.(string), "(?=[0-9])", "")
			if n.Kind == document.String && !regexp.MustCompile(pattern).MatchString(n.Text) {
				fail("%q does not match %s", n.Text, want)
			}
		case "minLength", "maxLength":
			if n.Kind == document.String && !within(keyword, float64(utf8.RuneCountInString(n.Text)), want) {
				fail("%d characters, %s is %v", utf8.RuneCountInString(n.Text), keyword, want)
			}
		case "minimum", "maximum":
			if v, err := strconv.ParseFloat(n.Text, 64); n.Kind == document.Number && (err != nil || !within(keyword, v, want)) {
				fail("%s, %s is %v", n.Text, keyword, want)
			}
		case "minItems", "maxItems", "minProperties", "maxProperties":
			if !within(keyword, float64(len(n.Items)), want) {
				fail("%d entries, %s is %v", len(n.Items), keyword, want)
			}
		case "items":
			if n.Kind == document.List {
				for i := range n.Items {
					errs = append(errs, c.node(want.(map[string]any), &n.Items[i], fmt.Sprintf("%s[%d]", at, i))...)
				}
			}
		case "additionalProperties":
			errs = append(errs, c.properties(schema, n, at)...)
		case "anyOf", "oneOf":
			errs = append(errs, c.anyOf(keyword, want.([]any), n, at)...)
		default:
			c.t.Fatalf("%s: this test does not know the keyword %s", at, keyword)
		}
	}
	if required, ok := schema["required"].([]any); ok && n.Kind == document.Map {
		for _, name := range required {
			if n.Get(name.(string)) == nil {
				fail("lacks %s", name)
			}
		}
	}
	return errs
}

func (c *schemaCheck) properties(schema map[string]any, n *document.Node, at string) []string {
	if n.Kind != document.Map {
		return nil
	}
	var errs []string
	known, _ := schema["properties"].(map[string]any)
	for i, key := range n.Keys {
		below := at + "." + key.Name
		if property, ok := known[key.Name]; ok {
			errs = append(errs, c.node(property.(map[string]any), &n.Items[i], below)...)
		} else if others, ok := schema["additionalProperties"].(map[string]any); ok {
			errs = append(errs, c.node(others, &n.Items[i], below)...)
		} else {
			errs = append(errs, below+": unknown")
		}
	}
	return errs
}

func (c *schemaCheck) anyOf(keyword string, forms []any, n *document.Node, at string) []string {
	matches := 0
	var all []string
	for _, form := range forms {
		errs := c.node(form.(map[string]any), n, at)
		if len(errs) == 0 {
			matches++
		}
		all = append(all, errs...)
	}
	if matches == 1 || matches > 1 && keyword == "anyOf" {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d of %s match: %s", at, matches, keyword, strings.Join(all, "; "))}
}

func within(keyword string, v float64, limit any) bool {
	if strings.HasPrefix(keyword, "min") {
		return v >= limit.(float64)
	}
	return v <= limit.(float64)
}

func hasType(want any, n *document.Node) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return hasType(one, n) })
	}
	switch n.Kind {
	case document.Bool:
		return want == "boolean"
	case document.Number:
		return want == "number" || want == "integer" && document.IsInteger(n.Text)
	case document.String:
		return want == "string"
	case document.List:
		return want == "array"
	case document.Map:
		return want == "object"
	case document.Null:
	}
	return false
}

func TestSchemaTakesTheExamples(t *testing.T) {
	t.Parallel()
	files, err := exampleFiles()
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, errs := document.Read(text, "yaml")
		checkErrors(t, errs, nil)
		for _, e := range newSchemaCheck(t).check(root) {
			t.Errorf("%s: %s", file, e)
		}
	}
}

func TestSchemaRefusesWhatAnEditorShouldMark(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		tasksText("  - {name: a, type: shell}"),
		tasksText("  - {name: a, type: shel, script: x}"),
		tasksText("  - {name: a, type: noop, script: x}"),
		tasksText("  - {name: a, type: noop, priority: urgent}"),
		tasksText("  - {name: a, type: noop, retry: {times: 101}}"),
		tasksText("  - {name: a, type: noop, timeout: {after: soon}}"),
		tasksText("  - {name: a, type: noop, timeout: {after: 30}}"),
		tasksText("  - {name: a, type: noop, outputs: [a b]}"),
		tasksText("  - {name: a, type: shell, script: x, cache: {}}"),
		tasksText("  - {name: -a, type: noop}"),
		"name: w\ntasks: []\n",
		"name: w\nconcurrency: 1\ntasks:\n" + noop("a"),
		"name: w\non_failure: undo\ntasks:\n" + noop("a"),
		tasksText("  - {name: a, type: noop, compensate: {type: wait, for: 1s}}"),
		tasksText("  - {name: a, type: noop, compensate: {type: shell, script: x, needs: [a]}}"),
		"tasks:\n" + noop("a"),
	} {
		root, errs := document.Read([]byte(text), "yaml")
		checkErrors(t, errs, nil)
		if len(newSchemaCheck(t).check(root)) == 0 {
			t.Errorf("the schema takes %s", text)
		}
		if _, errs := Parse([]byte(text), "yaml"); len(errs) == 0 {
			t.Errorf("Parse takes %s", text)
		}
	}
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	t.Parallel()
	c := newSchemaCheck(t)
	var walk func(at string, schema map[string]any)
	walk = func(at string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			if p := property.(map[string]any); p["description"] == nil {
				t.Errorf("%s.%s has no description", at, name)
			} else {
				walk(at+"."+name, p)
			}
		}
	}
	walk("$", c.root)
	for name, def := range c.root["$defs"].(map[string]any) {
		walk(name, def.(map[string]any))
	}
	for _, name := range TaskTypes() {
		if c.root["$defs"].(map[string]any)[name] == nil {
			t.Errorf("task type %s is not in the schema", name)
		}
	}
}
