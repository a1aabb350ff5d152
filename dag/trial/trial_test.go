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
		"children of a dynamic task end as its attempt, as many at a time as it allows": {`
name: shops
tasks:
  - name: each
    type: dynamic
    workflow: load one shop
    over: [{name: shop, in: [berlin, oslo, rome]}, {name: day, in: [a, b]}]
    filter: shop != "oslo" || day == "a"
    parallel: 2
    params: {target: "/srv/${shop}"}
    outputs: [rows]
    retry: {times: 1, delay: 1m}
    timeout: {after: 1h}
  - {name: sum, type: shell, needs: [each], script: x}
`, `
cases:
  - name: two at a time
    tasks: {each: {takes: 10s, outputs: {rows: 7}}}
    expect:
      state: success
      took: 30s
      tasks: {each: {attempts: 1, params: {shop: rome, day: b, target: /srv/rome}}, sum: {env: {rows: '["7","7","7","7","7"]'}}}
  - name: a retry makes all that failed anew
    tasks: {each: [{state: failed, takes: 10s}, {takes: 10s, outputs: {rows: 1}}]}
    expect: {state: success, took: 2m, tasks: {each: {attempts: 2}}}
  - name: they go on until the timeout stops them
    tasks: {each: timeout}
    expect: {state: failed, took: 2h1m, tasks: {each: {reason: timeout, attempts: 2}, sum: upstream_failed}}
  - name: refused
    tasks: {each: refused}
    expect: {state: failed, tasks: {each: {reason: child_refused}}}
  - name: stopped and recovered
    tasks: {each: [{takes: 20s, outputs: {rows: 1}}, {takes: 5s, outputs: {rows: 2}}]}
    control: [{at: 10s, verb: stop}, {at: 1m, verb: recover}]
    expect: {state: success, took: 1m15s, tasks: {each: {attempts: 2}, sum: {env: {rows: '["2","2","2","2","2"]'}}}}
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
		"people decide": {`
name: release
tasks:
  - name: ask
    type: approval
    quorum: 2
    expires: 2d
    on_expiry: reject
    form: {percent: {type: integer, min: 1, max: 100, default: 10}, note: none}
  - {name: go, type: shell, needs: [ask], script: x}
`, `
cases:
  - name: two say yes
    tasks: {ask: {outputs: {percent: 50}, takes: 1h}}
    expect: {state: success, took: 1h, tasks: {go: {env: {percent: 50, note: none}}}}
  - name: one says no
    tasks: {ask: {state: failed, message: too early, takes: 1h}}
    expect: {state: failed, took: 1h, tasks: {ask: {reason: rejected}, go: upstream_failed}}
  - name: nobody says anything
    tasks: {ask: timeout}
    expect: {state: failed, took: 2d, tasks: {ask: {reason: expired, attempts: 1}}}
  - name: where nothing is said they approve
    expect: {state: success, tasks: {go: {env: {percent: 10}}}}
`},
		"a case starts at its schedule time, or now": {`
name: until
tasks: [{name: rest, type: wait, until: "2026-03-01T01:00:00Z"}]
`, `
cases:
  - {name: at the schedule time, schedule_time: "2026-03-01T00:30:00Z", expect: {took: 30m}}
  - {name: later than that, schedule_time: "2026-03-01T00:30:00Z", now: "2026-03-01T00:40:00Z", expect: {took: 20m}}
  - {name: at a moment of its own, expect: {took: 59d1h}}
`},
		"secrets are made up, or given": {`
name: pay
tasks:
  - {name: call, type: http, url: "https://pay.example/", headers: {Authorization: "Bearer ${secret.token}"}}
  - {name: dump, type: shell, needs: [call], script: x, env: {PASSWORD: "${secret.db}"}}
`, `
cases:
  - name: made up
    expect: {state: success, tasks: {call: {spec: {headers: '{"Authorization":"Bearer secret-token"}'}}, dump: {env: {PASSWORD: secret-db}}}}
  - name: given
    secrets: {db: hidden}
    expect: {tasks: {dump: {env: {PASSWORD: hidden}}}}
  - name: missing
    missing_secrets: [db]
    expect: {state: failed, tasks: {call: success, dump: {state: failed, reason: secret, attempts: 1}}}
`},
		"environments have the variables that are given": {`
name: env
tasks:
  - {name: a, type: shell, script: x, environment: Spark}
  - {name: b, type: shell, needs: [a], script: x, environment: spark, env: {SPARK_HOME: /own}}
`, `
each: {environments: {spark: {SPARK_HOME: /opt/spark}}}
cases:
  - name: of all cases
    expect: {state: success, tasks: {a: {env: {SPARK_HOME: /opt/spark}}, b: {env: {SPARK_HOME: /own}}}}
  - name: of this case
    environments: {SPARK: {SPARK_HOME: /new, OTHER: 1}}
    expect: {tasks: {a: {env: {SPARK_HOME: /new, OTHER: 1}}}}
`},
		"an environment that is not given has no variables": {`
name: env
tasks: [{name: a, type: shell, script: x, environment: Spark}]
`, `
cases: [{name: none, expect: success}]
`},
		"a delay, and failures that are not worth another attempt": {`
name: policies
tasks:
  - {name: load, type: shell, script: x, delay: 5m, outputs: [fault], retry: {times: 3, delay: 1m, not_on_exit_codes: [2], when: '(fault ?? "") != "data"'}}
`, `
cases:
  - name: it waits before its first attempt alone
    tasks: {load: [failed, success]}
    expect: {state: success, took: 6m, tasks: {load: {started: 5m, attempts: 2}}}
  - name: a fault of the data
    tasks: {load: [failed, {state: failed, outputs: {fault: data}}]}
    expect: {state: failed, took: 6m, tasks: {load: {reason: not_retried, attempts: 2}}}
  - name: an exit code that says so
    tasks: {load: {state: failed, exit_code: 2}}
    expect: {state: failed, took: 5m, tasks: {load: {reason: not_retried, attempts: 1}}}
`},
		"loops": {`
name: poll
tasks:
  - {name: ask, type: shell, script: x, outputs: [state], repeat_until: {condition: 'state == "done"', max: 4, delay: 1m}, retry: {times: 1, delay: 10s}}
  - {name: go, type: shell, needs: [ask], script: x}
`, `
cases:
  - name: done at the third time
    tasks: {ask: [{outputs: {state: runs}}, failed, {outputs: {state: runs}}, {outputs: {state: done}}]}
    expect: {state: success, took: 2m10s, tasks: {ask: {attempts: 4, outputs: {state: done}}, go: {env: {state: done}}}}
  - name: never done
    tasks: {ask: {outputs: {state: runs}}}
    expect: {state: failed, took: 3m, tasks: {ask: {reason: repeat_bound, attempts: 4}}}
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

func TestAnAnswerThatMustCome(t *testing.T) {
	t.Parallel()
	suite := read(t, load, "cases:\n  - {name: one, control: [{at: 1h, verb: stop}], expect: success}")
	out := suite.Run(0)
	if len(out.Failures) != 1 || out.Failures[0].Field != "cases[0].control[0].answer" || out.Failures[0].Got != dag.ResultNotRunning {
		t.Errorf("failures = %+v, want the answer not_running", out.Failures)
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
      call: [{state: stopped}, {state: lost, outputs: {body: x}, takes: -1s}]
      extract: {outputs: {row: 1}, exit_code: 2}
    control: [{verb: stopp}, {at: 1m, verb: kill, tasks: [cal]}]
    start_tasks: [reprot]
    secrets: {token: x}
    missing_secrets: [token]
    environments: {spark: {A: 1}}
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
		"cases[0].start_tasks[0] unknown_task", "cases[0].secrets.token unknown_name", "cases[0].missing_secrets[0] unknown_name", "cases[0].environments.spark unknown_name", "cases[0].expect.state not_in_enum", "cases[0].expect.ran[0] unknown_task",
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

func TestWhatIsFilledInFitsTheForm(t *testing.T) {
	t.Parallel()
	plan, wrong := dag.ParsePlan([]byte("name: r\ntasks: [{name: ask, type: approval, form: {percent: {type: integer}}}]"), "yaml")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for given, want := range map[string]string{
		"success":                           "cases[0].tasks.ask.outputs.percent required",
		"{outputs: {percent: all}}":         "cases[0].tasks.ask.outputs.percent wrong_type",
		"{outputs: {precent: 1}}":           "cases[0].tasks.ask.outputs.precent unknown_name",
		"timeout":                           "cases[0].tasks.ask conflict",
		"{state: lost}":                     "cases[0].tasks.ask.state not_in_enum",
		"[{state: failed, exit_code: 300}]": "cases[0].tasks.ask[0].exit_code out_of_range",
	} {
		_, wrong := trial.Read([]byte("cases: [{name: one, tasks: {ask: "+given+"}, expect: success}]"), "yaml", plan)
		if len(wrong) == 0 || wrong[0].Field+" "+wrong[0].Code != want && wrong[len(wrong)-1].Field+" "+wrong[len(wrong)-1].Code != want {
			t.Errorf("%s: %v, want %s", given, wrong, want)
		}
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
