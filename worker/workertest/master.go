// Package workertest gives tests a master that does what the test says, and workers that
// are real: in the test's process, or in one of their own that can be killed. It is used
// by the tests of worker and of the task types alone.
package workertest

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// Deadline is how long a test waits for anything.
const Deadline = 30 * time.Second

// Master is a scripted master: it sends what was submitted as asks come, and acks.
type Master struct {
	rpc.UnimplementedMasterServer

	Node, Address string

	t      testing.TB
	server *grpc.Server

	mu       sync.Mutex // guards what follows
	changed  chan struct{}
	queue    []*rpc.Dispatch
	streams  map[*stream]bool
	reports  []*rpc.Report
	finals   map[string]bool // tokens
	hellos   []*rpc.Hello
	drains   int
	verdict  func(*rpc.Report) *rpc.Ack
	beat     func(*rpc.Tick) *rpc.TickReply
	mostAsks int
	shelf    shelf
}

type stream struct {
	mu   sync.Mutex // guards send
	on   rpc.Master_WorkServer
	asks int
	// leave is how many instant tasks may go beside those that were asked for.
	leave int
	stop  chan struct{}
}

// allowed takes what may go to the worker now from the front of a queue.
func (s *stream) allowed(queue *[]*rpc.Dispatch) (out []*rpc.Dispatch) {
	for len(*queue) > 0 {
		left := &s.asks
		if dag.Instant((*queue)[0].GetType()) {
			left = &s.leave
		}
		if *left == 0 {
			break
		}
		*left--
		out, *queue = append(out, (*queue)[0]), (*queue)[1:]
	}
	return out
}

// NewMaster serves on loopback until the test ends.
func NewMaster(t testing.TB, node string) *Master {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &Master{
		Node: node, Address: listener.Addr().String(), t: t, server: grpc.NewServer(),
		changed: make(chan struct{}), streams: map[*stream]bool{}, finals: map[string]bool{},
		verdict: func(r *rpc.Report) *rpc.Ack { return &rpc.Ack{OutboxId: r.OutboxId, Verdict: "ok"} },
		beat:    wanted,
	}
	rpc.RegisterMasterServer(m.server, m)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = m.server.Serve(listener)
	}()
	t.Cleanup(func() {
		m.server.Stop()
		<-served
	})
	return m
}

// Work is a worker's stream.
func (m *Master) Work(on rpc.Master_WorkServer) error {
	s := &stream{on: on, stop: make(chan struct{})}
	in := make(chan *rpc.WorkerMessage)
	failed := make(chan error, 1)
	go func() {
		for {
			w, err := on.Recv()
			if err != nil {
				failed <- err
				return
			}
			select {
			case in <- w:
			case <-on.Context().Done():
				return
			}
		}
	}()
	defer m.change(func() { delete(m.streams, s) })
	for {
		select {
		case err := <-failed:
			return err
		case <-s.stop:
			return fmt.Errorf("dropped by the test")
		case w := <-in:
			if err := m.take(s, w); err != nil {
				return err
			}
		}
	}
}

func (m *Master) change(what func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what()
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *Master) take(s *stream, w *rpc.WorkerMessage) error {
	// What a test sends once it sees a report follows the report's ack, as it does with a real master.
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &rpc.MasterMessage{}
	m.change(func() {
		if w.Hello != nil {
			m.hellos = append(m.hellos, w.Hello)
			m.streams[s] = true
			out.Welcome = &rpc.Welcome{Master: m.Node, Incarnation: "1", Cluster: "test"}
		}
		s.asks += int(w.Ask)
		s.leave += int(w.Instants)
		if back := min(int(w.Recall), s.asks); back > 0 {
			s.asks -= back
			out.Unused = int32(back)
		}
		m.mostAsks = max(m.mostAsks, s.asks)
		if w.Draining != "" {
			m.drains++
		}
		for _, r := range w.Reports {
			m.reports = append(m.reports, r)
			if r.State != "running" {
				m.finals[r.Attempt.Token] = true
			}
			if a := m.verdict(r); a != nil {
				out.Acks = append(out.Acks, a)
			}
		}
		if w.Tick != nil {
			out.Tick = m.beat(w.Tick)
		}
		out.Dispatches = s.allowed(&m.queue)
	})
	return s.on.Send(out)
}

func (s *stream) send(m *rpc.MasterMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on.Send(m)
}

