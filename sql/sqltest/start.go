package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// race calls f n times at once, given 0 to n-1, and waits for all.
func race(n int, f func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

func fired(at dag.Millis, key string) func(*sql.Start) {
	return func(s *sql.Start) { s.ScheduleTime, s.TriggerKey = at, key }
}

func triggerIsUnique(t *testing.T, b *bench) {
	others := []*sql.Store{b.Store, b.open(t, t.Name())}
	var mu sync.Mutex
	made := map[int64]bool{}
	race(24, func(i int) {
		id, _, err := others[i%2].Start(b.ctx, b.wish(fired(1000, "s7")))
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			made[id] = true
		case !errors.Is(err, sql.ErrExists):
			t.Errorf("second start: %v, want ErrExists", err)
		}
	})
	if len(made) != 1 {
		t.Fatalf("%d starts of one schedule point, want 1", len(made))
	}
	// The repeated hour, another key, and a key that differs by a space only are other triggers.
	for _, w := range []sql.Start{b.wish(fired(1001, "s7")), b.wish(fired(1000, "s8")), b.wish(fired(1000, "s7 ")), b.wish(fired(1000, "S7"))} {
		if _, _, err := b.Start(b.ctx, w); err != nil {
			t.Errorf("start %d %q: %v", w.ScheduleTime, w.TriggerKey, err)
		}
	}
	if got := b.claim("m1:a"); len(got) != 5 {
		t.Errorf("claimed %d, want 5", len(got))
	}
	// The command is gone; the instance is the lasting guard.
	if _, _, err := b.Start(b.ctx, b.wish(fired(1000, "s7"))); !errors.Is(err, sql.ErrExists) {
		t.Errorf("start after the claim: %v, want ErrExists", err)
	}
}

