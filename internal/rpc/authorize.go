package rpc

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

// callers says which roles may make a call. A method that is not here is refused to
// everybody; an empty list is open to who has no certificate.
var callers = map[string][]registry.Role{
	Master_Work_FullMethodName:          {registry.Worker},
	Master_KeepArtifacts_FullMethodName: {registry.Worker},
	Master_ReadArtifacts_FullMethodName: {registry.Worker},
	Master_Watch_FullMethodName:         {registry.APIServer},
	Master_Join_FullMethodName:          {},
	Logs_Serve_FullMethodName:           {registry.Worker},
}

const (
	// refusalLogEvery is how often one peer's refused calls are worth a line.
	refusalLogEvery = time.Minute
	// refusalPeers bounds how many peers are remembered for that.
	refusalPeers = 1024
)

// Peer gives the identity of a call's client, on the server. Inside a handler of a
// method that asks for a role it never fails but when the certificate runs out.
func Peer(ctx context.Context) (Identity, error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return Identity{}, unauthenticated{fmt.Errorf("no peer: %w", ErrIdentity)}
	}
	info, ok := tlsOf(from.AuthInfo)
	if !ok || len(info.State.VerifiedChains) == 0 || len(info.State.VerifiedChains[0]) == 0 {
		return Identity{}, unauthenticated{fmt.Errorf("peer without certificate: %w", ErrIdentity)}
	}
	leaf := info.State.VerifiedChains[0][0]
	// A connection may live longer than the certificate that opened it.
	if time.Now().After(leaf.NotAfter) {
		return Identity{}, unauthenticated{fmt.Errorf("peer's certificate has expired: %w", ErrIdentity)}
	}
	return identityOf(leaf)
}

func tlsOf(info credentials.AuthInfo) (credentials.TLSInfo, bool) {
	if w, ok := info.(watchedInfo); ok {
		return w.TLSInfo, true
	}
	tls, ok := info.(credentials.TLSInfo)
	return tls, ok
}

// unauthenticated is an error that answers a call as Unauthenticated: a certificate may run out between
// the guard's look and the handler's.
type unauthenticated struct{ error }

func (u unauthenticated) Unwrap() error { return u.error }

// GRPCStatus implements what status.FromError asks for.
func (u unauthenticated) GRPCStatus() *status.Status {
	return status.New(codes.Unauthenticated, u.Error())
}

// guard decides about calls and tells what it refused.
type guard struct {
	log       hclog.Logger
	onRefused func(Refusal)

	mu     sync.Mutex
	logged map[string]time.Time // by peer host
}

func (g *guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := g.check(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	answer, err := handler(ctx, req)
	g.judge(ctx, info.FullMethod, err)
	return answer, err
}

func (g *guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := g.check(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	err := handler(srv, heard{ServerStream: stream, guard: g, method: info.FullMethod})
	g.judge(stream.Context(), info.FullMethod, err)
	return err
}

// check decides about one call.
func (g *guard) check(ctx context.Context, method string) error {
	called(ctx)
	roles, known := callers[method]
	if known && len(roles) == 0 {
		return nil
	}
	refusal := Refusal{Kind: RefusedCaller, Method: method}
	if from, ok := peer.FromContext(ctx); ok {
		refusal.Addr = from.Addr.String()
	}
	id, err := Peer(ctx)
	if err != nil {
		refusal.Reason = err.Error()
		g.refuse(refusal)
		return status.Error(codes.Unauthenticated, "a certificate of this cluster is needed; see porpoise token")
	}
	if !known {
		refusal.Peer, refusal.Reason = id.String(), "no such method"
		g.refuse(refusal)
		return status.Errorf(codes.Unimplemented, "unknown method %.200s", method)
	}
	if !slices.Contains(roles, id.Role) {
		refusal.Peer, refusal.Reason = id.String(), fmt.Sprintf("role %s may not call it", id.Role)
		g.refuse(refusal)
		return status.Errorf(codes.PermissionDenied, "a %s may not call %s", id.Role, method)
	}
	return nil
}

// refuse counts a refusal, and logs it unless this peer's last one was just logged.
func (g *guard) refuse(r Refusal) {
	if g.onRefused != nil {
		g.onRefused(r)
	}
	host, _, err := net.SplitHostPort(r.Addr)
	if err != nil {
		host = r.Addr
	}
	now := time.Now()
	g.mu.Lock()
	last, seen := g.logged[host]
	quiet := seen && now.Sub(last) < refusalLogEvery
	if !quiet {
		if len(g.logged) >= refusalPeers {
			clear(g.logged)
		}
		g.logged[host] = now
	}
	g.mu.Unlock()
	if !quiet {
		g.log.Warn("refused", "method", r.Method, "from", r.Addr, "peer", r.Peer, "reason", r.Reason)
	}
}
