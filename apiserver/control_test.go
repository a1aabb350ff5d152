package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// fail ends an instance: its first task fails, the second never runs.
func (b *bench) fail(id string) {
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptFailed, Reason: dag.ReasonExitCode, ExitCode: 1, FinishedAt: dag.MillisOf(time.Now())})
}

func (b *bench) again(project string) string {
	b.t.Helper()
	w := b.must(202, "POST", "/api/v1/projects/"+project+"/workflows/daily/start", "")
	return decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
}

func (b *bench) wishes(id string) []sql.ControlRow {
	b.t.Helper()
	n, _ := parseID(id)
	rows, err := b.store.Controls(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

// step is what a master does to an instance that began.
func (b *bench) step(id string, input dag.Input) {
	b.t.Helper()
	n, _ := parseID(id)
	row, err := b.store.Instance(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	plan, err := b.server.plans.get(b.t.Context(), row.WorkflowID, row.Version)
	if err != nil {
		b.t.Fatal(err)
	}
	tasks, _, err := b.store.Tasks(b.t.Context(), n, sql.Page{})
	if err != nil {
		b.t.Fatal(err)
	}
	attempts, err := b.db.LiveAttempts(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range attempts {
		a := &attempts[i]
		if a.Decisions, err = b.db.Decisions(b.t.Context(), n, a.Task, a.Number); err != nil {
			b.t.Fatal(err)
		}
	}
	live, err := sql.Rebuild(plan, &row, tasks, attempts)
	if err != nil {
		b.t.Fatal(err)
	}
	if live.Facts, err = row.Facts(); err != nil {
		b.t.Fatal(err)
	}
	fx := live.Step(input, dag.MillisOf(time.Now()))
	if err := b.db.Commit(b.t.Context(), []sql.Transition{{Instance: live, Plan: plan, Epoch: row.OwnerEpoch, Effects: &fx}})[0]; err != nil {
		b.t.Fatal(err)
	}
}

func TestWishWithAPreviewIsRefusedOnceTheInstanceHasMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	in := "/api/v1/instances/" + id
	b.begin(id)
	seen := decode[Preview](t, b.must(200, "GET", in+"/preview?verb=stop", ""))
	if seen.Token == "" || len(seen.Tasks) != 2 {
		t.Fatalf("preview = %+v", seen)
	}
	other := decode[Preview](t, b.must(200, "GET", in+"/preview?verb=skip&task=load", ""))
	b.must(409, "POST", in+"/stop", `{"preview":"`+other.Token+`"}`)
	for _, wrong := range []string{"x", "1", ".", "-1.aa", "9999999999999999999999.aa"} {
		b.must(422, "POST", in+"/stop", `{"preview":"`+wrong+`"}`)
	}
	// Skipping one task of the two is what a master does meanwhile.
	b.step(id, dag.Control{ID: 1, Verb: dag.VerbSkip, Tasks: []int{0}, By: "ann"})
	got := decode[Problem](t, b.must(409, "POST", in+"/stop", `{"preview":"`+seen.Token+`"}`))
	text := fmt.Sprint(got.Errors)
	if !strings.Contains(text, "extract") || !strings.Contains(text, "skipped") || got.Errors[len(got.Errors)-1].Code != "stale" {
		t.Errorf("refused with %+v", got)
	}
	if open := b.wishes(id); len(open) != 0 {
		t.Errorf("a refused wish was written: %+v", open)
	}
	now := decode[Preview](t, b.must(200, "GET", in+"/preview?verb=stop", ""))
	b.must(202, "POST", in+"/stop", `{"preview":"`+now.Token+`"}`)
}

func TestForceSuccessOfAFailedTaskWaitsForTheEndOfItsRound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	in := "/api/v1/instances/" + id
	b.fail(id)
	p := decode[Preview](t, b.must(200, "GET", in+"/preview?verb=force_success&task=extract", ""))
	if fmt.Sprint(p.Tasks) != "[{extract failed forced_success} {load upstream_failed ready}]" || p.Result != dag.ResultApplied {
		t.Errorf("preview = %+v", p)
	}
	b.must(400, "GET", in+"/preview?verb=force_success", "")
	b.must(202, "POST", in+"/tasks/extract/force-success", `{"preview":"`+p.Token+`"}`)
	if open := b.wishes(id); len(open) != 1 || open[0].Verb != dag.VerbForceSuccess || open[0].Tasks[0] != "extract" {
		t.Errorf("written: %+v", open)
	}
	running := b.again("alpha")
	b.assign(running)
	b.must(409, "POST", "/api/v1/instances/"+running+"/tasks/extract/force-success", "")
	b.must(202, "POST", "/api/v1/instances/"+running+"/tasks/load/force-success", "")
}

func TestBulkWeighsEachInstanceByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	failed := b.seed("alpha")
	b.fail(failed)
	running := b.again("alpha")
	b.begin(running)
	foreign := b.seed("beta")
	b.fail(foreign)
	operator := b.person("op", "alpha", roleOperator, false)
	viewer := b.person("vi", "alpha", roleViewer, false)
	ask := func(token, verb string, instances ...string) string {
		t.Helper()
		w := b.do(asked{method: "POST", path: "/api/v1/instances/bulk", token: token, body: `{"verb":"` + verb + `","instances":[` + strings.Join(instances, ",") + `]}`})
		if w.Code != 200 {
			t.Fatalf("bulk = %d: %s", w.Code, w.Body)
		}
		var words []string
		for _, r := range decode[BulkAnswer](t, w).Items {
			words = append(words, r.Result)
		}
		return strings.Join(words, " ")
	}
	one := func(id string, round int) string { return fmt.Sprintf(`{"id":%q,"round":%d}`, id, round) }
	all := []string{one(failed, 1), one(running, 1), one(foreign, 1), one("999999", 0)}
	if got := ask(viewer, "recover", all...); got != "forbidden forbidden not_found not_found" {
		t.Errorf("viewer: %s", got)
	}
	if got := ask(operator, "recover", all...); got != "asked refused not_found not_found" {
		t.Errorf("operator: %s", got)
	}
	if got := ask(operator, "recover", all...); got != "already refused not_found not_found" {
		t.Errorf("the same again: %s", got)
	}
	if open := b.wishes(failed); len(open) != 1 {
		t.Errorf("written: %+v", open)
	}
	if got := ask(b.admin, "rerun", one(foreign, 1), one(foreign, 1)); strings.Count(got, "asked") == 0 || strings.Contains(got, "refused") {
		t.Errorf("one named twice: %s", got)
	}
	// A repeat after the round was opened does nothing more.
	b.step(failed, dag.Control{ID: 1, Verb: dag.VerbRecover, By: "op"})
	if got := ask(operator, "recover", one(failed, 1)); got != "already" {
		t.Errorf("after the round was opened: %s", got)
	}
	if got := ask(operator, "stop", one(failed, 1)) + " " + ask(operator, "stop", one(failed, 2)); got != "already asked" {
		t.Errorf("stop by the round: %s", got)
	}
	for _, wrong := range []string{`{}`, `{"verb":"dance","instances":[{"id":"1"}]}`, `{"verb":"stop","instances":[]}`} {
		b.must(422, "POST", "/api/v1/instances/bulk", wrong)
	}
}

func TestNarrowFiltersAndHistogramOfInstances(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.seed("alpha")
	w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{"params":{"day":"2026-11-07"}}`)
	second := decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
	ids := func(query string) string {
		var out []string
		for _, in := range decode[List[struct{ ID string }]](t, b.must(200, "GET", "/api/v1/instances?"+query, "")).Items {
			out = append(out, in.ID)
		}
		return strings.Join(out, " ")
	}
	for query, want := range map[string]string{
		"param=day%3D2026-11-07": second, "param=11-08": "", "version=1": second + " " + first, "version=2": "", "by=admin": second + " " + first, "by=eve": "",
		"longer=1s": "", "trigger=manual": second + " " + first, "trigger=backfill": "", "late=true": "", "ids=" + first + ",999999": first, "ids=" + first + "," + second + "&state=failed": first + " " + second, "project=alpha&workflow=daily&param=2026": second,
	} {
		if got := ids(query); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"longer=soon", "longer=-1s", "trigger=magic", "version=-1", "ids=x", "ids=1,,2"} {
		if w := b.do(asked{method: "GET", path: "/api/v1/instances?" + query, token: b.admin}); w.Code != 400 && w.Code != 422 {
			t.Errorf("%s = %d", query, w.Code)
		}
	}
	h := decode[InstanceHistogram](t, b.must(200, "GET", "/api/v1/instances/histogram?project=alpha", ""))
	n := 0
	for _, bucket := range h.Buckets {
		n += bucket.States[dag.InstanceSubmitted]
	}
	if n != 2 || h.WidthMs != 1000 || len(h.Buckets) > 60 {
		t.Errorf("histogram = %+v", h)
	}
	b.drive(first, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptFailed, Reason: dag.ReasonExitCode, Tail: []byte("one\nERROR 1146\n\n"), FinishedAt: 7})
	for _, in := range decode[List[Instance]](t, b.must(200, "GET", "/api/v1/instances?outline=true", "")).Items {
		o := in.Outline
		switch {
		case in.Trigger != sql.TriggerManual || o == nil || o.Late || o.MedianMs != 0:
			t.Errorf("outline of %d = %+v", in.ID, o)
		case fmt.Sprint(in.ID) == first && (o.Tasks != 2 || o.Culprit == nil || o.Culprit.Line != "ERROR 1146" || o.Culprit.State != dag.TaskFailed):
			t.Errorf("outline of what failed = %+v, %+v", o, o.Culprit)
		case fmt.Sprint(in.ID) != first && o.Culprit != nil:
			t.Errorf("outline of what waits = %+v", o.Culprit)
		}
	}
	around := decode[map[string]any](t, b.must(200, "GET", "/api/v1/instances/"+first+"/neighbours", ""))
	if around["next"] != second || around["previous"] != nil || around["samples"] != 0.0 {
		t.Errorf("neighbours = %v", around)
	}
}

func TestValuesSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/flow", `name: flow
params: {day: "1", region: eu}
tasks:
  - {name: a, type: shell, script: 'echo "$day"', outputs: [rows]}
  - name: b
    type: shell
    needs: [a]
    params: {factor: 3}
    env: {MODE: "${region}"}
    script: echo "$rows $factor"
`, "Content-Type", "application/yaml")
	w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/flow/start", `{"params":{"day":"7"}}`)
	id := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, w).InstanceID
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptSuccess, Outputs: map[string]string{"rows": "12"}, FinishedAt: dag.MillisOf(time.Now())})
	tell := func(query string) string {
		var out []string
		for _, v := range decode[List[Value]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/values"+query, "")).Items {
			if v.Origin != "built_in" {
				out = append(out, fmt.Sprintf("%s=%s %s%s>%s", v.Name, v.Value, v.Origin, v.From, strings.Join(v.Consumers, ",")))
			}
		}
		return strings.Join(out, "; ")
	}
	if got, want := tell(""), "region=eu workflow>b; day=7 start>a; rows=12 outputa>b"; got != want {
		t.Errorf("values = %s, want %s", got, want)
	}
	if got, want := tell("?task=b"), "MODE=eu env>; day=7 start>; factor=3 task>; region=eu workflow>; rows=12 outputa>"; got != want {
		t.Errorf("values of b = %s, want %s", got, want)
	}
	b.must(404, "GET", "/api/v1/instances/"+id+"/values?task=nothing", "")

	// The same values, worked with.
	evaluate := func(status int, task, expression string) *httptest.ResponseRecorder {
		return b.must(status, "GET", "/api/v1/instances/"+id+"/evaluate?"+url.Values{"task": {task}, "expression": {expression}}.Encode(), "")
	}
	for _, c := range []struct{ task, expression, want string }{
		{"", "int(a.rows) * 2", "24"},
		{"", `region + "-" + day`, `"eu-7"`},
		{"", `task("a").state`, `"success"`},
		{"", `task("b").attempts`, "0"},
		{"b", "int(rows) > factor", "true"},
		{"b", "[rows, region]", `["12","eu"]`},
		{"", "nothing ?? 1", "1"},
	} {
		if got := decode[Evaluated](t, evaluate(200, c.task, c.expression)).Value; got != c.want {
			t.Errorf("%s of %q = %s, want %s", c.expression, c.task, got, c.want)
		}
	}
	for _, expression := range []string{"rows >", "nothing", "day > true", strings.Repeat("(", 1000)} {
		if p := decode[Problem](t, evaluate(422, "", expression)); len(p.Errors) != 1 || p.Errors[0].Field != "expression" {
			t.Errorf("%.20s is refused with %+v", expression, p.Errors)
		}
	}
	evaluate(404, "nothing", "1")
}

// TestEveryExplanationHasItsCodeInTheList keeps the list that the console is tested with whole.
func TestEveryExplanationHasItsCodeInTheList(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(explainCodes(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain_codes.json", append(text, '\n'))
	listed := map[string]bool{}
	for _, c := range explainCodes() {
		listed[c] = true
	}
	for _, file := range []string{"explain.go", "../dag/explain.go"} {
		for _, code := range codesIn(t, file) {
			if !listed[code] {
				t.Errorf("%s gives the code %q, which the list lacks", file, code)
			}
		}
	}
}
