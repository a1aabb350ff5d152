package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/porpoise/porpoise/internal/rpc"
)

// link is one worker's stream with its queries in flight.
type link struct {
	node string
	out  chan *rpc.LogQuery // to the stream's only sender
	gone chan struct{}      // closed when the stream is over

	mu      sync.Mutex
	nextID  int64
	waiting map[int64]*asked
	closed  bool
}

// asked is one query in flight. overflowed is set, and answers closed, by the receiver
// when the reader did not keep up.
type asked struct {
	id         int64
	answers    chan *rpc.LogAnswer
	overflowed bool
}

func newLink(node string) *link {
	return &link{node: node, out: make(chan *rpc.LogQuery, maxQueries), gone: make(chan struct{}), waiting: map[int64]*asked{}}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.gone)
	}
}

// ask sends a query and registers its reader, who must forget it.
func (l *link) ask(ctx context.Context, q Query, follow bool) (*asked, error) {
	in, msg, err := l.register(q, follow)
	if err != nil {
		return nil, err
	}
	select {
	case l.out <- msg:
		return in, nil
	case <-l.gone:
		err = fmt.Errorf("read log from %s: %w", l.node, ErrWorkerGone)
	case <-ctx.Done():
		err = fmt.Errorf("read log from %s: %w", l.node, ctx.Err())
	}
	l.forget(in)
	return nil, err
}

func (l *link) register(q Query, follow bool) (*asked, *rpc.LogQuery, error) {
	limit := q.Limit
	if limit <= 0 || limit > MaxLimit {
		limit = MaxLimit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, fmt.Errorf("read log from %s: %w", l.node, ErrWorkerGone)
	}
	if len(l.waiting) >= maxQueries {
		return nil, nil, fmt.Errorf("read log from %s: %w", l.node, ErrBusy)
	}
	l.nextID++
	in := &asked{id: l.nextID, answers: make(chan *rpc.LogAnswer, maxBacklog)}
	l.waiting[in.id] = in
	return in, &rpc.LogQuery{
		Id:      in.id,
		Attempt: &rpc.AttemptID{InstanceId: q.Instance, Task: int32(q.Task), Number: int32(q.Number)},
		Stream:  q.Stream, Offset: q.Offset, Limit: int32(limit), Follow: follow,
	}, nil
}

// forget drops a query; the worker is told where it may still be answering.
func (l *link) forget(in *asked) {
	l.mu.Lock()
	_, live := l.waiting[in.id]
	delete(l.waiting, in.id)
	l.mu.Unlock()
	if !live {
		return
	}
	select {
	case l.out <- &rpc.LogQuery{Id: in.id, Cancel: true}:
	case <-l.gone:
	default:
		// The queue to the worker is full. Its answer to this query finds no reader, and
		// is answered by a cancel then (see deliver).
	}
}

// receive hands answers to their readers until the stream ends.
func (l *link) receive(stream rpc.Logs_ServeServer) error {
	for {
		a, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive log answers from %s: %w", l.node, err)
		}
		l.deliver(a)
	}
}

func (l *link) deliver(a *rpc.LogAnswer) {
	l.mu.Lock()
	in := l.waiting[a.GetId()]
	stop := in == nil && !a.GetEof() && a.GetError() == ""
	if in != nil {
		select {
		case in.answers <- a:
		default:
			in.overflowed = true
			delete(l.waiting, in.id)
			close(in.answers)
			stop = true
		}
	}
	l.mu.Unlock()
	if stop {
		select {
		case l.out <- &rpc.LogQuery{Id: a.GetId(), Cancel: true}:
		default: // tried again with the next answer that nobody waits for
		}
	}
}

// errOverflow ends a wait whose reader was too slow; follow asks again.
var errOverflow = errors.New("reader is slower than its log")

// next waits for one answer to in.
func (l *link) next(ctx context.Context, in *asked) (Window, error) {
	select {
	case a, ok := <-in.answers:
		return l.window(a, ok)
	default:
	}
	select {
	case a, ok := <-in.answers:
		return l.window(a, ok)
	case <-l.gone:
		return Window{}, fmt.Errorf("read log from %s: %w", l.node, ErrWorkerGone)
	case <-ctx.Done():
		return Window{}, fmt.Errorf("read log from %s: %w", l.node, ctx.Err())
	}
}

func (l *link) window(a *rpc.LogAnswer, ok bool) (Window, error) {
	switch {
	case !ok:
		return Window{}, errOverflow
	case a.GetError() == "not_found":
		return Window{}, fmt.Errorf("read log from %s: %w", l.node, ErrNotFound)
	case a.GetError() != "":
		return Window{}, fmt.Errorf("read log from %s: %s", l.node, a.GetError())
	}
	return Window{Data: a.GetData(), Offset: a.GetOffset(), Size: a.GetSize(), EOF: a.GetEof()}, nil
}

// follow reads until the end, moving q.Offset along; again says that the query was
// dropped for slowness and is to be asked once more from there.
func (l *link) follow(ctx context.Context, q *Query, yield func(Window) error) (again bool, err error) {
	in, err := l.ask(ctx, *q, true)
	if err != nil {
		return false, err
	}
	defer l.forget(in)
	for {
		w, err := l.next(ctx, in)
		if errors.Is(err, errOverflow) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		q.Offset = w.Offset + int64(len(w.Data))
		if err := yield(w); err != nil {
			return false, err
		}
		if w.EOF {
			return false, nil
		}
	}
}
