package master

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// within looks until a condition holds, and fails after d; it returns how long that took.
func within(t testing.TB, d time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > d {
			t.Fatalf("waited %v in vain until %s", d, what)
		}
		<-time.After(2 * time.Millisecond)
	}
	return time.Since(began)
}

// owned counts the instances of each owner.
func (s *site) owned() map[string]int {
	s.t.Helper()
	owners, err := s.store.Owners(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, o := range owners {
		counts[o.Owner] = o.Instances
	}
	return counts
}

// holding is a worker that begins what it gets and ends it when told to.
func holding(node string, slots int32) *worker {
	w := &worker{node: node, incarnation: "x", groups: []string{"default"}, slots: slots}
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		w.got = append(w.got, d.GetAttempt())
		return []*rpc.Report{report(d.GetAttempt(), dag.AttemptRunning)}
	}
	return w
}

const single = "name: single\ntasks:\n  - {name: a, type: noop}\n"

// hold starts n instances on a master and waits until the worker runs a task of each.
func (s *site) hold(w *worker, n int) []int64 {
	s.t.Helper()
	workflow := s.save(single)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = s.start(workflow)
	}
	w.until(s.t, "all tasks run", func() bool { return len(w.got) == n && len(w.acks) == n })
	return ids
}

// crash ends a master as kill -9 would, but for its lease, which ends at once.
func crash(m *Master, stop func()) {
	m.Stand(nil) // it hands nothing over without a membership
	stop()
}

func TestALeavingMasterHandsItsInstancesOverWithinASecond(t *testing.T) {
	t.Parallel()
	const n = 100
	s := newSite(t)
	leaving, first, stop := s.master("m1", "i1")
	w := holding("w1", n)
	s.join(w, first)
	ids := s.hold(w, n)
	_, second, _ := s.master("m2", "i2")
	_, third, _ := s.master("m3", "i3")
	other, another := holding("w1", 0), holding("w1", 0)
	s.join(other, second)
	s.join(another, third)
	within(t, 5*time.Second, "the first knows the others", func() bool {
		return len(leaving.standing.masters()) == 3
	})
	began := time.Now()
	stop()
	within(t, time.Second, "the others own all", func() bool {
		owned := s.owned()
		return owned["m2:i2"] == n/2 && owned["m3:i3"] == n/2
	})
	// Adopted means that the new owner asked the same process for the same attempt.
	tokens := func() int {
		all := map[string]bool{}
		for _, w := range []*worker{other, another} {
			w.mu.Lock()
			for token := range maps.Keys(w.seen) {
				all[token] = true
			}
			w.mu.Unlock()
		}
		return len(all)
	}
	within(t, 2*time.Second, "all attempts are adopted", func() bool { return tokens() == n })
	t.Logf("handed over and adopted within %v of the stop", time.Since(began))
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v, want about a second", took)
	}
	for _, w := range []*worker{other, another} {
		for _, id := range w.got {
			w.report(report(id, dag.AttemptSuccess))
		}
	}
	for _, id := range ids {
		row := s.waitFor(id, dag.InstanceSuccess)
		if got := s.tasks(id); got != "a=success/1" || row.OwnerEpoch != 2 {
			t.Fatalf("instance %d: %s, epoch %d; want one attempt and one handover", id, got, row.OwnerEpoch)
		}
	}
}

func (s *site) members() []registry.Member {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	views, err := s.registry.Watch(ctx, registry.Master)
	if err != nil {
		s.t.Fatal(err)
	}
	return (<-views).Members
}