// Submit queues attempts; they go out as asks allow, and instant ones as the worker's leave does.
func (m *Master) Submit(ds ...*rpc.Dispatch) {
	type part struct {
		s   *stream
		out []*rpc.Dispatch
	}
	var parts []part
	m.change(func() {
		m.queue = append(m.queue, ds...)
		for s := range m.streams {
			parts = append(parts, part{s, s.allowed(&m.queue)})
		}
	})
	for _, p := range parts {
		if len(p.out) > 0 {
			_ = p.s.send(&rpc.MasterMessage{Dispatches: p.out})
		}
	}
}

// Send sends a message on every stream, whatever was asked.
func (m *Master) Send(out *rpc.MasterMessage) {
	m.mu.Lock()
	var all []*stream
	for s := range m.streams {
		all = append(all, s)
	}
	m.mu.Unlock()
	for _, s := range all {
		_ = s.send(out)
	}
}

// Answer sets how reports are acked from now on; nil is no ack.
func (m *Master) Answer(verdict func(*rpc.Report) *rpc.Ack) {
	m.change(func() { m.verdict = verdict })
}

// Beat sets how ticks are answered from now on; nil is no answer.
func (m *Master) Beat(answer func(*rpc.Tick) *rpc.TickReply) {
	if answer == nil {
		answer = func(*rpc.Tick) *rpc.TickReply { return nil }
	}
	m.change(func() { m.beat = answer })
}

// wanted answers that every attempt is.
func wanted(t *rpc.Tick) *rpc.TickReply {
	r := &rpc.TickReply{Id: t.Id}
	for _, a := range t.Running {
		r.Verdicts = append(r.Verdicts, &rpc.Verdict{Attempt: a.Attempt, Verdict: "ok"})
	}
	return r
}

// Drop ends all streams.
func (m *Master) Drop() {
	m.change(func() {
		for s := range m.streams {
			close(s.stop)
			delete(m.streams, s)
		}
	})
}

// Until waits for what the state says, with the mutex held while it looks.
func (m *Master) Until(what string, done func() bool) {
	m.t.Helper()
	late := time.After(Deadline)
	for {
		m.mu.Lock()
		ok, changed := done(), m.changed
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			m.t.Fatalf("waited %v for %s", Deadline, what)
		}
	}
}

// Report waits for a report of an attempt in one of the states, final ones if none is named.
func (m *Master) Report(token string, states ...string) *rpc.Report {
	m.t.Helper()
	var found *rpc.Report
	m.Until("a report of "+token, func() bool {
		for _, r := range m.reports {
			if r.Attempt.Token != token {
				continue
			}
			fits := len(states) == 0 && r.State != "running"
			for _, s := range states {
				fits = fits || r.State == s
			}
			if fits {
				found = r
				return true
			}
		}
		return false
	})
	return found
}

// Reports gives all reports of an attempt so far.
func (m *Master) Reports(token string) []*rpc.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*rpc.Report
	for _, r := range m.reports {
		if r.Attempt.Token == token {
			out = append(out, r)
		}
	}
	return out
}

// Count is the number of reports of an attempt so far; it is for Until.
func (m *Master) Count(token string) (n int) {
	for _, r := range m.reports {
		if r.Attempt.Token == token {
			n++
		}
	}
	return n
}

// AwaitFinals waits until n attempts have a final report.
func (m *Master) AwaitFinals(n int) {
	m.t.Helper()
	m.Until(fmt.Sprint(n, " ends"), func() bool { return len(m.finals) >= n })
}

// Hellos waits for n Hellos and gives the last.
func (m *Master) Hellos(n int) *rpc.Hello {
	m.t.Helper()
	var last *rpc.Hello
	m.Until(fmt.Sprint(n, " hellos"), func() bool {
		if len(m.hellos) < n {
			return false
		}
		last = m.hellos[len(m.hellos)-1]
		return true
	})
	return last
}

// Asks is what all streams together may still be sent, and MostAsks the most that one had.
func (m *Master) Asks() (now, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.streams {
		now += s.asks
	}
	return now, m.mostAsks
}

// AwaitAsks waits until all streams together hold n asks.
func (m *Master) AwaitAsks(n int) {
	m.t.Helper()
	m.Until(fmt.Sprint(n, " asks"), func() bool {
		now := 0
		for s := range m.streams {
			now += s.asks
		}
		return now == n
	})
}
