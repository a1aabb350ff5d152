package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// maxQueries bounds the log queries of one apiserver that are under way.
	maxQueries = 64
	// maxSearches bounds those of one apiserver that use the processor at a time; the
	// others wait for theirs.
	maxSearches = 2
	// searchFor is how long a search may take: some GiB of text, or what was found until then.
	searchFor = 15 * time.Second
	// figuresEvery is how old the figures that people see may be.
	figuresEvery = 2 * time.Second
	// followEvery is how often a followed log is looked at.
	followEvery = 200 * time.Millisecond
)

// keepReaders holds a Logs stream to every apiserver that is listed.
func (c *loop) keepReaders(ctx context.Context, peers <-chan []Peer) {
	running := map[Peer]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case list, ok := <-peers:
			if !ok {
				<-ctx.Done()
				return
			}
			for peer, stop := range running {
				if !slices.Contains(list, peer) {
					stop()
					delete(running, peer)
				}
			}
			for _, peer := range list {
				if running[peer] == nil {
					readerCtx, stop := context.WithCancel(ctx)
					running[peer] = stop
					all.Go(func() {
						defer stop()
						c.keepReader(readerCtx, peer)
					})
				}
			}
		}
	}
}

func (c *loop) keepReader(ctx context.Context, peer Peer) {
	pause := reconnectFirst
	for ctx.Err() == nil {
		begun := time.Now()
		err := c.serveReader(ctx, peer)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > reconnectMost {
			pause = reconnectFirst
		}
		c.log.Debug("link to apiserver lost", "apiserver", peer.Node, "error", err)
		wait(ctx, pause/2+rand.N(pause/2+1))
		pause = min(reconnectMost, pause*2)
	}
}

// reader answers the queries of one stream.
type reader struct {
	loop   *loop
	stream rpc.Logs_ServeClient
	ctx    context.Context //nolint:containedctx // of the stream, as gRPC itself keeps it
	all    sync.WaitGroup
	search chan struct{} // holds one for each search under way

	sending sync.Mutex // a gRPC stream takes one Send at a time

	mu      sync.Mutex // guards queries
	queries map[int64]context.CancelFunc
}

func (c *loop) serveReader(ctx context.Context, peer Peer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := c.cfg.Dial(ctx, peer.Address)
	if err != nil {
		return fmt.Errorf("dial apiserver: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stream, err := rpc.NewLogsClient(conn).Serve(ctx)
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	r := &reader{loop: c, stream: stream, ctx: ctx, queries: map[int64]context.CancelFunc{}, search: make(chan struct{}, maxSearches)}
	defer r.all.Wait()
	defer cancel()
	if err := r.send(&rpc.LogAnswer{Worker: c.cfg.Node, Incarnation: c.cfg.Incarnation}); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	r.all.Go(func() { r.tell(ctx) })
	for {
		q, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if err := r.take(q); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// tell sends how this worker is doing, now and then.
func (r *reader) tell(ctx context.Context) {
	for ctx.Err() == nil {
		answer := make(chan *rpc.WorkerFigures, 1)
		if !r.loop.post(ctx, func(c *loop) { answer <- c.Figures() }) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case f := <-answer:
			if r.send(&rpc.LogAnswer{Figures: f}) != nil {
				return
			}
		}
		wait(ctx, figuresEvery)
	}
}

func (r *reader) send(a *rpc.LogAnswer) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	return r.stream.Send(a)
}

func (r *reader) take(q *rpc.LogQuery) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.Cancel {
		if stop := r.queries[q.Id]; stop != nil {
			stop()
		}
		return nil
	}
	if len(r.queries) >= maxQueries {
		r.all.Go(func() { _ = r.send(&rpc.LogAnswer{Id: q.Id, Error: "busy"}) })
		return nil
	}
	ctx, stop := context.WithCancel(r.ctx)
	r.queries[q.Id] = stop
	r.all.Go(func() {
		defer func() {
			stop()
			r.mu.Lock()
			delete(r.queries, q.Id)
			r.mu.Unlock()
		}()
		if q.Search != nil {
			r.find(ctx, q)
			return
		}
		r.answer(ctx, q)
	})
	return nil
}

// answer sends one window, or goes on until the attempt has ended.
func (r *reader) answer(ctx context.Context, q *rpc.LogQuery) {
	ask := &runner.Read{Attempt: toRunner(q.Attempt, 0), Stream: q.Stream, Offset: q.Offset, Limit: q.Limit, Line: q.Line, Lines: q.Lines}
	sent := false
	for {
		text, err := r.loop.readLog(ctx, ask)
		if ctx.Err() != nil {
			return
		}
		a := &rpc.LogAnswer{Id: q.Id}
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Data, a.Offset, a.Size, a.Eof, a.Error = text.Data, text.Offset, text.Size, text.Eof, text.Error
			a.Line, a.Newlines, a.Gap = text.Line, text.Newlines, gapOf(text.Gap)
		}
		if !q.Follow || a.Error != "" || a.Eof || len(a.Data) > 0 || !sent {
			if r.send(a) != nil || !q.Follow || a.Error != "" || a.Eof {
				return
			}
			sent = true
		}
		ask.Offset, ask.Line = a.Offset+int64(len(a.Data)), 0
		if len(a.Data) == 0 {
			wait(ctx, followEvery)
		}
	}
}

// readLog asks the runner, which has all output.
func (c *loop) readLog(ctx context.Context, q *runner.Read) (*runner.Text, error) {
	answer := make(chan *runner.Client, 1)
	if !c.post(ctx, func(c *loop) { answer <- c.client }) {
		return nil, ctx.Err()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case client := <-answer:
		if client == nil {
			return &runner.Text{Error: "busy"}, nil
		}
		return client.Read(ctx, q)
	}
}
