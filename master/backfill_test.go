package master

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// fill makes a backfill of n days of a workflow.
func (s *site) fill(w sql.Workflow, n, parallel int) int64 {
	s.t.Helper()
	part := sql.BackfillPart{ProjectID: w.ProjectID, WorkflowID: w.ID, Version: 1, OnFailure: dag.OnFailureEnd}
	dates := make([]sql.BackfillEntry, n)
	for i := range dates {
		dates[i].At = dag.MillisOf(time.Date(2026, 3, 1+i, 0, 0, 0, 0, time.UTC))
	}
	b, err := s.store.CreateBackfill(s.t.Context(), sql.Backfill{
		ProjectID: w.ProjectID, WorkflowID: w.ID, Rules: backfill.Rules{Parallel: parallel, OnFailure: backfill.Continue}, Priority: dag.PriorityLow, CreatedBy: "test",
	}, []sql.BackfillPart{part}, dates, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return b.ID
}

// filled waits until a backfill is in a state, and nothing of it runs.
func (s *site) filled(id int64, want backfill.State) sql.Backfill {
	s.t.Helper()
	var b sql.Backfill
	within(s.t, 20*time.Second, "the backfill is over", func() (over bool) {
		var err error
		b, err = s.store.Backfill(s.t.Context(), id)
		return err == nil && !b.Active
	})
	if b.State != want {
		s.t.Errorf("the backfill is %s with %v, want %s", b.State, b.Dates, want)
	}
	return b
}

// dated notes for which dates a worker ran something, in their order.
type dated struct {
	mu    sync.Mutex
	dates []string
}

func (d *dated) run(dispatch *rpc.Dispatch) []*rpc.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dates = append(d.dates, dispatch.GetEnv()["day"])
	return succeed(dispatch)
}

const daily = "name: daily\ntasks:\n  - {name: work, type: shell, params: {day: '${system.biz.curdate}'}, script: ok}\n"

func TestABackfillRunsItsDatesOneAfterTheOtherAcrossMasters(t *testing.T) {
	t.Parallel()
	const n = 12
	s := newSite(t)
	_, first, _ := s.master("m1", "i1")
	_, second, _ := s.master("m2", "i2")
	s.relay(first, second)
	seen := &dated{}
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 8, run: seen.run}, first)
	s.join(&worker{node: "w2", incarnation: "x", groups: []string{"default"}, slots: 8, run: seen.run}, second)
	s.layout(2)
	id := s.fill(s.save(daily), n, 1)
	b := s.filled(id, backfill.Success)
	if b.Dates[backfill.DateSuccess] != n {
		t.Errorf("dates %v, want %d successes", b.Dates, n)
	}
	if len(seen.dates) != n || seen.dates[0] != "20260301" || !slices.IsSorted(seen.dates) || len(slices.Compact(seen.dates)) != n {
		t.Errorf("the workers ran %q, want each date once, the oldest first", seen.dates)
	}
}

func TestABackfillGoesOnWhenItsMasterDies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, first, stop := s.master("m1", "i1")
	w := holding("w1", 8)
	s.join(w, first)
	id := s.fill(s.save(daily), 5, 2)
	w.until(t, "two dates run", func() bool { return len(w.got) == 2 && len(w.acks) == 2 })
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", 8)
	s.join(adopter, second)
	crash(m, stop)
	for i := range 5 {
		adopter.until(t, "the next date runs", func() bool { return len(adopter.got) > i })
		adopter.report(report(adopter.got[i], dag.AttemptSuccess))
	}
	s.filled(id, backfill.Success)
	all, _, err := s.store.Instances(t.Context(), sql.InstanceFilter{}, sql.Page{})
	if err != nil || len(all) != 5 {
		t.Errorf("%d instances of 5 dates, %v", len(all), err)
	}
}

func TestACancelStopsWhatABackfillRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := holding("w1", 8)
	w.killed = func(k *rpc.Kill) []*rpc.Report {
		return []*rpc.Report{report(k.GetAttempt(), dag.AttemptKilled)}
	}
	s.join(w, addr)
	id := s.fill(s.save(daily), 5, 2)
	w.until(t, "two dates run", func() bool { return len(w.got) == 2 && len(w.acks) == 2 })
	change := sql.BackfillChange{State: backfill.Cancelled, StopRunning: true, By: "ann"}
	if _, _, err := s.store.ChangeBackfill(t.Context(), id, change); err != nil {
		t.Fatal(err)
	}
	b := s.filled(id, backfill.Cancelled)
	if b.Dates[backfill.DateFailed] != 2 || b.Dates[backfill.DateCancelled] != 3 {
		t.Errorf("dates %v, want 2 failed and 3 cancelled", b.Dates)
	}
	dates, _, err := s.store.BackfillDates(t.Context(), id, backfill.DateFailed, sql.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dates {
		s.waitFor(d.Instance, dag.InstanceStopped)
	}
}
