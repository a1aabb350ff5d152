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

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
)

// Attempts hears what workers say of attempts.
type Attempts interface {
	Hello(worker rpc.Process, running []*rpc.Running)
	Heard(node string)
	Bye(worker rpc.Process)
	Report(ctx context.Context, report *rpc.Report, answer func(verdict, owner string))
	Check(id *rpc.AttemptID) string
}

// Asks hears how much work workers want.
type Asks interface {
	Join(worker rpc.Process, groups []string)
	Leave(worker rpc.Process)
	Ask(worker rpc.Process, n int)
	Recall(worker rpc.Process, n int) int
}

// Config is what Links needs; every field is required.
type Config struct {
	Self    rpc.Process
	Cluster string
	// Attempts may be set after New, but before the first Work.
	Attempts Attempts
	Asks     Asks
	Logger   hclog.Logger
}

// Links holds the open links, one per worker node. All methods may be called by any goroutine.
type Links struct {
	Config
	log hclog.Logger

	mu     sync.Mutex
	byNode map[string]*link
}

// New returns Links without any.
func New(c Config) *Links {
	return &Links{Config: c, log: c.Logger.Named("link"), byNode: make(map[string]*link)}
}

// link is one worker's stream.
type link struct {
	worker rpc.Process
	out    *outbound
	cancel context.CancelCauseFunc
}

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
	if peer, err := rpc.Peer(stream.Context()); err != nil || peer.Node != hello.GetWorker() {
		return status.Errorf(codes.PermissionDenied, "the certificate is not that of worker %q", hello.GetWorker())
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	open := &link{
		worker: rpc.Process{Node: hello.GetWorker(), Incarnation: hello.GetIncarnation()},
		out:    newOutbound(),
		cancel: cancel,
	}
	l.enter(open, hello)
	defer l.leave(open)

	sent := make(chan error, 1)
	go func() { sent <- open.out.run(ctx, stream) }()
	heard := make(chan error, 1)
	go func() { heard <- l.listen(ctx, open, stream, first) }()
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

// enter makes a link the one of its node. The hello is heard before any ask, so that no task is given to
// a process whose attempts are not known yet.
func (l *Links) enter(open *link, hello *rpc.Hello) {
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
		m.Welcome = &rpc.Welcome{Master: l.Self.Node, Incarnation: l.Self.Incarnation, Cluster: l.Cluster}
	})
	l.Asks.Join(open.worker, hello.GetGroups())
	l.log.Info("worker linked", "worker", open.worker.Node, "incarnation", open.worker.Incarnation,
		"groups", hello.GetGroups(), "slots", hello.GetSlots(), "running", len(hello.GetRunning()), "version", hello.GetVersion())
}

func (l *Links) leave(open *link) {
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
func (l *Links) listen(ctx context.Context, open *link, stream rpc.Master_WorkServer, message *rpc.WorkerMessage) error {
	for {
		l.hear(ctx, open, message)
		var err error
		if message, err = stream.Recv(); err != nil {
			return err
		}
	}
}

func (l *Links) hear(ctx context.Context, open *link, message *rpc.WorkerMessage) {
	l.Attempts.Heard(open.worker.Node)
	for _, report := range message.GetReports() {
		id := report.GetOutboxId()
		l.Attempts.Report(ctx, report, func(verdict, owner string) {
			open.out.add(func(m *rpc.MasterMessage) {
				m.Acks = append(m.Acks, &rpc.Ack{OutboxId: id, Verdict: verdict, Owner: owner})
			})
		})
	}
	if n := message.GetAsk(); n > 0 {
		l.Asks.Ask(open.worker, int(min(n, maxAsk)))
	}
	if n := message.GetRecall(); n > 0 {
		unused := l.Asks.Recall(open.worker, int(min(n, maxAsk)))
		open.out.add(func(m *rpc.MasterMessage) { m.Unused += int32(unused) })
	}
	if tick := message.GetTick(); tick != nil {
		reply := &rpc.TickReply{Id: tick.GetId()}
		for _, running := range tick.GetRunning() {
			id := running.GetAttempt()
			reply.Verdicts = append(reply.Verdicts, &rpc.Verdict{Attempt: id, Verdict: l.Attempts.Check(id)})
		}
		open.out.add(func(m *rpc.MasterMessage) { m.Tick = reply })
	}
}

// maxAsk bounds what one message may ask for; no worker has that many slots.
const maxAsk = 100_000

// Dispatch sends an attempt to a process of a worker, if it is linked.
func (l *Links) Dispatch(worker rpc.Process, message *rpc.Dispatch) {
	if open := l.find(worker.Node); open != nil && open.worker == worker {
		open.out.add(func(m *rpc.MasterMessage) { m.Dispatches = append(m.Dispatches, message) })
	}
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

func (l *Links) find(node string) *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byNode[node]
}
