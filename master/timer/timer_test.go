package timer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// The traps of the reference: headers of one value, and an answer that is cut to 256 characters.
func TestATimerCallsAsItWasTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("ä", 1000)
	b.answer = func(w http.ResponseWriter, _ call) { _, _ = fmt.Fprint(w, long) }
	made := b.timer("hook", rules.Spec{Method: "PATCH", Headers: map[string][]string{"X-Many": {"1", "2"}, "user-agent": {"mine"}}, Body: "täglich"})
	r := b.ringer("m1:a", slots{true})
	b.turn(r)
	if calls := b.calls(); len(calls) != 0 {
		t.Fatalf("called before the moment: %+v", calls)
	}
	b.seconds(1, r)
	calls := b.calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls, want 1", len(calls))
	}
	c := calls[0]
	if c.method != "PATCH" || c.path != "/hook" || c.body != "täglich" || !slices.Equal(c.header["X-Many"], []string{"1", "2"}) || c.header.Get("User-Agent") != "mine" {
		t.Errorf("called with %+v", c)
	}
	tasks := b.tasks(made.ID)
	if len(tasks) != 1 {
		t.Fatalf("tasks: %+v", tasks)
	}
	task := tasks[0]
	if want := fmt.Sprintf("%d-1700000001000", made.ID); c.key != want || task.State != rules.Success || task.Status != 200 || task.Response != long || task.Tries != 1 || task.ClaimedBy != "m1:a" {
		t.Errorf("key %s, want %s; task %+v", c.key, want, task)
	}
	if n := r.Held(); n != 2 { // the horizon
		t.Errorf("%d tasks in memory, want those of the next two seconds", n)
	}
}

// The trap of failed callbacks that are never called again.
func TestAFailedCallIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer = func(w http.ResponseWriter, _ call) { w.WriteHeader(http.StatusServiceUnavailable) }
	made := b.timer("hook", rules.Spec{Cron: "1 * * * * *", MaxTries: 3})
	r := b.ringer("m1:a", slots{true})
	var at []int
	for i := range 60 {
		b.seconds(1, r)
		for range b.calls() {
			at = append(at, i)
		}
	}
	if len(at) != 3 || at[1]-at[0] != 1 || at[2]-at[1] != 2 {
		t.Errorf("called in the seconds %v, want three, one and two seconds apart", at)
	}
	task := b.tasks(made.ID)[0]
	if task.State != rules.Failed || task.Tries != 3 || task.Status != 503 || task.Error != "the answer has status 503" {
		t.Errorf("the task: %+v", task)
	}
	read, err := b.Timer(t.Context(), b.project.ID, made.ID)
	b.must(err)
	if read.Failures != 1 || read.FailingSince != task.PlannedAt {
		t.Errorf("the timer: %+v", read)
	}
	if counts := r.Counts(); counts.Called != 3 || counts.Retried != 2 || counts.Failed != 1 {
		t.Errorf("counts: %+v", counts)
	}
	b.answer = nil
	b.seconds(60, r)
	if read, err = b.Timer(t.Context(), b.project.ID, made.ID); err != nil || read.Failures != 0 {
		t.Errorf("after a success: %+v, %v", read, err)
	}
}

func TestWhatCannotBeReachedIsAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer = func(_ http.ResponseWriter, c call) {
		if c.path == "/breaks" {
			panic(http.ErrAbortHandler)
		}
	}
	closed := b.timer("closed", rules.Spec{URL: "http://127.0.0.1:1/key-in-a-path", MaxTries: 1})
	breaks := b.timer("breaks", rules.Spec{MaxTries: 1, Method: "GET"})
	r := b.ringer("m1:a", slots{true})
	b.seconds(1, r)
	for id, want := range map[int64]string{closed.ID: "connection refused", breaks.ID: "EOF"} {
		task := b.tasks(id)[0]
		if task.State != rules.Failed || task.Status != 0 || !strings.Contains(task.Error, want) || strings.Contains(task.Error, "key-in-a-path") {
			t.Errorf("%+v, want an error with %q", task, want)
		}
	}
	denied := b.ringer("m1:b", slots{true}, func(c *Config) { c.Egress = egress.Rule{DenyLoopback: true} })
	b.calls()
	b.seconds(1, denied)
	if task := b.tasks(breaks.ID)[1]; len(b.calls()) != 0 || !strings.Contains(task.Error, "is loopback") {
		t.Errorf("where loopback is denied: %+v", task)
	}
}

