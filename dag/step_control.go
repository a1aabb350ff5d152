package dag

// control answers one wish of people. Every control is answered, exactly once.
func (s *step) control(c Control) {
	var result string
	switch c.Verb {
	case VerbPause:
		result = s.pause(c.By)
	case VerbResume:
		result = s.resume(c.By)
	case VerbStop:
		result = s.stop(c)
	case VerbReplace:
		c.Reason = ReasonReplaced
		result = s.stop(c)
	case VerbKill:
		result = s.eachTask(c, s.killByUser)
	case VerbSkip:
		result = s.eachTask(c, s.skip)
	case VerbForceSuccess:
		result = s.forceSuccess(c)
	case VerbRecover:
		result = s.recover(c.By)
	case VerbRerun:
		result = s.rerun(c)
	case VerbApprove, VerbReject:
		result = s.decide(c)
	default:
		result = ResultUnknownVerb
	}
	s.fx.Applied = append(s.fx.Applied, Applied{ID: c.ID, Result: result})
}

// pause keeps everything from starting. Retry waits and wait tasks go on: they hold no worker.
func (s *step) pause(by string) string {
	switch s.in.State {
	case InstancePausing, InstancePaused:
		return ResultAlready
	case InstanceRunning:
	case InstanceSubmitted, InstanceSerialWait, InstanceStopping, InstanceStopped, InstanceFailed,
		InstanceSuccess, InstanceQuarantined:
		return ResultNotRunning
	}
	s.enterInstance(InstancePausing, s.in.Reason, by)
	s.orderAll(VerbPause)
	for i := range s.in.Tasks {
		if t := &s.in.Tasks[i]; t.State == TaskReady && !t.delayed() {
			s.takeBack(i)
		}
	}
	return ResultApplied
}

// resume lets a paused instance go on.
func (s *step) resume(by string) string {
	switch s.in.State {
	case InstanceRunning:
		return ResultAlready
	case InstancePausing, InstancePaused:
	case InstanceSubmitted, InstanceSerialWait, InstanceStopping, InstanceStopped, InstanceFailed,
		InstanceSuccess, InstanceQuarantined:
		return ResultNotPaused
	}
	s.enterInstance(InstanceRunning, s.in.Reason, by)
	s.orderAll(VerbResume)
	var ready []int // before a branch task makes others so
	for i := range s.in.Tasks {
		if t := &s.in.Tasks[i]; t.State == TaskReady && !t.delayed() {
			ready = append(ready, i)
		} else if s.in.Tasks[i].State == TaskRunning && s.in.plan.maps(i) {
			s.goOn(i)
		}
	}
	for _, i := range ready {
		if s.in.Tasks[i].State != TaskReady {
			continue // a branch task that could not decide has ended the instance
		}
		if !s.in.plan.here(i) {
			s.offer(i)
		} else if s.startHere(i) {
			s.spread(i)
		}
	}
	return ResultApplied
}

// stop ends everything; forced, it does not wait for the workers' word.
func (s *step) stop(c Control) string {
	switch s.in.State {
	case InstanceStopped:
		return ResultAlready
	case InstanceStopping:
		if !c.Force {
			return ResultAlready
		}
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused:
		reason := s.in.Reason
		if c.Reason != "" && reason == "" {
			reason = c.Reason
		}
		s.enterInstance(InstanceStopping, reason, c.By)
		if s.in.Deadline != 0 {
			s.in.Deadline = 0
			s.do(Disarm{Timer: instanceTimer(TimerInstance)})
		}
	case InstanceFailed, InstanceSuccess, InstanceQuarantined:
		return ResultNotRunning
	}
	s.killAll(ReasonStopped, c.Force)
	return ResultApplied
}

// eachTask applies one verb to every task named. One that was applied makes the whole
// control applied; otherwise the first task's answer stands.
func (s *step) eachTask(c Control, verb func(i int, by string) string) string {
	switch s.in.State {
	case InstanceSubmitted, InstanceSerialWait, InstanceQuarantined:
		return ResultNotRunning
	case InstanceRunning, InstancePausing, InstancePaused, InstanceStopping,
		InstanceStopped, InstanceFailed, InstanceSuccess:
	}
	result := ""
	for _, i := range c.Tasks {
		one := ResultNoSuchTask
		if s.task(i) != nil {
			one = verb(i, c.By)
		}
		if result == "" || one == ResultApplied {
			result = one
		}
	}
	if result == "" {
		return ResultNoSuchTask
	}
	return result
}

// killByUser ends one task.
func (s *step) killByUser(i int, by string) string {
	t := &s.in.Tasks[i]
	switch t.State {
	case TaskKilling:
		if t.Attempt.KillReason != ReasonTimeout {
			return ResultAlready
		}
		// Somebody wants it gone: the timeout's retry must not follow.
		s.rekill(i, ReasonKilledByUser, by)
	case TaskDispatched, TaskRunning:
		if s.unattended(i) {
			s.endWait(i, AttemptKilled, ReasonKilledByUser)
			s.killedBy(i, t.Attempts, by)
		} else {
			s.kill(i, ReasonKilledByUser, by)
		}
	case TaskWaiting, TaskReady, TaskRetryWait:
		s.withdraw(i)
		s.killedBy(i, 0, by)
	case TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled:
		return ResultAlready
	}
	return ResultApplied
}

