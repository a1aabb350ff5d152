package dag

// ChildAgain says that the child of a task that has ended runs again, in a new round that somebody asked the
// child itself for. It means something only to an instance that has ended, too: see Instance.TiedTo.
type ChildAgain struct {
	ID    int64 // of the control row that told it
	Task  int
	Child int64
	By    string
}

func (ChildAgain) input() {}

// TiedTo says that a task ended as it did because of a child, so that it goes again with it. A forced stop let
// go of its children, an earlier attempt had another one, and what somebody declared successful is nobody's doing.
func (in *Instance) TiedTo(task int, child int64) bool {
	if task < 0 || task >= len(in.Tasks) || child == 0 {
		return false
	}
	t := &in.Tasks[task]
	switch t.State {
	case TaskSuccess, TaskFailed, TaskKilled:
		return t.Reason != ReasonForcedStop && (t.Child == child || t.memberOf(child) >= 0)
	case "", TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling, TaskForcedSuccess, TaskSkipped,
		TaskUpstreamFailed, TaskDisabled:
	}
	return false
}

// memberOf finds the item whose child has ended, or -1.
func (t *TaskInstance) memberOf(child int64) int {
	for k := range t.Items {
		switch m := &t.Items[k]; m.State {
		case ItemSuccess, ItemFailed, ItemKilled:
			if m.Child == child {
				return k
			}
		case ItemWaiting, ItemAgain, ItemRejoin, ItemRunning:
		}
	}
	return -1
}

// childAgain opens a round in which a task waits once more for its child, and all that needs it runs again.
func (s *step) childAgain(ev ChildAgain) {
	s.fx.Applied = append(s.fx.Applied, Applied{ID: ev.ID, Result: s.rejoin(ev)})
}

func (s *step) rejoin(ev ChildAgain) string {
	in := s.in
	switch in.State {
	case InstanceStopped, InstanceFailed, InstanceSuccess:
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused,
		InstanceStopping, InstanceQuarantined:
		return ResultNotFinished
	}
	if !in.TiedTo(ev.Task, ev.Child) {
		return ResultAlready
	}
	again := in.plan.Select([]int{ev.Task}, ScopeDownstream)
	s.beginAnew(again, ev.Task)
	t := &in.Tasks[ev.Task]
	if k := t.memberOf(ev.Child); k >= 0 {
		s.items(ev.Task)[k].State = ItemRejoin
	}
	if t.State == TaskSuccess {
		t.Outputs = nil
	}
	t.Reason = ReasonChildAgain
	s.again(ev.By, nil, func(i int) bool { return again[i] })
	return ResultApplied
}

// rejoins says that a task is to wait for its child of before, which runs again already.
func (t *TaskInstance) rejoins() bool {
	return t.Reason == ReasonChildAgain && (t.State == TaskWaiting || t.State == TaskReady)
}

// letGo stops the child of a task that will not wait for it after all: nobody else does.
func (s *step) letGo(i int) {
	t := &s.in.Tasks[i]
	if !t.rejoins() {
		return
	}
	if t.Child != 0 {
		s.order(Order{Child: t.Child, Verb: VerbStop})
		t.Child = 0
	}
	for k := range t.Items {
		if m := &t.Items[k]; m.State == ItemRejoin {
			s.order(Order{Child: m.Child, Verb: VerbStop})
			m = &s.items(i)[k]
			m.State, m.Child = ItemWaiting, 0
			s.touchItem(i, k)
		}
	}
}
