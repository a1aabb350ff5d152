package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/sql"
)

// timer makes a timer of the bench's project.
func (b *bench) timer(name, cron string) sql.Timer {
	b.t.Helper()
	made, err := b.CreateTimer(b.ctx, sql.Timer{ProjectID: b.project.ID, Name: name, CreatedBy: "ann", Spec: timer.Spec{
		Cron: cron, Method: "POST", URL: "http://example.org/x", Headers: map[string][]string{"X-A": {"1", "2"}}, Body: "täglich",
	}})
	b.must(err)
	return made
}

// dueTasks are the open tasks that are due within a time from now.
func (b *bench) dueTasks(within time.Duration) (out []sql.DueTimerTask) {
	b.t.Helper()
	b.must(b.DueTimerTasks(b.ctx, dag.MillisOf(time.Now().Add(within)), func(d sql.DueTimerTask) bool {
		out = append(out, d)
		return true
	}))
	return out
}

// claimFirst claims the first task of a timer as soon as its moment has nearly come.
func (b *bench) claimFirst(owner string, until dag.Millis) (task sql.ClaimedTimer) {
	b.t.Helper()
	first := b.dueTasks(time.Hour)[0]
	for b.ctx.Err() == nil {
		got, err := b.ClaimTimerTasks(b.ctx, owner, []sql.TimerClaim{{TimerKey: first.TimerKey, Until: until}}, dag.MillisOf(time.Now()))
		b.must(err)
		if len(got) == 1 {
			return got[0]
		}
	}
	b.t.Fatal("the first task cannot be claimed")
	return task
}

func (b *bench) tasksOf(id int64) []sql.TimerTask {
	b.t.Helper()
	var out []sql.TimerTask
	for page := (sql.Page{Limit: 200}); ; {
		some, next, err := b.TimerTasks(b.ctx, id, "", page)
		b.must(err)
		out = append(out, some...)
		if page.Cursor = next; next == "" {
			slices.Reverse(out)
			return out
		}
	}
}

func timersComeAndGo(t *testing.T, b *bench) {
	made := b.timer("Nightly", "0 3 * * *")
	if made.Enabled || made.ID == 0 {
		t.Errorf("made: %+v", made)
	}
	if _, err := b.CreateTimer(b.ctx, sql.Timer{ProjectID: b.project.ID, Name: "NIGHTLY"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("the same name: %v, want ErrExists", err)
	}
	if _, err := b.CreateTimer(b.ctx, sql.Timer{ProjectID: 999999, Name: "x"}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("no project: %v, want ErrNotFound", err)
	}
	read, err := b.Timer(b.ctx, b.project.ID, made.ID)
	b.must(err)
	b.want("the timer", fmt.Sprint(read), fmt.Sprint(made))
	if _, err := b.Timer(b.ctx, b.project.ID+1, made.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("of another project: %v, want ErrNotFound", err)
	}
	b.timer("100%_sure", "0 3 * * *")
	for part, want := range map[string]int{"": 2, "IGHT": 1, "%_": 1, "_": 1, "night%": 0} {
		list, err := b.Timers(b.ctx, sql.TimerFilter{ProjectID: b.project.ID, Name: part}, 0, 10)
		b.must(err)
		if len(list) != want {
			t.Errorf("names with %q: %d, want %d", part, len(list), want)
		}
	}
	second, err := b.Timers(b.ctx, sql.TimerFilter{ProjectID: b.project.ID}, 1, 1)
	b.must(err)
	if len(second) != 1 || second[0].Name != "Nightly" {
		t.Errorf("the second by name: %+v", second)
	}
	b.must(b.DeleteTimer(b.ctx, b.project.ID, made.ID))
	for what, err := range map[string]error{
		"delete": b.DeleteTimer(b.ctx, b.project.ID, made.ID), "enable": b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"), "disable": b.DisableTimer(b.ctx, b.project.ID, made.ID, "ann"),
	} {
		if !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%s of what is deleted: %v, want ErrNotFound", what, err)
		}
	}
}

