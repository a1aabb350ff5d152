package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const cachedText = "name: cached\nparams: {day: x, region: y}\ntasks:\n" +
	"  - {name: a, type: shell, script: 'x ${day}', outputs: [rows], cache: {max_age: 1h}}\n" +
	"  - {name: b, type: shell, script: y, needs: [a]}\n"

// asked has what is kept read, and goes on.
func (f *family) asked() {
	f.t.Helper()
	for _, e := range []*Engine{f.Engine, f.other} {
		if away := e.RecallOnce(f.t.Context()); away {
			f.t.Error("the store is away")
		}
	}
	f.rest()
}

// kept runs an instance of cachedText to its end.
func (f *family) kept() (id int64) {
	f.t.Helper()
	id = f.start(cachedText, 1)[0]
	f.rest()
	if len(f.dispatched) != 0 {
		f.t.Fatal("dispatched before anybody looked for what is kept")
	}
	f.asked()
	f.report(dag.AttemptSuccess, map[string]string{"rows": "3"})
	f.report(dag.AttemptSuccess, nil)
	f.want(id, dag.InstanceSuccess)
	f.dispatched = nil
	return id
}

// tookOver fails unless the task a of an instance took over what from gave.
func (f *family) tookOver(id, from int64) {
	f.t.Helper()
	a := f.task(id, "a")
	attempts, err := f.store.Attempts(f.t.Context(), id, 0)
	f.must(err)
	if a.State != dag.TaskSuccess || a.Reason != dag.ReasonCached || a.Outputs["rows"] != "3" || len(attempts) != 1 ||
		attempts[0].CachedFrom != from || attempts[0].State != dag.AttemptSuccess || attempts[0].Worker != "" {
		f.t.Fatalf("the task is %+v, its attempts %+v", a, attempts)
	}
}

func TestATaskTakesOverWhatAnEarlierInstanceGave(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	first := f.kept()
	f.now = f.now.Add(time.Hour - time.Second)
	second := f.start(cachedText, 1)[0]
	f.asked()
	f.tookOver(second, first)
	if len(f.dispatched) != 1 || f.dispatched[0].GetEnv()["rows"] != "3" || f.dispatched[0].GetTaskName() != "b" {
		t.Fatalf("dispatched %v", f.dispatched)
	}
	f.report(dag.AttemptSuccess, nil)
	f.want(second, dag.InstanceSuccess)

	// Whoever reruns the task wants it to run.
	f.wish(second, dag.VerbRerun)
	f.give(f.Engine)
	f.asked()
	if got := f.dispatched[len(f.dispatched)-1]; len(f.dispatched) != 2 || got.GetTaskName() != "a" {
		t.Fatalf("dispatched %v", f.dispatched)
	}
}

func TestATaskRunsWhereNothingThatFitsIsKept(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(f *family, st *sql.Start){
		"too old":   func(f *family, _ *sql.Start) { f.now = f.now.Add(time.Hour) },
		"other day": func(_ *family, st *sql.Start) { st.Params["day"] = "20261122" },
		"dry run":   func(_ *family, st *sql.Start) { st.DryRun = true },
		"cleared": func(f *family, st *sql.Start) {
			n, err := f.store.ClearCache(f.t.Context(), st.WorkflowID, "a")
			f.must(err)
			if n != 1 {
				f.t.Errorf("cleared %d", n)
			}
		},
	} {
		f := newFamily(t)
		f.kept()
		f.start(cachedText, 1, func(st *sql.Start) { change(f, st) })
		f.asked()
		if len(f.dispatched) != 1 || f.dispatched[0].GetTaskName() != "a" {
			t.Errorf("%s: dispatched %v", what, f.dispatched)
		}
	}
}

func TestATaskThatTakesOverNeedsNoWorkerAndNoPlace(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	first := f.kept()
	f.idle = true
	second := f.start(cachedText, 1)[0]
	f.asked()
	f.tookOver(second, first)
}

func TestAQuestionForWhatIsKeptOutlivesItsMaster(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	first := f.kept()
	second := f.start(cachedText, 1)[0] // its master dies before it has an answer
	f.takeOver()
	if got := f.task(second, "a"); got.State != dag.TaskReady {
		t.Fatalf("taken over the task is %s", got.State)
	}
	f.asked()
	f.tookOver(second, first)

	// What was dispatched before a takeover is kept under the key that it ran with.
	third := f.start(cachedText, 1, func(st *sql.Start) { st.Params["day"] = "20261123" })[0]
	f.asked()
	_, err := f.store.PutProjectParam(t.Context(), sql.ProjectParam{ProjectID: f.project.ID, Name: "new", Value: "1"})
	f.must(err)
	dead := f.Owner
	f.Engine = f.engine("m4:d", f.store)
	f.hinted(f.Engine)
	claimed, err := f.store.TakeOver(t.Context(), dead, f.Owner, 10)
	f.must(err)
	f.Admit(claimed)
	f.rest()
	f.report(dag.AttemptSuccess, map[string]string{"rows": "5"})
	if got := f.task(third, "a"); got.State != dag.TaskSuccess {
		t.Fatalf("the task is %s", got.State)
	}
	f.dispatched = nil
	f.start(cachedText, 1, func(st *sql.Start) { st.Params["day"] = "20261123" })
	f.asked()
	if len(f.dispatched) != 1 {
		t.Error("a result was kept under a key of parameters that it did not have")
	}
}

// cacheless is a store whose cache can't be read for a while.
type cacheless struct {
	Store
	away bool
}

func (c *cacheless) Cached(ctx context.Context, keys []string) (map[string]dag.CacheEntry, error) {
	if c.away {
		return nil, fmt.Errorf("read: %w", sql.ErrUnavailable)
	}
	return c.Store.Cached(ctx, keys)
}

func TestATaskWaitsWhileTheCacheCantBeRead(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	first := f.kept()
	store := &cacheless{Store: f.store, away: true}
	f.Engine = f.engine("m1:a", store)
	second := f.start(cachedText, 1)[0]
	if away := f.RecallOnce(t.Context()); !away {
		t.Error("a store that does not answer is not away")
	}
	f.rest()
	if got := f.task(second, "a"); got.State != dag.TaskReady {
		t.Fatalf("the task is %s", got.State)
	}
	store.away = false
	f.asked()
	f.tookOver(second, first)
}
