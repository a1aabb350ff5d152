package main

import (
	"strings"
	"testing"
	"time"
)

var diamond = []traceTask{
	{ID: "a", RuntimeS: 1},
	{ID: "left side", RuntimeS: 2, Deps: []string{"a"}},
	{ID: "right", RuntimeS: 4, Deps: []string{"a"}},
	{ID: "z", RuntimeS: 1, Deps: []string{"left side", "right"}},
}

func TestEvidenceOfOneRunInOrderIsGood(t *testing.T) {
	t.Parallel()
	good := "start a 1\nend a 1\nstart right 1\nstart left side 1\nend left side 1\nend right 1\nstart z 1\nend z 1\n"
	if err := check(diamond, good); err != nil {
		t.Errorf("check(%q) = %v, want nil", good, err)
	}
}

func TestBadEvidenceIsToldByItsFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ evidence, want string }{
		"a task too early":      {"start a 1\nend a 1\nstart right 1\nstart left side 1\nend left side 1\nstart z 1\nend z 1\nend right 1\n", "z began before right had ended"},
		"a task twice":          {"start a 1\nend a 1\nstart a 2\nend a 2\nstart right 1\nstart left side 1\nend left side 1\nend right 1\nstart z 1\nend z 1\n", "a began 2 times"},
		"a task not at all":     {"start a 1\nend a 1\nstart right 1\nend right 1\n", "left side began 0 times"},
		"a task that never end": {"start a 1\n", "a began 1 times and ended 0 times"},
		"an end without start":  {"end a 1\n", "a ended before it began"},
		"a stranger":            {"start b 1\n", "b is in the evidence but not in the workflow"},
		"a mixed line":          {"start astart a 1\n", `astart a is in the evidence but not`},
		"no line of a task":     {"hello\n", "is not start or end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := check(diamond, c.evidence); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("check(%q) = %v, want %q in it", c.evidence, err, c.want)
			}
		})
	}
}

func TestLowerBoundIsThePathOrTheWork(t *testing.T) {
	t.Parallel()
	tr := &trace{Name: "diamond", Tasks: diamond}
	for slots, want := range map[int]time.Duration{1: 8 * time.Second, 2: 6 * time.Second, 16: 6 * time.Second} {
		if got := tr.lowerBound(slots); got != want {
			t.Errorf("lowerBound(%d) = %s, want %s", slots, got, want)
		}
	}
}

func TestScaleLeavesTheTasksLongEnough(t *testing.T) {
	t.Parallel()
	tr := &trace{Name: "diamond", Tasks: diamond}
	for _, c := range []struct {
		given float64
		bound time.Duration
		want  float64
	}{{0, time.Second, 6}, {0, time.Millisecond, 20}, {3, time.Second, 3}} {
		if got := tr.scale(c.given, c.bound, 16); got != c.want {
			t.Errorf("scale(%v, %s) = %v, want %v", c.given, c.bound, got, c.want)
		}
	}
}

func TestCyclesAndUnknownNeedsAreRefused(t *testing.T) {
	t.Parallel()
	for want, tasks := range map[string][]traceTask{
		"needs itself": {{ID: "a", Deps: []string{"b"}}, {ID: "b", Deps: []string{"a"}}},
		"is not there": {{ID: "a", Deps: []string{"b"}}},
	} {
		if _, err := (&trace{Tasks: tasks}).criticalPath(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("criticalPath of %v = %v, want %q", tasks, err, want)
		}
	}
}

func TestTheTracesOfTheProjectAreReadable(t *testing.T) {
	t.Parallel()
	traces, err := readTraces("testdata")
	if err != nil || len(traces) != 4 {
		t.Fatalf("readTraces = %d traces, %v, want 4", len(traces), err)
	}
	for _, tr := range traces {
		if s := tr.scale(0, 10*time.Second, 16); float64(tr.work())/float64(len(tr.Tasks))/s < float64(leastMean)*0.999 {
			t.Errorf("%s: scale %v makes the mean task shorter than %s", tr.Name, s, leastMean)
		}
	}
}
