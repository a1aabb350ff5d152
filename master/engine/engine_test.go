package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// bench is an engine over a real store, whose steps the test takes, with a worker that gets every
// task and says nothing by itself.
type bench struct {
	*Engine
	t       testing.TB
	store   *sql.Store
	now     time.Time
	project sql.Project

	alarms     map[Alarm]int64
	offers     []Work
	dispatched []*rpc.Dispatch
	refused    int
	poison     int64 // the first instance whose tasks make the dispatcher panic; 0 for none
	idle       bool  // no worker asks
	lost       []LostWorker
	names      int
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, now: time.UnixMilli(1_700_000_000_000), alarms: map[Alarm]int64{}}
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(t), Now: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b.store = store
	b.must(store.Migrate(t.Context()))
	b.project, err = store.CreateProject(t.Context(), sql.Project{Name: "p"})
	b.must(err)
	b.Engine = b.engine("m1:a", store)
	return b
}

func (b *bench) engine(owner string, store Store) *Engine {
	return New(Config{
		Owner: owner, Store: store, Dispatcher: b, Links: b, Alarms: b, Publish: func(*rpc.Change) {}, Logger: hclog.NewNullLogger(),
		Now: b.clock, Token: func() string { b.names++; return strconv.Itoa(b.names) },
		LostWorker: func(w LostWorker) { b.lost = append(b.lost, w) },
	})
}

func (b *bench) clock() time.Time { return b.now }

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// The bench is the engine's dispatcher, links and alarms.

func (b *bench) Offer(w Work) (rpc.Process, bool) {
	if b.poison != 0 && w.Instance >= b.poison {
		panic("poison")
	}
	b.offers = append(b.offers, w)
	return rpc.Process{Node: "w1", Incarnation: "x"}, !b.idle
}

func (b *bench) Withdraw(Work)            {}
func (b *bench) Refuse(rpc.Process, bool) { b.refused++ }
func (b *bench) Dispatch(_ rpc.Process, message *rpc.Dispatch) {
	b.dispatched = append(b.dispatched, message)
}

func (b *bench) Again(_ rpc.Process, message *rpc.Dispatch) {
	b.dispatched = append(b.dispatched, message)
}
func (b *bench) Kill(string, *rpc.Kill)  {}
func (b *bench) Arm(key Alarm, at int64) { b.alarms[key] = at }
func (b *bench) Disarm(key Alarm)        { delete(b.alarms, key) }

// ring fires the alarms that are due.
func (b *bench) ring() {
	for key, at := range b.alarms {
		if at <= b.now.UnixMilli() {
			delete(b.alarms, key)
			b.Fire(key)
		}
	}
}

// start makes n instances of a definition and has the engine take them.
func (b *bench) start(text string, n int, change ...func(*sql.Start)) []int64 {
	b.t.Helper()
	ctx := b.t.Context()
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
	create := sql.AnyVersion
	w, _, _, err := b.store.SaveVersion(ctx, sql.SaveVersion{
		ProjectID: b.project.ID, Name: name, Text: text, Format: "yaml", IfMatch: &create, Publish: true, By: "test",
	})
	b.must(err)
	ids := make([]int64, n)
	claims := make([]sql.Claim, n)
	for i := range ids {
		st := sql.Start{
			WorkflowID: w.ID, ProjectID: b.project.ID, Version: w.Published, Priority: dag.PriorityMedium, By: "test",
			Params: map[string]string{"day": "20261121", "region": "eu"},
		}
		for _, c := range change {
			c(&st)
		}
		ids[i], _, err = b.store.Start(ctx, st)
		b.must(err)
		claims[i] = sql.Claim{Command: sql.Command{ID: ids[i], InstanceID: ids[i], Kind: sql.CommandStart}, Owner: b.Owner}
	}
	claimed, err := b.store.Claim(ctx, claims)
	b.must(err)
	b.Admit(claimed)
	b.settle()
	return ids
}

