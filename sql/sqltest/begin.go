package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// unbegun reads the instances for owner and makes the transition of each that begins it with its claim.
func (b *bench) unbegun(store *sql.Store, owner string, layout int64, ids ...int64) []sql.Transition {
	b.t.Helper()
	list, err := store.Unbegun(b.ctx, owner, ids)
	b.must(err)
	out := make([]sql.Transition, len(list))
	for i, c := range list {
		id := c.Instance.ID
		o := owned{&dag.Instance{ID: id, State: dag.InstanceSubmitted, Tasks: make([]dag.TaskInstance, 2)}, c.Instance.OwnerEpoch}
		out[i] = b.step(o, 0, dag.TaskDispatched)
		out[i].Claim = &sql.Claim{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: owner, LayoutEpoch: layout}
		out[i].Mark = c.Mark
	}
	return out
}

func anInstanceIsClaimedByTheCommitThatBeginsIt(t *testing.T, b *bench) {
	ids := []int64{b.begin(), b.begin(), b.begin()}
	for i, err := range b.Commit(b.ctx, b.unbegun(b.Store, "m1:a", 7, ids...)) {
		if err != nil {
			t.Fatalf("transition %d: %v", i, err)
		}
	}
	for _, id := range ids {
		in, err := b.Instance(b.ctx, id)
		b.must(err)
		if in.Owner != "m1:a" || in.OwnerEpoch != 1 || in.LayoutEpoch != 7 || in.State != dag.InstanceRunning || in.CrashCount != 0 {
			t.Errorf("instance %d is %s of %q, epoch %d, layout %d, with %d crashes", id, in.State, in.Owner, in.OwnerEpoch, in.LayoutEpoch, in.CrashCount)
		}
	}
	if left := b.claim("m2:b"); len(left) != 0 {
		t.Errorf("%d of their commands are left", len(left))
	}
	// Its owner goes on, and another's transition of the same epoch is nobody's.
	loaded, err := b.Load(b.ctx, "m1:a", ids[:1])
	b.must(err)
	if len(loaded) != 1 || len(loaded[0].Tasks) != 1 || len(loaded[0].Attempts) != 1 {
		t.Errorf("loaded %+v, want one instance with its dispatched task", loaded)
	}
	if list, err := b.Unbegun(b.ctx, "m2:b", ids); err != nil || len(list) != 0 {
		t.Errorf("%d of them can begin once more, %v", len(list), err)
	}
}

func aWishComesWithTheInstanceThatBegins(t *testing.T, b *bench) {
	with, without := b.begin(), b.begin()
	c, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: with, Verb: dag.VerbStop, By: "ann"})
	b.must(err)
	list, err := b.Unbegun(b.ctx, "m1:a", []int64{with, without})
	b.must(err)
	wishes := map[int64][]int64{}
	for _, in := range list {
		for _, control := range in.Controls {
			wishes[in.Instance.ID] = append(wishes[in.Instance.ID], control.ID)
		}
	}
	if len(list) != 2 || len(wishes) != 1 || len(wishes[with]) != 1 || wishes[with][0] != c.ID {
		t.Errorf("%d instances with the wishes %v, want the wish %d about %d alone", len(list), wishes, c.ID, with)
	}
}

func whatIsNotAsItWasReadDoesNotBegin(t *testing.T, b *bench) {
	claimed, gone, retaken := b.begin(), b.begin(), b.begin()
	late := b.unbegun(b.Store, "m2:b", 1, claimed, gone, retaken)
	b.must(errors.Join(b.Commit(b.ctx, b.unbegun(b.Store, "m1:a", 1, claimed))...))
	// Another master has claimed it, and is gone: it was taken up once without getting to a commit.
	if won, err := b.Claim(b.ctx, []sql.Claim{{Command: late[2].Claim.Command, Owner: "m3:c"}}); err != nil || len(won) != 1 {
		t.Fatalf("claim: %d, %v", len(won), err)
	}
	late[1].Mark++
	before := []string{b.dump(claimed), b.dump(gone), b.dump(retaken)}
	for i, err := range b.Commit(b.ctx, late) {
		if !errors.Is(err, sql.ErrNotOwner) {
			t.Errorf("transition %d: %v, want ErrNotOwner", i, err)
		}
	}
	for i, id := range []int64{claimed, gone, retaken} {
		if after := b.dump(id); after != before[i] {
			t.Errorf("what was refused changed\n%s\ninto\n%s", before[i], after)
		}
	}
	// The command of the one that only had changed is still there.
	if left := b.claim("m2:b"); len(left) != 1 || left[0].Instance.ID != gone || left[0].Instance.OwnerEpoch != 1 {
		t.Errorf("claimed %+v, want instance %d alone", left, gone)
	}
}

func eachInstanceBeginsOnce(t *testing.T, b *bench) {
	const n, owners = 120, 4
	ids := make([]int64, n)
	race(n, func(i int) { ids[i] = b.begin() })
	var mu sync.Mutex
	won := map[int64]string{}
	race(owners, func(i int) {
		store, owner := b.Store, fmt.Sprintf("m%d:a", i)
		if i%2 == 1 {
			store = b.open(t, t.Name())
		}
		var mine []int64
		if i == 0 { // one goes the longer way
			claims := make([]sql.Claim, n)
			for j, id := range ids {
				claims[j] = sql.Claim{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: owner}
			}
			got, err := store.Claim(b.ctx, claims)
			b.must(err)
			for _, c := range got {
				mine = append(mine, c.Instance.ID)
			}
		} else {
			list := b.unbegun(store, owner, 1, ids...)
			for j, err := range store.Commit(b.ctx, list) {
				switch {
				case err == nil:
					mine = append(mine, list[j].Instance.ID)
				case !errors.Is(err, sql.ErrNotOwner):
					t.Errorf("%s: %v", owner, err)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range mine {
			if before, twice := won[id]; twice {
				t.Errorf("instance %d is of %s and %s", id, before, owner)
			}
			won[id] = owner
		}
	})
	for _, id := range ids {
		in, err := b.Instance(b.ctx, id)
		b.must(err)
		if in.Owner != won[id] || in.OwnerEpoch != 1 {
			t.Errorf("instance %d has owner %q and epoch %d, want %q and 1", id, in.Owner, in.OwnerEpoch, won[id])
		}
	}
}

func aWorkflowIsFoundByItsNames(t *testing.T, b *bench) {
	p, w, err := b.WorkflowNamed(b.ctx, "sales", "DAILY")
	b.must(err)
	if p != b.project || w.ID != b.workflow.ID || w.Name != "Daily" {
		t.Errorf("found %+v of %+v, want %q of %+v", w, p, "Daily", b.project)
	}
	if p, _, err := b.WorkflowNamed(b.ctx, "Sales", "Weekly"); !errors.Is(err, sql.ErrNotFound) || p.ID != b.project.ID {
		t.Errorf("a workflow that is not there: project %d, %v; want the project beside ErrNotFound", p.ID, err)
	}
	if p, _, err := b.WorkflowNamed(b.ctx, "Purchase", "Daily"); !errors.Is(err, sql.ErrNotFound) || p.ID != 0 {
		t.Errorf("a project that is not there: project %d, %v", p.ID, err)
	}
	b.must(b.DeleteWorkflow(b.ctx, b.workflow.ID))
	if p, _, err := b.WorkflowNamed(b.ctx, "Sales", "Daily"); !errors.Is(err, sql.ErrNotFound) || p.ID != b.project.ID {
		t.Errorf("a deleted workflow: project %d, %v; want the project beside ErrNotFound", p.ID, err)
	}
}
