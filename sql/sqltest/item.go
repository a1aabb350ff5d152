package sqltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// mapped makes the transition in which the first task of o has these items, of which some have changed.
func (b *bench) mapped(o owned, items []dag.Item, changed ...int) sql.Transition {
	b.t.Helper()
	b.plan.Definition.Tasks[0].Type = dag.TypeDynamic // the plan of this bench alone
	t := b.step(o, 0, dag.TaskRunning)
	o.Tasks[0].Items = items
	for _, k := range changed {
		t.Effects.Items = append(t.Effects.Items, dag.ItemRef{Task: 0, Index: k})
	}
	return t
}

// loaded reads the items of the first task of an instance, as the master reads them that takes it up.
func (b *bench) loaded(id int64, owner string) []dag.Item {
	b.t.Helper()
	got, err := b.Load(b.ctx, owner, []int64{id})
	b.must(err)
	if len(got) != 1 {
		b.t.Fatalf("%d instances are loaded", len(got))
	}
	return got[0].Tasks[0].Items
}

func sameItem(a, b dag.Item) bool {
	return a.State == b.State && a.Child == b.Child && a.WorkflowID == b.WorkflowID && a.ProjectID == b.ProjectID && a.Version == b.Version &&
		maps.Equal(a.Params, b.Params) && maps.Equal(a.Outputs, b.Outputs)
}

func (b *bench) wantItems(what string, got, want []dag.Item) {
	b.t.Helper()
	if !slices.EqualFunc(got, want, sameItem) {
		b.t.Errorf("%s the items are %+v, want %+v", what, got, want)
	}
}

func itemsOutliveTheirMaster(t *testing.T, b *bench) {
	o := b.take("m1:a")
	items := make([]dag.Item, 500) // more than one statement takes
	all := make([]int, len(items))
	for k := range items {
		items[k] = dag.Item{State: dag.ItemWaiting, Child: int64(900 + k), WorkflowID: 3, ProjectID: 4, Version: 2, Params: map[string]string{"item": fmt.Sprint(k), "é": "\"x\"\n"}}
		all[k] = k
	}
	begun := b.mapped(o, items, all...)
	late := begun
	late.Epoch = 99
	if err := b.commit(late); !errors.Is(err, sql.ErrNotOwner) {
		t.Fatalf("commit of a lost instance: %v", err)
	}
	b.must(b.commit(begun))
	b.must(b.commit(begun)) // its answer was lost
	b.wantItems("begun,", b.loaded(o.ID, "m1:a"), items)

	// Only what a transition names is written, and what it names twice is one row.
	items = slices.Clone(items)
	items[7].State, items[7].Outputs = dag.ItemSuccess, map[string]string{"rows": "3"}
	items[499].State, items[499].Child = dag.ItemAgain, 7
	written := slices.Clone(items)
	items[0].State = dag.ItemFailed
	b.must(b.commit(b.mapped(o, items, 7, 499, 7)))
	b.wantItems("later,", b.loaded(o.ID, "m1:a"), written)
	if rows, _, err := b.Tasks(b.ctx, o.ID, sql.Page{Limit: 10}); err != nil || rows[0].ItemCount != 500 {
		t.Errorf("a list of tasks has %d items, %v", rows[0].ItemCount, err)
	}
	want := []sql.ItemCount{{Task: 0, State: dag.ItemAgain, Count: 1}, {Task: 0, State: dag.ItemSuccess, Count: 1}, {Task: 0, State: dag.ItemWaiting, Count: 498}}
	if got, err := b.ItemCounts(b.ctx, o.ID); err != nil || !slices.Equal(got, want) {
		t.Errorf("the items are counted as %+v, %v; want %+v", got, err, want)
	}

	taken, err := b.TakeOver(b.ctx, "m1:a", "m2:b", 10)
	b.must(err)
	if len(taken) != 1 {
		t.Fatalf("%d instances are taken over", len(taken))
	}
	b.wantItems("taken over,", taken[0].Tasks[0].Items, written)
}

