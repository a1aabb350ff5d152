package apiserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestADependentTaskIsHeldAgainstWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/other", "")
	b.put(201, "p", running("up"), "")
	for check, want := range map[string][]string{
		`{all: [{workflow: up, date: today}, {workflow: up, task: a, date: lastMonday, cycle: week}]}`: nil,
		`{any: [{workflow: me, date: last1Days}]}`:                                                     nil,
		`{all: [{workflow: up, date: someday}]}`:                                                       {"tasks[0].check.all[0].date not_in_enum"},
		`{all: [{date: today}, {workflow: up}]}`:                                                       {"tasks[0].check.all[0].workflow required", "tasks[0].check.all[1].date required"},
		`{all: []}`:                                                                                    {"tasks[0].check.all required"},
		`{all: [{workflow: up, date: today}], any: [{workflow: up, date: today}]}`:                     {"tasks[0].check invalid"},
		`{all: [{workflow: up, date: today, cycle: month}]}`:                                           {"tasks[0].check.all[0].cycle conflict"},
		`{all: [{any: [{workflow: gone, date: today}]}]}`:                                              {"tasks[0].check.all[0].any[0].workflow unknown_workflow"},
		`{all: [{workflow: up, task: b, date: today}]}`:                                                {"tasks[0].check.all[0].task unknown_workflow"},
		`{all: [{project: nowhere, workflow: up, date: today}]}`:                                       {"tasks[0].check.all[0].project unknown_workflow"},
		`{all: [{project: other, workflow: up, date: today}]}`:                                         {"tasks[0].check.all[0].workflow unknown_workflow"},
		`{all: [{workflow: up, date: today, any: [{workflow: up, date: today}]}]}`:                     {"tasks[0].check.all[0] invalid"},
	} {
		f := decode[Findings](t, b.must(200, "POST", "/api/v1/validate?project=p", "name: me\ntasks:\n  - {name: t, type: dependent, check: "+check+"}\n", "Content-Type", yamlType))
		var got []string
		for _, e := range f.Errors {
			got = append(got, e.Field+" "+e.Code)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", check, got, want)
		}
	}
}

func TestExplainSaysWhatADependentWaitsFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/q", "")
	b.put(201, "p", running("up"), "")
	b.put(201, "q", running("hidden"), "")
	b.put(201, "p", "name: me\ntasks:\n  - {name: t, type: dependent, check: {all: [{workflow: up, date: today}, {project: q, workflow: hidden, date: last1Days}]}}\n", "")
	id := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, b.must(202, "POST", "/api/v1/projects/p/workflows/me/start", "")).InstanceID
	b.drive(id, dag.Begin{})
	for _, path := range []string{"/explain", "/explain?task=t"} {
		w := b.must(200, "GET", "/api/v1/instances/"+id+path, "").Body.String()
		for _, part := range []string{"dependency_all", "dependency_missing", `"up"`, "hidden"} {
			if !strings.Contains(w, part) && !strings.Contains(w, strings.ReplaceAll(part, `"`, "")) {
				t.Errorf("%s does not say %s: %s", path, part, w)
			}
		}
	}
	viewer := b.person("vera", "p", roleViewer, false)
	if got := b.do(asked{method: "GET", path: "/api/v1/instances/" + id + "/explain", token: viewer}).Body.String(); strings.Contains(got, "hidden") || !strings.Contains(got, "may not see") {
		t.Errorf("a stranger is shown %s", got)
	}
}
