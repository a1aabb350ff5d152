package rpc

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

// here serves what a test says.
type here struct {
	UnimplementedMasterServer
	work func(stream Master_WorkServer) error
}

func (h here) Work(stream Master_WorkServer) error { return h.work(stream) }

// beyond is a connection of which a test only wants to know that it was used.
type beyond struct {
	grpc.ClientConnInterface
	asked []string
}

var errBeyond = errors.New("by the network")

func (b *beyond) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	b.asked = append(b.asked, method)
	return nil, errBeyond
}

func (b *beyond) Close() error { return nil }

// begin opens Work of a server in this process.
func begin(ctx context.Context, t *testing.T, serve func(stream Master_WorkServer) error) Master_WorkClient {
	t.Helper()
	cert := certificate(t, testCA(t, testCluster), registry.Worker, "w1")
	stream, err := NewMasterClient(NewLocal(&beyond{}, cert, &Master_ServiceDesc, here{work: serve})).Work(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestALocalStreamKnowsItsCallerAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	const messages = 5 * localQueue
	stream := begin(deadline(t), t, func(stream Master_WorkServer) error {
		from, err := Peer(stream.Context())
		if err != nil || from.Node != "w1" || from.Role != registry.Worker {
			t.Errorf("caller = %v, %v, want worker w1", from, err)
		}
		for i := int32(1); ; i++ {
			m, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return status.Error(codes.Aborted, "that was all")
			}
			if err != nil || m.Ask != i {
				t.Errorf("message %d = %v, %v", i, m, err)
			}
			if err := stream.Send(&MasterMessage{Unused: m.Ask}); err != nil {
				t.Error(err)
			}
		}
	})
	go func() {
		for i := range int32(messages) {
			if err := stream.Send(&WorkerMessage{Ask: i + 1}); err != nil {
				t.Error(err)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Error(err)
		}
	}()
	for i := range int32(messages) {
		if m, err := stream.Recv(); err != nil || m.Unused != i+1 {
			t.Fatalf("answer %d = %v, %v", i+1, m, err)
		}
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Aborted {
		t.Errorf("end = %v, want what the server returned", err)
	}
	if err := stream.Send(&WorkerMessage{}); !errors.Is(err, io.EOF) {
		t.Errorf("send after the end = %v, want %v", err, io.EOF)
	}
}

// Both sides go on using what they have sent: a dispatch is kept to be sent again, and the worker unpacks its copy.
func TestWhatALocalStreamSendsIsACopy(t *testing.T) {
	t.Parallel()
	kept := &Dispatch{Type: "shell", Env: map[string]string{"a": "b"}}
	stream := begin(deadline(t), t, func(stream Master_WorkServer) error {
		return stream.Send(&MasterMessage{Dispatches: []*Dispatch{kept}})
	})
	m, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	got := m.Dispatches[0]
	if got.Type != "shell" || got.Env["a"] != "b" {
		t.Errorf("dispatch = %v", got)
	}
	got.Type, got.Env["a"] = "python", "c"
	if kept.Type != "shell" || kept.Env["a"] != "b" {
		t.Errorf("what was sent has changed: %v", kept)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("end = %v, want %v", err, io.EOF)
	}
}

func TestTheEndOfTheCallerEndsALocalStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(deadline(t))
	ended := make(chan error, 1)
	stream := begin(ctx, t, func(stream Master_WorkServer) error {
		_, err := stream.Recv()
		ended <- err
		<-stream.Context().Done()
		return err
	})
	cancel()
	if err := <-ended; status.Code(err) != codes.Canceled {
		t.Errorf("the server heard %v, want canceled", err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("the caller heard %v, want canceled", err)
	}
	var full error
	for range localQueue + 1 { // none is there to take them
		if err := stream.Send(&WorkerMessage{}); err != nil {
			full = err
		}
	}
	if full == nil {
		t.Error("more was sent on a stream that has ended than it holds")
	}
}

func TestWhatIsNotForACallerOrNotAStreamBothWaysGoesByTheConnection(t *testing.T) {
	t.Parallel()
	ctx, ca := deadline(t), testCA(t, testCluster)
	for role, calls := range map[registry.Role][]func(MasterClient) error{
		registry.APIServer: {
			func(m MasterClient) error { _, err := m.Work(ctx); return err },
		},
		registry.Worker: {
			func(m MasterClient) error { _, err := m.Watch(ctx); return err },
			func(m MasterClient) error { _, err := m.KeepArtifacts(ctx); return err },
			func(m MasterClient) error { _, err := m.ReadArtifacts(ctx, &ArtifactQuery{}); return err },
		},
	} {
		network := &beyond{}
		client := NewMasterClient(NewLocal(network, certificate(t, ca, role, "n1"), &Master_ServiceDesc, here{}))
		for _, call := range calls {
			if err := call(client); !errors.Is(err, errBeyond) {
				t.Errorf("a call of a %s: %v, want %v", role, err, errBeyond)
			}
		}
		if len(network.asked) != len(calls) {
			t.Errorf("a %s asked the network for %q, want %d calls", role, network.asked, len(calls))
		}
	}
}
