package dag

import (
	"fmt"
	"reflect"
	"slices"

	"pgregory.net/rapid"
)

// auditor sees an instance only through its rows and effects, as a store, a dispatcher, a
// timer wheel and the workers would, and recomputes slowly what Step keeps in counters.
type auditor struct {
	t        *rapid.T
	plan     *Plan
	in       *Instance
	now      Millis
	queue    map[int]bool       // what the dispatcher holds
	timers   map[Timer]Millis   // what the wheel holds
	attempts map[[2]int]Attempt // every attempt row, by task and number
	sent     map[string]bool    // tokens that were dispatched
	keys     map[string]string  // by token: the cache key when it was
	killed   map[string]bool    // tokens whose worker was told to end them
	children map[int64]*child   // every child instance, by its id
	readyAt  map[int]Millis     // per task: when it was delayed, or offered last
	dueAt    map[int]Millis     // per task: when its next attempt may come, a retry or an iteration
	retries  map[int]int        // per task: retries of this round, counted from attempts
	rounds   map[[2]int]*tally  // per task and round
	seq      int64
	began    Millis // of this round
	stopped  bool   // somebody stopped this round
	overTime bool   // this round ran over its timeout
}

// tally counts attempts of one task in one round by how they ended.
type tally struct{ attempts, returned, success int }

func newAuditor(t *rapid.T, plan *Plan, in *Instance) *auditor {
	return &auditor{
		t: t, plan: plan, in: in, now: storyStart, queue: map[int]bool{}, timers: map[Timer]Millis{},
		attempts: map[[2]int]Attempt{}, sent: map[string]bool{}, keys: map[string]string{}, killed: map[string]bool{},
		children: map[int64]*child{}, dueAt: map[int]Millis{}, readyAt: map[int]Millis{}, retries: map[int]int{}, rounds: map[[2]int]*tally{},
	}
}

func (a *auditor) fail(format string, args ...any) {
	a.t.Helper()
	a.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), a.dump())
}

func (a *auditor) dump() string {
	text := fmt.Sprintf("instance %s %s round %d at %d\n", a.in.State, a.in.Reason, a.in.Round, a.now)
	for i, t := range a.in.Tasks {
		def := &a.plan.Definition.Tasks[i]
		text += fmt.Sprintf("  %d %s %s round %d attempts %d retries %d lost %d next %d deadline %d outputs %v\n    %s needs %v join %q when %q finally %v %+v %+v %+v %+v\n", i, t.State, t.Reason,
			t.Round, t.Attempts, t.Retries, t.Lost, t.NextAt, t.Attempt.Deadline, t.Outputs, def.Type, a.plan.Pred[i], def.Join, def.When, def.Finally, def.Retry, def.Repeat, def.Timeout, def.Spec)
	}
	return text
}

// step gives one input to the instance and to a twin that was rebuilt from its rows.
func (a *auditor) step(ev Input) Effects {
	before := snapshot(a.in)
	twin := copyOf(a.t, a.plan, a.in)
	fx := a.in.Step(ev, a.now)
	other := twin.Step(ev, a.now)
	if !reflect.DeepEqual(fx, other) || !reflect.DeepEqual(a.in, twin) {
		a.fail("after %+v a restored instance goes on differently:\n%+v\n%+v", ev, fx, other)
	}
	a.checkWritten(ev, before, fx)
	a.checkTransitions(ev, before, fx)
	a.checkEvents(before, fx)
	for _, row := range fx.Attempts {
		a.checkAttempt(before, row)
	}
	a.checkCached(ev, before, fx)
	a.carryOut(fx)
	for _, row := range fx.Attempts {
		if row.KillReason != "" && row.Worker != "" && !a.killed[row.Token] {
			a.fail("nobody told the worker to end attempt %+v", row)
		}
	}
	if c, ok := ev.(Control); ok {
		a.checkControl(c, before, fx)
	}
	a.checkRest(before, fx)
	a.checkWhole()
	return fx
}

// snapshot copies the rows of an instance.
func snapshot(in *Instance) *Instance {
	c := *in
	c.Tasks = slices.Clone(in.Tasks)
	return &c
}

// row is a task without what is not in its row.
func row(t TaskInstance) TaskInstance {
	t.needs, t.Attempt, t.Missed = needs{}, Attempt{}, Attempt{}
	return t
}

