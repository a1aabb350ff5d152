package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// table is a command table of which every other row is of another master's slot.
type table struct {
	mu         sync.Mutex // synctest.Wait orders what the intake did before the test, not the other way round
	commands   []sql.Command
	reads      int
	claimed    []int64
	loaded     []int64
	fail       error // of the next claim, which is written all the same
	unreadable int64 // an instance whose row is broken
	room       int
	owned      []bool
	changed    chan struct{}
	closed     bool // by the barrier
	taking     int  // between Begin and End
	shared     bool
	epoch      int64
	epochs     []int64 // of the claims
	lent       []int64
	outside    int // claims that nobody had allowed
	unsure     bool
	owners     map[int64]bool // instances that somebody has
	begins     []begins
}

func (t *table) Commands(_ context.Context, owned []bool, limit int, _ sql.CommandCursor) ([]sql.Command, sql.CommandCursor, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads++
	var out []sql.Command
	for _, c := range t.commands {
		if !owned[c.Slot] && !c.Lent {
			continue
		}
		if len(out) == limit {
			return out, sql.CommandCursor{Project: 1}, nil
		}
		out = append(out, c)
	}
	return out, sql.CommandCursor{}, nil
}

func (t *table) Lend(_ context.Context, ids []int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.commands {
		if slices.Contains(ids, t.commands[i].ID) {
			t.commands[i].Lent = true
			t.lent = append(t.lent, t.commands[i].ID)
		}
	}
	return nil
}

func (t *table) Claim(_ context.Context, claims []sql.Claim) ([]sql.Claimed, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []sql.Claimed
	if t.taking != 1 {
		t.outside++
	}
	for _, claim := range claims {
		t.epochs = append(t.epochs, claim.LayoutEpoch)
		for i, c := range t.commands {
			if c.ID == claim.Command.ID {
				t.commands = append(t.commands[:i:i], t.commands[i+1:]...)
				out = append(out, sql.Claimed{Instance: sql.InstanceRow{ID: c.InstanceID}})
				break
			}
		}
	}
	if err := t.fail; err != nil {
		t.fail = nil
		return nil, err
	}
	return out, nil
}

func (t *table) Unbegun(_ context.Context, owner string, ids []int64) (list []sql.Claimed, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		if id == t.unreadable {
			return nil, errors.New("its parameters are no object")
		}
		if !t.owners[id] {
			list = append(list, sql.Claimed{Instance: sql.InstanceRow{ID: id, Owner: owner, OwnerEpoch: 1}})
		}
	}
	return list, nil
}

func (t *table) Start(list []sql.Beginning, done func([]error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begins = append(t.begins, begins{list, done})
}

// begins is what the intake has handed over to begin, and what it is told of it.
type begins struct {
	list []sql.Beginning
	done func([]error)
}

// answer ends what was handed over first, and takes the commands of those that have begun.
func (t *table) answer(errs ...error) (list []sql.Beginning) {
	t.mu.Lock()
	first := t.begins[0]
	t.begins = t.begins[1:]
	for i, l := range first.list {
		t.commands = slices.DeleteFunc(t.commands, func(c sql.Command) bool { return errs[i] == nil && c.ID == l.Claim.Command.ID })
	}
	t.mu.Unlock()
	first.done(errs)
	return first.list
}

func (t *table) Load(_ context.Context, _ string, ids []int64) ([]sql.Claimed, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loaded = append(t.loaded, ids...)
	out := make([]sql.Claimed, len(ids))
	for i, id := range ids {
		out[i].Instance.ID = id
	}
	return out, nil
}

func (t *table) Begin() (owned []bool, epoch int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, 0, false
	}
	t.taking++
	return t.owned, t.epoch, true
}

func (t *table) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taking--
}

func (t *table) Shared() bool             { return t.shared }
func (t *table) Changed() <-chan struct{} { return t.changed }
func (t *table) Admit(claimed []sql.Claimed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range claimed {
		t.claimed = append(t.claimed, c.Instance.ID)
	}
	t.room -= len(claimed)
}

// Room is how many more the instances take.
func (t *table) Room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.room
}

func (t *table) setRoom(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.room = n
}

// lentSoFar is what the intake has lent.
func (t *table) lentSoFar() []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lent)
}

