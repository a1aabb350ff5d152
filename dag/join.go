package dag

import (
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag/expression"
)

// JoinRule says which ends of the tasks that a task needs let it run. A task that was passed
// over (see passedOver) counts neither as a success nor as a failure.
type JoinRule string

// The join rules. What a rule rules out is told at once: all_success does not wait for the
// other needs after the first failure, one_success not after the first success.
const (
	JoinAllSuccess JoinRule = "all_success" // every need is done, at least one was not passed over
	JoinNoneFailed JoinRule = "none_failed" // no need failed, all may have been passed over
	JoinAllDone    JoinRule = "all_done"    // every need has ended, however
	JoinOneSuccess JoinRule = "one_success" // one need is done
	JoinAllFailed  JoinRule = "all_failed"  // every need failed
	JoinOneFailed  JoinRule = "one_failed"  // one need failed
)

// joinRules in the order in which people see them.
var joinRules = [...]JoinRule{JoinAllSuccess, JoinNoneFailed, JoinAllDone, JoinOneSuccess, JoinAllFailed, JoinOneFailed}

// rules are what a task's own keys say of when it runs, compiled.
type rules struct {
	join      JoinRule
	condition *expression.Expression // in place of a join rule, over the needs' states, once all have ended
	when      *expression.Expression // nil: always
	retry     *expression.Expression // retry.when; nil: always
	filter    *expression.Expression // which items of a dynamic task have children; nil: all
	until     *expression.Expression // what ends its repetition; nil: nothing to repeat
	branches  *branches              // nil where it chooses nothing
	gates     []int                  // the branch tasks that name it
}

// needs counts the tasks in scope that a task needs, by what their ends mean for it.
type needs struct{ open, done, broken, passed int }

// end is what the end of one task means for one that needs it.
type end uint8

const (
	endOpen   end = iota // it has not ended
	endDone              // it is done
	endBroken            // it failed, was killed, or never ran because of that
	endPassed            // it was passed over, or its branch was not chosen
)

// add counts one more need.
func (n *needs) add(e end) {
	switch e {
	case endOpen:
		n.open++
	case endDone:
		n.done++
	case endBroken:
		n.broken++
	case endPassed:
		n.passed++
	}
}

func (n *needs) total() int { return n.open + n.done + n.broken + n.passed }

// endFor is what has become of task from, as task to sees it.
func (in *Instance) endFor(from, to int) end {
	t := &in.Tasks[from]
	switch {
	case !t.State.Final():
		return endOpen
	case t.passedOver() || in.closed(from, to):
		return endPassed
	case in.done(from):
		return endDone
	default:
		return endBroken
	}
}

// ownRules are the reasons by which a workflow leaves a task out by itself.
var ownRules = [...]Reason{ReasonNeedsSkipped, ReasonJoin, ReasonNotChosen, ReasonWhen, ReasonNotNeeded}

// passedOver says that the workflow's own rules left a task out; what people skip, or have
// disabled, counts as done instead.
func (t *TaskInstance) passedOver() bool {
	return t.State == TaskSkipped && slices.Contains(ownRules[:], t.Reason)
}

// verdict is what the ends of its needs mean for a waiting task.
type verdict uint8

const (
	verdictOpen  verdict = iota // it goes on waiting
	verdictRun                  // it runs
	verdictPass                 // it is passed over
	verdictBlock                // it can't run, because something failed
)

// judge tells what is to become of a waiting task, with the reason where it is passed over.
func (in *Instance) judge(i int) (verdict, Reason) {
	t, r := &in.plan.Definition.Tasks[i], &in.plan.rules[i]
	n := &in.Tasks[i].needs
	switch {
	case t.Compensates > 0:
		return verdictOpen, "" // startUndo says when
	case t.Finally && in.left(phaseFinally) > 0:
		return verdictOpen, ""
	case n.total() == 0:
		return verdictRun, ""
	}
	if v, reason := in.gate(i); v != verdictRun {
		return v, reason
	}
	switch {
	case t.Type == TypeConditions || r.condition != nil:
		// Both look at what ended how. With nothing but passed-over tasks there is nothing to look at.
		return n.whenAll(n.done+n.broken > 0, ReasonNeedsSkipped)
	}
	return n.judge(r.join)
}

// whenAll is the verdict of a rule that waits for every need.
func (n *needs) whenAll(runs bool, otherwise Reason) (verdict, Reason) {
	switch {
	case n.open > 0:
		return verdictOpen, ""
	case runs:
		return verdictRun, ""
	default:
		return verdictPass, otherwise
	}
}