// The trap of two executors that both pass the check.
func TestTwoMastersCallOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		b.timer(fmt.Sprint("t", i), rules.Spec{})
	}
	one, two := b.ringer("m1:a", slots{true}), b.ringer("m2:b", slots{true})
	for range 5 {
		b.read(one)
		b.read(two) // both hold the same tasks in memory
		b.pass(time.Second)
		var both sync.WaitGroup
		for _, r := range []*Ringer{one, two} {
			both.Go(func() {
				advance(r, b.now())
				r.claimAll(t.Context())
				advance(r, b.now())
				r.ringAll(t.Context())
				r.calls.Wait()
				if err := r.saveAll(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	seen := map[string]int{}
	for _, c := range b.calls() {
		seen[c.key]++
	}
	if len(seen) != 100 {
		t.Errorf("%d firings were called, want 100", len(seen))
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%s was called %d times", key, n)
		}
	}
}

// A slice has one owner: masters that share the slots share the work, and none is left over.
func TestMastersShareTheSlices(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 4 {
		b.timer(fmt.Sprint("t", i), rules.Spec{})
	}
	one, two := b.ringer("m1:a", slots{true, false, true, false, false}), b.ringer("m2:b", slots{false, true, false, true, true})
	b.seconds(120, one, two)
	if n := len(b.calls()); n != 4*120 {
		t.Errorf("%d calls, want %d", n, 4*120)
	}
	first, second := one.Counts().Called, two.Counts().Called
	if first == 0 || second == 0 || first+second != 4*120 {
		t.Errorf("%d and %d calls: a master has no share", first, second)
	}
}

// A master that dies with a claim loses nothing: another one calls, with the same key. The traps of a lock that ends
// before its slice, or outlives it.
func TestWhatADeadMasterHadIsCalledAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.timer("hook", rules.Spec{Cron: "1 * * * * *"})
	dead := b.ringer("m1:a", slots{true})
	b.pass(39*time.Second + 500*time.Millisecond) // 22:13:20.5 was the beginning
	b.turn(dead)
	b.pass(time.Second)
	b.read(dead)
	dead.claimAll(t.Context())
	advance(dead, b.now())
	dead.ringAll(t.Context()) // the call arrives, and what came of it is never written
	dead.calls.Wait()
	first := b.calls()
	other := b.ringer("m2:b", slots{true})
	b.seconds(14, other)
	if calls := b.calls(); len(calls) != 0 {
		t.Fatalf("called again while the claim lasts: %+v", calls)
	}
	b.seconds(2, other)
	second := b.calls()
	if len(first) != 1 || len(second) != 1 || first[0].key != second[0].key {
		t.Fatalf("called %+v, then %+v, want twice with one key", first, second)
	}
	if task := b.tasks(made.ID)[0]; task.State != rules.Success || task.Tries != 2 || task.ClaimedBy != "m2:b" {
		t.Errorf("the task: %+v", task)
	}
	if n := other.Counts().Again; n != 1 {
		t.Errorf("%d calls again are counted, want 1", n)
	}
	b.must(dead.saveAll(t.Context())) // the late word of the first counts nothing
	if task := b.tasks(made.ID)[0]; task.ClaimedBy != "m2:b" || dead.Counts().Dropped != 1 {
		t.Errorf("after the late result: %+v", task)
	}
}

// panics is a store that a number of uses panic in.
type panics struct {
	Store
	claims, results int
}

func (p *panics) ClaimTimerTasks(ctx context.Context, owner string, claims []sql.TimerClaim, now dag.Millis) ([]sql.ClaimedTimer, error) {
	if p.claims--; p.claims >= 0 {
		panic("claim")
	}
	return p.Store.ClaimTimerTasks(ctx, owner, claims, now)
}

func (p *panics) FinishTimerTasks(ctx context.Context, owner string, results []sql.TimerResult) (int, []sql.FailingTimer, error) {
	if p.results--; p.results >= 0 {
		panic("results")
	}
	return p.Store.FinishTimerTasks(ctx, owner, results)
}

func TestAPanicLosesNoFiring(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.timer("hook", rules.Spec{Cron: "1 * * * * *"})
	r := b.ringer("m1:a", slots{true}, func(c *Config) { c.Store = &panics{c.Store, 1, 1} })
	b.pass(39*time.Second + 500*time.Millisecond) // 22:13:20.5 was the beginning
	b.turn(r)
	b.seconds(1, r) // the claim panics
	if calls := b.calls(); len(calls) != 0 || r.Held() != 0 {
		t.Fatalf("after a claim that panicked: %d tasks in memory, calls %+v", r.Held(), calls)
	}
	b.read(r)
	r.claimAll(t.Context())
	advance(r, b.now())
	r.ringAll(t.Context())
	r.calls.Wait()
	if err := r.saveAll(t.Context()); err == nil {
		t.Error("results that panicked were written")
	}
	b.must(r.saveAll(t.Context()))
	if task := b.tasks(made.ID)[0]; len(b.calls()) != 1 || task.State != rules.Success || task.Tries != 1 || r.Held() != 0 {
		t.Errorf("the task: %+v, %d in memory", task, r.Held())
	}
}

// Requirement X19.
func TestADisabledTimerDoesNotCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.timer("hook", rules.Spec{})
	r := b.ringer("m1:a", slots{true})
	b.turn(r) // it is in memory
	b.must(b.DisableTimer(t.Context(), b.project.ID, made.ID, "bob"))
	b.seconds(3, r)
	if calls := b.calls(); len(calls) != 0 {
		t.Errorf("called: %+v", calls)
	}
	for _, task := range b.tasks(made.ID) {
		if task.State != rules.Skipped || task.Error != "the timer was disabled" {
			t.Errorf("the task: %+v", task)
		}
	}
	b.must(b.EnableTimer(t.Context(), b.project.ID, made.ID, "bob"))
	b.seconds(2, r)
	if calls := b.calls(); len(calls) != 2 {
		t.Errorf("%d calls after it was enabled again, want 2", len(calls))
	}
}

// The traps of a first migration after an hour, and of one that sleeps five seconds for each timer.
func TestAPlanNeverRunsOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const timers = 8
	for i := range timers {
		b.timer(fmt.Sprint("t", i), rules.Spec{Cron: "*/10 * * * * *"})
	}
	r := b.ringer("m1:a", slots{true})
	b.seconds(1, r)
	for range 4 * 30 { // four windows of ten minutes in steps of twenty seconds
		b.must(r.Plan(t.Context()))
		for range 2 {
			b.pass(10 * time.Second)
			b.turn(r)
		}
	}
	seen := map[string]bool{}
	for _, c := range b.calls() {
		seen[c.key] = true
	}
	if want := timers * 240; len(seen) < want || len(seen) > want+timers {
		t.Errorf("%d firings in 40 minutes, want %d", len(seen), want)
	}
}

