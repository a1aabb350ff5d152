// Package link serves the streams on which workers talk to a master: hello, asks, reports
// and ticks come up; dispatches, kills and acks go down, batched into as few messages as the
// stream's pace makes. It owns the open links. It never decides what a message means:
// engine hears the reports, the dispatcher the asks.
package link

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
)

// Attempts hears what workers say of attempts.
type Attempts interface {
	Hello(worker rpc.Process, running []*rpc.Running)
	Heard(node string)
	Bye(worker rpc.Process)
	Report(ctx context.Context, report *rpc.Report, answer func(verdict, owner string))
	Check(running *rpc.Running) string
}

// Asks hears how much work workers want.
type Asks interface {
	Join(worker rpc.Process, groups []string, labels map[string]string)
	Leave(worker rpc.Process)
	Ask(worker rpc.Process, n int)
	AskInstant(worker rpc.Process, n int)
	Recall(worker rpc.Process, n int) int
}

// Config is what Links needs; fields without a remark are required.
type Config struct {
	Self    rpc.Process
	Cluster string
	// Generation of the cluster, which workers are told; 0 tells them nothing.
	Generation int64
	// Attempts may be set after New, but before the first Work.
	Attempts Attempts
	Asks     Asks
	// Unsure says that another master may own the instances here: then an answer is no evidence that
	// an attempt is wanted. It may be set as Attempts; nil is never.
	Unsure func() bool
	// Stray is told of each report that a worker brought though it is another master's; nil is nobody.
	Stray func(worker rpc.Process, owner string)
	// Now is the clock; nil is time.Now.
	Now    func() time.Time
	Logger hclog.Logger
}

// Links holds the open links, one per worker node. All methods may be called by any goroutine.
type Links struct {
	Config
	log     hclog.Logger
	waiting atomic.Int64 // reports of all links without their commit

	mu     sync.Mutex
	byNode map[string]*Link
}

// New returns Links without any.
func New(c Config) *Links {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Stray == nil {
		c.Stray = func(rpc.Process, string) {}
	}
	return &Links{Config: c, log: c.Logger.Named("link"), byNode: make(map[string]*Link)}
}

// Link is one worker's process, connected to this master.
type Link struct {
	worker rpc.Process
	out    *outbound
	cancel context.CancelCauseFunc
	beats  bucket

	mu         sync.Mutex // guards what follows
	unanswered map[int64]bool
	closed     bool
}

// Take returns what is to be sent to the worker since the last call, nil for nothing. Only
// who drives a link without a stream calls it: Work sends by itself.
func (l *Link) Take() *rpc.MasterMessage { return l.out.take() }

// errReplaced ends a link whose worker has opened another one.
var errReplaced = errors.New("the worker opened another link")

