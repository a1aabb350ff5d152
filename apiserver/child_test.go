package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// running is a workflow that runs others.
func running(name string, others ...string) string {
	text := "name: " + name + "\ntasks:\n"
	for i, other := range others {
		text += fmt.Sprintf("  - {name: t%d, type: sub_workflow, workflow: %s}\n", i, other)
	}
	if len(others) == 0 {
		text += "  - {name: a, type: noop}\n"
	}
	return text
}

// put saves a workflow, and returns the errors of a refusal.
func (b *bench) put(status int, project, text, query string) []dag.FieldError {
	b.t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
	w := b.must(status, "PUT", "/api/v1/projects/"+project+"/workflows/"+name+query, text, "Content-Type", yamlType, "If-Match", "*")
	if status != 422 {
		return nil
	}
	return decode[struct{ Errors []dag.FieldError }](b.t, w).Errors
}

func TestCirclesThroughSubWorkflowsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/q", "")
	refused := func(project, text, field, code, says string) {
		t.Helper()
		errs := b.put(422, project, text, "")
		if len(errs) != 1 || errs[0].Field != field || errs[0].Code != code || !strings.Contains(errs[0].Message, says) || errs[0].Line == 0 {
			t.Errorf("%s: %+v, want %s at %s that says %s", text, errs, code, field, says)
		}
	}
	refused("p", running("a", "a"), "tasks[0].workflow", dag.CodeWorkflowCycle, "p/a -> p/a")
	refused("p", running("a", "b"), "tasks[0].workflow", dag.CodeUnknownWorkflow, `"b"`)
	b.put(201, "p", running("a"), "")
	b.put(201, "p", running("b", "a"), "")
	b.put(201, "p", running("c", "a", "b"), "")
	refused("p", running("a", "c"), "tasks[0].workflow", dag.CodeWorkflowCycle, "p/a -> p/c -> p/a")
	// Also over another project, and where an older version is published again.
	cross := "name: d\ntasks:\n  - {name: t, type: sub_workflow, workflow: b, project: p}\n"
	b.put(201, "q", cross, "")
	refused("p", "name: a\ntasks:\n  - {name: t, type: sub_workflow, workflow: d, project: q}\n", "tasks[0].workflow", dag.CodeWorkflowCycle, "p/a -> q/d -> p/b -> p/a")
	b.put(201, "p", running("e"), "")
	b.put(201, "p", running("f", "e"), "") // f 1 runs e
	b.put(201, "p", running("f"), "")      // f 2 runs nothing
	b.put(201, "p", running("e", "f"), "") // e 2 runs f
	w := b.must(422, "POST", "/api/v1/projects/p/workflows/f/publish", `{"version": 1}`)
	if !strings.Contains(w.Body.String(), "p/f -> p/e -> p/f") {
		t.Errorf("publishing closes a circle: %s", w.Body)
	}
	b.must(422, "POST", "/api/v1/projects/p/workflows/f/versions/1/restore", "")
}

func TestSubWorkflowsMayNotBeNestedTooDeep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", running("w0"), "")
	for i := range dag.MaxDepth {
		b.put(201, "p", running(fmt.Sprintf("w%d", i+1), fmt.Sprintf("w%d", i)), "")
	}
	errs := b.put(422, "p", running("w9", "w8"), "")
	if len(errs) != 1 || errs[0].Code != "too_deep" || !strings.Contains(errs[0].Message, "p/w9 -> p/w8") {
		t.Errorf("nine deep: %+v", errs)
	}
}

