package sqltest

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// takeSome claims n commands of the slots and returns their projects.
func takeSome(b *bench, slots []bool, n int, after sql.CommandCursor) (projects []int64, next sql.CommandCursor) {
	b.t.Helper()
	commands, next, err := b.Commands(b.ctx, slots, n, after)
	b.must(err)
	claims := make([]sql.Claim, len(commands))
	for i, c := range commands {
		claims[i] = sql.Claim{Command: c, Owner: "m1:a", LayoutEpoch: 9}
		projects = append(projects, c.ProjectID)
	}
	_, err = b.Claim(b.ctx, claims)
	b.must(err)
	return projects, next
}

func projectsTakeTurns(t *testing.T, b *bench) {
	of := func(project int64) func(*sql.Start) { return func(s *sql.Start) { s.ProjectID = project } }
	for range 60 {
		b.begin(of(101))
	}
	for range 3 {
		b.begin(of(102))
	}
	b.begin(of(103))
	count := func(list []int64) string {
		n := map[int64]int{}
		for _, p := range list {
			n[p]++
		}
		return fmt.Sprint(n)
	}
	got, next := takeSome(b, nil, 10, sql.CommandCursor{})
	if count(got) != "map[101:6 102:3 103:1]" {
		t.Errorf("10 of 64 commands are of %s, want all of the small projects", count(got))
	}
	for i := range 9 {
		b.begin(of(200 + int64(i)))
	}
	// More projects than commands are wanted: those that had no turn come next.
	var all []int64
	for range 5 {
		got, next = takeSome(b, nil, 2, next)
		all = append(all, got...)
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n != 10 {
		t.Errorf("five times two commands are of %v, want one of each of 10 projects", all)
	}
	rest, next := takeSome(b, nil, 100, next)
	if len(rest) != 53 || next != (sql.CommandCursor{}) {
		t.Errorf("%d commands were left, and then %v; want 53 and nothing", len(rest), next)
	}
}

func lentCommandsAreAnyones(t *testing.T, b *bench) {
	c, err := b.Cluster(b.ctx)
	b.must(err)
	ids := []int64{b.begin(), b.begin(), b.begin()}
	slots := make([]bool, c.Slots)
	slots[int(ids[0])%c.Slots] = true
	b.must(b.Lend(b.ctx, ids[1:2]))
	b.must(b.Lend(b.ctx, []int64{ids[1], 1 << 40}))
	b.must(b.Lend(b.ctx, nil))
	for _, test := range []struct {
		slots []bool
		want  []int64
	}{{slots, ids[:2]}, {make([]bool, c.Slots), ids[1:2]}, {nil, ids}} {
		got, _, err := b.Commands(b.ctx, test.slots, 10, sql.CommandCursor{})
		b.must(err)
		var have []int64
		for _, x := range got {
			have = append(have, x.ID)
			if x.Lent != (x.ID == ids[1]) {
				t.Errorf("command %d: lent %v", x.ID, x.Lent)
			}
		}
		if !slices.Equal(have, test.want) {
			t.Errorf("commands %v, want %v", have, test.want)
		}
	}
}

func claimsKeepTheirLayout(t *testing.T, b *bench) {
	id := b.begin()
	takeSome(b, nil, 1, sql.CommandCursor{})
	if in, err := b.Instance(b.ctx, id); err != nil || in.LayoutEpoch != 9 {
		t.Errorf("layout epoch %d, %v; want that of the claim", in.LayoutEpoch, err)
	}
}

func layoutEpochsOnlyRise(t *testing.T, b *bench) {
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var mu sync.Mutex
	var all []int64
	race(20, func(i int) {
		e, err := stores[i%2].NextLayout(b.ctx, 5)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, e)
	})
	slices.Sort(all)
	if all[0] != 5 || all[19] != 24 || len(slices.Compact(all)) != 20 {
		t.Errorf("epochs %v, want 5 to 24", all)
	}
	if e, err := b.NextLayout(b.ctx, 100); err != nil || e != 100 {
		t.Errorf("epoch %d, %v after 99 was seen; want 100", e, err)
	}
	if e, err := b.LayoutFloor(b.ctx); err != nil || e != 100 {
		t.Errorf("floor %d, %v; want 100", e, err)
	}
}

func rebalancesAreKept(t *testing.T, b *bench) {
	r := sql.Rebalance{
		Epoch: 1, Coordinator: "m1:a", Cause: "m2 joined", StartedAt: 10, CommittedAt: 20, Restarts: 1, Moved: 128,
		Members:  []sql.RebalanceMember{{Node: "m1", Incarnation: "a", Weight: 2, Slots: 256}},
		Excluded: []sql.RebalanceMember{{Node: "m2", Incarnation: "b", Weight: 1}},
		Steps:    []sql.RebalanceStep{{Epoch: 1, What: "ack", Node: "m1", Note: "x", At: 15}},
	}
	b.must(b.SaveRebalance(b.ctx, r))
	again := r
	again.Cause = "another"
	b.must(b.SaveRebalance(b.ctx, again))
	if got, err := b.Rebalances(b.ctx, 10); err != nil || !reflect.DeepEqual(got, []sql.Rebalance{r}) {
		t.Errorf("rebalances %+v, %v; want %+v", got, err, r)
	}
	for _, epoch := range []int64{2, 900, 1001} {
		r.Epoch = epoch
		b.must(b.SaveRebalance(b.ctx, r))
	}
	got, err := b.Rebalances(b.ctx, 2)
	b.must(err)
	if len(got) != 2 || got[0].Epoch != 1001 || got[1].Epoch != 900 {
		t.Errorf("the last two are %+v, want 1001 and 900", got)
	}
	if all, err := b.Rebalances(b.ctx, 10); err != nil || len(all) != 3 {
		t.Errorf("%d are kept, %v; want the first dropped", len(all), err)
	}
}