// checkWritten: what changed is named in the effects, so that a store writes it.
func (a *auditor) checkWritten(ev Input, before *Instance, fx Effects) {
	if fx.Stale && (fx.Changed || len(fx.Actions) > 0 || len(fx.Applied) > 0) {
		a.fail("stale input %+v did something: %+v", ev, fx)
	}
	if !fx.Changed && (!reflect.DeepEqual(before.Tasks, a.in.Tasks) || before.State != a.in.State || len(fx.Events)+len(fx.Tasks)+len(fx.Attempts) > 0) {
		a.fail("input %+v changed something and doesn't say so: %+v", ev, fx)
	}
	written := map[int]bool{}
	for _, i := range fx.Tasks {
		written[i] = true
	}
	latest := map[int]Attempt{}
	for _, r := range fx.Attempts {
		latest[r.Task] = r
	}
	_, begin := ev.(Begin)
	begin = begin && a.in.Round == 1
	for i := range a.in.Tasks {
		was, is := before.Tasks[i], a.in.Tasks[i]
		if !written[i] && (!reflect.DeepEqual(row(was), row(is)) || begin && !fx.Stale && is.State != "") {
			a.fail("input %+v changed task %d without naming it", ev, i)
		}
		if is.Attempt.Number != 0 && !reflect.DeepEqual(was.Attempt, is.Attempt) && !reflect.DeepEqual(latest[i], is.Attempt) {
			a.fail("input %+v changed the live attempt of task %d without naming it", ev, i)
		}
	}
}

// checkTransitions: I22 (finals never change within their round), I23 (only listed transitions).
func (a *auditor) checkTransitions(ev Input, before *Instance, fx Effects) {
	state := before.State
	for _, e := range fx.Events {
		if e.Code != EventInstance {
			continue
		}
		next := InstanceState(e.State)
		if !state.CanFollow(next) && !(state.CanFollowAgain(next) && a.in.Round == before.Round+1) {
			a.fail("%+v: instance went from %s to %s", ev, state, next)
		}
		state = next
	}
	if state != a.in.State {
		a.fail("%+v: instance is %s, its events end with %s", ev, a.in.State, state)
	}
	for i := range a.in.Tasks {
		was, is := before.Tasks[i], a.in.Tasks[i]
		a.checkReady(before, i)
		switch {
		case was.Round == is.Round && was.State.Final():
			if !reflect.DeepEqual(row(was), row(is)) {
				a.fail("%+v: final task %d changed", ev, i)
			}
		case was.Round == is.Round:
			if was.State != is.State && !was.State.CanFollow(is.State) && !refusedAtOnce(ev, i, was.State, is.State) {
				a.fail("%+v: task %d went from %s to %s", ev, i, was.State, is.State)
			}
			// I18, where the wait ends: the clock may be set back before the attempt starts.
			over := was.State == TaskRetryWait && (is.State == TaskReady || is.State == TaskRunning)
			if over && a.now < a.dueAt[i] {
				a.fail("retry %d of task %d is ready at %d, it is due at %d", a.retries[i], i, a.now, a.dueAt[i])
			}
		default:
			if is.Round != a.in.Round || !was.State.CanFollowAgain(TaskWaiting) || is.State != TaskWaiting && !TaskWaiting.CanFollow(is.State) {
				a.fail("%+v: task %d went from %s to %s in a new round", ev, i, was.State, is.State)
			}
			atOnce := a.plan.rules[i].branches != nil || is.Iteration > 1 || a.in.DryRun && a.plan.Definition.Tasks[i].Type == TypeApproval
			if is.Retries != 0 || is.Lost != 0 || len(is.Outputs) != 0 && !atOnce || is.Attempts < was.Attempts {
				a.fail("%+v: task %d was not reset", ev, i)
			}
		}
	}
	if a.in.Round != before.Round {
		a.began, a.stopped, a.overTime = a.now, false, false
		clear(a.retries)
		clear(a.dueAt)
	} else if before.StartedAt == 0 || before.State == InstanceSerialWait {
		a.began = a.now
	}
}