func TestASubWorkflowTaskIsHeldAgainstItsWorkflow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/other", "")
	child := "name: child\nparams:\n  day: {type: integer}\n  mode: {enum: [full, delta], default: full}\ntasks:\n  - {name: a, type: noop}\n"
	b.put(201, "p", child, "")
	b.put(201, "other", child, "")
	b.put(201, "p", running("draft"), "?publish=false")
	task := func(rest string) string {
		return "name: up\nparams: {d: '1'}\ntasks:\n  - {name: t, type: sub_workflow, " + rest + "}\n"
	}
	for rest, want := range map[string][]string{
		`workflow: child, params: {day: "${d}"}`:                        nil,
		`workflow: child, params: {day: 4}, version: 1, project: other`: nil,
		`workflow: child`: {"tasks[0].params.day required"},
		`workflow: child, params: {day: x, mode: all, color: red}`: {"tasks[0].params.color unknown_param", "tasks[0].params.day wrong_type", "tasks[0].params.mode not_in_enum"},
		`workflow: child, params: {day: 1}, version: 7`:            {"tasks[0].version unknown_workflow"},
		`workflow: child, params: {day: 1}, version: 0`:            {"tasks[0].version out_of_range"},
		`workflow: draft`:                   {"tasks[0].workflow unknown_workflow"},
		`workflow: child, project: nowhere`: {"tasks[0].project unknown_workflow"},
		`workflow: "${d}"`:                  {"tasks[0].workflow invalid_name"},
		`project: p`:                        {"tasks[0].workflow required"},
	} {
		f := decode[Findings](t, b.must(200, "POST", "/api/v1/validate?project=p", task(rest), "Content-Type", yamlType))
		var got []string
		for _, e := range f.Errors {
			got = append(got, e.Field+" "+e.Code)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rest, got, want)
		}
	}
	// Who may not start the other project's workflows may not write a task that does.
	editor := b.person("eva", "p", roleEditor, false)
	save := func() (int, string) {
		w := b.do(asked{method: "PUT", path: "/api/v1/projects/p/workflows/up", body: task("workflow: child, project: other, params: {day: 1}"), token: editor, header: map[string]string{"Content-Type": yamlType}})
		return w.Code, w.Body.String()
	}
	if code, body := save(); code != 422 || !strings.Contains(body, "there is no project") {
		t.Errorf("of a project that she does not see: %d %s", code, body)
	}
	b.grant("eva", "other", roleViewer)
	if code, body := save(); code != 422 || !strings.Contains(body, dag.CodeNotAllowed) {
		t.Errorf("of a project that she only sees: %d %s", code, body)
	}
	b.grant("eva", "other", roleOperator)
	if code, body := save(); code != 201 {
		t.Errorf("of a project where she may start: %d %s", code, body)
	}
}

func (b *bench) grant(user, project string, r role) {
	b.t.Helper()
	u, err := b.store.User(b.t.Context(), user)
	if err == nil {
		var p sql.Project
		if p, err = b.store.Project(b.t.Context(), project); err == nil {
			err = b.store.PutMember(b.t.Context(), sql.Member{ProjectID: p.ID, UserID: u.ID, User: user, Role: r.String()})
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.server.known.forget()
}

func TestAParentAndItsChildNameEachOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.must(201, "PUT", "/api/v1/projects/q", "")
	b.put(201, "q", "name: down\ntasks:\n  - {name: work, type: shell, script: ok, worker_group: gpu}\n", "")
	b.put(201, "p", "name: up\ntasks:\n  - {name: t, type: sub_workflow, workflow: down, project: q}\n", "")
	id := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, b.must(202, "POST", "/api/v1/projects/p/workflows/up/start", "")).InstanceID
	down, err := b.store.Workflow(t.Context(), b.projectID("q"), "down")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := b.db.NextIDs(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	b.drive(id, dag.Begin{}, dag.Launch{Task: 0, Child: &dag.Child{ID: ids, WorkflowID: down.ID, ProjectID: down.ProjectID, Version: 1, Depth: 1, By: "ann"}})
	child := fmt.Sprint(ids)
	b.begin(child)
	in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+child, ""))
	if fmt.Sprint(int64(in.ParentID)) != id || in.ParentTask != "t" {
		t.Errorf("the child names %v %q", in.ParentID, in.ParentTask)
	}
	tasks := decode[List[Task]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/tasks", ""))
	attempts := decode[List[Attempt]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/tasks/t/attempts", ""))
	if tasks.Items[0].ChildID != ID(ids) || attempts.Items[0].ChildID != ID(ids) {
		t.Errorf("the task names %v, its attempt %v, want %d", tasks.Items[0].ChildID, attempts.Items[0].ChildID, ids)
	}
	kids := decode[List[Instance]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/children", ""))
	if len(kids.Items) != 1 || kids.Items[0].ID != ID(ids) {
		t.Errorf("children %+v", kids.Items)
	}
	// The explanation goes down to what the child waits for.
	w := b.must(200, "GET", "/api/v1/instances/"+id+"/explain", "").Body.String()
	for _, part := range []string{"waits for its child instance " + child, "child instance " + child + " of q/down", `no worker of group \"gpu\" is alive`} {
		if !strings.Contains(w, part) {
			t.Errorf("the explanation does not say %s: %s", part, w)
		}
	}
	// To who may not see the child's project it stops above it.
	viewer := b.person("vera", "p", roleViewer, false)
	for _, path := range []string{"/explain", "/children"} {
		got := b.do(asked{method: "GET", path: "/api/v1/instances/" + id + path, token: viewer}).Body.String()
		if strings.Contains(got, "q/down") || strings.Contains(got, "gpu") || strings.Contains(got, `"down"`) {
			t.Errorf("%s shows a stranger %s", path, got)
		}
	}
}

func (b *bench) projectID(name string) int64 {
	b.t.Helper()
	p, err := b.store.Project(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return p.ID
}
