package engine

import (
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const choosing = `name: choosing
params: {day: x, region: y, system: {type: integer, default: "3"}}
tasks:
  - {name: load, type: noop, outputs: [rows]}
  - {name: route, type: switch, needs: [load], cases: [{when: rows > system && region == "eu", then: [many]}], else: [few]}
  - {name: many, type: noop, needs: [route]}
  - {name: few, type: noop, needs: [route]}
  - {name: named, type: noop, needs: [load], when: '"${system.workflow.name}" == "choosing" && day == "20261121"'}
  - {name: check, type: conditions, needs: [many], cases: [{when: many.state == "failed", then: [repair]}], else: []}
  - {name: repair, type: noop, needs: [check]}
  - {name: clean, type: noop, finally: true}
`

// TestAChoiceOutlivesItsMaster has a master lose the instance after each commit: the next one knows
// what was chosen by the rows alone.
func TestAChoiceOutlivesItsMaster(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(choosing, 1)[0]
	ends := map[string]dag.AttemptState{"many": dag.AttemptFailed}
	for turn := 0; !b.row(id).State.Final(); turn++ {
		if turn == 10 {
			t.Fatalf("after %d turns the instance is %s", turn, b.row(id).State)
		}
		sent := b.dispatched
		b.dispatched = nil
		for _, d := range sent {
			r := &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptSuccess), FinishedAt: b.now.UnixMilli(), Outputs: map[string]string{"rows": "12"}}
			if state, ok := ends[d.GetTaskName()]; ok {
				r.State = string(state)
			}
			b.Report(t.Context(), r, func(string, string) {})
		}
		b.settle()
		b.dispatched = nil // whoever takes over asks for what is under way again
		successor := b.engine(b.Owner+"x", b.store)
		taken, err := b.store.TakeOver(t.Context(), b.Owner, successor.Owner, 10)
		b.must(err)
		b.Engine = successor
		b.Admit(taken)
		b.settle()
	}
	tasks, _, err := b.store.Tasks(t.Context(), id, sql.Page{})
	b.must(err)
	want := map[string]dag.TaskState{
		"load": dag.TaskSuccess, "route": dag.TaskSuccess, "many": dag.TaskFailed, "few": dag.TaskSkipped, "named": dag.TaskSuccess,
		"check": dag.TaskSuccess, "repair": dag.TaskSuccess, "clean": dag.TaskSuccess,
	}
	for _, task := range tasks {
		if task.State != want[task.Name] {
			t.Errorf("task %s is %s %s, want %s", task.Name, task.State, task.Reason, want[task.Name])
		}
	}
	if row := b.row(id); row.State != dag.InstanceSuccess || len(tasks) != len(want) {
		t.Errorf("the instance is %s with %d tasks", row.State, len(tasks))
	}
}
