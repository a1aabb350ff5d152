package dag

// compensateSuffix ends the name of a task that undoes another. No name that people give has a colon.
const compensateSuffix = ":compensate"

// phase is the part of an instance's round in which a task runs.
type phase uint8

const (
	phaseWork    phase = iota // the tasks themselves
	phaseUndo                 // where they failed: what undoes those that succeeded
	phaseFinally              // what comes last
)

const phases = int(phaseFinally) + 1

func (t *Task) phase() phase {
	switch {
	case t.Compensates > 0:
		return phaseUndo
	case t.Finally:
		return phaseFinally
	default:
		return phaseWork
	}
}

// left counts the tasks of the phases before p that have not ended.
func (in *Instance) left(p phase) int { return sum(in.unfinished[:p]) }

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// undoes returns the task that task i undoes.
func (in *Instance) undoes(i int) int { return in.plan.Definition.Tasks[i].Compensates - 1 }

// startUndo undoes what succeeded, the latest first and one at a time, once a failure has
// ended the work; where nothing failed, or nothing was done, it passes the undoing over.
func (s *step) startUndo() {
	in := s.in
	if in.unfinished[phaseWork] > 0 || in.unfinished[phaseUndo] == 0 {
		return
	}
	wanted := in.OnFailure == OnFailureCompensate && in.brokenWork()
	next := -1
	for _, i := range in.plan.undo {
		t := &in.Tasks[i]
		switch {
		case t.State == "" || t.State.Final():
		case t.State != TaskWaiting:
			return // one is under way
		case !wanted || in.Tasks[in.undoes(i)].State != TaskSuccess || in.Tasks[in.undoes(i)].takenOver():
			s.passOver(i, ReasonNotNeeded)
			s.count(i)
		case next < 0 || in.Tasks[in.undoes(i)].FinishedAt >= in.Tasks[in.undoes(next)].FinishedAt:
			next = i // of two that ended together, the one further down the graph
		}
	}
	if next >= 0 && s.activate(next) {
		s.spread(next)
	}
}

// brokenWork says that the tasks themselves did not come out well.
func (in *Instance) brokenWork() bool {
	for i := range in.Tasks {
		if in.plan.Definition.Tasks[i].phase() == phaseWork && in.broken(i) {
			return true
		}
	}
	return false
}

// broken says that a task's end fails its instance.
func (in *Instance) broken(i int) bool {
	return in.Tasks[i].State != "" && !in.done(i) && !in.handled(i)
}

// undone says that task i succeeded and was then undone.
func (in *Instance) undone(i int) bool {
	for _, n := range in.plan.Succ[i] {
		if in.plan.Definition.Tasks[n].Compensates == i+1 {
			return in.Tasks[n].State == TaskSuccess || in.Tasks[n].State == TaskForcedSuccess
		}
	}
	return false
}

// undoing tells how the undoing went: whether there was any, and whether all of it came out well.
func (in *Instance) undoing() (any, well bool) {
	well = true
	for _, i := range in.plan.undo {
		switch t := &in.Tasks[i]; {
		case t.State == "" || t.passedOver():
		case in.done(i):
			any = true
		default:
			any, well = true, false
		}
	}
	return any, well
}
