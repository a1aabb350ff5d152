package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// etcd is the registry: keys under leases, in the virtual time of the world. Every call on it is
// answered at once or not at all; what watchers see comes later.
type etcd struct {
	w        *world
	revision int64
	births   int // rises with every wipe
	keys     map[string]registry.Entry
	owners   map[string]*tenure
	leases   []*tenure
	watchers []*watcher
	waiting  []*waiter
	down     time.Duration // until then
}

// tenure ends unless it is renewed.
type tenure struct {
	ttl, until time.Duration
	gone       bool
}

func newEtcd(w *world) *etcd {
	return &etcd{w: w, revision: 1, keys: map[string]registry.Entry{}, owners: map[string]*tenure{}}
}

// answers says whether a process reaches the registry and hears its answer.
func (e *etcd) answers(p *proc) bool {
	return e.w.now >= e.down && !e.w.net.cut(p.host.name, "etcd") && !e.w.net.cut("etcd", p.host.name)
}

// away takes the registry away. While it is, no lease ends; when it is back each has all of its time again.
func (e *etcd) away(d time.Duration) {
	e.down = max(e.down, e.w.now+d)
	until := e.down
	e.w.after(d, nil, "registry is back", func() {
		if e.down != until {
			return
		}
		e.renewAll()
		e.tell()
	})
}

func (e *etcd) renewAll() {
	for _, l := range e.leases {
		e.renew(l)
	}
}

// grant makes a lease.
func (e *etcd) grant(ttl time.Duration) *tenure {
	l := &tenure{ttl: ttl}
	e.leases = append(e.leases, l)
	e.renew(l)
	return l
}

func (e *etcd) renew(l *tenure) {
	l.until = e.w.now + l.ttl
	until := l.until
	e.w.after(l.ttl, nil, "lease ends", func() {
		if !l.gone && l.until == until && e.w.now >= e.down {
			e.w.note("lease ended")
			e.revoke(l)
		}
	})
}

// revoke ends a lease, and all that is bound to it.
func (e *etcd) revoke(l *tenure) {
	if l.gone {
		return
	}
	l.gone = true
	e.leases = slices.DeleteFunc(e.leases, func(other *tenure) bool { return other == l })
	var keys []string
	for key, owner := range e.owners {
		if owner == l {
			keys = append(keys, key)
		}
	}
	e.remove(keys...)
}

// remove deletes keys in one revision.
func (e *etcd) remove(keys ...string) {
	some := false
	for _, key := range keys {
		if _, there := e.keys[key]; there {
			delete(e.keys, key)
			delete(e.owners, key)
			some = true
		}
	}
	if some {
		e.revision++
		e.tell()
		e.pass()
	}
}

// put writes a key, bound to a lease where one is given.
func (e *etcd) put(key string, value []byte, bound *tenure) int64 {
	e.revision++
	entry := registry.Entry{Key: key, Value: slices.Clone(value), CreateRevision: e.revision, ModRevision: e.revision}
	if old, there := e.keys[key]; there {
		entry.CreateRevision = old.CreateRevision
	}
	e.keys[key] = entry
	delete(e.owners, key)
	if bound != nil {
		e.owners[key] = bound
	}
	e.tell()
	return e.revision
}

// wipe loses everything.
func (e *etcd) wipe() {
	for _, l := range e.leases {
		l.gone = true
	}
	e.leases = nil
	clear(e.keys)
	clear(e.owners)
	e.waiting = nil
	e.revision = 1
	e.births++
	e.tell()
}

// expire ends the lease of a member as if nobody had renewed it.
func (e *etcd) expire(role registry.Role, node string) {
	if l := e.owners[memberKey(role, node)]; l != nil {
		e.revoke(l)
	}
}

func memberKey(role registry.Role, node string) string { return "members/" + string(role) + "/" + node }

// waiter waits for the lock.
type waiter struct {
	tenure *tenure
	proc   *proc
	given  func(fence int64)
	off    bool // it does not want it any more
}

// lockKey is where the one lock lives.
const lockKey = "locks/layout"

