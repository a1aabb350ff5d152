package engine

import (
	"slices"
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
	// reportWait is adoptWait for an attempt that was taken over after that hello: it may have ended
	// before, and its report is then sent again every five seconds until it finds the new owner.
	reportWait = 6 * time.Second
	// silence is how long the link to a worker that left the registry may have been quiet before its
	// attempts count as lost. The worker's own deadline for them is 6 s, so they are over by then.
	silence = 7 * time.Second
	// absence is how long it must have been away from the registry, too: a lease that its holder gave up
	// early ends up to a second before those of its attempts.
	absence = time.Second
	// inherited is silence for an attempt that was taken over: its deadline may count from an answer of
	// the owner before, who may have taken two seconds to learn that he is none.
	inherited = silence + 2*time.Second
)

// ref is one live attempt on a worker.
type ref struct {
	instance          int64
	task, number      int
	token             string
	node, incarnation string
	since             dag.Millis // of the last message sent for it
	started           bool
	told              bool // that it is lost
	untold            bool // its worker has yet to hear who owns it now
	dispatch          *rpc.Dispatch
	kill              *rpc.Kill
	takenOver         time.Time
	beat              time.Time // when its worker last showed that it has it
	extended          time.Time // when it last got more time in the rows
	tally             *Tally    // of the takeover that brought it; nil once its lot is known
}

// settle tells the takeover that brought the attempt what became of it.
func (r *ref) settle(l lot) {
	r.tally.close(l)
	r.tally = nil
}

type refKey struct {
	instance     int64
	task, number int
}

// nodes knows the live attempts of this master by worker, and how its workers are.
type nodes struct {
	now func() time.Time

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
	absent      time.Time         // when it left the registry, if it was there
	claimed     map[refKey]string // the attempts that its hello named as alive, with their tokens
}

// claims says that the process that holds the link has named this very attempt: after a restore from a backup
// another one may have its number.
func (k *node) claims(key refKey, token string) bool {
	claimed, ok := k.claimed[key]
	return ok && claimed == token
}

func newNodes(now func() time.Time) *nodes {
	return &nodes{
		now: now, byNode: make(map[string]*node), byAttempt: make(map[refKey]*ref), byInstance: make(map[int64]map[refKey]*ref),
	}
}

func (n *nodes) node(name string) *node {
	known := n.byNode[name]
	if known == nil {
		// A worker that was never heard is silent from now on.
		known = &node{refs: make(map[refKey]*ref), heard: n.now()}
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
	n.drop(refKey{instance, task, number}, lotAdopted)
}

func (n *nodes) drop(key refKey, l lot) {
	r := n.byAttempt[key]
	if r == nil {
		return
	}
	r.settle(l)
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
		n.drop(key, lotForgotten)
	}
}

func (n *nodes) started(instance int64, task, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.byAttempt[refKey{instance, task, number}]; r != nil {
		r.started, r.extended = true, n.now()
	}
}

// confirm says that a worker has shown to have an attempt.
func (n *nodes) confirm(key refKey, token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.byAttempt[key]; r != nil && r.token == token {
		r.beat = n.now()
		r.settle(lotAdopted)
	}
}

func (n *nodes) killing(instance int64, task, number int, message *rpc.Kill) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.byAttempt[refKey{instance, task, number}]; r != nil {
		r.kill, r.since = message, dag.MillisOf(n.now())
	}
}

// Hello says that a worker's process has opened a link, and which attempts live there. Those that
// this master took over while there was no link are dispatched again: the worker knows them by
// their tokens, and learns whose they are.
func (e *Engine) Hello(worker rpc.Process, running []*rpc.Running) {
	untold := e.nodes.hello(worker, running)
	for _, r := range untold {
		e.Links.Again(worker, r.dispatch)
	}
}

// hello returns the attempts whose worker has yet to be told of its new master, in order.
func (n *nodes) hello(worker rpc.Process, running []*rpc.Running) (untold []ref) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.node(worker.Node)
	now := n.now()
	known.incarnation, known.since, known.heard = worker.Incarnation, now, now
	known.claimed = make(map[refKey]string, len(running))
	for _, r := range running {
		id := r.GetAttempt()
		key := refKey{id.GetInstanceId(), int(id.GetTask()), int(id.GetNumber())}
		known.claimed[key] = id.GetToken()
		held := known.refs[key]
		if held == nil || held.token != id.GetToken() {
			continue
		}
		held.incarnation = worker.Incarnation // adopted by the new process
		held.beat = now
		held.settle(lotAdopted)
		if held.untold && held.dispatch != nil {
			held.untold = false
			untold = append(untold, *held)
		}
	}
	slices.SortFunc(untold, compareRefs)
	return untold
}

// Heard says that a worker's link is alive.
func (e *Engine) Heard(node string) {
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	if known := e.nodes.byNode[node]; known != nil {
		known.heard = e.nodes.now()
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
	for name, known := range e.nodes.byNode {
		if e.nodes.present[name] && !workers[name] {
			known.absent = e.Now()
		}
	}
	e.nodes.present = workers
}

// Check answers a worker's heartbeat for one attempt. Stale makes the worker end it, so an owner
// of a higher epoch than ours, who has spoken to the worker of it, is the one to ask.
func (e *Engine) Check(running *rpc.Running) string {
	id := running.GetAttempt()
	e.nodes.mu.Lock()
	r := e.nodes.byAttempt[refKey{id.GetInstanceId(), int(id.GetTask()), int(id.GetNumber())}]
	ok := r != nil && r.token == id.GetToken()
	if ok {
		r.beat = e.nodes.now()
		r.settle(lotAdopted)
	}
	e.nodes.mu.Unlock()
	switch {
	case ok:
		return VerdictOK
	case e.wake(id.GetInstanceId()):
		return VerdictNotOwner // the next beat finds it in memory
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.actors[id.GetInstanceId()]; a != nil && a.epoch >= running.GetOwnerEpoch() {
		return VerdictStale
	}
	return VerdictNotOwner
}
