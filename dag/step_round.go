package dag

// StartOptions are what one start asks beyond its workflow's own definition.
type StartOptions struct {
	Params      map[string]string
	StartTasks  []int // none: the whole workflow
	Scope       Scope // of StartTasks; empty is downstream
	DryRun      bool
	WorkerGroup string
	Priority    Priority
	OnFailure   OnFailure // empty: the definition's own
	Kept        []Kept    // of an instance that this one runs again; those out of scope count for nothing
}

// NewInstance returns an instance of plan in the state submitted; Begin starts it.
func NewInstance(plan *Plan, id int64, o StartOptions) *Instance {
	in := &Instance{
		ID: id, State: InstanceSubmitted, Round: 1, plan: plan,
		OnFailure: o.OnFailure, DryRun: o.DryRun, Params: o.Params,
		WorkerGroup: o.WorkerGroup, Priority: o.Priority,
		Tasks: make([]TaskInstance, len(plan.Definition.Tasks)),
	}
	if in.OnFailure == "" {
		in.OnFailure = plan.Definition.OnFailure
	}
	if in.OnFailure == "" {
		in.OnFailure = OnFailureContinue
	}
	scope := plan.Select(o.StartTasks, o.Scope)
	for i := range in.Tasks {
		if scope[i] {
			in.Tasks[i].State, in.Tasks[i].Round = TaskWaiting, 1
		}
	}
	for _, k := range o.Kept {
		if scope[k.Task] {
			in.Tasks[k.Task] = TaskInstance{State: k.State, Reason: k.Reason, Round: 1, Outputs: k.Outputs, FinishedAt: k.FinishedAt}
		}
	}
	in.recount()
	return in
}

// recover opens a round for what failed, was killed, or never ran because of that.
func (s *step) recover(by string) string {
	in := s.in
	switch in.State {
	case InstanceSuccess:
		return ResultNothingToRecover
	case InstanceStopped, InstanceFailed:
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused,
		InstanceStopping, InstanceQuarantined:
		return ResultNotRecoverable
	}
	s.again(by, nil, func(i int) bool { return in.broken(i) || in.undone(i) })
	return ResultApplied
}

// forceSuccess declares tasks successful. Where the instance has ended it opens a round,
// in which what they had kept from running runs; other failures stay as they are.
func (s *step) forceSuccess(c Control) string {
	in := s.in
	switch in.State {
	case InstanceStopped, InstanceFailed:
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused,
		InstanceStopping, InstanceSuccess, InstanceQuarantined:
		return s.eachTask(c, s.force)
	}
	var forced []int
	for _, i := range c.Tasks {
		if s.task(i) == nil {
			return ResultNoSuchTask
		}
		if !in.done(i) {
			forced = append(forced, i)
		}
	}
	if len(forced) == 0 {
		return ResultAlready
	}
	below := in.plan.Select(forced, ScopeDownstream)
	s.again(c.By, forced, func(i int) bool { return below[i] && in.broken(i) })
	return ResultApplied
}

// rerun opens a round for chosen tasks of a finished instance.
func (s *step) rerun(c Control) string {
	in := s.in
	switch in.State {
	case InstanceStopped, InstanceFailed, InstanceSuccess:
	case InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused,
		InstanceStopping, InstanceQuarantined:
		return ResultNotFinished
	}
	for _, i := range c.Tasks {
		if s.task(i) == nil {
			return ResultNoSuchTask
		}
	}
	chosen := in.plan.Select(c.Tasks, c.Scope)
	s.beginAnew(chosen, -1)
	s.again(c.By, nil, func(i int) bool { return chosen[i] })
	return ResultApplied
}

// beginAnew makes chosen tasks forget how far they had come, but for one of them.
func (s *step) beginAnew(chosen []bool, but int) {
	for i := range s.in.Tasks {
		if chosen[i] && i != but {
			t := &s.in.Tasks[i]
			t.Child, t.Iteration, t.Items = 0, 0, nil
		}
	}
}

// resets tells which tasks a new round takes up: those that reset names, those that were passed over
// below one that may now end otherwise, and those that undo others or come last.
func (in *Instance) resets(forced []int, reset func(i int) bool) []bool {
	taken := make([]bool, len(in.Tasks))
	changes := make([]bool, len(in.Tasks))
	for _, i := range forced {
		changes[i] = true
	}
	for _, i := range in.plan.Order {
		t := &in.Tasks[i]
		if t.State == "" || changes[i] {
			continue
		}
		taken[i] = in.plan.Definition.Tasks[i].phase() != phaseWork || reset(i)
		for _, n := range in.plan.Pred[i] {
			taken[i] = taken[i] || changes[n] && t.passedOver()
		}
		changes[i] = taken[i]
	}
	return taken
}

// again opens a round: tasks that reset takes wait once more, with a fresh budget of
// retries; forced ones count as successful; the others stay as they ended. Numbers of
// attempts go on.
func (s *step) again(by string, forced []int, reset func(i int) bool) {
	in := s.in
	resets := in.resets(forced, reset)
	s.fx.NewRound = true
	in.Round++
	for _, i := range forced {
		in.Tasks[i] = TaskInstance{State: TaskForcedSuccess, Round: in.Round, Attempts: in.Tasks[i].Attempts, FinishedAt: s.now}
		s.touch(i)
	}
	for i := range in.Tasks {
		if t := &in.Tasks[i]; resets[i] {
			iteration, outputs := t.iterationKept()
			items := t.itemsKept()
			again := t.Reason == ReasonChildAgain
			*t = TaskInstance{State: TaskWaiting, Round: in.Round, Attempts: t.Attempts, Child: t.childKept()}
			t.Iteration, t.Outputs, t.Items = iteration, outputs, items
			if again {
				t.Reason = ReasonChildAgain
			}
			for k := range items {
				s.touchItem(i, k)
			}
			s.touch(i)
		}
	}
	in.recount()
	if in.Limited {
		in.FinishedAt = 0
		s.enterInstance(InstanceSerialWait, "", by)
	} else {
		s.run(by)
	}
	for _, i := range forced {
		s.tellOf(i, 0, by)
	}
	if !in.Limited {
		s.startRoots(false) // what stays failed still fails what waits for it
	}
}

// recount derives the counters from the rows.
func (in *Instance) recount() {
	in.unfinished, in.active = [phases]int{}, 0
	for i := range in.Tasks {
		t := &in.Tasks[i]
		t.needs = needs{}
		if t.State == "" {
			continue
		}
		for _, n := range in.plan.Pred[i] {
			if in.Tasks[n].State != "" {
				t.needs.add(in.endFor(n, i))
			}
		}
		if !t.State.Final() {
			in.unfinished[in.plan.Definition.Tasks[i].phase()]++
		}
		if t.Attempt.Number != 0 && t.Attempt.Worker != "" {
			in.active++
		}
	}
}
