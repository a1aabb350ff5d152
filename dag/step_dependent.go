package dag

// Decided is what a dependent task's wait has come to.
type Decided struct {
	Task, Number int
	Success      bool
	Message      string            // why it failed
	Outputs      map[string]string // of the runs that it waited for; the task keeps those that it declares
}

func (Decided) input() {}

// dependent says that a task waits for runs of other workflows.
func (s *step) dependent(i int) bool { return s.in.plan.Definition.Tasks[i].Type == TypeDependent }

// startDependent starts a dependent task: somebody who can read other instances answers with Decided. A
// dry run waits for nobody; ended says so.
func (s *step) startDependent(i int) (ended bool) {
	t := &s.in.Tasks[i]
	s.attemptHere(i)
	s.enter(i, TaskRunning, "")
	if s.in.DryRun {
		s.endAttempt(i, AttemptSuccess, "")
		s.enter(i, TaskSuccess, "")
		s.tell(i, "")
		return true
	}
	s.armAttempt(i)
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.tell(i, "")
	return false
}

// decided ends the wait of a dependent task.
func (s *step) decided(ev Decided) {
	t := s.task(ev.Task)
	if t == nil || s.in.State.Final() || t.State != TaskRunning || !s.dependent(ev.Task) || t.Attempt.Number != ev.Number {
		s.fx.Stale = true
		return
	}
	if !ev.Success {
		t.Attempt.Message = ev.Message
		s.endAttempt(ev.Task, AttemptFailed, ReasonDependencyFailed)
		s.fail(ev.Task, ReasonDependencyFailed, ev.Message)
		return
	}
	outputs := s.declared(ev.Task, ev.Outputs)
	t.Attempt.Outputs = outputs
	s.endAttempt(ev.Task, AttemptSuccess, "")
	s.succeed(ev.Task, outputs)
}
