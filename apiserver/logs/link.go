package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

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
	figures *rpc.WorkerFigures
	heard   time.Time // when the figures came
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
func (l *link) ask(ctx context.Context, msg *rpc.LogQuery) (*asked, error) {
	in, err := l.register(msg)
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

func (l *link) register(msg *rpc.LogQuery) (*asked, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("read log from %s: %w", l.node, ErrWorkerGone)
	}
	if len(l.waiting) >= maxQueries {
		return nil, fmt.Errorf("read log from %s: %w", l.node, ErrBusy)
	}
	l.nextID++
	in := &asked{id: l.nextID, answers: make(chan *rpc.LogAnswer, maxBacklog)}
	l.waiting[in.id] = in
	msg.Id = in.id
	return in, nil
}

func (q Query) message(follow bool) *rpc.LogQuery {
	limit := q.Limit
	if limit <= 0 || limit > MaxLimit {
		limit = MaxLimit
	}
	return &rpc.LogQuery{
		Attempt: &rpc.AttemptID{InstanceId: q.Instance, Task: int32(q.Task), Number: int32(q.Number)},
		Stream:  q.Stream, Offset: q.Offset, Limit: int32(limit), Follow: follow, Line: q.Line, Lines: int32(q.Lines),
	}
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
	if a.GetFigures() != nil {
		l.figures, l.heard = a.GetFigures(), time.Now()
		l.mu.Unlock()
		return
	}
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
func (l *link) next(ctx context.Context, in *asked) (*rpc.LogAnswer, error) {
	select {
	case a, ok := <-in.answers:
		return l.checked(a, ok)
	default:
	}
	select {
	case a, ok := <-in.answers:
		return l.checked(a, ok)
	case <-l.gone:
		return nil, fmt.Errorf("read log from %s: %w", l.node, ErrWorkerGone)
	case <-ctx.Done():
		return nil, fmt.Errorf("read log from %s: %w", l.node, ctx.Err())
	}
}

func (l *link) checked(a *rpc.LogAnswer, ok bool) (*rpc.LogAnswer, error) {
	switch {
	case !ok:
		return nil, errOverflow
	case a.GetError() == "not_found":
		return nil, fmt.Errorf("read log from %s: %w", l.node, ErrNotFound)
	case a.GetError() == "busy":
		return nil, fmt.Errorf("read log from %s: %w", l.node, ErrBusy)
	case strings.HasPrefix(a.GetError(), ErrPattern.Error()):
		return nil, fmt.Errorf("%w%s", ErrPattern, strings.TrimPrefix(a.GetError(), ErrPattern.Error()))
	case a.GetError() != "":
		return nil, fmt.Errorf("read log from %s: %s", l.node, a.GetError())
	}
	return a, nil
}

func windowOf(a *rpc.LogAnswer) Window {
	w := Window{Data: a.GetData(), Offset: a.GetOffset(), Size: a.GetSize(), EOF: a.GetEof(), Line: a.GetLine(), Newlines: a.GetNewlines()}
	if g := a.GetGap(); g != nil {
		w.Gap = Gap{From: g.GetFrom(), To: g.GetTo(), LinesFrom: g.GetLinesFrom(), LinesTo: g.GetLinesTo()}
	}
	return w
}

// follow reads until the end, moving q.Offset along; again says that the query was
// dropped for slowness and is to be asked once more from there.
func (l *link) follow(ctx context.Context, q *Query, yield func(Window) error) (again bool, err error) {
	in, err := l.ask(ctx, q.message(true))
	if err != nil {
		return false, err
	}
	defer l.forget(in)
	for {
		a, err := l.next(ctx, in)
		if errors.Is(err, errOverflow) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		w := windowOf(a)
		q.Offset, q.Line = w.Offset+int64(len(w.Data)), 0
		if err := yield(w); err != nil {
			return false, err
		}
		if w.EOF {
			return false, nil
		}
	}
}