func keyMakesOneInstance(t *testing.T, b *bench) {
	others := []*sql.Store{b.Store, b.open(t, t.Name())}
	keyed := func(s *sql.Start) { s.Idempotency = sql.Idempotency{UserID: 1, Key: "k", Hash: "h"} }
	var mu sync.Mutex
	ids := map[int64]int{}
	made := 0
	race(24, func(i int) {
		id, existed, err := others[i%2].Start(b.ctx, b.wish(keyed))
		if err != nil {
			t.Errorf("start with a key: %v", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		ids[id]++
		if !existed {
			made++
		}
	})
	if len(ids) != 1 || made != 1 {
		t.Fatalf("one key made %d instances, %d of them told as new", len(ids), made)
	}
	if commands, _, err := b.Commands(b.ctx, nil, 100, sql.CommandCursor{}); err != nil || len(commands) != 1 {
		t.Errorf("%d commands, %v; want 1", len(commands), err)
	}
	_, _, err := b.Start(b.ctx, b.wish(keyed, func(s *sql.Start) { s.Idempotency.Hash = "other" }))
	if !errors.Is(err, sql.ErrIdempotencyMismatch) {
		t.Errorf("the key with another request: %v, want ErrIdempotencyMismatch", err)
	}
	for _, other := range []sql.Idempotency{{UserID: 2, Key: "k", Hash: "h"}, {UserID: 1, Key: "k ", Hash: "h"}, {UserID: 1, Key: "K", Hash: "h"}} {
		if _, existed, err := b.Start(b.ctx, b.wish(func(s *sql.Start) { s.Idempotency = other })); err != nil || existed {
			t.Errorf("start with %+v: existed %v, %v; want a new one", other, existed, err)
		}
	}
	// A day later the key is free again.
	late := dag.MillisOf(time.Now().Add(24*time.Hour + time.Minute))
	id, existed, err := b.Start(b.ctx, b.wish(keyed, func(s *sql.Start) { s.At = late; s.Idempotency.Hash = "other" }))
	if err != nil || existed || ids[id] > 0 {
		t.Errorf("start a day later: %d, existed %v, %v; want a new one", id, existed, err)
	}
}

func oldKeysAreSwept(t *testing.T, b *bench) {
	const old, batch = 600, 512
	day := time.Now().Add(-24 * time.Hour)
	keyed := func(user int64, at time.Time) func(*sql.Start) {
		return func(s *sql.Start) {
			s.Idempotency, s.At = sql.Idempotency{UserID: user, Key: "k", Hash: "h"}, dag.MillisOf(at)
		}
	}
	race(old, func(i int) { b.begin(keyed(int64(i+1), day)) })
	young := b.begin(keyed(old+1, day.Add(time.Minute)))
	// A key that was used again stays with its new answer.
	again := b.begin(keyed(1, time.Now()))
	for _, want := range []int{batch, old - 1 - batch, 0} {
		if n, err := b.Sweep(b.ctx); err != nil || n != want {
			t.Errorf("swept %d rows, %v; want %d", n, err, want)
		}
	}
	for user, want := range map[int64]int64{old + 1: young, 1: again} {
		if id, existed, err := b.Start(b.ctx, b.wish(keyed(user, time.Now()))); err != nil || !existed || id != want {
			t.Errorf("start with user %d's key: %d, existed %v, %v; want %d again", user, id, existed, err, want)
		}
	}
	if _, existed, err := b.Start(b.ctx, b.wish(keyed(2, time.Now()))); err != nil || existed {
		t.Errorf("start with a key that was swept: existed %v, %v; want a new one", existed, err)
	}
}

func eachCommandHasOneClaimant(t *testing.T, b *bench) {
	const n, owners = 300, 4
	race(n, func(int) { b.begin() })
	var mu sync.Mutex
	won := map[int64]string{}
	race(owners, func(i int) {
		store := b.Store
		if i%2 == 1 {
			store = b.open(t, t.Name())
		}
		owner := fmt.Sprintf("m%d:a", i)
		commands, _, err := store.Commands(b.ctx, nil, n, sql.CommandCursor{})
		if err != nil {
			t.Error(err)
			return
		}
		for len(commands) > 0 {
			part := commands[:min(len(commands), 50)]
			commands = commands[len(part):]
			claims := make([]sql.Claim, len(part))
			for j, c := range part {
				claims[j] = sql.Claim{Command: c, Owner: owner}
			}
			got, err := store.Claim(b.ctx, claims)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for _, c := range got {
				if before, twice := won[c.Instance.ID]; twice {
					t.Errorf("instance %d claimed by %s and %s", c.Instance.ID, before, owner)
				}
				won[c.Instance.ID] = owner
				if c.Instance.OwnerEpoch != 1 || c.Instance.Owner != owner {
					t.Errorf("instance %d has owner %s and epoch %d", c.Instance.ID, c.Instance.Owner, c.Instance.OwnerEpoch)
				}
			}
			mu.Unlock()
		}
	})
	if len(won) != n {
		t.Errorf("%d of %d commands claimed", len(won), n)
	}
	counts, err := b.Owners(b.ctx)
	b.must(err)
	sum := 0
	for _, c := range counts {
		sum += c.Instances
	}
	if sum != n {
		t.Errorf("owners %v own %d, want %d", counts, sum, n)
	}
}

func commandsComeBySlotAndPriority(t *testing.T, b *bench) {
	c, err := b.Cluster(b.ctx)
	b.must(err)
	var want []int64
	for _, p := range []dag.Priority{dag.PriorityLow, dag.PriorityHighest, dag.PriorityMedium, dag.PriorityHighest} {
		want = append(want, b.begin(func(s *sql.Start) { s.Priority = p }))
	}
	want = []int64{want[1], want[3], want[2], want[0]}
	var got []int64
	commands, next, err := b.Commands(b.ctx, nil, 4, sql.CommandCursor{})
	b.must(err)
	for _, x := range commands {
		got = append(got, x.ID)
		if x.Slot != int(x.ID)%c.Slots {
			t.Errorf("command %d has slot %d of %d", x.ID, x.Slot, c.Slots)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || next != (sql.CommandCursor{}) {
		t.Errorf("commands %v and %v, want %v and nothing more", got, next, want)
	}
	for n := 1; n < 4; n++ {
		few, next, err := b.Commands(b.ctx, nil, n, sql.CommandCursor{})
		b.must(err)
		if len(few) != n || few[n-1].ID != want[n-1] || next == (sql.CommandCursor{}) {
			t.Errorf("the first %d commands: %+v and %v, want %v and more", n, few, next, want[:n])
		}
	}
	slots := make([]bool, c.Slots)
	slots[int(want[2])%c.Slots] = true
	mine, _, err := b.Commands(b.ctx, slots, 10, sql.CommandCursor{})
	b.must(err)
	if len(mine) != 1 || mine[0].ID != want[2] {
		t.Errorf("commands of one slot: %+v, want only %d", mine, want[2])
	}
}

func idsAreNeverGivenTwice(t *testing.T, b *bench) {
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var mu sync.Mutex
	seen := map[int64]bool{}
	race(16, func(i int) {
		for n := 1; n < 700; n += 97 {
			first, err := stores[i%2].NextIDs(b.ctx, n)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for id := first; id < first+int64(n); id++ {
				if seen[id] || id <= 0 {
					t.Errorf("id %d given twice, or not positive", id)
				}
				seen[id] = true
			}
			mu.Unlock()
		}
	})
}
