package dag

import (
	"errors"
	"fmt"
)

// ErrDamaged says that stored rows of an instance contradict each other or the rules.
var ErrDamaged = errors.New("rows contradict each other")

// Restore makes an instance that was rebuilt from its rows ready for Step. The caller
// has filled the fields and Tasks by index; live are its attempts that are not final,
// and those that were lost last.
// The error wraps ErrDamaged and says what contradicts what; the instance must then
// not be stepped.
func Restore(plan *Plan, in *Instance, live []Attempt) error {
	in.plan = plan
	if len(in.Tasks) != len(plan.Definition.Tasks) {
		return damaged(in, "%d task rows for a plan of %d", len(in.Tasks), len(plan.Definition.Tasks))
	}
	if !in.State.Valid() {
		return damaged(in, "unknown state %q", in.State)
	}
	if in.OnFailure != OnFailureContinue && in.OnFailure != OnFailureEnd && in.OnFailure != OnFailureCompensate {
		return damaged(in, "unknown on_failure %q", in.OnFailure)
	}
	if in.Round < 1 || in.Seq < 0 {
		return damaged(in, "round %d, seq %d", in.Round, in.Seq)
	}
	for i := range in.Tasks {
		in.Tasks[i].Attempt, in.Tasks[i].Missed = Attempt{}, Attempt{}
	}
	for _, a := range live {
		if err := in.attach(a); err != nil {
			return err
		}
	}
	for i := range in.Tasks {
		if in.Tasks[i].State == "" {
			continue
		}
		if err := in.checkTask(i); err != nil {
			return err
		}
	}
	in.recount()
	return in.checkWhole()
}

func damaged(in *Instance, format string, args ...any) error {
	return fmt.Errorf("instance %d: %s: %w", in.ID, fmt.Sprintf(format, args...), ErrDamaged)
}

// attach gives a live attempt to its task, and a lost one while its success would still count.
func (in *Instance) attach(a Attempt) error {
	if a.Task < 0 || a.Task >= len(in.Tasks) || in.Tasks[a.Task].State == "" {
		return damaged(in, "attempt %d of task %d, which is not in scope", a.Number, a.Task)
	}
	t := &in.Tasks[a.Task]
	if a.State == AttemptLost {
		if t.State == TaskReady && a.Number == t.Attempts && a.Round == t.Round {
			t.Missed = a.missed()
		}
		return nil
	}
	switch {
	case !a.State.Valid() || a.State.Final():
		return damaged(in, "attempt %d of task %d is given as live in state %q", a.Number, a.Task, a.State)
	case string(a.State) != string(t.State):
		return damaged(in, "task %d is %s, its attempt %d is %s", a.Task, t.State, a.Number, a.State)
	case a.Number < 1 || a.Number != t.Attempts:
		return damaged(in, "task %d has %d attempts, attempt %d is live", a.Task, t.Attempts, a.Number)
	case t.Attempt.Number != 0:
		return damaged(in, "task %d has two live attempts", a.Task)
	case a.State == AttemptKilling && a.KillReason == "":
		return damaged(in, "attempt %d of task %d is killing without a reason", a.Number, a.Task)
	}
	hosted, parent := in.InMaster(a.Task), in.plan.Parent(a.Task)
	if hosted != (a.Worker == "") || hosted != (a.Token == "") || (parent && !in.plan.maps(a.Task)) != (a.Child != 0) || hosted && a.State != AttemptRunning && !(parent && a.State == AttemptKilling) {
		return damaged(in, "attempt %d of task %d is %s with worker %q and token %q", a.Number, a.Task, a.State, a.Worker, a.Token)
	}
	t.Attempt = a
	return nil
}

// checkTask compares one task row with the table and with its attempt.
func (in *Instance) checkTask(i int) error {
	t := &in.Tasks[i]
	// A ready task that is not delayed may have a moment, by which a worker must take it; so may an approval.
	timed := t.State == TaskRetryWait || t.delayed() || t.State == TaskRunning && in.plan.Definition.Tasks[i].Type == TypeWait
	mayBe := t.State == TaskReady || t.State == TaskRunning && in.approval(i) != nil
	switch {
	case !t.State.Valid():
		return damaged(in, "task %d: unknown state %q", i, t.State)
	case t.State.Live() != (t.Attempt.Number != 0):
		return damaged(in, "task %d is %s with live attempt %d", i, t.State, t.Attempt.Number)
	case t.Attempts < 0 || t.Retries < 0 || t.Lost < 0:
		return damaged(in, "task %d: attempts %d, retries %d, lost %d", i, t.Attempts, t.Retries, t.Lost)
	case t.Round < 1 || t.Round > in.Round:
		return damaged(in, "task %d is of round %d, the instance of round %d", i, t.Round, in.Round)
	case timed != (t.NextAt != 0) && (timed || !mayBe):
		return damaged(in, "task %d is %s with next_at %d", i, t.State, t.NextAt)
	}
	return nil
}

