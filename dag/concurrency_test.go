package dag

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func limited(t *testing.T, concurrency string) *Instance {
	t.Helper()
	plan, errs := ParsePlan([]byte("name: w\nparams: {region: eu, day: \"${system.biz.date}\"}\nconcurrency: "+concurrency+
		"\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop, needs: [a]}\n"), "yaml")
	if plan == nil {
		t.Fatal(errs)
	}
	in := NewInstance(plan, 7, StartOptions{})
	in.Limited = true
	return in
}

func TestConcurrencyIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Concurrency{
		"{limit: 1}":                                       {1, WhenFullWait, ""},
		"{limit: 10000, when_full: discard}":               {10000, WhenFullDiscard, ""},
		`{limit: 2, when_full: replace, key: "${region}"}`: {2, WhenFullReplace, "${region}"},
	} {
		whole := "name: w\nparams: {region: eu}\nconcurrency: " + text + "\ntasks:\n" + noop("a")
		def, errs := Parse([]byte(whole), "yaml")
		checkErrors(t, errs, nil)
		if def.Concurrency != want {
			t.Errorf("Parse(%s) = %+v, want %+v", text, def.Concurrency, want)
		}
		if got := ReadConcurrency([]byte(whole), "yaml"); got != want {
			t.Errorf("ReadConcurrency(%s) = %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"", "{", "name: w\n", "name: w\nconcurrency: 1\n", "name: w\nconcurrency: {limit: -3}\n", "[]"} {
		if got := ReadConcurrency([]byte(text), "yaml"); got != (Concurrency{}) {
			t.Errorf("ReadConcurrency(%q) = %+v, want none", text, got)
		}
	}
}

func TestAKeyIsMadeOfParameters(t *testing.T) {
	t.Parallel()
	in := limited(t, "{limit: 1}")
	facts := Facts{Workflow: "w", ScheduleTime: 1_700_000_000_000}
	for key, want := range map[string]string{
		"":                                  "",
		"all":                               "all",
		"${region}":                         "eu",
		"${region}/${system.workflow.name}": "eu/w",
		"${day}":                            "20231113",
		"$${region}":                        "${region}",
		"${of_a_newer_version}-${region}":   "${of_a_newer_version}-eu",
		"${a.rows}":                         "${a.rows}",
		"${region":                          "${region",
	} {
		if got := in.LimitKey(key, facts); got != want {
			t.Errorf("LimitKey(%q) = %q, want %q", key, got, want)
		}
	}
	in.Params = map[string]string{"region": strings.Repeat("ü", 300)}
	long := in.LimitKey("${region}", facts)
	in.Params["region"] += "x"
	if other := in.LimitKey("${region}", facts); len(long) > maxLimitKey || !utf8.ValidString(long) || other == long {
		t.Errorf("long keys are cut to %q and %q", long, other)
	}
}

func TestAnInstanceWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	in := limited(t, "{limit: 1}")
	fx := in.Step(Queue{}, 1)
	if in.State != InstanceSerialWait || len(fx.Tasks) != 0 || len(fx.Events) != 1 {
		t.Fatalf("queued it is %s, with %d task rows and %d events", in.State, len(fx.Tasks), len(fx.Events))
	}
	if fx := in.Step(Queue{}, 2); !fx.Stale {
		t.Error("queued twice")
	}
	if e := in.Explain(3, -1); e.Code != "serial_wait" {
		t.Errorf("it explains itself as %s", e.Code)
	}
	fx = in.Step(Begin{}, 4)
	if in.State != InstanceRunning || in.StartedAt != 4 || len(fx.Tasks) != 2 || in.Tasks[0].State != TaskReady {
		t.Errorf("begun it is %s since %d, with %d task rows", in.State, in.StartedAt, len(fx.Tasks))
	}
	if fx := in.Step(Discard{}, 5); !fx.Stale || in.State != InstanceRunning {
		t.Error("what runs was discarded")
	}
}

func TestADiscardedInstanceSaysWhy(t *testing.T) {
	t.Parallel()
	for _, first := range []Input{nil, Queue{}} {
		in := limited(t, "{limit: 1}")
		if first != nil {
			in.Step(first, 1)
		}
		in.Step(Discard{}, 2)
		if in.State != InstanceStopped || in.Reason != ReasonDiscarded || in.Tasks[0].State != TaskKilled {
			t.Errorf("it is %s (%s), its task %s", in.State, in.Reason, in.Tasks[0].State)
		}
		if e := in.Explain(3, -1); !strings.Contains(e.Text, "no place") {
			t.Errorf("it explains itself by %q", e.Text)
		}
	}
}

func TestAReplacedInstanceStopsAndSaysWhy(t *testing.T) {
	t.Parallel()
	in := limited(t, "{limit: 1, when_full: replace}")
	in.Step(Begin{}, 1)
	in.Step(Assign{Task: 0, Worker: "w", Incarnation: "i", Token: "t"}, 2)
	fx := in.Step(Control{ID: 1, Verb: VerbReplace, By: "instance 8"}, 3)
	if in.State != InstanceStopping || fx.Applied[0].Result != ResultApplied {
		t.Fatalf("it is %s, the answer %s", in.State, fx.Applied[0].Result)
	}
	in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptKilled}, 4)
	if in.State != InstanceStopped || in.Reason != ReasonReplaced {
		t.Errorf("it ends %s (%s)", in.State, in.Reason)
	}
	if fx := in.Step(Control{ID: 2, Verb: VerbReplace}, 5); fx.Applied[0].Result != ResultAlready {
		t.Errorf("replaced again: %s", fx.Applied[0].Result)
	}
}

