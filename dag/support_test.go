package dag

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exampleFiles lists the workflows that ship in the binary, without their cases.
func exampleFiles() ([]string, error) {
	files, err := filepath.Glob("../examples/*.yaml")
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".test.yaml") }), err
}

// show writes a definition with all that it points at.
func show(t testing.TB, def *Definition) string {
	t.Helper()
	text, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustPlan parses a text that has no errors.
func mustPlan(t testing.TB, text string) *Plan {
	t.Helper()
	plan, errs := ParsePlan([]byte(text), "yaml")
	for _, e := range errs {
		t.Errorf("line %d: %s [%s] %s", e.Line, e.Field, e.Code, e.Message)
	}
	if plan == nil {
		t.FailNow()
	}
	return plan
}

// instanceOf is an instance as far as Resolve looks at one.
func instanceOf(plan *Plan, start map[string]string) *Instance {
	return &Instance{ID: 42, Params: start, Tasks: make([]TaskInstance, len(plan.Definition.Tasks)), plan: plan}
}

// graph is a definition of noop tasks with the given needs.
func graphOf(needs [][]int) *Definition {
	def := &Definition{Name: "g", OnFailure: OnFailureContinue, Tasks: make([]Task, len(needs))}
	for i := range needs {
		def.Tasks[i] = Task{Name: taskName(i), Type: TypeNoop, Spec: &NoopSpec{}}
		for _, n := range needs[i] {
			def.Tasks[i].Needs = append(def.Tasks[i].Needs, taskName(n))
		}
	}
	return def
}

func taskName(i int) string { return fmt.Sprintf("task_%05d", i) }

// randomNeeds draws a graph without circles: each task needs some of lower rank. The
// ranks are shuffled, so that the order of the text is no order to run in.
func randomNeeds(r *rand.Rand, tasks, edges int) [][]int {
	rank := r.Perm(tasks)
	needs := make([][]int, tasks)
	have := make(map[[2]int]bool, edges)
	for range edges {
		a, b := r.IntN(tasks), r.IntN(tasks)
		if rank[a] < rank[b] {
			a, b = b, a
		}
		if a != b && !have[[2]int{a, b}] {
			have[[2]int{a, b}] = true
			needs[a] = append(needs[a], b)
		}
	}
	return needs
}

// textOf writes a graph as a definition's text, every task with an output of its own.
func textOf(needs [][]int, outputs bool) string {
	var b strings.Builder
	b.WriteString("name: g\ntasks:\n")
	for i := range needs {
		fmt.Fprintf(&b, "  - name: %s\n    type: noop\n", taskName(i))
		if outputs {
			fmt.Fprintf(&b, "    outputs: [o%d]\n", i)
		}
		if len(needs[i]) > 0 {
			b.WriteString("    needs:\n")
			for _, n := range needs[i] {
				fmt.Fprintf(&b, "      - %s\n", taskName(n))
			}
		}
	}
	return b.String()
}
