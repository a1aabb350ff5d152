package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
)

func (r *Registry) dataKey(key string) string { return r.prefix + "data/" + key }

// Get reads a shared key, see registry.Store.
func (r *Registry) Get(ctx context.Context, key string) (registry.Entry, error) {
	if err := registry.CheckKey(key); err != nil {
		return registry.Entry{}, err
	}
	resp, err := r.get(ctx, r.dataKey(key))
	if err != nil {
		return registry.Entry{}, fmt.Errorf("get %s: %w", key, err)
	}
	if len(resp.Kvs) == 0 {
		return registry.Entry{}, fmt.Errorf("get %s: %w", key, registry.ErrNotFound)
	}
	return r.entry(resp.Kvs[0]), nil
}

// List reads a folder of the shared keys, see registry.Store.
func (r *Registry) List(ctx context.Context, folder string) (registry.Listing, error) {
	if err := registry.CheckKey(folder); err != nil {
		return registry.Listing{}, err
	}
	resp, err := r.get(ctx, r.dataKey(folder)+"/", clientv3.WithPrefix())
	if err != nil {
		return registry.Listing{}, fmt.Errorf("list %s: %w", folder, err)
	}
	return registry.Listing{Entries: r.entries(resp.Kvs), Revision: resp.Header.GetRevision()}, nil
}

// Put writes a shared key, see registry.Store.
func (r *Registry) Put(ctx context.Context, key string, value []byte, cond registry.If) (int64, error) {
	if err := registry.CheckKey(key); err != nil {
		return 0, err
	}
	if len(value) > registry.MaxValueBytes {
		return 0, fmt.Errorf("put %s: %d bytes, the limit is %d: %w", key, len(value), registry.MaxValueBytes, registry.ErrInvalid)
	}
	var opts []clientv3.OpOption
	if cond.Bound != nil {
		s, ok := cond.Bound.(*session)
		if !ok || s.r != r {
			return 0, fmt.Errorf("put %s: the session is of another registry: %w", key, registry.ErrInvalid)
		}
		if err := s.Err(); err != nil {
			return 0, fmt.Errorf("put %s: %w", key, err)
		}
		opts = append(opts, clientv3.WithLease(s.lease))
	}
	revision, err := r.guarded(ctx, key, cond, clientv3.OpPut(r.dataKey(key), string(value), opts...))
	if err != nil {
		return 0, fmt.Errorf("put %s: %w", key, err)
	}
	return revision, nil
}

// Delete removes a shared key, see registry.Store.
func (r *Registry) Delete(ctx context.Context, key string, cond registry.If) error {
	if err := registry.CheckKey(key); err != nil {
		return err
	}
	if _, err := r.guarded(ctx, key, cond, clientv3.OpDelete(r.dataKey(key))); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// guarded runs one write in a transaction with its conditions.
func (r *Registry) guarded(ctx context.Context, key string, cond registry.If, op clientv3.Op) (int64, error) {
	if err := cond.Check(); err != nil {
		return 0, err
	}
	var conds []clientv3.Cmp
	for _, o := range cond.Others {
		conds = append(conds, clientv3.Compare(clientv3.ModRevision(r.dataKey(o.Key)), "=", o.ModRevision))
	}
	if cond.ModRevision != 0 {
		conds = append(conds, clientv3.Compare(clientv3.ModRevision(r.dataKey(key)), "=", cond.ModRevision))
	}
	if cond.Absent {
		conds = append(conds, clientv3.Compare(clientv3.CreateRevision(r.dataKey(key)), "=", 0))
	}
	if cond.Held != nil {
		held := clientv3.CreateRevision(r.prefix + cond.Held.Key())
		conds = append(conds, clientv3.Compare(held, "=", cond.Held.Revision()))
		if l, ok := cond.Held.(*lock); ok {
			// After etcd was wiped, revisions come again: another's lock may have ours.
			conds = append(conds, clientv3.Compare(clientv3.Value(r.prefix+l.Key()), "=", l.value))
		}
	}
	resp, err := r.write(ctx, conds, []clientv3.Op{op}, nil)
	if err != nil {
		return 0, err
	}
	if !resp.Succeeded {
		return 0, registry.ErrConflict
	}
	return resp.Header.GetRevision(), nil
}