// settle takes steps until there is nothing to do at this moment.
func (b *bench) settle() {
	b.t.Helper()
	for range 100 {
		again := b.WakeOnce(b.t.Context())
		if n, _ := b.EnterOnce(b.t.Context()); n > 0 {
			again = true
		}
		for b.StepOne() {
			again = true
		}
		if n, _ := b.CommitOnce(b.t.Context()); n > 0 || !b.wakes.empty() || !b.retakes.empty() {
			again = true
		}
		if !again {
			return
		}
	}
	b.t.Fatal("the engine does not come to rest")
}

func (b *bench) row(id int64) sql.InstanceRow {
	b.t.Helper()
	row, err := b.store.Instance(b.t.Context(), id)
	b.must(err)
	return row
}

const (
	single   = "name: single\ntasks:\n  - {name: a, type: noop}\n"
	patient  = "name: patient\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: wait, for: 1h}\n  - {name: b, type: noop, needs: [a]}\n"
	retrying = "name: retrying\ntasks:\n  - {name: a, type: noop, retry: {times: 3, delay: 10m}}\n"
)

func TestAPoisonedInstanceIsSetAsideAfterThreePanicsAndLetGoAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := b.start(single, 1)[0]
	b.poison = good + 1
	bad := b.start(single, 1)[0]
	row := b.row(bad)
	if row.State != dag.InstanceQuarantined || row.OwnerEpoch != maxCrashes || b.Has(bad) {
		t.Errorf("after three panics it is %s at epoch %d; want it quarantined, taken up %d times", row.State, row.OwnerEpoch, maxCrashes)
	}
	events, err := b.store.Events(t.Context(), bad, 0, 10)
	b.must(err)
	if last := events[len(events)-1]; !strings.Contains(last.Message, "poison") {
		t.Errorf("its history ends with %q, which does not say why", last.Message)
	}
	if b.row(good).State != dag.InstanceRunning || !b.Has(good) {
		t.Error("its neighbour was hurt")
	}
	b.poison = 0
	b.must(b.store.ReleaseQuarantine(t.Context(), bad, "ann"))
	b.take(bad)
	if row := b.row(bad); row.State != dag.InstanceRunning || row.CrashCount != 0 {
		t.Errorf("let go it is %s with %d crashes", row.State, row.CrashCount)
	}
}

// take claims the command of an instance.
func (b *bench) take(id int64) {
	b.t.Helper()
	commands, _, err := b.store.Commands(b.t.Context(), nil, 100, sql.CommandCursor{})
	b.must(err)
	for _, c := range commands {
		if c.InstanceID == id {
			claimed, err := b.store.Claim(b.t.Context(), []sql.Claim{{Command: c, Owner: b.Owner}})
			b.must(err)
			b.Admit(claimed)
			b.settle()
			return
		}
	}
	b.t.Fatalf("there is no command for instance %d", id)
}

func TestAPanicGivesTheAsksOfItsTurnBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.idle = true
	ids := b.start("name: two\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop}\n  - {name: c, type: noop, needs: [a]}\n", 1)
	asking := rpc.Process{Node: "w1", Incarnation: "x"}
	b.Assign(ids[0], 0, asking, false)
	b.settle()
	// In one turn, b uses an ask, and c, which a's end makes ready, brings the dispatcher down.
	r := &rpc.Report{Attempt: b.dispatched[0].GetAttempt(), State: string(dag.AttemptSuccess), FinishedAt: b.now.UnixMilli()}
	answered := 0
	b.Report(t.Context(), r, func(string, string) { answered++ })
	b.Assign(ids[0], 1, asking, false)
	b.poison = ids[0]
	b.StepOne()
	if b.refused != 1 || answered != 0 || b.Has(ids[0]) {
		t.Fatalf("%d asks came back and %d reports were answered, want 1 and 0", b.refused, answered)
	}
	b.poison = 0
	b.settle()
	b.Report(t.Context(), r, func(string, string) { answered++ })
	b.settle()
	if row := b.row(ids[0]); answered != 1 || row.State != dag.InstanceRunning || row.OwnerEpoch != 2 {
		t.Errorf("sent again the report was answered %d times, the instance is %s at epoch %d", answered, row.State, row.OwnerEpoch)
	}
}

func TestDatesAndTheProjectsParametersReachTheWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.store.PutProjectParam(t.Context(), sql.ProjectParam{ProjectID: b.project.ID, Name: "region", Value: "eu"})
	b.must(err)
	b.start("name: dated\nparams: {yesterday: '$[yyyyMMdd-1]'}\ntasks:\n  - {name: a, type: noop, env: {AT: '$[HH:mm]'}}\n", 1, func(s *sql.Start) {
		s.ScheduleTime, s.Timezone = dag.MillisOf(time.Date(2026, 3, 28, 23, 30, 0, 0, time.UTC)), "Europe/Berlin"
	})
	if len(b.dispatched) != 1 {
		t.Fatalf("%d tasks are dispatched, want 1", len(b.dispatched))
	}
	env := b.dispatched[0].GetEnv()
	if env["yesterday"] != "20260328" || env["AT"] != "00:30" || env["system_datetime"] != "20260329003000" || env["region"] != "eu" {
		t.Errorf("env = %v, want the dates of Berlin, and the region of the project", env)
	}
}

func TestPassiveInstancesMakeRoomWhereMemoryIsNearlyFull(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Limit = 8
	b.start(patient, 6)
	b.Evict(b.now)
	if b.Room() != 2 || b.crowded() {
		t.Fatalf("with room for %d more something has left", b.Room())
	}
	b.start(single, 1)
	b.Evict(b.now)
	if b.Room() != 7 || b.Held() != 7 {
		t.Errorf("there is room for %d, and %d are held, want all but the busy one out of memory", b.Room(), b.Held())
	}
}

func TestAPassiveInstanceLeavesMemoryAndComesBackForItsMoment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	waiting := b.start(patient, 3)
	busy := b.start(single, 1)[0]
	if len(b.alarms) != 3 {
		t.Fatalf("%d alarms are armed, want 3", len(b.alarms))
	}
	b.now = b.now.Add(evictAfter - time.Second)
	b.Evict(b.now)
	if b.Running() != 4 {
		t.Fatalf("%d are in memory before their time, want 4", b.Running())
	}
	b.now = b.now.Add(time.Minute)
	b.Evict(b.now)
	if b.Running() != 1 || b.Held() != 4 || !b.inMemory(busy) || !b.Has(waiting[0]) {
		t.Fatalf("in memory are %d of %d", b.Running(), b.Held())
	}
	epoch, seq := b.row(waiting[0]).OwnerEpoch, b.row(waiting[0]).Seq
	// A wish brings one back, and is answered.
	_, err := b.store.AddControl(t.Context(), sql.ControlRow{InstanceID: waiting[2], Verb: dag.VerbStop, By: "test"})
	b.must(err)
	b.Nudge(waiting[2])
	b.settle()
	if state := b.row(waiting[2]).State; state != dag.InstanceStopped {
		t.Errorf("stopped out of memory it is %s", state)
	}
	// So does the safety net, without the nudge.
	_, err = b.store.AddControl(t.Context(), sql.ControlRow{InstanceID: waiting[1], Verb: dag.VerbStop, By: "test"})
	b.must(err)
	b.ControlAll(t.Context())
	b.settle()
	if state := b.row(waiting[1]).State; state != dag.InstanceStopped {
		t.Errorf("stopped out of memory without a nudge it is %s", state)
	}
	b.now = b.now.Add(time.Hour)
	b.ring()
	b.settle()
	b.ring() // armed anew when it came back
	b.settle()
	if got := b.row(waiting[0]); got.OwnerEpoch != epoch || got.Seq <= seq || !b.inMemory(waiting[0]) {
		t.Errorf("after its moment it is at seq %d of before %d, epoch %d of before %d", got.Seq, seq, got.OwnerEpoch, epoch)
	}
	if len(b.dispatched) != 2 {
		t.Errorf("%d tasks were dispatched, want the busy one's and the one behind the wait", len(b.dispatched))
	}
}