func TestTheInstancesOfACrashedMasterAreTakenOverAndAccountedFor(t *testing.T) {
	t.Parallel()
	const n, lost = 60, 10
	s := newSite(t)
	m, first, stop := s.master("m1", "i1")
	w, gone := holding("w1", n), holding("w2", lost)
	s.join(w, first)
	ids := s.hold(w, n)
	s.join(gone, first)
	more := s.hold(gone, lost)
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", lost)
	s.join(adopter, second)
	// What w2 runs is lost with it: it is not registered, and never linked to the second.
	crash(m, stop)
	within(t, 5*time.Second, "the second owns all", func() bool { return s.owned()["m2:i2"] == n+lost })
	adopter.until(t, "all of w1's attempts are adopted", func() bool { return len(adopter.got) >= n })
	for _, id := range adopter.got[:n] {
		adopter.report(report(id, dag.AttemptSuccess))
	}
	for _, id := range ids {
		s.waitFor(id, dag.InstanceSuccess)
	}
	adopter.until(t, "all of w2's attempts are made again", func() bool { return len(adopter.got) == n+lost })
	for _, id := range adopter.got[n:] {
		adopter.report(report(id, dag.AttemptSuccess))
	}
	for _, id := range more {
		s.waitFor(id, dag.InstanceSuccess)
		if got := s.tasks(id); got != "a=success/2" {
			t.Errorf("instance %d: %s, want the lost attempt and another", id, got)
		}
	}
	var row sql.FailoverRow
	within(t, 5*time.Second, "the takeover is accounted for", func() bool {
		rows, _, err := s.store.Failovers(t.Context(), sql.FailoverMaster, sql.Page{})
		if err != nil || len(rows) != 1 {
			return false
		}
		row = rows[0]
		return row.FinishedAt != 0
	})
	if row.Node != "m1" || row.Incarnation != "i1" || row.Master != "m2:i2" || row.Instances != n+lost || row.Adopted != n || row.Lost != lost {
		t.Errorf("accounted for as %+v", row)
	}
	var workers []sql.FailoverRow
	within(t, 5*time.Second, "the lost worker is accounted for", func() bool {
		var err error
		workers, _, err = s.store.Failovers(t.Context(), sql.FailoverWorker, sql.Page{})
		return err == nil && len(workers) > 0
	})
	if len(workers) != 1 || workers[0].Node != "w2" || workers[0].Lost != lost || workers[0].Instances != lost {
		t.Errorf("of workers are accounted for %+v", workers)
	}
}

func TestAWorkerThatLinksLaterIsToldItsNewMaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, first, stop := s.master("m1", "i1")
	w := holding("w1", 4)
	s.join(w, first)
	ids := s.hold(w, 3)
	crash(m, stop)
	_, second, _ := s.master("m2", "i2")
	within(t, 5*time.Second, "the second owns all", func() bool { return s.owned()["m2:i2"] == 3 })
	adopter := holding("w1", 1)
	for _, id := range w.got {
		adopter.running = append(adopter.running, &rpc.Running{Attempt: id})
	}
	s.join(adopter, second)
	adopter.until(t, "it is told of its attempts", func() bool { return len(adopter.got) == 3 })
	for _, id := range adopter.got {
		if !slices.Contains(ids, id.GetInstanceId()) || id.GetNumber() != 1 {
			t.Errorf("told of %v, want the attempts 1 of %v", id, ids)
		}
		adopter.report(report(id, dag.AttemptSuccess))
	}
	for _, id := range ids {
		s.waitFor(id, dag.InstanceSuccess)
	}
}

func TestWishesAboutADeadMastersInstancesComeTrue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, first, stop := s.master("m1", "i1")
	w := holding("w1", 4)
	s.join(w, first)
	ids := s.hold(w, 3)
	crash(m, stop)
	s.control(sql.ControlRow{InstanceID: ids[0], Verb: dag.VerbStop})
	s.control(sql.ControlRow{InstanceID: ids[1], Verb: dag.VerbPause})
	s.control(sql.ControlRow{InstanceID: ids[2], Verb: dag.VerbKill, Tasks: []string{"a"}})
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", 4)
	adopter.killed = func(k *rpc.Kill) []*rpc.Report {
		return []*rpc.Report{report(k.GetAttempt(), dag.AttemptKilled)}
	}
	s.join(adopter, second)
	s.waitFor(ids[0], dag.InstanceStopped)
	s.waitFor(ids[1], dag.InstancePausing)
	s.waitFor(ids[2], dag.InstanceFailed)
	for _, id := range adopter.got {
		if id.GetInstanceId() == ids[1] {
			adopter.report(report(id, dag.AttemptSuccess))
		}
	}
	s.waitFor(ids[1], dag.InstanceSuccess) // nothing was left to be paused
}