func TestAnOutageLeavesNoHole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.timer("hook", rules.Spec{Cron: "0 * * * * *"})
	r := b.ringer("m1:a", slots{true})
	b.pass(30 * time.Minute) // nobody is there, and the plan has run out
	b.must(r.Plan(t.Context()))
	b.seconds(1, r)
	if n := len(b.calls()); n != 30 {
		t.Errorf("%d calls after half an hour without a master, want 30", n)
	}
	b.pass(5 * time.Hour)
	b.must(r.Plan(t.Context()))
	b.seconds(1, r)
	late := b.calls()
	if len(late) != 60 {
		t.Errorf("%d calls after five hours, want those of the last one", len(late))
	}
	var gaps []sql.TimerTask
	for _, task := range b.tasks(made.ID) {
		if task.State == rules.Skipped && strings.HasPrefix(task.Error, "no master planned") {
			gaps = append(gaps, task)
		}
	}
	if n := len(b.tasks(made.ID)); n != 30+10+1+60 {
		t.Errorf("%d rows, want those of the calls, of the ten minutes that were planned, and one for the hole", n)
	}
	if len(gaps) != 1 {
		t.Errorf("the hole has the rows %+v, want one that says so", gaps)
	}
}

// What is at its end is deleted after a day; its sums stay.
func TestOldTasksAreSwept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.timer("hook", rules.Spec{})
	r := b.ringer("m1:a", slots{true, false})
	other := b.ringer("m2:b", slots{false, true})
	b.seconds(60, r, other)
	b.must(b.DisableTimer(t.Context(), b.project.ID, made.ID, "bob"))
	b.must(r.Sweep(t.Context()))
	if n := len(b.tasks(made.ID)); n != 60 {
		t.Fatalf("%d tasks at once, want 60", n)
	}
	b.pass(rules.Kept)
	b.must(other.Sweep(t.Context()))
	if n := len(b.tasks(made.ID)); n != 60 {
		t.Errorf("a master that has not the first slot has swept: %d tasks, want 60", n)
	}
	b.must(r.Sweep(t.Context()))
	if n := len(b.tasks(made.ID)); n > 1 {
		t.Errorf("%d tasks after a day, want none but the last", n)
	}
	totals, err := b.TimerTotals(t.Context(), b.project.ID, dag.MillisOf(b.now().Add(-2*rules.Kept)))
	b.must(err)
	if totals.Tasks[rules.Success] != 60 {
		t.Errorf("sums: %+v, want 60 successes", totals)
	}
}

