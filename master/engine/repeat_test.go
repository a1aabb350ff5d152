package engine

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const pages = `name: pages
params: {day: x, region: y, cursor: first}
tasks:
  - name: page
    type: shell
    script: ok
    outputs: [cursor, done]
    repeat_until: {condition: "done ?? false", max: 3, delay: 5s}
`

func TestALoopGoesOnWhereADeadMasterLeftIt(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	id := f.start(pages, 1)[0]
	f.rest()
	first := f.dispatched[0]
	f.report(dag.AttemptSuccess, map[string]string{"cursor": "p2"})
	if got := f.task(id, "page"); got.State != dag.TaskRetryWait || got.Reason != dag.ReasonRepeat || got.Iteration != 2 || got.Outputs["cursor"] != "p2" {
		t.Fatalf("after the first iteration the task is %+v", got)
	}

	f.takeOver()
	if len(f.dispatched) != 1 {
		t.Fatal("the next iteration did not wait")
	}
	f.now = f.now.Add(5 * time.Second)
	f.ring()
	f.rest()
	second := f.dispatched[len(f.dispatched)-1]
	if len(f.dispatched) != 2 || second.GetEnv()["cursor"] != "p2" || second.GetEnv()["system_iteration"] != "2" || first.GetEnv()["cursor"] != "first" {
		t.Fatalf("dispatched %+v, then %+v", first.GetEnv(), second.GetEnv())
	}
	if first.GetIdempotencyKey() == second.GetIdempotencyKey() {
		t.Errorf("both iterations have the key %s", first.GetIdempotencyKey())
	}
	f.report(dag.AttemptSuccess, map[string]string{"cursor": "p3", "done": "true"})
	f.want(id, dag.InstanceSuccess)
	attempts, err := f.store.Attempts(t.Context(), id, 0)
	f.must(err)
	if len(attempts) != 2 || attempts[0].Iteration+attempts[1].Iteration != 3 || f.task(id, "page").Outputs["cursor"] != "p3" {
		t.Errorf("the attempts are %+v", attempts)
	}
}
