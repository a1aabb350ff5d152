// Package registrytest is the contract of package registry as tests. Every
// implementation runs it; what is true of one alone is tested beside it. It is for
// tests only and waits for signals with deadlines, never for time to pass.
package registrytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/registry"
)

const (
	// TTL is the lease that the suite asks for, the shortest that every server grants.
	TTL = 2 * time.Second
	// patience is how long anything may take before the test fails.
	patience = 15 * time.Second
	// calm is how long the suite watches that nothing happens.
	calm = 50 * time.Millisecond
)

// Fixture is a fresh registry with means that its users do not have.
type Fixture struct {
	Registry registry.Registry
	// Expire ends the lease of a member without asking its session.
	Expire func(t *testing.T, role registry.Role, node string)
	// Corrupt writes raw text in place of, or as, a member's record.
	Corrupt func(t *testing.T, role registry.Role, node, text string)
}

// Run tests one implementation. Open must give a registry that no other test sees.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Fixture)
	}{
		{"WatchSendsTheWholeListFirst", watchSendsTheWholeListFirst},
		{"WatchFollowsEveryChange", watchFollowsEveryChange},
		{"WatchGivesSlowReceiversTheNewestOnly", watchGivesSlowReceiversTheNewestOnly},
		{"WatchSeesItsRoleOnly", watchSeesItsRoleOnly},
		{"WatchEndsWithItsContext", watchEndsWithItsContext},
		{"ListsAreSorted", listsAreSorted},
		{"MastersJoinWithAllTheirFields", joinKeepsEveryField},
		{"LiveNodeIsTaken", liveNodeIsTaken},
		{"TakeoverEndsThePredecessorAtOnce", takeoverEndsThePredecessorAtOnce},
		{"SameIncarnationReplacesItself", sameIncarnationReplacesItself},
		{"LeaveIsSeenAtOnceAndTwiceIsOnce", leaveIsSeenAtOnce},
		{"AbandonedPlacesRunOut", abandonedPlacesRunOut},
		{"LostClosesWhenTheLeaseIsGone", lostClosesWhenTheLeaseIsGone},
		{"SessionsOutliveTheirLeaseWhileRenewed", sessionsOutliveTheirLease},
		{"UpdateNeedsTheSameProcess", updateNeedsTheSameProcess},
		{"UnreadableRecordIsNoMember", unreadableRecordIsNoMember},
		{"BadInputIsInvalid", badInputIsInvalid},
		{"LockIsHeldByOne", lockIsHeldByOne},
		{"LockPassesOnWhenItsHolderDies", lockPassesOnWhenItsHolderDies},
		{"LockWaitEndsWithItsContext", lockWaitEndsWithItsContext},
		{"LockWaitEndsWithItsSession", lockWaitEndsWithItsSession},
		{"OldHolderCannotWrite", oldHolderCannotWrite},
		{"PutComparesRevisions", putComparesRevisions},
		{"PutComparesOtherKeys", putComparesOtherKeys},
		{"DeleteCompares", deleteCompares},
		{"BoundKeysGoWithTheirSession", boundKeysGoWithTheirSession},
		{"FollowSendsWholeFolders", followSendsWholeFolders},
		{"RacingCreatorsHaveOneWinner", racingCreatorsHaveOneWinner},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

func member(role registry.Role, node string) registry.Member {
	return registry.Member{Role: role, Node: node, Incarnation: node + "-1", Address: "127.0.0.1:1", StartedAt: 1}
}

func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// join makes a member that leaves when the test ends.
func join(t *testing.T, r registry.Registry, m registry.Member) registry.Session {
	t.Helper()
	s, err := r.Join(limit(t), m, TTL)
	if err != nil {
		t.Fatalf("Join(%s) = %v", m.Node, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Leave(ctx); err != nil {
			t.Errorf("Leave(%s) = %v", m.Node, err)
		}
	})
	return s
}

func watch(t *testing.T, r registry.Registry, role registry.Role) <-chan registry.View {
	t.Helper()
	views, err := r.Watch(t.Context(), role)
	if err != nil {
		t.Fatalf("Watch(%s) = %v", role, err)
	}
	return views
}

// next takes what comes next.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatal("the channel closed")
		}
		return v
	case <-limit(t).Done():
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// await takes views until the members' nodes are as wanted.
func await(t *testing.T, views <-chan registry.View, nodes ...string) registry.View {
	t.Helper()
	var got []string
	end := limit(t)
	for {
		select {
		case v, ok := <-views:
			if !ok {
				t.Fatal("the watch ended")
			}
			if got = nodesOf(v); slices.Equal(got, nodes) {
				return v
			}
		case <-end.Done():
			t.Fatalf("members are %v, want %v", got, nodes)
		}
	}
}

func nodesOf(v registry.View) []string {
	nodes := make([]string, len(v.Members))
	for i, m := range v.Members {
		nodes[i] = m.Node
	}
	return nodes
}

// closes waits for a channel to close.
func closes(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-limit(t).Done():
		t.Fatalf("%s did not close", what)
	}
}

// quiet checks that nothing comes for a moment. It can only miss a fault, never make one.
func quiet[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	timer := time.NewTimer(calm)
	defer timer.Stop()
	select {
	case v, ok := <-c:
		t.Fatalf("%s: got %v (open %t), want nothing", what, v, ok)
	case <-timer.C:
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func badInputIsInvalid(t *testing.T, f Fixture) {
	ctx := limit(t)
	m := member(registry.Master, "m1")
	for _, node := range []string{"", ".", "..", "a/b", "a b", "ä", "a\x00", string(make([]byte, 129))} {
		m.Node = node
		_, err := f.Registry.Join(ctx, m, TTL)
		wantErr(t, fmt.Sprintf("Join as %q", node), err, registry.ErrInvalid)
		_, err = f.Registry.Put(ctx, "a/"+node, nil, registry.If{})
		if node != "a/b" {
			wantErr(t, fmt.Sprintf("Put below %q", node), err, registry.ErrInvalid)
		}
	}
	_, err := f.Registry.Join(ctx, member("king", "m1"), TTL)
	wantErr(t, "Join as king", err, registry.ErrInvalid)
	for _, ttl := range []time.Duration{0, -1, time.Millisecond, time.Hour} {
		_, err = f.Registry.Join(ctx, member(registry.Master, "m1"), ttl)
		wantErr(t, "Join for "+ttl.String(), err, registry.ErrInvalid)
	}
	_, err = f.Registry.Watch(ctx, "king")
	wantErr(t, "Watch king", err, registry.ErrInvalid)
	_, err = f.Registry.Get(ctx, "/a")
	wantErr(t, "Get /a", err, registry.ErrInvalid)
	_, err = f.Registry.Put(ctx, "a", make([]byte, registry.MaxValueBytes+1), registry.If{})
	wantErr(t, "Put of a large value", err, registry.ErrInvalid)
	_, err = f.Registry.Lock(ctx, join(t, f.Registry, member(registry.Master, "m1")), "a/b")
	wantErr(t, "Lock a/b", err, registry.ErrInvalid)
}

func racingCreatorsHaveOneWinner(t *testing.T, f Fixture) {
	const racers = 8
	var wg sync.WaitGroup
	errs := make([]error, racers)
	for i := range racers {
		wg.Go(func() {
			_, errs[i] = f.Registry.Put(limit(t), "race", []byte{byte(i)}, registry.If{Absent: true})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantErr(t, "Put by a loser", err, registry.ErrConflict)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d creators won, want 1", won, racers)
	}
}
