package inprocess

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// Registry is registry.Registry in one process. Its zero value is not usable: New.
type Registry struct {
	mu         sync.Mutex
	revision   int64
	generation int // rises with every Wipe
	entries    map[string]entry
	sessions   map[*session]bool
	down       bool
	changed    chan struct{} // closes at the next change of anything
}

type entry struct {
	value       []byte
	create, mod int64
	owner       *session // whose end deletes it, or nil
}

// New makes an empty registry that is up.
func New() *Registry {
	return &Registry{
		revision: 1,
		entries:  map[string]entry{},
		sessions: map[*session]bool{},
		changed:  make(chan struct{}),
	}
}

// SetDown takes the registry away or brings it back. While it is away every call
// fails, lists stand still, no lease runs out, and sessions that are not renewed in
// time are lost as silent; what they left behind goes one lease after the return.
func (r *Registry) SetDown(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down == down {
		return
	}
	now := time.Now()
	for s := range r.sessions {
		switch {
		case down && s.err == nil:
			s.renewed = now
			s.timer = time.AfterFunc(s.ttl-registry.Margin(s.ttl), func() { r.silence(s) })
		case !down && s.err == nil:
			s.timer.Stop()
		case !down:
			s.timer = time.AfterFunc(s.ttl, func() { r.forget(s) })
		}
	}
	r.down = down
	r.tell()
}

// Expire ends the lease of a member, as if nobody had renewed it.
func (r *Registry) Expire(role registry.Role, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[memberKey(role, node)]; ok && e.owner != nil {
		r.end(e.owner, registry.ErrSessionLost)
	}
}

// Plant writes any text as a member's record, under nobody's lease.
func (r *Registry) Plant(role registry.Role, node, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(memberKey(role, node), []byte(text), nil)
}

// Wipe loses everything: every session, every key, every revision.
func (r *Registry) Wipe() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sessions {
		r.end(s, registry.ErrSessionLost)
	}
	clear(r.entries)
	r.revision = 1
	r.generation++
	r.tell()
}

// tell wakes everybody who waits for a change. r.mu is held.
func (r *Registry) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// put writes a key. r.mu is held.
func (r *Registry) put(key string, value []byte, owner *session) int64 {
	r.revision++
	e := entry{value: slices.Clone(value), create: r.revision, mod: r.revision, owner: owner}
	if old, ok := r.entries[key]; ok {
		e.create = old.create
	}
	r.entries[key] = e
	r.tell()
	return r.revision
}

// remove deletes keys in one revision. r.mu is held.
func (r *Registry) remove(gone func(key string, e entry) bool) {
	before := len(r.entries)
	maps.DeleteFunc(r.entries, gone)
	if len(r.entries) != before {
		r.revision++
		r.tell()
	}
}

// read is what list gives: a folder at one moment.
type read struct {
	entries    []registry.Entry // with whole keys
	revision   int64
	generation int
	down       bool
	changed    <-chan struct{}
}

func (r *Registry) list(folder string) read {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := read{revision: r.revision, generation: r.generation, down: r.down, changed: r.changed}
	for _, key := range slices.Sorted(maps.Keys(r.entries)) {
		if strings.HasPrefix(key, folder) {
			e := r.entries[key]
			got.entries = append(got.entries, registry.Entry{
				Key: key, Value: slices.Clone(e.value), CreateRevision: e.create, ModRevision: e.mod,
			})
		}
	}
	return got
}

// follow emits a folder whenever it differs from what was emitted last.
func (r *Registry) follow(ctx context.Context, folder string, emit func(got read, wiped bool)) {
	told := read{generation: -1}
	for ctx.Err() == nil {
		got := r.list(folder)
		if !got.down && (told.generation != got.generation || !slices.EqualFunc(told.entries, got.entries, sameEntry)) {
			emit(got, told.generation != -1 && told.generation != got.generation)
			told = got
		}
		select {
		case <-got.changed:
		case <-ctx.Done():
		}
	}
}

func sameEntry(a, b registry.Entry) bool { return a.Key == b.Key && a.ModRevision == b.ModRevision }

// Watch follows a role's members, see registry.Registry.
func (r *Registry) Watch(ctx context.Context, role registry.Role) (<-chan registry.View, error) {
	if _, err := registry.ParseRole(string(role)); err != nil {
		return nil, err
	}
	views := make(chan registry.View, 1)
	go func() {
		defer close(views)
		r.follow(ctx, memberKey(role, ""), func(got read, wiped bool) {
			view := registry.View{Members: []registry.Member{}, Revision: got.revision, Wiped: wiped}
			for _, e := range got.entries {
				if m, err := registry.DecodeMember(e.Value); err == nil && memberKey(m.Role, m.Node) == e.Key {
					view.Members = append(view.Members, m)
				}
			}
			registry.Offer(views, view, registry.MergeViews)
		})
	}()
	return views, nil
}

func memberKey(role registry.Role, node string) string { return "members/" + string(role) + "/" + node }

// call is the start of every request: it fails while the registry is away.
func (r *Registry) call(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.down {
		return fmt.Errorf("%w: it was taken away", registry.ErrUnavailable)
	}
	return nil
}
