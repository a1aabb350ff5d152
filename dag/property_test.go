package dag

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRandomRunsKeepTheRules plays random plans with random inputs, also stale, repeated,
// early and senseless ones, with crashes in between, and checks every rule after each
// (requirements I13 to I15, I17 to I19, I21 to I24, I26). In the end all is delivered,
// and the instance must end by itself.
func TestRandomRunsKeepTheRules(t *testing.T) {
	playMany(t, false)
}

// TestRandomRunsWithStopKeepTheRules is the same with stop and forced stop among the
// inputs, apart from the other, because a stop would end a run that is stuck.
func TestRandomRunsWithStopKeepTheRules(t *testing.T) {
	playMany(t, true)
}

// playMany runs rapid's number of checks (100, or what -rapid.checks says) a few times.
func playMany(t *testing.T, stops bool) {
	t.Parallel()
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := newWorld(t, stops)
				if die(t, "after another", 6) == 0 {
					w = w.again()
				}
				w.play()
				w.deliver()
			})
		})
	}
}

// maxSteps bounds one random run; maxDelivery the time in which a run must end when
// everything is delivered: far more than any plan of the generator needs.
const (
	maxSteps    = 120
	maxDelivery = 2000
)

// world drives one instance at random.
type world struct {
	*auditor
	stops  bool
	kids   int64 // ids of children given out
	tokens int
	wishes int64
}

func newWorld(t *rapid.T, stops bool) *world {
	plan := drawPlan(t)
	n := len(plan.Order)
	o := StartOptions{
		DryRun:    rapid.Bool().Draw(t, "dry_run"),
		OnFailure: draw(t, "on_failure", []OnFailure{"", OnFailureContinue, OnFailureEnd, OnFailureCompensate, OnFailureCompensate}),
	}
	if die(t, "scoped", 3) == 0 {
		o.StartTasks = rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 3).Draw(t, "start")
		o.Scope = draw(t, "scope", []Scope{"", ScopeOnly, ScopeUpstream, ScopeDownstream})
	}
	in := NewInstance(plan, 7, o)
	in.Limited = die(t, "limited", 4) == 0
	return &world{auditor: newAuditor(t, plan, in), stops: stops}
}

// again plays an instance to its end, and gives one that runs it again and takes over what it may.
func (w *world) again() *world {
	w.step(Begin{})
	w.deliver()
	var from []int
	for i := range w.in.Tasks {
		if w.in.Tasks[i].State != "" && die(w.t, "from", 12) == 0 {
			from = append(from, i)
		}
	}
	if len(w.in.PlanRerun(nil, from)) == 0 {
		return newWorld(w.t, w.stops) // it was of nothing but what undoes a task
	}
	in := rerunOf(w.in, nil, from)
	in.Limited = w.in.Limited
	return &world{auditor: newAuditor(w.t, w.plan, in), stops: w.stops}
}

// die draws a number from 0 to most, all alike: rapid itself prefers small ones, which
// would leave most rules untried. A small draw still stands for 0, for shrinking.
func die(t *rapid.T, label string, most int) int {
	x := rapid.Uint64().Draw(t, label)
	x ^= x << 29
	x *= 0x9e3779b97f4a7c15
	return int((x ^ x>>32) % uint64(most+1))
}

// draw draws one of a list.
func draw[E any](t *rapid.T, label string, list []E) E { return list[die(t, label, len(list)-1)] }