// pass gives a free lock to who has waited longest.
func (e *etcd) pass() {
	for len(e.waiting) > 0 {
		if _, taken := e.keys[lockKey]; taken {
			return
		}
		w := e.waiting[0]
		e.waiting = e.waiting[1:]
		if w.off || w.tenure.gone {
			continue
		}
		fence := e.put(lockKey, []byte(w.proc.id), w.tenure)
		e.w.note("lock to %s", w.proc.id)
		e.w.after(e.trip(), w.proc, "lock given", func() { w.given(fence) })
	}
}

// held says whether this very holding of the lock still stands.
func (e *etcd) held(fence int64) bool {
	entry, taken := e.keys[lockKey]
	return taken && fence != 0 && entry.CreateRevision == fence
}

// trip is how long a call takes, one way.
func (e *etcd) trip() time.Duration { return e.w.between(500*time.Microsecond, 10*time.Millisecond) }

// callTimeout is how long a caller waits for an answer.
const callTimeout = 2 * time.Second

// call is a request: do happens unless it does not get there, and answer is called with whether one came.
func (e *etcd) call(p *proc, do func(), answer func(heard bool)) {
	w := e.w
	w.after(e.trip(), nil, "request", func() {
		if w.now < e.down || w.net.cut(p.host.name, "etcd") || !p.alive {
			w.after(callTimeout, p, "no answer", func() { answer(false) })
			return
		}
		do()
		w.after(e.trip(), p, "answer", func() {
			if w.net.cut("etcd", p.host.name) {
				w.after(callTimeout, p, "no answer", func() { answer(false) })
				return
			}
			answer(true)
		})
	})
}

// list reads a folder, by key.
func (e *etcd) list(folder string) []registry.Entry {
	var out []registry.Entry
	for _, key := range slices.Sorted(maps.Keys(e.keys)) {
		if strings.HasPrefix(key, folder) {
			out = append(out, e.keys[key])
		}
	}
	return out
}

// watcher is told of a folder whenever it has changed: late, but never an older state after a newer one.
type watcher struct {
	proc     *proc
	folder   string
	births   int
	revision int64
	asked    bool // a delivery is under way
	see      func(entries []registry.Entry, revision int64, wiped bool)
}

// watch lets a process see a folder from now on.
func (e *etcd) watch(p *proc, folder string, see func([]registry.Entry, int64, bool)) {
	w := &watcher{proc: p, folder: folder, births: -1, see: see}
	e.watchers = append(slices.DeleteFunc(e.watchers, func(w *watcher) bool { return !w.proc.alive }), w)
	e.deliver(w, e.lag())
}

func (e *etcd) tell() {
	for _, w := range e.watchers {
		if !w.asked && w.proc.alive {
			e.deliver(w, e.lag())
		}
	}
}

// lag is how long a change is on its way to a watcher.
func (e *etcd) lag() time.Duration {
	if e.w.opt.has("watch_lags") && !e.w.healing && e.w.chance(0.3) {
		return e.w.upTo(3 * time.Second)
	}
	return e.w.between(time.Millisecond, 10*time.Millisecond)
}

func (e *etcd) deliver(w *watcher, lag time.Duration) {
	w.asked = true
	e.w.after(lag, w.proc, "watch "+w.folder, func() {
		if !e.answers(w.proc) {
			e.deliver(w, 500*time.Millisecond)
			return
		}
		w.asked = false
		if w.births == e.births && w.revision == e.revision {
			return
		}
		wiped := w.births >= 0 && w.births != e.births
		w.births, w.revision = e.births, e.revision
		w.see(e.list(w.folder), e.revision, wiped)
	})
}

// views turns the entries of a role into a view.
func views(see func(registry.View)) func([]registry.Entry, int64, bool) {
	return func(entries []registry.Entry, revision int64, wiped bool) {
		view := registry.View{Members: []registry.Member{}, Revision: revision, Wiped: wiped}
		for _, entry := range entries {
			if m, err := registry.DecodeMember(entry.Value); err == nil {
				view.Members = append(view.Members, m)
			}
		}
		see(view)
	}
}
