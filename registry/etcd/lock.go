package etcd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
)

// lockLookEvery is how often a waiter looks for itself, should the event that freed
// the lock have been lost.
const lockLookEvery = 5 * time.Second

// lock is a key under the holder's lease; its create revision is the fence.
type lock struct {
	s        *session
	name     string
	value    string // of the key: nobody else's is the same
	revision int64
}

// holder is what a lock's key says to people and to the claimant itself.
type holder struct {
	Node        string `json:"node"`
	Incarnation string `json:"incarnation"`
	Claim       string `json:"claim"` // random, so that a claim knows its own key again
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
	m := s.Member()
	claim, err := json.Marshal(holder{Node: m.Node, Incarnation: m.Incarnation, Claim: rand.Text()})
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	revision, err := s.claim(ctx, name, string(claim))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return &lock{s: s, name: name, value: string(claim), revision: revision}, nil
}

// claim tries, waits and tries again until the key is ours, and gives its revision.
func (s *session) claim(ctx context.Context, name, value string) (int64, error) {
	key := s.r.prefix + "locks/" + name
	wait := retryFirst
	unknown := false // a try may have been applied without an answer
	for {
		if err := s.Err(); err != nil {
			return 0, err
		}
		resp, err := s.r.write(ctx,
			[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
			[]clientv3.Op{clientv3.OpPut(key, value, clientv3.WithLease(s.lease))},
			[]clientv3.Op{clientv3.OpGet(key)})
		switch {
		case errors.Is(err, registry.ErrSessionLost):
			return 0, err
		case err != nil:
			unknown = true
			pause(ctx, s.lost, wait)
			wait = min(2*wait, retryMost)
		case resp.Succeeded:
			return resp.Header.GetRevision(), nil
		default:
			kvs := resp.Responses[0].GetResponseRange().GetKvs()
			if len(kvs) > 0 && string(kvs[0].Value) == value {
				return kvs[0].CreateRevision, nil
			}
			unknown, wait = false, retryFirst
			s.await(ctx, key, resp.Header.GetRevision())
		}
		if ctx.Err() != nil {
			if unknown {
				s.unclaim(key, value)
			}
			return 0, ctx.Err()
		}
	}
}

// await returns when the key is deleted after a revision, or it is time to look again.
func (s *session) await(ctx context.Context, key string, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, lockLookEvery)
	defer cancel()
	_, moved := s.r.seen()
	events := s.r.client.Watch(clientv3.WithRequireLeader(ctx), key, clientv3.WithRev(revision+1), clientv3.WithFilterPut())
	select {
	case got, ok := <-events:
		if !ok || got.Err() != nil {
			pause(ctx, s.lost, retryFirst)
		}
	case <-moved:
	case <-s.lost:
	case <-ctx.Done():
	}
}

// unclaim takes back a claim whose try was never answered. What it misses goes with
// the session.
func (s *session) unclaim(key, value string) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	_, err := s.r.write(ctx,
		[]clientv3.Cmp{clientv3.Compare(clientv3.Value(key), "=", value)},
		[]clientv3.Op{clientv3.OpDelete(key)}, nil)
	if err != nil {
		s.r.log.Debug("claim not taken back", "key", key, "error", err)
	}
}

func (l *lock) Key() string { return "locks/" + l.name }

func (l *lock) Revision() int64 { return l.revision }

func (l *lock) Lost() <-chan struct{} { return l.s.lost }

func (l *lock) Unlock(ctx context.Context) error {
	key := l.s.r.prefix + l.Key()
	_, err := l.s.r.write(ctx,
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", l.revision), clientv3.Compare(clientv3.Value(key), "=", l.value)},
		[]clientv3.Op{clientv3.OpDelete(key)}, nil)
	if err != nil {
		return fmt.Errorf("unlock %s: %w", l.name, err)
	}
	return nil
}
