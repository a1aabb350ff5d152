package dag

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

func facts() Facts {
	return Facts{Project: "shop", Workflow: "w", ProjectID: 7, WorkflowID: 1, Version: 3, ScheduleTime: MillisOf(time.Date(2024, 3, 1, 0, 30, 5, 0, time.UTC))}
}

func resolve(t *testing.T, in *Instance, task string) TaskRun {
	t.Helper()
	i, ok := in.plan.Task(task)
	if !ok {
		t.Fatalf("no task %s", task)
	}
	run, err := Resolve(in, i, facts())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// awkward are bytes that a shell would trip over; they must arrive as they are.
const awkward = "a\nb \"c\" 'd' $(id) ${x} `e` \\ ; | $$ é 😀 \t"

func TestParametersReachTheEnvironmentByPrecedence(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {a: workflow, b: workflow, c: workflow, d: workflow, system_biz_date: mine}
tasks:
  - {name: up, type: noop, outputs: [b, c, d]}
  - {name: t, type: shell, script: x, needs: [up], params: {c: task, d: task}, env: {E: "${a} ${b} ${c} ${d}"}}
`)
	in := instanceOf(plan, map[string]string{"d": awkward})
	in.Tasks[0].Outputs = map[string]string{"b": "output", "c": "output", "d": "output"}
	env := resolve(t, in, "t").Env
	want := map[string]string{
		"a": "workflow", "b": "output", "c": "task", "d": awkward, "E": "workflow output task " + awkward,
		"system_iteration": "1", "system_biz_date": "mine", "system_biz_curdate": "20240301", "system_datetime": "20240301003005",
		"system_workflow_instance_id": "42", "system_workflow_name": "w", "system_project_name": "shop", "system_task_name": "t",
		"system_workflow_definition_name": "w", "system_workflow_definition_code": "1", "system_project_code": "7", "system_task_definition_name": "t",
	}
	if !maps.Equal(env, want) {
		t.Errorf("env = %q\nwant  %q", env, want)
	}
}

func TestBuiltInDatesCountFromTheScheduleTimeOrNow(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {day: "${system.biz.date}"}
tasks:
  - {name: t, type: http, url: "http://x/${day}/${system.biz.curdate}/${system_datetime}/${system.task.name}"}
`)
	in := instanceOf(plan, nil)
	for _, test := range []struct {
		facts Facts
		want  string
	}{
		{facts(), "http://x/20240229/20240301/20240301003005/t"},
		{Facts{Now: MillisOf(time.Date(2025, 1, 1, 23, 0, 0, 0, time.UTC))}, "http://x/20241231/20250101/20250101230000/t"},
	} {
		run, err := Resolve(in, 0, test.facts)
		if err != nil {
			t.Fatal(err)
		}
		var spec HTTPSpec
		if err := json.Unmarshal(run.Spec, &spec); err != nil || spec.URL != test.want {
			t.Errorf("url = %s, %v, want %s", spec.URL, err, test.want)
		}
	}
}