// Requirement X20, and the traps of a first window that is planned late, and of one firing too many.
func enablingPlansTwoWindowsAtOnce(t *testing.T, b *bench) {
	made := b.timer("tick", "* * * * * *")
	before := dag.MillisOf(time.Now())
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	after := dag.MillisOf(time.Now())
	due := b.dueTasks(3 * timer.Step)
	if n := len(due); n < 600 || n > 600+int((after-before)/1000)+1 {
		t.Errorf("%d tasks, want one for each of 600 seconds", n)
	}
	for i, d := range due {
		if want := due[0].PlannedAt + dag.Millis(1000*i); d.PlannedAt != want || d.State != timer.Planned {
			t.Fatalf("task %d: %+v, want the second %d", i, d, want)
		}
	}
	read, err := b.Timer(b.ctx, b.project.ID, made.ID)
	b.must(err)
	if first, last := due[0].PlannedAt, due[len(due)-1].PlannedAt; first < before || first > after+1000 || read.PlannedUntil != last+1000 || last >= after.Add(2*timer.Step) {
		t.Errorf("planned from %d to %d until %d, enabled between %d and %d", first, last, read.PlannedUntil, before, after)
	}
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	if again := b.dueTasks(3 * timer.Step); len(again) != len(due) {
		t.Errorf("enabled twice: %d tasks, want %d", len(again), len(due))
	}
	if planned, err := b.PlanTimers(b.ctx, []bool{true}, dag.MillisOf(time.Now())); err != nil || planned != (sql.Planned{}) {
		t.Errorf("planned again at once: %+v, %v", planned, err)
	}
}

func farTimersCostNothing(t *testing.T, b *bench) {
	made := b.timer("rare", "0 0 29 2 *")
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	read, err := b.Timer(b.ctx, b.project.ID, made.ID)
	b.must(err)
	if at := read.PlannedUntil.Time().UTC(); at.Month() != time.February || at.Day() != 29 || at.Hour() != 0 {
		t.Errorf("planned until %v, want the next 29 February", at)
	}
	if due := b.dueTasks(10 * timer.Step); len(due) != 0 {
		t.Errorf("%d tasks", len(due))
	}
}

