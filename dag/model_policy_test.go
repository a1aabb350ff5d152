package dag

import "slices"

// slowRetried says whether the retry policy of a task follows a failed attempt by another one. The
// conditions of the random plans are decided by hand.
func slowRetried(def *Task, r Attempt, used int) bool {
	code := 0
	if r.Reason == "exit_code" {
		code = r.ExitCode
	}
	among := func(ranges []CodeRange) bool {
		return slices.ContainsFunc(ranges, func(c CodeRange) bool { return code >= c.From && code <= c.To })
	}
	switch {
	case len(def.Retry.OnExitCodes) > 0 && !among(def.Retry.OnExitCodes), among(def.Retry.NotOnExitCodes):
		return false
	case def.Retry.When == "":
		return true
	case def.Retry.When == "nobody > exit_code":
		return false
	}
	return used+1 < 2 || r.Reason == "timeout"
}

// checkPolicy: a failed attempt is followed by what the task's policies say.
func (a *auditor) checkPolicy(before *Instance, r Attempt) {
	def, t := &a.plan.Definition.Tasks[r.Task], &a.in.Tasks[r.Task]
	used := before.Tasks[r.Task].Retries
	want := slowRetried(def, r, used)
	gone := def.OnLost == OnLostFail && slices.Contains([]Reason{"runner_lost", "worker_restarted", "lease_ended"}, r.Reason)
	final := gone || r.Reason == ReasonSecret // nothing can follow
	switch {
	case final && r.State == AttemptFailed && t.State != TaskFailed && !t.State.Final():
		a.fail("task %d is %s after %+v, which nothing follows", r.Task, t.State, r)
	case t.State == TaskRetryWait && r.State != AttemptSuccess && !want:
		a.fail("task %d is retried after %+v, its policy says no: %+v", r.Task, r, def.Retry)
	case t.State == TaskFailed && t.Reason == ReasonNotRetried && (want || used >= slowRetries(def)):
		a.fail("task %d is not retried after %+v, its policy says yes: %+v", r.Task, r, def.Retry)
	case t.State == TaskFailed && r.State == AttemptFailed && t.Reason != ReasonNotRetried && used < slowRetries(def) && a.in.State != InstanceStopping && !a.in.State.Final() && before.State != InstanceStopping && !final && a.plan.rules[r.Task].branches == nil && def.Type != TypeApproval:
		a.fail("task %d failed after %+v with retries left and says %q", r.Task, r, t.Reason)
	case r.State == AttemptLost && def.OnLost == OnLostFail && !t.State.Final() && r.Reason == ReasonWorkerLost:
		a.fail("task %d is %s after its worker was lost", r.Task, t.State)
	}
	avoid := ""
	if def.Retry.Elsewhere && (r.State == AttemptFailed || r.State == AttemptLost) {
		avoid = r.Worker
	}
	if avoid != "" && t.AvoidWorker != avoid {
		a.fail("task %d avoids worker %q, want %q", r.Task, t.AvoidWorker, avoid)
	}
}

// checkReady: nothing starts before its delay is over, and a ready task fails for want of a worker when its
// time is over, not before. A task whose child was run again waits with that child, whatever its delay.
func (a *auditor) checkReady(before *Instance, i int) {
	was, is, def := before.Tasks[i], a.in.Tasks[i], &a.plan.Definition.Tasks[i]
	delayed := func(t TaskInstance) bool { return t.State == TaskReady && t.Reason == "delayed" }
	starts := is.State == TaskReady || is.State.Live() || is.State == TaskSuccess
	switch {
	case was.State == TaskWaiting && was.Round == is.Round && starts && def.Delay > 0 && !a.in.DryRun && !delayed(is) && was.Reason != "child_again":
		a.fail("task %d went to %s without its delay", i, is.State)
	case delayed(is) && !delayed(was):
		a.readyAt[i] = a.now
		if is.NextAt != a.now.Add(def.Delay) {
			a.fail("the delay of task %d ends at %d, it began at %d", i, is.NextAt, a.now)
		}
	case delayed(was) && was.Round == is.Round && starts && !delayed(is) && a.now < a.readyAt[i].Add(def.Delay):
		a.fail("task %d started at %d, its delay began at %d", i, a.now, a.readyAt[i])
	}
	if is.State == TaskFailed && is.Reason == ReasonQueueTimeout && was.State != TaskFailed {
		a.checkQueueTimeout(before, i, TimeoutWarn)
	}
	offers := offered(&is) && a.in.State == InstanceRunning
	if again := !offered(&was) || before.State != InstanceRunning; offers && again && def.QueueTimeout.After > 0 {
		a.readyAt[i] = a.now
		if is.NextAt != a.now.Add(def.QueueTimeout.After) {
			a.fail("task %d is offered at %d and must be taken by %d", i, a.now, is.NextAt)
		}
	}
}

// checkQueueTimeout: a ready task runs over its time when it has been offered for so long; never is the action.
func (a *auditor) checkQueueTimeout(before *Instance, i int, never TimeoutAction) {
	def := &a.plan.Definition.Tasks[i]
	was := before.Tasks[i]
	if def.QueueTimeout.After == 0 || def.QueueTimeout.Action == never || !offered(&was) || before.State != InstanceRunning ||
		a.now < a.readyAt[i].Add(def.QueueTimeout.After) {
		a.fail("task %d ran over its time in the queue at %d: %+v, %+v", i, a.now, was, def.QueueTimeout)
	}
}
