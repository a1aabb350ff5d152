package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// reconnectFirst and reconnectMost bound the wait before a master is dialled again.
	reconnectFirst = 100 * time.Millisecond
	reconnectMost  = 2 * time.Second
	// welcomeWithin is how long a master may take to answer Hello.
	welcomeWithin = 5 * time.Second
	// runnerWithin is how long the first Hello waits for the runner's list of what is alive.
	runnerWithin = 15 * time.Second
	// maxReportBytes is what of the reports goes into one message, far below the limit of 4 MiB.
	maxReportBytes = 1 << 20
)

// link is one stream to a master; what is to be sent is merged while the stream is busy.
type link struct {
	peer  Peer
	conn  grpc.ClientConnInterface // for calls beside the stream
	reset context.CancelFunc

	wake chan struct{}
	mu   sync.Mutex // guards next
	next *rpc.WorkerMessage
}

// Peer is the master at the other end.
func (l *link) Peer() Peer { return l.peer }

// Reset ends the stream.
func (l *link) Reset() { l.reset() }

// Send adds to what goes out next. Its bound: slots, and the outbox's.
func (l *link) Send(m *rpc.WorkerMessage) {
	l.mu.Lock()
	if l.next == nil {
		l.next = m
	} else {
		n := l.next
		n.Ask += m.Ask
		n.Recall += m.Recall
		n.Instants += m.Instants
		n.Reports = append(n.Reports, m.Reports...)
		if m.Hello != nil {
			n.Hello = m.Hello
		}
		if m.Tick != nil {
			n.Tick = m.Tick
		}
		if m.Draining != "" {
			n.Draining = m.Draining
		}
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take gives what goes out now: all, or as many reports as fit.
func (l *link) take() *rpc.WorkerMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.next
	l.next = nil
	if m == nil {
		return nil
	}
	size := 0
	for i, r := range m.Reports {
		if size += proto.Size(r); size > maxReportBytes && i > 0 {
			l.next = &rpc.WorkerMessage{Reports: m.Reports[i:]}
			m.Reports = m.Reports[:i:i]
			select {
			case l.wake <- struct{}{}:
			default:
			}
			break
		}
	}
	return m
}

// keepLinks holds a link to every master that is listed.
func (c *loop) keepLinks(ctx context.Context, peers <-chan []Peer) {
	// Hello names what is alive, and a master takes what it does not name for gone.
	select {
	case <-c.ready:
	case <-ctx.Done():
		return
	case <-time.After(runnerWithin):
		c.log.Error("no runner yet: masters are told of no attempts")
	}
	running := map[Peer]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		var list []Peer
		select {
		case <-ctx.Done():
			return
		case l, ok := <-peers:
			if !ok {
				<-ctx.Done()
				return
			}
			list = l
		}
		for peer, stop := range running {
			if !slices.Contains(list, peer) {
				stop()
				delete(running, peer)
			}
		}
		for _, peer := range list {
			if running[peer] == nil {
				linkCtx, stop := context.WithCancel(ctx)
				running[peer] = stop
				all.Go(func() {
					defer stop()
					c.keepLink(linkCtx, peer)
				})
			}
		}
	}
}

// keepLink makes the stream to one master again and again.
func (c *loop) keepLink(ctx context.Context, peer Peer) {
	pause := reconnectFirst
	for ctx.Err() == nil {
		welcomed, err := c.serveLink(ctx, peer)
		if ctx.Err() != nil {
			return
		}
		if welcomed {
			pause = reconnectFirst
		}
		c.log.Warn("link to master lost", "master", peer.Node, "address", peer.Address, "error", err)
		wait(ctx, pause/2+rand.N(pause/2+1))
		pause = min(reconnectMost, pause*2)
	}
}

// serveLink makes one stream and serves it to its end.
func (c *loop) serveLink(ctx context.Context, peer Peer) (welcomed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := c.cfg.Dial(ctx, peer.Address)
	if err != nil {
		return false, fmt.Errorf("dial master: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stream, err := rpc.NewMasterClient(conn).Work(ctx)
	if err != nil {
		return false, fmt.Errorf("open stream: %w", err)
	}
	l := &link{peer: peer, conn: conn, reset: cancel, wake: make(chan struct{}, 1)}
	if !c.post(ctx, func(c *loop) { c.Open(l) }) {
		return false, ctx.Err()
	}
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	parts.Go(func() {
		defer cancel()
		for {
			select {
			case <-ctx.Done():
				return
			case <-l.wake:
			}
			if m := l.take(); m != nil {
				if failpoint.Hit("outbox.send.before") != nil || stream.Send(m) != nil {
					return
				}
				_ = failpoint.Hit("outbox.send.after")
			}
		}
	})
	late := time.AfterFunc(welcomeWithin, cancel)
	defer late.Stop()
	for {
		m, err := stream.Recv()
		if err != nil {
			c.post(context.Background(), func(c *loop) { c.Closed(l) })
			return welcomed, fmt.Errorf("receive: %w", err)
		}
		if m.Welcome != nil && !welcomed {
			welcomed = true
			late.Stop()
		}
		c.post(ctx, func(c *loop) { c.Message(l, m) })
	}
}