// The trap of two executors that both find nothing and both call.
func aTaskHasOneClaimant(t *testing.T, b *bench) {
	made := b.timer("tick", "* * * * * *")
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	first := b.dueTasks(time.Hour)[0]
	until := dag.MillisOf(time.Now().Add(time.Hour))
	var mu sync.Mutex
	var won []sql.ClaimedTimer
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for b.ctx.Err() == nil {
				got, err := b.ClaimTimerTasks(b.ctx, fmt.Sprintf("m%d:a", i), []sql.TimerClaim{{TimerKey: first.TimerKey, Until: until}}, dag.MillisOf(time.Now()))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				won = append(won, got...)
				done := len(won) > 0
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	group.Wait()
	if len(won) != 1 || won[0].Tries != 1 || won[0].Again {
		t.Errorf("won: %+v, want one", won)
	}
}

func resultsCountOnce(t *testing.T, b *bench) {
	made := b.timer("tick", "* * * * * *")
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	claimed := b.claimFirst("m1:a", dag.MillisOf(time.Now().Add(-time.Minute)))
	if stale, err := b.ClaimTimerTasks(b.ctx, "m2:b", []sql.TimerClaim{{TimerKey: claimed.TimerKey, Until: dag.MillisOf(time.Now().Add(time.Hour))}}, dag.MillisOf(time.Now())); err != nil || len(stale) != 1 || !stale[0].Again || stale[0].Tries != 2 {
		t.Fatalf("a claim that has run out: %+v, %v, want it again", stale, err)
	}
	result := sql.TimerResult{TimerKey: claimed.TimerKey, ProjectID: b.project.ID, Tries: 1, State: timer.Success, CalledAt: claimed.PlannedAt + 5, CostMS: 7, Status: 200}
	if dropped, _, err := b.FinishTimerTasks(b.ctx, "m1:a", []sql.TimerResult{result}); err != nil || dropped != 1 {
		t.Errorf("the late result of the first: dropped %d, %v, want 1", dropped, err)
	}
	result.Tries, result.State, result.Status, result.Error, result.NextAt = 2, timer.Retry, 503, "the answer has status 503", 1
	for range 2 {
		_, failing, err := b.FinishTimerTasks(b.ctx, "m2:b", []sql.TimerResult{result})
		b.must(err)
		if len(failing) != 0 {
			t.Errorf("failing after a retry: %+v", failing)
		}
	}
	again, err := b.ClaimTimerTasks(b.ctx, "m2:b", []sql.TimerClaim{{TimerKey: claimed.TimerKey, Until: dag.MillisOf(time.Now().Add(time.Hour))}}, dag.MillisOf(time.Now()))
	b.must(err)
	if len(again) != 1 || again[0].Tries != 3 || again[0].Again {
		t.Fatalf("the retry: %+v", again)
	}
	result.Tries, result.State = 3, timer.Failed
	want := []sql.FailingTimer{{ID: made.ID, Failures: 1, Since: claimed.PlannedAt}}
	ops := b.ears()
	if dropped, failing, err := b.FinishTimerTasks(b.ctx, "m2:b", []sql.TimerResult{result}); err != nil || dropped != 0 || !slices.Equal(failing, want) {
		t.Errorf("failed: dropped %d, %+v, %v, want %+v", dropped, failing, err, want)
	}
	if dropped, failing, err := b.FinishTimerTasks(b.ctx, "m2:b", []sql.TimerResult{result}); err != nil || dropped != 1 || len(failing) != 0 {
		t.Errorf("the same again: dropped %d, %+v, %v", dropped, failing, err)
	}
	if a := b.alerts(ops); len(a) != 1 || a[0].Kind != listen.TimerFailing || a[0].Subject != made.Name || a[0].ProjectID != b.project.ID || a[0].Message != result.Error {
		t.Errorf("alerts are %+v, want one of the first failure", a)
	}
	if task := b.tasksOf(made.ID)[0]; task.State != timer.Failed || task.Tries != 3 || task.Status != 503 || task.Error == "" || task.ClaimedBy != "m2:b" {
		t.Errorf("the task: %+v", task)
	}
	totals, err := b.TimerTotals(b.ctx, b.project.ID, claimed.PlannedAt)
	b.must(err)
	if totals.Failing != 1 || totals.Enabled != 1 || totals.Tasks[timer.Failed] != 1 || totals.Tries != 3 || totals.LateMS != 5 {
		t.Errorf("totals: %+v", totals)
	}
	next := b.claimFirst("m2:b", dag.MillisOf(time.Now().Add(time.Hour)))
	if !next.Failing {
		t.Error("a claim does not say that the timer fails")
	}
	_, _, err = b.FinishTimerTasks(b.ctx, "m2:b", []sql.TimerResult{{TimerKey: next.TimerKey, ProjectID: b.project.ID, Tries: 1, State: timer.Success, CalledAt: next.PlannedAt, Failing: true}})
	b.must(err)
	if read, err := b.Timer(b.ctx, b.project.ID, made.ID); err != nil || read.Failures != 0 || read.FailingSince != 0 {
		t.Errorf("after a success: %+v, %v", read, err)
	}
}

// Requirement X19.
func tasksOfADisabledTimerStay(t *testing.T, b *bench) {
	made := b.timer("tick", "* * * * * *")
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	planned := len(b.tasksOf(made.ID))
	b.must(b.DisableTimer(b.ctx, b.project.ID, made.ID, "bob"))
	if n := len(b.tasksOf(made.ID)); n != planned {
		t.Errorf("%d tasks after it was disabled, want %d", n, planned)
	}
	first := b.dueTasks(time.Hour)[0]
	until := dag.MillisOf(time.Now().Add(time.Hour))
	skipped := func(key sql.TimerKey) sql.TimerTask {
		for b.ctx.Err() == nil {
			got, err := b.ClaimTimerTasks(b.ctx, "m1:a", []sql.TimerClaim{{TimerKey: key, Until: until}}, dag.MillisOf(time.Now()))
			b.must(err)
			if len(got) != 0 {
				t.Fatal("a task of a disabled timer was claimed")
			}
			over, _, err := b.TimerTasks(b.ctx, made.ID, timer.Skipped, sql.Page{Limit: 1})
			b.must(err)
			if len(over) == 1 && over[0].TimerKey == key {
				return over[0]
			}
		}
		return sql.TimerTask{}
	}
	if task := skipped(first.TimerKey); task.State != timer.Skipped || task.Error != "the timer was disabled" || task.Tries != 0 {
		t.Errorf("at its moment: %+v", task)
	}
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "bob"))
	next := b.claimFirst("m1:a", until)
	if next.PlannedAt <= first.PlannedAt {
		t.Errorf("the first after it was enabled again: %+v", next)
	}
	b.must(b.DeleteTimer(b.ctx, b.project.ID, made.ID))
	second := b.dueTasks(time.Hour)[0]
	if task := skipped(second.TimerKey); task.State != timer.Skipped || task.Error != "the timer was deleted" {
		t.Errorf("of a deleted timer: %+v", task)
	}
}

