package dag

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// layered returns a plan of n tasks in layers of a hundred, each task with up to five
// needs in the layer before: the shape of a large ETL workflow.
func layered(n int) *Plan {
	const width, needs = 100, 5
	r := rand.New(rand.NewPCG(1, 2)) // always the same plan, so that runs compare
	def := &Definition{Name: "layered", Tasks: make([]Task, n)}
	for i := range n {
		def.Tasks[i].Name, def.Tasks[i].Type = fmt.Sprint("t", i), "noop"
		if i < width {
			continue
		}
		first := (i/width - 1) * width
		for k, at := range r.Perm(width) {
			if k == needs {
				break
			}
			def.Tasks[i].Needs = append(def.Tasks[i].Needs, fmt.Sprint("t", first+at))
		}
	}
	return planOf(def)
}

// runAll runs every task of an instance, oldest offer first, and returns the events given.
func runAll(in *Instance) int {
	var queue []int
	events := 0
	step := func(ev Input) {
		events++
		fx := in.Step(ev, storyStart)
		for _, action := range fx.Actions {
			if offer, ok := action.(Enqueue); ok {
				queue = append(queue, offer.Task)
			}
		}
	}
	step(Begin{})
	for head := 0; head < len(queue); head++ {
		i := queue[head]
		step(Assign{Task: i, Worker: "w", Incarnation: "i", Token: "token"})
		step(Report{Task: i, Number: 1, Token: "token", State: AttemptRunning})
		step(Report{Task: i, Number: 1, Token: "token", State: AttemptSuccess})
	}
	return events
}

// TestAnEventOfALargePlanTakesNoMoreMemory holds what one event allocates at 10,000 tasks against 1,000: what Step
// builds for an event must not grow with the plan. It runs alone, since it reads the counters of the process. How
// long an event takes is BenchmarkWholeRun10k's.
func TestAnEventOfALargePlanTakesNoMoreMemory(t *testing.T) {
	perEvent := func(n int) (allocs, bytes float64) {
		in := NewInstance(layered(n), 1, StartOptions{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		events := runAll(in)
		runtime.ReadMemStats(&after)
		if in.State != InstanceSuccess {
			t.Fatalf("instance of %d tasks is %s, want success", n, in.State)
		}
		return float64(after.Mallocs-before.Mallocs) / float64(events), float64(after.TotalAlloc-before.TotalAlloc) / float64(events)
	}
	smallAllocs, smallBytes := perEvent(1_000)
	allocs, bytes := perEvent(10_000)
	t.Logf("%.1f allocations of %.0f bytes per event at 1,000 tasks, %.1f of %.0f at 10,000", smallAllocs, smallBytes, allocs, bytes)
	// Ten times the plan would be ten times as much; a quarter is for slices that have grown.
	if allocs > 1.25*smallAllocs || bytes > 1.25*smallBytes {
		t.Errorf("an event makes %.1f allocations of %.0f bytes at 1,000 tasks, and %.1f of %.0f at 10,000", smallAllocs, smallBytes, allocs, bytes)
	}
}

// TestAFinishTouchesOnlyItsSuccessors counts what one finish changes in a large plan.
func TestAFinishTouchesOnlyItsSuccessors(t *testing.T) {
	t.Parallel()
	plan := layered(5_000)
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, storyStart)
	in.Step(Assign{Task: 0, Worker: "w", Token: "t"}, storyStart)
	fx := in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptSuccess}, storyStart)
	if len(fx.Tasks) > 1+len(plan.Succ[0]) || len(fx.Events) != 1 {
		t.Errorf("a finish wrote %d tasks and %d events", len(fx.Tasks), len(fx.Events))
	}
}

// BenchmarkFinishOne is one finish event; its time must not grow with the plan.
func BenchmarkFinishOne(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan := layered(n)
			b.ReportAllocs()
			var in *Instance
			next := 0
			for b.Loop() {
				if next == 0 {
					b.StopTimer()
					in = NewInstance(plan, 1, StartOptions{})
					in.Step(Begin{}, storyStart)
					for i := range 100 {
						in.Step(Assign{Task: i, Worker: "w", Token: "t"}, storyStart)
					}
					b.StartTimer()
				}
				in.Step(Report{Task: next, Number: 1, Token: "t", State: AttemptSuccess}, storyStart)
				next = (next + 1) % 100
			}
		})
	}
}

// BenchmarkWholeRun10k is a whole run of 10,000 tasks and about 50,000 edges.
func BenchmarkWholeRun10k(b *testing.B) {
	plan := layered(10_000)
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		events += runAll(NewInstance(plan, 1, StartOptions{}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// BenchmarkRestore10k is the rebuild of such an instance from its rows.
func BenchmarkRestore10k(b *testing.B) {
	plan := layered(10_000)
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, storyStart)
	for b.Loop() {
		if err := Restore(plan, in, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParsePlanOfOne is what a start pays for a workflow of one task whose plan nobody has kept.
func BenchmarkParsePlanOfOne(b *testing.B) {
	text := []byte("name: one\ntasks:\n  - {name: a, type: noop}\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, wrong := ParsePlan(text, "yaml"); wrong != nil {
			b.Fatal(wrong[0])
		}
	}
}

// TestAReportIsSteppedWithinItsBudget holds how often the end of a task of a chain allocates, with what follows from it. It
// runs alone, as all that counts allocations.
func TestAReportIsSteppedWithinItsBudget(t *testing.T) {
	const budget = 20
	def := &Definition{Name: "chain", Tasks: make([]Task, 1000)}
	for i := range def.Tasks {
		def.Tasks[i].Name, def.Tasks[i].Type = fmt.Sprint("t", i), "noop"
		if i > 0 {
			def.Tasks[i].Needs = []string{fmt.Sprint("t", i-1)}
		}
	}
	in, next := NewInstance(planOf(def), 1, StartOptions{}), 0
	in.Step(Begin{}, storyStart)
	n := testing.AllocsPerRun(500, func() {
		in.Step(Assign{Task: next, Worker: "w", Token: "t"}, storyStart)
		in.Step(Report{Task: next, Number: 1, Token: "t", State: AttemptSuccess}, storyStart)
		next++
	})
	t.Logf("%.0f allocations", n)
	if in.Tasks[next-1].State != TaskSuccess {
		t.Fatalf("task %d is %s, want success", next-1, in.Tasks[next-1].State)
	}
	if n > budget {
		t.Errorf("assigning a task and its end make %.0f allocations, the budget is %d", n, budget)
	}
}