func TestAMasterThatLostAnInstanceWritesNothingAndForgetsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, first, _ := s.master("m1", "i1")
	w := holding("w1", 2)
	s.join(w, first)
	ids := s.hold(w, 1)
	// As if the others had thought it dead: it sleeps, and wakes up as an owner of old.
	taken, err := s.store.TakeOver(t.Context(), "m1:i1", "m9:elsewhere", 10)
	if err != nil || len(taken) != 1 {
		t.Fatalf("taken %d, %v", len(taken), err)
	}
	before, err := s.store.Events(t.Context(), ids[0], 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	w.report(report(w.got[0], dag.AttemptSuccess))
	within(t, 5*time.Second, "the instance is forgotten", func() bool { return !m.engine.Has(ids[0]) })
	w.report(report(w.got[0], dag.AttemptSuccess))
	w.until(t, "the report is sent elsewhere", func() bool { return slices.Contains(slices.Collect(maps.Values(w.acks)), "not_owner") })
	after, err := s.store.Events(t.Context(), ids[0], 0, 100)
	if err != nil || len(after) != len(before) {
		t.Errorf("%d events, %v; want the %d of before", len(after), err, len(before))
	}
	row, err := s.store.Instance(t.Context(), ids[0])
	if err != nil || row.State != dag.InstanceRunning || row.Owner != "m9:elsewhere" || row.OwnerEpoch != 2 {
		t.Errorf("the row is %+v, %v", row, err)
	}
}

// cutOff is a store that one master cannot reach at times.
type cutOff struct {
	*sql.Store
	cut atomic.Bool
}

func (c *cutOff) Ping(ctx context.Context) error {
	if c.cut.Load() {
		return sql.ErrUnavailable
	}
	return c.Store.Ping(ctx)
}

func (c *cutOff) Owners(ctx context.Context) ([]sql.OwnerCount, error) {
	if c.cut.Load() {
		return nil, sql.ErrUnavailable
	}
	return c.Store.Owners(ctx)
}

func (c *cutOff) Commit(ctx context.Context, transitions []sql.Transition) []error {
	if !c.cut.Load() {
		return c.Store.Commit(ctx, transitions)
	}
	errs := make([]error, len(transitions))
	for i := range errs {
		errs[i] = sql.ErrUnavailable
	}
	return errs
}

func TestAMasterWithoutItsDatabaseWithdrawsForTheOthersAndComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	far := &cutOff{Store: s.store}
	s.faulty = far
	m, first, _ := s.master("m1", "i1")
	s.faulty = nil
	w := holding("w1", 2)
	s.join(w, first)
	ids := s.hold(w, 1)
	far.cut.Store(true)
	// Alone it stays: there is nobody to withdraw for.
	<-time.After(2500 * time.Millisecond)
	if members := s.members(); len(members) != 1 {
		t.Fatalf("the only master withdrew: %+v", members)
	}
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", 2)
	s.join(adopter, second)
	within(t, 10*time.Second, "the other owns the instance", func() bool { return s.owned()["m2:i2"] == 1 })
	far.cut.Store(false)
	within(t, 10*time.Second, "it is registered again", func() bool { return len(s.members()) == 2 })
	within(t, 10*time.Second, "it has forgotten what is another's", func() bool { return !m.engine.Has(ids[0]) })
	adopter.until(t, "the attempt is adopted", func() bool { return len(adopter.got) == 1 })
	adopter.report(report(adopter.got[0], dag.AttemptSuccess))
	row := s.waitFor(ids[0], dag.InstanceSuccess)
	if row.OwnerEpoch != 2 || s.tasks(ids[0]) != "a=success/1" {
		t.Errorf("epoch %d, %s; want one takeover and one attempt", row.OwnerEpoch, s.tasks(ids[0]))
	}
}

func TestALostAnswerOfAHandoverLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, first, stop := s.master("m1", "i1")
	w := holding("w1", 20)
	s.join(w, first)
	ids := s.hold(w, 20)
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", 0)
	s.join(adopter, second)
	within(t, 5*time.Second, "both are registered", func() bool { return len(s.members()) == 2 })
	// Half of them are handed over behind the first's back, as by a handover that broke off.
	if n, err := s.store.HandOver(t.Context(), "m1:i1", "m2:i2", ids[:10]); err != nil || n != 10 {
		t.Fatal(n, err)
	}
	stop()
	adopter.until(t, "all are adopted", func() bool { return len(adopter.got) == 20 })
	for _, id := range adopter.got {
		adopter.report(report(id, dag.AttemptSuccess))
	}
	for _, id := range ids {
		s.waitFor(id, dag.InstanceSuccess)
	}
	if rows, _, err := s.store.Failovers(t.Context(), "", sql.Page{}); err != nil || len(rows) > 0 {
		t.Errorf("a stop on purpose is accounted for as %s, %v", strings.TrimSpace(fmt.Sprintln(rows)), err)
	}
}

// TestAWorkerThatReachesOnlyAnotherMasterIsDrivenByThatOne cuts a worker off from the owner of what it
// runs, while both see the registry.
func TestAWorkerThatReachesOnlyAnotherMasterIsDrivenByThatOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session, err := s.registry.Join(t.Context(), registry.Member{Role: registry.Worker, Node: "w1", Incarnation: "x"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Leave(context.Background()) })
	m, first, _ := s.master("m1", "i1")
	w := holding("w1", 4)
	cut := s.join(w, first)
	ids := s.hold(w, 2)
	cut()
	slices.SortFunc(w.got, func(a, b *rpc.AttemptID) int { return cmp.Compare(a.GetInstanceId(), b.GetInstanceId()) })
	// The first drives on what runs elsewhere: that must not move.
	other := holding("w2", 1)
	s.join(other, first)
	kept := s.hold(other, 1)[0]
	_, second, _ := s.master("m2", "i2")
	stray := holding("w1", 4)
	for _, id := range w.got {
		stray.running = append(stray.running, &rpc.Running{Attempt: id})
	}
	s.join(stray, second)
	within(t, 20*time.Second, "the second has what the worker runs", func() bool {
		stray.report(report(w.got[0], dag.AttemptSuccess)) // as a worker does until it is answered
		<-time.After(100 * time.Millisecond)
		return s.done(ids[0])
	})
	stray.until(t, "the other attempt is adopted", func() bool {
		return slices.ContainsFunc(stray.got, func(id *rpc.AttemptID) bool { return id.GetInstanceId() == ids[1] })
	})
	stray.report(report(w.got[1], dag.AttemptSuccess))
	s.waitFor(ids[1], dag.InstanceSuccess)
	if row, err := s.store.Instance(t.Context(), kept); err != nil || row.Owner != "m1:i1" || row.OwnerEpoch != 1 {
		t.Errorf("an instance without attempts on that worker is %s's at epoch %d, %v", row.Owner, row.OwnerEpoch, err)
	}
	for _, id := range ids {
		if m.engine.Has(id) || s.tasks(id) != "a=success/1" {
			t.Errorf("instance %d: %s; want one attempt", id, s.tasks(id))
		}
	}
}

func (s *site) done(id int64) bool {
	row, err := s.store.Instance(context.Background(), id)
	return err == nil && row.State.Final()
}
