package dag

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSpecsTravelAsJSON(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
tasks:
  - {name: a, type: shell, script: "echo <&>\n", interpreter: /bin/bash}
  - {name: b, type: python, script: "print(1)"}
  - {name: c, type: http, url: "http://x?a=1&b=2", method: POST, body: "<x>", headers: {A: 1}, expect: {status: [204, 300-302], body_contains: ok}, connect_timeout: 1m30s}
  - {name: d, type: noop}
  - {name: e, type: wait, for: 1h30m}
  - {name: f, type: wait, until: "2026-03-29T04:00:00+02:00"}
`)
	in := instanceOf(plan, nil)
	for i, task := range plan.Definition.Tasks {
		run, err := Resolve(in, i, facts())
		if err != nil {
			t.Fatal(err)
		}
		spec, ok := NewSpec(run.Type)
		if !ok {
			t.Fatalf("no spec for %s", run.Type)
		}
		if err := json.Unmarshal(run.Spec, spec); err != nil || !reflect.DeepEqual(spec, task.Spec) {
			t.Errorf("%s: %s is read as %+v, %v; want %+v", task.Name, run.Spec, spec, err, task.Spec)
		}
		if errs := spec.Validate(); len(errs) > 0 {
			t.Errorf("%s: %v", task.Name, errs)
		}
	}
}

func TestStatusRangesInJSONAreChecked(t *testing.T) {
	t.Parallel()
	var e HTTPExpect
	if err := json.Unmarshal([]byte(`{"status":["200-299","404"]}`), &e); err != nil || !e.Accepts(404) || e.Accepts(300) || !e.Accepts(299) {
		t.Errorf("read %+v, %v", e, err)
	}
	for _, bad := range []string{`"99"`, `"600"`, `"300-200"`, `"x"`, `""`, `"200-"`, `"200-299-300"`} {
		if err := json.Unmarshal([]byte(`{"status":[`+bad+`]}`), &e); err == nil {
			t.Errorf("status %s is taken", bad)
		}
	}
}

func TestWaitEndsAfterItsTimeOrAtItsMoment(t *testing.T) {
	t.Parallel()
	now := MillisOf(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	tests := []struct {
		spec WaitSpec
		want time.Duration
	}{
		{WaitSpec{For: Duration(90 * time.Second)}, 90 * time.Second},
		{WaitSpec{Until: "2026-01-01T12:00:01Z"}, time.Second},
		{WaitSpec{Until: "2026-01-01T14:00:00+01:00"}, time.Hour},
		{WaitSpec{Until: "2020-01-01T00:00:00Z"}, 0},
	}
	for _, test := range tests {
		if got := test.spec.End(now).Sub(now); got != test.want {
			t.Errorf("%+v ends after %s, want %s", test.spec, got, test.want)
		}
	}
}

func TestScriptsUpToOneMiBAreTaken(t *testing.T) {
	t.Parallel()
	s := &ShellSpec{Script: strings.Repeat("x", 1<<20), Interpreter: "sh"}
	if errs := s.Validate(); len(errs) > 0 {
		t.Error(errs)
	}
	for name, script := range map[string]string{"too long": s.Script + "x", "NUL": "a\x00", "invalid UTF-8": "a\xff"} {
		s := &ShellSpec{Script: script}
		if errs := s.Validate(); len(errs) != 1 || errs[0].Field != "script" {
			t.Errorf("%s: %v, want one error at script", name, errs)
		}
	}
}
