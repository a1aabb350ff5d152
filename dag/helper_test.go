package dag

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 draws one")

// random returns a generator whose seed is printed, and can be given back by -seed.
func random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// ranks checks that order holds every task once, after all that it needs.
func ranks(t *testing.T, p *Plan) {
	t.Helper()
	at := make([]int, len(p.Pred))
	for i := range at {
		at[i] = -1
	}
	for i, task := range p.Order {
		if at[task] >= 0 {
			t.Fatalf("task %d stands twice in the order", task)
		}
		at[task] = i
	}
	if len(p.Order) != len(p.Pred) {
		t.Fatalf("the order has %d of %d tasks", len(p.Order), len(p.Pred))
	}
	for task, needs := range p.Pred {
		for _, n := range needs {
			if at[n] >= at[task] {
				t.Fatalf("task %d comes at %d, before %d which it needs, at %d", task, at[task], n, at[n])
			}
			if !slices.Contains(p.Succ[n], task) {
				t.Fatalf("task %d needs %d, but is not among its successors", task, n)
			}
		}
	}
}

func TestOrderIsTopologicalOnRandomGraphs(t *testing.T) {
	t.Parallel()
	r := random(t)
	for range 300 {
		tasks := 1 + r.IntN(60)
		p, errs := NewPlan(graphOf(randomNeeds(r, tasks, r.IntN(3*tasks))))
		checkErrors(t, errs, nil)
		if p == nil {
			t.FailNow()
		}
		ranks(t, p)
		// Ties by index: no task could stand earlier in place of a higher one.
		done := make([]bool, tasks)
		for _, task := range p.Order {
			for lower := range task {
				if !done[lower] && !slices.ContainsFunc(p.Pred[lower], func(n int) bool { return !done[n] }) {
					t.Fatalf("task %d was ready and lower than %d", lower, task)
				}
			}
			done[task] = true
		}
	}
}

func TestCirclesInRandomGraphsAreFoundWithATruePath(t *testing.T) {
	t.Parallel()
	r := random(t)
	for range 200 {
		tasks := 2 + r.IntN(30)
		needs := make([][]int, tasks)
		for range 2 * tasks {
			a, b := r.IntN(tasks), r.IntN(tasks)
			if a != b && !slices.Contains(needs[a], b) {
				needs[a] = append(needs[a], b)
			}
		}
		reach := reachable(needs)
		groups := map[string]bool{} // each group by its lowest task
		for a := range tasks {
			if !reach[a][a] {
				continue
			}
			lowest := a
			for b := range a {
				if reach[a][b] && reach[b][a] {
					lowest = b
					break
				}
			}
			groups[taskName(lowest)] = true
		}
		plan, errs := NewPlan(graphOf(needs))
		if (plan == nil) != (len(groups) > 0) || len(errs) != len(groups) {
			t.Fatalf("%d errors for %d groups of %v", len(errs), len(groups), needs)
		}
		for _, e := range errs {
			checkCircle(t, needs, groups, e)
		}
	}
}

// reachable tells which tasks can be reached from which by one need or more.
func reachable(needs [][]int) [][]bool {
	reach := make([][]bool, len(needs))
	for a := range needs {
		reach[a] = make([]bool, len(needs))
		next := slices.Clone(needs[a])
		for len(next) > 0 {
			n := next[len(next)-1]
			next = next[:len(next)-1]
			if !reach[a][n] {
				reach[a][n] = true
				next = append(next, needs[n]...)
			}
		}
	}
	return reach
}

func checkCircle(t *testing.T, needs [][]int, groups map[string]bool, e FieldError) {
	t.Helper()
	_, path, _ := strings.Cut(e.Message, ": ")
	names := strings.Split(path, " -> ")
	if e.Code != CodeCycle || !groups[names[0]] || names[0] != names[len(names)-1] {
		t.Fatalf("not a circle through the lowest task: %v", e)
	}
	if len(names) > maxShownCircle {
		return
	}
	for i := range len(names) - 1 {
		var a, b int
		fmt.Sscanf(names[i]+" "+names[i+1], "task_%d task_%d", &a, &b)
		if !slices.Contains(needs[a], b) {
			t.Fatalf("%s does not need %s, but stands before it in %q", names[i], names[i+1], path)
		}
		if i == 0 {
			k := slices.Index(needs[a], b)
			if want := fmt.Sprintf("tasks[%d].needs[%d]", a, k); e.Field != want {
				t.Fatalf("field = %s, want %s", e.Field, want)
			}
		}
	}
}

