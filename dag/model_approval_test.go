package dag

import "fmt"

// approval draws an approval that is waited for, or -1.
func (w *world) approval() int { return w.pickType("approval", TypeApproval) }

// approves says something to an approval, or to an attempt of one that is not waited for any more.
func (w *world) approves() {
	i := w.approval()
	if i < 0 {
		return
	}
	verb := draw(w.t, "says", []Verb{VerbApprove, VerbApprove, VerbApprove, VerbReject})
	if die(w.t, "older", 3) == 0 {
		w.wishes++
		fx := w.step(Control{ID: w.wishes, Verb: verb, Tasks: []int{i}, By: "late", Decision: Decision{Number: w.in.Tasks[i].Attempts - 1}})
		if len(fx.Decisions) > 0 || fx.Applied[0].Result != ResultNotWaiting {
			w.fail("a decision on an older attempt of task %d was heard: %+v", i, fx)
		}
		return
	}
	w.say(i, fmt.Sprint("person ", die(w.t, "person", 3)), verb)
}

// say has one person decide on a task, and compares with what the rules, written again, make of it.
func (w *world) say(i int, by string, verb Verb) {
	before, number := w.in.Tasks[i].Attempt.Decisions, w.in.Tasks[i].Attempts
	again := false
	for _, d := range before {
		again = again || d.By == by
	}
	w.wishes++
	d := Decision{Number: number, Reason: "it is so", Values: map[string]string{"n": by}}
	fx := w.step(Control{ID: w.wishes, Verb: verb, Tasks: []int{i}, By: by, Decision: d})
	t := &w.in.Tasks[i]
	quorum := w.plan.Definition.Tasks[i].Spec.(*ApprovalSpec).Quorum
	switch result := fx.Applied[0].Result; {
	case again:
		if result != ResultAlready || len(fx.Decisions) > 0 || len(t.Attempt.Decisions) != len(before) {
			w.fail("%s decided twice on task %d: %+v", by, i, fx)
		}
	case result != ResultApplied || len(fx.Decisions) != 1 || fx.Decisions[0].By != by:
		w.fail("%s's %s of task %d gave %+v", by, verb, i, fx)
	case verb == VerbReject:
		if t.State != TaskFailed || t.Reason != ReasonRejected {
			w.fail("task %d was rejected and is %s %s", i, t.State, t.Reason)
		}
	case len(before)+1 >= quorum:
		if t.State != TaskSuccess || t.Outputs["n"] != by {
			w.fail("task %d has its %d approvals and is %s with %v", i, quorum, t.State, t.Outputs)
		}
	case t.State != TaskRunning || len(t.Attempt.Decisions) != len(before)+1:
		w.fail("task %d has %d of %d approvals and is %s", i, len(before)+1, quorum, t.State)
	}
}
