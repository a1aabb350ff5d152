package main

import (
	"math/rand/v2"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// nemesis makes the faults of a world. Each class draws from a source of its own, so that leaving one
// out changes as little as possible of the others.
type nemesis struct {
	w   *world
	rng *rand.Rand
}

// loose lets the faults of a world begin.
func (w *world) loose() {
	for i, class := range faults {
		mean := w.opt.Faults[class]
		if mean == 0 {
			continue
		}
		n := &nemesis{w, rand.New(rand.NewPCG(w.opt.Seed, uint64(i)+100))}
		n.next(class, mean)
	}
}

// fault counts one.
func (w *world) fault(class string) { w.count.Faults[class]++ }

func (n *nemesis) next(class string, mean time.Duration) {
	wait := time.Duration(n.rng.ExpFloat64() * float64(mean))
	n.w.after(wait, nil, "fault "+class, func() {
		if n.w.healing {
			return
		}
		n.strike(class)
		n.next(class, mean)
	})
}

// span draws how long a fault lasts: mostly short, sometimes longer than any lease.
func (n *nemesis) span() time.Duration {
	switch n.rng.IntN(4) {
	case 0:
		return time.Duration(n.rng.Int64N(int64(500 * time.Millisecond)))
	case 1, 2:
		return time.Duration(n.rng.Int64N(int64(7 * time.Second)))
	default:
		return 5*time.Second + time.Duration(n.rng.Int64N(int64(15*time.Second)))
	}
}

func (n *nemesis) master() *masterNode { return n.w.masters[n.rng.IntN(len(n.w.masters))] }
func (n *nemesis) worker() *workerNode { return n.w.workers[n.rng.IntN(len(n.w.workers))] }

// strike does one fault.
func (n *nemesis) strike(class string) {
	w := n.w
	switch class {
	case "crash_master", "crash_worker", "crash_runner", "crash_host":
		n.crash(class)
	case "leave_master":
		m := n.master()
		m.leave()
		w.after(n.span()+time.Second, nil, "restart", m.up)
	case "pause_master":
		n.master().proc.pause(n.span())
	case "pause_worker":
		n.worker().proc.pause(n.span())
	case "pause_runner":
		n.pauseRunner()
	case "freeze_host":
		n.worker().host.freeze(n.span())
	case "cut_link", "cut_oneway", "reset_link", "half_open":
		n.disconnect(class)
	case "cut_registry":
		n.isolate("etcd")
	case "cut_database":
		n.isolate("db")
	case "cut_worker":
		n.cutOff()
	case "database_down":
		w.db.down = w.now + n.span()
	case "database_slow":
		w.db.slow = w.now + n.span()
	case "registry_down":
		w.reg.away(n.span())
	case "registry_wiped":
		w.reg.away(time.Duration(n.rng.Int64N(int64(2 * time.Second))))
		w.reg.wipe()
	case "registry_stalls":
		w.reg.away(time.Second + time.Duration(n.rng.Int64N(int64(time.Second))))
	case "lease_lost":
		n.expire()
	case "slow_network":
		w.net.slow = w.now + n.span()
	case "runner_breaks":
		n.breakRunner()
	case "set_clock":
		n.setClock()
	default:
		return // those that hit single calls count themselves
	}
	w.fault(class)
}

// crash ends a process, or a host, for a while.
func (n *nemesis) crash(class string) {
	w, away := n.w, n.span()
	switch class {
	case "crash_master":
		m := n.master()
		m.crash()
		w.after(away, nil, "restart", m.up)
	case "crash_worker":
		node := n.worker()
		node.crash()
		w.after(away, nil, "restart", node.up)
	case "crash_runner":
		n.worker().runner.crash()
	default:
		node := n.worker()
		node.powerLoss()
		w.after(away+500*time.Millisecond, nil, "restart", node.up)
	}
}

// pauseRunner stops a runner: nobody holds its processes to their deadlines meanwhile.
func (n *nemesis) pauseRunner() {
	node := n.worker()
	if node.runner.proc.alive {
		n.w.proof.runnerDied(node)
		node.runner.proc.pause(n.span())
	}
}

func (n *nemesis) disconnect(class string) {
	w := n.w
	switch class {
	case "cut_link", "cut_oneway":
		a, b, d := n.master().host.name, n.worker().host.name, n.span()
		if n.rng.IntN(2) == 0 {
			a, b = b, a
		}
		w.net.sever(a, b, d)
		if class == "cut_link" {
			w.net.sever(b, a, d)
		}
	default:
		if len(w.net.all) == 0 {
			return
		}
		s := w.net.all[n.rng.IntN(len(w.net.all))]
		switch {
		case !s.wopen || !s.mopen:
		case class == "reset_link":
			s.sunder()
		default:
			s.halfOpen(n.rng.IntN(2) == 0)
		}
	}
}

// isolate cuts a node from the registry or the database.
func (n *nemesis) isolate(from string) {
	host := n.master().host.name
	if from == "etcd" && n.rng.IntN(2) == 0 {
		host = n.worker().host.name
	}
	d := n.span()
	n.w.net.sever(host, from, d)
	if n.rng.IntN(2) == 0 {
		n.w.net.sever(from, host, d)
	}
}

// cutOff leaves a worker alone: it reaches nobody, and goes on.
func (n *nemesis) cutOff() {
	host, d := n.worker().host.name, 4*time.Second+n.span()
	others := []string{"etcd"}
	for _, m := range n.w.masters {
		others = append(others, m.host.name)
	}
	for _, other := range others {
		n.w.net.sever(host, other, d)
		n.w.net.sever(other, host, d)
	}
}

// setClock sets the clock of a host forward or back, by seconds, minutes or an hour, and mostly right again.
func (n *nemesis) setClock() {
	h := n.worker().host
	if n.rng.IntN(3) > 0 {
		h = n.master().host
	}
	by := []time.Duration{time.Second, 20 * time.Second, 45 * time.Second, 2 * time.Minute, time.Hour}[n.rng.IntN(5)]
	by = time.Duration(n.rng.Int64N(int64(by)))
	if n.rng.IntN(4) == 0 {
		by = time.Hour
	}
	if n.rng.IntN(2) == 0 {
		by = -by
	}
	h.set(by)
	if n.rng.IntN(4) > 0 {
		n.w.after(n.span()+time.Second, nil, "clock set right", func() {
			if h.ahead == by {
				h.set(0)
			}
		})
	}
}

func (n *nemesis) expire() {
	if n.rng.IntN(2) == 0 {
		n.w.reg.expire(registry.Master, n.master().host.name)
	} else {
		n.w.reg.expire(registry.Worker, n.worker().host.name)
	}
}

// breakRunner ends the connection between a control process and its runner.
func (n *nemesis) breakRunner() {
	node := n.worker()
	o := node.order
	if o == nil || !o.open {
		return
	}
	o.open = false
	if node.runner.order == o {
		node.runner.order = nil
	}
	n.w.after(n.w.upTo(100*time.Millisecond), o.proc, "runner gone", func() { node.runnerGone(o) })
}
