package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
)

// session is a lease with a member's record under it.
type session struct {
	r     *Registry
	lease clientv3.LeaseID
	ttl   time.Duration
	key   string
	stop  context.CancelFunc
	done  chan struct{} // the keeper has returned
	lost  chan struct{}

	mu      sync.Mutex
	member  registry.Member
	renewed time.Time
	err     error
}

// Join makes the member known, see registry.Registry.
func (r *Registry) Join(ctx context.Context, m registry.Member, ttl time.Duration) (registry.Session, error) {
	text, err := m.Encode()
	if err != nil {
		return nil, err
	}
	if err := registry.CheckTTL(ttl); err != nil {
		return nil, err
	}
	sent := time.Now()
	grant, err := r.grant(ctx, ttl)
	if err != nil {
		return nil, fmt.Errorf("join as %s %s: lease: %w", m.Role, m.Node, err)
	}
	key := r.memberKey(m.Role, m.Node)
	if err := r.register(ctx, key, m, text, grant.ID); err != nil {
		r.drop(grant.ID)
		return nil, fmt.Errorf("join as %s %s: %w", m.Role, m.Node, err)
	}
	// The session outlives the call that made it: it ends by Leave or by being lost.
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.Takeover = false
	s := &session{
		r: r, lease: grant.ID, ttl: time.Duration(grant.TTL) * time.Second, key: key,
		stop: stop, done: make(chan struct{}), lost: make(chan struct{}),
		member: m, renewed: sent,
	}
	go s.keep(life)
	return s, nil
}

func (r *Registry) grant(ctx context.Context, ttl time.Duration) (*clientv3.LeaseGrantResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	grant, err := r.client.Grant(ctx, int64(math.Ceil(ttl.Seconds())))
	if err != nil {
		return nil, unavailable(err)
	}
	return grant, nil
}

// drop revokes a lease that nobody will use. When etcd does not answer it runs out.
func (r *Registry) drop(lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	if _, err := r.client.Revoke(ctx, lease); err != nil {
		r.log.Debug("unused lease not revoked", "lease", int64(lease), "error", err)
	}
}

