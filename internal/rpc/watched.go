package rpc

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// watched are transport credentials that tell of connections that came to nothing: a handshake that
// failed, or an end without a call, such as that of bytes that are no HTTP/2.
type watched struct {
	credentials.TransportCredentials
	guard *guard
}

// ServerHandshake implements credentials.TransportCredentials.
func (w watched) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := w.TransportCredentials.ServerHandshake(conn)
	if err != nil {
		w.guard.refuse(Refusal{Kind: RefusedConnection, Addr: conn.RemoteAddr().String(), Reason: err.Error()})
		return nil, nil, err
	}
	tls, ok := info.(credentials.TLSInfo)
	if !ok {
		return secure, info, nil
	}
	c := &watchedConn{Conn: secure, guard: w.guard}
	return c, watchedInfo{TLSInfo: tls, conn: c}, nil
}

// Clone implements credentials.TransportCredentials.
func (w watched) Clone() credentials.TransportCredentials {
	return watched{TransportCredentials: w.TransportCredentials.Clone(), guard: w.guard}
}

// watchedInfo lets a call find its connection.
type watchedInfo struct {
	credentials.TLSInfo
	conn *watchedConn
}

// watchedConn knows whether a call was ever made on it.
type watchedConn struct {
	net.Conn
	guard          *guard
	called, closed atomic.Bool
}

// Close implements net.Conn.
func (c *watchedConn) Close() error {
	if !c.closed.Swap(true) && !c.called.Load() {
		c.guard.refuse(Refusal{Kind: RefusedConnection, Addr: c.RemoteAddr().String(), Reason: "it ended without a call"})
	}
	return c.Conn.Close()
}

// called notes that a connection has come as far as a call.
func called(ctx context.Context) {
	if from, ok := peer.FromContext(ctx); ok {
		if info, ok := from.AuthInfo.(watchedInfo); ok {
			info.conn.called.Store(true)
		}
	}
}

// heard is a stream that tells of messages that can't be taken.
type heard struct {
	grpc.ServerStream
	guard  *guard
	method string
}

// RecvMsg implements grpc.ServerStream.
func (h heard) RecvMsg(m any) error {
	err := h.ServerStream.RecvMsg(m)
	switch status.Code(err) {
	case codes.ResourceExhausted, codes.Internal: // too large; not to be decoded
		h.guard.tell(h.Context(), h.method, err)
	default:
	}
	return err
}

// tell counts a call that was refused for what it said.
func (g *guard) tell(ctx context.Context, method string, err error) {
	r := Refusal{Kind: RefusedMessage, Method: method, Reason: err.Error()}
	if from, ok := peer.FromContext(ctx); ok {
		r.Addr = from.Addr.String()
	}
	if id, err := Peer(ctx); err == nil {
		r.Peer = id.String()
	}
	g.refuse(r)
}

// judge counts what a handler has refused.
func (g *guard) judge(ctx context.Context, method string, err error) {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated:
		g.tell(ctx, method, err)
	default:
	}
}

// unknown answers calls of methods that are not ours; the guard has counted them before.
func unknown(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Error(codes.Unimplemented, fmt.Sprintf("unknown method %.200s", method))
}
