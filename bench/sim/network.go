package main

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/link"
	"github.com/porpoise/porpoise/worker"
)

const (
	// deadPeer is how long a peer may be silent before gRPC ends a connection, by its pings.
	deadPeer = 8 * time.Second
	// welcomeWithin is how long a worker waits for the answer to its hello.
	welcomeWithin = 5 * time.Second
)

// network is who reaches whom. Names are of hosts, and "etcd" and "db".
type network struct {
	w    *world
	cuts map[[2]string]time.Duration // from, to: nothing gets there until then
	slow time.Duration               // until then messages take their time
	all  []*stream
	next int
}

func newNetwork(w *world) *network { return &network{w: w, cuts: map[[2]string]time.Duration{}} }

// cut says whether what from sends does not reach to.
func (n *network) cut(from, to string) bool { return n.w.now < n.cuts[[2]string{from, to}] }

// break one direction for a time.
func (n *network) sever(from, to string, d time.Duration) {
	key := [2]string{from, to}
	n.cuts[key] = max(n.cuts[key], n.w.now+d)
	until := n.cuts[key]
	for _, s := range n.all {
		if s.concerns(from, to) {
			n.w.after(deadPeer+n.w.upTo(2*time.Second), nil, "ping times out", func() { s.timeOut() })
		}
	}
	n.w.after(d, nil, "cut ends", func() {
		if n.cuts[key] == until {
			n.mend(key)
		}
	})
}

// mend ends a cut: TCP has kept what was sent meanwhile.
func (n *network) mend(key [2]string) {
	delete(n.cuts, key)
	for _, s := range n.all {
		if s.concerns(key[0], key[1]) {
			s.flush()
		}
	}
}

// latency is how long a message is on its way.
func (n *network) latency() time.Duration {
	if n.w.now < n.slow {
		return n.w.upTo(5 * time.Second)
	}
	return n.w.between(100*time.Microsecond, 4*time.Millisecond)
}

// stream is a connection of a worker to a master. Each direction is ordered; each end learns of
// the connection's end for itself.
type stream struct {
	w      *world
	id     int
	worker *workerNode
	master *masterNode
	wproc  *proc
	mproc  *proc
	peer   worker.Peer
	up     direction
	down   direction

	wopen, mopen bool
	lost         bool       // what is sent from now on gets nowhere
	link         *link.Link // at the master, after the hello
	welcomed     bool
}

// direction is one way of a stream.
type direction struct {
	last time.Duration // no message arrives before the one before it
	held []func()      // waits for the end of a cut
}

func (s *stream) String() string {
	return fmt.Sprintf("%s>%s#%d", s.worker.host.name, s.master.host.name, s.id)
}

func (s *stream) concerns(from, to string) bool {
	a, b := s.worker.host.name, s.master.host.name
	return (s.wopen || s.mopen) && (from == a && to == b || from == b && to == a)
}

// Peer implements worker.Link.
func (s *stream) Peer() worker.Peer { return s.peer }

// Reset implements worker.Link.
func (s *stream) Reset() {
	s.w.after(0, s.wproc, "reset", func() { s.closeWorker("reset by the worker") })
}

// Send implements worker.Link.
func (s *stream) Send(m *rpc.WorkerMessage) {
	if !s.wopen {
		return
	}
	text := encode(m)
	s.w.proof.reported(s.worker, m.Reports)
	s.w.message(s.String()+" up", m, text)
	s.send(&s.up, s.worker.host.name, s.master.host.name, s.mproc, "hear", func() {
		if s.mopen {
			s.master.hear(s, decode[rpc.WorkerMessage](text))
		}
	})
	if s.doubles() && len(m.Reports) > 0 {
		again := encode(&rpc.WorkerMessage{Reports: m.Reports})
		s.send(&s.up, s.worker.host.name, s.master.host.name, s.mproc, "hear twice", func() {
			if s.mopen && s.link != nil {
				s.master.hear(s, decode[rpc.WorkerMessage](again))
			}
		})
	}
}

// sendDown is the master's side.
func (s *stream) sendDown(m *rpc.MasterMessage) {
	if !s.mopen {
		return
	}
	text := encode(m)
	s.w.message(s.String()+" down", m, text)
	s.send(&s.down, s.master.host.name, s.worker.host.name, s.wproc, "message", func() {
		if s.wopen {
			s.worker.message(s, decode[rpc.MasterMessage](text))
		}
	})
	if s.doubles() && len(m.Dispatches)+len(m.Kills) > 0 {
		again := encode(&rpc.MasterMessage{Dispatches: m.Dispatches, Kills: m.Kills})
		s.send(&s.down, s.master.host.name, s.worker.host.name, s.wproc, "message twice", func() {
			if s.wopen && s.welcomed {
				s.worker.message(s, decode[rpc.MasterMessage](again))
			}
		})
	}
}

