package sqltest

import (
	"errors"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// failedIn starts an instance long ago that failed in a round.
func (b *bench) failedIn(round int) int64 {
	b.t.Helper()
	id := b.begin(old)
	b.endIn(id, 1, dag.InstanceFailed, round)
	return id
}

// endIn ends an instance, which nobody may own, in a round.
func (b *bench) endIn(id, epoch int64, state dag.InstanceState, round int) {
	b.t.Helper()
	if epoch == 1 {
		_, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m"}})
		b.must(err)
	}
	b.must(b.commit(sql.Transition{
		Instance: &dag.Instance{ID: id, State: state, Round: round, StartedAt: 1, FinishedAt: 2}, Plan: b.plan, Epoch: epoch, Release: true,
	}))
}

func acknowledgementHoldsForItsRound(t *testing.T, b *bench) {
	seen, open, again := b.failedIn(1), b.failedIn(1), b.failedIn(2)
	ack := func(id int64, round int, by, note string) sql.Acknowledgement {
		t.Helper()
		a, err := b.Acknowledge(b.ctx, sql.Acknowledgement{InstanceID: id, Round: round, CreatedBy: by, Note: note})
		b.must(err)
		return a
	}
	ack(seen, 1, "ann", "")
	want := ack(seen, 1, "bob", "disk is full")
	if want.CreatedAt == 0 {
		t.Errorf("acknowledged at 0")
	}
	yes, no := true, false
	failed := func(acknowledged *bool) []int64 {
		return b.listed(sql.InstanceFilter{States: []dag.InstanceState{dag.InstanceFailed}, Acknowledged: acknowledged}, 1)
	}
	if got := failed(&yes); !slices.Equal(got, []int64{seen}) {
		t.Errorf("acknowledged: %v, want %v", got, seen)
	}
	if got := failed(&no); len(got) != 2 || slices.Contains(got, seen) {
		t.Errorf("not acknowledged: %v, want %v", got, []int64{open, again})
	}
	row, err := b.Instance(b.ctx, seen)
	b.must(err)
	held := func(round int) map[int64]sql.Acknowledgement {
		row.Round = round
		got, err := b.Acknowledgements(b.ctx, []sql.InstanceRow{row})
		b.must(err)
		return got
	}
	if got := held(1); got[seen] != want {
		t.Errorf("held %+v, want %+v", got[seen], want)
	}
	// As after a recovery: it failed again, and nobody has seen that.
	if got := held(2); len(got) != 0 {
		t.Errorf("in the next round %v is held still", got)
	}
	b.must(b.Unacknowledge(b.ctx, seen))
	b.must(b.Unacknowledge(b.ctx, seen))
	if got := failed(&yes); len(got) != 0 {
		t.Errorf("taken back, and %v are acknowledged", got)
	}
}

func onlyFailuresAreAcknowledged(t *testing.T, b *bench) {
	well := b.begin(old)
	b.endIn(well, 1, dag.InstanceSuccess, 1)
	again := b.failedIn(2)
	for _, c := range []struct {
		name  string
		id    int64
		round int
		want  error
	}{{"a success", well, 1, sql.ErrNotFailed}, {"a round before", again, 1, sql.ErrStale}, {"nothing", 1 << 40, 1, sql.ErrNotFound}} {
		if _, err := b.Acknowledge(b.ctx, sql.Acknowledgement{InstanceID: c.id, Round: c.round, CreatedBy: "ann"}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func acknowledgementsGoWithTheirInstance(t *testing.T, b *bench) {
	id := b.failedIn(1)
	_, err := b.Acknowledge(b.ctx, sql.Acknowledgement{InstanceID: id, Round: 1, CreatedBy: "ann"})
	b.must(err)
	row, err := b.Instance(b.ctx, id)
	b.must(err)
	b.retired(10)
	left, err := b.Acknowledgements(b.ctx, []sql.InstanceRow{row})
	b.must(err)
	if len(left) != 0 || !b.gone(id) {
		t.Errorf("the instance is gone, and %v is left", left)
	}
}
