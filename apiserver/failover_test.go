package apiserver

import (
	"strconv"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
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

func TestAFailoverListsWhatItsReaderMaySee(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	n, _ := parseID(id)
	row, err := b.db.SaveFailover(t.Context(), sql.FailoverRow{
		Kind: sql.FailoverMaster, Node: "m1", Incarnation: "a", Master: "m2:b", DetectedAt: 1, Instances: 5,
		Steps: []sql.FailoverStep{{Name: "absent", At: 1}, {Name: "taken", At: 2, Instances: []int64{n, 999_999}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/cluster/failovers/" + strconv.FormatInt(row.ID, 10) + "/instances"
	got := decode[FailoverInstances](t, b.must(200, "GET", path, ""))
	if len(got.Items) != 1 || got.Items[0].ID != ID(n) || got.Hidden != 1 || got.Taken != 5 {
		t.Errorf("an admin is shown %+v", got)
	}
	stranger := b.person("stranger", "", roleNone, false)
	w := b.do(asked{method: "GET", path: path, token: stranger})
	if got := decode[FailoverInstances](t, w); w.Code != 200 || len(got.Items) != 0 || got.Hidden != 2 {
		t.Errorf("who sees no project is shown %d %+v", w.Code, got)
	}
	b.must(404, "GET", "/api/v1/cluster/failovers/999999/instances", "")
	b.must(400, "GET", "/api/v1/cluster/failovers/first/instances", "")
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
