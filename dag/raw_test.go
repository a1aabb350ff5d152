package dag

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// rawOf resolves a raw script beside an output, the task's own parameter and one of the start.
func rawOf(t testing.TB, script, given string) (string, error) {
	t.Helper()
	plan := mustPlan(t, `
name: w
params: {day: "20240229", given: ""}
tasks:
  - {name: up, type: noop, outputs: [rows]}
  - {name: t, type: shell, raw: true, needs: [up], params: {own: mine}, script: x}
`)
	*plan.Definition.Tasks[1].Spec.(scripted).text() = script
	in := instanceOf(plan, map[string]string{"given": given})
	in.Tasks[0].Outputs = map[string]string{"rows": "42"}
	run, err := Resolve(in, 1, facts())
	if err != nil {
		return "", err
	}
	var spec ShellSpec
	if err := json.Unmarshal(run.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	if run.Env["given"] != given {
		t.Errorf("the environment has %q, want %q", run.Env["given"], given)
	}
	return spec.Script, nil
}

func TestARawScriptHasItsValuesPutIn(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo '${day}' ${rows} ${up.rows} ${own}":      "echo '20240229' 42 42 mine",
		"echo ${system.biz.date} ${system_biz_date}":   "echo 20240229 20240229",
		"echo $[yyyy-MM-dd] $[yyyyMMdd-1]":             "echo 2024-03-01 20240229",
		"echo $[add_months(yyyyMM,-1)] $[0] $[1+2]":    "echo 202402 $[0] $[1+2]",
		"x=${tmp} ${day%0} ${} ${ $x $$ $ ${day":       "x=${tmp} ${day%0} ${} ${ $x $$ $ ${day",
		"echo $[foo(1)] $[yyyy":                        "echo $[foo(1)] $[yyyy",
		"echo ${nobody.rows} ${unknown}":               "echo ${nobody.rows} ${unknown}",
		"echo ${given}":                                "echo ${day} $[yyyy]; rm -rf x",
		"echo \\${day} $${day} '!{day}' $day \"$day\"": "echo \\20240229 $20240229 '!{day}' $day \"$day\"",
		"a${day}b${day}":                               "a20240229b20240229",
	} {
		got, err := rawOf(t, script, "${day} $[yyyy]; rm -rf x")
		if err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", script, got, err, want)
		}
	}
}

func TestARawScriptIsBounded(t *testing.T) {
	t.Parallel()
	_, err := rawOf(t, strings.Repeat("${given}", 1000), strings.Repeat("x", 100<<10))
	if wrong, ok := errors.AsType[FieldError](err); !ok || wrong.Field != "tasks[1].script" || wrong.Code != "too_large" {
		t.Errorf("error = %v, want one of tasks[1].script that is too large", err)
	}
	if got, err := rawOf(t, strings.Repeat("${", 500_000)+"}", ""); err != nil || len(got) != 1_000_001 {
		t.Errorf("%d bytes, %v; a script of opened braces stays as it is", len(got), err)
	}
	if _, err := rawOf(t, "echo ${given}", "\x00"); err == nil {
		t.Error("a value with NUL was put into a script")
	}
}

func TestRawWithoutAScriptIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := ReviewText([]byte("name: w\ntasks:\n  - {name: a, type: http, url: 'http://x', raw: true}\n"), "yaml")
	if len(r.Errors) != 0 || len(r.Warnings) != 1 || r.Warnings[0].Field != "tasks[0].raw" || r.Warnings[0].Code != CodeNoEffect {
		t.Errorf("review = %+v, want one warning at tasks[0].raw", r)
	}
}

// FuzzRawScript: nothing but what stands between $ and a closing sign ever changes.
func FuzzRawScript(f *testing.F) {
	f.Add("echo ${day} $[yyyy-1] ${")
	f.Add("$[$[yyyy]]${${day}}")
	f.Fuzz(func(t *testing.T, script string) {
		got, err := rawOf(t, script, "v")
		if err == nil && !strings.Contains(script, "${") && !strings.Contains(script, "$[") && got != strings.ToValidUTF8(script, "\uFFFD") {
			t.Errorf("%q became %q", script, got)
		}
	})
}