// checkEvents: I26 (seq gap-free), I19 for warnings and the instance's timeout.
func (a *auditor) checkEvents(before *Instance, fx Effects) {
	for _, e := range fx.Events {
		a.seq++
		if e.Seq != a.seq || e.At != a.now || e.Round != a.in.Round {
			a.fail("event %+v has seq %d, want %d", e, e.Seq, a.seq)
		}
		if e.Code == EventTaskTimeout {
			if after := a.plan.Definition.Tasks[e.Task].Timeout.After; a.now < before.Tasks[e.Task].StartedAt.Add(after) {
				a.fail("timeout of task %d was told too early", e.Task)
			}
		}
		if e.Code == EventQueueTimeout {
			a.checkQueueTimeout(before, e.Task, TimeoutFail)
		}
		if e.Code == EventWorkflowTimeout {
			if a.now < a.began.Add(a.plan.Definition.Timeout.After) {
				a.fail("timeout of the instance came too early")
			}
			a.overTime = a.overTime || a.plan.Definition.Timeout.Action != TimeoutWarn
		}
	}
	if a.in.Seq != a.seq {
		a.fail("seq is %d, want %d", a.in.Seq, a.seq)
	}
}

// checkAttempt: I13 (numbers without gap, bounded), I14 (needs first), I15, I17, I18, I19, I22, I23.
func (a *auditor) checkAttempt(before *Instance, r Attempt) {
	key := [2]int{r.Task, r.Number}
	old, known := a.attempts[key]
	a.attempts[key] = r
	round := a.rounds[[2]int{r.Task, r.Round}]
	if round == nil {
		round = &tally{}
		a.rounds[[2]int{r.Task, r.Round}] = round
	}
	def := &a.plan.Definition.Tasks[r.Task]
	switch {
	case !known:
		round.attempts++
		a.checkNewAttempt(before, r, round)
	case old.State.Final():
		a.fail("attempt %v was final as %s and is written again as %s", key, old.State, r.State)
	case old.State != r.State && !old.State.CanFollow(r.State):
		a.fail("attempt %v went from %s to %s", key, old.State, r.State)
	case old.Token != r.Token || old.Worker != r.Worker || old.Round != r.Round || old.DispatchedAt != r.DispatchedAt:
		a.fail("attempt %v changed who it is", key)
	}
	if r.StartedAt != 0 && r.StartedAt < r.DispatchedAt || r.State.Final() && r.FinishedAt < max(r.StartedAt, r.DispatchedAt) {
		a.fail("attempt %v has moments out of order: %+v", key, r)
	}
	if r.StartedAt != old.StartedAt && r.StartedAt > max(a.now, r.DispatchedAt) {
		a.fail("attempt %v started in the future: %+v", key, r)
	}
	if r.Reason == ReasonTimeout || r.KillReason == ReasonTimeout && old.KillReason == "" {
		if def.Timeout.After == 0 || def.Timeout.Action == TimeoutWarn || r.StartedAt == 0 || a.now < r.StartedAt.Add(def.Timeout.After) && old.KillReason != ReasonTimeout {
			a.fail("attempt %v was timed out at %d: %+v", key, a.now, r)
		}
	}
	if !r.State.Final() {
		return
	}
	if r.State == AttemptSuccess {
		round.success++
		a.checkLoop(r)
		if !reflect.DeepEqual(a.in.Tasks[r.Task].Outputs, r.Outputs) && a.in.Tasks[r.Task].State == TaskSuccess {
			a.fail("task %d has outputs %v, its attempt %v", r.Task, a.in.Tasks[r.Task].Outputs, r.Outputs)
		}
	}
	if r.State == AttemptReturned {
		round.returned++
	}
	a.checkPolicy(before, r)
	// What follows this attempt in the same round: a retry (counted here) or nothing.
	if a.in.Tasks[r.Task].State == TaskRetryWait && r.State != AttemptSuccess {
		a.retries[r.Task]++
		a.dueAt[r.Task] = a.now.Add(slowDelay(def, a.retries[r.Task]))
		if at, want := a.in.Tasks[r.Task].NextAt, a.now.Add(slowDelay(def, a.retries[r.Task])); at != want {
			a.fail("retry %d of task %d is at %d, want %d", a.retries[r.Task], r.Task, at, want)
		}
		if a.retries[r.Task] > slowRetries(def) {
			a.fail("task %d has retry %d of %d", r.Task, a.retries[r.Task], slowRetries(def))
		}
	}
	if round.success > max(1, def.Repeat.Max) {
		a.fail("task %d succeeded twice in round %d", r.Task, r.Round)
	}
}

