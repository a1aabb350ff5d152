package runner

import (
	"bufio"
	"crypto/subtle"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/tasklog"
)

const (
	// helloWithin is how long a connection may take to show its secret.
	helloWithin = 2 * time.Second
	// maxSessions bounds the connections; there is one control process and the next.
	maxSessions = 8
	// maxReads bounds the reads that wait on one connection.
	maxReads = 256
)

var errSecret = errors.New("wrong secret or user")

// session is one connection of a control process.
type session struct {
	conn net.Conn
	out  *pipe
}

// acceptAll serves connections until the listener is closed.
func (r *Runner) acceptAll(listener *net.UnixListener) {
	var all sync.WaitGroup
	free := make(chan struct{}, maxSessions)
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			break
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			defer func() { _ = conn.Close() }()
			if err := r.greet(conn); err != nil {
				r.refused.Add(1)
				r.log.Warn("connection refused", "error", err)
			}
		})
	}
	all.Wait()
}

// greet checks who is there before it serves. It returns why the connection was turned away, at its
// beginning or for what it said later.
func (r *Runner) greet(conn *net.UnixConn) error {
	if err := sameUser(conn); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(helloWithin))
	in := bufio.NewReaderSize(conn, 256<<10)
	first := &Order{}
	if _, err := readFrame(in, nil, maxFirst, first); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(first.GetAttach().GetSecret()), []byte(r.secret)) != 1 {
		return errSecret
	}
	_ = conn.SetReadDeadline(time.Time{})
	if err := r.talk(conn, in, first); errors.Is(err, errFrame) || errors.Is(err, errDecode) {
		return err
	}
	return nil
}

func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if cerr != nil || int(cred.Uid) != unix.Geteuid() {
		return errSecret
	}
	return nil
}

// talk hands orders to the loop and answers reads until the connection ends, and returns why it did.
func (r *Runner) talk(conn net.Conn, in *bufio.Reader, first *Order) error {
	s := &session{conn: conn, out: newPipe(conn)}
	r.mu.Lock()
	r.talks[s] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.talks, s)
		r.mu.Unlock()
	}()
	done := make(chan struct{})
	reads := make(chan *Read, maxReads)
	var parts sync.WaitGroup
	parts.Go(func() {
		_ = s.out.run(done)
		_ = conn.Close()
	})
	parts.Go(func() {
		for q := range reads {
			s.out.add(&News{Texts: []*Text{r.read(q)}})
		}
	})
	var buf []byte
	var err error
	for o := first; err == nil; {
		for _, q := range o.Reads {
			select {
			case reads <- q:
			default:
				s.out.add(&News{Texts: []*Text{{Id: q.Id, Error: "busy"}}})
			}
		}
		o.Reads = nil
		r.inbox.put(func() { r.inbox.orders = append(r.inbox.orders, order{from: s, Order: o}) })
		o = &Order{}
		buf, err = readFrame(in, buf, maxFrame, o)
	}
	r.inbox.put(func() { r.inbox.orders = append(r.inbox.orders, order{from: s, gone: true}) })
	close(done)
	close(reads)
	parts.Wait()
	return err
}

func (r *Runner) closeSessions() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.talks {
		_ = s.conn.Close()
	}
}

func (r *Runner) read(q *Read) *Text {
	stream := tasklog.Both
	switch q.Stream {
	case "stdout":
		stream = tasklog.Stdout
	case "stderr":
		stream = tasklog.Stderr
	}
	text, err := r.store.Read(keyOf(q.Attempt), tasklog.Query{
		Stream: stream, Offset: q.Offset, Line: q.Line, Limit: int(q.Limit), Lines: int(q.Lines),
	})
	if err != nil {
		return &Text{Id: q.Id, Error: err.Error()}
	}
	answer := &Text{
		Id: q.Id, Data: text.Data, Offset: text.Offset, Size: text.Size, Eof: text.EOF, Line: text.Line, Newlines: text.Newlines,
	}
	if g := text.Gap; g.From < g.To {
		answer.Gap = &Gap{From: g.From, To: g.To, LinesFrom: g.LinesFrom, LinesTo: g.LinesTo}
	}
	return answer
}
