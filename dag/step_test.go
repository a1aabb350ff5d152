package dag

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// begun returns an instance of two tasks in a chain whose first attempt runs.
func begun(t *testing.T) (*Plan, *Instance) {
	t.Helper()
	plan := parsePlan(t, []string{"timeout=1h:fail"}, []string{"a retry=1 delay=1s timeout=1m:fail", "b needs=a", "w wait=1m"})
	in := NewInstance(plan, 7, StartOptions{Params: map[string]string{"day": "1"}, WorkerGroup: "big", Priority: PriorityHigh})
	in.Step(Begin{}, storyStart)
	in.Step(Assign{Task: 0, Worker: "w1", Incarnation: "i", Token: "t"}, storyStart)
	in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptRunning}, storyStart)
	return plan, in
}

func TestNewInstanceKeepsWhatTheStartAsked(t *testing.T) {
	t.Parallel()
	_, in := begun(t)
	if in.ID != 7 || in.Params["day"] != "1" || in.WorkerGroup != "big" || in.Priority != PriorityHigh || in.OnFailure != OnFailureContinue {
		t.Errorf("NewInstance = %+v", in)
	}
	plan := planOf(&Definition{OnFailure: OnFailureEnd, Tasks: []Task{{Name: "a"}}})
	if in := NewInstance(plan, 1, StartOptions{}); in.OnFailure != OnFailureEnd {
		t.Errorf("on_failure = %s, want the definition's", in.OnFailure)
	}
	if in := NewInstance(plan, 1, StartOptions{OnFailure: OnFailureContinue}); in.OnFailure != OnFailureContinue {
		t.Errorf("on_failure = %s, want the start's", in.OnFailure)
	}
}

func TestAnEmptyWorkflowSucceedsAtOnce(t *testing.T) {
	t.Parallel()
	in := NewInstance(planOf(&Definition{}), 1, StartOptions{})
	fx := in.Step(Begin{}, storyStart)
	if in.State != InstanceSuccess || in.StartedAt != storyStart || in.FinishedAt != storyStart || !fx.Changed {
		t.Errorf("instance = %+v, effects %+v", in, fx)
	}
}

func TestReportedMomentsAreKeptBetweenDispatchAndNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reported, want Millis }{
		"none":   {0, storyStart + 500},
		"early":  {storyStart - 5000, storyStart},
		"late":   {storyStart + 5000, storyStart + 500},
		"honest": {storyStart + 200, storyStart + 200},
	} {
		in := NewInstance(planOf(&Definition{Tasks: []Task{{Name: "a", Timeout: Timeout{time.Minute, TimeoutFail}}}}), 1, StartOptions{})
		in.Step(Begin{}, storyStart)
		in.Step(Assign{Task: 0, Worker: "w", Token: "t"}, storyStart)
		in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptRunning, StartedAt: c.reported}, storyStart+500)
		if a := in.Tasks[0].Attempt; a.StartedAt != c.want || a.Deadline != c.want.Add(time.Minute) {
			t.Errorf("%s: started at %d, deadline %d, want start %d", name, a.StartedAt, a.Deadline, c.want)
		}
	}
}

func TestFinalReportIsKeptOnTheAttempt(t *testing.T) {
	t.Parallel()
	_, in := begun(t)
	out := map[string]string{"rows": "3"}
	fx := in.Step(Report{
		Task: 0, Number: 1, Token: "t", State: AttemptSuccess, FinishedAt: storyStart + 10, Message: "fine",
		Outputs: out, Tail: []byte("tail"), LogBytes: 99,
	}, storyStart+20)
	want := Attempt{
		Task: 0, Number: 1, Round: 1, Token: "t", Worker: "w1", Incarnation: "i", State: AttemptSuccess, Message: "fine",
		DispatchedAt: storyStart, StartedAt: storyStart, FinishedAt: storyStart + 10, Deadline: storyStart.Add(time.Minute),
		Tail: []byte("tail"), LogBytes: 99, Outputs: out,
	}
	if len(fx.Attempts) != 1 || !reflect.DeepEqual(fx.Attempts[0], want) {
		t.Errorf("attempt = %+v\nwant %+v", fx.Attempts, want)
	}
	if in.Tasks[0].Outputs["rows"] != "3" {
		t.Errorf("task's outputs = %v", in.Tasks[0].Outputs)
	}
}

