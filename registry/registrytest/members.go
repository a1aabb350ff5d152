package registrytest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/registry"
)

func watchSendsTheWholeListFirst(t *testing.T, f Fixture) {
	if v := next(t, watch(t, f.Registry, registry.Master)); len(v.Members) != 0 || v.Wiped {
		t.Errorf("first view of an empty registry = %+v", v)
	}
	join(t, f.Registry, member(registry.Master, "m1"))
	join(t, f.Registry, member(registry.Master, "m2"))
	if v := next(t, watch(t, f.Registry, registry.Master)); !slices.Equal(nodesOf(v), []string{"m1", "m2"}) {
		t.Errorf("first view = %v, want both members", nodesOf(v))
	}
}

func watchFollowsEveryChange(t *testing.T, f Fixture) {
	views := watch(t, f.Registry, registry.Worker)
	first := await(t, views)
	s := join(t, f.Registry, member(registry.Worker, "w1"))
	joined := await(t, views, "w1")
	m := s.Member()
	m.Draining = "going home"
	if err := s.Update(limit(t), m); err != nil {
		t.Fatal(err)
	}
	updated := await(t, views, "w1")
	if got := updated.Members[0].Draining; got != "going home" {
		t.Errorf("after Update the view says %q", got)
	}
	if err := s.Leave(limit(t)); err != nil {
		t.Fatal(err)
	}
	left := await(t, views)
	revisions := []int64{first.Revision, joined.Revision, updated.Revision, left.Revision}
	if !slices.IsSorted(revisions) || len(slices.Compact(revisions)) != 4 {
		t.Errorf("revisions are %v, want them to rise", revisions)
	}
}

func watchGivesSlowReceiversTheNewestOnly(t *testing.T, f Fixture) {
	slow := watch(t, f.Registry, registry.Worker)
	quick := watch(t, f.Registry, registry.Worker)
	s := join(t, f.Registry, member(registry.Worker, "w1"))
	const changes = 50
	for i := range changes {
		m := s.Member()
		m.Slots = i + 1
		if err := s.Update(limit(t), m); err != nil {
			t.Fatal(err)
		}
	}
	for last := 0; last != changes; {
		if v := await(t, quick, "w1"); v.Members[0].Slots < last {
			t.Fatalf("the list went back from %d to %d", last, v.Members[0].Slots)
		} else {
			last = v.Members[0].Slots
		}
	}
	seen := 0
	for last := 0; last != changes; seen++ {
		last = await(t, slow, "w1").Members[0].Slots
	}
	// The slow watch may be behind the quick one, but by no more than what is in flight.
	if seen > changes/2 {
		t.Errorf("a receiver that looked at the end saw %d of %d lists, want few", seen, changes)
	}
}

func watchSeesItsRoleOnly(t *testing.T, f Fixture) {
	masters := watch(t, f.Registry, registry.Master)
	await(t, masters)
	join(t, f.Registry, member(registry.Worker, "n1"))
	await(t, watch(t, f.Registry, registry.Worker), "n1")
	quiet(t, "masters' watch after a worker joined", masters)
	join(t, f.Registry, member(registry.Master, "n1"))
	await(t, masters, "n1")
}

func watchEndsWithItsContext(t *testing.T, f Fixture) {
	ctx, cancel := withCancel(t)
	views, err := f.Registry.Watch(ctx, registry.Master)
	if err != nil {
		t.Fatal(err)
	}
	next(t, views)
	cancel()
	end := limit(t)
	for {
		select {
		case _, ok := <-views:
			if !ok {
				return
			}
		case <-end.Done():
			t.Fatal("the channel did not close")
		}
	}
}

func listsAreSorted(t *testing.T, f Fixture) {
	for _, node := range []string{"b", "c", "a", "B", "a-1"} {
		join(t, f.Registry, member(registry.APIServer, node))
	}
	await(t, watch(t, f.Registry, registry.APIServer), "B", "a", "a-1", "b", "c")
}