func TestReceiversShareTheRoom(t *testing.T) {
	t.Parallel()
	r := newReady()
	slow, fast := &spec{receiver: "slow"}, &spec{receiver: "fast"}
	for i := range maxReceiver + 10 {
		r.push(&task{key: sql.TimerKey{TimerID: int64(i)}, spec: slow})
	}
	if n := len(r.take(maxCalls)); n != maxReceiver {
		t.Fatalf("%d tasks of one receiver, want %d", n, maxReceiver)
	}
	r.push(&task{spec: fast})
	got := r.take(10)
	if len(got) != 1 || got[0].spec != fast {
		t.Errorf("beside one that hangs: %d tasks, want the other's", len(got))
	}
	r.end(&task{spec: slow})
	if got := r.take(10); len(got) != 1 || got[0].spec != slow {
		t.Errorf("after one has ended: %d tasks, want one", len(got))
	}
}

// A ringer that runs calls at the moments of the real clock, and when it stops it gives back what it had claimed.
func TestARingerRunsAndStops(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Store, b.project = openReal(t)
	heard := make(chan string, 100)
	b.answer = func(_ http.ResponseWriter, c call) { heard <- c.key }
	made := b.timer("hook", rules.Spec{})
	r := b.ringer("m1:a", slots{true}, func(c *Config) { c.Now = time.Now })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(ctx) })
	deadline := time.After(20 * time.Second)
	for n := 0; n < 2; {
		b.must(r.Load(ctx))
		advance(r, time.Now())
		select {
		case <-heard:
			n++
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing was called")
		}
	}
	stop()
	running.Wait()
	for _, task := range b.tasks(made.ID) {
		if task.State == rules.Calling {
			t.Errorf("left behind: %+v", task)
		}
		if task.State == rules.Success && task.CalledAt < task.PlannedAt {
			t.Errorf("called %d ms early", task.PlannedAt-task.CalledAt)
		}
	}
	if worst := r.Counts(); worst.Succeeded < 2 {
		t.Errorf("counts: %+v", worst)
	}
}

func openReal(t *testing.T) (*sql.Store, sql.Project) {
	t.Helper()
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(t), Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	project, err := store.CreateProject(t.Context(), sql.Project{Name: "Sales"})
	if err != nil {
		t.Fatal(err)
	}
	return store, project
}

// astray is a store whose own clock, that of its host's wall, was set, while the database's goes right.
type astray struct {
	Store
	database func() time.Time
}

func (a *astray) Clock(context.Context) (dag.Millis, error) { return dag.MillisOf(a.database()), nil }