// TestADependentThatWaitsDoesNotHoldUpWhoReplacesItsInstance is DolphinScheduler #17572: there the instance was stuck.
func TestADependentThatWaitsDoesNotHoldUpWhoReplacesItsInstance(t *testing.T) {
	t.Parallel()
	plan, errs := ParsePlan([]byte("name: w\nconcurrency: {limit: 1, when_full: replace}\ntasks:\n"+
		"  - {name: a, type: dependent, check: {all: [{workflow: v, date: today}]}}\n"+noop("b", "a")), "yaml")
	if plan == nil {
		t.Fatal(errs)
	}
	in := NewInstance(plan, 7, StartOptions{})
	in.Limited = true
	in.Step(Begin{}, 1)
	if in.Tasks[0].State != TaskRunning {
		t.Fatalf("the dependent is %s", in.Tasks[0].State)
	}
	in.Step(Control{ID: 1, Verb: VerbReplace, By: "instance 8"}, 2)
	if in.State != InstanceStopped || in.Reason != ReasonReplaced {
		t.Errorf("it is %s (%s), want it stopped at once", in.State, in.Reason)
	}
}

// TestALaterRoundOfALimitedInstanceWaits holds that recover, rerun and force_success open a round that
// waits, can be stopped, and goes on as one that did not wait.
func TestALaterRoundOfALimitedInstanceWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		control Control
		ready   []int
	}{
		"recover":       {Control{ID: 1, Verb: VerbRecover}, []int{0}},
		"rerun":         {Control{ID: 1, Verb: VerbRerun}, []int{0}},
		"force_success": {Control{ID: 1, Verb: VerbForceSuccess, Tasks: []int{0}}, []int{1}},
	} {
		in := limited(t, "{limit: 1}")
		in.Step(Begin{}, 1)
		in.Step(Control{ID: 9, Verb: VerbKill, Tasks: []int{0}}, 2)
		if in.State != InstanceFailed {
			t.Fatalf("%s: it is %s to begin with", name, in.State)
		}
		in.Step(c.control, 3)
		if in.State != InstanceSerialWait || in.Round != 2 || in.FinishedAt != 0 {
			t.Fatalf("%s: it is %s in round %d", name, in.State, in.Round)
		}
		stored := *in
		stored.Tasks = slices.Clone(in.Tasks)
		if err := Restore(in.plan, &stored, nil); err != nil {
			t.Errorf("%s: restored: %v", name, err)
		}
		stored.Step(Control{ID: 2, Verb: VerbStop}, 4)
		if stored.State != InstanceStopped {
			t.Errorf("%s: stopped in its line it is %s", name, stored.State)
		}
		in.Step(Begin{}, 5)
		var ready []int
		for i := range in.Tasks {
			if in.Tasks[i].State == TaskReady {
				ready = append(ready, i)
			}
		}
		if in.State != InstanceRunning || !slices.Equal(ready, c.ready) {
			t.Errorf("%s: begun it is %s with %v ready, want %v", name, in.State, ready, c.ready)
		}
	}
}