func TestAReportForAnEvictedInstanceIsAnsweredWhenItIsBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(retrying, 1)[0]
	attempt := b.dispatched[0].GetAttempt()
	say := func(state dag.AttemptState) (verdict string) {
		r := &rpc.Report{Attempt: attempt, State: string(state), FinishedAt: b.now.UnixMilli()}
		b.Report(t.Context(), r, func(v, _ string) { verdict = v })
		b.settle()
		return verdict
	}
	if verdict := say(dag.AttemptFailed); verdict != VerdictOK {
		t.Fatalf("the first report is %q", verdict)
	}
	b.now = b.now.Add(time.Minute)
	b.Evict(b.now)
	if b.Running() != 0 {
		t.Fatal("an instance that waits for a retry stays in memory")
	}
	if verdict := say(dag.AttemptFailed); verdict != "" {
		t.Errorf("out of memory the verdict is %q, want none yet", verdict)
	}
	if verdict := say(dag.AttemptFailed); verdict != VerdictStale {
		t.Errorf("back in memory the verdict is %q, want stale", verdict)
	}
	if row := b.row(id); row.State != dag.InstanceRunning {
		t.Errorf("the instance is %s", row.State)
	}
}

func TestADatabaseThatLostCommitsIsBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.start(patient, 4)
	// One is another's by now, one has lost its last commit, one was left alone.
	moved, err := b.store.TakeOver(t.Context(), b.Owner, "m2:b", 1)
	b.must(err)
	b.actors[ids[1]].in.Seq += 3
	if !b.Verify(t.Context(), false) || b.Running() != 4 {
		t.Fatal("it verified without a reason")
	}
	b.away.Store(true)
	if !b.Verify(t.Context(), false) {
		t.Fatal("the store did not answer")
	}
	b.settle()
	if b.Has(moved[0].Instance.ID) {
		t.Error("what is another's is still here")
	}
	if b.actors[ids[1]] == nil || b.row(ids[1]).OwnerEpoch != 2 || b.actors[ids[1]].in.Seq != b.row(ids[1]).Seq {
		t.Errorf("what stands elsewhere was not read again: %+v", b.row(ids[1]))
	}
	for _, id := range ids[2:] {
		if b.actors[id] == nil || b.row(id).OwnerEpoch != 1 {
			t.Errorf("instance %d, which is as its row, was touched", id)
		}
	}
}

// unsteady is a store whose Commit can be made to fail.
type unsteady struct {
	*sql.Store
	away bool
}

func (u *unsteady) Commit(ctx context.Context, transitions []sql.Transition) []error {
	if !u.away {
		return u.Store.Commit(ctx, transitions)
	}
	errs := make([]error, len(transitions))
	for i := range errs {
		errs[i] = fmt.Errorf("commit: %w", sql.ErrUnavailable)
	}
	return errs
}

func TestALeavingEngineEndsWhatIsUnderWayAndTakesNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := &unsteady{Store: b.store}
	b.Engine = b.engine("m1:a", store)
	ids := b.start(single, 2)
	say := func(i int) (verdict string) {
		r := &rpc.Report{Attempt: b.dispatched[i].GetAttempt(), State: string(dag.AttemptSuccess), FinishedAt: b.now.UnixMilli()}
		b.Report(t.Context(), r, func(v, _ string) { verdict = v })
		return verdict
	}
	store.away = true
	say(0)
	b.Leave()
	for range 3 {
		b.StepOne()
		b.CommitOnce(t.Context())
	}
	if b.Quiet() {
		t.Error("quiet with a commit on its way")
	}
	store.away = false
	b.settle()
	if !b.Quiet() || b.row(ids[0]).State != dag.InstanceSuccess {
		t.Errorf("what was under way is %s", b.row(ids[0]).State)
	}
	if verdict := say(1); verdict != "" || b.row(ids[1]).State != dag.InstanceRunning {
		t.Errorf("a report after that is %q, want no answer: it is for the next owner", verdict)
	}
}

func TestALostWorkerIsToldOfOnceAndOnlyByWhoIsSure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sure := false
	b.Sure = func(time.Time) bool { return sure }
	b.start(single, 3)
	b.Present(map[string]bool{})
	b.now = b.now.Add(silence + time.Second)
	b.Sweep(b.now)
	if len(b.lost) > 0 {
		t.Fatalf("a master in doubt called %+v lost", b.lost)
	}
	sure = true
	b.Sweep(b.now)
	b.Sweep(b.now)
	if len(b.lost) != 1 || b.lost[0].Node != "w1" || b.lost[0].Incarnation != "x" || b.lost[0].Attempts != 3 || b.lost[0].Instances != 3 {
		t.Errorf("told of %+v, want one worker with three attempts", b.lost)
	}
	b.settle()
	if len(b.dispatched) != 6 {
		t.Errorf("%d dispatches, want each attempt and its successor", len(b.dispatched))
	}
}

