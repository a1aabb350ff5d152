package dag

import "slices"

// live returns the task whose live attempt is exactly the one named, or nil. An attempt
// without a token runs in the master: nobody can report on it.
func (s *step) live(i, number int, token string) *TaskInstance {
	t := s.task(i)
	if t == nil || token == "" || s.in.State.Final() ||
		t.Attempt.Number == 0 || t.Attempt.Number != number || t.Attempt.Token != token {
		return nil
	}
	return t
}

// report takes a worker's word. Of two reports on one attempt the later state wins.
func (s *step) report(r Report) {
	t := s.live(r.Task, r.Number, r.Token)
	if t == nil {
		s.fx.Stale = !s.late(r)
		return
	}
	switch r.State {
	case AttemptRunning:
		if t.State == TaskDispatched {
			s.started(r)
		}
	case AttemptSuccess:
		s.facts(r)
		s.endAttempt(r.Task, AttemptSuccess, r.Reason)
		s.cache()
		s.succeed(r.Task, r.Outputs)
	case AttemptFailed, AttemptKilled:
		s.facts(r)
		s.unsuccessful(r)
	case AttemptReturned:
		s.facts(r)
		s.gone(r.Task, AttemptReturned, r.Message)
	case AttemptDispatched, AttemptKilling, AttemptLost:
		s.fx.Stale = true // not a worker's to say
	default:
		s.fx.Stale = true
	}
}

// late takes the success of an attempt that was called lost, where no other has taken its place yet: what
// has been done is not done again. The attempt stays lost, since that is what was known of it. A task that is
// repeated runs on: what its iteration gave may not have been the end.
func (s *step) late(r Report) bool {
	t := s.task(r.Task)
	if t == nil || s.in.State.Final() || s.repeated(r.Task) || r.Token == "" || r.State != AttemptSuccess || t.Missed.Number != r.Number || t.Missed.Token != r.Token {
		return false
	}
	sent := t.Missed.DispatchedAt
	s.withdraw(r.Task)
	s.enter(r.Task, TaskSuccess, ReasonLateSuccess)
	t.StartedAt = s.clamp(r.StartedAt, sent)
	t.FinishedAt = s.clamp(r.FinishedAt, t.StartedAt)
	t.Outputs = r.Outputs
	s.tell(r.Task, "")
	s.spread(r.Task)
	return true
}

// missed is what is kept of an attempt that was lost: enough to know its late success.
func (a *Attempt) missed() Attempt {
	return Attempt{Task: a.Task, Number: a.Number, Round: a.Round, Token: a.Token, State: AttemptLost, DispatchedAt: a.DispatchedAt}
}

// lost takes the word that the worker of an attempt is gone.
func (s *step) lost(ev Lost) {
	t := s.live(ev.Task, ev.Number, ev.Token)
	if t == nil {
		s.fx.Stale = true
		return
	}
	t.Attempt.Message = ev.Message
	if ev.GiveUp {
		s.endAttempt(ev.Task, AttemptLost, ReasonUnanswered)
		s.failForGood(ev.Task, ReasonUnanswered, ev.Message)
		return
	}
	s.gone(ev.Task, AttemptLost, ev.Message)
}

// started notes that the worker has started the attempt; its timeout counts from here.
func (s *step) started(r Report) {
	t := &s.in.Tasks[r.Task]
	a := &t.Attempt
	a.State = AttemptRunning
	a.StartedAt = s.clamp(r.StartedAt, a.DispatchedAt)
	t.StartedAt = a.StartedAt
	s.enter(r.Task, TaskRunning, "")
	s.armAttempt(r.Task)
	s.fx.Attempts = append(s.fx.Attempts, *a)
	s.tell(r.Task, "")
}

// armAttempt sets the timeout of an attempt that has just started.
func (s *step) armAttempt(i int) {
	a := &s.in.Tasks[i].Attempt
	if after := s.in.plan.Definition.Tasks[i].Timeout.After; after > 0 {
		a.Deadline = a.StartedAt.Add(after)
		s.do(Arm{Timer: Timer{Kind: TimerAttempt, Task: i, Number: a.Number}, At: a.Deadline})
	}
}

// facts copies what a final report says onto the live attempt.
func (s *step) facts(r Report) {
	t := &s.in.Tasks[r.Task]
	a := &t.Attempt
	if a.StartedAt == 0 && r.StartedAt != 0 {
		a.StartedAt = s.clamp(r.StartedAt, a.DispatchedAt)
		t.StartedAt = a.StartedAt
	}
	a.FinishedAt = s.clamp(r.FinishedAt, max(a.DispatchedAt, a.StartedAt))
	a.ExitCode, a.Message, a.Outputs = r.ExitCode, r.Message, r.Outputs
	a.Tail, a.LogBytes = r.Tail, r.LogBytes
}

// clamp keeps a worker's moment between one of ours and now: its clock may be wrong.
func (s *step) clamp(at, from Millis) Millis {
	if at == 0 || at > s.now {
		at = s.now
	}
	return max(at, from)
}