func (a *auditor) checkNewAttempt(before *Instance, r Attempt, round *tally) {
	def := &a.plan.Definition.Tasks[r.Task]
	was := before.Tasks[r.Task]
	if r.Number > 1 {
		if last, ok := a.attempts[[2]int{r.Task, r.Number - 1}]; !ok || !last.State.Final() {
			a.fail("attempt %d of task %d without a final one before it", r.Number, r.Task)
		}
	}
	if r.Number < 1 || r.Round != a.in.Round || def.Disabled || a.in.State != InstanceRunning && !a.in.State.Final() { // an attempt may end with its instance in the same step
		a.fail("new attempt %+v while the instance is %s", r, a.in.State)
	}
	here := def.Type == TypeWait || def.Type == TypeSwitch || def.Type == TypeConditions || def.Type == TypeSubWorkflow || def.Type == TypeDynamic || def.Type == TypeDependent || def.Type == TypeApproval
	if r.CachedFrom == 0 && here != (r.Worker == "") || r.Worker != "" && (was.State != TaskReady || before.State != InstanceRunning) {
		a.fail("new attempt %+v of task that was %s, instance %s", r, was.State, before.State)
	}
	if round.attempts > max(1, def.Repeat.Max)*(1+slowRetries(def)+1)+round.returned {
		a.fail("task %d has %d attempts in round %d", r.Task, round.attempts, r.Round)
	}
	if fate := slowFate(a.plan, a.in, r.Task); fate != "run" {
		a.fail("task %d started, its rule says %s", r.Task, fate)
	}
	if def.Finally || def.Compensates > 0 {
		return
	}
	for i := range a.in.Tasks {
		// One that stayed failed from an earlier round ends nothing, nor does what it blocks.
		ends := before.Tasks[i].Round == a.in.Round && (before.Tasks[i].State == TaskFailed || before.Tasks[i].State == TaskKilled) &&
			!slowDone(a.plan, before, i) && !slowHandled(a.plan, before, i) && !a.plan.Definition.Tasks[i].Finally && a.plan.Definition.Tasks[i].Compensates == 0
		if (a.in.OnFailure == OnFailureEnd || a.in.OnFailure == OnFailureCompensate) && ends {
			a.fail("task %d started after task %d was %s, with on_failure end", r.Task, i, before.Tasks[i].State)
		}
	}
}

// carryOut does what the effects ask, as a master would.
func (a *auditor) carryOut(fx Effects) {
	a.carryOutChildren(fx)
	for _, action := range fx.Actions {
		switch action := action.(type) {
		case Enqueue:
			a.queue[action.Task] = true
		case Dequeue:
			delete(a.queue, action.Task)
		case Dispatch:
			delete(a.queue, action.Attempt.Task)
			a.sent[action.Attempt.Token] = true
		case Kill:
			a.killed[action.Attempt.Token] = true
		case Arm:
			a.timers[action.Timer] = action.At
		case Disarm:
			delete(a.timers, action.Timer)
		}
	}
}

// checkControl: every wish is answered, and only "applied" does something.
func (a *auditor) checkControl(c Control, before *Instance, fx Effects) {
	if len(fx.Applied) != 1 || fx.Applied[0].ID != c.ID || fx.Applied[0].Result == "" {
		a.fail("%+v was answered by %+v", c, fx.Applied)
	}
	if applied := fx.Applied[0].Result == ResultApplied; applied != fx.Changed {
		a.fail("%+v was answered by %+v, changed %v", c, fx.Applied, fx.Changed)
	} else if applied && c.Verb == VerbStop {
		a.stopped = true
	}
	if c.Verb == VerbPause && fx.Applied[0].Result == ResultApplied && before.State != InstanceRunning {
		a.fail("paused from %s", before.State)
	}
}

// checkRest: a paused or final instance is given up, and only such a one.
func (a *auditor) checkRest(before *Instance, fx Effects) {
	var rest, finish bool
	for _, action := range fx.Actions {
		_, r := action.(Rest)
		_, f := action.(Finish)
		rest, finish = rest || r, finish || f
	}
	touched := fx.Changed || len(fx.Applied) > 0
	if rest != (touched && a.in.State == InstancePaused) || finish != (touched && a.in.State.Final()) {
		a.fail("instance went from %s to %s with rest %v, finish %v", before.State, a.in.State, rest, finish)
	}
}

