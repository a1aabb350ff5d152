package logs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
)

// The errors that readers decide on.
var (
	// ErrWorkerGone says that the worker has no stream here, or lost it before it answered.
	ErrWorkerGone = errors.New("worker is not connected")
	// ErrNotFound says that the worker has no output of that attempt.
	ErrNotFound = errors.New("worker has no such output")
	// ErrBusy says that the worker has too many queries in flight.
	ErrBusy = errors.New("worker has too many log queries in flight")
	// ErrPattern says that the worker can't search for what was asked for.
	ErrPattern = errors.New("bad_pattern")
)

const (
	// maxQueries is how many queries one worker answers at a time; each is a reader's
	// open connection, so more of them would be refused by the server's own limits.
	maxQueries = 256
	// maxBacklog is how many answers wait for one reader. A reader that is slower than
	// its log loses none of it: the query is cancelled and asked again from where it is.
	maxBacklog = 16
	// MaxLimit is the most bytes of one answer: well under the 4 MiB of a message.
	MaxLimit = 1 << 20
)

// Query asks for output of one attempt. Offset counts bytes of the chosen stream;
// negative ones count from its end. Stream is stdout, stderr, or "" for both as they came.
type Query struct {
	Instance int64
	Task     int
	Number   int
	Stream   string
	Offset   int64
	Line     int64 // from 1, goes before Offset; 0 is none
	Limit    int   // at most MaxLimit; 0 is MaxLimit
	Lines    int   // ends the answer after so many; 0 is no such bound
}

// Window is a part of a stream. EOF says that the attempt is over and nothing follows.
type Window struct {
	Data     []byte
	Offset   int64 // of Data
	Size     int64 // of the stream so far
	Line     int64 // where Data begins, from 1; 0: the worker does not know
	Newlines int64 // of the stream so far
	Gap      Gap
	EOF      bool
}

// Gap is what the worker has dropped between the head and the tail of a stream: the bytes
// between two offsets, and the line ends before each. None where From equals To.
type Gap struct {
	From, To, LinesFrom, LinesTo int64
}

// Search asks for the lines that match, from a query's place forward, or backward before
// it. With Count it goes through the whole stream, and hits are numbered.
type Search struct {
	Query
	Text                               string
	Regexp, MatchCase, Backward, Count bool
	Hits                               int // at most
}

// Hit is a line that matches. Start and Length are of the first match in the line as it
// is shown, in UTF-16 units; Text is that line, cut. More has start and length of an
// expression's further matches, one after the other.
type Hit struct {
	Offset, Line, Number int64
	Text                 string
	Start, Length        int
	More                 []int
}

// Found answers a search. Whole says that it was not cut off by its time.
type Found struct {
	Hits     []Hit
	Total    int64
	Whole    bool
	Searched int64
}

// Config is what a Server needs. Peer names the node that a call's certificate was
// issued to; a worker may only speak for itself.
type Config struct {
	Peer   func(ctx context.Context) (node string, err error)
	Logger hclog.Logger
}

// Server holds the workers' streams. It is safe for concurrent use.
type Server struct {
	rpc.UnimplementedLogsServer
	cfg Config
	log hclog.Logger

	mu    sync.Mutex
	links map[string]*link // by node
}

// New returns a Server with no worker yet.
func New(cfg Config) *Server {
	return &Server{cfg: cfg, log: cfg.Logger.Named("logs"), links: map[string]*link{}}
}

// Serve keeps one worker's stream until it ends; gRPC calls it. A second stream of the
// same node takes the place of the first: the worker's newer process is the live one.
func (s *Server) Serve(stream rpc.Logs_ServeServer) error {
	first, err := stream.Recv()
	if err != nil {
		return fmt.Errorf("read a worker's first log message: %w", err)
	}
	node, err := s.cfg.Peer(stream.Context())
	if err != nil {
		return status.Error(codes.Unauthenticated, err.Error())
	}
	if first.GetWorker() != node {
		return status.Errorf(codes.PermissionDenied, "the certificate is of %q, the stream says %q", node, first.GetWorker())
	}
	l := newLink(node)
	s.put(l)
	defer s.drop(l)
	s.log.Info("worker serves logs", "worker", node, "incarnation", first.GetIncarnation())

	received := make(chan error, 1)
	var receiver sync.WaitGroup
	receiver.Go(func() { received <- l.receive(stream) })
	for {
		select {
		case q := <-l.out:
			if err := stream.Send(q); err != nil {
				l.close()
				// The stream is broken, so receive returns at once.
				receiver.Wait()
				return fmt.Errorf("send a log query to %s: %w", node, err)
			}
		case <-l.gone:
			// Replaced by a newer stream. Returning ends this one, and receive with it.
			return status.Error(codes.Aborted, "a newer stream of this worker took over")
		case err := <-received:
			return err
		}
	}
}

