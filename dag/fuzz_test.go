package dag

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/document"
)

// seedTexts are a beginning for the fuzzers: the examples, and slips of every kind.
func seedTexts(f *testing.F) {
	files, err := exampleFiles()
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "{}", "[]", "null", "name: w\ntasks:\n- {name: a, type: noop}\n", "name: w\ntasks:\n- {name: a, type: shell, script: x, needs: [a]}\n",
		`{"name":"w","params":{"a":1,"b":{"type":"integer","default":"x","enum":[1]}},"tasks":[{"name":"t","type":"http","url":"${a}","headers":{"a b":"${t.x}"},"expect":{"status":[200,"200-299"]}}]}`,
		`{"name":"w","tasks":[{"name":"a","type":"wait","for":"1h"},{"name":"b","type":"wait","until":"2026-01-01T00:00:00Z","needs":["a"],"retry":{"delays":["1s"]},"timeout":{"after":0}}]}`,
		"a: &x 1\nb: *x", "a: !!str 1", "<<: {a: 1}", "a: 1\n---\nb: 1", "? [a]\n: b", "\"a\\0\": 1", "{\"a\":\"\\ud800\"}", "[[[[[[", "a: |\n  x\n y",
		"name: w\nparams: {a: $[x], b: 1e400, c: .nan}\ntasks: [{name: 😀, type: x, env: {A: \"${\"}}]", "\xef\xbb\xbf{}", "\xff", "a:\tb", "%YAML 1.1\n---\na", "- - - a", "!", "&", "*", "|", ">",
	} {
		f.Add([]byte(text))
	}
}

// checkParse holds what must be true of every text: no panic, errors that say where,
// and a definition that, written as JSON, is read as the same again.
func checkParse(t *testing.T, text []byte, format string) {
	plan, errs := ParsePlan(text, format)
	if (plan == nil) != (len(errs) > 0) || len(errs) > document.MaxErrors {
		t.Fatalf("plan %v with %d errors", plan != nil, len(errs))
	}
	lines := 1 + strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + strings.Count(string(text), "\u0085") + strings.Count(string(text), "\u2028") + strings.Count(string(text), "\u2029")
	for _, e := range errs {
		if e.Field == "" || e.Code == "" || e.Message == "" || e.Line < 0 || e.Line > lines+1 || len([]rune(e.Value)) > 64 {
			t.Fatalf("bad error %+v in %d lines", e, lines)
		}
		if strings.ContainsFunc(e.Message+e.Value, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("error with control characters: %+v", e)
		}
	}
	if plan == nil {
		return
	}
	def := plan.Definition
	root, errs := document.Read(text, format)
	if root == nil {
		t.Fatal(errs)
	}
	again, errs := Parse([]byte(asJSON(t, root)), "json")
	if again == nil || show(t, again) != show(t, def) {
		t.Fatalf("read again as JSON %s: %v\n%s", asJSON(t, root), errs, show(t, def))
	}
	if second, errs := NewPlan(def); second == nil || !slices.Equal(second.Order, plan.Order) {
		t.Fatalf("NewPlan of what was parsed: %v", errs)
	}
	start := map[string]string{}
	for _, p := range def.Params {
		if p.Default == nil {
			start[p.Name] = "1"
		}
	}
	in := instanceOf(plan, start)
	for i := range def.Tasks {
		_, _ = Resolve(in, i, Facts{Now: 1}) // an error is well: outputs are missing
	}
	for _, e := range newSchemaCheck(t).check(root) {
		t.Fatalf("Parse takes what the schema does not: %s", e)
	}
}

// asJSON writes a tree as JSON; what is no number there becomes a text.
func asJSON(t *testing.T, n *document.Node) string {
	t.Helper()
	quote := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	switch n.Kind {
	case document.Null:
		return "null"
	case document.Bool:
		return n.Text
	case document.Number:
		if document.IsNumber(n.Text) {
			return n.Text
		}
		return quote(n.Text)
	case document.String:
		return quote(n.Text)
	case document.List, document.Map:
	}
	parts := make([]string, len(n.Items))
	for i := range n.Items {
		parts[i] = asJSON(t, &n.Items[i])
		if n.Kind == document.Map {
			parts[i] = quote(n.Keys[i].Name) + ":" + parts[i]
		}
	}
	if n.Kind == document.Map {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func FuzzParseYAML(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) { checkParse(t, text, "yaml") })
}

func FuzzParseJSON(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) { checkParse(t, text, "json") })
}