// register writes the record where there is none, after taking away what it replaces.
func (r *Registry) register(ctx context.Context, key string, m registry.Member, text []byte, lease clientv3.LeaseID) error {
	for range joinTries {
		resp, err := r.write(ctx,
			[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
			[]clientv3.Op{clientv3.OpPut(key, string(text), clientv3.WithLease(lease))},
			[]clientv3.Op{clientv3.OpGet(key)})
		if err != nil {
			return err
		}
		if resp.Succeeded {
			return nil
		}
		kvs := resp.Responses[0].GetResponseRange().GetKvs()
		if len(kvs) == 0 {
			continue
		}
		// A record that can't be read protects nobody.
		old, err := registry.DecodeMember(kvs[0].Value)
		if err == nil && !m.Takeover && !old.Same(m) {
			return fmt.Errorf("%w: %s since %s", registry.ErrNodeTaken, old.Incarnation, time.UnixMilli(old.StartedAt).UTC().Format(time.RFC3339))
		}
		// The key moves to the new lease before the old one ends, so that nobody sees the node absent.
		taken, err := r.write(ctx,
			[]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", kvs[0].ModRevision)},
			[]clientv3.Op{clientv3.OpPut(key, string(text), clientv3.WithLease(lease))}, nil)
		if err != nil {
			return err
		}
		if !taken.Succeeded {
			continue
		}
		if err := r.revoke(ctx, clientv3.LeaseID(kvs[0].Lease)); err != nil {
			return fmt.Errorf("replace incarnation %s: %w", old.Incarnation, err)
		}
		r.log.Info("predecessor replaced", "role", m.Role, "node", m.Node, "incarnation", old.Incarnation)
		return nil
	}
	return fmt.Errorf("%w: it comes back as fast as it is replaced", registry.ErrNodeTaken)
}

// revoke ends a lease, and with it all that its holder still had.
func (r *Registry) revoke(ctx context.Context, lease clientv3.LeaseID) error {
	if lease == clientv3.NoLease {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := r.client.Revoke(ctx, lease)
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return unavailable(err)
	}
	return nil
}

// keep renews the lease until it is told to stop, or the lease is or may be gone. Each
// try may take a quarter of the lease; a renewal counts from when it was sent.
func (s *session) keep(ctx context.Context) {
	defer close(s.done)
	defer s.stop()
	every := registry.RenewEvery(s.ttl)
	next := s.LastRenewed().Add(every)
	for {
		end := s.LastRenewed().Add(s.ttl - registry.Margin(s.ttl))
		if !pause(ctx, nil, time.Until(earlier(next, end))) {
			return
		}
		if !time.Now().Before(end) {
			s.end(registry.ErrSilent)
			return
		}
		sent := time.Now()
		err := s.renew(ctx, earlier(sent.Add(every), end))
		switch {
		case err == nil:
			s.mu.Lock()
			s.renewed = sent
			s.mu.Unlock()
			next = sent.Add(every)
		case ctx.Err() != nil:
			return
		case errors.Is(err, registry.ErrSessionLost):
			s.end(registry.ErrSessionLost)
			return
		default:
			s.r.log.Debug("lease not renewed", "node", s.member.Node, "error", err)
			next = time.Now().Add(min(every, retryFirst))
		}
	}
}

// renew asks for the lease once and looks whether the record is still ours: somebody
// may have deleted it to make this process leave.
func (s *session) renew(ctx context.Context, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	resp, err := s.r.client.KeepAliveOnce(ctx, s.lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		// It may be gone because everything is gone: the watches must look again.
		s.r.get(ctx, s.key) //nolint:errcheck // only its header matters, and the lease is lost anyway
		return registry.ErrSessionLost
	}
	if err != nil {
		return unavailable(err)
	}
	// A renewal's revision may lag behind: only its cluster id can show a wipe.
	s.r.observe(resp.GetClusterId(), resp.GetRevision(), 0)
	got, err := s.r.get(ctx, s.key)
	if err != nil {
		// The lease was renewed; that the record could not be read is no loss.
		return nil
	}
	if len(got.Kvs) == 0 || clientv3.LeaseID(got.Kvs[0].Lease) != s.lease {
		return registry.ErrSessionLost
	}
	return nil
}

// end closes Lost, once, for a reason.
func (s *session) end(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = reason
	close(s.lost)
	if !errors.Is(reason, registry.ErrLeft) {
		s.r.log.Warn("session lost", "role", s.member.Role, "node", s.member.Node, "incarnation", s.member.Incarnation,
			"reason", reason, "last_renewed_ago", time.Since(s.renewed).String())
	}
}

func (s *session) Member() registry.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.member
}

func (s *session) LastRenewed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed
}

func (s *session) TTL() time.Duration { return s.ttl }

func (s *session) Lost() <-chan struct{} { return s.lost }

func (s *session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *session) Update(ctx context.Context, m registry.Member) error {
	if !m.Same(s.Member()) {
		return fmt.Errorf("update member %s: role, node and incarnation stay: %w", m.Node, registry.ErrInvalid)
	}
	m.Takeover = false
	text, err := m.Encode()
	if err != nil {
		return err
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("update member %s: %w", m.Node, err)
	}
	resp, err := s.r.write(ctx,
		[]clientv3.Cmp{clientv3.Compare(clientv3.LeaseValue(s.key), "=", s.lease)},
		[]clientv3.Op{clientv3.OpPut(s.key, string(text), clientv3.WithLease(s.lease))}, nil)
	if err == nil && !resp.Succeeded {
		err = registry.ErrSessionLost
	}
	if err != nil {
		return fmt.Errorf("update member %s: %w", m.Node, err)
	}
	s.mu.Lock()
	s.member = m
	s.mu.Unlock()
	return nil
}

func (s *session) Leave(ctx context.Context) error {
	s.stop()
	<-s.done
	s.end(registry.ErrLeft)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.r.client.Revoke(ctx, s.lease)
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("leave as %s: %w", s.key, unavailable(err))
	}
	return nil
}

func (s *session) Abandon() {
	s.stop()
	<-s.done
	s.end(registry.ErrLeft)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
