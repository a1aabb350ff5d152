package dag

import (
	"reflect"
	"testing"
)

const traced = `
name: w
params: {day: "${system.biz.date}", region: eu, must: {type: integer}}
tasks:
  - {name: a, type: shell, script: x, outputs: [rows, region]}
  - {name: b, type: shell, script: x, needs: [a], outputs: [region]}
  - name: c
    type: http
    needs: [b]
    params: {own: "${day}-${rows}", late: "${a.rows}"}
    env: {E: "${b.region} ${late}"}
    url: http://x/${region}?n=${own}
    body: ${must}
`

func TestTraceNamesEverySourceStrongestFirst(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, traced)
	in := instanceOf(plan, map[string]string{"day": "today", "must": "7"})
	in.SetOutputs(0, map[string]string{"rows": "42", "region": "far"})
	in.SetOutputs(1, map[string]string{"region": "near"})
	got, err := TraceTask(in, 2, facts())
	if err != nil {
		t.Fatal(err)
	}
	chains := map[string][]Link{}
	for _, v := range got.Values {
		chains[v.Name] = v.Chain
	}
	want := map[string][]Link{
		"day":    {{OriginStart, "today", ""}, {OriginWorkflow, "${system.biz.date}", ""}},
		"region": {{OriginOutput, "near", "b"}, {OriginOutput, "far", "a"}, {OriginWorkflow, "eu", ""}},
		"own":    {{OriginTask, "today-42", ""}},
		"must":   {{OriginStart, "7", ""}},
	}
	for name, chain := range want {
		if !reflect.DeepEqual(chains[name], chain) {
			t.Errorf("%s: %v, want %v", name, chains[name], chain)
		}
	}
	if got.Spec["url"] != "http://x/near?n=today-42" || got.Spec["body"] != "7" || got.Env["E"] != "near 42" || len(got.Unresolved) != 0 {
		t.Errorf("trace %+v", got)
	}
	// It is what a real run gets.
	run, err := Resolve(in, 2, facts())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(run.Env, got.Env) {
		t.Errorf("a run has %v, the trace %v", run.Env, got.Env)
	}
	for _, v := range got.Values {
		if v.Name != "E" && run.Env[v.Name] != v.Chain[0].Value {
			t.Errorf("%s: a run has %q, the trace %+v", v.Name, run.Env[v.Name], v.Chain)
		}
	}
}

func TestTraceGoesOnWhereAValueIsMissing(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, traced)
	in := instanceOf(plan, nil)
	got, err := TraceTask(in, 2, facts())
	if err != nil {
		t.Fatal(err)
	}
	want := []Unresolved{
		{"rows", "tasks[2].params.own"},
		{"a.rows", "tasks[2].params.late"},
		{"must", "params.must"},
		{"b.region", "env.E"},
		{"late", "env.E"},
		{"own", "url"},
		{"must", "body"},
	}
	for _, w := range want {
		found := false
		for _, u := range got.Unresolved {
			found = found || u == w
		}
		if !found {
			t.Errorf("%v is not among %v", w, got.Unresolved)
		}
	}
	if got.Spec["url"] != "http://x/eu?n=${own}" {
		t.Errorf("url %v", got.Spec["url"])
	}
	whole, err := TraceTask(in, -1, facts())
	if err != nil || len(whole.Values) == 0 || whole.Spec != nil || !reflect.DeepEqual(whole.Unresolved, []Unresolved{{"must", "params.must"}}) {
		t.Errorf("the workflow itself: %+v, %v", whole, err)
	}
}