func TestEffectsAddKeepsTheirOrder(t *testing.T) {
	t.Parallel()
	var all Effects
	all.Add(Effects{Stale: true})
	if !all.Stale {
		t.Error("a stale input alone is not stale")
	}
	all.Add(Effects{Changed: true, Tasks: []int{1}, Events: []Event{{Seq: 1}}, Actions: []Action{Enqueue{1}}, Applied: []Applied{{ID: 1}}, Attempts: []Attempt{{Number: 1}}})
	all.Add(Effects{Stale: true})
	all.Add(Effects{Changed: true, Tasks: []int{1}, Events: []Event{{Seq: 2}}, Actions: []Action{Dequeue{1}}, Applied: []Applied{{ID: 2}}, Attempts: []Attempt{{Number: 2}}})
	want := Effects{
		Changed: true, Tasks: []int{1, 1}, Events: []Event{{Seq: 1}, {Seq: 2}}, Actions: []Action{Enqueue{1}, Dequeue{1}},
		Applied: []Applied{{ID: 1}, {ID: 2}}, Attempts: []Attempt{{Number: 1}, {Number: 2}},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("Add = %+v\nwant %+v", all, want)
	}
}

func TestRetryWaitsGrowUpToTheirLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		retry Retry
		k     int
		want  time.Duration
	}{
		{Retry{Times: 3, Delay: time.Second}, 3, time.Second},
		{Retry{Times: 3, Delay: time.Second, Backoff: 2}, 1, time.Second},
		{Retry{Times: 3, Delay: time.Second, Backoff: 2}, 3, 4 * time.Second},
		{Retry{Times: 3, Delay: time.Second, Backoff: 1.5}, 2, 1500 * time.Millisecond},
		{Retry{Times: 9, Delay: time.Second, Backoff: 10, MaxDelay: time.Minute}, 9, time.Minute},
		{Retry{Times: 900, Delay: time.Hour, Backoff: 10}, 900, 24 * time.Hour},
		{Retry{Times: 9, Backoff: 1e300}, 9, 0},
		{Retry{Delays: []time.Duration{time.Minute, 48 * time.Hour}}, 2, 48 * time.Hour},
	} {
		if got := c.retry.Wait(c.k); got != c.want {
			t.Errorf("%+v.Wait(%d) = %v, want %v", c.retry, c.k, got, c.want)
		}
	}
}

func TestRestoreRefusesRowsThatContradict(t *testing.T) {
	t.Parallel()
	for want, damage := range map[string]func(in *Instance, live *[]Attempt){
		"task rows for a plan":           func(in *Instance, _ *[]Attempt) { in.Tasks = in.Tasks[1:] },
		`unknown state "gone"`:           func(in *Instance, _ *[]Attempt) { in.State = "gone" },
		"unknown on_failure":             func(in *Instance, _ *[]Attempt) { in.OnFailure = "" },
		"round 0":                        func(in *Instance, _ *[]Attempt) { in.Round = 0 },
		`task 0: unknown state "Ready"`:  func(in *Instance, live *[]Attempt) { in.Tasks[0].State, *live = "Ready", (*live)[1:] },
		"running with live attempt 0":    func(_ *Instance, live *[]Attempt) { *live = (*live)[1:] },
		"has two live attempts":          func(_ *Instance, live *[]Attempt) { *live = append(*live, (*live)[0]) },
		"which is not in scope":          func(_ *Instance, live *[]Attempt) { (*live)[0].Task = 9 },
		"given as live":                  func(_ *Instance, live *[]Attempt) { (*live)[0].State = AttemptSuccess },
		"task 0 is running, its attempt": func(_ *Instance, live *[]Attempt) { (*live)[0].State = AttemptDispatched },
		"attempt 2 is live":              func(_ *Instance, live *[]Attempt) { (*live)[0].Number = 2 },
		`with worker ""`:                 func(_ *Instance, live *[]Attempt) { (*live)[0].Worker = "" },
		`with worker "w9"`:               func(_ *Instance, live *[]Attempt) { (*live)[1].Worker = "w9" },
		"killing without a reason": func(in *Instance, live *[]Attempt) {
			in.Tasks[0].State, (*live)[0].State = TaskKilling, AttemptKilling
		},
		"lost -1":                              func(in *Instance, _ *[]Attempt) { in.Tasks[1].Lost = -1 },
		"task 1 is of round 2":                 func(in *Instance, _ *[]Attempt) { in.Tasks[1].Round = 2 },
		"task 2 is running with next_at 0":     func(in *Instance, _ *[]Attempt) { in.Tasks[2].NextAt = 0 },
		"task 1 is waiting with next_at 5":     func(in *Instance, _ *[]Attempt) { in.Tasks[1].NextAt = 5 },
		"task 1 is ready with needs":           func(in *Instance, _ *[]Attempt) { in.Tasks[1].State = TaskReady },
		"the instance is success, task 0":      func(in *Instance, _ *[]Attempt) { in.State = InstanceSuccess },
		"the instance is submitted, task 0":    func(in *Instance, _ *[]Attempt) { in.State = InstanceSubmitted },
		"the instance is stopping, task 0":     func(in *Instance, _ *[]Attempt) { in.State = InstanceStopping },
		"paused and 1 attempts are on workers": func(in *Instance, _ *[]Attempt) { in.State = InstancePaused },
		"every task is final": func(in *Instance, live *[]Attempt) {
			for i := range in.Tasks {
				in.Tasks[i].State, in.Tasks[i].NextAt = TaskSuccess, 0
			}
			*live = nil
		},
		"pausing and nothing is on a worker": func(in *Instance, live *[]Attempt) {
			in.State, in.Tasks[0].State, in.Tasks[1].State, *live = InstancePausing, TaskSuccess, TaskReady, (*live)[1:]
		},
	} {
		plan, in := begun(t)
		live := []Attempt{in.Tasks[0].Attempt, in.Tasks[2].Attempt}
		damage(in, &live)
		err := Restore(plan, in, live)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("Restore = %v, want ErrDamaged with %q", err, want)
		}
	}
	plan, in := begun(t)
	if err := Restore(plan, in, []Attempt{in.Tasks[0].Attempt, in.Tasks[2].Attempt}); err != nil {
		t.Errorf("Restore of whole rows = %v", err)
	}
}

