package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
)

const (
	// callTimeout bounds every request, whatever the caller's context says: a stopped
	// leader would hold it for ever. It spans an election with the default ticks twice.
	callTimeout = 5 * time.Second
	// tidyTimeout bounds what is done after the caller has given up, such as revoking
	// a lease that nobody will use. What it misses runs out by itself.
	tidyTimeout = time.Second
	// retryFirst and retryMost are the pauses between tries while etcd is away.
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
	// joinTries bounds the replacing of predecessors: more means that two processes
	// with the same node id push each other out.
	joinTries = 5
)

// Registry is registry.Registry over an etcd client, which it does not own.
type Registry struct {
	client  *clientv3.Client
	cluster string
	prefix  string
	log     hclog.Logger

	mu     sync.Mutex
	etcdID uint64        // of the etcd cluster seen last
	newest int64         // newest store revision seen
	moved  chan struct{} // closes when the store was wiped or set back
}

// New makes the registry of one Porpoise cluster. The client stays the caller's, to be
// closed after every session has left and every watch's context has ended.
func New(client *clientv3.Client, clusterID string, log hclog.Logger) (*Registry, error) {
	if err := registry.CheckName("cluster id", clusterID); err != nil {
		return nil, err
	}
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Registry{
		client:  client,
		cluster: clusterID,
		prefix:  "/porpoise/" + clusterID + "/",
		log:     log.Named("registry"),
		moved:   make(chan struct{}),
	}, nil
}

func (r *Registry) memberKey(role registry.Role, node string) string {
	return r.prefix + "members/" + string(role) + "/" + node
}

// observe notes how far the store is, and wakes the watches when it was wiped or set
// back: another etcd cluster answers, or a linearizable answer is older than what was
// known when it was asked for.
func (r *Registry) observe(clusterID uint64, revision, asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.etcdID != 0 && (clusterID != r.etcdID || revision < asked) {
		r.log.Warn("etcd was wiped or restored", "revision", revision, "revision_before", r.newest)
		close(r.moved)
		r.moved = make(chan struct{})
		r.newest = 0
	}
	r.etcdID = clusterID
	r.newest = max(r.newest, revision)
}

// seen gives the newest revision so far, to be handed to observe with an answer that
// was asked for afterwards, and the channel that closes when the store goes back.
func (r *Registry) seen() (revision int64, moved <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest, r.moved
}

// get is a linearizable read with the registry's own limit.
func (r *Registry) get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	asked, _ := r.seen()
	resp, err := r.client.Get(ctx, key, opts...)
	if err != nil {
		return nil, unavailable(err)
	}
	r.observe(resp.Header.GetClusterId(), resp.Header.GetRevision(), asked)
	return resp, nil
}

// write runs one transaction: then, if all conditions hold, else otherwise.
func (r *Registry) write(ctx context.Context, conds []clientv3.Cmp, then, otherwise []clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := r.client.Txn(ctx).If(conds...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, unavailable(err)
	}
	return resp, nil
}

// unavailable sorts etcd's errors into those that a caller decides on.
func unavailable(err error) error {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return registry.ErrSessionLost
	}
	for _, denial := range denials {
		if errors.Is(err, denial) {
			return fmt.Errorf("%w: %w: %w", registry.ErrUnavailable, registry.ErrDenied, err)
		}
	}
	return fmt.Errorf("%w: %w", registry.ErrUnavailable, err)
}

// denials are the answers of an etcd that does not let us in.
var denials = []error{rpctypes.ErrAuthFailed, rpctypes.ErrUserEmpty, rpctypes.ErrPermissionDenied, rpctypes.ErrUserNotFound}

// pause waits for a while, or less when ctx or stop end; it says whether to go on.
func pause(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-stop:
	}
	return false
}