func TestOutputsAreSeenByDescendantsAlone(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
tasks:
  - {name: far, type: noop, outputs: [x]}
  - {name: between, type: noop, needs: [far]}
  - {name: near, type: noop, outputs: [x], needs: [between]}
  - {name: beside, type: noop, outputs: [y]}
  - {name: t, type: http, url: http://x, needs: [near], body: "${x} ${far.x} ${near.x}"}
  - {name: early, type: shell, script: x, needs: [between]}
`)
	in := instanceOf(plan, nil)
	in.Tasks[0].Outputs = map[string]string{"x": "from far"}
	in.Tasks[2].Outputs = map[string]string{"x": "from near"}
	in.Tasks[3].Outputs = map[string]string{"y": "from beside"}
	run := resolve(t, in, "t")
	var spec HTTPSpec
	if err := json.Unmarshal(run.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.Body != "from near from far from near" {
		t.Errorf("body = %q", spec.Body)
	}
	if _, there := run.Env["y"]; there || run.Env["x"] != "from near" {
		t.Errorf("env = %v, want x from near and no y", run.Env)
	}
	if got := resolve(t, in, "early").Env["x"]; got != "from far" {
		t.Errorf("x of early = %q", got)
	}
}

func TestTextFieldsAreReplacedOnceAndScriptsNever(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {a: x, u: "http://h"}
tasks:
  - {name: s, type: shell, script: 'echo "${a}" $a ${a:-b}', interpreter: bash}
  - name: h
    type: http
    url: ${u}/p
    headers: {X: "${a}", Y: "$${a} $a {a}"}
    body: '{"v": "${a}", "path": "$[0]"}'
    expect: {body_contains: "${a}"}
    working_dir: /srv/${system.workflow.name}
`)
	in := instanceOf(plan, map[string]string{"a": "${u}"})
	run := resolve(t, in, "h")
	want := `{"url":"http://h/p","method":"GET","headers":{"X":"${u}","Y":"${a} $a {a}"},"body":"{\"v\": \"${u}\", \"path\": \"$[0]\"}","expect":{"body_contains":"${u}"},"connect_timeout":"10s"}`
	if string(run.Spec) != want {
		t.Errorf("spec = %s\nwant   %s", run.Spec, want)
	}
	if run.WorkingDir != "/srv/w" || run.Type != "http" {
		t.Errorf("run = %+v", run)
	}
	if got, want := string(resolve(t, in, "s").Spec), `{"script":"echo \"${a}\" $a ${a:-b}","interpreter":"bash"}`; got != want {
		t.Errorf("spec = %s, want %s", got, want)
	}
	// The plan is shared: a second instance must see it untouched.
	again := resolve(t, instanceOf(plan, nil), "h")
	if !strings.Contains(string(again.Spec), `"X":"x"`) {
		t.Errorf("spec of another instance = %s", again.Spec)
	}
}

