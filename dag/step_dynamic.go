package dag

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// ItemState is how far one item of a dynamic task has come.
type ItemState string

// The states of an item.
const (
	ItemWaiting ItemState = "waiting" // its child is yet to be made
	ItemAgain   ItemState = "again"   // its child is yet to be recovered
	ItemRejoin  ItemState = "rejoin"  // its child runs again already, and is yet to be waited for
	ItemRunning ItemState = "running"
	ItemSuccess ItemState = "success"
	ItemFailed  ItemState = "failed"
	ItemKilled  ItemState = "killed" // its child was stopped
)

// Item is one child of a dynamic task: an item of its list, or a combination of several.
type Item struct {
	State                 ItemState
	Child                 int64 // its child; while State is waiting only the id that is kept for it
	WorkflowID, ProjectID int64
	Version               int
	Params                map[string]string // the child's start parameters
	Outputs               map[string]string // of its success, those that the task declares
}

// ItemRef names an item.
type ItemRef struct{ Task, Index int }

// maps says that a task's attempts are many child instances.
func (p *Plan) maps(i int) bool { return p.Definition.Tasks[i].Type == TypeDynamic }

// Parent says that a task's attempts are child instances.
func (p *Plan) Parent(i int) bool {
	return p.maps(i) || p.Definition.Tasks[i].Type == TypeSubWorkflow
}

// Children lists the child instances that a live attempt waits for.
func (in *Instance) Children(task int) []int64 {
	t := &in.Tasks[task]
	if t.Attempt.Child != 0 {
		return []int64{t.Attempt.Child}
	}
	var ids []int64
	for k := range t.Items {
		if t.Attempt.Number != 0 && t.Items[k].State == ItemRunning {
			ids = append(ids, t.Items[k].Child)
		}
	}
	return ids
}

// items gives a task's items to be changed. Those that it had stay as they are for whoever holds them.
func (s *step) items(i int) []Item {
	t := &s.in.Tasks[i]
	t.Items = slices.Clone(t.Items)
	return t.Items
}

func (s *step) touchItem(i, k int) { s.fx.Items = append(s.fx.Items, ItemRef{i, k}) }

// beginItems begins the items of a new attempt: all of the list, or where it goes on with an earlier one,
// those that have not succeeded. The children of a round that is recovered are recovered, too; a retry makes
// new ones.
func (s *step) beginItems(ev Launch) {
	t := &s.in.Tasks[ev.Task]
	if t.Items == nil {
		t.Items = make([]Item, len(ev.Each))
		for k := range ev.Each {
			t.Items[k].Params = ev.Each[k]
		}
	}
	items := s.items(ev.Task)
	for k := range items {
		m := &items[k]
		switch {
		case m.State == ItemSuccess:
			continue
		case t.Retries == 0 && m.Child != 0 && (m.State == ItemFailed || m.State == ItemKilled):
			m.State = ItemAgain
		case m.State == ItemRejoin:
			m.State = ItemRunning
			s.order(Order{Child: m.Child, Number: t.Attempt.Number})
		default:
			m.State, m.Child = ItemWaiting, ev.Child.ID+int64(k)
			m.WorkflowID, m.ProjectID, m.Version = ev.Child.WorkflowID, ev.Child.ProjectID, ev.Child.Version
		}
		s.touchItem(ev.Task, k)
	}
	s.goOn(ev.Task)
}

// progress counts the items of a task by their states.
type progress struct{ waiting, running, success, failed, killed int }

func (t *TaskInstance) progress() (p progress) {
	for k := range t.Items {
		switch t.Items[k].State {
		case ItemWaiting, ItemAgain, ItemRejoin:
			p.waiting++
		case ItemRunning:
			p.running++
		case ItemSuccess:
			p.success++
		case ItemFailed:
			p.failed++
		case ItemKilled:
			p.killed++
		}
	}
	return p
}

func (p progress) ended() int { return p.success + p.failed + p.killed }