func TestDeepChainsAndCirclesDoNotRecurse(t *testing.T) {
	t.Parallel()
	needs := make([][]int, MaxTasks)
	for i := 1; i < MaxTasks; i++ {
		needs[i] = []int{i - 1}
	}
	p, errs := NewPlan(graphOf(needs))
	checkErrors(t, errs, nil)
	ranks(t, p)
	needs[0] = []int{MaxTasks - 1}
	_, errs = NewPlan(graphOf(needs))
	if len(errs) != 1 || errs[0].Code != CodeCycle || !strings.Contains(errs[0].Message, "(9981 more)") {
		t.Errorf("errors = %v, want one circle of 10000 tasks, shortened", errs)
	}
}

func TestTooManyEdgesAreRefused(t *testing.T) {
	t.Parallel()
	needs := make([][]int, 600)
	for i := range needs {
		for n := range i {
			needs[i] = append(needs[i], n)
		}
	}
	_, errs := NewPlan(graphOf(needs))
	if len(errs) != 1 || errs[0].Code != "too_large" || !strings.Contains(errs[0].Message, "100000") {
		t.Errorf("errors = %v, want one that names the limit", errs)
	}
}

func TestSelectTakesTheScope(t *testing.T) {
	t.Parallel()
	//  0 -> 1 -> 3 -> 4,  2 -> 3,  5 alone
	p, _ := NewPlan(graphOf([][]int{{}, {0}, {}, {1, 2}, {3}, {}}))
	tests := []struct {
		scope Scope
		tasks []int
		want  string
	}{
		{ScopeOnly, []int{3}, "000100"},
		{ScopeUpstream, []int{3}, "111100"},
		{ScopeDownstream, []int{1}, "010110"},
		{ScopeDownstream, []int{0, 5}, "110111"},
		{ScopeUpstream, []int{0, 2}, "101000"},
		{ScopeOnly, nil, "111111"},
		{ScopeDownstream, nil, "111111"},
	}
	for _, test := range tests {
		got := ""
		for _, in := range p.Select(test.tasks, test.scope) {
			if in {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != test.want {
			t.Errorf("Select(%v, %s) = %s, want %s", test.tasks, test.scope, got, test.want)
		}
	}
}

// shapes like real workflows: the four of the bundled demo are of these kinds.
func TestRealShapesOfWorkflowsParse(t *testing.T) {
	t.Parallel()
	for name, needs := range map[string][][]int{
		"41 tasks in lanes that meet":   lanes(4, 9),
		"58 tasks, wide and narrow":     layers(9, 17, 1, 9, 9, 9, 1, 1, 1, 1),
		"197 tasks, deep":               layers(1, 12, 24, 40, 40, 40, 24, 12, 3, 1),
		"902 tasks, two wide layers":    layers(22, 550, 22, 154, 154),
		"10000 tasks, all below one":    layers(1, 9_998, 1),
		"2000 tasks, nothing in common": make([][]int, 2_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranks(t, mustPlan(t, textOf(needs, true)))
		})
	}
}

// lanes are chains beside each other between a first and a last task.
func lanes(count, length int) [][]int {
	needs := make([][]int, 1, 2+count*length)
	var ends []int
	for range count {
		last := 0
		for range length {
			needs = append(needs, []int{last})
			last = len(needs) - 1
		}
		ends = append(ends, last)
	}
	return append(needs, ends)
}

// layers have some tasks each; a task needs one or two of the layer above, and the
// first task of a narrow layer all of it.
func layers(sizes ...int) [][]int {
	var needs [][]int
	above, aboveSize := 0, 0
	for _, size := range sizes {
		first := len(needs)
		for i := range size {
			var own []int
			switch {
			case aboveSize == 0:
			case size == 1:
				for n := range aboveSize {
					own = append(own, above+n)
				}
			default:
				own = append(own, above+i%aboveSize)
				if n := above + (i+1)%aboveSize; n != own[0] {
					own = append(own, n)
				}
			}
			needs = append(needs, own)
		}
		above, aboveSize = first, size
	}
	return needs
}

func BenchmarkNewPlan(b *testing.B) {
	def := graphOf(randomNeeds(rand.New(rand.NewPCG(1, 1)), 10_000, 50_000))
	for b.Loop() {
		if _, errs := NewPlan(def); errs != nil {
			b.Fatal(errs)
		}
	}
}

func BenchmarkNewPlanWithOutputsEverywhere(b *testing.B) {
	def := graphOf(randomNeeds(rand.New(rand.NewPCG(1, 1)), 10_000, 50_000))
	for i := range def.Tasks {
		def.Tasks[i].Outputs = []string{fmt.Sprintf("o%d", i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := NewPlan(def); errs != nil {
			b.Fatal(errs)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(textOf(randomNeeds(rand.New(rand.NewPCG(1, 1)), 10_000, 50_000), false))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Parse(text, "yaml"); errs != nil {
			b.Fatal(errs[0])
		}
	}
}
