package failover

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// owners is a store that only knows who owns how much.
type owners struct {
	given  int64 // the last id of what was taken
	count  map[string]int
	taken  []string
	loaded []int64
	lose   bool // the answer of the next takeover
	away   bool
	held   int
	saved  []sql.FailoverRow
	tally  counts
}

func (o *owners) Owners(context.Context) ([]sql.OwnerCount, error) {
	if o.away {
		return nil, sql.ErrUnavailable
	}
	var list []sql.OwnerCount
	for owner, n := range o.count {
		if n == 0 {
			continue
		}
		list = append(list, sql.OwnerCount{Owner: owner, Instances: n})
	}
	return list, nil
}

func (o *owners) TakeOver(_ context.Context, from, to string, limit int) ([]sql.Claimed, error) {
	o.taken = append(o.taken, from)
	n := min(limit, o.count[from])
	o.count[from] -= n
	o.count[to] += n
	if o.count[from] == 0 {
		delete(o.count, from)
	}
	if o.lose {
		o.lose = false
		return nil, sql.ErrUnavailable
	}
	claimed := make([]sql.Claimed, n)
	for i := range claimed {
		o.given++
		claimed[i].Instance.ID = o.given
	}
	return claimed, nil
}

func (o *owners) Owned(_ context.Context, owner string, after int64, limit int) ([]int64, error) {
	var ids []int64
	for id := after + 1; id <= int64(o.count[owner]) && len(ids) < limit; id++ {
		ids = append(ids, id)
	}
	return ids, nil
}

func (o *owners) Load(_ context.Context, _ string, ids []int64) ([]sql.Claimed, error) {
	o.loaded = append(o.loaded, ids...)
	return make([]sql.Claimed, len(ids)), nil
}

func (o *owners) HandOver(_ context.Context, from, to string, ids []int64) (int, error) {
	o.count[from] -= len(ids)
	o.count[to] += len(ids)
	return len(ids), nil
}

func (o *owners) SaveFailover(_ context.Context, f sql.FailoverRow) (sql.FailoverRow, error) {
	if o.away {
		return f, sql.ErrUnavailable
	}
	if f.ID == 0 {
		f.ID = int64(len(o.saved) + 1)
		o.saved = append(o.saved, f)
	}
	o.saved[f.ID-1] = f
	return f, nil
}

func (o *owners) Room() int                         { return 1000 }
func (o *owners) Held() int                         { return o.held }
func (o *owners) Has(id int64) bool                 { return id == 1 }
func (o *owners) Adopt([]sql.Claimed, Tally)        {}
func (o *owners) NewTally() Tally                   { return &o.tally }
func (o *owners) Verify(context.Context, bool) bool { return true }

type counts struct{ adopted, lost, waiting int }

func (c *counts) Counts() (adopted, lost, waiting int) { return c.adopted, c.lost, c.waiting }

func newFailover(store *owners) *Failover {
	return New(Config{
		Self: rpc.Process{Node: "self", Incarnation: "now"}, Store: store, Instances: store, Logger: hclog.NewNullLogger(),
	})
}

func TestOnlyOwnersThatAreGoneForAWhileAreTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &owners{held: 1000, count: map[string]int{"self:now": 1, "self:before": 3, "alive:a": 5, "dead:d": 700, "late:l": 2}}
		f := newFailover(store)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = f.Run(ctx) }()

		time.Sleep(time.Minute)
		synctest.Wait()
		if len(store.taken) > 0 {
			t.Fatalf("took over from %v before the registry said who lives", store.taken)
		}
		f.Members(map[string]bool{"self:now": true, "alive:a": true})
		synctest.Wait()
		if want := []string{"self:before"}; !slices.Equal(store.taken, want) {
			t.Fatalf("took over from %v at once, want only the node's own past %v", store.taken, want)
		}
		time.Sleep(absence / 2)
		f.Members(map[string]bool{"self:now": true, "alive:a": true, "late:l": true})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if slices.Contains(store.taken, "alive:a") || slices.Contains(store.taken, "late:l") || slices.Contains(store.taken, "self:now") {
			t.Errorf("took over from %v, a live master among them", store.taken)
		}
		if store.count["dead:d"] != 0 {
			t.Errorf("%d instances of the dead master were left", store.count["dead:d"])
		}
	})
}

func TestATakeoverWithoutAnAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &owners{count: map[string]int{"self:now": 1, "self:before": 3}, lose: true, held: 1000}
		f := newFailover(store)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = f.Run(ctx) }()
		f.Members(map[string]bool{"self:now": true})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if want := []int64{2, 3, 4}; !slices.Equal(store.loaded, want) {
			t.Errorf("looked up %v, want %v: all that is owned and not in memory, once", store.loaded, want)
		}
	})
}

