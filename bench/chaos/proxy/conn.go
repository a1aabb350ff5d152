package proxy

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunk is read at once; a COMMIT of the MySQL driver is one small write.
	chunk = 32 << 10
	// inFlight bounds the chunks that are on their way in one direction, as a network's
	// buffers do.
	inFlight = 64
)

// conn is one connection through a link.
type conn struct {
	link           *Link
	from           string
	client, server *net.TCPConn
	once           sync.Once
	done           chan struct{}
	swallow        atomic.Bool // the next answer is a reset
}

// packet is what was read at once, and when.
type packet struct {
	at   time.Time
	data []byte
}

func (c *conn) concerns(f Fault) bool { return f.From == "" || f.From == c.from }

// reset ends both sides, once.
func (c *conn) reset() {
	c.once.Do(func() {
		close(c.done)
		abort(c.client)
		abort(c.server)
	})
}

func (c *conn) run() {
	var wait sync.WaitGroup
	for _, up := range []bool{true, false} {
		from, to := c.client, c.server
		if !up {
			from, to = to, from
		}
		line := make(chan packet, inFlight)
		wait.Go(func() { c.read(from, line) })
		wait.Go(func() {
			c.write(to, line, up)
			c.reset()
		})
	}
	wait.Wait()
}

// read takes what comes until the end of the connection.
func (c *conn) read(from *net.TCPConn, line chan<- packet) {
	defer close(line)
	for {
		data := make([]byte, chunk)
		n, err := from.Read(data)
		if n > 0 {
			select {
			case line <- packet{time.Now(), data[:n]}:
			case <-c.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// write passes on what was read, as the fault of the moment allows.
func (c *conn) write(to *net.TCPConn, line <-chan packet, up bool) {
	for p := range line {
		if !c.let(p, up) {
			return
		}
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}

// let waits until a packet may pass; false ends the connection instead.
func (c *conn) let(p packet, up bool) bool {
	if !up && c.swallow.Load() {
		return false
	}
	for {
		f, changed := c.link.state(c.from)
		switch f.Kind {
		case CommitBefore, CommitAfter:
			if up && bytes.Contains(p.data, []byte("COMMIT")) {
				return c.cutCommit(f.Kind)
			}
			return true
		case Delay:
			return c.pause(time.Until(p.at.Add(f.Delay)), nil)
		case Slow:
			return c.pause(time.Duration(len(p.data))*time.Second/time.Duration(max(f.Rate, 1)), changed)
		case Hole, HoleUp, HoleDown:
			if !f.holds(up) {
				return true
			}
			select {
			case <-changed:
			case <-c.done:
				return false
			}
		case Pass, Cut, "":
			return true
		}
	}
}

// cutCommit ends the connection instead of its COMMIT, or instead of the answer to it.
func (c *conn) cutCommit(kind Kind) bool {
	c.link.mu.Lock()
	c.link.cut++
	c.link.mu.Unlock()
	if kind == CommitBefore {
		return false
	}
	c.swallow.Store(true)
	return true
}

// pause waits; the end of the fault may cut it short. False is the end of the connection.
func (c *conn) pause(d time.Duration, changed <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-c.done:
		return false
	}
	return true
}
