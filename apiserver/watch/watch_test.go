package watch

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// master is one that keeps the hints it gets and tells the changes it is given.
type master struct {
	rpc.UnimplementedMasterServer
	hints   chan *rpc.Hint
	changes chan *rpc.Change
}

func (m *master) Watch(stream rpc.Master_WatchServer) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			h, err := stream.Recv()
			if err != nil {
				return
			}
			m.hints <- h
		}
	}()
	for {
		select {
		case c := <-m.changes:
			if err := stream.Send(&rpc.Committed{Changes: []*rpc.Change{c}}); err != nil {
				return err
			}
		case <-ended:
			return nil
		}
	}
}

// serve runs a master on loopback and returns where.
func serve(t *testing.T) (*master, string, func()) {
	t.Helper()
	m := &master{hints: make(chan *rpc.Hint, 100), changes: make(chan *rpc.Change, 100)}
	g := grpc.NewServer()
	rpc.RegisterMasterServer(g, m)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(lis) }()
	stop := sync.OnceFunc(func() { g.Stop(); <-served })
	t.Cleanup(stop)
	return m, lis.Addr().String(), stop
}

// fixed is a list of masters that the test changes.
type fixed chan []Master

func (f fixed) Masters(context.Context) (<-chan []Master, error) { return f, nil }

func run(t *testing.T, list fixed) *Watcher {
	t.Helper()
	w := New(Config{Masters: list, Logger: hclog.NewNullLogger(), Dial: func(_ context.Context, addr string) (rpc.Conn, error) {
		return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

func TestHintsGoDownAndChangesComeUp(t *testing.T) {
	t.Parallel()
	m, addr, _ := serve(t)
	list := make(fixed, 1)
	w := run(t, list)
	sub := w.Subscribe(func(c Change) bool { return c.Project == 7 })
	defer sub.Close()
	list <- []Master{{Node: "m1", Address: addr}}
	<-m.hints // the empty one that opens the stream
	<-sub.Ready()
	if _, lagged := sub.Take(); !lagged {
		t.Error("a new stream did not tell its subscribers to read again")
	}
	w.Command(42)
	w.Control(43)
	var commands, controls []int64
	for len(commands) == 0 || len(controls) == 0 {
		h := <-m.hints
		commands, controls = append(commands, h.GetCommands()...), append(controls, h.GetControls()...)
	}
	if commands[0] != 42 || controls[0] != 43 {
		t.Errorf("hints %v %v", commands, controls)
	}
	m.changes <- &rpc.Change{InstanceId: 1, ProjectId: 8, Seq: 1, State: "running"}
	m.changes <- &rpc.Change{InstanceId: 2, ProjectId: 7, Seq: 5, State: "success"}
	<-sub.Ready()
	got, lagged := sub.Take()
	if len(got) != 1 || got[0] != (Change{Instance: 2, Project: 7, Seq: 5, State: dag.InstanceSuccess}) || lagged {
		t.Errorf("took %+v, lagged %v", got, lagged)
	}
}

func TestLostMasterIsDialledAgain(t *testing.T) {
	t.Parallel()
	first, addr1, stop := serve(t)
	second, addr2, _ := serve(t)
	list := make(fixed, 2)
	w := run(t, list)
	list <- []Master{{Node: "m1", Address: addr1}, {Node: "m2", Address: addr2}}
	<-first.hints
	<-second.hints
	stop()
	w.Command(1)
	if h := <-second.hints; len(h.GetCommands()) != 1 {
		t.Errorf("hint to the other master = %v", h)
	}
	third, addr3, _ := serve(t)
	list <- []Master{{Node: "m2", Address: addr2}, {Node: "m1", Address: addr3}}
	<-third.hints
}

func TestSlowSubscriberIsToldToReadAgain(t *testing.T) {
	t.Parallel()
	w := New(Config{Logger: hclog.NewNullLogger()})
	sub := w.Subscribe(nil)
	for i := range int64(maxPending) {
		w.Publish(Change{Instance: i + 1, Seq: 1})
		w.Publish(Change{Instance: i + 1, Seq: 2}) // replaces the first
	}
	w.Publish(Change{Instance: 1, Seq: 1}) // older than what is known
	if _, lagged := peek(sub); lagged {
		t.Error("lagged before the bound")
	}
	w.Publish(Change{Instance: maxPending + 1, Seq: 1})
	got, lagged := sub.Take()
	if len(got) != maxPending || !lagged || got[0] != (Change{Instance: 1, Seq: 2}) {
		t.Errorf("%d changes, lagged %v, first %+v", len(got), lagged, got[0])
	}
	if got, lagged := sub.Take(); len(got) != 0 || lagged {
		t.Errorf("second Take = %d %v", len(got), lagged)
	}
	sub.Close()
	w.Publish(Change{Instance: 1, Seq: 3})
	if got, _ := sub.Take(); len(got) != 0 {
		t.Error("a closed subscription got a change")
	}
}

func peek(s *Subscription) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending), s.lagged
}

func TestHintsForAMasterThatDoesNotTakeThemAreBounded(t *testing.T) {
	t.Parallel()
	l := &link{wake: make(chan struct{}, 1)}
	for i := range 2 * maxHints {
		l.add(func(h *rpc.Hint) { h.Commands = append(h.Commands, int64(i)) })
	}
	if n := len(l.take().GetCommands()); n != maxHints {
		t.Errorf("%d hints wait, want %d", n, maxHints)
	}
}