func TestResolveNamesWhatHasNoValue(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {u: "http://h", n: {type: integer, default: "${system.biz.date}"}}
tasks:
  - {name: up, type: noop, outputs: [rows]}
  - {name: a, type: http, url: "http://x/${rows}", needs: [up]}
  - {name: b, type: http, url: http://x, needs: [up], body: "${up.rows}"}
  - {name: c, type: http, url: "${u}"}
  - {name: d, type: http, url: http://x, headers: {X: "${u}"}}
  - {name: e, type: shell, script: x, working_dir: "${u}"}
  - {name: f, type: shell, script: x, needs: [up], env: {E: "${rows}"}}
  - {name: g, type: shell, script: x, needs: [up], params: {E: {type: integer, default: "${rows}"}}}
`)
	tests := []struct {
		task    string
		start   map[string]string
		outputs map[string]string
		field   string
		says    string
	}{
		{"a", nil, nil, "tasks[1].url", "${rows}"},
		{"b", nil, nil, "tasks[2].body", `the task "up" has not given the output "rows"`},
		{"c", map[string]string{"u": "ftp://x"}, nil, "tasks[3].url", "https://"},
		{"d", map[string]string{"u": "a\r\nb"}, nil, "tasks[4].headers.X", "line ends"},
		{"e", map[string]string{"u": "../etc"}, nil, "tasks[5].working_dir", "absolute"},
		{"e", map[string]string{"u": "/a/../../etc"}, nil, "tasks[5].working_dir", ".."},
		{"f", nil, nil, "tasks[6].env.E", "${rows}"},
		{"g", nil, map[string]string{"rows": "many"}, "tasks[7].params.E", "whole number"},
	}
	for _, test := range tests {
		in := instanceOf(plan, test.start)
		in.Tasks[0].Outputs = test.outputs
		i, _ := plan.Task(test.task)
		_, err := Resolve(in, i, facts())
		var field FieldError
		if !errors.As(err, &field) || field.Field != test.field || !strings.Contains(field.Message, test.says) {
			t.Errorf("Resolve(%s) = %v, want %s that says %q", test.task, err, test.field, test.says)
		}
	}
}

func TestReferencesAreCheckedAtSave(t *testing.T) {
	t.Parallel()
	text := `name: w
params: {region: eu}
tasks:
  - {name: up, type: noop, outputs: [rows]}
  - {name: beside, type: noop, outputs: [other]}
  - name: t
    type: http
    needs: [up]
    params: {mine: 1, p: "${mine}"}
    url: http://x/${regoin}
    body: ${rows} ${up.rows} ${mine} ${region} ${system.biz.date} $${anything} ${other}
    headers:
      A: ${up.row}
      B: ${beside.other}
      C: ${nobody.x}
      D: ${a b}
      E: ${system.biz_date}
    env: {X: "${}", Y: "${"}
`
	_, errs := Parse([]byte(text), "yaml")
	checkErrors(t, errs, []wrong{
		{9, "tasks[2].params.p", "unknown_name", "${mine}"},
		{10, "tasks[2].url", "unknown_name", "did you mean ${region}?"},
		{11, "tasks[2].body", "unknown_name", "${other}"},
		{13, "tasks[2].headers.A", "unknown_name", `declares no output "row"`},
		{14, "tasks[2].headers.B", "unknown_name", "add it to needs"},
		{15, "tasks[2].headers.C", "unknown_name", `no task "nobody"`},
		{16, "tasks[2].headers.D", "unknown_name", "${a b}"},
		{17, "tasks[2].headers.E", "unknown_name", ""},
		{18, "tasks[2].env.X", "unknown_name", "${}"},
		{18, "tasks[2].env.Y", "syntax", "closing brace"},
	})
}

func TestStartParametersAreHeldAgainstTheDeclaredOnes(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params:
  region: {default: eu, enum: [eu, us]}
  count: {type: integer}
  ratio: 0.5
  really: true
  text: x
tasks:
  - {name: t, type: noop}
`)
	tests := []struct {
		name  string
		start map[string]string
		want  []wrong
	}{
		{"all well", map[string]string{"count": "-7", "ratio": "1e3", "really": "false", "text": awkward, "region": "us"}, nil},
		{"missing", nil, []wrong{{0, "params.count", "required", "no default"}}},
		{"unknown", map[string]string{"count": "1", "regoin": "eu", "zzzzzzz": ""}, []wrong{
			{0, "params.regoin", "unknown_param", `did you mean "region"?`}, {0, "params.zzzzzzz", "unknown_param", ""},
		}},
		{"wrong types", map[string]string{"count": "1.5", "ratio": "NaN", "really": "1", "region": "asia"}, []wrong{
			{0, "params.region", "not_in_enum", "eu, us"},
			{0, "params.count", "wrong_type", "whole number"},
			{0, "params.ratio", "wrong_type", "number"},
			{0, "params.really", "wrong_type", "true or false"},
		}},
		{"over 64 bits", map[string]string{"count": "9223372036854775808", "ratio": "1e400"}, []wrong{
			{0, "params.count", "wrong_type", "64 bits"}, {0, "params.ratio", "wrong_type", "number"},
		}},
		{"bytes", map[string]string{"count": "1", "text": "a\x00b"}, []wrong{{0, "params.text", "encoding", "NUL"}}},
		{"invalid UTF-8", map[string]string{"count": "1", "text": "a\xffb"}, []wrong{{0, "params.text", "encoding", "UTF-8"}}},
		{"too long", map[string]string{"count": "1", "text": strings.Repeat("x", MaxValue+1)}, []wrong{{0, "params.text", "too_large", "102400"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkErrors(t, CheckParams(plan.Definition, test.start), test.want)
		})
	}
}

func TestResolveIsDeterministic(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {a: 1, b: 2, c: 3}
tasks:
  - {name: t, type: http, url: http://x, headers: {A: "${a}", B: "${b}", C: "${c}", D: "${a}"}}
  - {name: bad, type: http, url: http://x, headers: {A: "${a}", B: "${b}", C: "${c}", D: "${a}"}}
`)
	in := instanceOf(plan, map[string]string{})
	first := fmt.Sprint(string(resolve(t, in, "t").Spec))
	in.Params = map[string]string{"a": "\n", "b": "\n", "c": "\n"}
	_, firstErr := Resolve(in, 1, facts())
	for range 50 {
		in.Params = nil
		if again := fmt.Sprint(string(resolve(t, in, "t").Spec)); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
		in.Params = map[string]string{"a": "\n", "b": "\n", "c": "\n"}
		if _, err := Resolve(in, 1, facts()); err.Error() != firstErr.Error() {
			t.Fatalf("%v\n%v", firstErr, err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	plan := mustPlan(b, `
name: w
params: {a: 1, b: 2}
tasks:
  - {name: up, type: noop, outputs: [x]}
  - {name: s, type: shell, script: 'echo $a', needs: [up]}
  - {name: h, type: http, url: "http://x/${a}", needs: [up]}
`)
	in := instanceOf(plan, nil)
	in.Tasks[0].Outputs = map[string]string{"x": "1"}
	for i := 1; i < 3; i++ {
		b.Run(plan.Definition.Tasks[i].Type, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Resolve(in, i, Facts{Now: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
