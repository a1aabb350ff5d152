package dag

import "strconv"

// untils are conditions of random loops: at once, by what the iteration gave, by its number, never, and one
// that can't be decided.
var untils = []string{"true", "(n ?? 1) % 2 == 0", "(n ?? 0) > 3", "system_iteration >= 2", "false", "missing == 1"}

// repeatable says that a loop may stand around a random task.
func repeatable(t *Task) bool {
	return t.Type == TypeSubWorkflow || t.Type == TypeDynamic || t.Type == TypeDependent || t.Spec == nil && !t.Disabled
}

// slowHolds decides a condition of untils by hand: yes, no, or that it can't be decided.
func slowHolds(until string, outputs map[string]string, iteration int) string {
	n, err := strconv.Atoi(outputs["n"])
	switch {
	case until == untils[5], outputs["n"] != "" && err != nil && (until == untils[1] || until == untils[2]): // a list is no number
		return "undecided"
	case until == untils[0], until == untils[1] && err == nil && n%2 == 0, until == untils[2] && n > 3, until == untils[3] && iteration >= 2:
		return "yes"
	default:
		return "no"
	}
}

// checkLoop: a success ends a loop where its condition holds; otherwise another iteration follows, within the
// bound, or the task fails, or the kill that was asked for is carried out.
func (a *auditor) checkLoop(r Attempt) {
	def, t := &a.plan.Definition.Tasks[r.Task], &a.in.Tasks[r.Task]
	loop := &def.Repeat
	if loop.Max == 0 || a.in.DryRun {
		if t.State != TaskSuccess || r.Iteration != 0 {
			a.fail("attempt %+v succeeded, its task is %+v", r, t)
		}
		return
	}
	if r.Iteration < 1 || r.Iteration > loop.Max {
		a.fail("attempt %+v in a loop of at most %d", r, loop.Max)
	}
	killed := r.KillReason != "" && r.KillReason != ReasonTimeout
	want, reason := TaskSuccess, Reason("")
	switch holds := slowHolds(loop.Until, r.Outputs, r.Iteration); {
	case holds == "yes":
	case killed:
		want, reason = TaskKilled, r.KillReason
	case holds == "undecided":
		want, reason = TaskFailed, ReasonExpression
	case r.Iteration == loop.Max:
		want, reason = TaskFailed, ReasonRepeatBound
	default:
		want, reason = TaskRetryWait, ReasonRepeat
	}
	if t.State != want || t.Reason != reason {
		a.fail("after %+v the task is %s (%s), its loop says %s (%s)", r, t.State, t.Reason, want, reason)
	}
	if want == TaskRetryWait {
		a.retries[r.Task], a.dueAt[r.Task] = 0, a.now.Add(loop.Delay)
		if t.NextAt != a.dueAt[r.Task] || t.Iteration != r.Iteration+1 || t.Retries != 0 {
			a.fail("after %+v the next iteration is %+v", r, t)
		}
	}
}