// checkWhole: the views of dispatcher, wheel and workers agree with the rows; counters
// equal a recount; I24 (a final instance has the state that its tasks give).
func (a *auditor) checkWhole() {
	if a.in.State == InstanceSubmitted {
		return
	}
	open, active := 0, 0
	for i, t := range a.in.Tasks {
		if t.State == "" {
			continue
		}
		a.checkNeeds(i)
		a.checkGathered(i)
		if !t.State.Final() {
			open++
		}
		wait := a.plan.Definition.Tasks[i].Type == TypeWait || a.plan.Definition.Tasks[i].Type == TypeDependent || a.plan.Definition.Tasks[i].Type == TypeApproval || a.plan.rules[i].branches != nil
		parent := a.plan.Definition.Tasks[i].Type == TypeSubWorkflow || a.plan.Definition.Tasks[i].Type == TypeDynamic
		if t.State.Live() && !wait && !parent {
			active++
			if !a.sent[t.Attempt.Token] || (t.State == TaskKilling) != a.killed[t.Attempt.Token] {
				a.fail("task %d is %s; dispatched %v, told to end %v", i, t.State, a.sent[t.Attempt.Token], a.killed[t.Attempt.Token])
			}
		}
		if queued := offered(&t) && a.in.State == InstanceRunning; queued != a.queue[i] || queued && wait {
			a.fail("task %d is %s, instance %s, queued %v", i, t.State, a.in.State, a.queue[i])
		}
	}
	if open != a.in.open() || active != a.in.active {
		a.fail("counted open %d, active %d; kept %d, %d", open, active, a.in.open(), a.in.active)
	}
	if a.in.State.Final() != (open == 0) && a.in.State != InstanceSerialWait || a.in.State == InstancePaused && active > 0 || a.in.State == InstancePausing && active == 0 {
		a.fail("instance is %s with %d open and %d active tasks", a.in.State, open, active)
	}
	if a.in.State.Final() {
		if want := a.slowOutcome(); want != a.in.State {
			a.fail("instance is %s, its tasks say %s", a.in.State, want)
		}
	}
	a.checkTimers()
	a.checkChildren()
}

// checkNeeds: a waiting task waits for something that can still come; one that was left out,
// or could not run, was so by its rule.
func (a *auditor) checkNeeds(i int) {
	t := &a.in.Tasks[i]
	fate := slowFate(a.plan, a.in, i)
	switch {
	case t.State == TaskWaiting && fate != "wait" && a.in.State != InstanceSerialWait && (a.plan.Definition.Tasks[i].Compensates == 0 || !a.undoing()):
		a.fail("task %d waits, its rule says %s", i, fate)
	case t.Round != a.in.Round:
	case t.State == TaskUpstreamFailed && fate != "block":
		a.fail("task %d is upstream_failed, its rule says %s", i, fate)
	case t.State == TaskSkipped && t.Reason != "" && fate != "pass" && (t.Reason != ReasonWhen && t.Reason != ReasonJoin || fate != "run"):
		a.fail("task %d was passed over because of %s, its rule says %s", i, t.Reason, fate)
	case t.State.Final() && t.Attempt.Number != 0:
		a.fail("task %d is %s with a live attempt", i, t.State)
	}
}

// undoing says that a task that undoes another is under way.
func (a *auditor) undoing() bool {
	for i, t := range a.in.Tasks {
		if a.plan.Definition.Tasks[i].Compensates > 0 && t.State != "" && t.State != TaskWaiting && !t.State.Final() {
			return true
		}
	}
	return false
}

// checkTimers: exactly the timers that the rows call for are armed.
func (a *auditor) checkTimers() {
	due := map[Timer]Millis{}
	for _, action := range a.in.Pending(a.now) {
		if arm, ok := action.(Arm); ok && arm.Timer.Kind != TimerStop {
			due[arm.Timer] = arm.At
		}
	}
	for timer, at := range a.timers {
		if timer.Kind == TimerStop {
			if a.in.State != InstancePausing && a.in.State != InstanceStopping {
				a.fail("overdue timer is armed while %s", a.in.State)
			}
			continue
		}
		if due[timer] != at {
			a.fail("timer %+v is armed at %d, rows say %d", timer, at, due[timer])
		}
		delete(due, timer)
	}
	if len(due) > 0 {
		a.fail("timers %v are not armed", due)
	}
}
