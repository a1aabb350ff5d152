package worker

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/porpoise/porpoise/worker/journal"
	"github.com/porpoise/porpoise/worker/runner"
)

// maxEvents is how many events may wait for the loop; a link that brings more waits itself.
const maxEvents = 1024

// event is something that happened; the loop runs it.
type event func(c *loop)

// loop is the one goroutine that touches a Core, with what brings it events.
type loop struct {
	*Core
	events  chan event
	ready   chan struct{} // closed when the runner has said for the first time what is alive
	isReady func()
	client  *runner.Client // nil: not there
	callers *callers
	carrier *carrier
	journal *journal.File
}

func newLoop(cfg Config) (*loop, error) {
	l := &loop{events: make(chan event, maxEvents), ready: make(chan struct{})}
	l.isReady = sync.OnceFunc(func() { close(l.ready) })
	l.callers = &callers{loop: l, running: map[string]context.CancelCauseFunc{}}
	var err error
	if l.carrier, err = newCarrier(l, cfg.DataDir); err != nil {
		return nil, err
	}
	l.Core, err = NewCore(cfg, Parts{Calls: l.callers, Carrier: l.carrier, Disk: func(each func(kind byte, data []byte) error) (Disk, error) {
		file, err := journal.Open(filepath.Join(cfg.DataDir, "outbox.journal"), each)
		l.journal = file
		return file, err
	}})
	return l, err
}

// post hands an event to the loop; it waits while too many are there.
func (c *loop) post(ctx context.Context, e event) bool {
	select {
	case c.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// run is the loop. It ends when the worker has left after leave was closed.
func (c *loop) run(ctx context.Context, leave <-chan struct{}) {
	tick := time.NewTicker(c.TickEvery())
	defer tick.Stop()
	wake := time.NewTimer(time.Hour)
	defer wake.Stop()
	for !c.Left() {
		select {
		case <-ctx.Done():
			return
		case <-leave:
			leave = nil
			c.Leave()
		case e := <-c.events:
			e(c)
			c.more()
		case <-wake.C:
		case <-tick.C:
			c.Tick()
		}
		c.Flush()
		wait := time.Hour
		if at, ok := c.Next(); ok {
			wait = max(time.Millisecond, time.Until(at))
		}
		wake.Reset(wait)
	}
}

// more takes what else has come, so that one write serves all.
func (c *loop) more() {
	for range maxEvents {
		select {
		case e := <-c.events:
			e(c)
		default:
			return
		}
	}
}
