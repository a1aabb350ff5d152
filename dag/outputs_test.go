package dag

import (
	"fmt"
	"strings"
	"testing"
)

func TestAmbiguousOutputsAreRefused(t *testing.T) {
	t.Parallel()
	task := func(name string, outputs string, needs ...string) string {
		return fmt.Sprintf("  - {name: %s, type: noop, outputs: [%s], needs: [%s]}", name, outputs, strings.Join(needs, ", "))
	}
	tests := []struct {
		name string
		text string
		want []wrong
	}{
		{"two unrelated producers, one consumer", tasksText(task("a", "x"), task("b", "x"), task("c", "", "a", "b")), []wrong{
			{4, "tasks[1].outputs[0]", "ambiguous_output", `from "a" and from "b"`},
		}},
		{"the consumer is far below", tasksText(task("a", "x"), task("b", "y, x"), task("c", "", "a"), task("d", "", "b"), task("e", "", "c", "d")), []wrong{
			{4, "tasks[1].outputs[1]", "ambiguous_output", `"e" would see both`},
		}},
		{"nobody sees both", tasksText(task("a", "x"), task("b", "x"), task("c", "", "a"), task("d", "", "b")), nil},
		{"one comes after the other", tasksText(task("a", "x"), task("b", "x", "a"), task("c", "", "a", "b")), nil},
		{"a chain of three beside a bridge", tasksText(task("a", "x"), task("b", "x", "a"), task("c", "x", "b"), task("d", "", "a", "b", "c")), nil},
		{"a producer that sees two is itself a consumer", tasksText(task("a", "x"), task("b", "x"), task("c", "x", "a", "b")), []wrong{
			{4, "tasks[1].outputs[0]", "ambiguous_output", `"c" would see both`},
		}},
		{"two names, two errors", tasksText(task("a", "x, y"), task("b", "x, y"), task("c", "", "a", "b")), []wrong{
			{4, "tasks[1].outputs[0]", "ambiguous_output", ""}, {4, "tasks[1].outputs[1]", "ambiguous_output", ""},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, errs := Parse([]byte(test.text), "yaml")
			checkErrors(t, errs, test.want)
		})
	}
}

// TestAmbiguityAgreesWithItsDefinition compares the one walk with the definition,
// pair by pair, on random graphs.
func TestAmbiguityAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	r := random(t)
	refused := 0
	for range 500 {
		tasks := 2 + r.IntN(12)
		needs := randomNeeds(r, tasks, r.IntN(2*tasks))
		def := graphOf(needs)
		var producers []int
		for i := range tasks {
			if r.IntN(3) == 0 {
				def.Tasks[i].Outputs = []string{"x"}
				producers = append(producers, i)
			}
		}
		reach := reachable(needs)
		want := false
		for _, a := range producers {
			for _, b := range producers {
				for c := range tasks {
					want = want || a < b && !reach[a][b] && !reach[b][a] && reach[c][a] && reach[c][b]
				}
			}
		}
		p, errs := NewPlan(def)
		checkErrors(t, errs, nil)
		if got := len(p.checkOutputs()) > 0; got != want {
			t.Fatalf("ambiguous = %v, want %v: needs %v, producers %v", got, want, needs, producers)
		}
		if want {
			refused++
		}
	}
	if refused < 50 {
		t.Errorf("only %d of 500 graphs were ambiguous: the test shows too little", refused)
	}
}
