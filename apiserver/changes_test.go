package apiserver

import (
	"context"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

const workflowTopic = "workflow:alpha/daily"

func TestStreamOfAWorkflowTellsEveryChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	srv := b.open(t)
	l := b.listen(t, srv, workflowTopic+",instances:alpha", "")
	const one = "/api/v1/projects/alpha/workflows/daily"
	next := func(want ...string) {
		t.Helper()
		for {
			_, kind, data := l.next()
			if kind != "workflow" {
				continue
			}
			for _, w := range append(want, `"topic":"workflow:alpha/daily"`) {
				if !strings.Contains(data, w) {
					t.Errorf("message %s lacks %s", data, w)
				}
			}
			return
		}
	}
	next(`"latest":1`, `"published":1`, `"draft_revision":0`)
	b.must(201, "PUT", one+"/draft", "x", "Content-Type", yamlType)
	next(`"latest":1`, `"draft_revision":1`, `"by":"admin"`)
	b.must(201, "PUT", one+"?publish=false&draft=1", twoTasks+"# two\n", "Content-Type", yamlType, "If-Match", `"1"`)
	next(`"latest":2`, `"published":1`, `"draft_revision":0`)
	b.must(200, "POST", one+"/publish", `{"version":2}`)
	next(`"published":2`)
	// What another process writes is found in the rows.
	p, err := b.store.Project(context.Background(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.db.SaveDraft(context.Background(), sql.SaveDraft{ProjectID: p.ID, Name: "daily", Text: "y", Format: "yaml", By: "eve"}); err != nil {
		t.Fatal(err)
	}
	next(`"draft_revision":2`, `"by":"eve"`)
	b.must(204, "DELETE", one+"/draft", "", "If-Match", "*")
	next(`"draft_revision":0`, `"by":"admin"`)
}

func TestStreamOfAWorkflowWantsTheRightToReadIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.seed("beta")
	other := b.person("otto", "beta", roleOwner, false)
	for topic, want := range map[string]int{workflowTopic: 404, "workflow:nowhere/daily": 404, "workflow:beta/none": 404, "workflow:beta": 400, "workflow": 400} {
		if w := b.do(asked{method: "GET", path: "/api/v1/stream?topics=" + topic, token: other}); w.Code != want {
			t.Errorf("%s = %d, want %d", topic, w.Code, want)
		}
	}
}

func TestPollThatBeganBeforeAPushBringsNothingBack(t *testing.T) {
	t.Parallel()
	f := newFollowers()
	one := f.follow([]int64{7, 8})
	ids, turn := f.wantedIDs()
	f.push(7, WorkflowChange{Latest: 2})
	f.push(9, WorkflowChange{Latest: 2})
	f.polled(ids, []sql.Workflow{{ID: 7, Latest: 1}, {ID: 8, Latest: 5}}, turn)
	got := one.take()
	if len(got) != 2 || got[7].Latest != 2 || got[8].Latest != 5 {
		t.Errorf("told %+v", got)
	}
	ids, turn = f.wantedIDs()
	f.polled(ids, []sql.Workflow{{ID: 7, Latest: 2}}, turn)
	if got = one.take(); len(got) != 1 || !got[8].Gone || got[8].Latest != 5 {
		t.Errorf("told %+v", got)
	}
	f.polled(ids, []sql.Workflow{{ID: 7, Latest: 2}}, turn)
	if got = one.take(); len(got) != 0 {
		t.Errorf("told again %+v", got)
	}
	one.close()
	if ids, _ := f.wantedIDs(); len(ids) != 0 || len(f.known) != 0 {
		t.Errorf("left %v %v", ids, f.known)
	}
}
