package logs

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/porpoise/porpoise/internal/rpc"
)

// peer takes the node from a header where the real one takes it from the certificate.
func peer(ctx context.Context) (string, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md.Get("node"); len(v) == 1 {
		return v[0], nil
	}
	return "", errors.New("no certificate")
}

func newServer(t *testing.T) (*Server, rpc.LogsClient, connections) {
	t.Helper()
	connected := make(connections, 8)
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard})
	log.RegisterSink(connected)
	s := New(Config{Peer: peer, Logger: log})
	g := grpc.NewServer()
	rpc.RegisterLogsServer(g, s)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(lis) }()
	t.Cleanup(func() { g.Stop(); <-served })
	conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return s, rpc.NewLogsClient(conn), connected
}

// dialIn is a worker that says who it is.
func dialIn(t *testing.T, client rpc.LogsClient, s *Server, certified, says string) rpc.Logs_ServeClient {
	t.Helper()
	stream, err := client.Serve(metadata.AppendToOutgoingContext(t.Context(), "node", certified))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&rpc.LogAnswer{Worker: says, Incarnation: "i1"}); err != nil {
		t.Fatal(err)
	}
	return stream
}

// connections is a logger's sink that hears of workers whose streams the server has taken.
type connections chan string

// Accept gets every line of the server's log.
func (c connections) Accept(_ string, _ hclog.Level, msg string, args ...any) {
	if msg == "worker serves logs" {
		c <- args[1].(string)
	}
}

// wait returns once the server has taken a stream of the worker.
func (c connections) wait(t *testing.T, worker string) {
	t.Helper()
	select {
	case got := <-c:
		if got != worker {
			t.Fatalf("%s is connected, want %s", got, worker)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("%s is not connected", worker)
	}
}

// answer serves one worker's queries from a text, until its stream ends.
func answer(stream rpc.Logs_ServeClient, text string) {
	for {
		q, err := stream.Recv()
		if err != nil {
			return
		}
		if q.GetCancel() {
			continue
		}
		if q.GetAttempt().GetTask() == 9 {
			_ = stream.Send(&rpc.LogAnswer{Id: q.GetId(), Error: "not_found"})
			continue
		}
		from := min(q.GetOffset(), int64(len(text)))
		to := min(from+int64(q.GetLimit()), int64(len(text)))
		if !q.GetFollow() {
			_ = stream.Send(&rpc.LogAnswer{Id: q.GetId(), Data: []byte(text[from:to]), Offset: from, Size: int64(len(text)), Eof: to == int64(len(text))})
			continue
		}
		const step = 1000
		for at := from; at < int64(len(text)); at += step {
			end := min(at+step, int64(len(text)))
			if stream.Send(&rpc.LogAnswer{Id: q.GetId(), Data: []byte(text[at:end]), Offset: at, Size: int64(len(text)), Eof: end == int64(len(text))}) != nil {
				return
			}
		}
	}
}

func TestWindowComesFromTheWorkerThatHasIt(t *testing.T) {
	t.Parallel()
	s, client, connected := newServer(t)
	go answer(dialIn(t, client, s, "w1", "w1"), "hello, log")
	connected.wait(t, "w1")
	w, err := s.Read(t.Context(), "w1", Query{Instance: 1, Number: 1, Offset: 7, Limit: 2})
	if err != nil || string(w.Data) != "lo" || w.Offset != 7 || w.Size != 10 || w.EOF {
		t.Errorf("window = %+v %v", w, err)
	}
	if _, err := s.Read(t.Context(), "w1", Query{Instance: 1, Task: 9, Number: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent output = %v", err)
	}
	if _, err := s.Read(t.Context(), "w2", Query{}); !errors.Is(err, ErrWorkerGone) {
		t.Errorf("absent worker = %v", err)
	}
}

func TestWorkerSpeaksForItselfOnly(t *testing.T) {
	t.Parallel()
	s, client, _ := newServer(t)
	stream := dialIn(t, client, s, "w1", "w2")
	if _, err := stream.Recv(); err == nil || !strings.Contains(err.Error(), "PermissionDenied") {
		t.Errorf("stream of another worker = %v", err)
	}
	if s.Connected("w2") {
		t.Error("w2 is connected")
	}
}

func TestReaderLearnsThatTheWorkerWentAway(t *testing.T) {
	t.Parallel()
	s, client, connected := newServer(t)
	stream := dialIn(t, client, s, "w1", "w1")
	connected.wait(t, "w1")
	got := make(chan error, 1)
	go func() {
		_, err := s.Read(t.Context(), "w1", Query{Instance: 1, Number: 1})
		got <- err
	}()
	if _, err := stream.Recv(); err != nil { // the query is in flight now
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrWorkerGone) {
		t.Errorf("read = %v", err)
	}
}

func TestNewerStreamTakesOver(t *testing.T) {
	t.Parallel()
	s, client, connected := newServer(t)
	old := dialIn(t, client, s, "w1", "w1")
	connected.wait(t, "w1")
	go answer(dialIn(t, client, s, "w1", "w1"), "new")
	if _, err := old.Recv(); err == nil || !strings.Contains(err.Error(), "newer stream") {
		t.Errorf("old stream = %v", err)
	}
	w, err := s.Read(t.Context(), "w1", Query{Instance: 1, Number: 1})
	if err != nil || string(w.Data) != "new" {
		t.Errorf("window = %q %v", w.Data, err)
	}
}

func TestSlowFollowerLosesNothing(t *testing.T) {
	t.Parallel()
	s, client, connected := newServer(t)
	text := strings.Repeat("0123456789", 20_000) // many times what may wait for one reader
	go answer(dialIn(t, client, s, "w1", "w1"), text)
	connected.wait(t, "w1")
	var got strings.Builder
	err := s.Follow(t.Context(), "w1", Query{Instance: 1, Number: 1}, func(w Window) error {
		got.Write(w.Data)
		if got.Len()%7000 == 0 {
			// Others are answered while this one dawdles.
			if _, err := s.Read(t.Context(), "w1", Query{Instance: 1, Number: 1, Limit: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || got.String() != text {
		t.Errorf("followed %d of %d bytes, %v", got.Len(), len(text), err)
	}
}

func TestQueriesInFlightAreBounded(t *testing.T) {
	t.Parallel()
	l := newLink("w1")
	for range maxQueries {
		if _, err := l.register(Query{}.message(false)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.register(Query{}.message(false)); !errors.Is(err, ErrBusy) {
		t.Errorf("one more = %v", err)
	}
}
