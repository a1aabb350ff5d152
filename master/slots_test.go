package master

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/intake"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/sql"
)

// layout waits until the history's last layout has n members, and returns it.
func (s *site) layout(n int) sql.Rebalance {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		last, err := s.store.Rebalances(context.Background(), 1)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(last) == 1 && len(last[0].Members) == n {
			return last[0]
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the last layout is %+v, want one of %d members", last, n)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestMastersDivideTheSlotsAndClaimInTheNameOfTheLayout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m1, addr1, _ := s.master("m1", "i1")
	first := s.layout(1)
	if first.Members[0].Slots != 256 || first.Cause != "the first layout" {
		t.Errorf("the first layout is %+v, want all slots for m1", first)
	}
	m2, addr2, leave := s.master("m2", "i2")
	second := s.layout(2)
	for _, m := range second.Members {
		if m.Slots < 64 || m.Slots > 192 {
			t.Errorf("%s has %d of 256 slots, want about a half", m.Node, m.Slots)
		}
	}
	if second.Epoch <= first.Epoch || second.Cause != "m2 joined" || second.Moved != second.Members[1].Slots {
		t.Errorf("the second layout is %+v, want a later one that moved m2's slots alone", second)
	}
	for i, addr := range []string{addr1, addr2} {
		s.join(&worker{node: fmt.Sprint("w", i), incarnation: "x", groups: []string{"default"}, slots: 8, run: succeed}, addr)
	}
	w := s.save("name: one\ntasks:\n  - {name: a, type: noop}\n")
	for range 20 {
		id := s.start(w)
		m1.intake.Hint()
		m2.intake.Hint()
		if row := s.waitFor(id, dag.InstanceSuccess); row.LayoutEpoch != second.Epoch {
			t.Errorf("instance %d was claimed in the name of layout %d, want %d", id, row.LayoutEpoch, second.Epoch)
		}
	}
	leave()
	third := s.layout(1)
	if third.Cause != "m2 left" || third.Members[0].Node != "m1" {
		t.Errorf("the third layout is %+v, want m1 alone because m2 left", third)
	}
}

// taken notes which instances an intake was given.
type taken struct {
	mu   *sync.Mutex
	ids  map[int64][]string
	who  string
	room int

	store *sql.Store
}

func (t *taken) Room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.room
}

func (t *taken) Admit(claimed []sql.Claimed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range claimed {
		t.ids[c.Instance.ID] = append(t.ids[c.Instance.ID], fmt.Sprintf("%s (epoch %d)", t.who, c.Instance.OwnerEpoch))
		t.room--
	}
}

// Start claims as an engine would, without a first turn.
func (t *taken) Start(list []sql.Beginning, done func([]error)) {
	claims := make([]sql.Claim, len(list))
	for i := range list {
		claims[i] = list[i].Claim
	}
	claimed, err := t.store.Claim(context.Background(), claims)
	if err != nil {
		panic(err)
	}
	t.Admit(claimed)
	errs := make([]error, len(list))
	for i := range list {
		if !slices.ContainsFunc(claimed, func(c sql.Claimed) bool { return c.Instance.ID == list[i].Instance.ID }) {
			errs[i] = sql.ErrNotOwner
		}
	}
	done(errs)
}

func allSlots() []bool {
	owned := make([]bool, 256)
	for i := range owned {
		owned[i] = true
	}
	return owned
}

// intakes runs n of them over one store, each with a table that the test opens.
func (s *site) intakes(n, room int) (tables []*slot.Table, all []*taken, hint func()) {
	s.t.Helper()
	var mu sync.Mutex
	ids := map[int64][]string{}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var list []*intake.Intake
	for i := range n {
		who := &taken{mu: &mu, ids: ids, who: fmt.Sprint("m", i), room: room, store: s.store}
		table := slot.NewTable(256)
		in := intake.New(intake.Config{
			Owner: rpc.Process{Node: who.who, Incarnation: "i"}.String(), Store: s.store, Slots: table, Instances: who, Logger: hclog.NewNullLogger(),
		})
		running.Go(func() { _ = in.Run(ctx) })
		tables, all, list = append(tables, table), append(all, who), append(list, in)
	}
	s.t.Cleanup(func() { stop(); running.Wait() })
	return tables, all, func() {
		for _, in := range list {
			in.Hint()
		}
	}
}

// waitTaken waits until n instances are taken.
func waitTaken(t *testing.T, who *taken, n int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		who.mu.Lock()
		have := len(who.ids)
		who.mu.Unlock()
		if have == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d commands were taken", have, n)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// TestWithoutTheBarrierNothingIsTakenTwice lets four masters own all slots at the same time, as no
// layout ever would.
func TestWithoutTheBarrierNothingIsTakenTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tables, all, hint := s.intakes(4, 10_000)
	for i, table := range tables {
		table.Open(allSlots(), int64(i+1), true)
	}
	const n = 400
	w := s.save("name: one\ntasks:\n  - {name: a, type: noop}\n")
	var ids []int64
	for range n {
		ids = append(ids, s.start(w))
		hint()
	}
	waitTaken(t, all[0], n)
	for _, id := range ids {
		if by := all[0].ids[id]; len(by) != 1 || by[0][3:] != "(epoch 1)" {
			t.Errorf("instance %d was taken by %v, want one master, once", id, by)
		}
	}
}

func TestAFullMastersCommandsAreTakenByOneWithRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tables, all, _ := s.intakes(2, 1000)
	all[0].mu.Lock()
	all[0].room = 5
	all[0].mu.Unlock()
	w := s.save("name: one\ntasks:\n  - {name: a, type: noop}\n")
	for range 30 {
		s.start(w)
	}
	tables[0].Open(allSlots(), 1, true)        // owns everything, and has room for five
	tables[1].Open(make([]bool, 256), 1, true) // owns nothing, and has room
	waitTaken(t, all[0], 30)
	owners, err := s.store.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(owners, func(a, b sql.OwnerCount) int { return a.Instances - b.Instances })
	if len(owners) != 2 || owners[0].Owner != "m0:i" || owners[0].Instances != 5 || owners[1].Instances != 25 {
		t.Errorf("owners are %+v, want 5 for m0, which is full, and the rest for m1", owners)
	}
}
