package main

import (
	"runtime/debug"
	"slices"
	"time"

	"github.com/porpoise/porpoise/internal/clocks"
)

// host is a machine: its processes share its clocks, and freeze and die with it.
type host struct {
	w      *world
	name   string
	offset time.Duration // of the clock on the wall
	ahead  time.Duration // by which somebody has set it wrong
	wrong  bool          // it was set wrong once
	procs  []*proc
	frozen time.Duration // until then
	lapses []lapse       // when it was frozen
}

// lapse is a time during which nothing on a host happened.
type lapse struct{ from, to time.Duration }

// clock is what time.Now returns on the host: the clock on the wall, which may be set, and the one that nobody sets.
func (h *host) clock() time.Time { return clocks.Reading(epoch.Add(h.w.now+h.offset+h.ahead), h.w.now) }

// set sets the clock on the wall to be wrong by so much; 0 sets it right.
func (h *host) set(ahead time.Duration) {
	h.w.note("the clock of %s is set, it is %v ahead", h.name, h.offset+ahead)
	h.ahead, h.wrong = ahead, true
}

// freeze stops all that is on the host; it goes on later as if nothing had been.
func (h *host) freeze(d time.Duration) {
	h.frozen = max(h.frozen, h.w.now+d)
	h.lapses = append(h.lapses, lapse{h.w.now, h.w.now + d})
	for _, p := range h.procs {
		p.pause(d)
	}
}

// thaw ends a freeze early.
func (h *host) thaw() {
	for i := range h.lapses {
		h.lapses[i].to = min(h.lapses[i].to, h.w.now)
	}
	h.frozen = 0
	for _, p := range h.procs {
		p.resume()
	}
}

// proc is one process: events of a dead one do not happen, those of a paused one wait.
type proc struct {
	host    *host
	id      string
	alive   bool
	paused  time.Duration // until then; 0: not
	backlog []event
	after   func() // what the process does whenever something has happened to it
}

func (h *host) spawn(id string) *proc {
	p := &proc{host: h, id: id, alive: true}
	h.procs = append(slices.DeleteFunc(h.procs, func(p *proc) bool { return !p.alive }), p)
	if h.frozen > h.w.now {
		p.pause(h.frozen - h.w.now)
	}
	return p
}

func (p *proc) String() string { return p.id }

// takes says whether an event happens now; one of a paused process is kept for later.
func (p *proc) takes(e event) bool {
	if !p.alive {
		return false
	}
	if p.paused > 0 {
		p.backlog = append(p.backlog, e)
		return false
	}
	return true
}

// pause is SIGSTOP, and SIGCONT later.
func (p *proc) pause(d time.Duration) {
	w := p.host.w
	until := w.now + d
	if !p.alive || until <= p.paused {
		return
	}
	p.paused = until
	w.after(d, nil, "continue "+p.id, func() {
		if p.paused == until {
			p.resume()
		}
	})
}

// resume lets all that waited happen now, in its order.
func (p *proc) resume() {
	if p.paused == 0 {
		return
	}
	p.paused = 0
	backlog := p.backlog
	p.backlog = nil
	w := p.host.w
	for _, e := range backlog {
		w.seq++
		e.at, e.seq = w.now, w.seq
		w.queue.push(e)
	}
}

// kill is SIGKILL.
func (p *proc) kill() {
	p.alive, p.backlog = false, nil
}

func stack() string { return string(debug.Stack()) }
