package watch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// maxHints is how many ids wait for one master; beyond it they are dropped, and the
	// master finds the rows with its next poll, a second later at most.
	maxHints = 4096
	// redialFirst and redialMost bound the wait before a lost master is dialled again:
	// short enough that hints are back before a person notices.
	redialFirst = 50 * time.Millisecond
	redialMost  = 2 * time.Second
)

// Master is where one master can be reached.
type Master struct {
	Node    string
	Address string
}

// Masters tells where the masters are: the full list at once, and again after each change.
type Masters interface {
	Masters(ctx context.Context) (<-chan []Master, error)
}

// Config is what a Watcher needs.
type Config struct {
	Masters Masters
	Dial    func(ctx context.Context, address string) (rpc.Conn, error)
	Logger  hclog.Logger
}

// Watcher keeps the streams. Its methods are safe for concurrent use, before Run too.
type Watcher struct {
	cfg Config
	log hclog.Logger

	mu    sync.Mutex
	links map[Master]*link
	subs  map[*Subscription]struct{}
}

// New returns a Watcher that knows no master yet.
func New(cfg Config) *Watcher {
	return &Watcher{cfg: cfg, log: cfg.Logger.Named("watch"), links: map[Master]*link{}, subs: map[*Subscription]struct{}{}}
}

// Run follows the list of masters and keeps a stream to each, until ctx ends. It
// returns when all streams are closed.
func (w *Watcher) Run(ctx context.Context) error {
	views, err := w.cfg.Masters.Masters(ctx)
	if err != nil {
		return fmt.Errorf("watch the masters: %w", err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case masters, ok := <-views:
			if !ok {
				// Membership is frozen (etcd is away): the streams that are open stay.
				<-ctx.Done()
				return nil
			}
			w.follow(ctx, &wg, masters)
		}
	}
}

// follow starts streams to masters that are new and ends those to masters that left.
func (w *Watcher) follow(ctx context.Context, wg *sync.WaitGroup, masters []Master) {
	w.mu.Lock()
	defer w.mu.Unlock()
	listed := make(map[Master]bool, len(masters))
	for _, m := range masters {
		listed[m] = true
		if w.links[m] != nil {
			continue
		}
		linkCtx, cancel := context.WithCancel(ctx)
		l := &link{master: m, wake: make(chan struct{}, 1), cancel: cancel}
		w.links[m] = l
		wg.Go(func() { w.keep(linkCtx, l) })
	}
	for m, l := range w.links {
		if !listed[m] {
			l.cancel()
			delete(w.links, m)
		}
	}
}

// keep holds one stream, dialling again for as long as the master is listed.
func (w *Watcher) keep(ctx context.Context, l *link) {
	defer l.cancel()
	wait := redialFirst
	for ctx.Err() == nil {
		began := time.Now()
		err := w.once(ctx, l)
		if ctx.Err() != nil {
			return
		}
		w.log.Debug("stream to master ended", "master", l.master.Node, "error", err)
		if time.Since(began) > redialMost {
			wait = redialFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, redialMost)
	}
}

// once dials and runs one stream to its end.
func (w *Watcher) once(ctx context.Context, l *link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := w.cfg.Dial(ctx, l.master.Address)
	if err != nil {
		return fmt.Errorf("dial master %s: %w", l.master.Node, err)
	}
	defer func() { _ = conn.Close() }()
	stream, err := rpc.NewMasterClient(conn).Watch(ctx)
	if err != nil {
		return fmt.Errorf("open watch to master %s: %w", l.master.Node, err)
	}
	// An empty hint opens the stream at the master's side before there is any work.
	if err := stream.Send(&rpc.Hint{}); err != nil {
		return fmt.Errorf("open watch to master %s: %w", l.master.Node, err)
	}
	received := make(chan error, 1)
	var receiver sync.WaitGroup
	receiver.Go(func() { received <- w.receive(l, stream) })
	defer receiver.Wait()
	defer cancel()
	// What happened while no stream was open is not told again.
	w.lag()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-received:
			return err
		case <-l.wake:
			if err := stream.Send(l.take()); err != nil {
				return fmt.Errorf("send hints to master %s: %w", l.master.Node, err)
			}
		}
	}
}

// Figures are the newest of each master that is listed, by its node.
func (w *Watcher) Figures() map[string]*rpc.MasterFigures {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[string]*rpc.MasterFigures, len(w.links))
	for m, l := range w.links {
		if f := l.figures.Load(); f != nil {
			all[m.Node] = f
		}
	}
	return all
}

// Heard says when a listed master has last said anything; false where it has not.
func (w *Watcher) Heard(node string) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for m, l := range w.links {
		if m.Node == node {
			at := l.heard.Load()
			return time.UnixMilli(at), at != 0
		}
	}
	return time.Time{}, false
}

func (w *Watcher) receive(l *link, stream rpc.Master_WatchClient) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("receive changes: %w", err)
		}
		l.heard.Store(time.Now().UnixMilli())
		if m.GetFigures() != nil {
			l.figures.Store(m.GetFigures())
		}
		if m.GetHint() != nil {
			w.pass(l, m.GetHint())
		}
		w.publish(m.GetChanges())
	}
}

// Command hints that a command row was written.
func (w *Watcher) Command(id int64) {
	w.hint(func(h *rpc.Hint) { h.Commands = append(h.Commands, id) })
}

// Control hints that a control row of an instance was written.
func (w *Watcher) Control(instanceID int64) {
	w.hint(func(h *rpc.Hint) { h.Controls = append(h.Controls, instanceID) })
}

// hint goes to every master: who owns a slot or an instance is theirs to know.
func (w *Watcher) hint(add func(*rpc.Hint)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		l.add(add)
	}
}

// pass tells the other masters what one of them has written for them.
func (w *Watcher) pass(from *link, hint *rpc.Hint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		if l != from {
			l.add(func(h *rpc.Hint) {
				h.Commands = append(h.Commands, hint.GetCommands()...)
				h.Controls = append(h.Controls, hint.GetControls()...)
				h.Finished = append(h.Finished, hint.GetFinished()...)
			})
		}
	}
}

// link is one master with the hints that wait for it.
type link struct {
	master Master
	cancel context.CancelFunc
	wake   chan struct{}
	// figures are the newest that the master has sent; nil before the first.
	figures atomic.Pointer[rpc.MasterFigures]
	heard   atomic.Int64 // when, UTC milliseconds; 0 before the first word

	mu   sync.Mutex
	hint rpc.Hint
}

func (l *link) add(add func(*rpc.Hint)) {
	l.mu.Lock()
	if len(l.hint.Commands)+len(l.hint.Controls)+len(l.hint.Finished) < maxHints {
		add(&l.hint)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // woken already
	}
}

func (l *link) take() *rpc.Hint {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &rpc.Hint{Commands: l.hint.Commands, Controls: l.hint.Controls, Finished: l.hint.Finished}
	l.hint.Commands, l.hint.Controls, l.hint.Finished = nil, nil, nil
	return h
}
