package dag

import (
	"strings"
	"testing"
)

// A list that is too long to be kept fails the task for good. Whoever recovers it wants other values: all of its
// children run again, those that succeeded, too.
func TestWhatCouldNotBeGatheredIsRunAgain(t *testing.T) {
	plan, errs := ParsePlan([]byte("name: w\ntasks: [{name: a, type: dynamic, workflow: other, over: [{name: x, in: [1, 2]}], outputs: [text]}]"), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, 1000)
	launch := func(first int64) Effects {
		return in.Step(Launch{Task: 0, Child: &Child{ID: first, WorkflowID: 3, Version: 1}, Each: []map[string]string{{"x": "1"}, {"x": "2"}}}, 1000)
	}
	launch(101)
	for _, child := range []int64{101, 102} {
		in.Step(ChildEnded{Task: 0, Number: 1, Child: child, State: InstanceSuccess, Outputs: map[string]string{"text": strings.Repeat("x", MaxValue)}}, 2000)
	}
	if a := in.Tasks[0]; in.State != InstanceFailed || a.Reason != ReasonOutputs {
		t.Fatalf("the task is %s (%s)", a.State, a.Reason)
	}
	in.Step(Control{ID: 1, Verb: VerbRecover, By: "ann"}, 3000)
	if fx := launch(201); len(fx.Children) != 2 || len(fx.Orders) != 0 || in.Tasks[0].State != TaskRunning {
		t.Errorf("after the recovery children %+v, orders %+v, the task is %s", fx.Children, fx.Orders, in.Tasks[0].State)
	}
}