// doubles says whether the parts of a message that mean the same twice come twice.
func (s *stream) doubles() bool {
	if !s.w.opt.has("duplicates") || s.w.healing || !s.w.chance(0.1) {
		return false
	}
	s.w.fault("duplicates")
	return true
}

// send brings a message to the other end, in order, through whatever is in the way.
func (s *stream) send(d *direction, from, to string, p *proc, name string, arrive func()) {
	if s.lost {
		return
	}
	d.last = max(d.last, s.w.now+s.w.net.latency())
	s.w.after(d.last-s.w.now, p, name, func() {
		switch {
		case s.lost:
		case s.w.net.cut(from, to) || len(d.held) > 0:
			d.held = append(d.held, arrive)
		default:
			arrive()
		}
	})
}

// flush lets go what was held by a cut.
func (s *stream) flush() {
	for _, d := range []*direction{&s.up, &s.down} {
		p := s.mproc
		if d == &s.down {
			p = s.wproc
		}
		from, to := s.worker.host.name, s.master.host.name
		if d == &s.down {
			from, to = to, from
		}
		if s.w.net.cut(from, to) || len(d.held) == 0 {
			continue
		}
		s.w.after(s.w.net.latency(), p, "flush", func() {
			held := d.held
			d.held = nil
			for _, arrive := range held {
				arrive()
			}
		})
	}
}

// timeOut ends both ends where the pings still get nowhere.
func (s *stream) timeOut() {
	a, b := s.worker.host.name, s.master.host.name
	if !s.w.net.cut(a, b) && !s.w.net.cut(b, a) {
		return
	}
	s.sunder()
}

// sunder ends the connection for both, each in its own time.
func (s *stream) sunder() {
	s.lost = true
	s.w.after(s.w.upTo(500*time.Millisecond), s.wproc, "stream ended", func() { s.closeWorker("connection lost") })
	s.w.after(s.w.upTo(500*time.Millisecond), s.mproc, "stream ended", func() { s.closeMaster() })
}

// halfOpen ends the connection for one of them; the other finds out by its pings.
func (s *stream) halfOpen(masterKnows bool) {
	s.lost = true
	know, wait := s.w.upTo(100*time.Millisecond), deadPeer+s.w.upTo(2*time.Second)
	first, second := wait, know
	if masterKnows {
		first, second = know, wait
	}
	s.w.after(second, s.wproc, "stream ended", func() { s.closeWorker("connection lost") })
	s.w.after(first, s.mproc, "stream ended", func() { s.closeMaster() })
}

// closeWorker ends it at the worker, which tells the master where it can.
func (s *stream) closeWorker(why string) {
	if !s.wopen {
		return
	}
	s.wopen = false
	s.w.note("%s ended at the worker: %s", s, why)
	s.tellMaster()
	s.worker.closed(s)
}

func (s *stream) tellMaster() {
	wait := s.w.net.latency()
	if s.lost || s.w.net.cut(s.worker.host.name, s.master.host.name) {
		wait = deadPeer + s.w.upTo(2*time.Second)
	}
	s.w.after(wait, s.mproc, "stream ended", func() { s.closeMaster() })
}

// closeMaster is the same at the master.
func (s *stream) closeMaster() {
	if !s.mopen {
		return
	}
	s.mopen = false
	s.w.note("%s ended at the master", s)
	s.tellWorker()
	s.master.closed(s)
}

func (s *stream) tellWorker() {
	wait := s.w.net.latency()
	if s.lost || s.w.net.cut(s.master.host.name, s.worker.host.name) {
		wait = deadPeer + s.w.upTo(2*time.Second)
	}
	s.w.after(wait, s.wproc, "stream ended", func() { s.closeWorker("closed by the master") })
}

// crashed ends what a process had open, at the other end.
func (n *network) crashed(p *proc) {
	kept := n.all[:0]
	for _, s := range n.all {
		switch p {
		case s.wproc:
			s.wopen = false
			s.tellMaster()
		case s.mproc:
			s.mopen = false
			s.tellWorker()
		}
		if s.wopen || s.mopen {
			kept = append(kept, s)
		}
	}
	clear(n.all[len(kept):])
	n.all = kept
}

var plain = proto.MarshalOptions{Deterministic: true}

func encode(m proto.Message) string {
	text, err := plain.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func decode[T any, P interface {
	*T
	proto.Message
}](text string) P {
	m := P(new(T))
	if err := proto.Unmarshal([]byte(text), m); err != nil {
		panic(err)
	}
	return m
}

// message makes a message part of the trace.
func (w *world) message(what string, m proto.Message, text string) {
	_, _ = w.hash.Write([]byte(what))
	_, _ = w.hash.Write([]byte(text))
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%11.6f   %s %s\n", w.now.Seconds(), what, prototext.MarshalOptions{}.Format(m))
	}
}
