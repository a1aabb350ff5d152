package dag

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// statesPage is the page that is printed from the table.
const statesPage = "../docs/STATES.md"

//go:generate go test . -run TestStatesPageIsPrintedFromTheTable -update

// TestStatesPageIsPrintedFromTheTable keeps docs/STATES.md and the code the same.
func TestStatesPageIsPrintedFromTheTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# States\n\n" +
		"Printed from the tables in `dag/state.go` by `go generate ./dag`; a test keeps it the same. The words are the\n" +
		"same in SQL, JSON, the console and here. A state that is final ends its round; `recover` and `rerun` open a new\n" +
		"round: those are the arrows that say so. Attempts know no rounds: once final, they never change.\n")
	printTable(&b, "Workflow instance", InstanceStates())
	printTable(&b, "Task instance", TaskStates())
	printTable(&b, "Attempt", AttemptStates())
	if *update {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(statesPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(statesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Errorf("%s is not what the table prints; run go generate ./dag\n%s", statesPage, firstDiff(b.String(), string(text)))
	}
}

func printTable[S ~string](b *strings.Builder, title string, rows []StateInfo[S]) {
	fmt.Fprintf(b, "\n## %s\n\n| State | Final | How one gets in and out |\n| --- | --- | --- |\n", title)
	for _, r := range rows {
		final := ""
		if r.Final {
			final = "final"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.State, final, r.About)
	}
	fmt.Fprintf(b, "\n```mermaid\nstateDiagram-v2\n    [*] --> %s\n", rows[0].State)
	for _, r := range rows {
		for _, next := range r.Next {
			fmt.Fprintf(b, "    %s --> %s\n", r.State, next)
		}
		for _, next := range r.Again {
			fmt.Fprintf(b, "    %s --> %s: new round\n", r.State, next)
		}
		if r.Final {
			fmt.Fprintf(b, "    %s --> [*]\n", r.State)
		}
	}
	b.WriteString("```\n")
}

// TestStateTablesAreClosed checks the tables themselves: every state is there once, leads
// only to states that are there, and only what is not final leads on within a round.
func TestStateTablesAreClosed(t *testing.T) {
	t.Parallel()
	checkTable(t, InstanceStates(), []InstanceState{
		InstanceSubmitted, InstanceSerialWait, InstanceRunning, InstancePausing, InstancePaused,
		InstanceStopping, InstanceStopped, InstanceFailed, InstanceSuccess, InstanceQuarantined,
	}, ParseInstanceState, InstanceState.Valid, InstanceState.Final, InstanceState.CanFollow)
	checkTable(t, TaskStates(), []TaskState{
		TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling, TaskSuccess,
		TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled,
	}, ParseTaskState, TaskState.Valid, TaskState.Final, TaskState.CanFollow)
	checkTable(t, AttemptStates(), []AttemptState{
		AttemptDispatched, AttemptRunning, AttemptKilling, AttemptSuccess, AttemptFailed, AttemptKilled,
		AttemptLost, AttemptReturned,
	}, ParseAttemptState, AttemptState.Valid, AttemptState.Final, AttemptState.CanFollow)
}

func checkTable[S ~string](t *testing.T, rows []StateInfo[S], want []S, parse func(string) (S, error), valid, final func(S) bool, follows func(a, b S) bool) {
	t.Helper()
	var got []S
	for _, r := range rows {
		got = append(got, r.State)
	}
	if !slices.Equal(got, want) {
		t.Errorf("table has %v, want %v", got, want)
	}
	for _, r := range rows {
		if s, err := parse(string(r.State)); err != nil || s != r.State || !valid(s) || final(s) != r.Final {
			t.Errorf("%s: parsed as %q, error %v, valid %v, final %v", r.State, s, err, valid(s), final(s))
		}
		if r.About == "" || !strings.HasSuffix(r.About, ".") {
			t.Errorf("%s: about %q is no sentence", r.State, r.About)
		}
		if r.Final != (len(r.Next) == 0) || !r.Final && len(r.Again) > 0 {
			t.Errorf("%s: final %v leads to %v, in a new round to %v", r.State, r.Final, r.Next, r.Again)
		}
		for _, other := range rows {
			if follows(r.State, other.State) != slices.Contains(r.Next, other.State) {
				t.Errorf("%s may follow %s: %v", other.State, r.State, !slices.Contains(r.Next, other.State))
			}
		}
		for _, next := range slices.Concat(r.Next, r.Again) {
			if !slices.Contains(want, next) {
				t.Errorf("%s leads to unknown %s", r.State, next)
			}
		}
	}
	for _, text := range []string{"", "Running", "SUCCESS", "gone"} {
		if s, err := parse(text); err == nil || s != "" || valid(S(text)) || final(S(text)) || follows(S(text), want[0]) {
			t.Errorf("%q was taken as the state %q", text, s)
		}
	}
}