// TestAnIdleInstanceIsSmall holds what an instance in memory costs while nothing happens.
func TestAnIdleInstanceIsSmall(t *testing.T) {
	const n, bar = 2_000, 20 << 10
	b := newBench(t)
	text := "name: ten\nparams: {day: x, region: y}\ntasks:\n  - {name: t0, type: wait, for: 1h}\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("  - {name: t%d, type: shell, script: 'echo ${day}', needs: [t%d]}\n", i, i-1)
	}
	b.start(text, 1) // what is shared by all
	before := heap()
	ids := b.start(text, n)
	each := int(heap()-before) / n
	if b.Running() != n+1 {
		t.Fatalf("%d are in memory, want %d", b.Running(), n+1)
	}
	t.Logf("an idle instance of ten tasks takes %d bytes", each)
	if each > bar {
		t.Errorf("an idle instance takes %d bytes, want %d at most", each, bar)
	}
	b.now = b.now.Add(time.Minute)
	b.Evict(b.now)
	if b.Running() != 0 || b.Held() != n+1 {
		t.Fatalf("%d of %d are still in memory", b.Running(), b.Held())
	}
	if out := int(heap()-min(before, heap())) / n; out > 1<<10 {
		t.Errorf("out of memory an instance still takes %d bytes", out)
	}
	runtime.KeepAlive(ids)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestWhatTheStoreRefusesForGoodIsSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	refusing := &refuser{Store: b.store}
	b.Engine = b.engine("m1:a", refusing)
	id := b.start(single, 1)[0]
	if row := b.row(id); row.State != dag.InstanceQuarantined || b.Has(id) || refusing.asked != maxTries {
		t.Errorf("it is %s after %d tries, want quarantined after %d", row.State, refusing.asked, maxTries)
	}
	if !slices.Contains([]int{0, 1}, b.refused) {
		t.Errorf("%d asks came back", b.refused)
	}
}

type refuser struct {
	*sql.Store
	asked int
}

func (r *refuser) Commit(_ context.Context, transitions []sql.Transition) []error {
	r.asked++
	errs := make([]error, len(transitions))
	for i := range errs {
		errs[i] = errors.New("no")
	}
	return errs
}

func TestWhoIsNoOwnerAnyMoreCallsNothingStale(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(retrying, 1)[0]
	attempt := b.dispatched[0].GetAttempt()
	taken, err := b.store.TakeOver(t.Context(), b.Owner, "m2:b", 10)
	b.must(err)
	other := b.engine("m2:b", b.store)
	other.Admit(taken)
	for range 10 {
		other.StepOne()
		_, _ = other.CommitOnce(t.Context())
	}
	// This one has not heard of it: it ends the attempt by itself, and then hears of a success.
	b.now = b.now.Add(time.Minute)
	unknown := &rpc.AttemptID{InstanceId: id, Number: 2, Token: "of the new owner"}
	if verdict := b.Check(&rpc.Running{Attempt: unknown, OwnerEpoch: 2}); verdict != VerdictNotOwner {
		t.Errorf("the beat of an attempt that a later owner began is %q", verdict)
	}
	var verdicts []string
	for range 2 {
		r := &rpc.Report{Attempt: unknown, State: string(dag.AttemptSuccess), FinishedAt: b.now.UnixMilli()}
		b.Report(t.Context(), r, func(v, owner string) { verdicts = append(verdicts, v+" "+owner) })
		b.settle()
	}
	if want := []string{VerdictNotOwner + " m2:b"}; !slices.Equal(verdicts, want) {
		t.Errorf("a report about it is answered by %q, want %q", verdicts, want)
	}
	if verdict := b.Check(&rpc.Running{Attempt: attempt, OwnerEpoch: 1}); verdict != VerdictNotOwner || b.Has(id) {
		t.Errorf("afterwards a beat is %q", verdict)
	}
}
