package dag

import (
	"fmt"
	"os"
	"path/filepath"
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
	tests := []struct {
		name string
		text string
		want []wrong
	}{
		{"empty text", " \n", []wrong{{1, "body", "syntax", "empty"}}},
		{"only comments", "# nothing\n", []wrong{{1, "body", "syntax", "empty"}}},
		{"not a map", "- a\n", []wrong{{1, "body", "wrong_type", "want a map, not a list"}}},
		{"no tasks", "name: w\ntasks: []\n", []wrong{{2, "tasks", "out_of_range", "allowed is 1 to 10000"}}},
		{"nothing required is there", "description: x\n", []wrong{
			{1, "name", "required", `"name" is missing`}, {1, "tasks", "required", ""},
		}},
		{"null", "name:\ntasks:\n", []wrong{{1, "name", "null", "a text"}, {2, "tasks", "null", "a list"}}},
		{"unknown keys with the nearest known one", "name: w\nparms: {}\n" + "tasks:\n  - {name: a, type: noop, neds: []}\n", []wrong{
			{2, "parms", "unknown_field", `did you mean "params"?`},
			{4, "tasks[0].neds", "unknown_field", `a noop task has no key "neds"; did you mean "needs"?`},
		}},
		{"a key of another type", tasksText("  - {name: a, type: shell, script: x, url: y}"), []wrong{
			{3, "tasks[0].url", "unknown_field", `a shell task has no key "url"`},
		}},
		{"unknown type lists the known ones", tasksText("  - {name: a, type: shll, script: x}"), []wrong{
			{3, "tasks[0].type", "unknown_type", `known are shell, python, http, noop, wait; did you mean "shell"?`},
		}},
		{"missing type", tasksText("  - {name: a, script: x}"), []wrong{{3, "tasks[0].type", "required", ""}}},
		{"reserved keys", "name: w\nconcurrency: {limit: 1}\n" +
			"tasks:\n  - name: a\n    type: noop\n    when: x\n    environment: x\n    task_group: x\n    delay: 1s\n    compensate: {}\n    uses: x\n    cache: x\n    on_lost: x\n    raw: true\n", []wrong{
			{2, "concurrency", "not_available", "later version"},
			{6, "tasks[0].when", "not_available", ""}, {7, "tasks[0].environment", "not_available", ""},
			{8, "tasks[0].task_group", "not_available", ""}, {9, "tasks[0].delay", "not_available", ""},
			{10, "tasks[0].compensate", "not_available", ""}, {11, "tasks[0].uses", "not_available", ""},
			{12, "tasks[0].cache", "not_available", ""}, {13, "tasks[0].on_lost", "not_available", ""},
			{14, "tasks[0].raw", "not_available", ""},
		}},
		{"on_failure", "name: w\non_failure: compensate\ntasks:\n" + noop("a"), []wrong{{2, "on_failure", "not_available", "continue or end"}}},
		{"on_failure unknown", "name: w\non_failure: stop\ntasks:\n" + noop("a"), []wrong{{2, "on_failure", "not_in_enum", "continue or end"}}},
		{"wrong types", tasksText("  - name: 5", "    type: noop", "    allow_failure: 1", "    needs: x", "    priority: 7", "    outputs: {a: b}"), []wrong{
			{3, "tasks[0].name", "wrong_type", "a text in quotes"},
			{5, "tasks[0].allow_failure", "wrong_type", "true or false"},
			{6, "tasks[0].needs", "wrong_type", "a list"},
			{7, "tasks[0].priority", "wrong_type", "highest, high, medium, low or lowest"},
			{8, "tasks[0].outputs", "wrong_type", "a list, not a map"},
		}},
		{"a task that is no map", tasksText("  - a"), []wrong{{3, "tasks[0]", "wrong_type", "a map"}}},
		{"retry", tasksText(
			"  - {name: a, type: noop, retry: {times: -1}}",
			"  - {name: b, type: noop, retry: {times: 1000000000}}",
			"  - {name: c, type: noop, retry: {times: 1.5}}",
			"  - {name: d, type: noop, retry: {times: 1, backoff: -1}}",
			"  - {name: e, type: noop, retry: {times: 1, backoff: 1e400}}",
			"  - {name: f, type: noop, retry: {times: 1, backoff: .nan}}",
			"  - {name: g, type: noop, retry: {times: 1, delay: 31d}}",
			"  - {name: h, type: noop, retry: {times: 1, delays: [1s]}}",
			"  - {name: i, type: noop, retry: {delays: []}}",
			"  - {name: j, type: noop, retry: {delays: [1s, -1s, x]}}",
			"  - {name: k, type: noop, retry: {delay: 1s}}",
			"  - {name: l, type: noop, retry: {times: 1, delay: 30}}",
		), []wrong{
			{3, "tasks[0].retry.times", "out_of_range", "-1, allowed is 0 to 100"},
			{4, "tasks[1].retry.times", "out_of_range", "0 to 100"},
			{5, "tasks[2].retry.times", "wrong_type", "a whole number"},
			{6, "tasks[3].retry.backoff", "out_of_range", "1 to 100"},
			{7, "tasks[4].retry.backoff", "out_of_range", "1e400"},
			{8, "tasks[5].retry.backoff", "wrong_type", "a number"},
			{9, "tasks[6].retry.delay", "out_of_range", "31d, allowed is 0s to 30d"},
			{10, "tasks[7].retry.delays", "conflict", "excludes"},
			{11, "tasks[8].retry.delays", "out_of_range", "1 to 100"},
			{12, "tasks[9].retry.delays[1]", "out_of_range", "0s to 30d"},
			{12, "tasks[9].retry.delays[2]", "wrong_type", "a duration"},
			{13, "tasks[10].retry", "required", "times"},
			{14, "tasks[11].retry.delay", "wrong_type", "90s, 10m, 2h, 1d"},
		}},
		{"timeouts", "name: w\ntimeout: {after: 366d}\ntasks:\n" + strings.Join([]string{
			"  - {name: a, type: noop, timeout: {after: -1s}}",
			"  - {name: b, type: noop, timeout: {after: 99999999999999999999d}}",
			"  - {name: c, type: noop, timeout: {action: fail}}",
			"  - {name: d, type: noop, timeout: {after: 1s, action: kill}}",
			"  - {name: e, type: noop, timeout: 30m}",
			"  - {name: f, type: noop, timeout: {after: 1 h}}",
		}, "\n"), []wrong{
			{2, "timeout.after", "out_of_range", "366d, allowed is 0s to 365d"},
			{4, "tasks[0].timeout.after", "out_of_range", "-1s"},
			{5, "tasks[1].timeout.after", "out_of_range", "longer than can be counted"},
			{6, "tasks[2].timeout.after", "required", ""},
			{7, "tasks[3].timeout.action", "not_in_enum", "warn, fail or warn_and_fail"},
			{8, "tasks[4].timeout", "wrong_type", "a map"},
			{9, "tasks[5].timeout.after", "wrong_type", "a duration"},
		}},
		{"names", tasksText(noop(`""`), noop(`" "`), noop("-x"), noop(".x"), noop(`"x "`), noop(`"a/b"`), noop(`"a\tb"`), noop(`"a\u202eb"`), noop(`"e\u0301"`), noop(`"😀"`), noop(strings.Repeat("x", 129))), []wrong{
			{3, "tasks[0].name", "required", ""},
			{4, "tasks[1].name", "required", ""},
			{5, "tasks[2].name", "invalid_name", "begin with '-'"},
			{6, "tasks[3].name", "invalid_name", "begin with '.'"},
			{7, "tasks[4].name", "invalid_name", "end with a space"},
			{8, "tasks[5].name", "invalid_name", "U+002F"},
			{9, "tasks[6].name", "invalid_name", "U+0009"},
			{10, "tasks[7].name", "invalid_name", "U+202E"},
			{11, "tasks[8].name", "invalid_name", "NFC"},
			{12, "tasks[9].name", "invalid_name", "U+1F600"},
			{13, "tasks[10].name", "too_large", "129 characters"},
		}},
		{"two tasks of one name are both named", tasksText(noop("a"), noop("b"), noop("A")), []wrong{
			{3, "tasks[0].name", "duplicate_name", "tasks[2]"}, {5, "tasks[2].name", "duplicate_name", "tasks[0]"},
		}},
		{"needs", tasksText(noop("extract"), noop("b", "extrct", "extract", "extract", "b")), []wrong{
			{4, "tasks[1].needs[0]", "unknown_task", `did you mean "extract"?`},
			{4, "tasks[1].needs[2]", "duplicate_edge", "twice"},
			{4, "tasks[1].needs[3]", "self_loop", "needs itself"},
		}},
		{"every circle with its path", tasksText(noop("a", "b"), noop("b", "c"), noop("c", "a"), noop("d", "e", "a"), noop("e", "d"), noop("f", "e")), []wrong{
			{3, "tasks[0].needs[0]", "cycle", "a -> b -> c -> a"}, {6, "tasks[3].needs[0]", "cycle", "d -> e -> d"},
		}},
		{"params", "name: w\nparams:\n" + strings.Join([]string{
			"  1a: x", "  PATH: x", "  d: 007", "  e: [1]", "  f: {type: integer, default: x}", "  g: {type: boolean, default: 1}",
			"  h: {enum: [a, b], default: c}", "  i: {type: integer, enum: [1, b]}", "  j: {type: date}", "  k: $[yyyyMMdd]", "  l: ${other}", "  m: .inf",
			"  n: {enum: []}", "  o: {default: null}",
		}, "\n") + "\ntasks:\n" + noop("a"), []wrong{
			{3, "params.1a", "invalid_name", "variable's name"},
			{4, "params.PATH", "reserved_name", "changes how processes run"},
			{5, "params.d", "wrong_type", "put it in quotes"},
			{6, "params.e", "wrong_type", "a value, or a map"},
			{7, "params.f.default", "wrong_type", "whole number"},
			{8, "params.g.default", "wrong_type", "true or false"},
			{9, "params.h.default", "not_in_enum", "a, b"},
			{10, "params.i.enum[1]", "wrong_type", "whole number"},
			{11, "params.j.type", "not_in_enum", "string, integer, number or boolean"},
			{12, "params.k", "not_available", "time expressions"},
			{13, "params.l", "unknown_name", "system_biz_date"},
			{14, "params.m", "wrong_type", "want a number"},
			{15, "params.n.enum", "out_of_range", "1 to 1000"},
			{16, "params.o.default", "null", ""},
		}},
		{"a task's params are values", tasksText("  - {name: a, type: noop, params: {x: {type: string}, y: 1}}"), []wrong{
			{3, "tasks[0].params.x", "required", "wants a value"},
		}},
		{"outputs", tasksText("  - {name: a, type: noop, outputs: [a b, LD_PRELOAD, PYTHONPATH, PORPOISE_X, IFS, ENV, BASH_ENV, ok, ok]}"), []wrong{
			{3, "tasks[0].outputs[0]", "invalid_name", ""},
			{3, "tasks[0].outputs[1]", "reserved_name", ""}, {3, "tasks[0].outputs[2]", "reserved_name", ""},
			{3, "tasks[0].outputs[3]", "reserved_name", ""}, {3, "tasks[0].outputs[4]", "reserved_name", ""},
			{3, "tasks[0].outputs[5]", "reserved_name", ""}, {3, "tasks[0].outputs[6]", "reserved_name", ""},
			{3, "tasks[0].outputs[8]", "duplicate_name", ""},
		}},
		{"env", tasksText("  - name: a", "    type: noop", "    env:", "      PATH: /bin", "      X-Y: 1", "      PORPOISE_A: 1", "      T: $[yyyy]", "      L: [1]", "      Z: a${b"), []wrong{
			{7, `tasks[0].env.X-Y`, "invalid_name", ""},
			{8, "tasks[0].env.PORPOISE_A", "reserved_name", ""},
			{9, "tasks[0].env.T", "not_available", "time expressions"},
			{10, "tasks[0].env.L", "wrong_type", "a text"},
			{11, "tasks[0].env.Z", "syntax", "closing brace"},
		}},
		{"working_dir", tasksText("  - {name: a, type: noop, working_dir: x/y}", "  - {name: b, type: noop, working_dir: /a/../b}", "  - {name: c, type: noop, working_dir: /a}"), []wrong{
			{3, "tasks[0].working_dir", "invalid", "absolute"}, {4, "tasks[1].working_dir", "invalid", ".."},
		}},
		{"scripts", tasksText(
			"  - {name: a, type: shell}",
			"  - {name: b, type: shell, script: ''}",
			"  - {name: c, type: shell, script: ' '}",
			"  - {name: d, type: shell, script: 'echo $[yyyy]'}",
			"  - {name: e, type: python, script: 'print(\"${system.biz.date}\")'}",
			"  - {name: f, type: shell, script: 'echo ${a.rows}'}",
			"  - {name: g, type: shell, script: 'f=x.txt; echo ${f%.txt} ${f##*.} ${f}.txt ${f:-a.b}'}",
			"  - {name: h, type: shell, script: x, interpreter: bash -x}",
			"  - {name: i, type: shell, script: x, interpreter: bin/bash}",
		), []wrong{
			{3, "tasks[0].script", "required", ""}, {4, "tasks[1].script", "required", ""}, {5, "tasks[2].script", "required", ""},
			{6, "tasks[3].script", "not_available", "time expressions"},
			{7, "tasks[4].script", "invalid", "use the variable system_biz_date"},
			{8, "tasks[5].script", "invalid", "(rows: ${a.rows})"},
			{10, "tasks[7].interpreter", "invalid", "without arguments"},
			{11, "tasks[8].interpreter", "invalid", "absolute path"},
		}},
		{"http", tasksText(
			"  - {name: a, type: http}",
			"  - {name: b, type: http, url: 'ftp://x'}",
			"  - {name: c, type: http, url: 'file:///etc/passwd'}",
			"  - {name: d, type: http, url: 'http://x', method: get}",
			"  - {name: e, type: http, url: 'http://x', headers: {'a b': c, d: \"e\\r\\nf\"}}",
			"  - {name: f, type: http, url: 'http://x', expect: {status: [200, 99, 300-200, x]}}",
			"  - {name: g, type: http, url: 'http://x', expect: {status: []}}",
			"  - {name: h, type: http, url: 'http://x', expect: {stats: 1}}",
			"  - {name: i, type: http, url: 'http://x', connect_timeout: 0}",
		), []wrong{
			{3, "tasks[0].url", "required", ""}, {4, "tasks[1].url", "invalid", "https://"}, {5, "tasks[2].url", "invalid", "https://"},
			{6, "tasks[3].method", "not_in_enum", "GET"},
			{7, `tasks[4].headers["a b"]`, "invalid_name", ""}, {7, "tasks[4].headers.d", "invalid", "line ends"},
			{8, "tasks[5].expect.status[1]", "out_of_range", "100 to 599"},
			{8, "tasks[5].expect.status[2]", "out_of_range", ""}, {8, "tasks[5].expect.status[3]", "out_of_range", ""},
			{9, "tasks[6].expect.status", "out_of_range", "1 to 50"},
			{10, "tasks[7].expect.stats", "unknown_field", `did you mean "status"?`},
			{11, "tasks[8].connect_timeout", "out_of_range", "1ms to 10m"},
		}},
		{"wait", tasksText("  - {name: a, type: wait}", "  - {name: b, type: wait, for: 1s, until: 2026-01-01T00:00:00Z}", "  - {name: c, type: wait, until: 2026-01-01}", "  - {name: d, type: wait, for: 400d}"), []wrong{
			{3, "tasks[0].for", "required", ""}, {4, "tasks[1].until", "conflict", ""},
			{5, "tasks[2].until", "invalid", "offset"}, {6, "tasks[3].for", "out_of_range", "365d"},
		}},
	}
	for _, test := range tests {
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
		"  - {name: b, type: http, url: 'http://x', retry: {delays: [1s, 2m]}, timeout: {after: 0}, priority: lowest}",
	)), "yaml")
	checkErrors(t, errs, nil)
	a, b := def.Tasks[0], def.Tasks[1]
	if def.OnFailure != OnFailureContinue || a.WorkerGroup != "default" || a.Priority != PriorityMedium || b.Priority != PriorityLowest {
		t.Errorf("on_failure %q, worker_group %q, priorities %v and %v", def.OnFailure, a.WorkerGroup, a.Priority, b.Priority)
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
	files, err := filepath.Glob("../examples/*.yaml")
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
