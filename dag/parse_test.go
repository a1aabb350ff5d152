package dag

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrong is an error as a test wants it: where, which field, which code, and a part of
// what is said.
type wrong struct {
	line  int
	field string
	code  string
	says  string
}

// checkErrors compares all errors with all that are wanted, in order.
func checkErrors(t *testing.T, got []FieldError, want []wrong) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing error %d: %+v", i, want[i])
		case i >= len(want):
			t.Errorf("unwanted error %d: line %d %s [%s] %s", i, got[i].Line, got[i].Field, got[i].Code, got[i].Message)
		default:
			g, w := got[i], want[i]
			if g.Line != w.line || g.Field != w.field || g.Code != w.code || !strings.Contains(g.Message, w.says) {
				t.Errorf("error %d = line %d %s [%s] %s, want %+v", i, g.Line, g.Field, g.Code, g.Message, w)
			}
		}
	}
}

// tasksText is a workflow around some lines of tasks; the first of them is line 3.
func tasksText(lines ...string) string {
	return "name: w\ntasks:\n" + strings.Join(lines, "\n") + "\n"
}

func noop(name string, needs ...string) string {
	return fmt.Sprintf("  - {name: %s, type: noop, needs: [%s]}", name, strings.Join(needs, ", "))
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for _, test := range wrongTexts {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			def, errs := Parse([]byte(test.text), "yaml")
			if def != nil {
				t.Error("Parse returned a definition beside errors")
			}
			checkErrors(t, errs, test.want)
		})
	}
}

func TestParseFillsInTheDefaults(t *testing.T) {
	t.Parallel()
	def, errs := Parse([]byte(tasksText(
		"  - {name: a, type: shell, script: 'true', retry: {times: 2}, timeout: {after: 1h30m}}",
		"  - {name: b, type: http, url: 'http://x', retry: {delays: [1s, 2m]}, timeout: {after: 0}, priority: lowest, worker_labels: {zone: eu, cores: 8}}",
	)), "yaml")
	checkErrors(t, errs, nil)
	a, b := def.Tasks[0], def.Tasks[1]
	if def.OnFailure != OnFailureContinue || a.WorkerGroup != "default" || a.Priority != PriorityMedium || b.Priority != PriorityLowest {
		t.Errorf("on_failure %q, worker_group %q, priorities %v and %v", def.OnFailure, a.WorkerGroup, a.Priority, b.Priority)
	}
	if a.WorkerLabels != nil || b.WorkerLabels.String() != "cores=8,zone=eu" {
		t.Errorf("worker_labels %v and %v", a.WorkerLabels, b.WorkerLabels)
	}
	if a.Timeout != (Timeout{After: 90 * time.Minute, Action: TimeoutFail}) || b.Timeout.After != 0 {
		t.Errorf("timeouts = %+v and %+v", a.Timeout, b.Timeout)
	}
	if a.Retry.Times != 2 || a.Retry.Delay != 30*time.Second || a.Retry.Backoff != 1 {
		t.Errorf("retry = %+v, want 2 times, 30s, 1", a.Retry)
	}
	if b.Retry.Times != 2 || !slices.Equal(b.Retry.Delays, []time.Duration{time.Second, 2 * time.Minute}) {
		t.Errorf("retry = %+v, want delays 1s and 2m", b.Retry)
	}
	if s := a.Spec.(*ShellSpec); s.Interpreter != "sh" {
		t.Errorf("interpreter = %q, want sh", s.Interpreter)
	}
	if s := b.Spec.(*HTTPSpec); s.Method != "GET" || time.Duration(s.ConnectTimeout) != 10*time.Second || !s.Expect.Accepts(204) || s.Expect.Accepts(301) {
		t.Errorf("http spec = %+v", s)
	}
}

func TestPlainParametersTakeTheirTypeFromTheirValue(t *testing.T) {
	t.Parallel()
	def, errs := Parse([]byte("name: w\nparams: {a: x, b: 20240101, c: 1.5, d: true, e: \"1\", f: 2024-01-01, g: {default: 3}, h: {type: number}}\ntasks:\n"+noop("t")), "yaml")
	checkErrors(t, errs, nil)
	want := []ParamType{ParamString, ParamInteger, ParamNumber, ParamBoolean, ParamString, ParamString, ParamInteger, ParamNumber}
	for i, p := range def.Params {
		if p.Type != want[i] {
			t.Errorf("param %s has type %s, want %s", p.Name, p.Type, want[i])
		}
	}
	if def.Params[7].Default != nil || *def.Params[1].Default != "20240101" {
		t.Errorf("defaults = %v, %v", def.Params[7].Default, def.Params[1].Default)
	}
}

func TestAtMostAHundredErrorsAreReported(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 5_000 {
		lines = append(lines, fmt.Sprintf("  - {name: a%d, type: shel, needs: [zz%d], bogus: 1}", i, i))
	}
	start := time.Now()
	_, errs := Parse([]byte(tasksText(lines...)), "yaml")
	if len(errs) != 100 || errs[0].Line != 3 {
		t.Errorf("%d errors, the first at line %d; want 100 from line 3", len(errs), errs[0].Line)
	}
	t.Logf("took %s", time.Since(start))
}

func TestTooManyTasksAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("name: w\ntasks:\n")
	for i := range MaxTasks + 1 {
		fmt.Fprintf(&b, "  - {name: a%d, type: noop}\n", i)
	}
	_, errs := Parse([]byte(b.String()), "yaml")
	checkErrors(t, errs, []wrong{{3, "tasks", "too_large", "10001 tasks"}})
}

func TestSameDefinitionFromYAMLAndJSON(t *testing.T) {
	t.Parallel()
	json := `{"name": "w", "params": {"a": 1, "b": {"type": "string", "default": "x"}},
	  "tasks": [{"name": "t", "type": "shell", "script": "echo \"$a\"\n", "retry": {"times": 1, "backoff": 1.5}}]}`
	yaml := "name: w\nparams:\n  a: 1\n  b: {type: string, default: x}\ntasks:\n  - name: t\n    type: shell\n    script: |\n      echo \"$a\"\n    retry: {times: 1, backoff: 1.5}\n"
	fromJSON, errs := Parse([]byte(json), "json")
	checkErrors(t, errs, nil)
	fromYAML, errs := Parse([]byte(yaml), "yaml")
	checkErrors(t, errs, nil)
	if a, b := show(t, fromJSON), show(t, fromYAML); a != b {
		t.Errorf("from JSON %s\nfrom YAML %s", a, b)
	}
	// JSON is YAML too.
	fromBoth, errs := Parse([]byte(json), "yaml")
	checkErrors(t, errs, nil)
	if a, b := show(t, fromBoth), show(t, fromYAML); a != b {
		t.Errorf("JSON as YAML %s\nfrom YAML %s", a, b)
	}
}

func TestExamplesAreAccepted(t *testing.T) {
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
		_, errs := Parse(text, "yaml")
		checkErrors(t, errs, nil)
	}
}