// drawPlan draws a plan whose edges all go from lower to higher indexes.
func drawPlan(t *rapid.T) *Plan {
	n := 1 + die(t, "tasks", 30-1)
	def := &Definition{Name: "random", Timeout: drawTimeout(t, 4)}
	density := 1 + die(t, "density", 8-1)
	for i := range n {
		task := Task{Name: fmt.Sprint("t", i), Type: "shell"}
		for j := range i {
			if die(t, "edge", density) == 0 && len(task.Needs) < 4 {
				task.Needs = append(task.Needs, fmt.Sprint("t", j))
			}
		}
		switch die(t, "kind", 13) {
		case 0, 1:
			task.Type, task.Spec = TypeWait, napSpec{time.Duration(die(t, "nap", 40)) * time.Second}
		case 2:
			task.Disabled = true
		case 5, 6:
			task.Type, task.Spec, task.Outputs = TypeSubWorkflow, &SubWorkflowSpec{Workflow: "other"}, []string{"n"}
		case 8:
			task.Type, task.Outputs = TypeApproval, []string{"n"}
			task.Spec = &ApprovalSpec{
				Quorum: 1 + die(t, "quorum", 2), Expires: Duration(die(t, "expires", 3)) * Duration(10*time.Second),
				OnExpiry: draw(t, "on expiry", []string{ExpiryFail, ExpiryApprove, ExpiryReject}), Form: drawnForm("n"),
			}
		case 7:
			task.Type, task.Spec, task.Outputs = TypeDependent, &DependentSpec{}, []string{"n"}
		case 12:
			task.Type, task.Outputs = TypeDynamic, []string{"n"}
			task.Spec = &DynamicSpec{Workflow: "other", Parallel: 1 + die(t, "parallel", 2), OnFailure: draw(t, "items", []string{"end", "continue"})}
		case 3, 4:
			task.AllowFailure = true
		}
		switch die(t, "retry", 3) {
		case 0:
			task.Retry = Retry{Times: 2, Delay: 3 * time.Second, Backoff: 2, MaxDelay: 5 * time.Second}
		case 1:
			task.Retry.Delays = []time.Duration{time.Second, 0, 7 * time.Second}
		}
		drawPolicy(t, &task)
		if repeatable(&task) && die(t, "repeats", 4) == 0 {
			task.Repeat = Repeat{Until: draw(t, "until", untils), Max: 1 + die(t, "max", 3), Delay: time.Duration(die(t, "again", 4)) * time.Second}
			task.Outputs = []string{"n"}
		}
		if task.Type == "shell" && task.Repeat.Max == 0 && die(t, "cached", 1) == 0 {
			task.Cache.MaxAge = time.Minute
		}
		task.Timeout = drawTimeout(t, 1)
		if die(t, "joins", 2) == 0 {
			task.Join = string(draw(t, "join", joinRules[:]))
		}
		if len(task.Needs) > 0 {
			drawRules(t, &task)
		}
		def.Tasks = append(def.Tasks, task)
	}
	drawBranches(t, def)
	for i := max(0, n-die(t, "last", 2)); i < n; i++ { // no ordinary task needs them: edges go upwards
		def.Tasks[i].Finally = true
	}
	for i := range n {
		if def.Tasks[i].Type == "shell" && !def.Tasks[i].Finally && die(t, "undo", 4) == 0 {
			def.Tasks = append(def.Tasks, undo(def, i))
		}
	}
	return planOf(def)
}

// drawPolicy gives a task rules about its own running now and then.
func drawPolicy(t *rapid.T, task *Task) {
	switch die(t, "retries", 9) {
	case 0:
		task.Retry.OnExitCodes = []CodeRange{{1, 3}}
	case 1:
		task.Retry.NotOnExitCodes = []CodeRange{{1, 1}, {70, 80}}
	case 2:
		task.Retry.When = "attempt < 2 || reason == 'timeout'"
	case 3:
		task.Retry.When = "nobody > exit_code" // can't be decided
	}
	task.Retry.Elsewhere = die(t, "elsewhere", 3) == 0
	if die(t, "delayed", 4) == 0 {
		task.Delay = time.Duration(1+die(t, "delay", 10)) * time.Second
	}
	if die(t, "queue timeout", 4) == 0 {
		task.QueueTimeout = drawTimeout(t, 0)
		task.QueueTimeout.After *= 10
	}
	if die(t, "on_lost", 3) == 0 {
		task.OnLost = OnLostFail
	}
}

// undo is the task that undoes task i.
func undo(def *Definition, i int) Task {
	of := &def.Tasks[i]
	return Task{Name: of.Name + compensateSuffix, Type: "shell", Needs: []string{of.Name}, Compensates: i + 1, Retry: of.Retry}
}

// drawRules gives a task with needs a condition now and then.
func drawRules(t *rapid.T, task *Task) {
	need := draw(t, "looks at", task.Needs)
	switch die(t, "rule", 11) {
	case 0:
		task.When = need + ".state == 'success'"
	case 1:
		task.Join = need + ".state in ['failed', 'skipped', 'upstream_failed']"
	case 2:
		task.When = "missing == 1" // can't be decided
	}
}

