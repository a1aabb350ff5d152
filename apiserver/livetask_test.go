package apiserver

import (
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// live lists tasks as "project task state: code of the first reason".
func (b *bench) live(query, token string) (out []string) {
	b.t.Helper()
	w := b.do(asked{method: "GET", path: "/api/v1/tasks?" + query, token: token})
	if w.Code != 200 {
		b.t.Fatalf("GET /tasks?%s: %d %s", query, w.Code, w.Body)
	}
	for _, x := range decode[List[LiveTask]](b.t, w).Items {
		line := x.Project + " " + x.Task + " " + string(x.State)
		if x.Why != nil {
			line += ":"
			for _, c := range x.Why.Causes {
				line += " " + c.Code
			}
		}
		out = append(out, line)
	}
	return out
}

func TestTasksThatRunOrWaitAreListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.assign(b.seed("alpha")) // extract runs on w1
	b.begin(b.seed("beta"))   // extract is ready
	ann := b.person("ann", "beta", roleViewer, false)
	for _, c := range []struct{ query, token, want string }{
		{"is=running", b.admin, "alpha extract running"},
		{"is=waiting", b.admin, "beta extract ready: no_free_slot"},
		{"is=running", ann, ""},
		{"is=waiting", ann, "beta extract ready: no_free_slot"},
		{"is=running&worker=w1", b.admin, "alpha extract running"},
		{"is=running&worker=w2", b.admin, ""},
		{"is=running&worker_group=default", b.admin, "alpha extract running"},
		{"is=running&worker_group=gpu", b.admin, ""},
		{"is=waiting&task_group=dwh", b.admin, ""},
		{"is=waiting&state=retry_wait", b.admin, ""},
		{"is=running&project=alpha&workflow=daily&task=xtr", b.admin, "alpha extract running"},
		{"is=running&older=1h", b.admin, ""},
	} {
		if got := strings.Join(b.live(c.query, c.token), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	b.clock.advance(2 * 60 * 60 * 1e9)
	for path, field := range map[string]string{
		"/api/v1/tasks?is=running&state=ready": "state", "/api/v1/tasks?older=soon": "older", "/api/v1/tasks?workflow=daily": "workflow",
	} {
		if w := b.must(400, "GET", path, ""); !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
			t.Errorf("%s names no field %s: %s", path, field, w.Body)
		}
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/tasks?project=alpha", token: ann}); w.Code != 404 {
		t.Errorf("tasks of a project that is not hers: %d", w.Code)
	}
}

// ways lists edges as "from kind to name".
func (b *bench) ways(query, token string) string {
	b.t.Helper()
	w := b.do(asked{method: "GET", path: "/api/v1/lineage" + query, token: token})
	if w.Code != 200 {
		b.t.Fatalf("GET /lineage%s: %d %s", query, w.Code, w.Body)
	}
	l := decode[Lineage](b.t, w)
	var out []string
	for _, e := range l.Edges {
		from, to := l.Workflows[e.From], l.Workflows[e.To]
		out = append(out, strings.Join([]string{from.Project + "/" + from.Workflow, e.Kind, to.Project + "/" + to.Workflow, e.Name}, " "))
	}
	return strings.Join(out, ", ")
}

func TestLineageTiesWorkflowsAsTheyArePublished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.assign(b.seed("alpha"))
	b.must(201, "PUT", "/api/v1/projects/beta", "")
	b.waits("beta", "report", "", "alpha.DAILY")
	child := "name: parent\ntasks:\n  - {name: run, type: sub_workflow, workflow: daily}\n  - {name: each, type: dynamic, workflow: daily, over: [{name: day, in: [1]}], needs: [run]}\n"
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/parent", child, "Content-Type", yamlType)
	b.must(201, "PUT", "/api/v1/projects/beta/workflows/report/schedules/after", `{"after":{"workflow":"alpha/daily"}}`)
	const inAlpha = "alpha/parent dynamic alpha/daily each, alpha/parent sub_workflow alpha/daily run"
	const across = "alpha/daily dependent beta/report ready, alpha/daily schedule beta/report after"
	if got := b.ways("", b.admin); got != across+", "+inAlpha {
		t.Errorf("lineage of all is %s", got)
	}
	if got := b.ways("?project=beta", b.admin); got != across {
		t.Errorf("lineage of beta is %s", got)
	}
	// What somebody may not see is not there, on either side of an edge.
	if got := b.ways("", b.person("ann", "alpha", roleViewer, false)); got != inAlpha {
		t.Errorf("lineage for ann is %s", got)
	}
	w := b.must(200, "GET", "/api/v1/lineage?project=beta", "")
	if l := decode[Lineage](t, w); l.Workflows[0].Last == nil || l.Workflows[0].Last.State != dag.InstanceRunning || l.Workflows[1].Last != nil {
		t.Errorf("last instances: %+v", l.Workflows)
	}
	// A new version is read anew.
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/parent", "name: parent\ntasks:\n  - {name: run, type: noop}\n", "Content-Type", yamlType, "If-Match", "*")
	if got := b.ways("?project=alpha", b.admin); got != across {
		t.Errorf("lineage after a new version is %s", got)
	}
}

func TestTheAuditIsForAdmins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.settle()
	owner := b.person("olga", "alpha", roleOwner, false)
	if w := b.do(asked{method: "GET", path: "/api/v1/audit", token: owner}); w.Code != 403 {
		t.Errorf("the audit for an owner: %d", w.Code)
	}
	got := decode[List[AuditEntry]](t, b.must(200, "GET", "/api/v1/audit?actor=admin&action=put-project&object=alpha", ""))
	if len(got.Items) != 1 || got.Items[0].Outcome != "done" || got.Items[0].Object != "project=alpha" {
		t.Errorf("audit of one project: %+v", got.Items)
	}
	if w := b.must(400, "GET", "/api/v1/audit?from=yesterday", ""); !strings.Contains(w.Body.String(), `"field":"from"`) {
		t.Errorf("a wrong moment: %s", w.Body)
	}
}
