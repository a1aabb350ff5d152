package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// submit makes n instances without claiming them.
func (b *bench) submit(text string, n int, change ...func(*sql.Start)) []sql.Beginning {
	b.t.Helper()
	create := sql.AnyVersion
	w, _, _, err := b.store.SaveVersion(b.t.Context(), sql.SaveVersion{
		ProjectID: b.project.ID, Name: "begun", Text: text, Format: "yaml", IfMatch: &create, Publish: true, By: "test",
	})
	b.must(err)
	var ids []int64
	for range n {
		st := sql.Start{WorkflowID: w.ID, ProjectID: b.project.ID, Version: w.Published, Priority: dag.PriorityMedium, By: "test"}
		for _, c := range change {
			c(&st)
		}
		id, _, err := b.store.Start(b.t.Context(), st)
		b.must(err)
		ids = append(ids, id)
	}
	list, err := b.store.Unbegun(b.t.Context(), b.Owner, ids)
	b.must(err)
	out := make([]sql.Beginning, len(list))
	for i, c := range list {
		id := c.Instance.ID
		out[i] = sql.Beginning{Claimed: c, Claim: sql.Claim{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: b.Owner, LayoutEpoch: 3}}
	}
	return out
}

// begun starts the list and returns what it was told, and how often.
func (b *bench) begun(list []sql.Beginning) (told []error, times int) {
	b.t.Helper()
	b.Start(list, func(errs []error) { told = errs; times++ })
	b.settle()
	return told, times
}

func TestInstancesBeginWithTheirClaims(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list := b.submit(single, 3)
	told, times := []error(nil), 0
	b.Start(list, func(errs []error) { told = errs; times++ })
	for b.StepOne() {
		continue
	}
	if len(b.dispatched) != 0 || times != 0 {
		t.Error("a task was sent to a worker before anything was written")
	}
	b.settle()
	if times != 1 || len(told) != 3 || errors.Join(told...) != nil || len(b.dispatched) != 3 {
		t.Errorf("told %d times of %v, %d tasks sent; want once of 3", times, told, len(b.dispatched))
	}
	if written, _ := b.Turns(); written != 3 {
		t.Errorf("%d turns were written, want one for each", written)
	}
	for _, l := range list {
		if row := b.row(l.Instance.ID); row.State != dag.InstanceRunning || row.Owner != b.Owner || row.OwnerEpoch != 1 || row.LayoutEpoch != 3 {
			t.Errorf("instance %d is %s of %q, epoch %d, layout %d", row.ID, row.State, row.Owner, row.OwnerEpoch, row.LayoutEpoch)
		}
	}
}

func TestAnInstanceThatAnotherMasterHasIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list := b.submit(single, 2)
	if _, err := b.store.Claim(t.Context(), []sql.Claim{{Command: list[0].Claim.Command, Owner: "m2:b"}}); err != nil {
		t.Fatal(err)
	}
	told, times := b.begun(list)
	if times != 1 || !errors.Is(told[0], sql.ErrNotOwner) || told[1] != nil || b.Has(list[0].Instance.ID) || b.refused != 1 || len(b.dispatched) != 1 {
		t.Errorf("told %d times of %v; %d workers came back, %d tasks were sent", times, told, b.refused, len(b.dispatched))
	}
	if row := b.row(list[0].Instance.ID); row.Owner != "m2:b" || row.State != dag.InstanceSubmitted {
		t.Errorf("the other's instance is %s of %q", row.State, row.Owner)
	}
}

// awayStore answers commits with an error.
type awayStore struct {
	Store
	err error
}

func (s *awayStore) Commit(_ context.Context, transitions []sql.Transition) []error {
	errs := make([]error, len(transitions))
	for i := range errs {
		errs[i] = s.err
	}
	return errs
}

func TestABeginningIsWrittenNowOrNever(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{sql.ErrUnavailable, errors.New("too long")} {
		t.Run(refusal.Error(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			list := b.submit(single, 1)
			b.Engine = b.engine(b.Owner, &awayStore{b.store, refusal})
			told, times := b.begun(list)
			if times != 1 || !errors.Is(told[0], refusal) || b.Has(list[0].Instance.ID) || b.refused != 1 || len(b.dispatched) != 0 {
				t.Errorf("told %d times of %v; %d workers came back", times, told, b.refused)
			}
		})
	}
}

func TestAnInstanceThatPanicsAtItsBeginningIsClaimedByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list := b.submit(single, 1)
	id := list[0].Instance.ID
	b.poison = id
	told, times := b.begun(list)
	if times != 1 || told[0] == nil || errors.Is(told[0], sql.ErrNotOwner) || b.Has(id) {
		t.Errorf("told %d times of %v, want it refused and forgotten", times, told)
	}
	// The claim by itself then counts, as for any other.
	b.take(id)
	if row := b.row(id); row.State != dag.InstanceQuarantined {
		t.Errorf("after more panics it is %s", row.State)
	}
}

func TestAnInstanceThatAsksForAPlaceIsClaimedByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list := b.submit("name: begun\nconcurrency: {limit: 1}\ntasks:\n  - {name: a, type: noop}\n", 1)
	if told, times := b.begun(list); times != 1 || told[0] == nil || b.Has(list[0].Instance.ID) {
		t.Errorf("told %d times of %v, want it refused", times, told)
	}
}
