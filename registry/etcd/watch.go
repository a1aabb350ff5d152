package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
)

// record is a key with its value as etcd tells it.
type record = mvccpb.KeyValue

// relistEvery is how often a followed list is read whole again, should an event have
// been missed without a sign of it.
const relistEvery = 30 * time.Second

// Watch follows a role's members, see registry.Registry.
func (r *Registry) Watch(ctx context.Context, role registry.Role) (<-chan registry.View, error) {
	if _, err := registry.ParseRole(string(role)); err != nil {
		return nil, err
	}
	views := make(chan registry.View, 1)
	folder := r.prefix + "members/" + string(role) + "/"
	f := follower{r: r, folder: folder, emit: func(kvs []*record, revision int64, wiped bool) {
		view := registry.View{Members: r.members(role, folder, kvs), Revision: revision, Wiped: wiped}
		registry.Offer(views, view, registry.MergeViews)
	}}
	go func() {
		defer close(views)
		f.run(ctx)
	}()
	return views, nil
}

// members reads the records of a folder. What is not a member of this role under its
// own key is left out: a stranger's key must not become a master.
func (r *Registry) members(role registry.Role, folder string, kvs []*record) []registry.Member {
	members := make([]registry.Member, 0, len(kvs))
	for _, kv := range kvs {
		m, err := registry.DecodeMember(kv.Value)
		if err == nil && (m.Role != role || folder+m.Node != string(kv.Key)) {
			err = fmt.Errorf("it names %s %s: %w", m.Role, m.Node, registry.ErrInvalid)
		}
		if err != nil {
			r.log.Warn("member record ignored", "key", string(kv.Key), "error", err)
			continue
		}
		members = append(members, m)
	}
	return members
}

// follower keeps the content of one folder and tells each change of it.
type follower struct {
	r      *Registry
	folder string // ends with a slash
	emit   func(kvs []*record, revision int64, wiped bool)

	told     []*record // as emitted last
	anything bool      // something was emitted
	etcdID   uint64    // of the etcd cluster that was listed last
	revision int64     // of the last list or event
}

// run lists and follows until ctx ends. A break of any kind (a compaction, a lost
// leader, a closed channel) is answered by a new list.
func (f *follower) run(ctx context.Context) {
	wait := retryFirst
	for ctx.Err() == nil {
		err := f.round(ctx)
		if err == nil {
			wait = retryFirst
			continue
		}
		if ctx.Err() != nil {
			return
		}
		f.r.log.Debug("watch interrupted", "folder", f.folder, "error", err)
		pause(ctx, nil, wait)
		wait = min(2*wait, retryMost)
	}
}

// round is one list and what follows it; nil says that it is simply time to list again.
func (f *follower) round(ctx context.Context) error {
	// Taken before the list: a wipe that anybody sees from here on means a new list.
	_, moved := f.r.seen()
	resp, err := f.r.get(ctx, f.folder, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	revision, etcdID := resp.Header.GetRevision(), resp.Header.GetClusterId()
	wiped := f.etcdID != 0 && (revision < f.revision || etcdID != f.etcdID)
	f.etcdID = etcdID
	content := make(map[string]*record, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		content[string(kv.Key)] = kv
	}
	f.tell(content, revision, wiped)

	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	events := f.r.client.Watch(clientv3.WithRequireLeader(watching), f.folder, clientv3.WithPrefix(), clientv3.WithRev(revision+1))
	relist := time.NewTimer(relistEvery)
	defer relist.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-relist.C:
			return nil
		case <-moved:
			return nil
		case got, ok := <-events:
			if !ok {
				return errors.New("the watch ended")
			}
			if err := got.Err(); err != nil {
				return err
			}
			for _, event := range got.Events {
				if event.Type == clientv3.EventTypeDelete {
					delete(content, string(event.Kv.Key))
				} else {
					content[string(event.Kv.Key)] = event.Kv
				}
			}
			f.tell(content, got.Header.GetRevision(), false)
		}
	}
}

// tell emits the folder when it differs from what was told last.
func (f *follower) tell(content map[string]*record, revision int64, wiped bool) {
	f.revision = revision
	kvs := slices.SortedFunc(maps.Values(content), func(a, b *record) int { return bytes.Compare(a.Key, b.Key) })
	same := slices.EqualFunc(f.told, kvs, func(a, b *record) bool {
		return a.ModRevision == b.ModRevision && bytes.Equal(a.Key, b.Key)
	})
	if f.anything && same && !wiped {
		return
	}
	f.told, f.anything = kvs, true
	f.emit(kvs, revision, wiped)
}

// Follow follows a folder of the shared keys, see registry.Store.
func (r *Registry) Follow(ctx context.Context, folder string) (<-chan registry.Listing, error) {
	if err := registry.CheckKey(folder); err != nil {
		return nil, err
	}
	listings := make(chan registry.Listing, 1)
	f := follower{r: r, folder: r.dataKey(folder) + "/", emit: func(kvs []*record, revision int64, wiped bool) {
		listing := registry.Listing{Entries: r.entries(kvs), Revision: revision, Wiped: wiped}
		registry.Offer(listings, listing, registry.MergeListings)
	}}
	go func() {
		defer close(listings)
		f.run(ctx)
	}()
	return listings, nil
}

func (r *Registry) entries(kvs []*record) []registry.Entry {
	entries := make([]registry.Entry, len(kvs))
	for i, kv := range kvs {
		entries[i] = r.entry(kv)
	}
	return entries
}

func (r *Registry) entry(kv *record) registry.Entry {
	return registry.Entry{
		Key: strings.TrimPrefix(string(kv.Key), r.dataKey("")), Value: kv.Value,
		CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision,
	}
}