func (s *Server) put(l *link) {
	s.mu.Lock()
	old := s.links[l.node]
	s.links[l.node] = l
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
}

func (s *Server) drop(l *link) {
	s.mu.Lock()
	if s.links[l.node] == l {
		delete(s.links, l.node)
	}
	s.mu.Unlock()
	l.close()
	s.log.Info("worker's log stream ended", "worker", l.node)
}

func (s *Server) link(node string) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.links[node]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("read log from %s: %w", node, ErrWorkerGone)
}

// Connected tells whether the worker could answer now.
func (s *Server) Connected(node string) bool {
	_, err := s.link(node)
	return err == nil
}

// Figures are the newest that a worker has sent on its stream here; false where there is none.
func (s *Server) Figures(worker string) (*rpc.WorkerFigures, bool) {
	l, err := s.link(worker)
	if err != nil {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.figures, l.figures != nil
}

// Heard says when a worker has last said how it is doing; false where it has no stream here.
func (s *Server) Heard(worker string) (time.Time, bool) {
	l, err := s.link(worker)
	if err != nil {
		return time.Time{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard, !l.heard.IsZero()
}

// Read returns one window of an attempt's output.
func (s *Server) Read(ctx context.Context, worker string, q Query) (Window, error) {
	l, err := s.link(worker)
	if err != nil {
		return Window{}, err
	}
	in, err := l.ask(ctx, q.message(false))
	if err != nil {
		return Window{}, err
	}
	defer l.forget(in)
	a, err := l.next(ctx, in)
	if err != nil {
		return Window{}, err
	}
	return windowOf(a), nil
}

// Search has the worker look through an attempt's output; when ctx ends, it stops. It
// returns ErrPattern for what can't be searched for.
func (s *Server) Search(ctx context.Context, worker string, q Search) (Found, error) {
	l, err := s.link(worker)
	if err != nil {
		return Found{}, err
	}
	msg := q.message(false)
	msg.Search = &rpc.LogSearch{
		Text: q.Text, Regexp: q.Regexp, MatchCase: q.MatchCase, Backward: q.Backward, Count: q.Count, Limit: int32(q.Hits),
	}
	in, err := l.ask(ctx, msg)
	if err != nil {
		return Found{}, err
	}
	defer l.forget(in)
	a, err := l.next(ctx, in)
	if err != nil {
		return Found{}, err
	}
	if a.GetFound() == nil {
		return Found{}, fmt.Errorf("search log on %s: its version is older and can't", worker)
	}
	f := Found{Total: a.GetFound().GetTotal(), Whole: a.GetFound().GetWhole(), Searched: a.GetFound().GetSearched()}
	for _, h := range a.GetFound().GetHits() {
		var more []int
		for _, n := range h.GetMore() {
			more = append(more, int(n))
		}
		f.Hits = append(f.Hits, Hit{
			Offset: h.GetOffset(), Line: h.GetLine(), Number: h.GetNumber(), Text: h.GetText(), Start: int(h.GetStart()), Length: int(h.GetLength()), More: more,
		})
	}
	return f, nil
}

// Follow calls yield with each part of the output from q.Offset on, until the attempt
// is over, yield returns an error, or ctx ends. A slow yield slows nobody else.
func (s *Server) Follow(ctx context.Context, worker string, q Query, yield func(Window) error) error {
	for {
		l, err := s.link(worker)
		if err != nil {
			return err
		}
		again, err := l.follow(ctx, &q, yield)
		if err != nil || !again {
			return err
		}
	}
}
