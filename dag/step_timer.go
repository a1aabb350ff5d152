package dag

// waiter is the spec of a wait task: it says when a wait that begins now is over.
type waiter interface{ End(now Millis) Millis }

// startHere starts a task that runs in the master. It returns true where that is its end
// already, which the caller must spread.
func (s *step) startHere(i int) (ended bool) {
	if s.in.plan.rules[i].branches != nil {
		s.choose(i)
		return true
	}
	if s.dependent(i) {
		return s.startDependent(i)
	}
	if s.in.approval(i) != nil {
		return s.startApproval(i)
	}
	s.startWait(i)
	return false
}

// attemptHere makes an attempt that no worker holds.
func (s *step) attemptHere(i int) {
	t := &s.in.Tasks[i]
	t.Attempts++
	t.Attempt = Attempt{
		Task: i, Number: t.Attempts, Round: s.in.Round, Iteration: s.iterate(i),
		State: AttemptRunning, DispatchedAt: s.now, StartedAt: s.now,
	}
	t.StartedAt, t.FinishedAt = s.now, 0
}

// startWait starts a wait task: only a timer is under way.
func (s *step) startWait(i int) {
	t := &s.in.Tasks[i]
	s.attemptHere(i)
	s.enter(i, TaskRunning, "")
	end := s.now
	if w, ok := s.in.plan.Definition.Tasks[i].Spec.(waiter); ok && !s.in.DryRun {
		end = max(end, w.End(s.now))
	}
	t.NextAt = end
	s.do(Arm{Timer: Timer{Kind: TimerWait, Task: i, Number: t.Attempts}, At: t.NextAt})
	s.armAttempt(i)
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.tell(i, "")
}

// timer takes a timer that fired.
func (s *step) timer(ev Timer) {
	if s.in.State.Final() {
		return
	}
	switch ev.Kind {
	case TimerInstance:
		s.instanceOver(ev)
		return
	case TimerStop:
		s.overdue()
		return
	case TimerRetry, TimerWait, TimerAttempt, TimerDelay, TimerQueue:
	default:
		return
	}
	t := s.task(ev.Task)
	if t == nil || t.Attempts != ev.Number {
		return
	}
	switch {
	case ev.Kind == TimerRetry && t.State == TaskRetryWait && s.due(ev, t.NextAt):
		s.retry(ev.Task)
	case ev.Kind == TimerWait && t.State == TaskRunning && s.in.approval(ev.Task) != nil && s.due(ev, t.NextAt):
		s.expired(ev.Task)
	case ev.Kind == TimerWait && t.State == TaskRunning && s.in.plan.here(ev.Task) && s.due(ev, t.NextAt):
		s.endWait(ev.Task, AttemptSuccess, "")
		s.succeed(ev.Task, nil)
	case ev.Kind == TimerAttempt && t.State == TaskRunning && s.due(ev, t.Attempt.Deadline):
		s.attemptOver(ev.Task)
	case ev.Kind == TimerDelay && t.delayed() && s.due(ev, t.NextAt):
		s.delayOver(ev.Task)
	case ev.Kind == TimerQueue && t.State == TaskReady && !t.delayed() && s.due(ev, t.NextAt):
		s.queueOver(ev.Task)
	}
}

// due says whether the moment of a timer has come. One that fired before it is armed
// again, or it would be forgotten when the clock is set back.
func (s *step) due(ev Timer, at Millis) bool {
	if at == 0 {
		return false
	}
	if s.now < at {
		s.do(Arm{Timer: ev, At: at})
		return false
	}
	return true
}

// retry makes a task ready whose retry wait is over.
func (s *step) retry(i int) {
	if s.in.plan.here(i) && s.in.State == InstanceRunning {
		if s.startHere(i) {
			s.spread(i)
		}
		return
	}
	s.makeReady(i, "")
}

// endWait ends the attempt of a wait task.
func (s *step) endWait(i int, state AttemptState, reason Reason) {
	if state != AttemptSuccess {
		s.do(Disarm{Timer: Timer{Kind: TimerWait, Task: i, Number: s.in.Tasks[i].Attempts}})
	}
	s.endAttempt(i, state, reason)
}

// attemptOver carries out the timeout of a running attempt.
func (s *step) attemptOver(i int) {
	action := s.in.plan.Definition.Tasks[i].Timeout.Action
	a := &s.in.Tasks[i].Attempt
	if action != TimeoutFail {
		s.event(Event{Code: EventTaskTimeout, Task: i, Attempt: a.Number, Warning: true})
	}
	a.Deadline = 0 // it has fired, whatever follows
	if action == TimeoutWarn {
		s.touch(i)
		s.fx.Attempts = append(s.fx.Attempts, *a)
		return
	}
	if s.unattended(i) {
		s.endWait(i, AttemptFailed, ReasonTimeout)
		s.fail(i, ReasonTimeout, "")
		return
	}
	s.kill(i, ReasonTimeout, "")
}

// instanceOver carries out the timeout of the instance.
func (s *step) instanceOver(ev Timer) {
	in := s.in
	if !s.due(ev, in.Deadline) {
		return
	}
	in.Deadline = 0
	action := in.plan.Definition.Timeout.Action
	s.event(Event{Code: EventWorkflowTimeout, Task: -1, Warning: action != TimeoutFail})
	if action == TimeoutWarn {
		return
	}
	// The reason stands beside the state until the last attempt is gone: finish reads it.
	in.Reason = ReasonTimeout
	s.killAll(ReasonWorkflowTimeout, false)
}

// overdue tells an operator that pausing or stopping takes long.
func (s *step) overdue() {
	switch s.in.State {
	case InstancePausing:
		s.event(Event{Code: EventPauseOverdue, Task: -1, Warning: true})
	case InstanceStopping:
		s.event(Event{Code: EventStopOverdue, Task: -1, Warning: true})
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePaused,
		InstanceStopped, InstanceFailed, InstanceSuccess, InstanceQuarantined:
	}
}
