package sqltest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func handedOverInstancesAreThePeers(t *testing.T, b *bench) {
	var ids []int64
	for range 5 {
		ids = append(ids, b.take("m1:a").ID)
	}
	foreign := b.take("m3:c")
	n, err := b.HandOver(b.ctx, "m1:a", "m2:b", append(slices.Clone(ids[:3]), foreign.ID, 1<<40))
	b.must(err)
	if n != 3 {
		t.Errorf("handed over %d, want the 3 that were its own", n)
	}
	for i, id := range append(ids, foreign.ID) {
		in, err := b.Instance(b.ctx, id)
		b.must(err)
		want := sql.InstanceRow{Owner: "m1:a", OwnerEpoch: 1}
		switch {
		case i < 3:
			want = sql.InstanceRow{Owner: "m2:b", OwnerEpoch: 2}
		case id == foreign.ID:
			want.Owner = "m3:c"
		}
		if in.Owner != want.Owner || in.OwnerEpoch != want.OwnerEpoch || in.CrashCount != 1 {
			t.Errorf("instance %d is %s's at epoch %d, crash count %d; want %s's at %d, and no crash more", i, in.Owner, in.OwnerEpoch, in.CrashCount,
				want.Owner, want.OwnerEpoch)
		}
	}
	got, err := b.Load(b.ctx, "m2:b", ids)
	b.must(err)
	if len(got) != 3 || got[0].Instance.OwnerEpoch != 2 {
		t.Errorf("the peer loads %d of them: %+v", len(got), got)
	}
	left, err := b.Standings(b.ctx, "m1:a", 0, 10)
	b.must(err)
	if want := []sql.Standing{{ID: ids[3], Epoch: 1}, {ID: ids[4], Epoch: 1}}; !slices.Equal(left, want) {
		t.Errorf("left to the first are %+v, want %+v", left, want)
	}
	if _, err := b.HandOver(b.ctx, "", "m2:b", ids); err == nil {
		t.Error("instances of nobody were handed over")
	}
}

func retakingFencesWhatWasUnderWay(t *testing.T, b *bench) {
	o, foreign := b.take("m1:a"), b.take("m2:b")
	step := b.step(o, 0, dag.TaskDispatched)
	got, err := b.Retake(b.ctx, "m1:a", []int64{o.ID, foreign.ID})
	b.must(err)
	if len(got) != 1 || got[0].Instance.ID != o.ID || got[0].Instance.OwnerEpoch != 2 || got[0].Instance.CrashCount != 2 || got[0].Instance.Owner != "m1:a" {
		t.Fatalf("retook %+v", got)
	}
	if err := b.commit(step); !errors.Is(err, sql.ErrNotOwner) {
		t.Errorf("commit of before: %v, want ErrNotOwner", err)
	}
}

func releasedQuarantineGoesOnWhereItWas(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	fresh := b.begin()
	b.claim("m1:a")
	for _, id := range []int64{o.ID, fresh} {
		if err := b.ReleaseQuarantine(b.ctx, id, "ann"); !errors.Is(err, sql.ErrStale) {
			t.Errorf("release of what is not quarantined: %v, want ErrStale", err)
		}
		b.must(b.Quarantine(b.ctx, id, 1, dag.ReasonCrashed, "3 masters ended"))
		b.must(b.ReleaseQuarantine(b.ctx, id, "ann"))
	}
	if err := b.ReleaseQuarantine(b.ctx, 1<<40, "ann"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("release of nothing: %v, want ErrNotFound", err)
	}
	for _, c := range b.claim("m2:b") {
		want := dag.InstanceRunning
		if c.Instance.ID == fresh {
			want = dag.InstanceSubmitted
		}
		if c.Err != nil || c.Instance.State != want || c.Instance.OwnerEpoch != 2 || c.Instance.CrashCount != 1 || c.Instance.FinishedAt != 0 {
			t.Errorf("claimed after the release: %+v, %v; want it %s", c.Instance, c.Err, want)
		}
	}
	events, err := b.Events(b.ctx, o.ID, 0, 10)
	b.must(err)
	last := events[len(events)-1]
	if last.By != "ann" || last.State != string(dag.InstanceRunning) || last.Seq != int64(len(events)) {
		t.Errorf("the history ends with %+v", last)
	}
}

func failoversAreListedNewestFirst(t *testing.T, b *bench) {
	var saved []sql.FailoverRow
	for i, at := range []dag.Millis{1, 3, 2, 4, 5} { // as two processes with their own blocks of ids would have it
		kind := sql.FailoverMaster
		if i%2 == 1 {
			kind = sql.FailoverWorker
		}
		f, err := b.SaveFailover(b.ctx, sql.FailoverRow{
			Kind: kind, Node: "n", Incarnation: "x", Master: "m2:b", Cause: strings.Repeat("é", 300), DetectedAt: at, Instances: i,
		})
		b.must(err)
		saved = append(saved, f)
	}
	saved[4].FinishedAt, saved[4].Adopted, saved[4].Lost = 9, 3, 1
	saved[4].Steps = []sql.FailoverStep{{Name: "absent", At: 5}, {Name: "taken", At: 7, Instances: []int64{11, 12}}}
	_, err := b.SaveFailover(b.ctx, saved[4])
	b.must(err)
	first, next, err := b.Failovers(b.ctx, "", sql.Page{Limit: 2})
	b.must(err)
	if len(first) != 2 || first[0].ID != saved[4].ID || first[1].ID != saved[3].ID {
		t.Fatalf("the first page is %+v", first)
	}
	if f := first[0]; f.FinishedAt != 9 || f.Adopted != 3 || f.Lost != 1 || len(f.Steps) != 2 || !reflect.DeepEqual(f.Steps, saved[4].Steps) || len([]rune(f.Cause)) != 255 {
		t.Errorf("saved again it reads %+v", f)
	}
	if one, err := b.Failover(b.ctx, saved[4].ID); err != nil || !reflect.DeepEqual(one, first[0]) {
		t.Errorf("alone it reads %+v, %v", one, err)
	}
	if _, err := b.Failover(b.ctx, 1<<40); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("one that is not there: %v, want ErrNotFound", err)
	}
	rest, end, err := b.Failovers(b.ctx, "", sql.Page{Cursor: next, Limit: 10})
	b.must(err)
	if len(rest) != 3 || rest[0].ID != saved[1].ID || rest[1].ID != saved[2].ID || end != "" {
		t.Errorf("the second page is %+v, then %q", rest, end)
	}
	workers, _, err := b.Failovers(b.ctx, sql.FailoverWorker, sql.Page{})
	b.must(err)
	if len(workers) != 2 || workers[0].ID != saved[3].ID {
		t.Errorf("of workers there are %+v", workers)
	}
	if _, err := b.SaveFailover(b.ctx, sql.FailoverRow{ID: 1 << 40}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("saved over nothing: %v, want ErrNotFound", err)
	}
}
