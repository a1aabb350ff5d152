package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	mapping = `name: mapping
params: {day: x, region: y}
tasks:
  - name: a
    type: dynamic
    workflow: one
    over: [{name: what, in: [eu, us, asia, none]}, {name: size, in: [1, 2]}]
    filter: what != 'none' && !(what == 'us' && size == 2)
    index: place
    params: {day: "${day}-${what}"}
    parallel: 2
    outputs: [rows]
  - {name: b, type: shell, script: "echo $rows", needs: [a]}
`
	one = "name: one\nparams: {day: none, what: none, size: none, place: none}\ntasks:\n  - {name: work, type: shell, script: ok, outputs: [rows]}\n"
)

func TestADynamicTaskGoesOverItsItemsAcrossATakeOver(t *testing.T) {
	t.Parallel()
	f := newFamily(t, one)
	up := f.start(mapping, 1)[0]
	f.rest()
	var said []string
	for round := 0; ; round++ {
		ids := f.give(f.other)
		if len(ids) == 0 {
			break
		}
		if want := 2 - min(round, 1); len(ids) != want {
			t.Fatalf("commands for %v, want %d", ids, want)
		}
		if round == 1 {
			f.takeOver()
		}
		row := f.row(ids[len(ids)-1])
		said = append(said, row.Params["place"]+row.Params["what"]+row.Params["size"])
		if index := round + 1; row.TriggerKey != sql.ChildKey(up, 0, 1, index) || row.Depth != 1 || row.CreatedBy != "test" {
			t.Errorf("the child is %+v", row)
		}
		f.report(dag.AttemptSuccess, map[string]string{"rows": fmt.Sprint("r", round)})
	}
	first := f.dispatched[0].GetAttempt()
	f.other.Report(t.Context(), &rpc.Report{Attempt: first, State: string(dag.AttemptSuccess), Outputs: map[string]string{"rows": "last"}}, func(string, string) {})
	f.rest()
	got := f.task(up, "a")
	if got.State != dag.TaskSuccess || got.ItemCount != 5 || got.Outputs["rows"] != `["last","r0","r1","r2","r3"]` || fmt.Sprint(said) != "[1eu2 2us1 3asia1 4asia2]" {
		t.Fatalf("the task is %+v after %v", got, said)
	}
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["rows"] != got.Outputs["rows"] {
		t.Errorf("dispatched %+v", last)
	}
}

func TestAListThatIsNoneFailsTheTask(t *testing.T) {
	t.Parallel()
	for in, says := range map[string]string{
		`"${day}"`:  "want a list",
		`[x, y, z]`: `no parameter "color"`,
	} {
		f := newFamily(t, child)
		name := map[bool]string{true: "what", false: "color"}[in[0] == '"']
		text := "name: x\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: dynamic, workflow: child, over: [{name: " + name + ", in: " + in + "}]}\n"
		up := f.start(text, 1)[0]
		f.rest()
		f.want(up, dag.InstanceFailed)
		attempts, err := f.store.Attempts(t.Context(), up, 0)
		f.must(err)
		if a := attempts[0]; !strings.Contains(a.Message, says) {
			t.Errorf("%s: the attempt ended as %+v, want it to say %s", in, a, says)
		}
	}
}

func TestStopAndRecoverGoDownToTheChildrenOfADynamicTask(t *testing.T) {
	t.Parallel()
	f := newFamily(t, one)
	up := f.start(mapping, 1)[0]
	f.rest()
	kids := f.give(f.other)
	f.wish(up, dag.VerbStop)
	for _, id := range kids {
		f.want(id, dag.InstanceStopping)
	}
	f.want(up, dag.InstanceStopping)
	for i := range kids {
		d := f.dispatched[len(f.dispatched)-1-i]
		f.other.Report(t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptKilled)}, func(string, string) {})
		f.rest()
	}
	f.want(up, dag.InstanceStopped)
	f.nothingLeft()
	f.wish(up, dag.VerbRecover)
	f.give(f.Engine)
	f.give(f.other)
	for _, id := range kids {
		if row := f.want(id, dag.InstanceRunning); row.Round != 2 || row.Parent.Attempt != 2 {
			t.Errorf("the recovered child is %+v", row)
		}
	}
}
