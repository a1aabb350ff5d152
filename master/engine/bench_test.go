package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// instantStore says that each commit is written and writes none, so that what is left is the engine's own.
type instantStore struct{ Store }

func (instantStore) Commit(_ context.Context, transitions []sql.Transition) []error {
	return make([]error, len(transitions))
}

// stepped is an engine over such a store with an instance of n tasks in a line, of which the first is dispatched, and what
// steps it to the dispatch of the next one: the report of an end, the turn, its commit, and what follows.
func stepped(t testing.TB, n int) (b *bench, step func()) {
	b = newBench(t)
	var text strings.Builder
	text.WriteString("name: line\ntasks:\n  - {name: t0, type: noop}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&text, "  - {name: t%d, type: noop, needs: [t%d]}\n", i, i-1)
	}
	b.Engine = b.engine("m1:a", instantStore{b.store})
	b.start(text.String(), 1)
	report := &rpc.Report{State: string(dag.AttemptSuccess), FinishedAt: b.now.UnixMilli()}
	answered := func(string, string) {}
	ctx := t.Context()
	return b, func() {
		report.Attempt = b.dispatched[len(b.dispatched)-1].GetAttempt()
		b.dispatched, b.offers = b.dispatched[:0], b.offers[:0]
		b.Report(ctx, report, answered)
		for b.StepOne() {
		}
		if n, _ := b.CommitOnce(ctx); n != 1 {
			t.Errorf("%d turns are committed, want 1", n)
		}
		for b.StepOne() {
		}
	}
}

// BenchmarkStepOfAChain is what a task of a line costs the engine, without the store and the links.
func BenchmarkStepOfAChain(b *testing.B) {
	b.ReportAllocs()
	const line = 5000
	var step func()
	left := 0
	for b.Loop() {
		if left == 0 {
			b.StopTimer()
			_, step = stepped(b, line)
			left = line - 1
			b.StartTimer()
		}
		step()
		left--
	}
}

// TestAStepIsTakenWithinItsBudget holds how often the engine allocates from the end of a task to the dispatch of the next one, where
// the garbage of a busy master comes from. It runs alone, as all that counts allocations.
func TestAStepIsTakenWithinItsBudget(t *testing.T) {
	const budget, steps = 66, 500
	b, step := stepped(t, steps+10)
	n := testing.AllocsPerRun(steps, step)
	t.Logf("%.0f allocations", n)
	if len(b.dispatched) != 1 || !slices.Contains([]string{fmt.Sprint("t", steps+1)}, b.dispatched[0].GetTaskName()) {
		t.Fatalf("%d tasks are dispatched, want t%d", len(b.dispatched), steps+1)
	}
	if n > budget {
		t.Errorf("a step makes %.0f allocations, the budget is %d", n, budget)
	}
}