// drawBranches makes some tasks choose among those that need them.
func drawBranches(t *rapid.T, def *Definition) {
	for i := range def.Tasks {
		task := &def.Tasks[i]
		var below []string
		for k := range def.Tasks {
			if slices.Contains(def.Tasks[k].Needs, task.Name) {
				below = append(below, def.Tasks[k].Name)
			}
		}
		if task.Spec != nil || task.Repeat.Max > 0 || len(below) == 0 || die(t, "branches", 3) != 0 {
			continue
		}
		var cases []Case
		for _, name := range below {
			switch when := "false"; die(t, "branch", 3) {
			case 0: // in no branch
			case 1:
				cases = append(cases, Case{When: "true", Then: []string{name}})
			case 2:
				if len(task.Needs) > 0 {
					when = task.Needs[0] + ".state == 'failed'"
				}
				cases = append(cases, Case{When: when, Then: []string{name}})
			case 3:
				cases = append(cases, Case{When: "false", Then: below[:1+die(t, "then", len(below)-1)]})
			}
		}
		var other []string
		if die(t, "has else", 3) > 0 {
			other = append([]string{}, below[:die(t, "else", len(below))]...)
		}
		if cases == nil {
			cases = []Case{{When: "false"}}
		}
		task.Cache = Cache{}
		if len(task.Needs) > 0 && die(t, "looks up", 1) == 0 {
			task.Type, task.Spec = TypeConditions, &ConditionsSpec{Cases: cases, Else: other}
		} else {
			task.Type, task.Spec = TypeSwitch, &SwitchSpec{Cases: cases, Else: other}
		}
	}
}

func drawTimeout(t *rapid.T, rare int) Timeout {
	if die(t, "has timeout", rare) > 0 {
		return Timeout{}
	}
	return Timeout{
		After:  time.Duration(1+die(t, "after", 15*rare)) * time.Second,
		Action: draw(t, "action", []TimeoutAction{TimeoutWarn, TimeoutFail, TimeoutWarnAndFail}),
	}
}

// play makes random moves.
func (w *world) play() {
	if w.in.Limited && die(w.t, "full", 1) == 0 {
		w.step(Queue{})
	} else {
		w.step(Begin{})
	}
	for range die(w.t, "steps", maxSteps) {
		switch die(w.t, "move", 21) {
		case 20, 21:
			w.recall()
		case 0, 1, 2, 3, 4, 5:
			w.assign()
		case 6, 7, 8:
			w.report()
		case 9, 10:
			w.report()
			w.childEnds()
			w.decides()
			w.approves()
		case 11:
			w.lose()
			w.late()
		case 12, 13, 14:
			w.pass(time.Duration(die(w.t, "ms", 12000)) * time.Millisecond)
		case 15:
			w.nonsense()
			w.place()
		case 16, 17:
			w.control()
			w.childAgain()
		case 18:
			w.crash()
		case 19: // the clock is set back a little
			w.now = max(storyStart, w.now-Millis(die(w.t, "back", 3000)))
		}
	}
}

// pick draws one of the tasks that fit, or -1.
func (w *world) pick(label string, fits func(t *TaskInstance) bool) int {
	var list []int
	for i := range w.in.Tasks {
		if fits(&w.in.Tasks[i]) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return -1
	}
	return draw(w.t, label, list)
}

// place lets an instance begin that waits for its place.
func (w *world) place() (waited bool) {
	waited = w.in.State == InstanceSerialWait
	if waited {
		w.step(Begin{})
	}
	return waited
}

func (w *world) assign() {
	i := w.pick("assign", offered)
	if i >= 0 {
		w.give(i)
	}
}

// offered says that a task can be given to a worker.
func offered(t *TaskInstance) bool { return t.State == TaskReady && t.Reason != ReasonDelayed }

func (w *world) give(i int) {
	if w.plan.Parent(i) {
		w.launch(i)
		return
	}
	w.tokens++
	w.step(Assign{Task: i, Worker: "w1", Incarnation: "i1", Token: fmt.Sprint("token", w.tokens)})
}

// held says that a worker holds an attempt of t.
func held(t *TaskInstance) bool { return t.Attempt.Worker != "" }