func joinKeepsEveryField(t *testing.T, f Fixture) {
	m := registry.Member{
		Role: registry.Master, Node: "m1", Incarnation: "x", Address: "10.0.0.1:7000", Version: "1.2.3",
		Groups: []string{"default", "gpu"}, Labels: map[string]string{"zone": "eu"}, Slots: 7, Weight: 3, StartedAt: 1700000000000, Takeover: true,
	}
	s := join(t, f.Registry, m)
	m.Takeover = false
	if v := await(t, watch(t, f.Registry, registry.Master), "m1"); !reflect.DeepEqual(v.Members[0], m) {
		t.Errorf("the list has %+v, want %+v", v.Members[0], m)
	}
	if got := s.Member(); !reflect.DeepEqual(got, m) {
		t.Errorf("Member() = %+v, want %+v", got, m)
	}
	if s.TTL() < TTL || time.Since(s.LastRenewed()) > TTL || s.Err() != nil {
		t.Errorf("fresh session: TTL %v, renewed %v ago, err %v", s.TTL(), time.Since(s.LastRenewed()), s.Err())
	}
}

func liveNodeIsTaken(t *testing.T, f Fixture) {
	first := join(t, f.Registry, member(registry.Worker, "w1"))
	second := member(registry.Worker, "w1")
	second.Incarnation = "w1-2"
	_, err := f.Registry.Join(limit(t), second, TTL)
	wantErr(t, "Join as a live node", err, registry.ErrNodeTaken)
	v := await(t, watch(t, f.Registry, registry.Worker), "w1")
	if v.Members[0].Incarnation != "w1-1" || first.Err() != nil {
		t.Errorf("the refused join left %+v, first session %v", v.Members[0], first.Err())
	}
	// The same node in another role is another member.
	join(t, f.Registry, member(registry.Master, "w1"))
}

func takeoverEndsThePredecessorAtOnce(t *testing.T, f Fixture) {
	old := join(t, f.Registry, member(registry.Master, "m1"))
	held := must[registry.Lock](t)(f.Registry.Lock(limit(t), old, "layout"))
	must[int64](t)(f.Registry.Put(limit(t), "acks/m1", nil, registry.If{Bound: old}))
	heir := member(registry.Master, "m1")
	heir.Incarnation, heir.Takeover = "m1-2", true
	started := time.Now()
	s := join(t, f.Registry, heir)
	if took := time.Since(started); took >= TTL {
		t.Errorf("the takeover took %v, as long as a lease", took)
	}
	if v := await(t, watch(t, f.Registry, registry.Master), "m1"); v.Members[0].Incarnation != "m1-2" {
		t.Errorf("the list has %s, want the heir", v.Members[0].Incarnation)
	}
	_, err := f.Registry.Get(limit(t), "acks/m1")
	wantErr(t, "Get of the predecessor's key", err, registry.ErrNotFound)
	must[registry.Lock](t)(f.Registry.Lock(limit(t), s, "layout"))
	closes(t, "the predecessor's Lost", old.Lost())
	closes(t, "its lock's Lost", held.Lost())
	wantErr(t, "the predecessor's Err", old.Err(), registry.ErrSessionLost)
	wantErr(t, "Update by the predecessor", old.Update(limit(t), old.Member()), registry.ErrSessionLost)
	_, err = f.Registry.Put(limit(t), "acks/m1", nil, registry.If{Bound: old})
	wantErr(t, "Put by the predecessor", err, registry.ErrSessionLost)
	if err := old.Leave(limit(t)); err != nil {
		t.Errorf("Leave of the predecessor = %v", err)
	}
	if v := next(t, watch(t, f.Registry, registry.Master)); !slices.Equal(nodesOf(v), []string{"m1"}) || s.Err() != nil {
		t.Errorf("after the predecessor's Leave: %v, heir %v", nodesOf(v), s.Err())
	}
}

func sameIncarnationReplacesItself(t *testing.T, f Fixture) {
	join(t, f.Registry, member(registry.Master, "m1"))
	again := member(registry.Master, "m1")
	again.Version = "2"
	s := join(t, f.Registry, again)
	v := await(t, watch(t, f.Registry, registry.Master), "m1")
	if v.Members[0].Version != "2" || s.Err() != nil {
		t.Errorf("the list has %+v, session %v", v.Members[0], s.Err())
	}
}

