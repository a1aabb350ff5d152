package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

const testCluster = "c-1"

// site is a running server of one cluster, which counts what reaches its handlers.
type site struct {
	ca      *CA
	addr    string
	reached atomic.Int64
	refused chan Refusal
}

// master and logs are the handlers: they answer the first message and end.
type master struct {
	*JoinServer
	site *site
}

func (m master) Work(stream grpc.BidiStreamingServer[WorkerMessage, MasterMessage]) error {
	m.site.reached.Add(1)
	id, err := Peer(stream.Context())
	if err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	return stream.Send(&MasterMessage{Welcome: &Welcome{Master: id.String()}})
}

func (m master) Watch(stream grpc.BidiStreamingServer[Hint, Committed]) error {
	m.site.reached.Add(1)
	if _, err := stream.Recv(); err != nil {
		return err
	}
	return stream.Send(&Committed{})
}

type logs struct {
	UnimplementedLogsServer
	site *site
}

func (l logs) Serve(stream grpc.BidiStreamingServer[LogAnswer, LogQuery]) error {
	l.site.reached.Add(1)
	return stream.Send(&LogQuery{})
}

func testCA(t *testing.T, cluster string) *CA {
	t.Helper()
	ca, err := NewCA(cluster)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func newSite(t *testing.T, verify func(context.Context, string) (string, error)) *site {
	t.Helper()
	s := &site{ca: testCA(t, testCluster), refused: make(chan Refusal, 1000)}
	server, err := NewServer(ServerConfig{
		Certificate: certificate(t, s.ca, registry.Master, "m1"),
		OnRefused:   func(r Refusal) { s.refused <- r },
	})
	if err != nil {
		t.Fatal(err)
	}
	RegisterMasterServer(server, master{JoinServer: &JoinServer{CA: s.ca, VerifyToken: verify}, site: s})
	RegisterLogsServer(server, logs{site: s})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { server.Stop(); served.Wait() })
	return s
}

func certificate(t *testing.T, ca *CA, role registry.Role, node string) *Certificate {
	t.Helper()
	cert, err := ca.NewCertificate(role, node)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, addr string, cert *Certificate) *grpc.ClientConn {
	t.Helper()
	conn, err := Dial(t.Context(), addr, cert.Credentials(registry.Master))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) // a test's connection
	return conn
}

// work makes one Work call and gives the welcome's text.
func work(ctx context.Context, conn grpc.ClientConnInterface, hello *Hello) (string, error) {
	stream, err := NewMasterClient(conn).Work(ctx)
	if err != nil {
		return "", err
	}
	if err := stream.Send(&WorkerMessage{Hello: hello}); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	answer, err := stream.Recv()
	return answer.GetWelcome().GetMaster(), err
}

func watch(ctx context.Context, conn grpc.ClientConnInterface) error {
	stream, err := NewMasterClient(conn).Watch(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(&Hint{}); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = stream.Recv()
	return err
}

func serve(ctx context.Context, conn grpc.ClientConnInterface) error {
	stream, err := NewLogsClient(conn).Serve(ctx)
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

// stillServes is the end of every attack: nothing got in, and workers still do.
func (s *site) stillServes(t *testing.T) {
	t.Helper()
	if n := s.reached.Load(); n != 0 {
		t.Errorf("%d calls reached a handler, want none", n)
	}
	conn := dial(t, s.addr, certificate(t, s.ca, registry.Worker, "w-good"))
	if who, err := work(deadline(t), conn, &Hello{}); err != nil || who != "porpoise://c-1/worker/w-good" {
		t.Errorf("afterwards Work = %q, %v, want a welcome", who, err)
	}
}

func (s *site) nextRefusal(t *testing.T) Refusal {
	t.Helper()
	select {
	case r := <-s.refused:
		return r
	case <-deadline(t).Done():
		t.Fatal("no refusal was told")
		return Refusal{}
	}
}

func TestEachCallIsForItsRolesOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	calls := map[string]func(context.Context, grpc.ClientConnInterface) error{
		Master_Work_FullMethodName: func(ctx context.Context, c grpc.ClientConnInterface) error {
			_, err := work(ctx, c, nil)
			return err
		},
		Master_Watch_FullMethodName: watch,
		Logs_Serve_FullMethodName:   serve,
	}
	for _, role := range registry.Roles() {
		conn := dial(t, s.addr, certificate(t, s.ca, role, "n1"))
		for method, call := range calls {
			want := codes.PermissionDenied
			for _, allowed := range callers[method] {
				if allowed == role {
					want = codes.OK
				}
			}
			before := s.reached.Load()
			err := call(deadline(t), conn)
			if status.Code(err) != want {
				t.Errorf("%s as %s: %v, want %v", method, role, err, want)
			}
			if got := s.reached.Load() - before; (got == 1) != (want == codes.OK) {
				t.Errorf("%s as %s reached the handler %d times", method, role, got)
			}
			if want == codes.OK {
				continue
			}
			if r := s.nextRefusal(t); r.Method != method || r.Peer != "porpoise://c-1/"+string(role)+"/n1" {
				t.Errorf("refusal %+v does not name the call", r)
			}
		}
	}
}

func TestEveryMethodDeclaresItsCallers(t *testing.T) {
	t.Parallel()
	declared := 0
	for _, desc := range []grpc.ServiceDesc{Master_ServiceDesc, Logs_ServiceDesc} {
		var methods []string
		for _, m := range desc.Methods {
			methods = append(methods, m.MethodName)
		}
		for _, m := range desc.Streams {
			methods = append(methods, m.StreamName)
		}
		for _, m := range methods {
			if _, ok := callers["/"+desc.ServiceName+"/"+m]; !ok {
				t.Errorf("%s/%s does not say who may call it", desc.ServiceName, m)
			}
			declared++
		}
	}
	if declared != len(callers) {
		t.Errorf("callers has %d methods, the services have %d", len(callers), declared)
	}
}
