package dag

import (
	"fmt"
	"strconv"
)

// repeated says that a task is run again after each success, until its condition holds. A dry run asks no
// condition: nothing has given outputs.
func (s *step) repeated(i int) bool {
	return s.in.plan.Definition.Tasks[i].Repeat.Max > 0 && !s.in.DryRun
}

// iterate returns the number of the iteration that a new attempt of a task belongs to; 0 for a task that is
// not repeated.
func (s *step) iterate(i int) int {
	t := &s.in.Tasks[i]
	if t.Iteration == 0 && s.repeated(i) {
		t.Iteration = 1
	}
	return t.Iteration
}

// iteration is the number of the iteration that a task is in, or begins with.
func (in *Instance) iteration(task string) int {
	if i, ok := in.plan.Task(task); ok {
		return max(in.Tasks[i].Iteration, 1)
	}
	return 1
}

// repeat follows a successful attempt of a task that is repeated. It returns false where the task has
// succeeded. The next iteration waits as a retry does, and has all its retries before it.
func (s *step) repeat(i int, outputs map[string]string) bool {
	if !s.repeated(i) {
		return false
	}
	t, loop := &s.in.Tasks[i], &s.in.plan.Definition.Tasks[i].Repeat
	holds, err := s.in.over(i, outputs)
	if err == nil && holds {
		return false
	}
	t.Child, t.Items = 0, nil // it succeeded: there is nothing in it to recover
	switch {
	case t.State == TaskKilling && t.Reason != ReasonTimeout:
		s.killed(i, t.Reason) // nothing follows a kill: the iteration counts as cut short
	case err != nil:
		s.failForGood(i, ReasonExpression, untilField+": "+err.Error())
	case t.Iteration >= loop.Max:
		s.failForGood(i, ReasonRepeatBound, fmt.Sprintf("the condition did not hold after %s", count(t.Iteration, "iteration")))
	default:
		t.Iteration++
		t.Outputs = outputs
		t.Retries, t.Lost = 0, 0
		s.enter(i, TaskRetryWait, ReasonRepeat)
		t.NextAt = s.now.Add(loop.Delay)
		s.tell(i, "")
		s.do(Arm{Timer: Timer{Kind: TimerRetry, Task: i, Number: t.Attempts}, At: t.NextAt})
	}
	return true
}

// over decides the condition that ends a loop. A name that the task declares as its output is that of this
// iteration alone, whoever else gives one of the name.
func (in *Instance) over(i int, outputs map[string]string) (bool, error) {
	values, err := in.values(i)
	if err != nil {
		return false, err
	}
	seen := values.Param
	values.Param = func(name string) (any, bool) {
		if !hasOutput(&in.plan.Definition.Tasks[i], name) {
			return seen(name)
		}
		text, given := outputs[name]
		return text, given
	}
	return in.plan.rules[i].until.Decide(values)
}

// iterationKept is where a task that failed or was killed goes on in a new round in which it is recovered: with
// the iteration that was cut short, which sees the outputs of the one before. A loop that came to its own end
// without success begins anew.
func (t *TaskInstance) iterationKept() (int, map[string]string) {
	if t.Reason == ReasonChildAgain {
		return t.Iteration, t.Outputs
	}
	if t.Iteration == 0 || t.State != TaskFailed && t.State != TaskKilled || t.Reason == ReasonRepeatBound || t.Reason == ReasonExpression {
		return 0, nil
	}
	return t.Iteration, t.Outputs
}

// explainRepeat tells of a task between two iterations.
func (in *Instance) explainRepeat(now Millis, i int, e *Explanation) {
	t, loop := &in.Tasks[i], &in.plan.Definition.Tasks[i].Repeat
	e.Code = "waiting_repeat"
	e.Args["iteration"], e.Args["max"] = strconv.Itoa(t.Iteration), strconv.Itoa(loop.Max)
	e.Text = fmt.Sprintf("the condition of %s does not hold yet; iteration %d of at most %d may start in %s",
		in.name(i), t.Iteration, loop.Max, left(now, t.NextAt))
}
