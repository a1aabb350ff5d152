package expression_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/expression"
)

// known are the values that docs/EXPRESSIONS.md speaks of.
func known() expression.Values {
	params := map[string]any{
		"region": "eu", "rows": "10", "day": "20260101", "debug": "true", "note": "late: yes",
		"hosts": []any{"a1", "b2"}, "item": map[string]any{"name": "x", "size": 3},
		"load.rows": "42", "system.biz.date": "20251231",
	}
	tasks := map[string]map[string]any{
		"load":     {"state": "success", "reason": "", "exit_code": 0, "attempts": 2},
		"load all": {"state": "failed", "reason": "exit_code", "exit_code": 3, "attempts": 1},
	}
	return expression.Values{
		Param: func(name string) (any, bool) { v, ok := params[name]; return v, ok },
		Task:  func(name string) (map[string]any, bool) { t, ok := tasks[name]; return t, ok },
	}
}

// evaluate compiles and evaluates: an error of either is the result.
func evaluate(text string) (any, error) {
	e, err := expression.Compile(text)
	if err != nil {
		return nil, err
	}
	return e.Eval(known())
}

// asJSON is a value as docs/EXPRESSIONS.md writes it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	if v == nil {
		return "nil"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(",", ", ", ":", ": ").Replace(strings.TrimSpace(b.String()))
}

var quotedCode = regexp.MustCompile("`((?:\\\\.|[^`])*)`")

func TestEveryExampleOfTheReferenceHolds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/EXPRESSIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		cells := regexp.MustCompile(`[^\\]\|`).FindAllStringIndex(line, -1)
		if !strings.HasPrefix(line, "| `") || len(cells) != 2 {
			continue
		}
		left := quotedCode.FindAllStringSubmatch(line[:cells[0][1]], -1)
		right := line[cells[0][1]:]
		want, isError := strings.CutPrefix(strings.Trim(right, " |\n"), "error: ")
		results := quotedCode.FindAllStringSubmatch(right, -1)
		for i, example := range left {
			source := strings.ReplaceAll(example[1], `\|`, "|")
			got, err := evaluate(source)
			checked++
			switch {
			case isError:
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s = %v, %v, want an error with %q", source, got, err, want)
				}
			case i >= len(results):
				t.Errorf("%s has no result in the row", source)
			case err != nil:
				t.Errorf("%s: %v, want %s", source, err, results[i][1])
			case strings.ReplaceAll(asJSON(t, got), " ", "") != strings.ReplaceAll(results[i][1], " ", ""):
				t.Errorf("%s = %s, want %s", source, asJSON(t, got), results[i][1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d examples found: the test or the page is out of date", checked)
	}
}