func aShorterListHidesOlderItems(t *testing.T, b *bench) {
	o := b.take("m1:a")
	var items []dag.Item
	for k := range 5 {
		items = append(items, dag.Item{State: dag.ItemFailed, Child: int64(900 + k), Version: 1, Params: map[string]string{"item": "old"}})
	}
	b.must(b.commit(b.mapped(o, items, 0, 1, 2, 3, 4)))

	// A round that begins anew finds fewer, then more items than the one before.
	fewer := []dag.Item{{State: dag.ItemRunning, Child: 950, Version: 1}, {State: dag.ItemWaiting, Child: 951, Version: 1}}
	tr := b.mapped(o, fewer, 0, 1)
	tr.Effects.Items = append(tr.Effects.Items, dag.ItemRef{Task: 0, Index: 4}) // it changed before the list was dropped
	b.must(b.commit(tr))
	b.wantItems("with a shorter list,", b.loaded(o.ID, "m1:a"), fewer)
	b.must(b.commit(b.mapped(o, nil)))
	b.wantItems("without a list,", b.loaded(o.ID, "m1:a"), nil)
	more := append(slices.Clone(fewer), dag.Item{State: dag.ItemWaiting, Child: 952, Version: 1})
	b.must(b.commit(b.mapped(o, more, 0, 1, 2)))
	b.wantItems("with a longer list,", b.loaded(o.ID, "m1:a"), more)

	// Rows that a task counts and that are not there are damage, not a shorter list.
	b.must(b.commit(b.mapped(o, make([]dag.Item, 9))))
	got, err := b.Load(b.ctx, "m1:a", []int64{o.ID})
	b.must(err)
	if len(got) != 1 || !errors.Is(got[0].Err, dag.ErrDamaged) {
		t.Errorf("with 4 rows missing it loads as %+v", got)
	}
}

func iterationsGoWithTheirTask(t *testing.T, b *bench) {
	o := b.take("m1:a")
	first := b.step(o, 0, dag.TaskDispatched)
	o.Tasks[0].Iteration, first.Effects.Attempts[0].Iteration = 1, 1
	o.Tasks[0].Attempt.Iteration = 1
	b.must(b.commit(first))
	ended := o.Tasks[0].Attempt
	wait := b.step(o, 0, dag.TaskRetryWait)
	ended.State, ended.FinishedAt, ended.Outputs = dag.AttemptSuccess, 9, map[string]string{"cursor": "p2"}
	o.Tasks[0].Attempt, o.Tasks[0].Iteration, o.Tasks[0].NextAt, o.Tasks[0].Outputs = dag.Attempt{}, 2, 20, ended.Outputs
	o.Tasks[0].Reason = dag.ReasonRepeat
	wait.Effects.Attempts = []dag.Attempt{ended}
	b.must(b.commit(wait))

	taken, err := b.TakeOver(b.ctx, "m1:a", "m2:b", 10)
	b.must(err)
	row := taken[0].Tasks[0]
	if row.Iteration != 2 || row.NextAt != 20 || row.Outputs["cursor"] != "p2" || row.Reason != dag.ReasonRepeat {
		t.Fatalf("taken over it is %+v", row)
	}
	o.epoch = taken[0].Instance.OwnerEpoch
	second := b.step(o, 0, dag.TaskDispatched)
	second.Effects.Attempts[0].Iteration = 2
	b.must(b.commit(second))
	attempts, err := b.Attempts(b.ctx, o.ID, 0)
	b.must(err)
	iterations := map[int]int{}
	for _, a := range attempts {
		iterations[a.Number] = a.Iteration
	}
	if !maps.Equal(iterations, map[int]int{1: 1, 2: 2}) {
		t.Errorf("the attempts are of iterations %v", iterations)
	}
}
