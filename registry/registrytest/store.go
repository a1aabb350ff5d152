package registrytest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/porpoise/porpoise/registry"
)

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(limit(t))
	t.Cleanup(cancel)
	return ctx, cancel
}

func lockIsHeldByOne(t *testing.T, f Fixture) {
	const claimants, rounds = 4, 5
	var inside atomic.Int32
	var wg sync.WaitGroup
	var mu sync.Mutex
	var fences []int64
	for i := range claimants {
		s := join(t, f.Registry, member(registry.Master, "m"+string(rune('a'+i))))
		wg.Go(func() {
			for range rounds {
				l, err := f.Registry.Lock(limit(t), s, "one")
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				mu.Lock()
				fences = append(fences, l.Revision())
				mu.Unlock()
				inside.Add(-1)
				if err := l.Unlock(limit(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if !slices.IsSorted(fences) || len(slices.Compact(slices.Clone(fences))) != claimants*rounds {
		t.Errorf("fences are %v, want %d that rise", fences, claimants*rounds)
	}
}

// claim starts a Lock and gives its outcome when it has one.
func claim(ctx context.Context, f Fixture, s registry.Session, name string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := f.Registry.Lock(ctx, s, name)
		done <- err
	}()
	return done
}

func lockPassesOnWhenItsHolderDies(t *testing.T, f Fixture) {
	holder := join(t, f.Registry, member(registry.Master, "m1"))
	heir := join(t, f.Registry, member(registry.Master, "m2"))
	must[registry.Lock](t)(f.Registry.Lock(limit(t), holder, "l"))
	must[registry.Lock](t)(f.Registry.Lock(limit(t), holder, "other"))
	done := claim(limit(t), f, heir, "l")
	quiet(t, "Lock while it is held", done)
	f.Expire(t, registry.Master, "m1")
	if err := next(t, done); err != nil {
		t.Errorf("Lock after the holder's end = %v", err)
	}
}

func lockWaitEndsWithItsContext(t *testing.T, f Fixture) {
	holder := join(t, f.Registry, member(registry.Master, "m1"))
	waiter := join(t, f.Registry, member(registry.Master, "m2"))
	l := must[registry.Lock](t)(f.Registry.Lock(limit(t), holder, "l"))
	ctx, cancel := withCancel(t)
	done := claim(ctx, f, waiter, "l")
	quiet(t, "Lock while it is held", done)
	cancel()
	wantErr(t, "Lock after cancel", next(t, done), context.Canceled)
	if err := l.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	// Nothing may be left of the claim: the lock is free for the next.
	must[registry.Lock](t)(f.Registry.Lock(limit(t), holder, "l"))
}

func lockWaitEndsWithItsSession(t *testing.T, f Fixture) {
	holder := join(t, f.Registry, member(registry.Master, "m1"))
	waiter := join(t, f.Registry, member(registry.Master, "m2"))
	must[registry.Lock](t)(f.Registry.Lock(limit(t), holder, "l"))
	done := claim(limit(t), f, waiter, "l")
	quiet(t, "Lock while it is held", done)
	f.Expire(t, registry.Master, "m2")
	wantErr(t, "Lock after the session's end", next(t, done), registry.ErrSessionLost)
}

func oldHolderCannotWrite(t *testing.T, f Fixture) {
	first := join(t, f.Registry, member(registry.Master, "m1"))
	second := join(t, f.Registry, member(registry.Master, "m2"))
	old := must[registry.Lock](t)(f.Registry.Lock(limit(t), first, "coordinator"))
	must[int64](t)(f.Registry.Put(limit(t), "layout", []byte("1"), registry.If{Held: old}))
	if err := old.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	_, err := f.Registry.Put(limit(t), "layout", []byte("x"), registry.If{Held: old})
	wantErr(t, "Put without the lock", err, registry.ErrConflict)
	now := must[registry.Lock](t)(f.Registry.Lock(limit(t), second, "coordinator"))
	_, err = f.Registry.Put(limit(t), "layout", []byte("x"), registry.If{Held: old})
	wantErr(t, "Put with the lock of before", err, registry.ErrConflict)
	wantErr(t, "Delete with the lock of before", f.Registry.Delete(limit(t), "layout", registry.If{Held: old}), registry.ErrConflict)
	must[int64](t)(f.Registry.Put(limit(t), "layout", []byte("2"), registry.If{Held: now}))
	if err := old.Unlock(limit(t)); err != nil {
		t.Errorf("Unlock of a lock that another holds = %v", err)
	}
	must[int64](t)(f.Registry.Put(limit(t), "layout", []byte("3"), registry.If{Held: now}))
}

func putComparesRevisions(t *testing.T, f Fixture) {
	ctx := limit(t)
	_, err := f.Registry.Get(ctx, "k/a")
	wantErr(t, "Get of nothing", err, registry.ErrNotFound)
	_, err = f.Registry.Put(ctx, "k/a", []byte("0"), registry.If{ModRevision: 1})
	wantErr(t, "Put over nothing with a revision", err, registry.ErrConflict)
	first := must[int64](t)(f.Registry.Put(ctx, "k/a", []byte("1"), registry.If{Absent: true}))
	_, err = f.Registry.Put(ctx, "k/a", []byte("x"), registry.If{Absent: true})
	wantErr(t, "Put over something as absent", err, registry.ErrConflict)
	second := must[int64](t)(f.Registry.Put(ctx, "k/a", []byte("2"), registry.If{ModRevision: first}))
	_, err = f.Registry.Put(ctx, "k/a", []byte("x"), registry.If{ModRevision: first})
	wantErr(t, "Put with an old revision", err, registry.ErrConflict)
	e := must[registry.Entry](t)(f.Registry.Get(ctx, "k/a"))
	if e.Key != "k/a" || string(e.Value) != "2" || e.CreateRevision != first || e.ModRevision != second || second <= first {
		t.Errorf("Get = %+v, want value 2 created at %d and written at %d", e, first, second)
	}
	must[int64](t)(f.Registry.Put(ctx, "k/a", nil, registry.If{}))
}

func putComparesOtherKeys(t *testing.T, f Fixture) {
	ctx := limit(t)
	s := join(t, f.Registry, member(registry.Master, "m1"))
	bound := must[int64](t)(f.Registry.Put(ctx, "acks/m1", []byte("1"), registry.If{Bound: s}))
	free := must[int64](t)(f.Registry.Put(ctx, "acks/m2", []byte("1"), registry.If{}))
	seen := []registry.KeyRevision{{Key: "acks/m1", ModRevision: bound}, {Key: "acks/m2", ModRevision: free}, {Key: "acks/m3"}}
	must[int64](t)(f.Registry.Put(ctx, "c", []byte("1"), registry.If{Others: seen}))
	must[int64](t)(f.Registry.Put(ctx, "acks/m2", []byte("2"), registry.If{}))
	_, err := f.Registry.Put(ctx, "c", []byte("x"), registry.If{Others: seen})
	wantErr(t, "Put after another key was written", err, registry.ErrConflict)
	_, err = f.Registry.Put(ctx, "c", []byte("x"), registry.If{Others: []registry.KeyRevision{{Key: "acks/m2"}}})
	wantErr(t, "Put that wants another key to be absent", err, registry.ErrConflict)
	if err := s.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = f.Registry.Put(ctx, "c", []byte("x"), registry.If{Others: seen[:1]})
	wantErr(t, "Put after another key went with its session", err, registry.ErrConflict)
	_, err = f.Registry.Put(ctx, "c", nil, registry.If{Others: make([]registry.KeyRevision, registry.MaxOthers+1)})
	wantErr(t, "Put with too many other keys", err, registry.ErrInvalid)
	if e := must[registry.Entry](t)(f.Registry.Get(ctx, "c")); string(e.Value) != "1" {
		t.Errorf("c = %q, want what was written while all stood", e.Value)
	}
}

func deleteCompares(t *testing.T, f Fixture) {
	ctx := limit(t)
	if err := f.Registry.Delete(ctx, "a", registry.If{}); err != nil {
		t.Errorf("Delete of nothing = %v", err)
	}
	first := must[int64](t)(f.Registry.Put(ctx, "a", []byte("1"), registry.If{}))
	second := must[int64](t)(f.Registry.Put(ctx, "a", []byte("2"), registry.If{}))
	wantErr(t, "Delete with an old revision", f.Registry.Delete(ctx, "a", registry.If{ModRevision: first}), registry.ErrConflict)
	if err := f.Registry.Delete(ctx, "a", registry.If{ModRevision: second}); err != nil {
		t.Errorf("Delete = %v", err)
	}
	_, err := f.Registry.Get(ctx, "a")
	wantErr(t, "Get after Delete", err, registry.ErrNotFound)
}

func boundKeysGoWithTheirSession(t *testing.T, f Fixture) {
	s := join(t, f.Registry, member(registry.Master, "m1"))
	must[int64](t)(f.Registry.Put(limit(t), "acks/bound", nil, registry.If{Bound: s}))
	must[int64](t)(f.Registry.Put(limit(t), "acks/free", nil, registry.If{}))
	if err := s.Leave(limit(t)); err != nil {
		t.Fatal(err)
	}
	l := must[registry.Listing](t)(f.Registry.List(limit(t), "acks"))
	if len(l.Entries) != 1 || l.Entries[0].Key != "acks/free" {
		t.Errorf("after Leave the folder has %+v, want the free key", l.Entries)
	}
}

func followSendsWholeFolders(t *testing.T, f Fixture) {
	must[int64](t)(f.Registry.Put(limit(t), "slots/b", []byte("1"), registry.If{}))
	must[int64](t)(f.Registry.Put(limit(t), "slots-of-others/a", []byte("1"), registry.If{}))
	listings := must[<-chan registry.Listing](t)(f.Registry.Follow(t.Context(), "slots"))
	if l := next(t, listings); len(l.Entries) != 1 || l.Entries[0].Key != "slots/b" {
		t.Errorf("first listing = %+v, want slots/b", l)
	}
	must[int64](t)(f.Registry.Put(limit(t), "slots/a/x", []byte("2"), registry.If{}))
	l := next(t, listings)
	if len(l.Entries) != 2 || l.Entries[0].Key != "slots/a/x" || string(l.Entries[0].Value) != "2" || l.Entries[1].Key != "slots/b" {
		t.Errorf("second listing = %+v, want slots/a/x and slots/b", l)
	}
	if err := f.Registry.Delete(limit(t), "slots/b", registry.If{}); err != nil {
		t.Fatal(err)
	}
	if l := next(t, listings); len(l.Entries) != 1 || l.Entries[0].Key != "slots/a/x" {
		t.Errorf("third listing = %+v, want slots/a/x", l)
	}
	must[int64](t)(f.Registry.Put(limit(t), "elsewhere", nil, registry.If{}))
	quiet(t, "Follow after a write elsewhere", listings)
}
