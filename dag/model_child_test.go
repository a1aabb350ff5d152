package dag

import (
	"fmt"
	"slices"
)

// child is a child instance as its parent's auditor knows it.
type child struct {
	task, number int // the attempt that waits for it
	ended        bool
	told         bool // to stop
	paused       bool // or told to pause
	success      bool
}

// carryOutChildren makes children and passes wishes on to them, as a store would.
func (a *auditor) carryOutChildren(fx Effects) {
	for _, row := range fx.Attempts {
		if row.Worker == "" {
			delete(a.queue, row.Task)
		}
	}
	if len(fx.Children)+len(fx.Orders) > 0 && len(fx.Events) == 0 {
		a.fail("children %+v and orders %+v without an event: a store that writes twice would not know", fx.Children, fx.Orders)
	}
	for _, c := range fx.Children {
		if a.children[c.ID] != nil || !a.awaits(c.Task, c.ID) || a.in.Tasks[c.Task].Attempts != c.Number {
			a.fail("child %+v is made for an attempt that does not wait for it", c)
		}
		a.children[c.ID] = &child{task: c.Task, number: c.Number}
	}
	for _, o := range fx.Orders {
		c := a.children[o.Child]
		switch {
		case c == nil:
			a.fail("%+v is about a child that was never made", o)
		case o.Verb == "":
			if c.ended || c.told {
				a.fail("%+v waits for child %+v", o, c)
			}
			c.number = o.Number
		case o.Verb == VerbRecover:
			if !c.ended || c.success {
				a.fail("%+v is about child %+v", o, c)
			}
			*c = child{task: c.task, number: o.Number}
		case c.ended:
			a.fail("%+v is about a child that has ended", o)
		case o.Verb == VerbStop:
			c.told = true
		default:
			c.paused = o.Verb == VerbPause
		}
	}
}

// checkChildren: whoever waits for a child waits for one that runs, that is paused as its parent is, and
// that was told to stop where the attempt is being ended; no child runs on without either.
func (a *auditor) checkChildren() {
	waited := map[int64]bool{}
	for i := range a.in.Tasks {
		t := &a.in.Tasks[i]
		for _, id := range rejoined(t) {
			waited[id] = true
		}
		if !a.plan.Parent(i) || t.Attempt.Number == 0 {
			continue
		}
		halted := a.checkItems(i)
		for _, id := range a.in.Children(i) {
			c := a.children[id]
			if c == nil || c.task != i || c.number != t.Attempt.Number || c.ended || t.Child != t.Attempt.Child {
				a.fail("attempt %+v waits for child %+v", t.Attempt, c)
			}
			waited[id] = true
			paused := a.in.State == InstancePausing || a.in.State == InstancePaused
			if c.told != (t.State == TaskKilling || halted) || !c.told && c.paused != paused {
				a.fail("instance %s, attempt %+v, but its child is %+v", a.in.State, t.Attempt, c)
			}
		}
	}
	for id, c := range a.children {
		if !waited[id] && !c.ended && !c.told {
			a.fail("child %d of task %d runs on and nobody waits for it: %+v", id, c.task, c)
		}
	}
}

// refusedAtOnce says that a task was started and failed, or had nothing to do, in one step.
func refusedAtOnce(ev Input, i int, was, is TaskState) bool {
	l, ok := ev.(Launch)
	return ok && l.Task == i && (l.Reason != "" || len(l.Each) == 0) && was.CanFollow(TaskRunning) && TaskRunning.CanFollow(is)
}

// dependent draws a task that waits for other runs, or -1.
func (w *world) dependent() int {
	return w.pickType("dependent", TypeDependent)
}

