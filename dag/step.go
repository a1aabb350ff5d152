package dag

import (
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag/expression"
)

// lostLimit is how many lost workers fail a task for good. One lost worker says nothing
// about the task; two in a row make it likely that the task itself takes them down.
const lostLimit = 2

// overdueAfter is how long pausing or stopping may take before an operator is told.
const overdueAfter = 2 * time.Minute

// Step is the only place where an instance changes. It takes one input at the moment now
// and returns what the caller must store and then do. It never fails: an input that no
// longer fits changes nothing. It panics only where its own tables are broken. Whoever
// can't store the effects must forget the instance, because memory is then ahead.
//
// One input about one task costs time in proportion to the successors of that task;
// verbs for the whole instance and Begin cost O(tasks + edges).
func (in *Instance) Step(ev Input, now Millis) Effects {
	s := step{in: in, now: now}
	switch ev := ev.(type) {
	case Begin:
		s.begin()
	case Queue:
		s.wait()
	case Discard:
		s.discard()
	case Assign:
		s.assign(ev)
	case Report:
		s.report(ev)
	case Lost:
		s.lost(ev)
	case Timer:
		s.timer(ev)
	case Control:
		s.control(ev)
	case Launch:
		s.launch(ev)
	case ChildEnded:
		s.childEnded(ev)
	case ChildAgain:
		s.childAgain(ev)
	case Decided:
		s.decided(ev)
	case Recall:
		s.recall(ev)
	default:
		panic(fmt.Sprintf("instance %d: no rule for input %T", in.ID, ev))
	}
	if s.fx.Changed || len(s.fx.Applied) > 0 {
		s.settle()
	}
	return s.fx
}

// step is one call of Step.
type step struct {
	in    *Instance
	now   Millis
	fx    Effects
	queue []int // ended tasks whose successors are still to be told
	// ending says that a failure ends the instance, by on_failure; ended that this has been carried out.
	ending, ended bool
	last          Attempt // that was made final last: what a retry policy looks at
}

// begin lets a round begin that was waited for until now: the first one, or a later one in serial_wait.
func (s *step) begin() {
	in := s.in
	if in.State != InstanceSubmitted && in.State != InstanceSerialWait {
		s.fx.Stale = true
		return
	}
	s.run("")
	s.startRoots(in.Round == 1)
}

// run makes the instance running in a round that starts now.
func (s *step) run(by string) {
	in := s.in
	in.FinishedAt = 0
	if in.StartedAt == 0 {
		in.StartedAt = s.now
	}
	s.enterInstance(InstanceRunning, "", by)
	if after := in.plan.Definition.Timeout.After; after > 0 {
		in.Deadline = s.now.Add(after)
		s.do(Arm{Timer: instanceTimer(TimerInstance), At: in.Deadline})
	}
}

// startRoots moves on every task that waits for nothing. With all, it names the rows of the
// others too, as they are new.
func (s *step) startRoots(all bool) {
	for _, i := range s.in.plan.Order {
		if s.meet(i) {
			s.spread(i)
		}
	}
	for i := range s.in.Tasks {
		if t := &s.in.Tasks[i]; all && (t.State == TaskWaiting || t.State.Final()) {
			s.touch(i)
		}
	}
}

// assign gives a ready task to a worker.
func (s *step) assign(ev Assign) {
	t := s.task(ev.Task)
	if t == nil || t.State != TaskReady || s.in.State != InstanceRunning || s.in.InMaster(ev.Task) || t.delayed() ||
		ev.Token == "" || ev.Worker == "" {
		s.fx.Stale = true
		return
	}
	s.taken(ev.Task)
	t.Attempt = Attempt{
		Task: ev.Task, Number: t.Attempts + 1, Round: s.in.Round, Iteration: s.iterate(ev.Task),
		Token: ev.Token, Worker: ev.Worker, Incarnation: ev.Incarnation,
		State: AttemptDispatched, DispatchedAt: s.now, CacheKey: s.in.CacheKey(ev.Task),
	}
	t.Attempts++
	t.StartedAt, t.FinishedAt = 0, 0
	s.in.active++
	s.enter(ev.Task, TaskDispatched, "")
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.tell(ev.Task, "")
	s.do(Dispatch{Attempt: t.Attempt})
}