// halted says that no more children of a task start.
func (s *step) halted(i int, p progress) bool {
	spec, _ := s.in.plan.Definition.Tasks[i].Spec.(*DynamicSpec)
	return s.in.Tasks[i].State == TaskKilling || spec.OnFailure == onItemEnd && p.failed+p.killed > 0
}

// onItemEnd is the value of a dynamic task's on_failure by which the first failure ends the others.
const onItemEnd = "end"

// goOn starts as many children as there is room for, and ends the attempt when none is left.
func (s *step) goOn(i int) {
	t := &s.in.Tasks[i]
	spec, _ := s.in.plan.Definition.Tasks[i].Spec.(*DynamicSpec)
	p := t.progress()
	halted := s.halted(i, p)
	if !halted && s.in.State == InstanceRunning && p.waiting > 0 && p.running < spec.Parallel {
		items := s.items(i)
		for k := range items {
			if p.running == spec.Parallel {
				break
			}
			if items[k].State != ItemWaiting && items[k].State != ItemAgain {
				continue
			}
			s.startItem(i, k)
			p.waiting--
			p.running++
		}
		s.touch(i)
	}
	if p.running == 0 && (halted || p.waiting == 0) {
		s.endItems(i, p)
	}
}

// unattended says that nobody has a live attempt in hand who could say that it has ended: no worker, no child.
func (s *step) unattended(i int) bool {
	return s.in.plan.here(i) || s.in.plan.maps(i) && s.in.Tasks[i].progress().running == 0
}

// startItem makes or recovers the child of an item.
func (s *step) startItem(i, k int) {
	t := &s.in.Tasks[i]
	m := &t.Items[k]
	if m.State == ItemAgain {
		s.order(Order{Child: m.Child, Verb: VerbRecover, Number: t.Attempt.Number})
	} else {
		facts := &s.in.Facts
		group := s.in.GroupOf(i)
		if group == DefaultWorkerGroup {
			group = ""
		}
		s.fx.Children = append(s.fx.Children, Child{
			ID: m.Child, WorkflowID: m.WorkflowID, ProjectID: m.ProjectID, Version: m.Version, Params: m.Params,
			ScheduleTime: facts.ScheduleTime, WorkerGroup: group, Depth: facts.Depth + 1, By: facts.By,
			Task: i, Number: t.Attempt.Number, Index: k,
		})
	}
	m.State = ItemRunning
	s.touchItem(i, k)
}

// itemOf finds the running item of a child, or -1.
func (t *TaskInstance) itemOf(child int64) int {
	return slices.IndexFunc(t.Items, func(m Item) bool { return m.State == ItemRunning && m.Child == child })
}

// itemEnded takes the end of one child.
func (s *step) itemEnded(ev ChildEnded, k int) {
	t := &s.in.Tasks[ev.Task]
	before := s.halted(ev.Task, t.progress())
	m := &s.items(ev.Task)[k]
	m.State = ItemFailed
	if ev.State == InstanceSuccess {
		m.State, m.Outputs = ItemSuccess, s.declared(ev.Task, ev.Outputs)
	} else if ev.State == InstanceStopped {
		m.State = ItemKilled
	}
	s.touchItem(ev.Task, k)
	s.touch(ev.Task)
	s.event(Event{Code: EventItem, Task: ev.Task, Attempt: ev.Number, State: string(m.State), Message: fmt.Sprintf("item %d, child instance %d", k, ev.Child)})
	if m.State != ItemSuccess && t.Attempt.Message == "" {
		t.Attempt.Message = ev.Message
		s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	}
	if !before && s.halted(ev.Task, t.progress()) {
		s.orderItems(ev.Task, VerbStop, false)
	}
	s.goOn(ev.Task)
}

// orderItems passes a wish on to every child of a task that runs.
func (s *step) orderItems(i int, verb Verb, force bool) {
	for k := range s.in.Tasks[i].Items {
		if m := &s.in.Tasks[i].Items[k]; m.State == ItemRunning {
			s.order(Order{Child: m.Child, Verb: verb, Force: force})
		}
	}
}

