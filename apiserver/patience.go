package apiserver

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// pingEvery is how often the database is asked for a sign of life, pingWait how long one may take.
	pingEvery = 500 * time.Millisecond
	pingWait  = time.Second
	// hungAfter is how long none must have come before requests are refused at once, and those
	// under way end.
	hungAfter = 1500 * time.Millisecond
)

// patience knows whether the database hangs. One that refuses is told by every call itself; one that
// is silent would hold up each for as long as a call may take.
type patience struct {
	ping func(context.Context) error
	log  hclog.Logger

	mu   sync.Mutex // guards what follows
	ctx  context.Context
	stop context.CancelFunc
}

func newPatience(ping func(context.Context) error, log hclog.Logger) *patience {
	p := &patience{ping: ping, log: log}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// answering returns a context that ends when the database hangs, and is over while it does.
func (p *patience) answering() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctx
}

// run watches until ctx ends.
func (p *patience) run(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		once, cancel := context.WithTimeout(ctx, pingWait)
		err := p.ping(once)
		// A refusal is an answer: a database that takes no writes, or no more connections, may well read.
		answered := err == nil || once.Err() == nil
		cancel()
		if answered {
			last = asked
		}
		p.judge(answered, time.Since(last) > hungAfter)
	}
}

func (p *patience) judge(well, hung bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case well && p.ctx.Err() != nil:
		p.ctx, p.stop = context.WithCancel(context.Background())
		p.log.Info("the database answers again")
	case hung && p.ctx.Err() == nil:
		p.stop()
		p.log.Warn("the database does not answer, requests are refused")
	}
}