func leaveIsSeenAtOnce(t *testing.T, f Fixture) {
	views := watch(t, f.Registry, registry.Master)
	s := join(t, f.Registry, member(registry.Master, "m1"))
	await(t, views, "m1")
	started := time.Now()
	for range 2 {
		if err := s.Leave(limit(t)); err != nil {
			t.Fatal(err)
		}
	}
	await(t, views)
	if took := time.Since(started); took >= TTL {
		t.Errorf("the leave was seen after %v, as long as a lease", took)
	}
	closes(t, "Lost after Leave", s.Lost())
	wantErr(t, "Err after Leave", s.Err(), registry.ErrLeft)
	join(t, f.Registry, member(registry.Master, "m1"))
}

func abandonedPlacesRunOut(t *testing.T, f Fixture) {
	views := watch(t, f.Registry, registry.Worker)
	s := join(t, f.Registry, member(registry.Worker, "w1"))
	await(t, views, "w1")
	for range 2 {
		s.Abandon()
	}
	closes(t, "Lost after Abandon", s.Lost())
	wantErr(t, "Err after Abandon", s.Err(), registry.ErrLeft)
	renewed := s.LastRenewed()
	await(t, views)
	// The server may count from later than we do, and never from earlier.
	if ago := time.Since(renewed); ago < s.TTL() {
		t.Errorf("the place was gone %v after its last renewal, want no less than %v", ago, s.TTL())
	}
	join(t, f.Registry, member(registry.Worker, "w1"))
}

func lostClosesWhenTheLeaseIsGone(t *testing.T, f Fixture) {
	views := watch(t, f.Registry, registry.Master)
	s := join(t, f.Registry, member(registry.Master, "m1"))
	other := join(t, f.Registry, member(registry.Master, "m2"))
	await(t, views, "m1", "m2")
	f.Expire(t, registry.Master, "m1")
	await(t, views, "m2")
	closes(t, "Lost", s.Lost())
	wantErr(t, "Err", s.Err(), registry.ErrSessionLost)
	if other.Err() != nil {
		t.Errorf("the other session = %v", other.Err())
	}
	wantErr(t, "Update of a lost session", s.Update(limit(t), s.Member()), registry.ErrSessionLost)
	_, err := f.Registry.Lock(limit(t), s, "l")
	wantErr(t, "Lock by a lost session", err, registry.ErrSessionLost)
	join(t, f.Registry, member(registry.Master, "m1"))
	await(t, views, "m1", "m2")
}

func sessionsOutliveTheirLease(t *testing.T, f Fixture) {
	s := join(t, f.Registry, member(registry.Master, "m1"))
	timer := time.NewTimer(s.TTL() + s.TTL()/2)
	defer timer.Stop()
	select {
	case <-s.Lost():
		t.Fatalf("lost: %v", s.Err())
	case <-timer.C:
	}
	if ago := time.Since(s.LastRenewed()); ago > s.TTL() {
		t.Errorf("last renewed %v ago, the lease is %v", ago, s.TTL())
	}
	await(t, watch(t, f.Registry, registry.Master), "m1")
}

func updateNeedsTheSameProcess(t *testing.T, f Fixture) {
	s := join(t, f.Registry, member(registry.Worker, "w1"))
	for _, change := range []func(*registry.Member){
		func(m *registry.Member) { m.Node = "w2" },
		func(m *registry.Member) { m.Role = registry.Master },
		func(m *registry.Member) { m.Incarnation = "w1-2" },
	} {
		m := s.Member()
		change(&m)
		wantErr(t, "Update to another process", s.Update(limit(t), m), registry.ErrInvalid)
	}
}

func unreadableRecordIsNoMember(t *testing.T, f Fixture) {
	views := watch(t, f.Registry, registry.Master)
	join(t, f.Registry, member(registry.Master, "m1"))
	f.Corrupt(t, registry.Master, "m2", "not JSON")
	f.Corrupt(t, registry.Master, "m3", `{"role":"master","node":"m9","incarnation":"x"}`)
	f.Corrupt(t, registry.Master, "m4", `{"role":"worker","node":"m4","incarnation":"x"}`)
	// A newer version may write what this one does not know.
	f.Corrupt(t, registry.Master, "m5", `{"role":"master","node":"m5","incarnation":"x","wings":{"n":2}}`)
	await(t, views, "m1", "m5")
	s := join(t, f.Registry, member(registry.Master, "m2"))
	await(t, views, "m1", "m2", "m5")
	if s.Err() != nil {
		t.Errorf("the node behind an unreadable record = %v", s.Err())
	}
}
