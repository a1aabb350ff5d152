package trial_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/trial"
)

// load is a workflow of two tasks that most tests need.
const load = `
name: load
params: {region: eu, day: "$[yyyyMMdd-1]"}
timeout: {after: 2h}
tasks:
  - {name: extract, type: shell, script: x, outputs: [rows], retry: {times: 2, delay: 1m, backoff: 2}, timeout: {after: 10m}}
  - {name: call, type: http, needs: [extract], url: "https://example.com/${region}?rows=${extract.rows}", allow_failure: true}
  - {name: report, type: shell, needs: [call], script: x, env: {SUBJECT: "${day} ${region}"}}
`

func read(t *testing.T, workflow, cases string) *trial.Suite {
	t.Helper()
	plan, wrong := dag.ParsePlan([]byte(workflow), "yaml")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	suite, wrong := trial.Read([]byte(cases), "yaml", plan)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return suite
}

func TestCasesComeOutAsTheRulesSay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ workflow, cases string }{
		"retries wait on the trial's clock": {load, `
cases:
  - name: fails, runs over, succeeds
    tasks:
      extract: [{state: failed, exit_code: 3, takes: 1m}, timeout, {outputs: {rows: 7}, takes: 30s}]
    expect:
      state: success
      took: 14m30s
      tasks: {extract: {attempts: 3, started: 0s, ended: 14m30s, outputs: {rows: 7}}, report: {state: success, started: 14m30s}}
  - name: fails for good
    tasks: {extract: failed}
    expect: {state: failed, reason: task_failed, ran: [extract], tasks: {extract: {reason: exit_code, attempts: 3}, call: upstream_failed}}
`},
		"values are what a worker gets": {load, `
each: {schedule_time: "2026-03-01T00:30:00Z", tasks: {extract: {outputs: {rows: 7}}}}
cases:
  - name: the start's values win
    params: {region: us}
    expect:
      tasks:
        call: {spec: {url: "https://example.com/us?rows=7", method: GET}}
        report: {env: {SUBJECT: "20260228 us", rows: 7}}
  - name: dates are of the timezone
    timezone: America/New_York
    expect: {tasks: {report: {env: {day: "20260227", system_biz_curdate: "20260228"}}}}
  - name: without the output the call has no value
    tasks: {extract: success}
    expect: {state: success, tasks: {call: {state: failed, reason: params}}}
  - name: values that do not fit are refused
    params: {regoin: eu}
    expect: {refused: [regoin]}
`},
		"workers get lost": {load, `
cases:
  - name: once
    tasks: {extract: [{state: lost, takes: 5m}, {outputs: {rows: 1}}]}
    expect: {state: success, took: 5m, tasks: {extract: {attempts: 2}}}
  - name: twice
    tasks: {extract: lost}
    expect: {state: failed, tasks: {extract: {state: failed, reason: worker_lost, attempts: 2}}}
  - name: handed back and killed outside
    tasks: {extract: [{state: returned, times: 3}, killed, {outputs: {rows: 1}}]}
    expect: {state: success, took: 1m, tasks: {extract: {attempts: 5}}}
`},
		"people ask for something": {load, `
each: {tasks: {extract: {outputs: {rows: 1}, takes: 5m}, call: {takes: 5m}}}
cases:
  - name: a stop ends what runs
    control: [{at: 1m, verb: stop}]
    expect: {state: stopped, took: 1m, tasks: {extract: {state: killed, reason: stopped}}}
  - name: a pause holds what comes next
    control: [{at: 1m, verb: pause}, {at: 20m, verb: resume}]
    expect: {state: success, took: 25m}
  - name: a pause that nobody ends runs over the timeout
    control: [{at: 1m, verb: pause}]
    expect: {state: failed, reason: timeout, took: 2h, tasks: {extract: success, call: {state: killed, reason: workflow_timeout}}}
  - name: a recover does again what failed
    tasks: {extract: [{state: killed, times: 3}, {outputs: {rows: 1}}]}
    control: [{at: 1h, verb: recover}, {at: 2h, verb: recover, answer: nothing_to_recover}]
    expect: {state: success, took: 1h5m, tasks: {extract: {attempts: 4}}}
  - name: only some of it
    start_tasks: [call]
    scope: only
    expect: {tasks: {extract: not_in_scope, report: not_in_scope, call: {state: failed, reason: params}}}
  - name: a dry run takes no time
    dry_run: true
    expect: {state: success, took: 0s}
`},
		"a pause without a timeout": {strings.ReplaceAll(load, "timeout: {after: 2h}\n", ""), `
cases:
  - name: lasts
    tasks: {extract: {outputs: {rows: 1}, takes: 5m}}
    control: [{at: 1m, verb: pause}]
    expect: {state: paused, ran: [extract], tasks: {extract: success, call: ready}}
`},
		"the timeout of the workflow": {strings.ReplaceAll(load, ", timeout: {after: 10m}", ""), `
cases:
  - name: ends what hangs
    tasks: {extract: timeout}
    expect: {state: failed, reason: timeout, took: 2h, tasks: {extract: {state: killed, reason: workflow_timeout}}}
  - name: what ends at that very moment has ended in time
    tasks: {extract: {outputs: {rows: 1}, takes: 2h}}
    expect: {tasks: {extract: success}}
`},
		"what runs in the master": {`
name: month
tasks:
  - {name: rest, type: wait, for: 90s}
  - name: loads
    type: dependent
    needs: [rest]
    check: {all: [{workflow: load, date: today}]}
    outputs: [rows]
    timeout: {after: 1h}
  - {name: close, type: sub_workflow, needs: [loads], workflow: closing, params: {rows: "${loads.rows}"}, outputs: [file], retry: {times: 1, delay: 1m}, timeout: {after: 1h}}
  - {name: send, type: shell, needs: [close], script: x}
`, `
each: {tasks: {loads: {outputs: {rows: 3}, takes: 10m}}}
cases:
  - name: all is well
    tasks: {close: {outputs: {file: /tmp/x}, takes: 5m}}
    expect: {state: success, took: 16m30s, tasks: {close: {params: {rows: 3}}, send: {env: {file: /tmp/x}}}}
  - name: the loads have failed
    tasks: {loads: {state: failed, message: load is failed}}
    expect: {state: failed, ran: [rest, loads], tasks: {loads: {reason: dependency_failed}}}
  - name: the loads never come
    tasks: {loads: timeout}
    expect: {state: failed, took: 1h1m30s}
  - name: the child fails, then hangs
    tasks: {close: [failed, timeout]}
    expect: {state: failed, tasks: {close: {attempts: 2, reason: timeout}}}
  - name: somebody stops the child
    tasks: {close: stopped}
    expect: {state: failed, tasks: {close: {state: killed, reason: child_stopped, attempts: 1}}}
  - name: the child is refused
    tasks: {close: {state: refused, message: there is no workflow}}
    expect: {state: failed, tasks: {close: {reason: child_refused, attempts: 2}}}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := read(t, test.workflow, test.cases)
			for i := range suite.Cases {
				for _, f := range suite.Run(i).Failures {
					t.Errorf("%s: line %d: %s: expected %s, got %s. %s", suite.Cases[i].Name, f.Line, f.Field, f.Expected, f.Got, f.Hint)
				}
			}
		})
	}
}

// TestWhatComesOtherwiseIsTold breaks every kind of expectation once.
func TestWhatComesOtherwiseIsTold(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]string{
		"failed":                                   `expect: expected failed, got success`,
		"{state: failed}":                          `expect.state: expected failed, got success`,
		"{reason: timeout}":                        `expect.reason: expected timeout, got nothing`,
		"{took: 2m}":                               `expect.took: expected 2m, got 3m`,
		"{ran: [extract, report]}":                 `expect.ran: expected extract, report, got call, extract, report`,
		"{order: [call, extract]}":                 `expect.order: expected call, extract, got extract, call`,
		"{refused: [region]}":                      `expect.refused: expected region refused, got nothing refused`,
		"{tasks: {call: failed}}":                  `expect.tasks.call: expected failed, got success`,
		"{tasks: {call: {reason: timeout}}}":       `expect.tasks.call.reason: expected timeout, got nothing`,
		"{tasks: {call: {attempts: 2}}}":           `expect.tasks.call.attempts: expected 2, got 1`,
		"{tasks: {call: {started: 1m}}}":           `expect.tasks.call.started: expected 1m, got 3m`,
		"{tasks: {call: {ended: 1m}}}":             `expect.tasks.call.ended: expected 1m, got 3m`,
		"{tasks: {call: {env: {rows: 8}}}}":        `expect.tasks.call.env.rows: expected "8", got "7"`,
		"{tasks: {call: {spec: {url: x}}}}":        `expect.tasks.call.spec.url: expected "x", got "https://example.com/eu?rows=7"`,
		"{tasks: {extract: {outputs: {rows: 8}}}}": `expect.tasks.extract.outputs.rows: expected "8", got "7"`,
	} {
		suite := read(t, load, "cases:\n  - name: one\n    tasks: {extract: {outputs: {rows: 7}, takes: 3m}}\n    expect: "+expect)
		out := suite.Run(0)
		if len(out.Failures) != 1 {
			t.Errorf("%s: %d failures, want 1: %v", expect, len(out.Failures), out.Failures)
			continue
		}
		f := out.Failures[0]
		if got := fmt.Sprintf("%s: expected %s, got %s", strings.TrimPrefix(f.Field, "cases[0]."), f.Expected, f.Got); got != want || f.Line != 4 {
			t.Errorf("%s: line %d: %s\nwant line 4: %s", expect, f.Line, got, want)
		}
	}
}

func TestAStrictCaseWantsEveryResult(t *testing.T) {
	t.Parallel()
	suite := read(t, load, "strict: true\ncases:\n  - {name: one, tasks: {extract: {outputs: {rows: 1}}, call: success}, expect: success}\n  - {name: two, strict: false, expect: success}")
	out := suite.Run(0)
	if len(out.Failures) != 1 || out.Failures[0].Field != "cases[0].tasks.report" {
		t.Errorf("failures = %+v, want one about report", out.Failures)
	}
	if out := suite.Run(1); !out.Passed() {
		t.Errorf("a case that is not strict: %+v", out.Failures)
	}
}

func TestFailuresExplain(t *testing.T) {
	t.Parallel()
	suite := read(t, load, "cases:\n  - {name: one, tasks: {extract: failed}, expect: {tasks: {report: success}}}")
	out := suite.Run(0)
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Hint, `extract`) || !strings.Contains(out.Failures[0].Hint, "failed") {
		t.Errorf("the hint of %+v does not say that extract failed", out.Failures)
	}
}

func TestTheSameCaseGivesTheSameResult(t *testing.T) {
	t.Parallel()
	suite := read(t, load, "cases:\n  - {name: one, tasks: {extract: [failed, timeout, {outputs: {rows: 1}}]}, expect: failed}")
	want, err := json.Marshal(suite.Run(0))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, _ := json.Marshal(suite.Run(0)); string(got) != string(want) {
				t.Errorf("another result: %s\nwant %s", got, want)
			}
		})
	}
	all.Wait()
}

func TestMistakesInCasesAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	plan, _ := dag.ParsePlan([]byte(load), "yaml")
	text := `
stritc: true
each: {timezone: Mars/Phobos, tasks: {extract: returned}}
cases:
  - name: one
    tasks:
      exctract: success
      report: timeout
      call: [{state: stopped}, {state: failed, outputs: {body: x}, takes: -1s}]
      extract: {outputs: {row: 1}, exit_code: 2}
    control: [{verb: stopp}, {at: 1m, verb: kill, tasks: [cal]}]
    start_tasks: [reprot]
    expect: {state: succes, ran: [x], order: [y], tasks: {extrct: done, report: {state: don, params: {a: 1}}}}
  - name: one
    expect: {}
  - {name: three}
`
	suite, wrong := trial.Read([]byte(text), "yaml", plan)
	var got []string
	for _, e := range wrong {
		if e.Line == 0 || e.Column == 0 {
			t.Errorf("%s has no place", e.Field)
		}
		got = append(got, e.Field+" "+e.Code)
	}
	want := []string{
		"stritc unknown_field", "each.timezone invalid", "each.tasks.extract conflict",
		"cases[0].tasks.exctract unknown_task", "cases[0].tasks.call[0].state not_in_enum",
		"cases[0].tasks.call[1].outputs conflict", "cases[0].tasks.call[1].outputs.body unknown_name", "cases[0].tasks.call[1].takes out_of_range",
		"cases[0].tasks.extract.outputs.row unknown_name", "cases[0].tasks.extract.exit_code conflict",
		"cases[0].control[0].at required", "cases[0].control[0].verb not_in_enum", "cases[0].control[1].tasks[0] unknown_task",
		"cases[0].start_tasks[0] unknown_task", "cases[0].expect.state not_in_enum", "cases[0].expect.ran[0] unknown_task",
		"cases[0].expect.order[0] unknown_task", "cases[0].expect.tasks.extrct unknown_task", "cases[0].expect.tasks.extrct.state not_in_enum",
		"cases[0].expect.tasks.report.state not_in_enum", "cases[0].expect.tasks.report.params conflict",
		"cases[1].name duplicate_name", "cases[1].expect required", "cases[2].expect required",
	}
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("not told: %s", w)
		}
	}
	if suite != nil || t.Failed() {
		t.Errorf("told was:\n%s", strings.Join(got, "\n"))
	}
}

func TestSchemaIsJSON(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(trial.Schema(), &schema); err != nil || schema.Properties["cases"] == nil {
		t.Errorf("Schema() = %v, with properties %v", err, schema.Properties)
	}
}

func FuzzRead(f *testing.F) {
	plan, _ := dag.ParsePlan([]byte(load), "yaml")
	f.Add("cases: [{name: a, tasks: {extract: [failed, timeout, {outputs: {rows: 1}, takes: 3m}]}, expect: success}]")
	f.Add("strict: true\neach: {tasks: {call: failed}}\ncases: [{name: a, control: [{at: 1m, verb: stop}], expect: {ran: [call]}}]")
	f.Add("cases: [{name: a, expect: {tasks: {call: {env: {a: 1}, params: {}}}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		suite, wrong := trial.Read([]byte(text), "yaml", plan)
		if (suite == nil) == (len(wrong) == 0) {
			t.Fatalf("a suite %v and the errors %v", suite != nil, wrong)
		}
		if suite == nil {
			return
		}
		for i := range suite.Cases {
			suite.Run(i)
		}
	})
}
