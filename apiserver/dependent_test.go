package apiserver

import (
	"fmt"
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

func TestADependentNamesTheInstancesThatCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/q", "")
	b.put(201, "p", "name: up\ntasks:\n  - {name: a, type: switch, cases: [{when: \"1 == 1\", then: []}]}\n", "")
	b.put(201, "q", running("hidden"), "")
	b.put(201, "p", "name: me\ntasks:\n  - {name: t, type: dependent, check: {all: [{workflow: up, date: today}, {any: [{project: q, workflow: hidden, date: last1Days}]}]}}\n  - {name: n, type: noop}\n", "")
	start := func(name string) string {
		return decode[struct {
			InstanceID string `json:"instance_id"`
		}](t, b.must(202, "POST", "/api/v1/projects/p/workflows/"+name+"/start", "")).InstanceID
	}
	up, me := start("up"), start("me")
	b.drive(me, dag.Begin{})
	path := "/api/v1/instances/" + me + "/tasks/t/dependencies"
	look := func() []Dependency { return decode[DependencyList](t, b.must(200, "GET", path, "")).Items }
	if got := look(); len(got) != 2 || got[0].Verdict != "waiting" || fmt.Sprint(int64(got[0].Instance)) != up || got[0].State != "submitted" || got[1].Code != "dependency_missing" {
		t.Errorf("while it waits: %+v", got)
	}
	b.drive(up, dag.Begin{})
	if got := look(); got[0].Verdict != "success" || len(got[0].Runs) != 1 || fmt.Sprint(int64(got[0].Runs[0])) != up {
		t.Errorf("after the success: %+v", got)
	}
	viewer := b.person("vera", "p", roleViewer, false)
	if got := decode[DependencyList](t, b.do(asked{method: "GET", path: path, token: viewer})).Items[1]; len(got.Runs) != 0 || !strings.Contains(got.Text, "may not see") {
		t.Errorf("a stranger is shown %+v", got)
	}
	who := func(id string) []Waiter {
		return decode[WaiterList](t, b.must(200, "GET", "/api/v1/instances/"+id+"/waiters", "")).Items
	}
	if got := who(up); len(got) != 1 || fmt.Sprint(int64(got[0].Instance)) != me || got[0].Task != "t" || got[0].TaskState != dag.TaskRunning || got[0].Date != "today" || got[0].For != "" {
		t.Errorf("who waits for %s: %+v", up, got)
	}
	if got := who(me); len(got) != 0 {
		t.Errorf("nobody waits for %s, but %+v", me, got)
	}
	b.must(409, "GET", "/api/v1/instances/"+me+"/tasks/n/dependencies", "")
	b.must(404, "GET", "/api/v1/instances/"+me+"/tasks/gone/dependencies", "")
}