// seen is what the intake has done so far.
func (t *table) seen() (reads int, claimed, loaded []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads, slices.Clone(t.claimed), slices.Clone(t.loaded)
}

func newTable(n int) *table {
	t := &table{owned: []bool{true, false}, room: 1000}
	for id := range int64(n) {
		t.commands = append(t.commands, sql.Command{ID: id + 1, InstanceID: id + 1, Slot: int(id+1) % 2})
	}
	return t
}

// drive runs an intake over the table and calls step while it is at rest.
func drive(t *testing.T, store *table, step func(in *Intake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store.changed = make(chan struct{}, 1) // a channel of the bubble: waiting for it lets time pass
		in := New(Config{Owner: "m:1", Store: store, Slots: store, Instances: store, Logger: hclog.NewNullLogger()})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = in.Run(ctx) }()
		synctest.Wait()
		step(in)
		cancel()
		<-done
	})
}

func TestOnlyCommandsOfOwnSlotsAreTakenInTheNameOfTheirLayout(t *testing.T) {
	t.Parallel()
	store := newTable(1000)
	store.epoch = 7
	drive(t, store, func(*Intake) {
		_, claimed, _ := store.seen()
		if len(claimed) != 500 {
			t.Errorf("%d commands were taken, want the 500 of the own slots", len(claimed))
		}
		store.mu.Lock()
		defer store.mu.Unlock()
		for i, id := range claimed {
			if !store.owned[id%2] || store.epochs[i] != 7 {
				t.Errorf("command %d of slot %d was taken in epoch %d, want an own one in 7", id, id%2, store.epochs[i])
			}
		}
		if store.outside > 0 || store.taking != 0 {
			t.Errorf("%d claims were made without leave, %d have not ended", store.outside, store.taking)
		}
	})
}

func TestNothingIsTakenWhileTheBarrierIsClosed(t *testing.T) {
	t.Parallel()
	store := newTable(10)
	store.closed = true
	drive(t, store, func(*Intake) {
		time.Sleep(time.Minute)
		synctest.Wait()
		if reads, claimed, _ := store.seen(); reads != 0 || len(claimed) != 0 {
			t.Errorf("%d reads and %d claims, want none", reads, len(claimed))
		}
		store.mu.Lock()
		store.closed = false
		store.mu.Unlock()
		store.changed <- struct{}{}
		synctest.Wait()
		if _, claimed, _ := store.seen(); len(claimed) != 5 {
			t.Errorf("%d commands were taken once it opened, want 5", len(claimed))
		}
	})
}

func TestAMasterWithoutRoomLendsAndTheOthersTake(t *testing.T) {
	t.Parallel()
	store := newTable(20)
	store.room, store.shared = 0, true
	drive(t, store, func(*Intake) {
		if lent := store.lentSoFar(); len(lent) != 0 {
			t.Errorf("lent %v at once, want a second of patience", lent)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if lent := store.lentSoFar(); len(lent) != 10 {
			t.Errorf("lent %v, want the 10 of the own slots", lent)
		}
	})
	store.room, store.owned = 100, []bool{false, false}
	drive(t, store, func(*Intake) {
		if _, claimed, _ := store.seen(); len(claimed) != 10 {
			t.Errorf("another master took %v, want the 10 that were lent", claimed)
		}
	})
}

func TestAnUnsureMasterLeavesNewCommandsToOthersForAWhile(t *testing.T) {
	t.Parallel()
	store := newTable(10)
	store.unsure = true
	synctest.Test(t, func(t *testing.T) {
		for i := range store.commands {
			store.commands[i].CreatedAt = dag.MillisOf(time.Now())
		}
		in := New(Config{
			Owner: "m:1", Store: store, Slots: store, Instances: store, Logger: hclog.NewNullLogger(),
			Sure: func(time.Time) bool { return !store.unsure },
		})
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{2 * time.Second, 0}, {time.Second, 5}} {
			time.Sleep(step.after)
			if more, err := in.TakeOnce(t.Context()); err != nil || more {
				t.Fatalf("TakeOnce = %v, %v, want no more for now", more, err)
			}
			if _, claimed, _ := store.seen(); len(claimed) != step.want {
				t.Errorf("%d commands were taken %v after they were written, want %d", len(claimed), step.after, step.want)
			}
		}
	})
}

