package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// evidence is what the processes themselves would say: it asks no part of the product.
type evidence struct {
	w     *world
	runs  map[attemptKey]*run
	alive map[taskKey][]*run
	sent  map[string]map[int64]*rpc.Report // by worker and outbox id
}

type taskKey struct {
	instance int64
	task     int
}

type attemptKey struct {
	taskKey
	number int
}

// run is one process.
type run struct {
	attemptKey
	token      string
	node       *workerNode
	from, to   time.Duration
	outcome    string // "": it is alive
	unattended bool   // for a time no runner held it to its deadline
}

func newEvidence(w *world) *evidence {
	return &evidence{w: w, runs: map[attemptKey]*run{}, alive: map[taskKey][]*run{}, sent: map[string]map[int64]*rpc.Report{}}
}

// start is the first thing that a process does.
func (p *evidence) start(n *workerNode, id *rpc.AttemptID) *run {
	w := p.w
	w.count.Spawned++
	key := attemptKey{taskKey{id.GetInstanceId(), int(id.GetTask())}, int(id.GetNumber())}
	r := &run{attemptKey: key, token: id.GetToken(), node: n, from: w.now}
	w.note("process of %v starts on %s", key, n.host.name)
	if before := p.runs[key]; before != nil {
		w.fail("I11", "attempt %v starts on %s, and was started on %s at %v", key, n.host.name, before.node.host.name, before.from)
	}
	for _, other := range p.alive[key.taskKey] {
		if p.excused(other) || p.excused(r) {
			w.count.Excused++
			continue
		}
		w.fail("I12", "attempt %v starts on %s while %v runs on %s since %v", key, n.host.name, other.attemptKey, other.node.host.name, other.from)
	}
	p.runs[key] = r
	p.alive[key.taskKey] = append(p.alive[key.taskKey], r)
	w.audit.mayRun(r)
	return r
}

// excused says that a whole host stood still for longer than a lease can notice, that a process had no
// runner for a time, or that it was given up by force.
func (p *evidence) excused(r *run) bool {
	if row := p.w.audit.attempts[r.attemptKey]; r.unattended || row != nil && row.reason == "forced_stop" {
		return true // somebody gave it up without waiting for its end
	}
	for _, l := range r.node.host.lapses {
		if l.to >= r.from-10*time.Second && l.from <= p.w.now && l.to-l.from > 500*time.Millisecond {
			return true
		}
	}
	return false
}

// end is the last thing that a process does.
func (p *evidence) end(r *run, outcome string) {
	if r.outcome != "" {
		return
	}
	r.outcome, r.to = outcome, p.w.now
	p.w.note("process of %v ends: %s", r.attemptKey, outcome)
	list := p.alive[r.taskKey]
	if i := slices.Index(list, r); i >= 0 {
		p.alive[r.taskKey] = slices.Delete(list, i, i+1)
	}
}

// runnerDied marks those that nobody holds to their deadlines now.
func (p *evidence) runnerDied(n *workerNode) {
	for _, list := range p.alive {
		for _, r := range list {
			r.unattended = r.unattended || r.node == n
		}
	}
}

// powerLoss ends everything on a host.
func (p *evidence) powerLoss(n *workerNode) {
	var over []*run
	for _, list := range p.alive {
		for _, r := range list {
			if r.node == n {
				over = append(over, r)
			}
		}
	}
	slices.SortFunc(over, func(a, b *run) int { return int(a.from - b.from) })
	for _, r := range over {
		p.end(r, "power")
	}
}

// reported remembers what a worker has sent.
func (p *evidence) reported(n *workerNode, reports []*rpc.Report) {
	if len(reports) == 0 {
		return
	}
	sent := p.sent[n.host.name]
	if sent == nil {
		sent = map[int64]*rpc.Report{}
		p.sent[n.host.name] = sent
	}
	for _, r := range reports {
		sent[r.GetOutboxId()] = r
	}
}

// acked holds an answer against the rows: what may leave the outbox is committed, or can never be.
func (p *evidence) acked(n *workerNode, acks []*rpc.Ack) {
	for _, ack := range acks {
		r := p.sent[n.host.name][ack.GetOutboxId()]
		if r == nil || ack.GetVerdict() != "ok" && ack.GetVerdict() != "stale" || r.GetState() == string(dag.AttemptRunning) {
			continue
		}
		id := r.GetAttempt()
		row := p.w.audit.attempts[attemptKey{taskKey{id.GetInstanceId(), int(id.GetTask())}, int(id.GetNumber())}]
		if row == nil || row.token != id.GetToken() || !row.state.Final() {
			p.w.fail("I29", "%s may forget the %s of %v (%s), and the row says %v", n.host.name, r.GetState(), id, ack.GetVerdict(), row)
		}
	}
}

// hostFroze says that a host has stood still lately.
func (p *evidence) hostFroze(n *workerNode) bool {
	return p.excused(&run{node: n, from: p.w.now})
}

func (k attemptKey) compare(other attemptKey) int {
	return cmp.Or(cmp.Compare(k.instance, other.instance), cmp.Compare(k.task, other.task), cmp.Compare(k.number, other.number))
}

// String says what became of a process.
func (r *run) String() string {
	if r == nil {
		return "none"
	}
	if r.outcome == "" {
		return fmt.Sprintf("alive on %s since %v", r.node.host.name, r.from)
	}
	return fmt.Sprintf("%s on %s at %v", r.outcome, r.node.host.name, r.to)
}
