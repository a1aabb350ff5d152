package apiserver

import (
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// roomRequests and roomBytes bound the requests with a body that are under way, and their bodies: whoever waits for a
	// slow database waits with everything that was sent. A body costs some ten times its size, decoded, as a statement, and until
	// the next collection: 32 MiB of them took 375 MiB of an apiserver. One project alone has half of this, which is 4,000
	// starts of 4 KiB each.
	roomRequests = 8_000
	roomBytes    = 32 << 20
	// tellFull is how often a log says that requests are turned away: it may happen thousands of times a second.
	tellFull = 10 * time.Second
)

// room bounds what requests hold in memory. A project, or an address that nobody knows, may take as much as is free: one alone
// gets half of it, two a third each, and a newcomer always finds some.
type room struct {
	what            string // for the log
	requests, bytes int64
	log             hclog.Logger

	mu    sync.Mutex // guards what follows
	all   load
	of    map[string]load
	asked time.Time // when its log has last told of a refusal
}

// load is some requests and the bytes of their bodies.
type load struct{ requests, bytes int64 }

func (l load) and(m load) load { return load{l.requests + m.requests, l.bytes + m.bytes} }

// stay is what one request has taken; that of no room is nothing.
type stay struct {
	room *room
	who  string
	load load
}

func newRoom(what string, log hclog.Logger) *room {
	return &room{what: what, requests: roomRequests, bytes: roomBytes, log: log, of: map[string]load{}}
}

// enter lets in a request with that many bytes, or says no. Who is in calls leave in the end.
func (r *room) enter(who string, bytes int64) (stay, bool) {
	s := stay{r, who, load{1, bytes}}
	r.mu.Lock()
	defer r.mu.Unlock()
	own, all := r.of[who].and(s.load), r.all.and(s.load)
	if own.requests > r.requests-all.requests || own.bytes > r.bytes-all.bytes {
		if now := time.Now(); now.Sub(r.asked) > tellFull {
			r.asked = now
			r.log.Warn("too much waits, requests are refused", "what", r.what, "requests", r.all.requests, "bytes", r.all.bytes)
		}
		return stay{}, false
	}
	r.of[who], r.all = own, all
	return s, true
}

// keep gives back what is more than that many bytes.
func (s *stay) keep(bytes int64) {
	if s.room != nil && bytes < s.load.bytes {
		s.room.give(s.who, load{0, s.load.bytes - bytes})
		s.load.bytes = bytes
	}
}

// leave gives everything back.
func (s *stay) leave() {
	if s.room != nil {
		s.room.give(s.who, s.load)
		*s = stay{}
	}
}

func (r *room) give(who string, l load) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l = load{-l.requests, -l.bytes}
	r.all = r.all.and(l)
	if own := r.of[who].and(l); own == (load{}) {
		delete(r.of, who)
	} else {
		r.of[who] = own
	}
}

// admitBody takes room for the request's body, before any of it is read. Starts have a room of their own: a flood of them
// leaves the other one to whoever wants to stop it.
func (s *Server) admitBody(sp *spec, c *call, length int64) *Problem {
	in, who := s.others, c.ip
	if sp.starts {
		in = s.starting
	}
	if c.project.ID != 0 {
		who = strconv.FormatInt(c.project.ID, 10)
	}
	if length < 0 {
		length = sp.body.limit() // it says when it ends only by its end
	}
	var ok bool
	if c.stay, ok = in.enter(who, length); !ok {
		return unavailable("too many requests wait already: try again")
	}
	return nil
}