// unsuccessful ends an attempt that failed or was killed. What that means is decided by
// the kill that was asked for, if any.
func (s *step) unsuccessful(r Report) {
	a := &s.in.Tasks[r.Task].Attempt
	switch {
	case a.State == AttemptKilling && a.KillReason != ReasonTimeout:
		reason := a.KillReason
		s.endAttempt(r.Task, AttemptKilled, reason)
		s.killed(r.Task, reason)
	case a.State == AttemptKilling:
		s.endAttempt(r.Task, AttemptFailed, ReasonTimeout)
		s.fail(r.Task, ReasonTimeout, r.Message)
	default:
		reason := r.Reason
		if reason == "" && r.State == AttemptKilled {
			reason = ReasonKilledOutside
		} else if reason == "" && r.ExitCode != 0 {
			reason = ReasonExitCode
		}
		s.endAttempt(r.Task, AttemptFailed, reason)
		if reason == ReasonSecret { // a retry would find no more: none is used up
			s.failForGood(r.Task, reason, r.Message)
			return
		}
		s.fail(r.Task, reason, r.Message)
	}
}

// gone ends an attempt that was lost or returned: that is no failure of the task, unless
// a kill was asked for, which is then fulfilled, or too many workers were lost.
func (s *step) gone(i int, state AttemptState, message string) {
	t := &s.in.Tasks[i]
	killing, why := t.State == TaskKilling, t.Attempt.KillReason
	reason := ReasonReturned
	if state == AttemptLost {
		reason = ReasonWorkerLost
	}
	if killing {
		reason = why
	}
	missed := t.Attempt.missed()
	s.endAttempt(i, state, reason)
	if state == AttemptLost {
		t.Lost++
	}
	switch {
	case killing && why == ReasonTimeout:
		s.fail(i, ReasonTimeout, message)
	case killing:
		s.killed(i, why)
	case t.Lost >= lostLimit, state == AttemptLost && s.in.plan.Definition.Tasks[i].OnLost == OnLostFail:
		s.failForGood(i, ReasonWorkerLost, message)
	default:
		s.makeReady(i, reason)
		s.tell(i, message)
		if state == AttemptLost {
			t.Missed = missed
		}
	}
}

// endAttempt makes the live attempt final and clears it from the task.
func (s *step) endAttempt(i int, state AttemptState, reason Reason) {
	t := &s.in.Tasks[i]
	a := &t.Attempt
	if a.State == AttemptRunning && a.Deadline != 0 {
		s.do(Disarm{Timer: Timer{Kind: TimerAttempt, Task: i, Number: a.Number}})
	}
	if a.Worker != "" {
		s.in.active--
	}
	a.State, a.Reason = state, reason
	if a.FinishedAt == 0 {
		a.FinishedAt = max(s.now, a.DispatchedAt, a.StartedAt)
	}
	t.FinishedAt = a.FinishedAt
	s.fx.Attempts = append(s.fx.Attempts, *a)
	if (state == AttemptFailed || state == AttemptLost) && s.in.plan.Definition.Tasks[i].Retry.Elsewhere {
		t.AvoidWorker = a.Worker
	} else if state == AttemptSuccess {
		t.AvoidWorker = ""
	}
	s.last, t.Attempt = *a, Attempt{}
}

// succeed makes a task successful and tells its successors, unless it is to be repeated.
func (s *step) succeed(i int, outputs map[string]string) {
	if s.repeat(i, outputs) {
		return
	}
	s.enter(i, TaskSuccess, "")
	s.in.Tasks[i].Outputs = outputs
	s.tell(i, "")
	s.spread(i)
}

// fail follows the failed attempt that was ended last by a retry, where one is left and the task's policy
// wants it.
func (s *step) fail(i int, reason Reason, message string) {
	t := &s.in.Tasks[i]
	def := &s.in.plan.Definition.Tasks[i]
	retry := &def.Retry
	if def.OnLost == OnLostFail && slices.Contains(lostReasons[:], reason) {
		s.failForGood(i, ReasonWorkerLost, message)
		return
	}
	if s.in.State == InstanceStopping || t.Retries >= retry.Count() {
		s.failForGood(i, reason, message)
		return
	}
	if why := s.in.unretried(i, &s.last); why != "" {
		if message != "" {
			why = message + "; " + why
		}
		s.failForGood(i, ReasonNotRetried, why)
		return
	}
	t.Retries++
	s.enter(i, TaskRetryWait, reason)
	t.NextAt = s.now.Add(retry.Wait(t.Retries))
	s.tell(i, message)
	s.do(Arm{Timer: Timer{Kind: TimerRetry, Task: i, Number: t.Attempts}, At: t.NextAt})
}

// failForGood makes a task failed. Where it may fail, that is as good as done.
func (s *step) failForGood(i int, reason Reason, message string) {
	s.enter(i, TaskFailed, reason)
	s.tell(i, message)
	if s.in.done(i) {
		s.spread(i)
		return
	}
	s.broken(i)
}

// killed makes a task killed, which is never retried.
func (s *step) killed(i int, reason Reason) {
	s.enter(i, TaskKilled, reason)
	s.tell(i, "")
	s.broken(i)
}