func TestQuarantinedInstancesAreLeftAlone(t *testing.T) {
	t.Parallel()
	plan, in := begun(t)
	in.State, in.Reason = InstanceQuarantined, ReasonCrashed
	in.Tasks[1].State, in.Tasks[1].Attempts = TaskReady, 1
	missed := Attempt{Task: 1, Number: 1, Round: in.Tasks[1].Round, Token: "missed", State: AttemptLost}
	if err := Restore(plan, in, []Attempt{in.Tasks[0].Attempt, in.Tasks[2].Attempt, missed}); err != nil {
		t.Fatal(err)
	}
	if due := in.Pending(storyStart); due != nil {
		t.Errorf("Pending = %v", due)
	}
	for _, ev := range []Input{
		Begin{},
		Assign{Task: 1, Worker: "w", Token: "x"},
		Report{Task: 0, Number: 1, Token: "t", State: AttemptSuccess},
		Report{Task: 1, Number: 1, Token: "missed", State: AttemptSuccess},
		Lost{Task: 0, Number: 1, Token: "t"},
		Timer{Kind: TimerInstance, Task: -1},
		Control{Verb: VerbKill, Tasks: []int{0}},
		Control{Verb: VerbStop},
		Control{Verb: VerbRecover},
		Control{Verb: VerbRerun},
	} {
		if fx := in.Step(ev, storyStart.Add(time.Hour)); fx.Changed {
			t.Errorf("%+v changed it: %+v", ev, fx)
		}
	}
}

func TestExplainBoundsItsCauses(t *testing.T) {
	t.Parallel()
	def := &Definition{Tasks: []Task{{Name: "last"}}}
	for i := range 1000 {
		name := "t" + strings.Repeat("x", i)
		def.Tasks = append(def.Tasks, Task{Name: name})
		def.Tasks[0].Needs = append(def.Tasks[0].Needs, name)
	}
	in := NewInstance(planOf(def), 1, StartOptions{})
	if e := in.Explain(storyStart, 0); e.Code != "waiting" || len(e.Causes) != 1 || e.Causes[0].Code != "submitted" {
		t.Errorf("before the start: %+v", e)
	}
	in.Step(Begin{}, storyStart)
	for _, task := range []int{0, -1} {
		e := in.Explain(storyStart, task)
		if len(e.Causes) != maxCauses+1 || e.Causes[maxCauses].Text != "and 990 more" {
			t.Errorf("Explain(%d) has %d causes, the last %+v", task, len(e.Causes), e.Causes[len(e.Causes)-1])
		}
	}
}

func TestStepPanicsOnATransitionThatIsNotInTheTable(t *testing.T) {
	t.Parallel()
	_, in := begun(t)
	in.Tasks[0].State = TaskWaiting // no row of ours can look like this
	in.plan.Definition.Tasks[0].Retry.Times = 1
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "task 0: retry_wait may not follow waiting") {
			t.Errorf("recovered %q", text)
		}
	}()
	in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptFailed}, storyStart)
}
