package site

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// TestATaskWithACacheRunsOnce counts the runs of a task by what it writes: with its result kept it runs for no other
// instance, also after the node was killed; with other parameters, and once the cache is cleared, it does.
func TestATaskWithACacheRunsOnce(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	ran := filepath.Join(t.TempDir(), "ran")
	save(ctx, t, s.Client, "kept", fmt.Sprintf(`name: kept
params: {day: "1"}
tasks:
  - name: count
    type: shell
    script: |
      echo "$day" >>%q
      echo "rows=$day$day" >"$PORPOISE_OUTPUT"
    outputs: [rows]
    cache: {max_age: 1d}
  - {name: use, type: shell, needs: [count], script: 'test "$rows" = "$day$day"'}
`, ran))
	run := func(day string) (from string) {
		t.Helper()
		id, err := s.Client.StartWorkflow(ctx, "p", "kept", client.Start{Params: map[string]string{"day": day}})
		if err != nil {
			t.Fatal(err)
		}
		if in, err := s.Client.Wait(ctx, id, nil); err != nil || in.State != dag.InstanceSuccess {
			t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
		}
		attempts, err := s.Client.Attempts(ctx, id, "count")
		if err != nil || len(attempts) != 1 {
			t.Fatalf("%d attempts, %v", len(attempts), err)
		}
		if attempts[0].CachedFrom == "" {
			return id
		}
		return attempts[0].CachedFrom
	}
	first := run("1")
	if from := run("1"); from != first {
		t.Errorf("the second instance has the outputs of %s, want those of %s", from, first)
	}
	node := s.Part("standalone")
	node.Kill()
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	if from := run("1"); from != first {
		t.Errorf("after the node was killed, outputs are those of %s, want those of %s", from, first)
	}
	run("2")
	if cleared, err := s.Client.ClearCache(ctx, "p", "kept", "count"); err != nil || cleared.Deleted != 2 {
		t.Errorf("cleared %d, %v", cleared.Deleted, err)
	}
	run("1")
	text, err := os.ReadFile(ran)
	if err != nil || strings.Join(strings.Fields(string(text)), " ") != "1 2 1" {
		t.Errorf("it ran for %q, %v", text, err)
	}
}
