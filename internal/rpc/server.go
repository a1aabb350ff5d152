package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

const (
	// MaxMessageBytes bounds every message, both ways.
	MaxMessageBytes = 4 << 20
	// pingEvery and pingTimeout find a dead peer within eight seconds, both ways; gRPC
	// also sets TCP_USER_TIMEOUT to the latter where the system has it.
	pingEvery   = 5 * time.Second
	pingTimeout = 3 * time.Second
	// pingLeast is the shortest pause between a client's pings that is no abuse.
	pingLeast = 2 * time.Second
	// handshakeTimeout bounds how long a stranger may hold a connection.
	handshakeTimeout = 5 * time.Second
	// maxStreams bounds the concurrent calls of one connection; a peer needs one or two.
	maxStreams = 64
	// streamWindow and connWindow are how much of a stream, and of a connection, may be under way. Without them, gRPC looks
	// for the best windows by a ping after each message that nothing else is under way with, which woke both ends of a lone
	// step twice more.
	streamWindow = 1 << 20
	connWindow   = 4 << 20
	// maxHeaderBytes bounds a call's headers.
	maxHeaderBytes = 16 << 10
	// redialMost is the longest pause between two tries of a broken connection.
	redialMost = 3 * time.Second
)

// ServerConfig is what a gRPC server of ours needs.
type ServerConfig struct {
	Certificate *Certificate
	Logger      hclog.Logger
	// OnRefused hears of every connection and call that was turned away, from any
	// goroutine; it must not block. Nil is fine.
	OnRefused func(Refusal)
}

// NewServer makes a gRPC server that knows its callers: TLS 1.3, and each call by the
// role in the client's certificate. Nothing reaches a handler before that.
func NewServer(cfg ServerConfig) (*grpc.Server, error) {
	if cfg.Certificate == nil {
		return nil, errors.New("new rpc server: no certificate is given")
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	g := &guard{log: log.Named("rpc"), onRefused: cfg.OnRefused, logged: map[string]time.Time{}}
	return grpc.NewServer(
		grpc.Creds(watched{TransportCredentials: credentials.NewTLS(cfg.Certificate.ServerTLS()), guard: g}),
		grpc.ChainUnaryInterceptor(g.unary),
		grpc.ChainStreamInterceptor(g.stream),
		grpc.UnknownServiceHandler(unknown),
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.MaxSendMsgSize(MaxMessageBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingLeast, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingTimeout}),
	), nil
}

// Dial makes a connection to a server of ours; Certificate.Credentials gives creds. It
// connects at the first call and again after a break, within three seconds of pauses.
// The caller closes it.
func Dial(ctx context.Context, addr string, creds credentials.TransportCredentials) (*grpc.ClientConn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingTimeout, PermitWithoutStream: true}),
		grpc.WithConnectParams(connectParams()),
		grpc.WithMaxHeaderListSize(maxHeaderBytes),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return conn, nil
}

func connectParams() grpc.ConnectParams {
	p := grpc.ConnectParams{MinConnectTimeout: handshakeTimeout}
	p.Backoff.BaseDelay, p.Backoff.Multiplier = 100*time.Millisecond, 1.6
	p.Backoff.Jitter, p.Backoff.MaxDelay = 0.2, redialMost
	return p
}
