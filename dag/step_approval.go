package dag

import "slices"

// Decision is what one person said to one attempt of an approval task. Decisions are facts: there is one
// of each person for each attempt, and it never changes.
type Decision struct {
	Task, Number int
	By           string
	Approve      bool
	Reason       string            // in that person's words
	Values       map[string]string // of the form's fields; of an approval alone
	At           Millis
}

// approval returns the spec of an approval task, nil of any other.
func (in *Instance) approval(i int) *ApprovalSpec {
	spec, _ := in.plan.Definition.Tasks[i].Spec.(*ApprovalSpec)
	return spec
}

// startApproval starts an approval task: people answer with Control. A dry run asks nobody; ended says so.
func (s *step) startApproval(i int) (ended bool) {
	t := &s.in.Tasks[i]
	s.attemptHere(i)
	s.enter(i, TaskRunning, "")
	if s.in.DryRun {
		t.Attempt.Outputs = s.in.filledIn(i, nil)
		outputs := t.Attempt.Outputs
		s.endAttempt(i, AttemptSuccess, "")
		s.enter(i, TaskSuccess, "")
		t.Outputs = outputs
		s.tell(i, "")
		return true
	}
	if t.NextAt = s.in.approval(i).end(s.now); t.NextAt != 0 {
		s.do(Arm{Timer: Timer{Kind: TimerWait, Task: i, Number: t.Attempts}, At: t.NextAt})
	}
	s.armAttempt(i)
	s.fx.Attempts = append(s.fx.Attempts, t.Attempt)
	s.tell(i, "")
	return false
}

// decide takes what somebody says to an approval task. It counts while that very attempt waits, also while the
// instance is paused, and once for each person.
func (s *step) decide(c Control) string {
	if len(c.Tasks) != 1 || s.task(c.Tasks[0]) == nil {
		return ResultNoSuchTask
	}
	i := c.Tasks[0]
	t := s.task(i)
	if s.in.State.Final() || s.in.approval(i) == nil || t.State != TaskRunning || t.Attempt.Number != c.Decision.Number {
		return ResultNotWaiting
	}
	a := &t.Attempt
	if slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.By == c.By }) {
		return ResultAlready
	}
	d := c.Decision
	d.Task, d.By, d.Approve, d.At = i, c.By, c.Verb == VerbApprove, s.now
	if !d.Approve {
		d.Values = nil
	}
	a.Decisions = append(slices.Clip(a.Decisions), d) // effects hold copies of the attempt
	s.fx.Decisions = append(s.fx.Decisions, d)
	code := EventRejected
	if d.Approve {
		code = EventApproved
	}
	s.event(Event{Code: code, Task: i, Attempt: a.Number, Message: d.Reason, By: d.By})
	switch {
	case !d.Approve:
		s.rejected(i, ReasonRejected, d.Reason)
	case len(a.Decisions) >= s.in.approval(i).Needed():
		s.approved(i, "")
	default:
		s.fx.Attempts = append(s.fx.Attempts, *a)
	}
	return ResultApplied
}

// approved ends an approval well, with what was filled in.
func (s *step) approved(i int, reason Reason) {
	a := &s.in.Tasks[i].Attempt
	a.Outputs = s.in.filledIn(i, a.Decisions)
	outputs := a.Outputs
	s.dropExpiry(i)
	s.endAttempt(i, AttemptSuccess, reason)
	s.succeed(i, outputs)
}

// rejected ends an approval for good: nobody is asked again.
func (s *step) rejected(i int, reason Reason, message string) {
	s.in.Tasks[i].Attempt.Message = message
	s.dropExpiry(i)
	s.endAttempt(i, AttemptFailed, reason)
	s.failForGood(i, reason, message)
}

// expired carries out what the spec wants where nobody answered in time.
func (s *step) expired(i int) {
	s.in.Tasks[i].NextAt = 0 // it has fired
	switch s.in.approval(i).OnExpiry {
	case ExpiryApprove:
		s.approved(i, ReasonExpired)
	case ExpiryReject:
		s.rejected(i, ReasonExpired, "")
	default:
		s.endAttempt(i, AttemptFailed, ReasonExpired)
		s.fail(i, ReasonExpired, "")
	}
}

// dropExpiry drops the timer of an approval that ends before it expires.
func (s *step) dropExpiry(i int) {
	if t := &s.in.Tasks[i]; t.NextAt != 0 {
		s.do(Disarm{Timer: Timer{Kind: TimerWait, Task: i, Number: t.Attempts}})
	}
}

// filledIn are the outputs of an approval: the form's defaults, under what was filled in, of which the later counts.
func (in *Instance) filledIn(i int, decisions []Decision) map[string]string {
	var out map[string]string
	put := func(name, value string) {
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = value
	}
	for _, p := range in.approval(i).Fields() {
		if p.Default != nil {
			put(p.Name, *p.Default)
		}
		for k := range decisions {
			if value, ok := decisions[k].Values[p.Name]; ok {
				put(p.Name, value)
			}
		}
	}
	return out
}

// ApprovalMessage is what an approval task asks, with the values that its text refers to put in. Where one
// is missing the text stands as it is.
func (in *Instance) ApprovalMessage(task int) string {
	spec := in.approval(task)
	if spec == nil {
		return ""
	}
	r := resolver{in: in, task: task, t: &in.plan.Definition.Tasks[task]}
	if err := r.parameters(in.Facts); err != nil {
		return spec.Message
	}
	text, err := expand(spec.Message, r.lookup)
	if err != nil {
		return spec.Message
	}
	return text
}
