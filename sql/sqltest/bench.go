package sqltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// patience bounds every wait of the suite.
const patience = 30 * time.Second

// bench is a database with one project and one workflow of two tasks in it.
type bench struct {
	*sql.Store
	t        *testing.T
	ctx      context.Context
	open     Open
	project  sql.Project
	workflow sql.Workflow
	plan     *dag.Plan
}

func newBench(t *testing.T, open Open) *bench {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	b := &bench{t: t, ctx: ctx, open: open, Store: open(t, t.Name())}
	var err error
	if b.project, err = b.CreateProject(ctx, sql.Project{Name: "Sales"}); err != nil {
		t.Fatal(err)
	}
	b.workflow, _, _, err = b.SaveVersion(ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Daily", Text: "name: Daily\n", Format: "yaml", By: "ann", Publish: true})
	if err != nil {
		t.Fatal(err)
	}
	b.plan = &dag.Plan{Definition: &dag.Definition{Name: "Daily", Tasks: []dag.Task{{Name: "extract", Type: "noop"}, {Name: "load", Type: "noop"}}}}
	return b
}

// begin starts an instance of the bench's workflow and returns its id.
func (b *bench) begin(change ...func(*sql.Start)) int64 {
	b.t.Helper()
	id, _, err := b.Start(b.ctx, b.wish(change...))
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bench) wish(change ...func(*sql.Start)) sql.Start {
	st := sql.Start{
		WorkflowID: b.workflow.ID, ProjectID: b.project.ID, Version: 1, Priority: dag.PriorityMedium, OnFailure: dag.OnFailureContinue,
		Scope: dag.ScopeOnly, By: "ann",
	}
	for _, c := range change {
		c(&st)
	}
	return st
}

// claim takes every command for owner.
func (b *bench) claim(owner string) []sql.Claimed {
	b.t.Helper()
	commands, _, err := b.Commands(b.ctx, nil, 1000, sql.CommandCursor{})
	if err != nil {
		b.t.Fatal(err)
	}
	claims := make([]sql.Claim, len(commands))
	for i, c := range commands {
		claims[i] = sql.Claim{Command: c, Owner: owner}
	}
	got, err := b.Claim(b.ctx, claims)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// owned is one claimed instance with the machine's view of it.
type owned struct {
	*dag.Instance
	epoch int64
}

// take starts one instance and claims it.
func (b *bench) take(owner string) owned {
	b.t.Helper()
	id := b.begin()
	got, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: owner}})
	if err != nil || len(got) != 1 {
		b.t.Fatalf("claim %d: %d won, %v", id, len(got), err)
	}
	return owned{&dag.Instance{ID: id, State: dag.InstanceSubmitted, Tasks: make([]dag.TaskInstance, 2)}, got[0].Instance.OwnerEpoch}
}

// step makes the transition in which task i enters a state, with an attempt and an event.
func (b *bench) step(o owned, i int, state dag.TaskState) sql.Transition {
	o.State, o.Round = dag.InstanceRunning, 1
	o.Seq++
	t := &o.Tasks[i]
	t.State, t.Round = state, 1
	e := &dag.Effects{Changed: true, Tasks: []int{i, i}, Events: []dag.Event{{Seq: o.Seq, At: dag.Millis(o.Seq), Code: "task_state", Task: i, Round: 1, State: string(state)}}}
	if state == dag.TaskDispatched {
		t.Attempts++
		t.Attempt = dag.Attempt{Task: i, Number: t.Attempts, Round: 1, Token: fmt.Sprintf("t%d.%d.%d", o.ID, i, t.Attempts), Worker: "w1", State: dag.AttemptDispatched, DispatchedAt: 5}
		e.Attempts = []dag.Attempt{t.Attempt}
	}
	if state == dag.TaskSuccess {
		a := t.Attempt
		a.State, a.FinishedAt, a.Tail, a.Outputs = dag.AttemptSuccess, 9, []byte("done\x00\xff"), map[string]string{"rows": "3"}
		e.Attempts = []dag.Attempt{a}
		t.Attempt, t.Outputs, t.FinishedAt = dag.Attempt{}, a.Outputs, 9
	}
	return sql.Transition{Instance: o.Instance, Plan: b.plan, Epoch: o.epoch, Effects: e, At: 7}
}

// commit commits one transition.
func (b *bench) commit(t sql.Transition) error { return b.Commit(b.ctx, []sql.Transition{t})[0] }

// must ends the test on an error.
func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}
