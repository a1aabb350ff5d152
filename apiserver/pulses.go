package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"
)

const (
	// pulseEvery is how often the cluster is looked at while anybody watches.
	pulseEvery = time.Second
	// pulseAtLeast is how old what a watcher has may grow though nothing has changed.
	pulseAtLeast = 15 * time.Second
)

// pulses work out the cluster's pulse, once for all who watch it, and never while nobody does.
type pulses struct {
	wake chan struct{} // the first one has come

	reading sync.Mutex // held while one is worked out, so that many who ask at once cause one reading
	meter   meter      // under reading
	last    *Rebalance // under reading

	mu   sync.Mutex // guards what follows
	open map[*pulseWatch]struct{}
	now  *pulseText
}

// pulseText is a pulse with its JSON, which is written out once.
type pulseText struct {
	pulse Pulse
	text  json.RawMessage
	// steady is the text without the moment: what differs in nothing else is no news.
	steady []byte
	at     time.Time
}

// pulseWatch is one stream. It is told that there is news, and reads the newest itself.
type pulseWatch struct {
	of    *pulses
	ready chan struct{}
}

func newPulses() *pulses {
	return &pulses{wake: make(chan struct{}, 1), open: map[*pulseWatch]struct{}{}}
}

// watch begins to tell of news. Close it.
func (p *pulses) watch() *pulseWatch {
	w := &pulseWatch{of: p, ready: make(chan struct{}, 1)}
	p.mu.Lock()
	p.open[w] = struct{}{}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // told already
	}
	return w
}

func (w *pulseWatch) close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.open, w)
}

func (p *pulses) watched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) > 0
}

// fresh is the last pulse, if it is not older than a second.
func (p *pulses) fresh() *pulseText {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil || time.Since(p.now.at) >= pulseEvery {
		return nil
	}
	return p.now
}

// newest is the last pulse, or a new one where that is older than a second.
func (p *pulses) newest(ctx context.Context, s *Server) (*pulseText, error) {
	if t := p.fresh(); t != nil {
		return t, nil
	}
	return p.read(ctx, s, false)
}

// read works a pulse out. Who has waited for another reading gets that one's, unless it is forced.
func (p *pulses) read(ctx context.Context, s *Server, forced bool) (*pulseText, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if t := p.fresh(); t != nil && !forced {
		return t, nil
	}
	pulse, err := s.readPulse(ctx, &p.meter, p.last)
	if err != nil {
		return nil, err
	}
	p.last = pulse.Slots.Last
	timeless := pulse
	timeless.At = 0
	t := &pulseText{pulse: pulse, text: marshalJSON(pulse), steady: marshalJSON(timeless), at: time.Now()}
	p.mu.Lock()
	p.now = t
	p.mu.Unlock()
	return t, nil
}

// run works one out each second while anybody watches, and tells all of them where it is another.
func (p *pulses) run(ctx context.Context, s *Server) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	var told *pulseText
	for {
		next := tick.C
		if !p.watched() {
			next = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			continue
		case <-next:
		}
		t, err := p.read(ctx, s, true)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Debug("pulse not worked out", "error", err)
			}
			continue
		}
		if told != nil && bytes.Equal(told.steady, t.steady) && t.at.Sub(told.at) < pulseAtLeast {
			continue
		}
		told = t
		p.tell()
	}
}

func (p *pulses) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.open {
		select {
		case w.ready <- struct{}{}:
		default: // it has not read the one before: it gets this one
		}
	}
}
