package dag

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const reportText = `
name: report
params:
  day: "1"
  region: eu
  footer: {default: x, affects: [send]}
  comment: {default: x, affects: none}
tasks:
  - {name: extract, type: shell, script: "extract\n$day", outputs: [rows]}
  - {name: rates, type: shell, script: fetch rates}
  - {name: load, type: shell, needs: [extract, rates], script: "load $comment $footer"}
  - {name: local, type: shell, needs: [rates], script: convert, env: {WHERE: "${region}"}}
  - {name: send, type: shell, needs: [load], script: send}
  - {name: tidy, type: shell, finally: true, script: rm}
`

// ended is an instance of a text's workflow of which every task has succeeded, but those that failed.
func ended(t *testing.T, text string, params map[string]string, failed ...string) *Instance {
	t.Helper()
	plan, errs := ParsePlan([]byte(text), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{Params: params})
	in.Step(Begin{}, 1000)
	for !in.State.Final() {
		for i := range in.Tasks {
			if in.Tasks[i].State != TaskReady {
				continue
			}
			name := plan.Definition.Tasks[i].Name
			in.Step(Assign{Task: i, Worker: "w", Incarnation: "1", Token: name}, 2000)
			r := Report{Task: i, Number: 1, Token: name, State: AttemptSuccess, FinishedAt: 3000, Outputs: map[string]string{"rows": "7"}}
			if slices.Contains(failed, name) {
				r.State, r.Outputs = AttemptFailed, nil
			}
			in.Step(r, 3000)
		}
	}
	return in
}

