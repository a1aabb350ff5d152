// Package proxy stands between two processes of a cluster under test and breaks the
// network between them: it refuses, cuts, swallows one direction or both, delays,
// throttles, and cuts a MySQL connection exactly on its COMMIT.
//
// It owns listeners on loopback and the connections through them. It reads nothing of what
// passes but the word COMMIT, and never changes a byte. Package rig puts one on every link.
package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Kind is what a link does with what passes.
type Kind string

// The kinds of fault. A swallowed byte is not lost: it comes when the fault ends, as TCP
// would send it again.
const (
	Pass         Kind = "pass"
	Cut          Kind = "cut"           // connections are reset, new ones refused
	Hole         Kind = "hole"          // nothing passes, nobody is told
	HoleUp       Kind = "hole_up"       // only answers pass
	HoleDown     Kind = "hole_down"     // only requests pass
	Delay        Kind = "delay"         // everything comes later, each way
	Slow         Kind = "slow"          // few bytes per second, each way
	CommitBefore Kind = "commit_before" // a connection is reset instead of its COMMIT
	CommitAfter  Kind = "commit_after"  // a COMMIT passes, its answer is a reset
)

// Fault is a state of a link; the zero value lets everything pass.
type Fault struct {
	Kind  Kind
	From  string        // only connections of this process, where the link knows them; "" is all
	Delay time.Duration // of Delay
	Rate  int           // bytes per second of Slow
}

// holds says whether the fault stops a direction.
func (f Fault) holds(up bool) bool {
	switch f.Kind {
	case Hole:
		return true
	case HoleUp:
		return up
	case HoleDown:
		return !up
	case Pass, Cut, Delay, Slow, CommitBefore, CommitAfter, "":
	}
	return false
}

const dialTimeout = 3 * time.Second

// Link is one listener in front of one target. Its methods may be called from anywhere.
type Link struct {
	Address string // where it listens

	listener net.Listener
	who      func(client net.Addr) string
	wait     sync.WaitGroup

	mu      sync.Mutex
	target  string
	fault   Fault
	changed chan struct{} // closed at the next change of the fault
	conns   map[*conn]bool
	cut     int // COMMITs that were cut
	closed  bool
}

// Listen starts a link to the target, which may be "" until Retarget. who names the process
// behind a new connection, where more than one uses the link; nil where not.
func Listen(ctx context.Context, target string, who func(net.Addr) string) (*Link, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy to %s: %w", target, err)
	}
	l := &Link{Address: listener.Addr().String(), listener: listener, who: who, target: target, changed: make(chan struct{}), conns: map[*conn]bool{}}
	l.wait.Go(l.accept)
	return l, nil
}

// Retarget sends new connections elsewhere; a database comes back on another port.
func (l *Link) Retarget(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Set puts the link into a state. A cut resets what is open.
func (l *Link) Set(f Fault) {
	l.mu.Lock()
	l.fault = f
	close(l.changed)
	l.changed = make(chan struct{})
	var reset []*conn
	for c := range l.conns {
		if f.Kind == Cut && c.concerns(f) {
			reset = append(reset, c)
		}
	}
	l.mu.Unlock()
	for _, c := range reset {
		c.reset()
	}
}

// Commits counts the COMMITs that were cut.
func (l *Link) Commits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Close ends the listener and all connections and waits for them.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	var open []*conn
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	_ = l.listener.Close()
	for _, c := range open {
		c.reset()
	}
	l.wait.Wait()
}

// state is the fault as it concerns a process, and what tells of its end.
func (l *Link) state(from string) (Fault, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault.From != "" && l.fault.From != from {
		return Fault{}, l.changed
	}
	return l.fault, l.changed
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.wait.Go(func() { l.serve(client.(*net.TCPConn)) })
	}
}

// serve carries one connection to its end.
func (l *Link) serve(client *net.TCPConn) {
	from := ""
	if l.who != nil {
		from = l.who(client.RemoteAddr())
	}
	if f, _ := l.state(from); f.Kind == Cut {
		abort(client)
		return
	}
	l.mu.Lock()
	target := l.target
	l.mu.Unlock()
	up, err := net.DialTimeout("tcp", target, dialTimeout)
	if err != nil {
		abort(client)
		return
	}
	c := &conn{link: l, from: from, client: client, server: up.(*net.TCPConn), done: make(chan struct{})}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		c.reset()
		return
	}
	l.conns[c] = true
	l.mu.Unlock()
	c.run()
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// abort resets a connection: the other side learns it at once, as from a dead host's kernel.
func abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