// killedBy makes a task killed on somebody's wish.
func (s *step) killedBy(i, number int, by string) {
	s.enter(i, TaskKilled, ReasonKilledByUser)
	s.tellOf(i, number, by)
	s.broken(i)
}

// skip makes a task that no worker holds count as done.
func (s *step) skip(i int, by string) string {
	switch s.in.Tasks[i].State {
	case TaskDispatched, TaskRunning, TaskKilling:
		return ResultNotSkippable
	case TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled:
		return ResultAlready
	case TaskWaiting, TaskReady, TaskRetryWait:
	}
	s.withdraw(i)
	s.enter(i, TaskSkipped, "")
	s.tellOf(i, 0, by)
	s.spread(i)
	return ResultApplied
}

// force makes a task that no worker holds count as successful. One that failed in this
// round stays so: its instance ends first, because what is final does not change.
func (s *step) force(i int, by string) string {
	switch s.in.Tasks[i].State {
	case TaskDispatched, TaskRunning, TaskKilling:
		return ResultNotSkippable
	case TaskSuccess, TaskForcedSuccess, TaskSkipped, TaskDisabled:
		return ResultAlready
	case TaskFailed, TaskKilled, TaskUpstreamFailed:
		if s.in.done(i) {
			return ResultAlready
		}
		return ResultNotFinished
	case TaskWaiting, TaskReady, TaskRetryWait:
	}
	s.withdraw(i)
	s.enter(i, TaskForcedSuccess, "")
	s.tellOf(i, 0, by)
	s.spread(i)
	return ResultApplied
}

// withdraw takes back what was asked for a task that is not live.
func (s *step) withdraw(i int) {
	s.letGo(i)
	t := &s.in.Tasks[i]
	if t.delayed() {
		s.do(Disarm{Timer: Timer{Kind: TimerDelay, Task: i, Number: t.Attempts}})
	} else if t.State == TaskReady {
		s.takeBack(i)
	} else if t.State == TaskRetryWait {
		s.do(Disarm{Timer: Timer{Kind: TimerRetry, Task: i, Number: t.Attempts}})
	}
}

// kill asks the worker, or the child, to end a live attempt.
func (s *step) kill(i int, reason Reason, by string) {
	t := &s.in.Tasks[i]
	a := &t.Attempt
	if a.State == AttemptRunning && a.Deadline != 0 {
		s.do(Disarm{Timer: Timer{Kind: TimerAttempt, Task: i, Number: a.Number}})
	}
	a.State, a.KillReason = AttemptKilling, reason
	s.enter(i, TaskKilling, reason)
	s.fx.Attempts = append(s.fx.Attempts, *a)
	s.tellOf(i, a.Number, by)
	s.tellToEnd(a, false)
}

// rekill changes why an attempt is being killed; the worker has been asked already.
func (s *step) rekill(i int, reason Reason, by string) {
	t := &s.in.Tasks[i]
	t.Attempt.KillReason, t.Reason = reason, reason
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.touch(i)
	s.tellOf(i, t.Attempts, by)
}

// killAll ends every task that is not final; tasks that undo others or come last only
// where the instance is stopped. With force, attempts are given up at once and their workers only told.
func (s *step) killAll(reason Reason, force bool) {
	var ended []int
	for i := range s.in.Tasks {
		t := &s.in.Tasks[i]
		if s.in.plan.Definition.Tasks[i].phase() != phaseWork && reason != ReasonStopped || t.State.Final() {
			continue
		}
		switch t.State {
		case TaskWaiting, TaskReady, TaskRetryWait:
			s.withdraw(i)
			s.enter(i, TaskKilled, reason)
			s.tellOf(i, 0, "")
		case TaskDispatched, TaskRunning:
			if s.unattended(i) {
				s.endWait(i, AttemptKilled, reason)
				s.enter(i, TaskKilled, reason)
				s.tell(i, "")
			} else if force {
				s.giveUp(i)
			} else {
				s.kill(i, reason, "")
			}
		case TaskKilling:
			if force {
				s.giveUp(i)
			} else if t.Attempt.KillReason == ReasonTimeout {
				s.rekill(i, reason, "")
			}
		case "", TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled:
		}
		if t.State.Final() {
			ended = append(ended, i)
		}
	}
	// All that may need them has ended with them, or comes last.
	for _, i := range ended {
		s.count(i)
	}
}

// giveUp ends a live attempt without its worker's word, which is told nevertheless.
func (s *step) giveUp(i int) {
	a := &s.in.Tasks[i].Attempt
	a.KillReason = ReasonForcedStop
	s.tellToEnd(a, true)
	s.endAttempt(i, AttemptKilled, ReasonForcedStop)
	s.enter(i, TaskKilled, ReasonForcedStop)
	s.tell(i, "")
}