// Requirement F52: whoever sets the clock of a host by hours changes no firing.
func TestAWallThatIsSetChangesNothing(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		b := newBench(t)
		made := b.timer("hook", rules.Spec{Cron: "*/10 * * * * *"})
		guarded, ahead := b.now(), time.Duration(0)
		now := func() time.Time { return b.now().Add(-ahead) }
		r := b.ringer("m1:a", slots{true}, func(c *Config) { c.Store, c.Now = &astray{c.Store, now}, now })
		b.seconds(10, r)
		b.pass(by) // the wall, by which the store goes
		ahead = by
		for range 30 * 60 {
			b.pass(time.Second)
			b.must(r.Plan(t.Context()))
			b.must(r.Load(t.Context()))
			advance(r, now())
			r.claimAll(t.Context())
			advance(r, now())
			r.ringAll(t.Context())
			r.calls.Wait()
			b.must(r.saveAll(t.Context()))
		}
		if n := len(b.calls()); n != 181 {
			t.Errorf("set by %s: %d calls in half an hour, want 181", by, n)
		}
		for _, task := range b.tasks(made.ID) {
			if task.State == rules.Skipped {
				t.Errorf("set by %s: skipped %+v", by, task)
			}
		}
		read, err := b.Timer(t.Context(), b.project.ID, made.ID)
		b.must(err)
		if ahead := read.PlannedUntil.Sub(dag.MillisOf(guarded.Add(30 * time.Minute))); ahead > 3*rules.Step {
			t.Errorf("set by %s: planned %s ahead", by, ahead)
		}
	}
}

// A master whose clock is wrong calls nothing, and skips nothing, until it is right.
func TestAClockThatIsNotTheDatabasesCallsNothing(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		b := newBench(t)
		made := b.timer("hook", rules.Spec{})
		wrong := time.Duration(0)
		now := func() time.Time { return b.now().Add(wrong) }
		r := b.ringer("m1:a", slots{true}, func(c *Config) { c.Now = now })
		b.seconds(2, r)
		b.calls()
		wrong = by
		for range 15 {
			b.pass(time.Second)
			b.must(r.Plan(t.Context()))
			b.must(r.Load(t.Context()))
			advance(r, now())
			r.claimAll(t.Context())
		}
		if n := len(b.calls()); n != 0 {
			t.Errorf("wrong by %s: %d calls", by, n)
		}
		wrong = 0
		b.seconds(1, r)
		if n := len(b.calls()); n != 16 {
			t.Errorf("right again: %d calls, want those of 16 seconds", n)
		}
		for _, task := range b.tasks(made.ID) {
			if task.State == rules.Skipped {
				t.Errorf("wrong by %s: skipped %+v", by, task)
			}
		}
	}
}

// What is kept of an answer is bounded, however long it is; one that never ends takes no more than a call may.
func TestWhatIsKeptOfAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer = func(w http.ResponseWriter, c call) {
		n := MaxResponse + 1000
		if c.path == "/endless" {
			n = 1 << 30
		}
		for ; n > 0; n -= 1000 {
			if _, err := w.Write([]byte(strings.Repeat("x", 1000))); err != nil {
				return
			}
		}
	}
	long, endless := b.timer("long", rules.Spec{}), b.timer("endless", rules.Spec{})
	b.seconds(1, b.ringer("m1:a", slots{true}))
	for _, id := range []int64{long.ID, endless.ID} {
		if task := b.tasks(id)[0]; task.State != rules.Success || task.Response != strings.Repeat("x", MaxResponse) {
			t.Errorf("%s: kept are %d bytes, want %d", task.State, len(task.Response), MaxResponse)
		}
	}
}

func TestAReceiverThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gone := make(chan struct{})
	b.server.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done(): // the caller hangs up
		case <-time.After(20 * time.Second): // it is as well answered
		}
		close(gone)
	})
	made := b.timer("hook", rules.Spec{TimeoutSeconds: 1, MaxTries: 1})
	began := time.Now()
	b.seconds(1, b.ringer("m1:a", slots{true}))
	<-gone
	if took := time.Since(began); took < time.Second || took > 20*time.Second {
		t.Errorf("it was given up after %s, want a second", took)
	}
	if task := b.tasks(made.ID)[0]; task.State != rules.Failed || task.Status != 0 || task.Error != "no answer within 1s" {
		t.Errorf("the task: %+v", task)
	}
}

// A redirect is an answer: where it points to was checked by nobody.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer = func(w http.ResponseWriter, _ call) {
		w.Header().Set("Location", b.server.URL+"/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	made := b.timer("hook", rules.Spec{MaxTries: 1})
	b.seconds(1, b.ringer("m1:a", slots{true}))
	if calls := b.calls(); len(calls) != 1 || calls[0].path != "/hook" {
		t.Errorf("called %+v, want the receiver alone", calls)
	}
	if task := b.tasks(made.ID)[0]; task.State != rules.Failed || task.Status != http.StatusTemporaryRedirect {
		t.Errorf("the task: %+v", task)
	}
}
