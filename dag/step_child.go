package dag

// Launch begins an attempt of a ready task that runs in the master. For a sub_workflow task either
// Child is the instance to make, or it is nil: then the child of the task's last attempt is recovered,
// which Recovers tells to be due. A Reason says that the child cannot be started: the attempt
// fails at once.
type Launch struct {
	Task  int
	Child *Child
	// Each are the start parameters of the children of a dynamic task; Child then says what all of them run,
	// and its ID is the first of as many ids as there are items, or were before.
	Each    []map[string]string
	Reason  Reason
	Message string
}

// ChildEnded says that the child of an attempt has ended. One for another attempt or child than the
// live one is stale.
type ChildEnded struct {
	ID           int64 // of the control row that told it; 0 where none did
	Task, Number int
	Child        int64
	State        InstanceState
	Message      string            // names the child and why it ended as it did; of one that did not succeed
	Outputs      map[string]string // of one that succeeded; the task keeps those that it declares
}

func (Launch) input()     {}
func (ChildEnded) input() {}

// inMaster says that a task runs in the master and takes no worker.
func (p *Plan) inMaster(i int) bool {
	return p.here(i) || p.Parent(i)
}

// InMaster says that a task runs in the master and takes no worker.
func (in *Instance) InMaster(task int) bool { return in.plan.inMaster(task) }

// parent says that a task's attempts are child instances.
func (s *step) parent(i int) bool { return s.in.plan.Parent(i) }

// Recovers says that the next attempt of a task goes on with the child of its last one: that did not
// succeed, and a new round without a rerun of the task has come since. A forced stop does not wait
// for the child's end, so that one is left alone.
func (in *Instance) Recovers(task int) bool {
	t := &in.Tasks[task]
	return t.State == TaskReady && t.Child != 0 && t.Retries == 0
}

// childKept is the child that a task keeps into a new round in which it is recovered.
func (t *TaskInstance) childKept() int64 {
	if t.Reason == ReasonChildAgain {
		return t.Child
	}
	if t.State != TaskFailed && t.State != TaskKilled || t.Reason == ReasonForcedStop {
		return 0
	}
	return t.Child
}

// launch starts an attempt that no worker holds.
func (s *step) launch(ev Launch) {
	t := s.task(ev.Task)
	if t == nil || t.State != TaskReady || t.delayed() || s.in.State != InstanceRunning || !s.parent(ev.Task) ||
		ev.Child == nil && ev.Reason == "" && !s.in.Recovers(ev.Task) {
		s.fx.Stale = true
		return
	}
	s.taken(ev.Task)
	verb := VerbRecover
	many := s.in.plan.maps(ev.Task)
	if ev.Reason != "" || ev.Child != nil && !many {
		s.letGo(ev.Task)
	} else if t.rejoins() {
		verb = "" // it runs again already
	}
	child := t.Child
	if many {
		child = 0
	} else if ev.Child != nil {
		child = ev.Child.ID
	} else if ev.Reason != "" {
		child = 0
	}
	t.Attempts++
	t.Attempt = Attempt{
		Task: ev.Task, Number: t.Attempts, Round: s.in.Round, Iteration: s.iterate(ev.Task), State: AttemptRunning,
		DispatchedAt: s.now, StartedAt: s.now, Child: child,
	}
	t.Child = child
	s.enter(ev.Task, TaskRunning, "")
	t.StartedAt, t.FinishedAt = s.now, 0
	s.armAttempt(ev.Task)
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.tell(ev.Task, "")
	switch {
	case ev.Child != nil && many:
		s.beginItems(ev)
	case ev.Child != nil:
		made := *ev.Child
		made.Task, made.Number = ev.Task, t.Attempts
		s.fx.Children = append(s.fx.Children, made)
	case ev.Reason != "":
		t.Attempt.Message = ev.Message
		s.endAttempt(ev.Task, AttemptFailed, ev.Reason)
		s.fail(ev.Task, ev.Reason, ev.Message)
	default:
		s.order(Order{Child: child, Verb: verb, Number: t.Attempts})
	}
}

// childEnded ends the attempt whose child has ended. What that means is decided by the kill that was
// asked for, if any, as with a worker's report.
func (s *step) childEnded(ev ChildEnded) {
	result := ResultAlready
	item := -1
	t := s.task(ev.Task)
	if t != nil && s.in.plan.maps(ev.Task) {
		item = t.itemOf(ev.Child)
	}
	if t == nil || s.in.State.Final() || t.Attempt.Number == 0 || t.Attempt.Number != ev.Number ||
		item < 0 && (t.Attempt.Child == 0 || t.Attempt.Child != ev.Child) || !ev.State.Final() {
		s.fx.Stale = ev.ID == 0
	} else {
		if item >= 0 {
			s.itemEnded(ev, item)
		} else {
			s.endOfChild(ev)
		}
		result = ResultApplied
	}
	if ev.ID != 0 {
		s.fx.Applied = append(s.fx.Applied, Applied{ID: ev.ID, Result: result})
	}
}

func (s *step) endOfChild(ev ChildEnded) {
	a := &s.in.Tasks[ev.Task].Attempt
	a.Message = ev.Message
	killing, why := a.State == AttemptKilling, a.KillReason
	switch {
	case ev.State == InstanceSuccess:
		outputs := s.declared(ev.Task, ev.Outputs)
		a.Outputs = outputs
		s.endAttempt(ev.Task, AttemptSuccess, "")
		s.succeed(ev.Task, outputs)
	case killing && why != ReasonTimeout:
		s.endAttempt(ev.Task, AttemptKilled, why)
		s.killed(ev.Task, why)
	case killing:
		s.endAttempt(ev.Task, AttemptFailed, ReasonTimeout)
		s.fail(ev.Task, ReasonTimeout, ev.Message)
	case ev.State == InstanceStopped:
		// Somebody stopped the child itself: as with a kill, nothing is tried again.
		s.endAttempt(ev.Task, AttemptKilled, ReasonChildStopped)
		s.killed(ev.Task, ReasonChildStopped)
	default:
		s.endAttempt(ev.Task, AttemptFailed, ReasonChildFailed)
		s.fail(ev.Task, ReasonChildFailed, ev.Message)
	}
}

// declared keeps those of a child's outputs that the task declares as its own.
func (s *step) declared(i int, given map[string]string) map[string]string {
	var kept map[string]string
	for _, name := range s.in.plan.Definition.Tasks[i].Outputs {
		if value, ok := given[name]; ok {
			if kept == nil {
				kept = make(map[string]string)
			}
			kept[name] = value
		}
	}
	return kept
}

func (s *step) order(o Order) {
	s.fx.Orders = append(s.fx.Orders, o)
	s.fx.Changed = true
}

// orderAll passes a wish on to every child that is not being ended.
func (s *step) orderAll(verb Verb) {
	for i := range s.in.Tasks {
		if a := &s.in.Tasks[i].Attempt; a.Child != 0 && a.State == AttemptRunning {
			s.order(Order{Child: a.Child, Verb: verb})
		} else if a.State == AttemptRunning {
			s.orderItems(i, verb, false)
		}
	}
}

// tellToEnd asks who holds a live attempt to end it: its worker, or its child.
func (s *step) tellToEnd(a *Attempt, force bool) {
	if a.Child != 0 {
		s.order(Order{Child: a.Child, Verb: VerbStop, Force: force})
		return
	}
	if s.in.plan.maps(a.Task) {
		s.orderItems(a.Task, VerbStop, force)
		return
	}
	s.do(Kill{Attempt: *a})
}
