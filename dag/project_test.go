package dag

import (
	"errors"
	"testing"
)

func TestProjectParametersStandBetweenTheWorkflowsAndTheBuiltIn(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
params: {a: workflow, from: "${project.region} of $[yyyy-${project.back}]"}
tasks:
  - {name: t, type: http, url: "http://x/${project.region}/${from}", env: {E: "${project.a} ${a}"}}
`)
	f := facts()
	f.ProjectParams = map[string]string{"a": "project", "region": "eu $[yyyy]", "back": "1", "system_biz_date": "project"}
	run, err := Resolve(instanceOf(plan, nil), 0, f)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": "workflow", "region": "eu $[yyyy]", "system_biz_date": "project", "from": "eu $[yyyy] of 2024", "E": "project workflow",
	} {
		if run.Env[name] != want {
			t.Errorf("%s = %q, want %q", name, run.Env[name], want)
		}
	}
	in := instanceOf(plan, nil)
	trace, err := TraceTask(in, 0, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range trace.Values {
		if v.Name == "a" && (len(v.Chain) != 2 || v.Chain[0].Origin != OriginWorkflow || v.Chain[1] != Link{Origin: OriginProject, Value: "project"}) {
			t.Errorf("a comes from %+v", v.Chain)
		}
	}
	f.ProjectParams = nil
	_, err = Resolve(in, 0, f)
	var wrong FieldError
	if !errors.As(err, &wrong) || wrong.Field != "params.from" || wrong.Code != CodeUnknownName {
		t.Errorf("without the project's parameter: %v, want it named at params.from", err)
	}
}

func TestATaskNamedProjectKeepsItsOutputs(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, `
name: w
tasks:
  - {name: project, type: shell, script: x, outputs: [region]}
  - {name: t, type: http, needs: [project], url: "http://x/${project.region}"}
`)
	in := instanceOf(plan, nil)
	in.Tasks[0].Outputs = map[string]string{"region": "output"}
	f := facts()
	f.ProjectParams = map[string]string{"region": "project"}
	run, err := Resolve(in, 1, f)
	if err != nil || string(run.Spec) == "" || run.Env["region"] != "output" {
		t.Fatalf("Resolve = %s %v, %v", run.Spec, run.Env, err)
	}
	if _, errs := Parse([]byte("name: w\ntasks:\n  - {name: project, type: noop}\n  - {name: t, type: http, needs: [project], url: 'http://x/${project.region}'}\n"), "yaml"); len(errs) != 1 {
		t.Errorf("an output that the task does not declare: %v", errs)
	}
}
