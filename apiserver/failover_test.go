package apiserver

import (
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestAQuarantinedInstanceIsLetGoOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.assign(id)
	b.signInAs(adminName, b.pass)
	path := "/api/v1/instances/" + id + "/release-quarantine"
	if got := b.must(409, "POST", path, "").Body.String(); !strings.Contains(got, "wrong_state") {
		t.Errorf("release of one that runs: %s", got)
	}
	n, _ := parseID(id)
	row, err := b.store.Instance(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.db.Quarantine(t.Context(), n, row.OwnerEpoch, dag.ReasonCrashed, "3 masters ended"); err != nil {
		t.Fatal(err)
	}
	released := decode[Instance](t, b.must(202, "POST", path, ""))
	if released.State != row.State {
		t.Errorf("released it is %s, want %s as before", released.State, row.State)
	}
	b.must(409, "POST", path, "")
	b.must(404, "POST", "/api/v1/instances/999999/release-quarantine", "")
}

func TestFailoversAndRecoveriesOfAnUnknownKindAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.signInAs(adminName, b.pass)
	b.must(400, "GET", "/api/v1/cluster/failovers?kind=apiserver", "")
	b.must(400, "GET", "/api/v1/cluster/failovers?cursor=nothing", "")
	b.must(400, "GET", "/api/v1/cluster/recoveries?state=lost", "")
	b.must(400, "GET", "/api/v1/cluster/recoveries?cursor=nothing", "")
}
