package engine

import (
	"context"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// sweepEvery is how often unanswered messages and silent workers are looked at.
	sweepEvery = 500 * time.Millisecond
	// startWait is how long a dispatched attempt may go without a word before its dispatch is sent
	// again; the worker knows it by its token.
	startWait = 2 * time.Second
	// killWait is how long a kill may go without a word before it is sent again.
	killWait = 5 * time.Second
	// adoptWait is how long a worker's new process has, from its hello, to name or report an attempt
	// of its predecessor before the attempt counts as lost.
	adoptWait = 3 * time.Second
	// silence is how long the link to a worker that left the registry may have been quiet before its
	// attempts count as lost. The worker's own deadline for them is 6 s, so they are over by then.
	silence = 7 * time.Second
)

// ref is one live attempt on a worker.
type ref struct {
	instance          int64
	task, number      int
	token             string
	node, incarnation string
	since             dag.Millis // of the last message sent for it
	started           bool
	dispatch          *rpc.Dispatch
	kill              *rpc.Kill
}

type refKey struct {
	instance     int64
	task, number int
}

// nodes knows the live attempts of this master by worker, and how its workers are.
type nodes struct {
	mu         sync.Mutex
	byNode     map[string]*node
	byAttempt  map[refKey]*ref
	byInstance map[int64]map[refKey]*ref
	present    map[string]bool // nodes in the registry; nil before the first view
}

// node is a worker as this master hears it.
type node struct {
	refs        map[refKey]*ref
	incarnation string // of the process that holds the link; "" while there is none
	since       time.Time
	heard       time.Time
	claimed     map[refKey]bool // the attempts that its hello named as alive
}

func newNodes() *nodes {
	return &nodes{
		byNode: make(map[string]*node), byAttempt: make(map[refKey]*ref), byInstance: make(map[int64]map[refKey]*ref),
	}
}

func (n *nodes) node(name string) *node {
	known := n.byNode[name]
	if known == nil {
		// A worker that was never heard is silent from now on.
		known = &node{refs: make(map[refKey]*ref), heard: time.Now()}
		n.byNode[name] = known
	}
	return known
}

func (n *nodes) add(r ref) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := refKey{r.instance, r.task, r.number}
	n.byAttempt[key] = &r
	n.node(r.node).refs[key] = &r
	if n.byInstance[r.instance] == nil {
		n.byInstance[r.instance] = make(map[refKey]*ref)
	}
	n.byInstance[r.instance][key] = &r
}

func (n *nodes) end(instance int64, task, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(refKey{instance, task, number})
}

func (n *nodes) drop(key refKey) {
	r := n.byAttempt[key]
	if r == nil {
		return
	}
	delete(n.byAttempt, key)
	delete(n.byInstance[key.instance], key)
	if len(n.byInstance[key.instance]) == 0 {
		delete(n.byInstance, key.instance)
	}
	owner := n.byNode[r.node]
	delete(owner.refs, key)
	if len(owner.refs) == 0 && owner.incarnation == "" {
		delete(n.byNode, r.node)
	}
}

// forget drops all attempts of an instance.
func (n *nodes) forget(instance int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key := range n.byInstance[instance] {
		n.drop(key)
	}
}

func (n *nodes) started(instance int64, task, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.byAttempt[refKey{instance, task, number}]; r != nil {
		r.started = true
	}
}

func (n *nodes) killing(instance int64, task, number int, message *rpc.Kill) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.byAttempt[refKey{instance, task, number}]; r != nil {
		r.kill, r.since = message, dag.MillisOf(time.Now())
	}
}

// Hello says that a worker's process has opened a link, and which attempts live there.
func (e *Engine) Hello(worker rpc.Process, running []*rpc.Running) {
	n := e.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.node(worker.Node)
	now := time.Now()
	known.incarnation, known.since, known.heard = worker.Incarnation, now, now
	known.claimed = make(map[refKey]bool, len(running))
	for _, r := range running {
		id := r.GetAttempt()
		key := refKey{id.GetInstanceId(), int(id.GetTask()), int(id.GetNumber())}
		known.claimed[key] = true
		if held := known.refs[key]; held != nil && held.token == id.GetToken() {
			held.incarnation = worker.Incarnation // adopted by the new process
		}
	}
}

// Heard says that a worker's link is alive.
func (e *Engine) Heard(node string) {
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	if known := e.nodes.byNode[node]; known != nil {
		known.heard = time.Now()
	}
}

// Bye says that the link of a worker's process is gone. Its attempts are not: they may well run on.
func (e *Engine) Bye(worker rpc.Process) {
	n := e.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.byNode[worker.Node]
	if known == nil || known.incarnation != worker.Incarnation {
		return
	}
	known.incarnation = ""
	if len(known.refs) == 0 {
		delete(n.byNode, worker.Node)
	}
}

// Present says which workers are registered. Nobody is lost before the first call, and
// none while the registry is away: then it is not called.
func (e *Engine) Present(workers map[string]bool) {
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	e.nodes.present = workers
}

// Check answers a worker's heartbeat for one attempt.
func (e *Engine) Check(id *rpc.AttemptID) string {
	e.nodes.mu.Lock()
	r := e.nodes.byAttempt[refKey{id.GetInstanceId(), int(id.GetTask()), int(id.GetNumber())}]
	e.nodes.mu.Unlock()
	switch {
	case r != nil && r.token == id.GetToken():
		return VerdictOK
	case e.Has(id.GetInstanceId()):
		return VerdictStale
	default:
		return VerdictNotOwner
	}
}

// sweeper sends unanswered messages again and declares the attempts of vanished workers lost.
func (e *Engine) sweeper(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.sweep(time.Now())
		}
	}
}

// lost is an attempt that is over without a report.
type lost struct {
	ref     ref
	message string
}

func (e *Engine) sweep(now time.Time) {
	var again []ref
	var gone []lost
	n := e.nodes
	n.mu.Lock()
	for name, known := range n.byNode {
		for key, r := range known.refs {
			if message := known.verdict(n.present, name, key, r, now); message != "" {
				gone = append(gone, lost{*r, message})
			} else if r.overdue(known.incarnation, now) {
				r.since = dag.MillisOf(now)
				again = append(again, *r)
			}
		}
	}
	n.mu.Unlock()
	for _, r := range again {
		if r.kill != nil {
			e.Links.Kill(r.node, r.kill)
		} else {
			e.Links.Dispatch(rpc.Process{Node: r.node, Incarnation: r.incarnation}, r.dispatch)
		}
	}
	for _, l := range gone {
		e.log.Warn("attempt lost", "instance", l.ref.instance, "task", l.ref.task, "attempt", l.ref.number, "worker", l.ref.node, "reason", l.message)
		e.post(l.ref.instance, mail{input: dag.Lost{
			Task: l.ref.task, Number: l.ref.number, Token: l.ref.token, Message: l.message,
		}})
	}
}

// verdict returns why an attempt is lost, or "".
func (k *node) verdict(present map[string]bool, name string, key refKey, r *ref, now time.Time) string {
	if k.incarnation != "" {
		if k.incarnation != r.incarnation && !k.claimed[key] && now.Sub(k.since) > adoptWait {
			return "worker " + name + " restarted without it"
		}
		return ""
	}
	if present != nil && !present[name] && now.Sub(k.heard) > silence {
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