func TestAMasterThatIsAloneLendsNothing(t *testing.T) {
	t.Parallel()
	store := newTable(20)
	store.room = 0
	drive(t, store, func(*Intake) {
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if lent := store.lentSoFar(); len(lent) != 0 {
			t.Errorf("lent %v, though there is nobody to take it", lent)
		}
	})
}

func TestAFullMasterTakesNothingUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	store := newTable(20)
	store.room = 3
	drive(t, store, func(in *Intake) {
		if _, claimed, _ := store.seen(); len(claimed) != 3 {
			t.Fatalf("%d commands were taken, want 3: there is no more room", len(claimed))
		}
		store.setRoom(100)
		in.Hint()
		synctest.Wait()
		if _, claimed, _ := store.seen(); len(claimed) != 10 {
			t.Errorf("%d commands were taken after there was room, want 10", len(claimed))
		}
	})
}

func TestAClaimWithoutAnAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	store := newTable(10)
	store.fail = errors.New("the answer was lost")
	drive(t, store, func(*Intake) {
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, claimed, loaded := store.seen(); len(loaded) != 5 || len(claimed) != 5 {
			t.Errorf("looked up %v, took up %v, want all 5 instances of the claim", loaded, claimed)
		}
	})
}

// young gives the table commands of this moment.
func (t *table) young(ids ...int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.commands = append(t.commands, sql.Command{ID: id, InstanceID: id, Slot: int(id) % 2, Kind: sql.CommandStart, CreatedAt: dag.MillisOf(time.Now())})
	}
}

// beginning is how many instances were handed over to begin, by group.
func (t *table) beginning() (groups []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.begins {
		groups = append(groups, len(b.list))
	}
	return groups
}

func TestACommandOfASlotThatIsHeldBeginsWithItsClaim(t *testing.T) {
	t.Parallel()
	store := newTable(0)
	store.epoch = 7
	drive(t, store, func(in *Intake) {
		time.Sleep(skew) // to the moment: the hosts' clocks may differ by that
		store.young(2)
		in.Hint()
		synctest.Wait()
		if _, claimed, _ := store.seen(); len(claimed) != 1 || store.beginning() != nil {
			t.Errorf("%v were claimed and %v began: a command as old as the hold of its slot is claimed by itself", claimed, store.beginning())
		}
		time.Sleep(time.Millisecond)
		store.young(4, 6, 8)
		in.Hint()
		synctest.Wait()
		// While those begin, the slots stay and nothing else is taken; what came meanwhile is taken after.
		store.young(10)
		in.Hint()
		synctest.Wait()
		if groups := store.beginning(); !slices.Equal(groups, []int{3}) || store.taking != 1 {
			t.Fatalf("%v begin, and %d hold the slots; want 3 at once and one", groups, store.taking)
		}
		for _, l := range store.answer(nil, nil, nil) {
			if l.Claim.Owner != "m:1" || l.Claim.LayoutEpoch != 7 || l.Claim.Command.InstanceID != l.Instance.ID {
				t.Errorf("%+v is the claim of instance %d", l.Claim, l.Instance.ID)
			}
		}
		synctest.Wait()
		if groups := store.beginning(); !slices.Equal(groups, []int{1}) {
			t.Fatalf("%v begin, want the one that came meanwhile", groups)
		}
		store.answer(nil)
		synctest.Wait()
		if taken, lost := in.Counts(); taken != 5 || lost != 0 || store.taking != 0 {
			t.Errorf("%d taken, %d lost, %d hold the slots; want 5, none and nobody", taken, lost, store.taking)
		}
	})
}

func TestASlotThatMayHaveBeenAnothersMeanwhileIsHeldAnew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		layout int64
		begin  bool
	}{{"the next layout keeps it", 8, true}, {"a layout was not seen", 9, false}} {
		store := newTable(0)
		store.epoch = 7
		drive(t, store, func(in *Intake) {
			time.Sleep(skew + time.Millisecond)
			store.mu.Lock()
			store.epoch = c.layout
			store.mu.Unlock()
			store.young(2)
			in.Hint()
			synctest.Wait()
			if begun := store.beginning() != nil; begun != c.begin {
				t.Errorf("%s: a command that came before begins with its claim: %t, want %t", c.what, begun, c.begin)
			}
			if c.begin {
				store.answer(nil)
			}
		})
	}
}

