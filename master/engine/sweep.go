package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// sweeper sends unanswered messages again and declares the attempts of vanished workers lost.
func (e *Engine) sweeper(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		e.guard("sweep", func() { e.Sweep(e.Now()) })
		if n%sweepsPerEvict == 0 || e.crowded() {
			e.guard("evict", func() { e.Evict(e.Now()) })
		}
	}
}

// LostWorker is a worker whose attempts here ended with it.
type LostWorker struct {
	Node, Incarnation string
	Cause             string
	SilentSince       time.Time
	Instances         int
	Attempts          int
}

// lost is an attempt that is over without a report.
type lost struct {
	ref     ref
	message string
	heard   time.Time // the last word of its worker
}

// Sweep does so once, in an order that depends on nothing but the attempts.
func (e *Engine) Sweep(now time.Time) {
	again, gone := e.nodes.sweep(now, e.Sure(now))
	for _, r := range again {
		if r.kill != nil {
			e.Links.Kill(r.node, r.kill)
		} else {
			e.Links.Again(rpc.Process{Node: r.node, Incarnation: r.incarnation}, r.dispatch)
		}
	}
	for _, l := range gone {
		if !l.ref.told {
			e.log.Warn("attempt lost", "instance", l.ref.instance, "task", l.ref.task, "attempt", l.ref.number, "worker", l.ref.node, "reason", l.message)
		}
		e.post(l.ref.instance, mail{input: dag.Lost{
			Task: l.ref.task, Number: l.ref.number, Token: l.ref.token, Message: l.message,
		}})
	}
	for _, w := range lostWorkers(gone) {
		e.LostWorker(w)
	}
}

// lostWorkers sums attempts that were lost up by their worker's process, in their order.
func lostWorkers(gone []lost) []LostWorker {
	var workers []LostWorker
	place := make(map[rpc.Process]int)
	instances := make(map[rpc.Process]map[int64]bool)
	for _, l := range gone {
		if l.ref.told {
			continue // in an earlier sweep, whose message has yet to be committed
		}
		process := rpc.Process{Node: l.ref.node, Incarnation: l.ref.incarnation}
		i, known := place[process]
		if !known {
			i = len(workers)
			place[process], instances[process] = i, make(map[int64]bool)
			workers = append(workers, LostWorker{Node: process.Node, Incarnation: process.Incarnation, Cause: l.message, SilentSince: l.heard})
		}
		workers[i].Attempts++
		instances[process][l.ref.instance] = true
		workers[i].Instances = len(instances[process])
	}
	return workers
}

// sweep returns the attempts whose last message is to be sent again, and those that are lost. sure
// says that the list of who is registered may be held against a worker.
func (n *nodes) sweep(now time.Time, sure bool) (again []ref, gone []lost) {
	n.mu.Lock()
	defer n.mu.Unlock()
	present := n.present
	if !sure {
		present = nil
	}
	for name, known := range n.byNode {
		for key, r := range known.refs {
			if message := known.verdict(present, name, key, r, now); message != "" {
				r.settle(lotLost)
				gone = append(gone, lost{*r, message, known.heard})
				r.told = true
			} else if (!r.told || r.kill != nil) && r.overdue(known.incarnation, now) {
				// One that was called lost is given up, though its commit may still wait: it must not begin.
				r.since = dag.MillisOf(now)
				again = append(again, *r)
			}
		}
	}
	slices.SortFunc(again, compareRefs)
	slices.SortFunc(gone, func(a, b lost) int { return compareRefs(a.ref, b.ref) })
	return again, gone
}

// compareRefs orders attempts by instance, task and number.
func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.task, b.task), cmp.Compare(a.number, b.number))
}

// verdict returns why an attempt is lost, or "".
func (k *node) verdict(present map[string]bool, name string, key refKey, r *ref, now time.Time) string {
	if k.incarnation != "" {
		if k.incarnation != r.incarnation && !k.claims(key, r.token) && now.Sub(k.since) > adoptWait && now.Sub(r.takenOver) > reportWait {
			return "worker " + name + " restarted without it"
		}
		return ""
	}
	if present != nil && !present[name] && now.Sub(k.heard) > silence && now.Sub(k.absent) > absence && now.Sub(r.takenOver) > inherited {
		return "worker " + name + " is gone"
	}
	return ""
}

// overdue says that the last message for r has gone unanswered for too long, and that the process it
// was meant for is there to hear it again.
func (r *ref) overdue(incarnation string, now time.Time) bool {
	waited := dag.MillisOf(now).Sub(r.since)
	if r.kill != nil {
		return incarnation != "" && waited > killWait
	}
	return incarnation == r.incarnation && !r.started && r.dispatch != nil && waited > startWait
}
