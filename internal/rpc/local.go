package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// localQueue is how many messages may wait on a local stream, each way, before its sender waits, too.
const localQueue = 16

// Conn is a connection to a server: that of Dial, or one that NewLocal has made of it.
type Conn interface {
	grpc.ClientConnInterface
	Close() error
}

// local is a connection to a server in the same process.
type local struct {
	Conn
	methods map[string]grpc.StreamHandler
	server  any
	caller  context.Context //nolint:containedctx // holds no more than who calls
}

// NewLocal makes the streams of a service that go both ways calls within this process: no network, no encryption, and one
// copy of each message instead of its encoding. All other calls go by conn. The server knows the caller by the same
// certificate, whose role must be one that may call; what it may not goes by conn, too, and is refused there.
func NewLocal(conn Conn, caller *Certificate, service *grpc.ServiceDesc, server any) Conn {
	l := &local{Conn: conn, methods: map[string]grpc.StreamHandler{}, server: server}
	for _, s := range service.Streams {
		method := "/" + service.ServiceName + "/" + s.StreamName
		if s.ClientStreams && s.ServerStreams && slices.Contains(callers[method], caller.Identity.Role) {
			l.methods[method] = s.Handler
		}
	}
	shown := credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{caller.leaf}}}}
	l.caller = peer.NewContext(context.Background(), &peer.Peer{Addr: &net.UnixAddr{Name: "this process", Net: "local"}, AuthInfo: shown})
	return l
}

// NewStream begins a call: within this process, or by the connection.
func (l *local) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	handle := l.methods[method]
	if handle == nil {
		return l.Conn.NewStream(ctx, desc, method, opts...)
	}
	if err := ctx.Err(); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	served, end := context.WithCancel(l.caller)
	c := &localCall{
		asked: ctx, served: served, done: make(chan struct{}), half: make(chan struct{}),
		up: make(chan proto.Message, localQueue), down: make(chan proto.Message, localQueue),
	}
	c.closeSend = sync.OnceFunc(func() { close(c.half) })
	left := context.AfterFunc(ctx, end) // the caller's end is the server's
	go func() {
		c.err = handle(l.server, localServer{c})
		close(c.done)
		left()
		end()
	}()
	return localClient{c}, nil
}

// localCall is one stream within this process.
type localCall struct {
	asked, served context.Context //nolint:containedctx // of the two sides, as gRPC itself keeps them
	up, down      chan proto.Message
	half          chan struct{} // closed when the caller sends no more
	closeSend     func()
	done          chan struct{} // closed when the server has returned
	err           error         // what it returned
}

// end is what the caller gets to know of the server's return.
func (c *localCall) end() error {
	if c.err == nil {
		return io.EOF
	}
	return status.Convert(c.err).Err()
}

// move gives a message that nobody else has to the one that was made for it.
func move(to any, from proto.Message) {
	m := to.(proto.Message).ProtoReflect()
	from.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		m.Set(field, value)
		return true
	})
}

// localClient is the caller's side.
type localClient struct{ *localCall }

// SendMsg sends a copy.
func (c localClient) SendMsg(m any) error {
	select {
	case <-c.done:
		return io.EOF // as of gRPC: RecvMsg says why
	default:
	}
	select {
	case c.up <- proto.Clone(m.(proto.Message)):
		return nil
	case <-c.done:
		return io.EOF
	case <-c.asked.Done():
		return status.FromContextError(c.asked.Err()).Err()
	}
}

// RecvMsg waits for the next message; what the server has sent before it returned comes first.
func (c localClient) RecvMsg(m any) error {
	select {
	case got := <-c.down:
		move(m, got)
		return nil
	case <-c.asked.Done():
		return status.FromContextError(c.asked.Err()).Err()
	case <-c.done:
	}
	select {
	case got := <-c.down:
		move(m, got)
		return nil
	default:
		return c.end()
	}
}

// CloseSend says that no more is sent.
func (c localClient) CloseSend() error { c.closeSend(); return nil }

// Context is the caller's.
func (c localClient) Context() context.Context { return c.asked }

// Header is empty: there are none within a process.
func (localClient) Header() (metadata.MD, error) { return nil, nil } //nolint:nilnil // as it is where a server sends none

// Trailer is empty, too.
func (localClient) Trailer() metadata.MD { return nil }

// localServer is the server's side.
type localServer struct{ *localCall }

// SendMsg sends a copy.
func (c localServer) SendMsg(m any) error {
	select {
	case c.down <- proto.Clone(m.(proto.Message)):
		return nil
	case <-c.served.Done():
		return status.FromContextError(c.served.Err()).Err()
	}
}

// RecvMsg waits for the next message of the caller.
func (c localServer) RecvMsg(m any) error {
	select {
	case got := <-c.up:
		move(m, got)
		return nil
	case <-c.served.Done():
		return status.FromContextError(c.served.Err()).Err()
	case <-c.half:
	}
	select {
	case got := <-c.up:
		move(m, got)
		return nil
	default:
		return io.EOF
	}
}

// Context holds who calls, and ends with the caller's.
func (c localServer) Context() context.Context { return c.served }

// SetHeader, SendHeader and SetTrailer have nobody who would read them.
func (localServer) SetHeader(metadata.MD) error { return nil }

// SendHeader does nothing.
func (localServer) SendHeader(metadata.MD) error { return nil }

// SetTrailer does nothing.
func (localServer) SetTrailer(metadata.MD) {}