// activate moves on a task that its needs let run. It returns true where that is its end
// already, which the caller must spread.
func (s *step) activate(i int) (ended bool) {
	if s.in.plan.Definition.Tasks[i].Disabled {
		s.enter(i, TaskDisabled, "")
		s.tellOf(i, 0, "")
		return true
	}
	r := &s.in.plan.rules[i]
	for _, ask := range [...]struct {
		condition *expression.Expression
		otherwise Reason
	}{{r.condition, ReasonJoin}, {r.when, ReasonWhen}} {
		if ask.condition == nil {
			continue
		}
		holds, err := s.in.holds(i, ask.condition)
		if err != nil {
			s.letGo(i)
			s.enter(i, TaskFailed, ReasonExpression)
			s.event(Event{Code: EventTask, Task: i, State: string(TaskFailed), Reason: ReasonExpression, Message: err.Error()})
			s.endWith(i)
			return true
		}
		if !holds {
			s.passOver(i, ask.otherwise)
			return true
		}
	}
	if s.in.Tasks[i].rejoins() { // its child does not wait either
		s.makeReady(i, ReasonChildAgain)
		return false
	}
	if s.in.plan.Definition.Tasks[i].Delay > 0 && !s.in.DryRun {
		s.delay(i)
		return false
	}
	if s.in.plan.here(i) && s.in.State == InstanceRunning {
		return s.startHere(i)
	}
	s.makeReady(i, "")
	return false
}

// makeReady offers a task to the dispatcher; while the instance pauses or is paused, it
// only stands ready until resume.
func (s *step) makeReady(i int, reason Reason) {
	s.enter(i, TaskReady, reason)
	s.in.Tasks[i].ReadyAt = s.now
	s.offer(i)
}

// settle ends the round, or rests, once that is due. It is cheap but for the end itself.
func (s *step) settle() {
	in := s.in
	switch in.State {
	case InstanceRunning, InstancePausing, InstancePaused, InstanceStopping:
		s.startUndo()
		s.startFinally()
		if in.open() == 0 {
			s.finish()
		} else if in.State == InstancePausing && in.active == 0 {
			s.enterInstance(InstancePaused, in.Reason, "")
		}
	case InstanceSubmitted, InstanceSerialWait, InstanceStopped, InstanceFailed, InstanceSuccess, InstanceQuarantined:
	}
	if in.State == InstancePaused {
		s.do(Rest{})
	} else if in.State.Final() {
		s.do(Finish{})
	}
}

// finish ends the round with the state that its tasks give.
func (s *step) finish() {
	in := s.in
	if in.Deadline != 0 {
		in.Deadline = 0
		s.do(Disarm{Timer: instanceTimer(TimerInstance)})
	}
	state, reason := in.outcome()
	in.FinishedAt = s.now
	s.enterInstance(state, reason, "")
}

// outcome is the final state of a round whose tasks are all final. It reads every task,
// once per round.
func (in *Instance) outcome() (InstanceState, Reason) {
	var killed, byUser, broken, forced bool
	undone, well := in.undoing()
	for i := range in.Tasks {
		t := &in.Tasks[i]
		if !in.broken(i) {
			continue
		}
		broken = true
		killed = killed || t.State == TaskKilled
		byUser = byUser || t.Reason == ReasonKilledByUser
		forced = forced || t.Reason == ReasonForcedStop
	}
	switch {
	case in.Reason == ReasonTimeout:
		return InstanceFailed, ReasonTimeout
	case in.State == InstanceStopping && killed && in.Reason.displaced():
		return InstanceStopped, in.Reason
	case in.State == InstanceStopping && killed && forced:
		return InstanceStopped, ReasonForcedStop
	case in.State == InstanceStopping && killed:
		return InstanceStopped, ""
	case broken && undone && well:
		return InstanceFailed, ReasonCompensated
	case broken && undone:
		return InstanceFailed, ReasonNotCompensated
	case byUser:
		return InstanceFailed, ReasonTaskKilled
	case broken:
		return InstanceFailed, ReasonTaskFailed
	default:
		return InstanceSuccess, ""
	}
}

