package dag

import (
	"encoding/json"
	"fmt"
	"slices"
)

// awaits says that a task's live attempt waits for a child.
func (a *auditor) awaits(task int, child int64) bool {
	return slices.Contains(a.in.Children(task), child)
}

// checkItems: of a live dynamic task no more children run than may, and there is always one that runs, or room
// that only a pause keeps empty. It says whether a failure has ended the others.
func (a *auditor) checkItems(i int) (halted bool) {
	t := &a.in.Tasks[i]
	spec, ok := a.plan.Definition.Tasks[i].Spec.(*DynamicSpec)
	if !ok {
		return false
	}
	var waiting, running, bad int
	for _, m := range t.Items {
		switch m.State {
		case ItemWaiting, ItemAgain, ItemRejoin:
			waiting++
		case ItemRunning:
			running++
		case ItemFailed, ItemKilled:
			bad++
		case ItemSuccess:
			if c := a.children[m.Child]; c == nil || !c.success {
				a.fail("item %+v succeeded, its child is %+v", m, c)
			}
		}
	}
	halted = bad > 0 && spec.OnFailure == "end"
	paused := a.in.State == InstancePausing || a.in.State == InstancePaused
	switch {
	case running > spec.Parallel:
		a.fail("%d children of task %d run, at most %d may", running, i, spec.Parallel)
	case running == 0 && (halted || waiting == 0 || !paused):
		a.fail("task %d is %s with %+v", i, t.State, t.progress())
	case waiting > 0 && running < spec.Parallel && !halted && a.in.State == InstanceRunning && t.State == TaskRunning:
		a.fail("task %d has room for more children: %+v", i, t.progress())
	}
	return halted
}

// checkGathered: a dynamic task that succeeded has one value for each item, in their order. One that was taken
// over has its values alone.
func (a *auditor) checkGathered(i int) {
	t := &a.in.Tasks[i]
	if a.plan.Definition.Tasks[i].Type != TypeDynamic || t.State != TaskSuccess || t.takenOver() {
		return
	}
	var list []string
	if err := json.Unmarshal([]byte(t.Outputs["n"]), &list); err != nil || len(list) != len(t.Items) {
		a.fail("task %d gathered %v of %d items: %v", i, t.Outputs, len(t.Items), err)
	}
	for k, m := range t.Items {
		if m.State != ItemSuccess || list[k] != m.Outputs["n"] || len(m.Outputs) != 1 {
			a.fail("item %d of task %d is %+v and gathered as %q", k, i, m, list[k])
		}
	}
}

// nextChild gives ids to n children.
func (w *world) nextChild(n int) int64 {
	w.kids += int64(n)
	return 100 + w.kids - int64(n)
}

// launchItems draws the items of a dynamic task, none now and then.
func (w *world) launchItems(ev *Launch) {
	n := die(w.t, "items", 4)
	if kept := len(w.in.Tasks[ev.Task].Items); kept > 0 {
		n = kept
	}
	ev.Each = make([]map[string]string, n)
	for k := range ev.Each {
		ev.Each[k] = map[string]string{"item": fmt.Sprint(k)}
	}
	ev.Child = &Child{ID: w.nextChild(n), WorkflowID: 3, Version: 1}
}
