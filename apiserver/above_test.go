package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// family is an instance of p/up whose task t waits for a child of q/down, which runs; after needs t.
func (b *bench) family() (up, down string) {
	b.t.Helper()
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/q", "")
	b.put(201, "q", "name: down\ntasks:\n  - {name: work, type: shell, script: ok}\n", "")
	b.put(201, "p", "name: up\ntasks:\n  - {name: t, type: sub_workflow, workflow: down, project: q}\n  - {name: after, type: noop, needs: [t]}\n", "")
	up = decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, b.must(202, "POST", "/api/v1/projects/p/workflows/up/start", "")).InstanceID
	w, err := b.store.Workflow(b.t.Context(), b.projectID("q"), "down")
	if err != nil {
		b.t.Fatal(err)
	}
	child, err := b.db.NextIDs(b.t.Context(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	b.drive(up, dag.Begin{}, dag.Launch{Task: 0, Child: &dag.Child{ID: child, WorkflowID: w.ID, ProjectID: w.ProjectID, Version: 1, Depth: 1, By: "ann"}})
	down = fmt.Sprint(child)
	b.fail(down)
	return up, down
}

func TestAChildGoesAgainOnlyWithItsParents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	up, down := b.family()
	for _, path := range []string{"/recover", "/rerun", "/rerun/preview", "/tasks/work/rerun", "/tasks/work/force-success"} {
		if w := b.must(409, "POST", "/api/v1/instances/"+down+path, ""); !strings.Contains(w.Body.String(), "parent_running") || !strings.Contains(w.Body.String(), "its parent instance "+up+" of p/up is running") {
			t.Errorf("%s while the parent runs: %s", path, w.Body)
		}
	}
	path := "/api/v1/instances/" + down
	if p := decode[Preview](t, b.must(200, "GET", path+"/preview?verb=recover", "")); p.Result != "parent_running" || len(p.Tasks) != 0 {
		t.Errorf("the preview while the parent runs is %+v", p)
	}
	if got := b.wishes(down); len(got) != 0 {
		t.Errorf("refused, and yet asked: %+v", got)
	}

	child, _ := parseID(down)
	b.step(up, dag.ChildEnded{Task: 0, Number: 1, Child: child, State: dag.InstanceFailed})
	p := decode[Preview](t, b.must(200, "GET", path+"/preview?verb=recover", ""))
	if p.Result != "applied" || len(p.Tasks) != 1 || len(p.Parents) != 1 {
		t.Fatalf("the preview is %+v", p)
	}
	parent := p.Parents[0]
	if fmt.Sprint(int64(parent.InstanceID)) != up || parent.Workflow != "up" || parent.Project != "p" || parent.Task != "t" || len(parent.Tasks) != 2 ||
		parent.Tasks[0].Name != "t" || parent.Tasks[0].From != dag.TaskFailed || parent.Tasks[0].To != dag.TaskReady || parent.Tasks[1].Name != "after" {
		t.Errorf("the parent would do %+v", parent)
	}
	if r := decode[RerunPreview](t, b.must(200, "POST", path+"/rerun/preview", "")); len(r.Parents) != 1 {
		t.Errorf("the preview of a rerun is %+v", r)
	}

	// Who may operate the child alone makes no parent go again.
	otto := b.person("otto", "q", roleOperator, false)
	if w := b.do(asked{method: "POST", path: path + "/recover", token: otto}); w.Code != 403 || strings.Contains(w.Body.String(), "up") && strings.Contains(w.Body.String(), "p/up") {
		t.Errorf("a stranger to the parent: %d %s", w.Code, w.Body)
	}
	b.grant("otto", "p", roleOperator)
	if w := b.do(asked{method: "POST", path: path + "/recover", token: otto, body: `{"preview": "` + p.Token + `"}`, header: map[string]string{"Content-Type": "application/json"}}); w.Code != 202 {
		t.Errorf("an operator of both: %d %s", w.Code, w.Body)
	}
	if got := b.wishes(down); len(got) != 1 || got[0].Verb != dag.VerbRecover {
		t.Errorf("asked: %+v", got)
	}
}

func TestAPreviewIsStaleOnceTheParentHasMovedOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	up, down := b.family()
	child, _ := parseID(down)
	b.step(up, dag.ChildEnded{Task: 0, Number: 1, Child: child, State: dag.InstanceFailed})
	path := "/api/v1/instances/" + down
	p := decode[Preview](t, b.must(200, "GET", path+"/preview?verb=rerun", ""))
	b.step(up, dag.Control{ID: 1, Verb: dag.VerbForceSuccess, Tasks: []int{0}, By: "ann"})
	b.must(409, "POST", path+"/rerun", `{"preview": "`+p.Token+`"}`, "Content-Type", "application/json")
}
