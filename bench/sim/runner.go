package main

import (
	"maps"
	"slices"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
)

// runnerNode stands for the runner of a host: its processes are records with a moment at which they
// end. Its rules for deadlines are those of worker/lease; what it keeps on disk is as in worker/runner.
type runnerNode struct {
	w      *world
	node   *workerNode
	proc   *proc // of the runner
	tasks  *proc // stands for all processes of tasks
	boots  int
	ledger map[string]*line
	order  *orders // who gives the orders
}

// line is what the ledger knows of an attempt.
type line struct {
	start   *runner.Start
	noted   time.Duration // when it was accepted
	exit    *runner.Exit
	exited  time.Duration
	run     *run // nil: not spawned
	began   int64
	until   time.Duration
	lapsing bool
	stop    *runner.Stop
	dead    bool // its process has ended
}

// orders is the connection of a control process.
type orders struct {
	r    *runnerNode
	proc *proc // the control process
	open bool
	up   time.Duration // no order arrives before the one before it
	down time.Duration
}

func newRunnerNode(n *workerNode) *runnerNode {
	r := &runnerNode{w: n.w, node: n, ledger: map[string]*line{}}
	r.tasks = n.host.spawn(n.host.name + ".tasks")
	r.start()
	return r
}

// start makes a new runner; what an earlier one has left behind is ended.
func (r *runnerNode) start() {
	r.boots++
	r.proc = r.node.host.spawn(r.node.host.name + ".runner")
	if !r.tasks.alive {
		r.tasks = r.node.host.spawn(r.node.host.name + ".tasks")
	}
	for _, mark := range slices.Sorted(maps.Keys(r.ledger)) {
		l := r.ledger[mark]
		if l.exit != nil {
			continue
		}
		if l.run != nil && !l.dead {
			r.w.proof.end(l.run, "killed")
		}
		l.dead = true
		now := r.node.host.clock().UnixMilli()
		l.exit = &runner.Exit{
			Mark: mark, Attempt: l.start.Attempt, State: "failed", Reason: "runner_lost", StartedAt: max(l.began, 1), FinishedAt: now,
		}
		l.exited = r.w.now
	}
}

func (r *runnerNode) boot() time.Duration { return r.w.now + time.Hour }

// connect is what a control process does at first.
func (r *runnerNode) connect(n *workerNode) *orders {
	o := &orders{r: r, proc: n.proc, open: true}
	until := n.core.AttachUntil()
	r.w.after(r.w.upTo(5*time.Millisecond), r.proc, "attach", func() { r.attach(o, until) })
	return o
}

func (r *runnerNode) attach(o *orders, until time.Duration) {
	r.order = o
	news := &runner.Attached{}
	for _, mark := range slices.Sorted(maps.Keys(r.ledger)) {
		l := r.ledger[mark]
		switch {
		case l.exit != nil:
			news.Exits = append(news.Exits, l.exit)
		default:
			if until > 0 && l.until > until {
				l.until = until
			}
			news.Running = append(news.Running, &runner.Started{Mark: mark, Attempt: l.start.Attempt, StartedAt: l.began})
		}
	}
	r.tell(&runner.News{Attached: news})
}

// tell brings news to the control process, in order.
func (r *runnerNode) tell(news *runner.News) {
	o := r.order
	if o == nil || !o.open {
		return
	}
	o.down = max(o.down, r.w.now+r.w.upTo(2*time.Millisecond))
	r.w.after(o.down-r.w.now, o.proc, "news", func() {
		if o.open {
			r.node.news(o, news)
		}
	})
}

// Send implements worker.Runner.
func (o *orders) Send(order *runner.Order) {
	if !o.open {
		return
	}
	r := o.r
	text := encode(order)
	r.w.message(r.proc.id+" orders", order, text)
	o.up = max(o.up, r.w.now+r.w.upTo(2*time.Millisecond))
	r.w.after(o.up-r.w.now, r.proc, "orders", func() {
		if o.open && r.order == o {
			r.take(decode[runner.Order](text))
		}
	})
}

// gone says that a control process has died.
func (r *runnerNode) gone(o *orders) {
	if o != nil {
		o.open = false
	}
	if r.order == o {
		r.order = nil
	}
}

func (r *runnerNode) take(o *runner.Order) {
	r.lapse()
	for _, mark := range o.Forget {
		if l := r.ledger[mark]; l != nil && l.exit != nil {
			delete(r.ledger, mark)
		}
	}
	for _, s := range o.Starts {
		r.accept(s)
	}
	for _, s := range o.Stops {
		if l := r.ledger[s.Mark]; l != nil {
			r.stop(l, s)
		}
	}
	for _, l := range o.Leases {
		marks := l.Marks
		if len(marks) == 0 {
			marks = slices.Sorted(maps.Keys(r.ledger))
		}
		for _, mark := range marks {
			if line := r.ledger[mark]; line != nil && line.until != 0 {
				line.until = max(line.until, time.Duration(l.Until))
			}
		}
	}
}

// accept takes an attempt. One that is known is never started again.
func (r *runnerNode) accept(s *runner.Start) {
	if l := r.ledger[s.Mark]; l != nil {
		if l.exit != nil {
			r.tell(&runner.News{Exits: []*runner.Exit{l.exit}})
		}
		return
	}
	l := &line{start: s, noted: r.w.now, until: time.Duration(s.Until)}
	r.ledger[s.Mark] = l
	r.watch(l)
	r.w.after(r.w.between(time.Millisecond, 30*time.Millisecond), r.proc, "spawn", func() { r.spawn(l) })
}

