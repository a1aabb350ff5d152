package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// limit publishes a version of the bench's workflow with this concurrency; "" is none.
func (b *bench) limit(concurrency string) {
	b.t.Helper()
	text := "name: Daily\n"
	if concurrency != "" {
		text += "concurrency: " + concurrency + "\n"
	}
	any := sql.AnyVersion
	_, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Daily", Text: text, Format: "yaml", By: "ann", IfMatch: &any, Publish: true})
	b.must(err)
}

// entrant is an instance that was claimed, and what it asks for a place with.
type entrant struct {
	owned
	sql.Entry
}

// entrant starts an instance and claims it for an owner.
func (b *bench) entrant(owner string, priority dag.Priority) *entrant {
	b.t.Helper()
	id := b.begin(func(s *sql.Start) { s.Priority = priority })
	got, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: owner}})
	b.must(err)
	return b.entrantOf(got[0])
}

func (b *bench) entrantOf(c sql.Claimed) *entrant {
	in := c.Instance
	return &entrant{
		owned{&dag.Instance{ID: in.ID, State: in.State, Round: max(1, in.Round), Seq: in.Seq, Tasks: make([]dag.TaskInstance, 2)}, in.OwnerEpoch},
		sql.Entry{
			InstanceID: in.ID, Owner: in.Owner, Epoch: in.OwnerEpoch, WorkflowID: in.WorkflowID, Priority: in.Priority, First: in.Round <= 1,
			Replaces: in.Concurrency.WhenFull == dag.WhenFullReplace,
		},
	}
}

// enter asks for places and returns the answers; those that wait are put to rest.
func (b *bench) enter(es ...*entrant) []sql.Admission {
	b.t.Helper()
	entries := make([]sql.Entry, len(es))
	for i, e := range es {
		entries[i] = e.Entry
	}
	answers, _, err := b.Enter(b.ctx, entries)
	b.must(err)
	for i, e := range es {
		if answers[i] == sql.Waits {
			b.enterState(e, dag.InstanceSerialWait, true)
		}
	}
	return answers
}

// enterState commits that an instance enters a state, and returns whether that woke another.
func (b *bench) enterState(e *entrant, state dag.InstanceState, release bool) bool {
	b.t.Helper()
	e.State = state
	e.owned.Seq++
	tr := []sql.Transition{{
		Instance: e.Instance, Plan: b.plan, Epoch: e.epoch, Release: release, At: 7,
		Effects: &dag.Effects{Changed: true, Events: []dag.Event{{Seq: e.owned.Seq, Code: dag.EventInstance, Task: -1, State: string(state)}}},
	}}
	b.must(b.Commit(b.ctx, tr)[0])
	return tr[0].Woke
}

// woken claims the commands that are there and returns whom they woke.
func (b *bench) woken(owner string) []*entrant {
	b.t.Helper()
	var out []*entrant
	for _, c := range b.claim(owner) {
		out = append(out, b.entrantOf(c))
	}
	return out
}

