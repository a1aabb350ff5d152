package sqltest

import (
	"errors"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// bears makes the transition in which the first task of o waits for a new child, and returns the child's id.
func (b *bench) bears(o owned) (t sql.Transition, child int64) {
	b.t.Helper()
	t = b.step(o, 0, dag.TaskRunning)
	id, err := b.NextIDs(b.ctx, 1)
	b.must(err)
	task := &o.Tasks[0]
	task.Attempts++
	task.Child = id
	task.Attempt = dag.Attempt{Task: 0, Number: task.Attempts, Round: 1, State: dag.AttemptRunning, DispatchedAt: 5, StartedAt: 5, Child: id}
	t.Effects.Attempts = []dag.Attempt{task.Attempt}
	t.Effects.Children = []dag.Child{{
		ID: id, WorkflowID: b.workflow.ID, ProjectID: b.project.ID, Version: 1, Params: map[string]string{"day": "x"},
		ScheduleTime: 77, WorkerGroup: "big", Depth: 3, By: "ann", Task: 0, Number: task.Attempts,
	}}
	o.DryRun, o.Priority, o.OnFailure = true, dag.PriorityHigh, dag.OnFailureEnd
	return t, id
}

// order makes a transition of o with a wish about a child.
func (b *bench) order(o owned, order dag.Order) sql.Transition {
	t := b.step(o, 1, dag.TaskRunning)
	t.Effects.Orders = []dag.Order{order}
	t.By = "instance 1"
	return t
}

// endOf makes the transition that ends a child of parent.
func (b *bench) endOf(child owned, parent int64, state dag.InstanceState) sql.Transition {
	t := b.step(child, 0, dag.TaskSuccess)
	child.State = state
	t.Release, t.Parent, t.By = true, parent, "a child"
	return t
}

// taken claims the child as owner.
func (b *bench) taken(child int64, owner string) owned {
	b.t.Helper()
	for _, c := range b.claim(owner) {
		if c.Instance.ID == child {
			return owned{&dag.Instance{ID: child, Tasks: make([]dag.TaskInstance, 2), Seq: c.Instance.Seq, Round: 1}, c.Instance.OwnerEpoch}
		}
	}
	b.t.Fatalf("there is no command for %d", child)
	return owned{}
}

func childrenComeWithTheirParentsCommit(t *testing.T, b *bench) {
	o := b.take("m1:a")
	tr, child := b.bears(o)
	late := tr
	late.Epoch = 99
	if err := b.commit(late); !errors.Is(err, sql.ErrNotOwner) {
		t.Fatalf("commit of a lost parent: %v", err)
	}
	if n := len(b.commands()); n != 0 {
		t.Fatalf("a parent that is another's made %d commands", n)
	}
	b.must(b.commit(tr))
	b.must(b.commit(tr)) // its answer was lost
	if commands := b.commands(); len(commands) != 1 || commands[0].ID != child || commands[0].Kind != sql.CommandStart || commands[0].Priority != dag.PriorityHigh {
		t.Fatalf("commands %+v", commands)
	}
	row, err := b.Instance(b.ctx, child)
	b.must(err)
	if row.Parent != (sql.Parent{Instance: o.ID, Task: "extract", Attempt: 1}) || row.Depth != 3 || row.TriggerKey != sql.ChildKey(o.ID, 0, 1, 0) ||
		row.ScheduleTime != 77 || !row.DryRun || row.OnFailure != dag.OnFailureEnd || row.WorkerGroup != "big" || row.Params["day"] != "x" || row.CreatedBy != "ann" {
		t.Errorf("the child is %+v", row)
	}
	kids, next, err := b.ChildrenOf(b.ctx, o.ID, sql.Page{})
	b.must(err)
	if len(kids) != 1 || kids[0].ID != child || next != "" {
		t.Errorf("children %+v", kids)
	}
	again, err := b.Load(b.ctx, "m1:a", []int64{o.ID})
	b.must(err)
	if len(again) != 1 || again[0].Attempts[0].Child != child || again[0].Tasks[0].Child != child {
		t.Errorf("read again it is %+v", again)
	}
}

func anEndedChildWakesItsParent(t *testing.T, b *bench) {
	o := b.take("m1:a")
	tr, id := b.bears(o)
	b.must(b.commit(tr))
	child := b.taken(id, "m2:b")
	end := b.endOf(child, o.ID, dag.InstanceFailed)
	b.must(b.commit(end))
	b.must(b.commit(end)) // its answer was lost
	rows, err := b.ControlsOf(b.ctx, "m1:a")
	b.must(err)
	if len(rows) != 1 || rows[0].Verb != sql.VerbChildEnded || rows[0].InstanceID != o.ID || rows[0].Attempt != 1 || rows[0].Child != id || rows[0].Tasks[0] != "extract" {
		t.Fatalf("the parent is told %+v", rows)
	}
	got, err := b.Children(b.ctx, []int64{id, 1 << 40})
	b.must(err)
	if len(got) != 1 || got[0].State != dag.InstanceFailed || got[0].Attempt != 1 || got[0].Open || got[0].Outputs["rows"] != "3" || got[0].Workflow != "Daily" {
		t.Errorf("the child is %+v", got)
	}
	if n := len(b.commands()); n != 0 {
		t.Errorf("%d commands for a parent that has an owner", n)
	}

	// A recovery ties the child to another attempt, and gives it a command.
	b.must(b.commit(b.order(o, dag.Order{Child: id, Verb: dag.VerbRecover, Number: 2})))
	if got, err = b.Children(b.ctx, []int64{id}); err != nil || !got[0].Open || got[0].Attempt != 2 {
		t.Errorf("about to be recovered it is %+v, %v", got, err)
	}
	commands := b.commands()
	if len(commands) != 1 || commands[0].InstanceID != id || commands[0].Kind != sql.CommandResume {
		t.Fatalf("commands %+v", commands)
	}
	again := b.taken(id, "m2:b")
	wishes, err := b.Controls(b.ctx, id)
	b.must(err)
	if len(wishes) != 1 || wishes[0].Verb != dag.VerbRecover || wishes[0].By != "instance 1" {
		t.Fatalf("the child is asked %+v", wishes)
	}
	// Its parent is paused by then: the end gives it a command.
	rest := b.step(o, 1, dag.TaskReady)
	o.State, rest.Release = dag.InstancePaused, true
	rest.Effects.Applied = []dag.Applied{{ID: rows[0].ID, Result: "applied"}}
	b.must(b.commit(rest))
	end = b.endOf(again, o.ID, dag.InstanceSuccess)
	end.Effects.Applied = []dag.Applied{{ID: wishes[0].ID, Result: "applied"}}
	b.must(b.commit(end))
	if commands = b.commands(); len(commands) != 1 || commands[0].InstanceID != o.ID || commands[0].Kind != sql.CommandResume {
		t.Errorf("commands %+v, want one for the parent", commands)
	}
	back := b.claim("m3:c")
	if len(back) != 1 || len(back[0].Controls) != 1 || back[0].Controls[0].Attempt != 2 {
		t.Errorf("the parent comes back as %+v", back)
	}
}

func aParentAndItsChildMayCommitTogether(t *testing.T, b *bench) {
	o := b.take("m1:a")
	tr, id := b.bears(o)
	b.must(b.commit(tr))
	child := b.taken(id, "m1:a")
	for i, err := range b.Commit(b.ctx, []sql.Transition{
		b.order(o, dag.Order{Child: id, Verb: dag.VerbStop, Force: true}), b.endOf(child, o.ID, dag.InstanceSuccess),
	}) {
		if err != nil {
			t.Fatalf("transition %d: %v", i, err)
		}
	}
	if rows, err := b.Controls(b.ctx, o.ID); err != nil || len(rows) != 1 {
		t.Errorf("the parent is told %+v, %v", rows, err)
	}
	// The wish came as the child ended: it is still to be answered.
	if commands := b.commands(); len(commands) != 1 || commands[0].InstanceID != id {
		t.Errorf("commands %+v, want one for the child", commands)
	}
}

// again makes the transition in which a child opens a round.
func (b *bench) again(child owned, parent int64) sql.Transition {
	t := b.step(child, 0, dag.TaskReady)
	child.State, child.Round = dag.InstanceRunning, child.Round+1
	t.Parent, t.By, t.Effects.NewRound = parent, "a child", true
	return t
}

// bornAndEnded makes a child of o that has ended, and answers what o was told of that.
func (b *bench) bornAndEnded(o owned) int64 {
	b.t.Helper()
	tr, id := b.bears(o)
	b.must(b.commit(tr))
	b.must(b.commit(b.endOf(b.taken(id, "m2:b"), o.ID, dag.InstanceFailed)))
	return id
}

func aChildThatRunsAgainTellsItsParent(t *testing.T, b *bench) {
	o := b.take("m1:a")
	id := b.bornAndEnded(o)
	rows, err := b.Controls(b.ctx, o.ID)
	b.must(err)
	end := b.step(o, 1, dag.TaskFailed)
	o.State, end.Release = dag.InstanceFailed, true
	end.Effects.Applied = []dag.Applied{{ID: rows[0].ID, Result: dag.ResultApplied}}
	b.must(b.commit(end))

	wish := b.wishFor(id, dag.VerbRecover)
	child := b.taken(id, "m2:b")
	again := b.again(child, o.ID)
	again.Effects.Applied = []dag.Applied{{ID: wish.ID, Result: dag.ResultApplied}}
	b.must(b.commit(again))
	b.must(b.commit(again)) // its answer was lost
	if rows, err = b.Controls(b.ctx, o.ID); err != nil || len(rows) != 1 || rows[0].Verb != sql.VerbChildAgain || rows[0].Child != id || rows[0].Tasks[0] != "extract" {
		t.Fatalf("the parent is told %+v, %v", rows, err)
	}
	if commands := b.commands(); len(commands) != 1 || commands[0].InstanceID != o.ID || commands[0].Kind != sql.CommandResume {
		t.Fatalf("commands %+v, want one for the parent", commands)
	}

	// The child ends before its parent waits for it: the parent hears of it in the very commit in which it begins to.
	b.must(b.commit(b.endOf(child, o.ID, dag.InstanceSuccess)))
	up := b.taken(o.ID, "m3:c")
	await := b.step(up, 0, dag.TaskRunning)
	up.State = dag.InstanceRunning
	await.Effects.Orders = []dag.Order{{Child: id, Number: 2}}
	await.Effects.Applied = []dag.Applied{{ID: rows[0].ID, Result: dag.ResultApplied}}
	b.must(b.commit(await))
	b.must(b.commit(await)) // its answer was lost
	if rows, err = b.Controls(b.ctx, o.ID); err != nil || len(rows) != 1 || rows[0].Verb != sql.VerbChildEnded || rows[0].Attempt != 2 || rows[0].Child != id {
		t.Errorf("the parent is told %+v, %v", rows, err)
	}
	if wishes, err := b.Controls(b.ctx, id); err != nil || len(wishes) != 0 {
		t.Errorf("of the child is asked %+v, %v, want nothing", wishes, err)
	}
	if commands := b.commands(); len(commands) != 0 {
		t.Errorf("commands %+v", commands)
	}
}

func aParentThatRunsHearsOfNoNewRound(t *testing.T, b *bench) {
	o := b.take("m1:a")
	id := b.bornAndEnded(o)
	before, err := b.Controls(b.ctx, o.ID)
	b.must(err)
	b.wishFor(id, dag.VerbRecover)
	child := b.taken(id, "m2:b")
	// The very batch ties it to another attempt: its end tells that one.
	again := b.again(child, o.ID)
	await := b.order(o, dag.Order{Child: id, Number: 2})
	for i, err := range b.Commit(b.ctx, []sql.Transition{again, await}) {
		if err != nil {
			t.Fatalf("transition %d: %v", i, err)
		}
	}
	if rows, err := b.Controls(b.ctx, o.ID); err != nil || len(rows) > len(before)+1 || rows[0].Verb != sql.VerbChildEnded {
		t.Errorf("the parent is told %+v, %v", rows, err)
	}
	b.must(b.commit(b.endOf(child, o.ID, dag.InstanceSuccess)))
	rows, err := b.Controls(b.ctx, o.ID)
	b.must(err)
	if last := rows[len(rows)-1]; last.Attempt != 2 || last.Verb != sql.VerbChildEnded {
		t.Errorf("the parent is told %+v last", last)
	}
}
