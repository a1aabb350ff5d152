package apiserver

import (
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// rebalance puts a layout into the history.
func (b *bench) rebalance() {
	b.t.Helper()
	err := b.db.SaveRebalance(b.t.Context(), sql.Rebalance{
		Epoch: 3, Coordinator: "m1:a1", Cause: "m2 joined", StartedAt: 500, CommittedAt: 1000, Restarts: 1, Moved: 64,
		Members:  []sql.RebalanceMember{{Node: "m1", Incarnation: "a1", Weight: 3, Slots: 192}, {Node: "m2", Incarnation: "a2", Weight: 1, Slots: 64}},
		Excluded: []sql.RebalanceMember{{Node: "m3", Incarnation: "a3", Weight: 1}},
		Steps: []sql.RebalanceStep{
			{Epoch: 2, What: "prepare", Note: "3 members", At: 500},
			{Epoch: 2, What: "ack", Node: "m1", At: 510},
			{Epoch: 2, What: "exclude", Node: "m3", Note: "no ack to 3 tries", At: 900},
			{Epoch: 3, What: "prepare", Note: "2 members", At: 910},
			{Epoch: 3, What: "commit", At: 1000},
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// unborn is a cluster in which no layout was made yet.
type unborn struct{ fixedCluster }

func (unborn) Slots() SlotLayout { return SlotLayout{Owners: []int{-1, -1}} }

func TestSlotsBeforeTheFirstLayoutAreNobodys(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Cluster = unborn{} })
	b.signInAs(adminName, b.pass)
	got := decode[Slots](t, b.must(200, "GET", "/api/v1/cluster/slots", ""))
	if got.State != "none" || got.Count != 2 || len(got.Owners) != 1 || got.Owners[0].Master != "" || len(got.Rebalances) != 0 {
		t.Errorf("slots are %+v, want two that are nobody's", got)
	}
	if len(got.Masters) != 1 || got.Masters[0].State != "waiting" {
		t.Errorf("masters are %+v, want the one that is alive to be waiting", got.Masters)
	}
}
