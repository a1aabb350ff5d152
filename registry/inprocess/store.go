package inprocess

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/registry"
)

const data = "data/"

// Get reads a shared key, see registry.Store.
func (r *Registry) Get(ctx context.Context, key string) (registry.Entry, error) {
	if err := registry.CheckKey(key); err != nil {
		return registry.Entry{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.call(ctx); err != nil {
		return registry.Entry{}, fmt.Errorf("get %s: %w", key, err)
	}
	e, ok := r.entries[data+key]
	if !ok {
		return registry.Entry{}, fmt.Errorf("get %s: %w", key, registry.ErrNotFound)
	}
	return registry.Entry{Key: key, Value: slices.Clone(e.value), CreateRevision: e.create, ModRevision: e.mod}, nil
}

// List reads a folder of the shared keys, see registry.Store.
func (r *Registry) List(ctx context.Context, folder string) (registry.Listing, error) {
	if err := registry.CheckKey(folder); err != nil {
		return registry.Listing{}, err
	}
	got := r.list(data + folder + "/")
	if err := ctx.Err(); err != nil {
		return registry.Listing{}, err
	}
	if got.down {
		return registry.Listing{}, fmt.Errorf("list %s: %w", folder, registry.ErrUnavailable)
	}
	return listing(got, false), nil
}

func listing(got read, wiped bool) registry.Listing {
	l := registry.Listing{Entries: make([]registry.Entry, len(got.entries)), Revision: got.revision, Wiped: wiped}
	for i, e := range got.entries {
		e.Key = strings.TrimPrefix(e.Key, data)
		l.Entries[i] = e
	}
	return l
}

// Follow follows a folder of the shared keys, see registry.Store.
func (r *Registry) Follow(ctx context.Context, folder string) (<-chan registry.Listing, error) {
	if err := registry.CheckKey(folder); err != nil {
		return nil, err
	}
	listings := make(chan registry.Listing, 1)
	go func() {
		defer close(listings)
		r.follow(ctx, data+folder+"/", func(got read, wiped bool) {
			registry.Offer(listings, listing(got, wiped), registry.MergeListings)
		})
	}()
	return listings, nil
}

// Put writes a shared key, see registry.Store.
func (r *Registry) Put(ctx context.Context, key string, value []byte, cond registry.If) (int64, error) {
	if err := registry.CheckKey(key); err != nil {
		return 0, err
	}
	if len(value) > registry.MaxValueBytes {
		return 0, fmt.Errorf("put %s: %d bytes, the limit is %d: %w", key, len(value), registry.MaxValueBytes, registry.ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var owner *session
	if cond.Bound != nil {
		s, ok := cond.Bound.(*session)
		if !ok || s.r != r {
			return 0, fmt.Errorf("put %s: the session is of another registry: %w", key, registry.ErrInvalid)
		}
		if s.err != nil {
			return 0, fmt.Errorf("put %s: %w", key, s.err)
		}
		owner = s
	}
	if err := r.guard(ctx, key, cond); err != nil {
		return 0, fmt.Errorf("put %s: %w", key, err)
	}
	return r.put(data+key, value, owner), nil
}

// Delete removes a shared key, see registry.Store.
func (r *Registry) Delete(ctx context.Context, key string, cond registry.If) error {
	if err := registry.CheckKey(key); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.guard(ctx, key, cond); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	r.remove(func(k string, _ entry) bool { return k == data+key })
	return nil
}

// guard checks a write's conditions. r.mu is held.
func (r *Registry) guard(ctx context.Context, key string, cond registry.If) error {
	if err := cond.Check(); err != nil {
		return err
	}
	if err := r.call(ctx); err != nil {
		return err
	}
	for _, o := range cond.Others {
		if r.entries[data+o.Key].mod != o.ModRevision {
			return registry.ErrConflict
		}
	}
	e, exists := r.entries[data+key]
	if cond.Absent && exists || cond.ModRevision != 0 && e.mod != cond.ModRevision {
		return registry.ErrConflict
	}
	if cond.Held != nil {
		if held, ok := r.entries[cond.Held.Key()]; !ok || held.create != cond.Held.Revision() {
			return registry.ErrConflict
		}
	}
	return nil
}

// lock is a key of its session; its create revision is the fence.
type lock struct {
	s        *session
	key      string
	revision int64
}

// Lock waits for the lock, see registry.Registry.
func (r *Registry) Lock(ctx context.Context, rs registry.Session, name string) (registry.Lock, error) {
	if err := registry.CheckName("lock", name); err != nil {
		return nil, err
	}
	s, ok := rs.(*session)
	if !ok || s.r != r {
		return nil, fmt.Errorf("lock %s: the session is of another registry: %w", name, registry.ErrInvalid)
	}
	key := "locks/" + name
	for {
		r.mu.Lock()
		err, down, changed := s.err, r.down, r.changed
		if err == nil {
			err = ctx.Err()
		}
		if _, taken := r.entries[key]; err == nil && !down && !taken {
			revision := r.put(key, []byte(s.member.Node), s)
			r.mu.Unlock()
			return &lock{s: s, key: key, revision: revision}, nil
		}
		r.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		select {
		case <-changed:
		case <-s.lost:
		case <-ctx.Done():
		}
	}
}

func (l *lock) Key() string { return l.key }

func (l *lock) Revision() int64 { return l.revision }

func (l *lock) Lost() <-chan struct{} { return l.s.lost }

func (l *lock) Unlock(ctx context.Context) error {
	l.s.r.mu.Lock()
	defer l.s.r.mu.Unlock()
	if err := l.s.r.call(ctx); err != nil {
		return fmt.Errorf("unlock %s: %w", l.key, err)
	}
	l.s.r.remove(func(k string, e entry) bool { return k == l.key && e.create == l.revision })
	return nil
}
