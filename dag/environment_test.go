package dag

import (
	"errors"
	"testing"
)

func TestAnEnvironmentStandsBelowParametersAndEnv(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
environment: Prod
params: {region: eu}
tasks:
  - {name: a, type: shell, script: x, env: {OWN: "${region}"}}
  - {name: b, type: shell, script: x, environment: other}
  - {name: c, type: http, url: "http://x"}
`)
	in := instanceOf(plan, nil)
	f := facts()
	f.Environments = map[string]map[string]string{"prod": {"JAVA_HOME": "/opt/${region} $[yyyy]", "region": "us", "OWN": "no"}}
	run, err := Resolve(in, 0, f)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"JAVA_HOME": "/opt/${region} $[yyyy]", "region": "eu", "OWN": "eu"} {
		if run.Env[name] != want {
			t.Errorf("%s = %q, want %q", name, run.Env[name], want)
		}
	}
	if _, err := Resolve(in, 1, f); err == nil {
		t.Error("a task runs without the environment that it names")
	} else if wrong, ok := errors.AsType[FieldError](err); !ok || wrong.Field != "tasks[1].environment" || wrong.Code != CodeNoEnvironment {
		t.Errorf("error = %v, want no_environment at tasks[1].environment", err)
	}
	if _, err := Resolve(in, 2, Facts{}); err != nil {
		t.Errorf("a task without a process wants the workflow's environment: %v", err)
	}
}

func TestVariablesOfAnEnvironmentAreChecked(t *testing.T) {
	t.Parallel()
	errs := CheckEnvironment("a/b", map[string]string{"PATH": "/x", "1x": "", "OK": "a\x00b"})
	want := []string{"environment", "variables.1x", "variables.OK", "variables.PATH"}
	if len(errs) != len(want) {
		t.Fatalf("errors = %v, want %v", errs, want)
	}
	for i, e := range errs {
		if e.Field != want[i] {
			t.Errorf("error %d is at %s, want %s", i, e.Field, want[i])
		}
	}
}