func (b *bench) want(what string, got, want any) {
	b.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func placesAreGivenInTurn(t *testing.T, b *bench) {
	b.limit("{limit: 1}")
	first := b.entrant("m1:a", dag.PriorityMedium)
	low, high, same := b.entrant("m1:a", dag.PriorityLow), b.entrant("m2:b", dag.PriorityHigh), b.entrant("m2:b", dag.PriorityLow)
	b.want("the first", b.enter(first), []sql.Admission{sql.Admitted})
	b.want("asked again", b.enter(first), []sql.Admission{sql.Admitted})
	b.enterState(first, dag.InstanceRunning, false)
	b.want("the others", b.enter(low, same, high), []sql.Admission{sql.Waits, sql.Waits, sql.Waits})
	if n := len(b.commands()); n != 0 {
		t.Fatalf("%d commands while the place is held", n)
	}
	place, err := b.Place(b.ctx, same.ID)
	b.must(err)
	if !place.Waiting || place.Ahead != 2 || place.Held != 1 || place.Limit != 1 || len(place.Holders) != 1 || place.Holders[0].InstanceID != first.ID ||
		place.Holders[0].State != dag.InstanceRunning {
		t.Errorf("its place is %+v", place)
	}
	last := first
	for _, next := range []*entrant{high, low, same} {
		if !b.enterState(last, dag.InstanceSuccess, true) {
			t.Error("the end of a holder does not say that it woke another")
		}
		if commands := b.commands(); len(commands) != 1 || !commands[0].Lent {
			t.Fatalf("commands after the end of a holder: %+v, want one that any master may take", commands)
		}
		woken := b.woken("m3:c")
		if len(woken) != 1 || woken[0].ID != next.ID || woken[0].State != dag.InstanceSerialWait {
			t.Fatalf("after the end of %d: %+v, want %d to come", last.ID, woken, next.ID)
		}
		b.want("whose turn it is", b.enter(woken[0]), []sql.Admission{sql.Admitted})
		last = woken[0]
		b.enterState(last, dag.InstanceRunning, false)
	}
	if b.enterState(last, dag.InstanceFailed, true) || len(b.commands()) != 0 {
		t.Error("the last one woke somebody")
	}
	if _, err := b.Place(b.ctx, last.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("its place afterwards: %v, want ErrNotFound", err)
	}
	if n, err := b.SweepPlaces(b.ctx); n != 0 || err != nil {
		t.Errorf("a sweep mends %d, %v: want nothing left behind", n, err)
	}
}

func keysHaveTheirOwnPlaces(t *testing.T, b *bench) {
	b.limit("{limit: 1, key: x}")
	one, two, other := b.entrant("m1:a", 2), b.entrant("m1:a", 2), b.entrant("m1:a", 2)
	one.Key, two.Key, other.Key = "eu", "eu", "us"
	b.want("by key", b.enter(one, two, other), []sql.Admission{sql.Admitted, sql.Waits, sql.Admitted})
}

func aFullLineDiscards(t *testing.T, b *bench) {
	b.limit("{limit: 2, when_full: discard}")
	one, two, three := b.entrant("m1:a", 2), b.entrant("m1:a", 2), b.entrant("m1:a", 2)
	b.want("three at once", b.enter(one, two, three), []sql.Admission{sql.Admitted, sql.Admitted, sql.Discarded})
	again := b.entrant("m1:a", 2)
	again.First = false
	b.want("a later round", b.enter(again), []sql.Admission{sql.Waits})
	b.enterState(one, dag.InstanceSuccess, true)
	if woken := b.woken("m1:a"); len(woken) != 1 || woken[0].ID != again.ID {
		t.Errorf("after an end: %+v, want the later round to come", woken)
	}
}

func theNewestReplaces(t *testing.T, b *bench) {
	b.limit("{limit: 1, when_full: replace}")
	one := b.entrant("m1:a", 2)
	b.want("the first", b.enter(one), []sql.Admission{sql.Admitted})
	b.enterState(one, dag.InstanceRunning, false)
	two := b.entrant("m2:b", 2)
	b.want("the second", b.enter(two), []sql.Admission{sql.Waits})
	three := b.entrant("m2:b", 2)
	b.want("the third", b.enter(three), []sql.Admission{sql.Waits})
	for _, old := range []*entrant{one, two} {
		wishes, err := b.Controls(b.ctx, old.ID)
		b.must(err)
		if len(wishes) != 1 || wishes[0].Verb != dag.VerbReplace {
			t.Errorf("wishes about %d: %+v, want that it be replaced", old.ID, wishes)
		}
	}
	// The one that waits has no owner: a command brings it to one, who finds the wish.
	woken := b.woken("m3:c")
	if len(woken) != 1 || woken[0].ID != two.ID {
		t.Fatalf("woken: %+v, want %d", woken, two.ID)
	}
	b.enterState(one, dag.InstanceStopped, true)
	woken = b.woken("m3:c")
	if !slices.ContainsFunc(woken, func(e *entrant) bool { return e.ID == three.ID }) {
		t.Errorf("after the end of the first: %+v, want %d, not the one that was replaced", woken, three.ID)
	}
}

func aNewLimitLetsGo(t *testing.T, b *bench) {
	old := b.entrant("m1:a", 2)
	b.enterState(old, dag.InstanceRunning, false)
	b.limit("{limit: 1}")
	var es []*entrant
	for range 5 {
		es = append(es, b.entrant("m1:a", 2))
	}
	for i, a := range b.enter(es...) {
		if a != sql.Waits {
			t.Fatalf("number %d is %s beside the one that ran before there was a limit", i, a)
		}
	}
	b.limit("{limit: 3}")
	if woken := b.woken("m1:a"); len(woken) != 2 || woken[0].ID != es[0].ID || woken[1].ID != es[1].ID {
		t.Fatalf("a limit of 3 brings %+v, want the first two", woken)
	}
	b.limit("")
	if woken := b.woken("m1:a"); len(woken) != 3 {
		t.Fatalf("no limit brings %d, want the other three", len(woken))
	}
}

func anInstanceSetAsideGivesItsPlace(t *testing.T, b *bench) {
	b.limit("{limit: 1}")
	one, two := b.entrant("m1:a", 2), b.entrant("m1:a", 2)
	b.enter(one, two)
	b.enterState(one, dag.InstanceRunning, false)
	b.must(b.Quarantine(b.ctx, one.ID, one.epoch, dag.ReasonCrashed, "poison"))
	woken := b.woken("m1:a")
	if len(woken) != 1 || woken[0].ID != two.ID {
		t.Fatalf("woken: %+v, want %d", woken, two.ID)
	}
	b.want("the next", b.enter(woken[0]), []sql.Admission{sql.Admitted})
	if err := b.ReleaseQuarantine(b.ctx, one.ID, "ann"); !errors.Is(err, sql.ErrFull) {
		t.Errorf("let go while another runs: %v, want ErrFull", err)
	}
	b.enterState(woken[0], dag.InstanceRunning, false)
	b.enterState(woken[0], dag.InstanceSuccess, true)
	b.must(b.ReleaseQuarantine(b.ctx, one.ID, "ann"))
	b.want("a new one beside it", b.enter(b.entrant("m1:a", 2)), []sql.Admission{sql.Waits})
}

func aTurnIsNotLostByARelease(t *testing.T, b *bench) {
	b.limit("{limit: 1}")
	one, two := b.entrant("m1:a", 2), b.entrant("m2:b", 2)
	b.enter(one)
	b.enterState(one, dag.InstanceRunning, false)
	answers, _, err := b.Enter(b.ctx, []sql.Entry{two.Entry})
	b.must(err)
	b.want("the second", answers, []sql.Admission{sql.Waits})
	// Its turn comes while it has an owner, who takes the command away.
	b.enterState(one, dag.InstanceSuccess, true)
	if got := b.claim("m1:a"); len(got) != 0 {
		t.Fatalf("claimed %+v from its owner", got)
	}
	if !b.enterState(two, dag.InstanceSerialWait, true) {
		t.Error("the release of an instance whose turn has come says nothing")
	}
	if woken := b.woken("m1:a"); len(woken) != 1 || woken[0].ID != two.ID {
		t.Errorf("woken: %+v, want %d", woken, two.ID)
	}
}

func onlyTheOwnerEnters(t *testing.T, b *bench) {
	b.limit("{limit: 1}")
	one := b.entrant("m1:a", 2)
	if _, err := b.Retake(b.ctx, "m1:a", []int64{one.ID}); err != nil {
		t.Fatal(err)
	}
	b.want("an old epoch", b.enter(one), []sql.Admission{sql.NotOwned})
	b.want("another one", b.enter(b.entrant("m1:a", 2)), []sql.Admission{sql.Admitted})
}

// neverMoreThanTheLimit lets two stores run instances of two keys at once, and counts who runs.
func neverMoreThanTheLimit(t *testing.T, b *bench) {
	const limit, each, workers = 2, 12, 4
	b.limit(fmt.Sprintf("{limit: %d, key: x}", limit))
	var mu sync.Mutex
	running, most, ended := map[string]int{}, 0, 0
	begun := func(key string, by int) {
		mu.Lock()
		defer mu.Unlock()
		running[key] += by
		most = max(most, running[key])
		if by < 0 {
			ended++
		}
	}
	var todo sync.WaitGroup
	errs := make(chan error, workers)
	for w := range workers {
		own := *b
		if w%2 == 1 {
			own.Store = b.open(t, t.Name())
		}
		for range each {
			b.begin()
		}
		todo.Go(func() {
			errs <- (&racer{bench: &own, owner: fmt.Sprintf("m%d:x", w), begun: begun, enough: func() bool {
				mu.Lock()
				defer mu.Unlock()
				return ended == workers*each
			}}).run()
		})
	}
	todo.Wait()
	close(errs)
	for err := range errs {
		b.must(err)
	}
	if most > limit || ended != workers*each {
		t.Errorf("%d ran at once with a limit of %d; %d of %d ended", most, limit, ended, workers*each)
	}
	if n, err := b.SweepPlaces(b.ctx); n != 0 || err != nil {
		t.Errorf("a sweep mends %d, %v: want nothing left behind", n, err)
	}
}

// racer claims, enters and ends instances until there are none.
type racer struct {
	*bench
	owner  string
	begun  func(key string, by int)
	enough func() bool
}

func (r *racer) run() error {
	for !r.enough() {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		commands, _, err := r.Commands(r.ctx, nil, 3, sql.CommandCursor{})
		if err != nil {
			return err
		}
		var claims []sql.Claim
		for _, c := range commands {
			claims = append(claims, sql.Claim{Command: c, Owner: r.owner})
		}
		claimed, err := r.Claim(r.ctx, claims)
		if err != nil {
			return err
		}
		for _, c := range claimed {
			if err := r.through(r.entrantOf(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *racer) through(e *entrant) error {
	e.Key = fmt.Sprint(e.ID % 2)
	answers, _, err := r.Enter(r.ctx, []sql.Entry{e.Entry})
	if err != nil {
		return err
	}
	if answers[0] == sql.Waits {
		e.State = dag.InstanceSerialWait
		return r.commit(sql.Transition{Instance: e.Instance, Plan: r.plan, Epoch: e.epoch, Release: true, At: 7})
	}
	r.begun(e.Key, 1)
	e.State = dag.InstanceRunning
	if err := r.commit(sql.Transition{Instance: e.Instance, Plan: r.plan, Epoch: e.epoch, At: 7}); err != nil {
		return err
	}
	r.begun(e.Key, -1)
	e.State = dag.InstanceSuccess
	return r.commit(sql.Transition{Instance: e.Instance, Plan: r.plan, Epoch: e.epoch, Release: true, At: 7})
}
