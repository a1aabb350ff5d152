// Package flood keeps log lines that repeat from filling a disk: of each message so many pass in
// a while, the others are counted, and the count is told once. It knows a line by its constant
// message alone. cmd puts a Gate in front of the logger of every process.
package flood

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// window is the while, and allowed how many lines of a message pass in it.
	window  = 10 * time.Second
	allowed = 20
	// maxMessages bounds the messages that are counted in one window; lines of others pass.
	maxMessages = 1_000
)

// Gate is in front of a logger. Its zero value is not usable.
type Gate struct {
	tell func(message string, left int)

	mu     sync.Mutex // guards what follows
	counts map[string]int
}

// New returns a Gate that calls tell, from any goroutine, with how many lines of a message were left out.
func New(tell func(message string, left int)) *Gate {
	return &Gate{tell: tell, counts: make(map[string]int)}
}

// Exclude says whether a line is to be left out, as hclog.LoggerOptions.Exclude asks.
// Lines that tell of no trouble pass.
func (g *Gate) Exclude(level hclog.Level, message string, _ ...any) bool {
	if level < hclog.Warn {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n, known := g.counts[message]
	if !known {
		if len(g.counts) >= maxMessages {
			return false
		}
		time.AfterFunc(window, func() { g.end(message) })
	}
	g.counts[message] = n + 1
	return n >= allowed
}

// end closes the window of a message.
func (g *Gate) end(message string) {
	g.mu.Lock()
	left := g.counts[message] - allowed
	delete(g.counts, message)
	g.mu.Unlock()
	if left > 0 {
		g.tell(message, left)
	}
}
