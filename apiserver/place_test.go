package apiserver

import (
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// TestAnInstanceThatWaitsItsTurnSaysWhoHoldsThePlaces lets three instances of a serial workflow enter, and
// asks the last one and a task of it.
func TestAnInstanceThatWaitsItsTurnSaysWhoHoldsThePlaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", "concurrency: {limit: 1}\n"+twoTasks, "Content-Type", "application/yaml")
	var ids []string
	for range 3 {
		w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", "")
		ids = append(ids, decode[struct {
			InstanceID string `json:"instance_id"`
		}](t, w).InstanceID)
	}
	for i, id := range ids {
		b.drive(id) // claimed, and no more
		n, _ := parseID(id)
		row, err := b.db.Instance(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		answers, _, err := b.db.Enter(t.Context(), []sql.Entry{{
			InstanceID: n, Owner: row.Owner, Epoch: row.OwnerEpoch, WorkflowID: row.WorkflowID, Priority: row.Priority, First: true,
		}})
		if err != nil || (answers[0] == sql.Admitted) != (i == 0) {
			t.Fatalf("%s enters: %v, %v", id, answers, err)
		}
		plan, err := planOf(sql.Version{Text: "concurrency: {limit: 1}\n" + twoTasks, Format: "yaml", WorkflowID: row.WorkflowID, Version: 1})
		if err != nil {
			t.Fatal(err)
		}
		in := dag.NewInstance(plan, n, dag.StartOptions{})
		var fx dag.Effects
		if i == 0 {
			fx = in.Step(dag.Begin{}, 5)
		} else {
			fx = in.Step(dag.Queue{}, 5)
		}
		if errs := b.db.Commit(t.Context(), []sql.Transition{{Instance: in, Plan: plan, Epoch: row.OwnerEpoch, Effects: &fx, Release: i > 0, At: 5}}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	why := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+ids[2]+"/explain", ""))
	if why.Code != "serial_wait" || len(why.Causes) != 2 {
		t.Fatalf("explained as %+v", why)
	}
	holder, ahead := why.Causes[0], why.Causes[1]
	if holder.Code != "holds_place" || holder.Args["instance"] != ids[0] || holder.Args["state"] != "running" || !strings.Contains(holder.Text, ids[0]) {
		t.Errorf("the holder: %+v", holder)
	}
	if ahead.Code != "place_ahead" || ahead.Args["count"] != "1" {
		t.Errorf("who is ahead: %+v", ahead)
	}
	of := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+ids[2]+"/explain?task=extract", ""))
	if of.Code != "waiting" || len(of.Causes) != 1 || len(of.Causes[0].Causes) != 2 {
		t.Errorf("its task is explained as %+v", of)
	}
	b.must(202, "POST", "/api/v1/instances/"+ids[2]+"/stop", "")
	b.must(409, "DELETE", "/api/v1/projects/alpha/workflows/daily", "")
}