// Requirement X21.
func theBucketsOfAMinuteAreDecidedOnce(t *testing.T, b *bench) {
	minute := time.Now().Add(time.Hour).Unix() / 60
	n, err := b.MinuteBuckets(b.ctx, minute)
	b.must(err)
	if n != 1 {
		t.Errorf("an empty minute has %d buckets", n)
	}
	for i := range 6 {
		b.must(b.EnableTimer(b.ctx, b.project.ID, b.timer(fmt.Sprint("tick", i), "* * * * * *").ID, "ann"))
	}
	busy := time.Now().Add(2*time.Minute).Unix() / 60
	n, err = b.MinuteBuckets(b.ctx, busy)
	b.must(err)
	if n != 2 {
		t.Errorf("360 firings are folded onto %d buckets, want 2", n)
	}
	for i := range 6 {
		b.must(b.EnableTimer(b.ctx, b.project.ID, b.timer(fmt.Sprint("tock", i), "* * * * * *").ID, "ann"))
	}
	if again, err := b.MinuteBuckets(b.ctx, busy); err != nil || again != n {
		t.Errorf("asked again: %d, %v, want %d", again, err, n)
	}
}

// aBrokenTimerIsDisabledWithAnAlert: one whose timezone is gone stands still, says why, and those who listen are told once.
func aBrokenTimerIsDisabledWithAnAlert(t *testing.T, b *bench) {
	made, err := b.CreateTimer(b.ctx, sql.Timer{ProjectID: b.project.ID, Name: "mars", CreatedBy: "ann", Spec: timer.Spec{
		Cron: "0 5 * * *", Timezone: "Mars/Base", Method: "POST", URL: "http://example.org/x",
	}})
	b.must(err)
	fine := b.timer("fine", "* * * * * *")
	ops := b.ears()
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	b.must(b.EnableTimer(b.ctx, b.project.ID, fine.ID, "ann"))
	var planners sync.WaitGroup
	for range 4 {
		planners.Go(func() {
			if _, err := b.PlanTimers(b.ctx, []bool{true}, dag.MillisOf(time.Now())); err != nil {
				t.Error(err)
			}
		})
	}
	planners.Wait()
	read, err := b.Timer(b.ctx, b.project.ID, made.ID)
	b.must(err)
	if read.Enabled || !strings.Contains(read.Why, "Mars/Base") {
		t.Errorf("the timer is %+v", read)
	}
	if a := b.alerts(ops); len(a) != 1 || a[0].Kind != listen.TimerBroken || a[0].Subject != "mars" || a[0].ProjectID != b.project.ID || a[0].Message != read.Why {
		t.Errorf("alerts are %+v, want one that says why", a)
	}
	if other, err := b.Timer(b.ctx, b.project.ID, fine.ID); err != nil || !other.Enabled || other.Why != "" {
		t.Errorf("the other is %+v, %v", other, err)
	}
	b.must(b.EnableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	if read, err = b.Timer(b.ctx, b.project.ID, made.ID); err != nil || !read.Enabled || read.Why != "" {
		t.Errorf("enabled again it is %+v, %v", read, err)
	}
}