func (w *world) report() {
	i := w.pick("report", held)
	if i < 0 {
		return
	}
	state := draw(w.t, "state", []AttemptState{
		AttemptRunning, AttemptRunning, AttemptSuccess, AttemptSuccess, AttemptSuccess, AttemptFailed, AttemptFailed, AttemptKilled, AttemptReturned,
	})
	a := w.in.Tasks[i].Attempt
	w.step(Report{
		Task: i, Number: a.Number, Token: a.Token, State: state, ExitCode: die(w.t, "code", 4),
		Reason:     drawReason(w.t, state),
		StartedAt:  w.now + Millis(die(w.t, "skew", 10000)-5000),
		FinishedAt: w.now + Millis(die(w.t, "skew", 10000)-5000),
		Outputs:    map[string]string{"n": fmt.Sprint(a.Number)},
	})
}

// drawReason is what a worker gives as the reason of a failure now and then.
func drawReason(t *rapid.T, state AttemptState) Reason {
	if state != AttemptFailed || die(t, "has a reason", 3) > 0 {
		return ""
	}
	return draw(t, "reason", append(lostReasons[:], ReasonSecret, ReasonSecret))
}

func (w *world) lose() {
	i := w.pick("lose", held)
	if i < 0 {
		return
	}
	a := w.in.Tasks[i].Attempt
	ev := Lost{Task: i, Number: a.Number, Token: a.Token, GiveUp: die(w.t, "give up", 5) == 0}
	w.step(ev)
	if t := &w.in.Tasks[i]; ev.GiveUp && (t.State != TaskFailed || t.Reason != ReasonUnanswered) {
		w.fail("task %d was given up and is %s %s", i, t.State, t.Reason)
	}
}

// late brings the success of an attempt that was called lost, now and then.
func (w *world) late() {
	i := w.pick("late", func(t *TaskInstance) bool { return t.Missed.Number != 0 && t.Iteration == 0 })
	if i < 0 || die(w.t, "comes", 1) == 0 {
		return
	}
	m := w.in.Tasks[i].Missed
	if fx := w.step(Report{Task: i, Number: m.Number, Token: m.Token, State: AttemptSuccess, Outputs: map[string]string{"n": fmt.Sprint(m.Number)}}); fx.Stale || w.in.Tasks[i].State != TaskSuccess {
		w.fail("the late success of attempt %+v was refused", m)
	}
}

// pass lets time go by and fires what falls due, in order of its moment.
func (w *world) pass(d time.Duration) {
	end := w.now.Add(d)
	for {
		timer, at, ok := w.nextTimer()
		if !ok || at > end {
			break
		}
		w.now = max(w.now, at)
		w.fire(timer)
	}
	w.now = max(w.now, end)
}

func (w *world) nextTimer() (first Timer, at Millis, ok bool) {
	for timer, when := range w.timers {
		if !ok || when < at || when == at && compareTimers(timer, first) < 0 {
			first, at, ok = timer, when, true
		}
	}
	return first, at, ok
}

func compareTimers(a, b Timer) int {
	return slices.Compare([]int{int(a.Kind), a.Task, a.Number}, []int{int(b.Kind), b.Task, b.Number})
}

func (w *world) fire(timer Timer) {
	delete(w.timers, timer)
	w.step(timer)
}

// nonsense sends what no part should send, or what comes too late, too early or twice.
func (w *world) nonsense() {
	i := die(w.t, "any task", len(w.in.Tasks)+1) - 1
	number := die(w.t, "any number", 4)
	stale := true
	var ev Input
	switch die(w.t, "nonsense", 5) {
	case 0: // a report on an attempt that was, or never was
		token := fmt.Sprint("token", die(w.t, "any token", w.tokens+1))
		stale = i < 0 || i >= len(w.in.Tasks) || w.in.Tasks[i].Attempt.Token != token || w.in.Tasks[i].Attempt.Number != number
		if !stale || i >= 0 && i < len(w.in.Tasks) && w.in.Tasks[i].Missed.Token == token {
			return
		}
		ev = Report{Task: i, Number: number, Token: token, State: AttemptSuccess}
	case 1:
		ev = Report{Task: i, Number: number, State: AttemptFailed}
	case 2:
		ev = Lost{Task: i, Number: number, Token: "nobody's"}
	case 3:
		stale = w.in.State != InstanceSerialWait
		ev = Begin{}
	case 4: // a task that is not offered
		if i >= 0 && i < len(w.in.Tasks) && w.queue[i] {
			return
		}
		ev = Assign{Task: i, Worker: "w2", Token: "stray"}
	default:
		if i == len(w.in.Tasks) {
			i = -1
		}
		kind := draw(w.t, "any timer", []TimerKind{TimerRetry, TimerWait, TimerAttempt, TimerInstance, TimerStop, TimerDelay, TimerQueue, 99})
		if kind == TimerInstance || kind == TimerStop {
			i, number = -1, 0
		}
		w.fire(Timer{Kind: kind, Task: i, Number: number})
		return
	}
	if fx := w.step(ev); stale && !fx.Stale {
		w.fail("%+v was heard: %+v", ev, fx)
	}
}