// done says that a task counts as done for its successors and for the instance.
func (in *Instance) done(i int) bool {
	switch in.Tasks[i].State {
	case TaskSuccess, TaskForcedSuccess, TaskSkipped, TaskDisabled:
		return true
	case TaskFailed:
		return in.plan.Definition.Tasks[i].AllowFailure
	case TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling, TaskKilled, TaskUpstreamFailed:
	}
	return false
}

// enter is the only writer of a task's state within a round.
func (s *step) enter(i int, to TaskState, reason Reason) {
	t := &s.in.Tasks[i]
	if !t.State.CanFollow(to) {
		panic(fmt.Sprintf("instance %d: task %d: %s may not follow %s", s.in.ID, i, to, t.State))
	}
	t.State, t.Reason, t.NextAt, t.Missed = to, reason, 0, Attempt{}
	if to.Final() {
		t.FinishedAt = s.now
		s.in.unfinished[s.in.plan.Definition.Tasks[i].phase()]--
	}
	s.touch(i)
}

// enterInstance is the only writer of the instance's state.
func (s *step) enterInstance(to InstanceState, reason Reason, by string) {
	in := s.in
	if !in.State.CanFollow(to) && !in.State.CanFollowAgain(to) {
		panic(fmt.Sprintf("instance %d: %s may not follow %s", in.ID, to, in.State))
	}
	if in.State == InstancePausing || in.State == InstanceStopping {
		s.do(Disarm{Timer: instanceTimer(TimerStop)})
	}
	in.State, in.Reason = to, reason
	if to == InstancePausing || to == InstanceStopping {
		s.do(Arm{Timer: instanceTimer(TimerStop), At: s.now.Add(overdueAfter)})
	}
	s.event(Event{Code: EventInstance, Task: -1, State: string(to), Reason: reason, By: by})
}

// tell writes the event of the state that a task has just entered by its latest attempt.
func (s *step) tell(i int, message string) {
	t := &s.in.Tasks[i]
	s.event(Event{
		Code: EventTask, Task: i, Attempt: t.Attempts, State: string(t.State), Reason: t.Reason,
		Message: message, Warning: t.Reason == ReasonWorkerLost || t.Reason == ReasonUnanswered,
	})
}

// tellOf writes the event of a state that a task entered on somebody's wish, or without
// any attempt of its own, which is number 0.
func (s *step) tellOf(i, number int, by string) {
	t := &s.in.Tasks[i]
	s.event(Event{Code: EventTask, Task: i, Attempt: number, State: string(t.State), Reason: t.Reason, By: by})
}

func (s *step) event(e Event) {
	s.in.Seq++
	e.Seq, e.At, e.Round = s.in.Seq, s.now, s.in.Round
	s.fx.Events = append(s.fx.Events, e)
	s.fx.Changed = true
}

func (s *step) touch(i int) {
	s.fx.Tasks = append(s.fx.Tasks, i)
	s.fx.Changed = true
}

func (s *step) do(a Action) { s.fx.Actions = append(s.fx.Actions, a) }

// task returns a task in scope, or nil.
func (s *step) task(i int) *TaskInstance {
	if i < 0 || i >= len(s.in.Tasks) || s.in.Tasks[i].State == "" {
		return nil
	}
	return &s.in.Tasks[i]
}

// here says that a task runs in the master: it holds no worker.
func (p *Plan) here(i int) bool {
	return p.Definition.Tasks[i].Type == TypeWait || p.Definition.Tasks[i].Type == TypeDependent || p.Definition.Tasks[i].Type == TypeApproval || p.rules[i].branches != nil
}

// instanceTimer is a timer of the instance's own.
func instanceTimer(kind TimerKind) Timer { return Timer{Kind: kind, Task: -1} }