// judge is the verdict of a rule on counted needs, of which there is at least one.
func (n *needs) judge(rule JoinRule) (verdict, Reason) {
	switch rule {
	case JoinNoneFailed:
		if n.broken > 0 {
			return verdictBlock, ""
		}
		return n.whenAll(true, "")
	case JoinAllDone:
		return n.whenAll(true, "")
	case JoinOneSuccess:
		switch {
		case n.done > 0:
			return verdictRun, ""
		case n.open == 0 && n.broken > 0:
			return verdictBlock, ""
		}
		return n.whenAll(false, ReasonNeedsSkipped)
	case JoinAllFailed:
		if n.done+n.passed > 0 {
			return verdictPass, ReasonJoin
		}
		return n.whenAll(true, "")
	case JoinOneFailed:
		if n.broken > 0 {
			return verdictRun, ""
		}
		return n.whenAll(false, ReasonJoin)
	case JoinAllSuccess:
		if n.broken > 0 {
			return verdictBlock, ""
		}
		return n.whenAll(n.done > 0, ReasonNeedsSkipped)
	default:
		panic(fmt.Sprintf("no rule for join %q", rule))
	}
}

// spread tells the tasks that need task i how it ended; what is settled by that is told on
// in turn. It is iterative, because a chain of disabled tasks may be as long as the plan.
func (s *step) spread(i int) {
	s.queue = append(s.queue[:0], i)
	for head := 0; head < len(s.queue); head++ {
		from := s.queue[head]
		for _, n := range s.in.plan.Succ[from] {
			t := &s.in.Tasks[n]
			if t.State == "" {
				continue
			}
			t.needs.open--
			t.needs.add(s.in.endFor(from, n))
			if s.meet(n) {
				s.queue = append(s.queue, n)
			}
		}
	}
	if s.ending && !s.ended {
		s.ended = true
		s.killAll(ReasonWorkflowFailed, false)
	}
}

// count is spread for tasks whose successors have ended already.
func (s *step) count(from int) {
	for _, n := range s.in.plan.Succ[from] {
		if t := &s.in.Tasks[n]; t.State != "" {
			t.needs.open--
			t.needs.add(s.in.endFor(from, n))
		}
	}
}

// meet moves a task on that waits no longer. It returns true where that is its end already,
// which the caller must spread.
func (s *step) meet(i int) (ended bool) {
	if s.in.Tasks[i].State != TaskWaiting {
		return false
	}
	v, reason := s.in.judge(i)
	switch v {
	case verdictRun:
		if s.ending && s.in.plan.Definition.Tasks[i].phase() == phaseWork {
			return false // it is about to be killed with the others
		}
		return s.activate(i)
	case verdictPass:
		s.passOver(i, reason)
		return true
	case verdictBlock:
		s.letGo(i)
		s.enter(i, TaskUpstreamFailed, ReasonUpstreamFailed)
		s.tellOf(i, 0, "")
		return true
	case verdictOpen:
	}
	return false
}

// passOver leaves a task out by the workflow's own rules.
func (s *step) passOver(i int, why Reason) {
	s.letGo(i)
	s.enter(i, TaskSkipped, why)
	s.tellOf(i, 0, "")
}

// broken carries out what the end of a task that is not done means for the others.
func (s *step) broken(i int) {
	s.endWith(i)
	s.spread(i)
}

// ownEndings are the reasons by which an instance ends its tasks itself.
var ownEndings = [...]Reason{ReasonStopped, ReasonForcedStop, ReasonWorkflowFailed, ReasonWorkflowTimeout}

// endWith notes that a broken task ends its instance, where on_failure says so. An ending
// that the instance itself caused has been carried out already, and what a conditions task
// looks at is its business.
func (s *step) endWith(i int) {
	if slices.Contains(ownEndings[:], s.in.Tasks[i].Reason) {
		return
	}
	ends := s.in.OnFailure == OnFailureEnd || s.in.OnFailure == OnFailureCompensate
	if ends && s.in.State != InstanceStopping && !s.in.handled(i) && s.in.plan.Definition.Tasks[i].phase() == phaseWork {
		s.ending = true
	}
}

// handled says that a failure is what a workflow provides for: the task failed, and nothing
// but conditions tasks need it.
func (in *Instance) handled(i int) bool {
	if in.Tasks[i].State != TaskFailed {
		return false
	}
	looked := false
	for _, n := range in.plan.Succ[i] {
		t := &in.plan.Definition.Tasks[n]
		if in.Tasks[n].State == "" || t.phase() != phaseWork {
			continue
		}
		if t.Type != TypeConditions || t.Disabled {
			return false
		}
		looked = true
	}
	return looked
}

// startFinally lets the tasks that come last begin, once all others have ended.
func (s *step) startFinally() {
	if s.in.left(phaseFinally) > 0 {
		return
	}
	for _, i := range s.in.plan.finally {
		if s.meet(i) {
			s.spread(i)
		}
	}
}

// waits says that a task that has not ended still has to wait for its needs.
func (in *Instance) waits(i int) bool {
	if in.plan.Definition.Tasks[i].Compensates > 0 {
		return in.Tasks[i].State == TaskWaiting
	}
	v, _ := in.judge(i)
	return v == verdictOpen
}
