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

	"github.com/porpoise/porpoise/sql"
)

// table is a command table of which every other row is of another master's slot.
type table struct {
	mu       sync.Mutex // synctest.Wait orders what the intake did before the test, not the other way round
	commands []sql.Command
	reads    int
	claimed  []int64
	loaded   []int64
	fail     error // of the next claim, which is written all the same
	room     int
	owned    []bool
	changed  chan struct{}
}

func (t *table) Commands(_ context.Context, owned []bool, limit int, after sql.CommandCursor) ([]sql.Command, sql.CommandCursor, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads++
	const examined = 10
	var out []sql.Command
	n := 0
	for _, c := range t.commands {
		if c.ID <= after.ID {
			continue
		}
		if n++; n > examined {
			return out, after, nil
		}
		after = sql.CommandCursor{ID: c.ID}
		if owned[c.Slot] {
			if out = append(out, c); len(out) == limit {
				return out, after, nil
			}
		}
	}
	return out, sql.CommandCursor{}, nil
}

func (t *table) Claim(_ context.Context, claims []sql.Claim) ([]sql.Claimed, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []sql.Claimed
	for _, claim := range claims {
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

func (t *table) Owned() []bool            { return t.owned }
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

func TestTheWalkGoesOnBehindTheCommandsOfOthers(t *testing.T) {
	t.Parallel()
	store := newTable(100)
	drive(t, store, func(*Intake) {
		_, claimed, _ := store.seen()
		if len(claimed) != 50 {
			t.Errorf("%d commands were taken, want the 50 of the own slots", len(claimed))
		}
		for _, id := range claimed {
			if !store.owned[id%2] {
				t.Errorf("command %d of another master was taken", id)
			}
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
