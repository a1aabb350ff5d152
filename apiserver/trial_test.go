package apiserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// tried asks for a trial in the project alpha.
func (b *bench) tried(text, cases string) Trial {
	b.t.Helper()
	body, err := json.Marshal(TrialOptions{Text: text, Cases: cases})
	if err != nil {
		b.t.Fatal(err)
	}
	return decode[Trial](b.t, b.must(200, "POST", "/api/v1/projects/alpha/trial", string(body)))
}

const switched = `name: by size
params: {rows: {type: integer, default: 5}}
tasks:
  - {name: route, type: switch, cases: [{when: rows < 10, then: [small]}], else: [large]}
  - {name: small, type: shell, script: echo, needs: [route]}
  - {name: large, type: shell, script: echo, needs: [route], retry: {times: 1, delay: 1m}}
`

func TestCasesAreTriedWithoutAStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	got := b.tried(switched, `cases:
  - name: few
    expect: {state: success, ran: [route, small]}
  - name: many, and one attempt fails
    params: {rows: 20}
    tasks: {large: [failed, success]}
    expect: {took: 1m, tasks: {large: {attempts: 3}, small: success}}
`)
	if got.Passed != 1 || got.Failed != 1 || got.LeftOut != 0 || len(got.TextErrors)+len(got.CasesErrors) != 0 {
		t.Fatalf("the trial is %+v", got)
	}
	few, many := got.Cases[0], got.Cases[1]
	if !few.Passed || few.State != "success" || few.Line != 2 || len(few.History) == 0 || few.Tasks[2].Reason != "not_chosen" {
		t.Errorf("few rows = %+v", few)
	}
	if many.Passed || many.TookMs != time.Minute.Milliseconds() || len(many.Failures) != 2 {
		t.Fatalf("many rows = %+v", many)
	}
	for _, f := range many.Failures {
		if f.Line != 7 || f.Column == 0 {
			t.Errorf("an expectation without its place: %+v", f)
		}
	}
	if list := decode[List[Instance]](t, b.must(200, "GET", "/api/v1/instances", "")); len(list.Items) != 0 {
		t.Errorf("a trial has started %+v", list.Items)
	}
}

func TestMistakesOfATrialAreToldByTheirText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	if got := b.tried("name: x\ntasks: []\n", "cases: []"); len(got.TextErrors) == 0 || got.TextErrors[0].Line != 2 || len(got.CasesErrors) != 0 {
		t.Errorf("a wrong definition gives %+v", got)
	}
	got := b.tried(switched, "cases:\n  - name: few\n    tasks: {smal: failed}\n    expect: success\n")
	if len(got.CasesErrors) != 1 || got.CasesErrors[0].Line != 3 || len(got.Cases) != 0 {
		t.Errorf("a wrong case gives %+v", got)
	}
	b.must(422, "POST", "/api/v1/projects/alpha/trial", `{"text":"x"}`)
	b.must(404, "POST", "/api/v1/projects/beta/trial", `{"text":"x","cases":"y"}`)
}

func TestATrialEndsInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	// A clock that goes on by two seconds each time that it is looked at.
	now := time.Now()
	b.server.now = func() time.Time { now = now.Add(2 * time.Second); return now }
	var cases strings.Builder
	cases.WriteString("cases:\n")
	for i := range 20 {
		fmt.Fprintf(&cases, "  - {name: case %d, expect: success}\n", i)
	}
	in := &tryWorkflow{Body: TrialOptions{Text: switched, Cases: cases.String()}}
	got, err := b.server.tryWorkflow(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got.Body.LeftOut != 18 || got.Body.Passed != 2 {
		t.Errorf("after its time %d passed, %d were left out", got.Body.Passed, got.Body.LeftOut)
	}
}

func TestTestCasesAreKeptBesideTheDraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", running("w"), "")
	const at = "/api/v1/projects/p/workflows/w/cases"
	read := func() Cases { return decode[Cases](t, b.must(200, "GET", at, "")) }
	if c := read(); c.Text != "" || c.Revision != 0 {
		t.Errorf("before any: %+v", c)
	}
	b.must(200, "PUT", at, `{"text":"cases: [","revision":0}`)
	if c := read(); c.Text != "cases: [" || c.Revision != 1 || c.UpdatedBy == "" {
		t.Errorf("after the first: %+v", c)
	}
	w := b.must(412, "PUT", at, `{"text":"cases: []","revision":0}`).Body.String()
	if !strings.Contains(w, `"field":"revision"`) || !strings.Contains(w, `"code":"stale"`) {
		t.Errorf("who comes late is told %s", w)
	}
	b.must(200, "PUT", at, `{"text":"cases: []","revision":1}`)
	b.must(200, "PUT", at, `{"text":"mine","revision":-1}`)
	if c := read(); c.Text != "mine" || c.Revision != 3 {
		t.Errorf("after overwriting: %+v", c)
	}
	viewer := b.person("vera", "p", roleViewer, false)
	if got := b.do(asked{method: "GET", path: at, token: viewer}); got.Code != 200 {
		t.Errorf("a viewer reads: %d", got.Code)
	}
	if got := b.do(asked{method: "PUT", path: at, token: viewer, body: `{"text":"x","revision":3}`}); got.Code != 403 {
		t.Errorf("a viewer writes: %d", got.Code)
	}
	// A workflow of the same name that comes later begins without.
	b.must(204, "DELETE", "/api/v1/projects/p/workflows/w", "")
	b.put(201, "p", running("w"), "")
	if c := read(); c.Text != "" {
		t.Errorf("of a workflow that is gone: %+v", c)
	}
}