// pickType draws a running task of a type, or -1.
func (w *world) pickType(label, name string) int {
	var list []int
	for i := range w.in.Tasks {
		if w.in.Tasks[i].State == TaskRunning && w.plan.Definition.Tasks[i].Type == name {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return -1
	}
	return draw(w.t, label, list)
}

// decides ends a wait for other runs, or tells one that is not waited for any more.
func (w *world) decides() {
	i := w.dependent()
	if i < 0 {
		return
	}
	if die(w.t, "older", 3) == 0 {
		if fx := w.step(Decided{Task: i, Number: w.in.Tasks[i].Attempts - 1, Success: true}); !fx.Stale {
			w.fail("the word about an older attempt of task %d was heard", i)
		}
		return
	}
	w.decide(i)
}

func (w *world) decide(i int) {
	ev := Decided{Task: i, Number: w.in.Tasks[i].Attempts, Success: die(w.t, "succeeds", 1) == 0, Message: "it did not"}
	if ev.Success {
		ev.Outputs = map[string]string{"n": "1", "other": "x"}
	}
	if fx := w.step(ev); fx.Stale || ev.Success && w.in.Tasks[i].State == TaskSuccess && len(w.in.Tasks[i].Outputs) != 1 {
		w.fail("%+v gave %+v, outputs %v", ev, fx, w.in.Tasks[i].Outputs)
	}
}

func waitsForChild(t *TaskInstance) bool {
	return t.Attempt.Child != 0 || t.progress().running > 0 && t.Attempt.Number != 0
}

// launch starts a task whose attempts are children, now and then in vain.
func (w *world) launch(i int) {
	ev := Launch{Task: i}
	switch recovers := w.in.Recovers(i); {
	case die(w.t, "refused", 9) == 0:
		ev.Reason, ev.Message = ReasonChildRefused, "there is no such workflow"
	case w.plan.maps(i):
		w.launchItems(&ev)
	case !recovers || die(w.t, "anew", 9) == 0:
		ev.Child = &Child{ID: w.nextChild(1), WorkflowID: 3, Version: 1}
	}
	w.step(ev)
}

// childEnds ends a child, or says so of one that nobody waits for.
func (w *world) childEnds() {
	i := w.pick("child", waitsForChild)
	if i < 0 {
		return
	}
	a := w.in.Tasks[i].Attempt
	a.Child = draw(w.t, "whose", w.in.Children(i))
	if wrong := die(w.t, "wrong", 7); wrong < 3 {
		ev := ChildEnded{ID: int64(die(w.t, "row", 1)), Task: i, Number: a.Number, Child: a.Child, State: InstanceFailed}
		switch wrong {
		case 0:
			ev.Number--
		case 1:
			ev.Child = 99 // nobody's
		default:
			ev.State = InstanceRunning
		}
		if fx := w.step(ev); fx.Changed || fx.Stale != (ev.ID == 0) || len(fx.Applied) != int(ev.ID) {
			w.fail("%+v was heard: %+v", ev, fx)
		}
		return
	}
	w.endChild(i)
}

func (w *world) endChild(i int) {
	a := w.in.Tasks[i].Attempt
	a.Child = draw(w.t, "whose", w.in.Children(i))
	ev := ChildEnded{
		Task: i, Number: a.Number, Child: a.Child, Message: "it ended",
		State: draw(w.t, "ends", []InstanceState{InstanceSuccess, InstanceSuccess, InstanceFailed, InstanceFailed, InstanceStopped, InstanceQuarantined}),
	}
	if ev.State == InstanceSuccess {
		ev.Outputs = map[string]string{"n": fmt.Sprint(a.Number), "other": "x"}
	}
	c := w.children[a.Child]
	c.ended, c.success = true, ev.State == InstanceSuccess
	fx := w.step(ev)
	if n := w.in.Tasks[i].Outputs; c.success && !w.plan.maps(i) && w.in.Tasks[i].State == TaskSuccess && (len(n) != 1 || n["n"] == "") {
		w.fail("task %d has outputs %v of its child", i, n)
	}
	if fx.Stale || w.in.Tasks[i].Attempt.Number == a.Number && !w.plan.maps(i) {
		w.fail("%+v was not heard: %+v", ev, fx)
	}
}

// rejoined lists the children that a task is about to wait for again.
func rejoined(t *TaskInstance) (ids []int64) {
	if t.Reason != ReasonChildAgain || t.State != TaskWaiting && t.State != TaskReady {
		return nil
	}
	if t.Child != 0 {
		ids = append(ids, t.Child)
	}
	for k := range t.Items {
		if t.Items[k].State == ItemRejoin {
			ids = append(ids, t.Items[k].Child)
		}
	}
	return ids
}

// childAgain has somebody run a child again, or say so of one that its task has nothing to do with any more.
func (w *world) childAgain() {
	var ended []int64
	for id, c := range w.children {
		if c.ended {
			ended = append(ended, id)
		}
	}
	if len(ended) == 0 {
		return
	}
	slices.Sort(ended)
	id := draw(w.t, "again", ended)
	c := w.children[id]
	t := w.in.Tasks[c.task]
	if w.in.State.Final() {
		want := ResultAlready
		if slowTied(&t, id) {
			want = ResultApplied
			*c = child{task: c.task, number: c.number}
		}
		w.tellAgain(c.task, id, want)
		if want == ResultApplied {
			w.checkAgain(c.task, id)
		}
		return
	}
	w.tellAgain(c.task, id, ResultNotFinished)
}

func (w *world) tellAgain(task int, id int64, want string) {
	w.wishes++
	fx := w.step(ChildAgain{ID: w.wishes, Task: task, Child: id, By: "instance"})
	if len(fx.Applied) != 1 || fx.Applied[0].ID != w.wishes || fx.Applied[0].Result != want || fx.Changed != (want == ResultApplied) || fx.NewRound != fx.Changed {
		w.fail("child %d of task %d again: %+v, want %s", id, task, fx, want)
	}
}

// slowTied: the task ended by the word of this very child.
func slowTied(t *TaskInstance, id int64) bool {
	ended := (t.State == TaskSuccess || t.State == TaskFailed || t.State == TaskKilled) && t.Reason != ReasonForcedStop
	in := t.Child == id
	for k := range t.Items {
		m := &t.Items[k]
		in = in || m.Child == id && m.State != ItemWaiting && m.State != ItemAgain && m.State != ItemRunning
	}
	return ended && in
}

// checkAgain: the task is to wait for that child, or has let go of it, and what needs it is open again.
func (w *world) checkAgain(task int, id int64) {
	if !slices.Contains(rejoined(&w.in.Tasks[task]), id) && !w.children[id].told {
		w.fail("task %d is to wait for child %d again", task, id)
	}
	for i, below := range w.plan.Select([]int{task}, ScopeDownstream) {
		if t := &w.in.Tasks[i]; below && t.State != "" && t.Round != w.in.Round {
			w.fail("task %d comes after task %d, whose child runs again", i, task)
		}
	}
}
