package sqltest

import (
	"errors"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func (b *bench) wishFor(id int64, verb dag.Verb) sql.ControlRow {
	b.t.Helper()
	c, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: id, Verb: verb, Tasks: []string{"load"}, Scope: dag.ScopeDownstream, Force: true, By: "ann"})
	b.must(err)
	return c
}

func (b *bench) commands() []sql.Command {
	b.t.Helper()
	out, _, err := b.Commands(b.ctx, nil, 100, sql.CommandCursor{})
	b.must(err)
	return out
}

func wishesReachTheirOwner(t *testing.T, b *bench) {
	o := b.take("m1:a")
	first, second := b.wishFor(o.ID, dag.VerbPause), b.wishFor(o.ID, dag.VerbStop)
	if first.ID == 0 || second.ID <= first.ID {
		t.Fatalf("ids %d, %d", first.ID, second.ID)
	}
	if n := len(b.commands()); n != 0 {
		t.Errorf("%d commands for an instance that has an owner", n)
	}
	for name, read := range map[string]func() ([]sql.ControlRow, error){
		"Controls":   func() ([]sql.ControlRow, error) { return b.Controls(b.ctx, o.ID) },
		"ControlsOf": func() ([]sql.ControlRow, error) { return b.ControlsOf(b.ctx, "m1:a") },
	} {
		got, err := read()
		b.must(err)
		if len(got) != 2 || got[0].ID != first.ID || got[1].Verb != dag.VerbStop || !got[0].Force || got[0].Tasks[0] != "load" ||
			got[0].Scope != dag.ScopeDownstream || got[0].By != "ann" {
			t.Errorf("%s = %+v", name, got)
		}
	}
	other := b.take("m2:b")
	third := b.wishFor(other.ID, dag.VerbStop)
	if both, err := b.Controls(b.ctx, other.ID, o.ID, 1<<40); err != nil || len(both) != 3 || both[0].ID != first.ID || both[2].ID != third.ID {
		t.Errorf("of several instances: %+v, %v", both, err)
	}
	if none, err := b.Controls(b.ctx); err != nil || len(none) != 0 {
		t.Errorf("of none: %+v, %v", none, err)
	}
	tr := b.step(o, 0, dag.TaskDispatched)
	tr.Effects.Applied = []dag.Applied{{ID: first.ID, Result: "applied"}, {ID: second.ID, Result: "already"}}
	b.must(b.commit(tr))
	if left, err := b.Controls(b.ctx, o.ID); err != nil || len(left) != 0 {
		t.Errorf("after the answer: %+v, %v", left, err)
	}
	answered, err := b.Control(b.ctx, second.ID)
	b.must(err)
	if answered.Result != "already" || answered.AppliedAt != 7 {
		t.Errorf("answered as %+v", answered)
	}
	if _, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: 1 << 40, Verb: dag.VerbStop}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a wish about nothing: %v, want ErrNotFound", err)
	}
}

func releaseWithAWishMakesACommand(t *testing.T, b *bench) {
	o := b.take("m1:a")
	wish := b.wishFor(o.ID, dag.VerbRecover)
	end := b.step(o, 0, dag.TaskSuccess)
	o.State, end.Release = dag.InstanceFailed, true
	b.must(b.commit(end))
	commands := b.commands()
	if len(commands) != 1 || commands[0].Kind != sql.CommandResume || commands[0].InstanceID != o.ID || commands[0].ID == o.ID {
		t.Fatalf("commands after the release: %+v", commands)
	}
	got := b.claim("m2:b")
	if len(got) != 1 || got[0].Instance.OwnerEpoch != 2 || got[0].Instance.State != dag.InstanceFailed || len(got[0].Controls) != 1 ||
		got[0].Controls[0].ID != wish.ID || len(got[0].Tasks) != 1 {
		t.Fatalf("claimed %+v", got)
	}
	if n := len(b.commands()); n != 0 {
		t.Errorf("%d commands left", n)
	}
	// A release without a wish makes none.
	tr := sql.Transition{Instance: o.Instance, Plan: b.plan, Epoch: 2, Release: true, Effects: &dag.Effects{Applied: []dag.Applied{{ID: wish.ID, Result: "applied"}}}}
	b.must(b.commit(tr))
	if n := len(b.commands()); n != 0 {
		t.Errorf("%d commands after a release with nothing to do", n)
	}
}

func wishWithoutOwnerMakesACommand(t *testing.T, b *bench) {
	waiting := b.begin()
	b.wishFor(waiting, dag.VerbStop)
	if commands := b.commands(); len(commands) != 1 || commands[0].Kind != sql.CommandStart {
		t.Fatalf("a wish about a waiting start made %+v", commands)
	}
	got := b.claim("m1:a")
	if len(got) != 1 || len(got[0].Controls) != 1 {
		t.Fatalf("claimed %+v", got)
	}
	o := owned{&dag.Instance{ID: waiting, State: dag.InstanceStopped}, 1}
	b.must(b.commit(sql.Transition{
		Instance: o.Instance, Plan: b.plan, Epoch: 1, Release: true,
		Effects: &dag.Effects{Applied: []dag.Applied{{ID: got[0].Controls[0].ID, Result: "applied"}}},
	}))
	b.wishFor(waiting, dag.VerbRecover)
	b.wishFor(waiting, dag.VerbPause)
	if n := len(b.commands()); n == 0 {
		t.Fatal("a wish about an instance without an owner made no command")
	}
	// However many commands there are, one claim wins; the rest are deleted.
	if got = b.claim("m1:a"); len(got) != 1 || len(got[0].Controls) != 2 || len(b.commands()) != 0 {
		t.Errorf("claimed %+v, %d commands left", got, len(b.commands()))
	}
}

func ownedInstancesCanBeLoadedAgain(t *testing.T, b *bench) {
	mine, foreign := b.take("m1:a"), b.take("m2:b")
	b.must(b.commit(b.step(mine, 0, dag.TaskDispatched)))
	ids, err := b.Owned(b.ctx, "m1:a", 0, 10)
	b.must(err)
	if len(ids) != 1 || ids[0] != mine.ID {
		t.Errorf("m1 owns %v, want %d", ids, mine.ID)
	}
	got, err := b.Load(b.ctx, "m1:a", []int64{mine.ID, foreign.ID, 1 << 40})
	b.must(err)
	if len(got) != 1 || got[0].Instance.ID != mine.ID || len(got[0].Attempts) != 1 || got[0].Instance.OwnerEpoch != 1 {
		t.Errorf("loaded %+v", got)
	}
}