func (w *world) control() {
	verbs := []Verb{VerbPause, VerbResume, VerbResume, VerbKill, VerbSkip, VerbForceSuccess, VerbRecover, VerbRecover, VerbRerun, "dance"}
	if w.stops {
		verbs = append(verbs, VerbStop, VerbStop)
	}
	w.wishes++
	w.step(Control{
		ID: w.wishes, By: "ann", Verb: draw(w.t, "verb", verbs),
		Tasks: rapid.SliceOfN(rapid.IntRange(0, len(w.in.Tasks)), 0, 2).Draw(w.t, "named"),
		Scope: draw(w.t, "scope", []Scope{"", ScopeOnly, ScopeUpstream, ScopeDownstream}),
		Force: die(w.t, "force", 3) == 0,
	})
}

// crash forgets everything but the rows.
func (w *world) crash() {
	w.in = copyOf(w.t, w.plan, w.in)
	clear(w.queue)
	clear(w.timers)
	pending := w.in.Pending(w.now)
	asked := 0
	for _, action := range pending {
		switch action := action.(type) {
		case Dispatch:
			if !w.sent[action.Attempt.Token] {
				w.fail("attempt %+v was never dispatched before", action.Attempt)
			}
			asked++
		case Kill:
			if !w.killed[action.Attempt.Token] {
				w.fail("attempt %+v was never to be ended before", action.Attempt)
			}
			asked++
		case Enqueue, Dequeue, Arm, Disarm, Finish, Rest:
		}
	}
	for i := range w.in.Tasks {
		if s := w.in.Tasks[i].State; s == TaskDispatched || s == TaskKilling && held(&w.in.Tasks[i]) {
			asked--
		}
	}
	if asked != 0 {
		w.fail("workers are asked for %d attempts too many: %+v", asked, pending)
	}
	w.carryOut(Effects{Actions: pending})
	w.checkWhole()
	for i := range w.in.Tasks {
		if e := w.in.Explain(w.now, i); e.Text == "" || e.Code == "" {
			w.fail("task %d is %s and can't say why", i, w.in.Tasks[i].State)
		}
	}
	if e := w.in.Explain(w.now, -1); e.Text == "" {
		w.fail("the instance is %s and can't say why", w.in.State)
	}
}

// deliver resumes the instance and delivers everything until it is final.
func (w *world) deliver() {
	for range maxDelivery {
		if w.in.State.Final() {
			return
		}
		if w.in.State == InstancePausing || w.in.State == InstancePaused {
			w.wishes++
			w.step(Control{ID: w.wishes, Verb: VerbResume})
			continue
		}
		if w.place() {
			continue
		}
		ready := w.pick("ready", func(t *TaskInstance) bool { return offered(t) && w.in.State == InstanceRunning })
		live := w.pick("live", held)
		parent := w.pick("parent", waitsForChild)
		dependent := w.dependent()
		approval := w.approval()
		switch {
		case ready >= 0:
			w.give(ready)
		case live >= 0:
			a := w.in.Tasks[live].Attempt
			state := draw(w.t, "end", []AttemptState{AttemptSuccess, AttemptFailed, AttemptKilled})
			w.step(Report{Task: live, Number: a.Number, Token: a.Token, State: state})
		case parent >= 0:
			w.endChild(parent)
		case dependent >= 0:
			w.decide(dependent)
		case approval >= 0:
			w.say(approval, fmt.Sprint("person ", w.wishes), VerbApprove)
		default:
			timer, at, ok := w.nextTimer()
			if !ok {
				w.fail("nothing is under way and the instance is %s", w.in.State)
			}
			w.now = max(w.now, at)
			w.fire(timer)
		}
	}
	w.fail("the instance did not end")
}