// checkWhole compares the tasks with each other and with the instance.
func (in *Instance) checkWhole() error {
	begun := in.State != InstanceSubmitted && in.State != InstanceSerialWait
	for i := range in.Tasks {
		t := &in.Tasks[i]
		if t.State == "" || t.State.Final() || in.State == InstanceQuarantined {
			continue
		}
		switch {
		case in.State.Final():
			return damaged(in, "the instance is %s, task %d is %s", in.State, i, t.State)
		case !begun && t.State != TaskWaiting:
			return damaged(in, "the instance is %s, task %d is %s", in.State, i, t.State)
		case begun && (t.State == TaskWaiting) != in.waits(i):
			return damaged(in, "task %d is %s with needs %+v", i, t.State, t.needs)
		case in.State == InstanceStopping && t.State != TaskKilling:
			return damaged(in, "the instance is stopping, task %d is %s", i, t.State)
		}
	}
	switch {
	case begun && !in.State.Final() && in.open() == 0:
		return damaged(in, "the instance is %s and every task is final", in.State)
	case in.State == InstancePaused && in.active > 0:
		return damaged(in, "the instance is paused and %d attempts are on workers", in.active)
	case in.State == InstancePausing && in.active == 0:
		return damaged(in, "the instance is pausing and nothing is on a worker")
	}
	return nil
}

// Pending returns every action that is still due, in the order of the tasks: what a
// master must do again after it loaded the instance. All of them may be done twice.
func (in *Instance) Pending(now Millis) []Action {
	var due []Action
	switch in.State {
	case InstanceSubmitted, InstanceSerialWait, InstanceQuarantined:
		return nil // the caller says Begin, or leaves it alone
	case InstanceStopped, InstanceFailed, InstanceSuccess:
		return []Action{Finish{}}
	case InstancePaused:
		due = append(due, Rest{})
	case InstancePausing, InstanceStopping:
		due = append(due, Arm{Timer: instanceTimer(TimerStop), At: now.Add(overdueAfter)})
	case InstanceRunning:
	}
	if in.Deadline != 0 {
		due = append(due, Arm{Timer: instanceTimer(TimerInstance), At: in.Deadline})
	}
	for i := range in.Tasks {
		due = in.pendingTask(due, i)
	}
	return due
}

// pendingTask appends the actions that are due for one task.
func (in *Instance) pendingTask(due []Action, i int) []Action {
	t := &in.Tasks[i]
	number := t.Attempts
	switch t.State {
	case TaskReady:
		kind := TimerQueue
		if t.delayed() {
			kind = TimerDelay
		} else if in.State == InstanceRunning {
			due = append(due, Enqueue{Task: i})
		}
		if t.NextAt != 0 {
			due = append(due, Arm{Timer: Timer{Kind: kind, Task: i, Number: number}, At: t.NextAt})
		}
	case TaskDispatched:
		due = append(due, Dispatch{Attempt: t.Attempt})
	case TaskRunning:
		if t.NextAt != 0 {
			due = append(due, Arm{Timer: Timer{Kind: TimerWait, Task: i, Number: number}, At: t.NextAt})
		}
		if t.Attempt.Deadline != 0 {
			due = append(due, Arm{Timer: Timer{Kind: TimerAttempt, Task: i, Number: number}, At: t.Attempt.Deadline})
		}
	case TaskKilling:
		if !in.plan.Parent(i) { // a child was ordered to stop in the very transaction
			due = append(due, Kill{Attempt: t.Attempt})
		}
	case TaskRetryWait:
		due = append(due, Arm{Timer: Timer{Kind: TimerRetry, Task: i, Number: number}, At: t.NextAt})
	case "", TaskWaiting, TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled:
	}
	return due
}