// Work serves one worker until its stream or its process ends.
func (l *Links) Work(stream rpc.Master_WorkServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.GetHello()
	if hello == nil {
		return status.Error(codes.InvalidArgument, "the first message must be hello")
	}
	peer, err := rpc.Peer(stream.Context())
	if err != nil {
		return err
	}
	if err := checkHello(hello, peer.Node); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	open := l.Open(hello, cancel)
	defer l.Close(open)

	sent := make(chan error, 1)
	go func() { sent <- guard.Do(l.log, "send", func() error { return open.out.run(ctx, stream) }) }()
	heard := make(chan error, 1)
	go func() { heard <- guard.Do(l.log, "listen", func() error { return l.listen(ctx, open, stream, first) }) }()
	select {
	case err = <-sent:
	case err = <-heard:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	// Returning ends the stream, which ends both goroutines.
	cancel(err)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	if errors.Is(err, errReplaced) {
		return status.Error(codes.Aborted, err.Error())
	}
	return err
}

// checkHello says what is wrong with who a worker says that it is.
func checkHello(hello *rpc.Hello, node string) error {
	if hello.GetWorker() != node {
		return status.Errorf(codes.PermissionDenied, "the certificate is not that of worker %.140q", hello.GetWorker())
	}
	if err := registry.CheckName("incarnation", hello.GetIncarnation()); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return nil
}

// Open makes a link the one of its node, and ends an older one by its cancel. The hello is heard
// before any ask, so that no task is given to a process whose attempts are not known yet. Work
// calls it, Hear and Close for a stream; one goroutine may do so itself, without a stream.
func (l *Links) Open(hello *rpc.Hello, cancel context.CancelCauseFunc) *Link {
	open := &Link{
		worker: rpc.Process{Node: hello.GetWorker(), Incarnation: hello.GetIncarnation()},
		out:    newOutbound(),
		cancel: cancel, unanswered: make(map[int64]bool),
	}
	l.mu.Lock()
	old := l.byNode[open.worker.Node]
	l.byNode[open.worker.Node] = open
	l.mu.Unlock()
	if old != nil {
		l.Asks.Leave(old.worker)
		old.cancel(errReplaced)
	}
	l.Attempts.Hello(open.worker, hello.GetRunning())
	open.out.add(func(m *rpc.MasterMessage) {
		m.Welcome = &rpc.Welcome{Master: l.Self.Node, Incarnation: l.Self.Incarnation, Cluster: l.Cluster, Generation: l.Generation}
	})
	l.Asks.Join(open.worker, hello.GetGroups(), hello.GetLabels())
	l.log.Info("worker linked", "worker", open.worker.Node, "incarnation", open.worker.Incarnation,
		"groups", hello.GetGroups(), "labels", hello.GetLabels(), "slots", hello.GetSlots(), "running", len(hello.GetRunning()), "version", hello.GetVersion())
	return open
}

// Close forgets a link that has ended. The attempts of its worker go on.
func (l *Links) Close(open *Link) {
	l.forget(open)
	l.mu.Lock()
	current := l.byNode[open.worker.Node] == open
	if current {
		delete(l.byNode, open.worker.Node)
	}
	l.mu.Unlock()
	if !current {
		return
	}
	l.Asks.Leave(open.worker)
	l.Attempts.Bye(open.worker)
	l.log.Info("worker link closed", "worker", open.worker.Node, "incarnation", open.worker.Incarnation)
}

// listen hears a worker's messages in order.
func (l *Links) listen(ctx context.Context, open *Link, stream rpc.Master_WorkServer, message *rpc.WorkerMessage) error {
	for {
		l.Hear(ctx, open, message)
		var err error
		if message, err = stream.Recv(); err != nil {
			return err
		}
	}
}

// Hear takes a worker's message. The messages of one link come one after the other.
func (l *Links) Hear(ctx context.Context, open *Link, message *rpc.WorkerMessage) {
	l.Attempts.Heard(open.worker.Node)
	for _, report := range message.GetReports() {
		id := report.GetOutboxId()
		l.wait(open, id)
		l.Attempts.Report(ctx, report, func(verdict, owner string) {
			if owner != "" {
				l.Stray(open.worker, owner)
			}
			l.done(open, id)
			open.out.add(func(m *rpc.MasterMessage) {
				m.Acks = append(m.Acks, &rpc.Ack{OutboxId: id, Verdict: verdict, Owner: owner})
			})
		})
	}
	if n := message.GetAsk(); n > 0 {
		l.Asks.Ask(open.worker, int(min(n, maxAsk)))
	}
	if n := message.GetInstants(); n > 0 {
		l.Asks.AskInstant(open.worker, int(min(n, maxAsk)))
	}
	if n := message.GetRecall(); n > 0 {
		unused := l.Asks.Recall(open.worker, int(min(n, maxAsk)))
		open.out.add(func(m *rpc.MasterMessage) { m.Unused += int32(unused) })
	}
	if tick := message.GetTick(); tick != nil {
		reply := l.answer(open, tick)
		open.out.add(func(m *rpc.MasterMessage) { m.Tick = reply })
	}
}

// maxAsk bounds what one message may ask for; no worker has that many slots.
const maxAsk = 100_000

// Dispatch sends an attempt to a process of a worker, if it is linked. It uses one of the worker's asks, or of its leave
// for instant tasks.
func (l *Links) Dispatch(worker rpc.Process, message *rpc.Dispatch) {
	if open := l.find(worker.Node); open != nil && open.worker == worker {
		open.out.add(func(m *rpc.MasterMessage) { m.Dispatches = append(m.Dispatches, message) })
	}
}

// Again sends an attempt that was sent before, if its worker's process is linked. It uses no ask.
func (l *Links) Again(worker rpc.Process, message *rpc.Dispatch) {
	message = proto.CloneOf(message)
	message.Again = true
	l.Dispatch(worker, message)
}

// Kill sends a kill to whatever process of the node is linked: attempts may have been adopted.
func (l *Links) Kill(node string, message *rpc.Kill) {
	if open := l.find(node); open != nil {
		open.out.add(func(m *rpc.MasterMessage) { m.Kills = append(m.Kills, message) })
	}
}

// Notify tells a worker that tasks of a group wait here.
func (l *Links) Notify(worker rpc.Process, group string, count int) {
	if open := l.find(worker.Node); open != nil && open.worker == worker {
		open.out.add(func(m *rpc.MasterMessage) {
			m.Waiting = append(m.Waiting, &rpc.Waiting{Group: group, Count: int32(min(count, maxAsk))})
		})
	}
}

func (l *Links) find(node string) *Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byNode[node]
}