// moment is a time of the tests that drive Look by hand.
func moment(d time.Duration) time.Time { return time.UnixMilli(1_700_000_000_000).Add(d) }

func TestAMasterThatMayHaveLostItsLeaseJudgesNobody(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"dead:d": 7, "self:before": 2}, held: 1000}
	f := newFailover(store)
	sure := true
	f.Sure = func(time.Time) bool { return sure }
	f.Members(map[string]bool{"self:now": true})
	f.Look(t.Context(), moment(0))
	sure = false
	f.Look(t.Context(), moment(10*time.Second))
	if want := []string{"self:before"}; !slices.Equal(store.taken, want) {
		t.Fatalf("took over from %v, want %v, which was before the doubt", store.taken, want)
	}
	sure = true
	f.Look(t.Context(), moment(11*time.Second))
	if len(store.taken) != 1 {
		t.Errorf("took over from %v: an absence counts from the time when it can be trusted", store.taken)
	}
	f.Look(t.Context(), moment(14*time.Second))
	if store.count["dead:d"] != 0 {
		t.Errorf("%d instances of the dead master were left", store.count["dead:d"])
	}
}

func TestNobodyIsTakenOverOnAnOldList(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"new:n": 7}, held: 1000}
	f := newFailover(store)
	now := map[string]bool{"self:now": true, "new:n": true}
	fails := errors.New("the registry does not answer")
	f.Confirm = func(context.Context) (map[string]bool, error) { return now, fails }
	f.Members(map[string]bool{"self:now": true})
	for i := range 10 {
		f.Look(t.Context(), moment(time.Duration(i)*time.Second))
	}
	fails = nil
	f.Look(t.Context(), moment(11*time.Second))
	if len(store.taken) > 0 {
		t.Errorf("took over from %v, which a fresh list names as alive, or could not be read", store.taken)
	}
	delete(now, "new:n")
	f.Look(t.Context(), moment(12*time.Second))
	if store.count["new:n"] != 0 {
		t.Error("a master that the fresh list does not name was left alone")
	}
}

func TestWhatAPeerHandedOverIsTakenIn(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"self:now": 1}, held: 1}
	f := newFailover(store)
	f.Look(t.Context(), moment(0))
	if len(store.loaded) > 0 {
		t.Fatalf("looked up %v with nothing new", store.loaded)
	}
	store.count["self:now"] = 4
	f.Look(t.Context(), moment(0))
	if want := []int64{2, 3, 4}; !slices.Equal(store.loaded, want) {
		t.Errorf("took in %v, want %v", store.loaded, want)
	}
}

func TestALeavingMasterDealsByWeight(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"self:now": 400}}
	f := newFailover(store)
	n, err := f.HandOver(t.Context(), []Peer{{"a:1", 1}, {"b:1", 3}})
	if err != nil || n != 400 || store.count["a:1"] != 100 || store.count["b:1"] != 300 || store.count["self:now"] != 0 {
		t.Errorf("handed over %d, %v: %v; want 100 and 300", n, err, store.count)
	}
	store.count["self:now"] = 3
	if n, err := f.HandOver(t.Context(), nil); n != 0 || err != nil || store.count["self:now"] != 3 {
		t.Errorf("with no peer %d were handed over, %v", n, err)
	}
}

func TestATakeoverIsAccountedForUntilTheLotOfItsAttemptsIsKnown(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"dead:d": 300}, held: 1000, tally: counts{waiting: 3}}
	f := newFailover(store)
	now := moment(0)
	f.Now = func() time.Time { return now }
	f.Members(map[string]bool{"self:now": true})
	f.Look(t.Context(), now)
	now = moment(2 * time.Second)
	f.Look(t.Context(), now)
	store.tally = counts{adopted: 1, waiting: 2}
	now = moment(3 * time.Second)
	store.away = true
	f.Look(t.Context(), now)
	store.away = false
	f.WorkerLost("w1", "x", "worker w1 is gone", moment(-time.Second), 2, 5)
	f.Look(t.Context(), now)
	if len(store.saved) != 2 || store.saved[0].Adopted != 1 || store.saved[0].FinishedAt != 0 {
		t.Fatalf("saved %+v, want an unfinished takeover and a lost worker", store.saved)
	}
	if w := store.saved[1]; w.Kind != sql.FailoverWorker || w.Lost != 5 || w.Instances != 2 || w.FinishedAt == 0 {
		t.Errorf("saved of the worker %+v", w)
	}
	store.tally = counts{adopted: 1, lost: 2}
	now = moment(9 * time.Second)
	f.Look(t.Context(), now)
	row := store.saved[0]
	if row.Node != "dead" || row.Incarnation != "d" || row.Instances != 300 || row.Adopted != 1 || row.Lost != 2 || row.FinishedAt.Time() != now.UTC() {
		t.Errorf("saved %+v", row)
	}
	var names []string
	for _, s := range row.Steps {
		names = append(names, s.Name)
	}
	if want := []string{"absent", "taken", "settled"}; !slices.Equal(names, want) {
		t.Errorf("steps %v, want %v", names, want)
	}
	if got := row.Steps[1].Instances; len(got) != sql.MaxTaken || got[0] == 0 || got[0] == got[1] {
		t.Errorf("it names %v, want the first %d of those that were taken", got, sql.MaxTaken)
	}
	if len(f.open) != 0 || len(f.accounts) != 0 {
		t.Errorf("%d takeovers open and %d accounts kept at the end", len(f.open), len(f.accounts))
	}
}