// endItems ends the attempt when no child runs and no more start.
func (s *step) endItems(i int, p progress) {
	t := &s.in.Tasks[i]
	a := &t.Attempt
	killing, why := a.State == AttemptKilling, a.KillReason
	if p.success == len(t.Items) {
		outputs, err := s.gather(i)
		if err != "" {
			a.Message = err
			s.endAttempt(i, AttemptFailed, ReasonOutputs)
			s.failForGood(i, ReasonOutputs, err)
			return
		}
		a.Outputs, a.Message = outputs, ""
		s.endAttempt(i, AttemptSuccess, "")
		s.succeed(i, outputs)
		return
	}
	message := fmt.Sprintf("%d of %d children succeeded, %d failed; %s", p.success, len(t.Items), p.failed, a.Message)
	a.Message = message
	switch {
	case killing && why != ReasonTimeout:
		s.endAttempt(i, AttemptKilled, why)
		s.killed(i, why)
	case killing:
		s.endAttempt(i, AttemptFailed, ReasonTimeout)
		s.fail(i, ReasonTimeout, message)
	case p.failed > 0:
		s.endAttempt(i, AttemptFailed, ReasonChildFailed)
		s.fail(i, ReasonChildFailed, message)
	default:
		s.endAttempt(i, AttemptKilled, ReasonChildStopped)
		s.killed(i, ReasonChildStopped)
	}
}

// gather makes each output of a dynamic task: the list of what its children gave, in the order of the items.
func (s *step) gather(i int) (map[string]string, string) {
	names := s.in.plan.Definition.Tasks[i].Outputs
	if len(names) == 0 {
		return nil, ""
	}
	outputs := make(map[string]string, len(names))
	for _, name := range names {
		list := make([]string, len(s.in.Tasks[i].Items))
		for k := range list {
			list[k] = s.in.Tasks[i].Items[k].Outputs[name]
		}
		text, err := json.Marshal(list)
		if err != nil || len(text) > MaxValue {
			return nil, fmt.Sprintf("the gathered output %q has %d bytes, at most %d are allowed", name, len(text), MaxValue)
		}
		outputs[name] = string(text)
	}
	return outputs, ""
}

// itemsKept are the items with which a task that failed or was killed goes on in a new round in which it is
// recovered. A forced stop does not wait for its children's end, so those are left alone.
func (t *TaskInstance) itemsKept() []Item {
	if t.Reason == ReasonChildAgain {
		return t.Items
	}
	if t.State != TaskFailed && t.State != TaskKilled || t.Reason == ReasonOutputs {
		return nil
	}
	kept := slices.Clone(t.Items)
	for k := range kept {
		if t.Reason == ReasonForcedStop && kept[k].State != ItemSuccess {
			kept[k].State, kept[k].Child = ItemWaiting, 0
		}
	}
	return kept
}

// explainItems tells how many children of a dynamic task have ended.
func (in *Instance) explainItems(now Millis, i int, e *Explanation) {
	t := &in.Tasks[i]
	p := t.progress()
	e.Since = t.Attempt.StartedAt
	e.Args["children"], e.Args["ended"], e.Args["failed"] = strconv.Itoa(len(t.Items)), strconv.Itoa(p.ended()), strconv.Itoa(p.failed)
	e.Text = fmt.Sprintf("%d of %d children of %s have ended", p.ended(), len(t.Items), in.name(i))
	if t.State == TaskKilling {
		e.Args["reason"] = string(t.Attempt.KillReason)
		e.Text += fmt.Sprintf("; those that run were told to stop%s", because(t.Attempt.KillReason))
		return
	}
	if t.Attempt.Deadline != 0 {
		e.Args["deadline"] = moment(t.Attempt.Deadline)
		e.Text += fmt.Sprintf("; its timeout is in %s", left(now, t.Attempt.Deadline))
	}
}
