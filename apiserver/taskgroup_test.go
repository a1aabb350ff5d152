package apiserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const inGroup = "name: daily\ntasks:\n  - {name: extract, type: noop, task_group: {name: cluster, weight: 2}}\n"

func TestTaskGroupsAreMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const path = "/api/v1/projects/alpha/task-groups"
	made := decode[TaskGroup](t, b.must(201, "PUT", path+"/cluster", `{"size": 3, "description": "the big one"}`))
	if made.Size != 3 || made.Used != 0 || made.Name != "cluster" {
		t.Errorf("made %+v", made)
	}
	if got := decode[TaskGroup](t, b.must(200, "PUT", path+"/cluster", `{"size": 0}`)); got.Size != 0 || got.Description != "" {
		t.Errorf("changed to %+v", got)
	}
	if got := b.must(409, "PUT", path+"/Cluster", `{"size": 1}`).Body.String(); !strings.Contains(got, "name_taken") {
		t.Errorf("the name in another spelling: %s", got)
	}
	for body, want := range map[string]string{`{"size": -1}`: "size", `{}`: "size", `{"size": 1, "color": "red"}`: "color", `{"size": "x"}`: "size"} {
		if got := b.must(422, "PUT", path+"/other", body).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	b.must(422, "PUT", path+"/.hidden", `{"size": 1}`)
	if got := decode[List[TaskGroup]](t, b.must(200, "GET", path, "")); len(got.Items) != 1 {
		t.Errorf("listed %+v", got)
	}
	b.must(409, "POST", path+"/cluster/force", `{"instance_id": "99", "task": "extract"}`)
	b.must(404, "POST", path+"/nothing/force", `{"instance_id": "99", "task": "extract"}`)
	b.must(204, "DELETE", path+"/cluster", "")
	b.must(404, "DELETE", path+"/cluster", "")
	b.must(404, "GET", path+"/cluster", "")
}

func TestATaskThatWaitsForItsGroupSaysWhoHasThePlaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	warned := b.must(200, "POST", "/api/v1/validate?project=alpha", inGroup, "Content-Type", "application/yaml").Body.String()
	if !strings.Contains(warned, "no_task_group") {
		t.Errorf("validated without such a group: %s", warned)
	}
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", inGroup, "Content-Type", "application/yaml")
	var ids []string
	for range 3 {
		w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", "")
		id := decode[struct {
			InstanceID string `json:"instance_id"`
		}](t, w).InstanceID
		b.begin(id)
		ids = append(ids, id)
	}
	cause := func(id string) Explanation {
		t.Helper()
		why := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+id+"/explain?task=extract", ""))
		for _, c := range why.Causes {
			if strings.Contains(c.Code, "task_group") {
				return c
			}
		}
		return Explanation{}
	}
	const group = "/api/v1/projects/alpha/task-groups/cluster"
	if got := cause(ids[0]); got.Code != "no_task_group" {
		t.Errorf("without such a group: %+v", got)
	}
	b.must(201, "PUT", group, `{"size": 0}`)
	if got := cause(ids[0]); got.Code != "task_group_stopped" {
		t.Errorf("with size 0: %+v", got)
	}
	b.must(200, "PUT", group, `{"size": 1}`)
	if got := cause(ids[0]); got.Code != "task_group_small" {
		t.Errorf("with a size below its weight: %+v", got)
	}
	b.must(200, "PUT", group, `{"size": 3}`)
	for _, id := range ids {
		n, _ := parseID(id)
		row, err := b.db.Instance(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.db.EnterGroups(t.Context(), dag.MillisOf(time.Now()), []sql.TaskEntry{{
			InstanceID: n, Owner: row.Owner, Epoch: row.OwnerEpoch, ProjectID: row.ProjectID, Group: "cluster", Weight: 2, ReadyAt: dag.Millis(n),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := cause(ids[0]); got.Code != "" {
		t.Errorf("the one that has its places is explained by %+v", got)
	}
	got := cause(ids[2])
	if got.Code != "task_group_full" || got.Args["ahead"] != "1" || got.Args["used"] != "2" || len(got.Causes) != 1 || got.Causes[0].Args["instance"] != ids[0] {
		t.Errorf("the last one is explained by %+v", got)
	}
	forced := decode[TaskGroupDetail](t, b.must(202, "POST", group+"/force", `{"instance_id": "`+ids[2]+`", "task": "extract", "reason": "the report is due"}`))
	if !slices.ContainsFunc(forced.Tasks, func(x GroupTask) bool { return x.ForcedBy == adminName && x.Why == "the report is due" }) {
		t.Errorf("nobody is named for the force: %+v", forced.Tasks)
	}
	if forced.Used != 4 || forced.Waiting != 1 || len(forced.Tasks) != 3 {
		t.Errorf("after force: %+v", forced)
	}
	b.must(409, "DELETE", group, "")
}

func TestARateOfATaskGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const group = "/api/v1/projects/alpha/task-groups/cluster"
	for body, field := range map[string]string{
		`{"size": 3, "rate": {"tasks": 0, "per": "1m"}}`:     "tasks",
		`{"size": 3, "rate": {"tasks": 10001, "per": "1m"}}`: "tasks",
		`{"size": 3, "rate": {"tasks": 5, "per": "often"}}`:  "rate.per",
		`{"size": 3, "rate": {"tasks": 5, "per": "900ms"}}`:  "rate.per",
		`{"size": 3, "rate": {"tasks": 5, "per": "25h"}}`:    "rate.per",
		`{"size": 3, "rate": {"tasks": 5}}`:                  "per",
	} {
		if w := b.must(422, "PUT", group, body); !strings.Contains(w.Body.String(), field) {
			t.Errorf("%s: %s does not name %s", body, w.Body, field)
		}
	}
	b.must(404, "GET", group, "") // nothing was saved
	if g := decode[TaskGroup](t, b.must(201, "PUT", group, `{"size": 3, "rate": {"tasks": 1, "per": "60s"}}`)); g.Rate == nil || g.Rate.Tasks != 1 || g.Rate.Per != "1m" {
		t.Fatalf("the group is %+v", g)
	}

	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", strings.Replace(twoTasks, "  - name: extract\n", "  - name: extract\n    task_group: cluster\n", 1), "Content-Type", "application/yaml")
	var ids []string
	for range 2 {
		id := b.again("alpha")
		b.begin(id)
		n, _ := parseID(id)
		row, err := b.db.Instance(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.db.EnterGroups(t.Context(), dag.MillisOf(time.Now()), []sql.TaskEntry{{
			InstanceID: n, Owner: row.Owner, Epoch: row.OwnerEpoch, ProjectID: row.ProjectID, Group: "cluster", Weight: 1, ReadyAt: dag.Millis(n),
		}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	g := decode[TaskGroupDetail](t, b.must(200, "GET", group, ""))
	if g.Used != 1 || g.Waiting != 1 || g.Started != 1 || g.NextAt == 0 {
		t.Errorf("the group is %+v", g)
	}
	why := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+ids[1]+"/explain?task=extract", ""))
	if len(why.Causes) != 1 || why.Causes[0].Code != "task_group_rate" || why.Causes[0].Args["per"] != "1m" || why.Causes[0].Args["at"] == "" {
		t.Errorf("the second is explained by %+v", why)
	}
	if g := decode[TaskGroup](t, b.must(200, "PUT", group, `{"size": 3}`)); g.Rate != nil {
		t.Errorf("without a rate the group has %+v", g.Rate)
	}
}