// Taking many takes a while, and a takeover without attempts is settled in the look that took it.
func TestTheStepsOfATakeoverAreInOrder(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"dead:d": 300}, held: 1000}
	f := newFailover(store)
	now := moment(0)
	f.Now = func() time.Time {
		now = now.Add(100 * time.Millisecond)
		return now
	}
	f.Members(map[string]bool{"self:now": true})
	f.Look(t.Context(), now)
	now = now.Add(2 * time.Second)
	f.Look(t.Context(), now)
	if len(store.saved) != 1 || store.saved[0].FinishedAt == 0 {
		t.Fatalf("saved %+v, want a takeover that is finished", store.saved)
	}
	row := store.saved[0]
	byTime := func(a, b sql.FailoverStep) int { return int(a.At - b.At) }
	if !slices.IsSortedFunc(row.Steps, byTime) || row.FinishedAt < row.Steps[len(row.Steps)-1].At {
		t.Errorf("finished at %d, steps %+v", row.FinishedAt, row.Steps)
	}
}

func TestAMasterWithdrawsOnlyAfterItsDatabaseWasAwayForLong(t *testing.T) {
	t.Parallel()
	w := Watchdog{Patience: 10 * time.Second}
	away := errors.New("away")
	for _, step := range []struct {
		at   time.Duration
		err  error
		stay bool
	}{{0, nil, true}, {1, away, true}, {11, away, true}, {12, away, false}, {13, nil, true}, {14, away, true}, {24, away, true}} {
		if got := w.Pinged(moment(step.at*time.Second), step.err); got != step.stay {
			t.Errorf("after %d s: stay = %v, want %v", step.at, got, step.stay)
		}
	}
}

func TestAnInstanceThatMemoryLacksIsFoundThoughTheNumbersAgree(t *testing.T) {
	t.Parallel()
	store := &owners{count: map[string]int{"self:now": 2}, held: 2} // of 1 and 2 it has 1, and something else
	f := newFailover(store)
	f.Members(map[string]bool{"self:now": true})
	for at := range 30 {
		f.Look(t.Context(), moment(time.Duration(at)*time.Second))
	}
	if len(store.loaded) != 0 {
		t.Fatalf("loaded %v within 30 s", store.loaded)
	}
	f.Look(t.Context(), moment(30*time.Second))
	f.Look(t.Context(), moment(31*time.Second))
	if want := []int64{2}; !slices.Equal(store.loaded, want) {
		t.Errorf("loaded %v, want %v, once", store.loaded, want)
	}
}

func TestAStrayIsAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	s := NewStrays()
	stray := Stray{Worker: "w1", Owner: rpc.Process{Node: "m1", Incarnation: "a"}}
	passing := Stray{Worker: "w2", Owner: stray.Owner}
	s.Saw(passing, moment(0))
	s.Saw(stray, moment(0))
	if due := s.Due(moment(0)); len(due) > 0 {
		t.Errorf("%v are due at the first report", due)
	}
	s.Saw(stray, moment(4*time.Second))
	if due := s.Due(moment(4 * time.Second)); !slices.Equal(due, []Stray{stray}) {
		t.Errorf("due are %v, want the worker that goes on", due)
	}
	s.Saw(stray, moment(6*time.Second))
	if due := s.Due(moment(6 * time.Second)); len(due) > 0 {
		t.Errorf("%v are due again at once", due)
	}
	s.Saw(stray, moment(15*time.Second))
	if due := s.Due(moment(15 * time.Second)); len(due) != 1 || len(s.seen) != 1 {
		t.Errorf("due are %v of %d, want the one that still goes on", due, len(s.seen))
	}
	s.Due(moment(time.Minute))
	if len(s.seen) != 0 {
		t.Errorf("%d are remembered for ever", len(s.seen))
	}
}