func TestARerunKeepsWhatTheChangedParametersLeaveValid(t *testing.T) {
	for _, c := range []struct {
		name   string
		old    map[string]string
		params map[string]string
		from   []string
		failed []string
		want   string
	}{
		{name: "nothing changed", want: "extract kept, rates kept, load kept, local kept, send kept, tidy last"},
		{
			name: "a parameter that a script has in its second line", params: map[string]string{"day": "2"},
			want: "extract parameter day, rates kept, load upstream extract, local kept, send upstream load, tidy last",
		},
		{name: "one that env has", params: map[string]string{"region": "us"}, want: "extract kept, rates kept, load kept, local parameter region, send kept, tidy last"},
		{name: "the same value as before", old: map[string]string{"day": "2"}, params: map[string]string{"day": "2"}, want: "extract kept, rates kept, load kept, local kept, send kept, tidy last"},
		{name: "the default given now", params: map[string]string{"region": "eu"}, want: "extract kept, rates kept, load kept, local parameter region, send kept, tidy last"},
		{name: "one that affects another task than the one that has it", params: map[string]string{"footer": "y"}, want: "extract kept, rates kept, load kept, local kept, send parameter footer, tidy last"},
		{name: "one that affects none", params: map[string]string{"comment": "y"}, want: "extract kept, rates kept, load kept, local kept, send kept, tidy last"},
		{name: "from a task on", from: []string{"rates"}, want: "extract kept, rates chosen, load upstream rates, local upstream rates, send upstream load, tidy last"},
		{name: "a task failed", failed: []string{"load"}, want: "extract kept, rates kept, load not_done, local kept, send upstream load, tidy last"},
	} {
		in := ended(t, reportText, c.old, c.failed...)
		var from []int
		for _, name := range c.from {
			i, _ := in.plan.Task(name)
			from = append(from, i)
		}
		var got []string
		for _, p := range in.PlanRerun(c.params, from) {
			got = append(got, strings.TrimSpace(fmt.Sprint(in.name(p.Task), " ", p.Why, " ", p.Because)))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestKeptTasksGiveTheirOutputsAndAreNotRunAgain(t *testing.T) {
	old := ended(t, reportText, nil)
	send, _ := old.plan.Task("send")
	again := rerunOf(old, nil, []int{send})
	fx := again.Step(Begin{}, 9000)
	var begun []string
	for _, a := range fx.Actions {
		if e, ok := a.(Enqueue); ok {
			begun = append(begun, again.name(e.Task))
		}
	}
	if fmt.Sprint(begun) != "[send]" {
		t.Errorf("begun are %v, want send alone", begun)
	}
	rows := slices.Clone(fx.Tasks)
	slices.Sort(rows)
	if len(slices.Compact(rows)) != len(again.Tasks) {
		t.Errorf("the rows of tasks %v are written, want those of all %d", rows, len(again.Tasks))
	}
	extract := &again.Tasks[0]
	if extract.State != TaskSuccess || extract.Attempts != 0 || extract.Outputs["rows"] != "7" {
		t.Errorf("extract is %+v", extract)
	}
	run, err := Resolve(again, send, again.Facts)
	if err != nil || run.Env["rows"] != "7" {
		t.Errorf("send sees %v, %v", run.Env, err)
	}
}

func TestAParameterIsUsedWhereverATaskNamesIt(t *testing.T) {
	const text = `
name: uses
params: {day: "1"}
tasks:
  - {name: plain, type: shell, script: x}
  - {name: when, type: shell, script: x, when: day == "1"}
  - {name: folder, type: shell, script: x, working_dir: "/srv/${day}"}
  - {name: own, type: shell, script: x, params: {file: "in-${day}"}}
  - {name: header, type: http, url: "https://example.com/", headers: {X-Day: "${day}"}}
  - {name: choice, type: switch, cases: [{when: day == "1", then: [below]}], else: []}
  - {name: below, type: shell, needs: [choice], script: x}
  - {name: until, type: shell, script: x, outputs: [rows], repeat_until: {condition: rows != day, max: 2}}
`
	in := ended(t, text, nil)
	got := map[string]RerunWhy{}
	for _, p := range in.PlanRerun(map[string]string{"day": "2"}, nil) {
		got[in.name(p.Task)] = p.Why
	}
	want := map[string]RerunWhy{
		"plain": RerunKept, "when": RerunParameter, "folder": RerunParameter, "own": RerunParameter, "header": RerunParameter,
		"choice": RerunParameter, "below": RerunUpstream, "until": RerunParameter,
	}
	if !maps.Equal(got, want) {
		t.Errorf("what becomes of the tasks is %v, want %v", got, want)
	}
}

// What the workflow's own rules left out is left out again; what somebody skipped was not done.
func TestASkipIsKeptOnlyWhereTheRulesMadeIt(t *testing.T) {
	plan, errs := ParsePlan([]byte(`
name: skips
tasks:
  - {name: never, type: shell, script: x, when: "false"}
  - {name: by hand, type: shell, script: x, delay: 1h}
`), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, 1000)
	in.Step(Control{ID: 1, Verb: VerbSkip, Tasks: []int{1}, By: "ann"}, 2000)
	planned := in.PlanRerun(nil, nil)
	if in.State != InstanceSuccess || len(planned) != 2 || planned[0].Why != RerunKept || planned[1].Why != RerunNotDone {
		t.Errorf("of the instance, which is %s, becomes %+v", in.State, planned)
	}
}

func TestWhatIsKeptOutOfScopeStaysOut(t *testing.T) {
	old := ended(t, reportText, nil)
	extract, send := 0, 4
	in := NewInstance(old.plan, 8, StartOptions{StartTasks: []int{send}, Scope: ScopeOnly, Kept: []Kept{old.Kept(extract), old.Kept(send)}})
	if in.Tasks[extract].State != "" || in.Tasks[send].State != TaskSuccess {
		t.Errorf("extract is %q, send is %q", in.Tasks[extract].State, in.Tasks[send].State)
	}
}

func TestWhatWasTakenOverIsNotUndone(t *testing.T) {
	const text = `
name: undo
on_failure: compensate
params: {day: "1"}
tasks:
  - {name: book, type: shell, script: book, compensate: {type: shell, script: unbook}}
  - {name: pay, type: shell, needs: [book], script: pay $day}
`
	old := ended(t, text, nil)
	again := rerunOf(old, map[string]string{"day": "2"}, nil)
	again.Step(Begin{}, 9000)
	again.Step(Assign{Task: 1, Worker: "w", Incarnation: "1", Token: "x"}, 9000)
	again.Step(Report{Task: 1, Number: 1, Token: "x", State: AttemptFailed}, 9000)
	if undo := again.Tasks[2]; again.State != InstanceFailed || undo.Reason != ReasonNotNeeded {
		t.Errorf("the instance is %s, what undoes the kept task is %s %s", again.State, undo.State, undo.Reason)
	}
}

func TestWrongAffectsAreToldAtTheirPlace(t *testing.T) {
	for text, field := range map[string]string{
		"params: {day: {default: x, affects: [none such]}}\ntasks: [{name: a, type: noop}]":                   "params.day.affects[0]",
		"params: {day: {default: x, affects: all}}\ntasks: [{name: a, type: noop}]":                           "params.day.affects",
		"tasks: [{name: a, type: noop, params: {day: {default: x, affects: none}}}]":                          "tasks[0].params.day.affects",
		"tasks: [{name: a, type: approval, form: {day: {default: x, affects: none}}}]":                        "tasks[0].form.day.affects",
		"params: {day: {default: x, affects: [a, 1]}}\ntasks: [{name: a, type: noop}, {name: b, type: noop}]": "params.day.affects[1]",
	} {
		_, errs := Parse([]byte("name: w\n"+text), "yaml")
		if !slices.ContainsFunc(errs, func(e FieldError) bool { return e.Field == field }) {
			t.Errorf("%s: got %v, want an error at %s", text, errs, field)
		}
	}
}

// rerunOf makes the instance that a plan is about.
func rerunOf(old *Instance, params map[string]string, from []int) *Instance {
	o := StartOptions{Params: params, OnFailure: old.OnFailure}
	for i := range old.Tasks {
		if old.Tasks[i].State != "" {
			o.StartTasks = append(o.StartTasks, i)
		}
	}
	o.Scope = ScopeOnly
	for _, p := range old.PlanRerun(params, from) {
		if p.Keep() {
			o.Kept = append(o.Kept, old.Kept(p.Task))
		}
	}
	return NewInstance(old.plan, 8, o)
}

// TestWhatARerunsPlanSaysIsWhatRuns: whatever an instance has come to, and whatever is changed, the tasks that the
// plan keeps stay as they were and never run, all others go through the rules anew, and the new instance ends.
func TestWhatARerunsPlanSaysIsWhatRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, false)
		w.plan.Definition.Params = []Param{{Name: "x", Default: new(string)}}
		for i := range w.plan.Definition.Tasks {
			if die(t, "uses", 5) == 0 {
				w.plan.Definition.Tasks[i].Env = []EnvVar{{Name: "E", Value: "${x}"}}
			}
		}
		w.step(Begin{})
		w.deliver()
		old := w.in
		var params map[string]string
		if die(t, "changed", 1) == 0 {
			params = map[string]string{"x": "1"}
		}
		var from []int
		for i := range old.Tasks {
			if old.Tasks[i].State != "" && die(t, "from", 12) == 0 {
				from = append(from, i)
			}
		}
		planned := old.PlanRerun(params, from)
		if len(planned) == 0 {
			return // a start of nothing but what undoes a task
		}
		next := &world{auditor: newAuditor(t, w.plan, rerunOf(old, params, from))}
		keeps := map[int]bool{}
		for _, p := range planned {
			keeps[p.Task] = p.Keep()
			again := p.Why == RerunLast || slices.Contains(from, p.Task) || params != nil && len(w.plan.Definition.Tasks[p.Task].Env) > 0
			for _, n := range w.plan.Pred[p.Task] {
				again = again || old.Tasks[n].State != "" && !keeps[n]
			}
			if p.Keep() == again && (again || old.Tasks[p.Task].keepable()) {
				w.fail("task %d is %s", p.Task, p.Why)
			}
		}
		next.step(Begin{})
		next.deliver()
		for i := range next.in.Tasks {
			is, was := &next.in.Tasks[i], &old.Tasks[i]
			switch {
			case (is.State == "") != (was.State == ""):
				w.fail("task %d has another scope", i)
			case keeps[i] && (is.Attempts != 0 || is.State != was.State || is.Reason != was.Reason || !maps.Equal(is.Outputs, was.Outputs)):
				w.fail("task %d is kept, and is %+v in place of %+v", i, *is, *was)
			case !keeps[i] && is.takenOver():
				w.fail("task %d is to run again, and was taken over", i)
			}
		}
	})
}
