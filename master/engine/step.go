package engine

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
)

// stepper steps until the engine stops.
func (e *Engine) stepper(context.Context) error {
	for e.runnable.wait() {
		e.StepOne()
	}
	return nil
}

// StepOne gives the instance that has waited longest its turn: it follows up its last commit,
// steps the mail that has come since, and leaves what changed to CommitOnce. It returns false
// where no instance had anything to do.
func (e *Engine) StepOne() bool {
	a := e.runnable.take()
	if a == nil {
		return false
	}
	e.advance(a)
	return true
}

// advance does one turn of an actor. A panic inside the rules must not take the master
// down with it, nor come back for ever: see crashed.
func (e *Engine) advance(a *actor) {
	defer func() {
		if r := recover(); r != nil {
			e.crashed(a, r, debug.Stack())
		}
	}()
	if done := a.done; done != nil {
		a.done = nil
		if !e.follow(a, done) {
			return
		}
	}
	for {
		mails, ok := a.collect()
		if !ok {
			return
		}
		turn := e.step(a, mails)
		a.turn = nil
		if turn.fx.Changed || turn.refuses() {
			e.commits.push(turn)
			return
		}
		// Nothing to store, as for a timer that came early and is armed again.
		e.act(a, turn)
		e.answer(turn)
		if a.rest(e.Now()) {
			return
		}
	}
}

// commit is one turn of an actor on its way to the store and back.
type commit struct {
	actor   *actor
	fx      dag.Effects
	granted []granted // what the attempts in fx have used up
	replies []reply
	opened  []*opened // attempts whose secrets have come
	at      dag.Millis
	release bool
	tries   int
}

// granted is a worker that was given for a task.
type granted struct {
	worker  rpc.Process
	instant bool
}

// reply is an answer that waits for the commit, even one that says stale: what made the
// report stale may itself be in that commit.
type reply struct {
	answer  func(verdict, owner string)
	verdict string
}

// refuses says that a report is to be called stale. A worker forgets such a report for good, so
// that only the owner may say it: a commit, even of nothing, tells whether we still are.
func (t *commit) refuses() bool {
	return slices.ContainsFunc(t.replies, func(r reply) bool { return r.verdict == VerdictStale })
}

// step applies mails in order and places the tasks that became ready with workers that
// ask, so that they are dispatched by the same commit.
func (e *Engine) step(a *actor, mails []mail) *commit {
	now := dag.MillisOf(e.Now())
	turn := &commit{actor: a, at: now}
	a.turn, a.taken = turn, mails
	// Written even if nothing changed: it is what makes the instance this master's.
	turn.fx.Changed = a.beginning != nil
	if a.restored {
		a.restored = false
		turn.fx.Actions = a.in.Pending(now)
		// Written even if nothing changes: the store then knows that taking it up went well.
		turn.fx.Changed = !a.woken
	}
	for i, m := range mails {
		a.taken = mails[i:]
		if m.entered {
			a.entering = false
		}
		if m.opened != nil {
			turn.opened = append(turn.opened, m.opened)
			continue
		}
		if m.recalled != nil {
			turn.fx.Add(a.recall(m.recalled, now))
			continue
		}
		if m.placed {
			turn.fx.Add(a.given(m))
			continue
		}
		if ended, ok := m.input.(dag.ChildEnded); ok {
			delete(a.hearing, ended.ID)
		}
		_ = failpoint.Hit("succ.eval.before")
		fx := a.in.Step(m.input, now)
		_ = failpoint.Hit("succ.eval.after")
		if assign, ok := m.input.(dag.Assign); ok && m.assigned {
			worker := rpc.Process{Node: assign.Worker, Incarnation: assign.Incarnation}
			if fx.Stale {
				e.Dispatcher.Refuse(worker, m.instant)
			} else {
				turn.granted = append(turn.granted, granted{worker, m.instant})
			}
		}
		if m.answer != nil {
			verdict := VerdictOK
			if fx.Stale {
				verdict = VerdictStale
			}
			turn.replies = append(turn.replies, reply{m.answer, verdict})
		}
		turn.fx.Add(fx)
	}
	a.taken = nil
	e.place(a, turn)
	e.giveUp(a)
	return turn
}

// place offers the tasks that became ready and takes back those that no longer are.
// Placing changes only what it appends, so the loop sees the actions of new attempts too.
func (e *Engine) place(a *actor, turn *commit) {
	for i := 0; i < len(turn.fx.Actions); i++ {
		switch action := turn.fx.Actions[i].(type) {
		case dag.Enqueue:
			if !a.runnable(action.Task) || a.recalls(action.Task) || !a.gate(action.Task) {
				continue
			}
			if a.plan.Parent(action.Task) {
				e.launch(a, turn, action.Task)
				continue
			}
			work := e.work(a, action.Task)
			worker, ok := e.Dispatcher.Offer(work)
			if !ok {
				continue
			}
			fx := a.in.Step(dag.Assign{
				Task: action.Task, Worker: worker.Node, Incarnation: worker.Incarnation, Token: e.Token(),
			}, turn.at)
			if fx.Stale {
				e.Dispatcher.Refuse(worker, work.Instant)
				continue
			}
			turn.granted = append(turn.granted, granted{worker, work.Instant})
			turn.fx.Add(fx)
		case dag.Dequeue:
			e.Dispatcher.Withdraw(e.work(a, action.Task))
		default:
			// The other actions follow the commit.
		}
	}
	// What is over, or rests, gives up its owner; judged by the state at the end of the turn, since
	// a wish that came with it may have opened the next round. Not before it has heard of all the children that have
	// told it of their ends: it would be called back for those, again and again.
	rests := a.in.State.Final() || a.in.State == dag.InstancePaused || a.in.State == dag.InstanceSerialWait && !a.entering
	if turn.release = rests && len(a.hearing) == 0; turn.release {
		turn.fx.Changed = true
	}
}

func (e *Engine) work(a *actor, task int) Work {
	def := &a.plan.Definition.Tasks[task]
	return Work{
		Instance: a.in.ID, Task: task, Group: a.in.GroupOf(task), Labels: def.WorkerLabels,
		InstancePriority: a.in.Priority, TaskPriority: def.Priority,
		ReadyAt: a.in.Tasks[task].ReadyAt, AvoidWorker: a.in.Tasks[task].AvoidWorker, Instant: a.instant(task),
	}
}

// answer tells the senders of a turn that changed nothing, or was committed.
func (e *Engine) answer(turn *commit) {
	for _, r := range turn.replies {
		if failpoint.Hit("report.ack.before") != nil {
			continue
		}
		r.answer(r.verdict, "")
		_ = failpoint.Hit("report.ack.after")
	}
}