// spawn makes the process, unless it was told not to.
func (r *runnerNode) spawn(l *line) {
	if l.exit != nil || l.run != nil {
		return
	}
	r.lapse()
	if l.stop != nil {
		l.dead = true
		r.exit(l, "failed", "stopped")
		return
	}
	l.began = r.node.host.clock().UnixMilli()
	id := l.start.Attempt
	l.run = r.w.proof.start(r.node, &rpc.AttemptID{InstanceId: id.InstanceId, Task: id.Task, Number: id.Number, Token: id.Token})
	length, rc := r.w.fate(id)
	r.w.after(length, r.tasks, "process ends", func() { r.ended(l, rc) })
	r.w.after(20*time.Millisecond, r.proc, "tell", func() {
		if l.exit == nil {
			r.tell(&runner.News{Started: []*runner.Started{{Mark: l.start.Mark, Attempt: id, StartedAt: l.began}}})
		}
	})
}

// fate says how long an attempt takes and how it ends.
func (w *world) fate(id *runner.Attempt) (time.Duration, int32) {
	t := w.audit.task(id.InstanceId, int(id.Task))
	if t == nil {
		return time.Second, 0
	}
	length := w.between(t.least, t.most)
	if t.failing < 0 || int(id.Number) <= t.failing {
		return length, 1
	}
	return length, 0
}

// ended is the end of a process by itself; the runner sees it when it can.
func (r *runnerNode) ended(l *line, rc int32) {
	if l.dead {
		return
	}
	l.dead = true
	outcome := "success"
	if rc != 0 {
		outcome = "failed"
	}
	r.w.proof.end(l.run, outcome)
	r.w.after(r.w.upTo(10*time.Millisecond), r.proc, "reap", func() { r.exit(l, outcome, "") })
}

// exit notes how an attempt ended, as the runner tells it.
func (r *runnerNode) exit(l *line, state, reason string) {
	if l.exit != nil {
		return
	}
	e := &runner.Exit{
		Mark: l.start.Mark, Attempt: l.start.Attempt, State: state, Reason: reason, StartedAt: l.began,
		FinishedAt: r.node.host.clock().UnixMilli(),
	}
	if state == "failed" && reason == "" {
		e.Reason, e.ExitCode = "exit_code", 1
	}
	if s := l.stop; s != nil {
		e.State, e.Reason = "killed", s.Reason
		switch {
		case s.Reason == "lease_ended":
			e.State = "lost"
		case s.GiveBack:
			e.State = "returned"
		}
	}
	l.exit, l.exited = e, r.w.now
	r.tell(&runner.News{Exits: []*runner.Exit{e}})
}

// stop sends TERM, and KILL after the grace.
func (r *runnerNode) stop(l *line, s *runner.Stop) {
	if l.exit != nil {
		return
	}
	grace := time.Duration(s.GraceMs) * time.Millisecond
	if l.stop == nil {
		l.stop = s
		if r.w.chance(0.7) {
			r.w.after(r.w.upTo(800*time.Millisecond), r.tasks, "process obeys TERM", func() { r.die(l) })
		}
	}
	r.w.after(grace, r.proc, "KILL", func() { r.die(l) })
}

// die ends a process that was told to.
func (r *runnerNode) die(l *line) {
	if l.exit != nil || l.run == nil {
		return
	}
	if !l.dead {
		l.dead = true
		r.w.proof.end(l.run, "killed")
	}
	r.w.after(r.w.upTo(60*time.Millisecond), r.proc, "reap", func() { r.exit(l, "killed", "") })
}

// watch looks at an attempt's deadline when it comes.
func (r *runnerNode) watch(l *line) {
	if l.until == 0 {
		return
	}
	at := l.until - lease.TermBefore
	if r.boot() >= at {
		at = l.until
	}
	if r.boot() >= at {
		return
	}
	r.w.after(at-r.boot(), r.proc, "deadline", func() {
		r.lapse()
		if l.exit == nil {
			r.watch(l)
		}
	})
}

// lapse ends the attempts whose deadline has come.
func (r *runnerNode) lapse() {
	for _, mark := range slices.Sorted(maps.Keys(r.ledger)) {
		l := r.ledger[mark]
		if l.exit != nil || l.until == 0 {
			continue
		}
		switch phase := lease.At(l.until, r.boot()); {
		case phase == lease.Over && l.lapsing:
			r.die(l)
		case phase != lease.Valid && !l.lapsing:
			l.lapsing = true
			r.w.note("%s: the lease of %s ends", r.proc.id, mark)
			r.stop(l, &runner.Stop{Mark: mark, GraceMs: max(0, l.until-r.boot()).Milliseconds(), Reason: "lease_ended"})
		}
	}
}

// crash is kill -9 of the runner: its processes go on, and nobody holds them to their deadlines.
func (r *runnerNode) crash() {
	if !r.proc.alive {
		return
	}
	r.w.note("%s dies", r.proc.id)
	r.proc.kill()
	r.w.proof.runnerDied(r.node)
	if o := r.order; o != nil {
		r.order, o.open = nil, false
		r.w.after(r.w.upTo(5*time.Millisecond), o.proc, "runner gone", func() { r.node.runnerGone(o) })
	}
}

// powerLoss ends the runner and all processes; what the ledger had not synced is lost.
func (r *runnerNode) powerLoss() {
	r.proc.kill()
	r.tasks.kill()
	r.order = nil
	for mark, l := range r.ledger {
		if l.run != nil && !l.dead {
			l.dead = true
		}
		switch {
		case r.w.now-l.noted < syncEvery:
			delete(r.ledger, mark)
		case l.exit != nil && r.w.now-l.exited < syncEvery:
			l.exit = nil
		}
	}
	r.w.proof.powerLoss(r.node)
}