func TestWhatDidNotBeginIsClaimedByItselfOrLookedUp(t *testing.T) {
	t.Parallel()
	store := newTable(0)
	store.owners = map[int64]bool{8: true}
	drive(t, store, func(in *Intake) {
		time.Sleep(2 * skew)
		store.young(2, 4, 6, 8)
		in.Hint()
		synctest.Wait()
		if groups := store.beginning(); !slices.Equal(groups, []int{3}) {
			t.Fatalf("%v begin, want those that nobody has", groups)
		}
		if _, claimed, _ := store.seen(); !slices.Equal(claimed, []int64{8}) {
			t.Errorf("%v were claimed: the command of an instance with an owner is done away with by a claim", claimed)
		}
		store.answer(nil, sql.ErrUnavailable, errors.New("it asks for a place"))
		store.mu.Lock()
		store.commands = slices.DeleteFunc(store.commands, func(c sql.Command) bool { return c.ID == 4 }) // it was written
		store.mu.Unlock()
		synctest.Wait()
		if _, claimed, loaded := store.seen(); !slices.Equal(loaded, []int64{4}) || !slices.Equal(claimed, []int64{8, 4, 6}) || store.beginning() != nil {
			t.Errorf("looked up %v, took %v, and %v begin; want 4 looked up and 6 claimed", loaded, claimed, store.beginning())
		}
	})
}

func TestAnInstanceThatCannotBeReadKeepsNoOtherFromBeginning(t *testing.T) {
	t.Parallel()
	store := newTable(0)
	store.unreadable = 4
	drive(t, store, func(in *Intake) {
		time.Sleep(skew + time.Millisecond)
		store.young(2, 4, 6)
		in.Hint()
		synctest.Wait()
		if _, claimed, _ := store.seen(); len(claimed) != 3 {
			t.Errorf("%v were claimed, want all three", claimed)
		}
	})
}

func TestGroupsAreSmallWhereAQuietProjectStartsBesideAFlood(t *testing.T) {
	t.Parallel()
	next := int64(0)
	of := func(store *table, project int64, n int) {
		for range n {
			next += 2 // of the slot that is owned
			store.young(next)
			store.commands[len(store.commands)-1].ProjectID = project
		}
	}
	group := func(store *table, want int) {
		t.Helper()
		if got := store.beginning(); !slices.Equal(got, []int{want}) {
			t.Errorf("%v begin together, want %d", got, want)
		}
		store.answer(make([]error, store.beginning()[0])...)
		synctest.Wait()
	}
	quiet := newTable(0)
	drive(t, quiet, func(in *Intake) {
		time.Sleep(skew + time.Millisecond)
		of(quiet, 2, 1)
		of(quiet, 1, 6*maxClaim)
		in.Hint()
		synctest.Wait()
		group(quiet, maxClaim) // the quiet project is seen with this one
		group(quiet, maxBeside)
		time.Sleep(besideFor + time.Millisecond)
		group(quiet, maxBeside) // it was made up before
		group(quiet, maxClaim)
		group(quiet, maxClaim)
	})
	both := newTable(0)
	drive(t, both, func(in *Intake) {
		time.Sleep(skew + time.Millisecond)
		for range maxClaim {
			of(both, 1, 1)
			of(both, 2, 1)
		}
		in.Hint()
		synctest.Wait()
		group(both, maxClaim) // of two that flood none is quiet
		group(both, maxClaim)
	})
}

func TestALeavingIntakeWaitsForWhatBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable(0)
		store.changed = make(chan struct{}, 1)
		in := New(Config{Owner: "m:1", Store: store, Slots: store, Instances: store, Logger: hclog.NewNullLogger()})
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		go func() { _ = in.Run(ctx); ended = true }()
		time.Sleep(2 * skew)
		store.young(2)
		in.Hint()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if ended {
			t.Fatal("it ended while an instance began")
		}
		store.answer(nil)
		synctest.Wait()
		if !ended {
			t.Error("it goes on although the instance has begun")
		}
	})
}

func TestAnIdleIntakePollsOnceASecond(t *testing.T) {
	t.Parallel()
	store := newTable(0)
	drive(t, store, func(*Intake) {
		before, _, _ := store.seen()
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if reads, _, _ := store.seen(); reads-before != 10 {
			t.Errorf("%d reads in 10 idle seconds, want 10", reads-before)
		}
	})
}
