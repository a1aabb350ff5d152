package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/sql"
)

const day = dag.Millis(24 * 60 * 60 * 1000)

// dates are n days, from the first on.
func dates(n int) []dag.Millis {
	out := make([]dag.Millis, n)
	for i := range out {
		out[i] = dag.Millis(i+1) * day
	}
	return out
}

// entries are the same n days of part 0.
func entries(n int) []sql.BackfillEntry {
	out := make([]sql.BackfillEntry, n)
	for i, at := range dates(n) {
		out[i].At = at
	}
	return out
}

// fill makes a backfill of n dates of the bench's workflow.
func (b *bench) fill(n, parallel int, onFailure backfill.OnFailure) sql.Backfill {
	b.t.Helper()
	newest, err := b.NewestBackfill(b.ctx, b.workflow.ID)
	b.must(err)
	made, err := b.CreateBackfill(b.ctx, sql.Backfill{
		ProjectID: b.project.ID, WorkflowID: b.workflow.ID, Asked: `{"from":"1970-01-02"}`, Timezone: "Europe/Berlin", WorkerGroup: "big",
		Rules: backfill.Rules{Parallel: parallel, OnFailure: onFailure}, Priority: dag.PriorityLow, CreatedBy: "ann",
	}, []sql.BackfillPart{{
		ProjectID: b.project.ID, WorkflowID: b.workflow.ID, Version: 1, Params: map[string]string{"k": "v"}, OnFailure: dag.OnFailureEnd,
	}}, entries(n), newest)
	b.must(err)
	return made
}

// advance steps a backfill and returns what it started.
func (b *bench) advance(id int64) []int64 {
	b.t.Helper()
	step, err := b.StepBackfill(b.ctx, id)
	b.must(err)
	return step.Started
}

// over claims every command and ends the given instance in a state.
func (b *bench) over(id int64, state dag.InstanceState) {
	b.t.Helper()
	got, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: "m1:a"}})
	if err != nil || len(got) != 1 {
		b.t.Fatalf("claim %d: %d won, %v", id, len(got), err)
	}
	b.commitEnd(got[0], state)
}

// commitEnd ends a claimed instance in a state.
func (b *bench) commitEnd(c sql.Claimed, state dag.InstanceState) {
	b.t.Helper()
	in := &dag.Instance{ID: c.Instance.ID, State: state, Round: 1, Seq: c.Instance.Seq + 1, FinishedAt: 9, Tasks: make([]dag.TaskInstance, 2)}
	b.must(b.commit(sql.Transition{Instance: in, Plan: b.plan, Epoch: c.Instance.OwnerEpoch, Effects: &dag.Effects{Changed: true}, Release: true, At: 9, Backfill: true}))
}

// standing checks how a backfill stands, its dates in the order of their states.
func (b *bench) standing(id int64, state backfill.State, active bool, counts ...int) {
	b.t.Helper()
	f, err := b.Backfill(b.ctx, id)
	b.must(err)
	var got []int
	for _, s := range backfill.DateStates() {
		got = append(got, f.Dates[s])
	}
	if f.State != state || f.Active != active || !slices.Equal(got, counts) || active != (f.FinishedAt == 0) {
		b.t.Errorf("it is %s, active %v, finished at %d with %v, want %s, %v with %v", f.State, f.Active, f.FinishedAt, got, state, active, counts)
	}
}

func aBackfillRunsItsDates(t *testing.T, b *bench) {
	f := b.fill(3, 2, backfill.Continue)
	if f.Project != "Sales" || f.Workflow != "Daily" || f.Dates.Total() != 3 || f.CreatedBy != "ann" || f.Asked != `{"from":"1970-01-02"}` {
		t.Errorf("made %+v", f)
	}
	if active, err := b.ActiveBackfill(b.ctx, b.workflow.ID); err != nil || active != f.ID {
		t.Errorf("the active one of the workflow is %d, %v, want %d", active, err, f.ID)
	}
	if active, err := b.ActiveBackfills(b.ctx, 0, 10); err != nil || !slices.Equal(active, []int64{f.ID}) {
		t.Errorf("active: %v, %v", active, err)
	}
	started := b.advance(f.ID)
	if len(started) != 2 {
		t.Fatalf("%d started, want 2", len(started))
	}
	row, err := b.Instance(b.ctx, started[1])
	b.must(err)
	if row.ScheduleTime != 2*day || row.TriggerKey != sql.BackfillKey(f.ID) || row.Params["k"] != "v" || row.Priority != dag.PriorityLow ||
		row.Timezone != "Europe/Berlin" || row.WorkerGroup != "big" || row.OnFailure != dag.OnFailureEnd || row.CreatedBy != "ann" {
		t.Errorf("the second instance is %+v", row)
	}
	if again := b.advance(f.ID); len(again) != 0 {
		t.Errorf("a step for nothing started %v", again)
	}
	b.over(started[1], dag.InstanceFailed)
	b.standing(f.ID, backfill.Running, true, 1, 1, 0, 0, 1, 0)
	third := b.advance(f.ID)
	if len(third) != 1 {
		t.Fatalf("%d started in the place of the ended one, want 1", len(third))
	}
	var used *sql.InUseError
	b.over(started[0], dag.InstanceSuccess)
	b.over(third[0], dag.InstanceSuccess)
	if err := b.DeleteWorkflow(b.ctx, b.workflow.ID); !errors.As(err, &used) {
		t.Errorf("the workflow of an active backfill is deleted: %v", err)
	}
	b.advance(f.ID)
	b.standing(f.ID, backfill.Failed, false, 0, 0, 0, 2, 1, 0)
	page, next, err := b.BackfillDates(b.ctx, f.ID, "", sql.Page{Limit: 2})
	b.must(err)
	want := sql.BackfillDate{Place: 2, Project: "Sales", Workflow: "Daily", ScheduleTime: 2 * day, State: backfill.DateFailed, Instance: started[1], InstanceIs: dag.InstanceFailed, Round: 1}
	if len(page) != 2 || page[1] != want {
		t.Errorf("dates %+v, want the second %+v", page, want)
	}
	page, next, err = b.BackfillDates(b.ctx, f.ID, "", sql.Page{Cursor: next})
	if err != nil || len(page) != 1 || page[0].Place != 3 || next != "" {
		t.Errorf("the second page: %+v, %q, %v", page, next, err)
	}
	if page, _, err = b.BackfillDates(b.ctx, f.ID, backfill.DateFailed, sql.Page{}); err != nil || len(page) != 1 {
		t.Errorf("the failed dates: %+v, %v", page, err)
	}
	if active, err := b.ActiveBackfill(b.ctx, b.workflow.ID); err != nil || active != 0 {
		t.Errorf("the active one when it is over is %d, %v", active, err)
	}
	if active, err := b.ActiveBackfills(b.ctx, 0, 10); err != nil || len(active) != 0 {
		t.Errorf("active when it is over: %v, %v", active, err)
	}
	if list, _, err := b.Backfills(b.ctx, b.workflow.ID, sql.Page{}); err != nil || len(list) != 1 || list[0].Dates[backfill.DateSuccess] != 2 {
		t.Errorf("listed %+v, %v", list, err)
	}
	if list, next, err := b.ProjectBackfills(b.ctx, b.project.ID, sql.Page{Limit: 1}); err != nil || len(list) != 1 || next != "" || list[0].ID != f.ID || list[0].Workflow != "Daily" {
		t.Errorf("of the project %+v, %q, %v", list, next, err)
	}
	if list, _, err := b.ProjectBackfills(b.ctx, b.project.ID+1, sql.Page{}); err != nil || len(list) != 0 {
		t.Errorf("of another project %+v, %v", list, err)
	}
	b.must(b.DeleteWorkflow(b.ctx, b.workflow.ID))
}

func aBackfillStopsAtAFailure(t *testing.T, b *bench) {
	f := b.fill(5, 2, backfill.Stop)
	started := b.advance(f.ID)
	b.over(started[0], dag.InstanceStopped)
	if more := b.advance(f.ID); len(more) != 0 {
		t.Errorf("after a failure %v started", more)
	}
	b.standing(f.ID, backfill.Failed, true, 0, 1, 0, 0, 1, 3)
	b.over(started[1], dag.InstanceSuccess)
	b.advance(f.ID)
	b.standing(f.ID, backfill.Failed, false, 0, 0, 0, 1, 1, 3)
	_, err := b.CreateBackfill(b.ctx, sql.Backfill{ProjectID: b.project.ID, WorkflowID: b.workflow.ID}, nil, nil, 0)
	if !errors.Is(err, sql.ErrExists) {
		t.Errorf("a backfill that was planned before another: %v, want ErrExists", err)
	}
}

func aBackfillIsPausedAndCancelled(t *testing.T, b *bench) {
	f := b.fill(6, 2, backfill.Continue)
	started := b.advance(f.ID)
	change := func(c sql.BackfillChange, want bool) {
		t.Helper()
		c.By = "bob"
		got, changed, err := b.ChangeBackfill(b.ctx, f.ID, c)
		b.must(err)
		if changed != want || want && got.ChangedBy != "bob" {
			t.Errorf("%+v changed it: %v by %s, want %v", c, changed, got.ChangedBy, want)
		}
	}
	change(sql.BackfillChange{State: backfill.Paused}, true)
	change(sql.BackfillChange{State: backfill.Paused}, false)
	b.over(started[0], dag.InstanceSuccess)
	if more := b.advance(f.ID); len(more) != 0 {
		t.Errorf("a paused one started %v", more)
	}
	change(sql.BackfillChange{State: backfill.Running, Parallel: 3}, true)
	if more := b.advance(f.ID); len(more) != 2 {
		t.Errorf("resumed with 3 at once it started %v, want 2", more)
	}
	change(sql.BackfillChange{State: backfill.Cancelled}, true)
	b.standing(f.ID, backfill.Cancelled, true, 0, 3, 0, 1, 0, 2)
	if step, err := b.StepBackfill(b.ctx, f.ID); err != nil || len(step.Started)+len(step.Stop) != 0 {
		t.Errorf("a cancelled one that leaves what runs: %+v, %v", step, err)
	}
	change(sql.BackfillChange{State: backfill.Cancelled, StopRunning: true}, true)
	step, err := b.StepBackfill(b.ctx, f.ID)
	b.must(err)
	if len(step.Stop) != 3 || step.By != "bob" || step.Stop[0] != started[1] {
		t.Errorf("to be stopped: %+v", step)
	}
	b.must(b.BackfillStopping(b.ctx, f.ID, step.Stop[:2]))
	if step, err = b.StepBackfill(b.ctx, f.ID); err != nil || len(step.Stop) != 1 {
		t.Errorf("to be stopped yet: %+v, %v", step, err)
	}
	b.must(b.BackfillStopping(b.ctx, f.ID, step.Stop))
	dates, _, err := b.BackfillDates(b.ctx, f.ID, backfill.DateStopping, sql.Page{})
	b.must(err)
	for _, d := range dates {
		b.over(d.Instance, dag.InstanceStopped)
	}
	b.advance(f.ID)
	b.standing(f.ID, backfill.Cancelled, false, 0, 0, 0, 1, 3, 2)
	if _, _, err := b.ChangeBackfill(b.ctx, f.ID, sql.BackfillChange{State: backfill.Running}); !errors.Is(err, sql.ErrStale) {
		t.Errorf("a cancelled one is resumed: %v", err)
	}
}

// eachDateStartsOnce lets masters with two stores step one backfill at once, while others end its instances.
func eachDateStartsOnce(t *testing.T, b *bench) {
	const n, masters = 40, 4
	f := b.fill(n, 5, backfill.Continue)
	todo := make(chan int64, n)
	errs := make(chan error, masters)
	var work sync.WaitGroup
	for m := range masters {
		store := b.Store
		if m%2 == 1 {
			store = b.open(t, t.Name())
		}
		work.Go(func() {
			for {
				step, err := store.StepBackfill(b.ctx, f.ID)
				if err != nil && !errors.Is(err, sql.ErrUnavailable) {
					errs <- err
					return
				}
				for _, id := range step.Started {
					todo <- id
				}
				got, err := store.Backfill(b.ctx, f.ID)
				if err != nil || !got.Active {
					errs <- err
					return
				}
				if live := got.Dates.Live(); live > 5 {
					errs <- fmt.Errorf("%d run at once", live)
					return
				}
			}
		})
	}
	seen := map[int64]bool{}
	for range n {
		select {
		case id := <-todo:
			if seen[id] {
				t.Fatalf("instance %d started twice", id)
			}
			seen[id] = true
			b.over(id, dag.InstanceSuccess)
		case <-b.ctx.Done():
			t.Fatal("not all dates started")
		}
	}
	work.Wait()
	for range masters {
		b.must(<-errs)
	}
	b.standing(f.ID, backfill.Success, false, 0, 0, 0, n, 0, 0)
	all, _, err := b.Instances(b.ctx, sql.InstanceFilter{}, sql.Page{Limit: 200})
	b.must(err)
	if len(all) != n {
		t.Errorf("%d instances of %d dates", len(all), n)
	}
}

func tenThousandDates(t *testing.T, b *bench) {
	f := b.fill(backfill.MaxDates, backfill.MaxParallel, backfill.Continue)
	step, err := b.StepBackfill(b.ctx, f.ID)
	b.must(err)
	if len(step.Started) == 0 || len(step.Started) > 20 || !step.More {
		t.Errorf("one step started %d, more %v: want a small batch and more", len(step.Started), step.More)
	}
	// A person's start comes before all of them.
	mine := b.begin()
	commands, _, err := b.Commands(b.ctx, nil, 1, sql.CommandCursor{})
	b.must(err)
	if len(commands) != 1 || commands[0].InstanceID != mine {
		t.Errorf("the first command is %+v, want that of instance %d", commands, mine)
	}
	n, cursor := 0, ""
	for {
		page, next, err := b.BackfillDates(b.ctx, f.ID, "", sql.Page{Cursor: cursor, Limit: 200})
		b.must(err)
		for i, d := range page {
			if d.Place != int64(n+i+1) || d.ScheduleTime != dag.Millis(n+i+1)*day {
				t.Fatalf("date %d is %+v", n+i+1, d)
			}
		}
		if n, cursor = n+len(page), next; next == "" {
			break
		}
	}
	if n != backfill.MaxDates {
		t.Errorf("%d dates are listed", n)
	}
	_, _, err = b.ChangeBackfill(b.ctx, f.ID, sql.BackfillChange{State: backfill.Cancelled, By: "bob"})
	b.must(err)
	b.standing(f.ID, backfill.Cancelled, true, 0, len(step.Started), 0, 0, 0, backfill.MaxDates-len(step.Started))
}

func aRecoveredDateSucceeds(t *testing.T, b *bench) {
	f := b.fill(1, 1, backfill.Continue)
	id := b.advance(f.ID)[0]
	b.over(id, dag.InstanceFailed)
	b.advance(f.ID)
	b.standing(f.ID, backfill.Failed, false, 0, 0, 0, 0, 1, 0)
	if _, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: id, Verb: dag.VerbRecover, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.claim("m1:a") {
		b.commitEnd(c, dag.InstanceSuccess)
	}
	b.standing(f.ID, backfill.Failed, false, 0, 0, 0, 1, 0, 0)
}

func workflowsWithDependentsAreFound(t *testing.T, b *bench) {
	save := func(name, text string, publish bool) int64 {
		t.Helper()
		w, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: name, Text: text, Format: "yaml", By: "ann", Publish: publish})
		b.must(err)
		return w.ID
	}
	first, _ := save("a", "tasks: [{type: dependent}]", true), save("b", "tasks: [{type: dependent}]", false)
	gone, last := save("c", "tasks: [{type: dependent}]", true), save("d", "{type: dependent}", true)
	b.must(b.DeleteWorkflow(b.ctx, gone))
	all, err := b.DependingWorkflows(b.ctx, 0, 10)
	b.must(err)
	part, err := b.DependingWorkflows(b.ctx, first, 1)
	b.must(err)
	if !slices.Equal(all, []int64{first, last}) || !slices.Equal(part, []int64{last}) {
		t.Errorf("found %v, after the first %v; want %v", all, part, []int64{first, last})
	}
}

func runsOfDatesAreFound(t *testing.T, b *bench) {
	at := func(d dag.Millis, key string, change ...func(*sql.Start)) int64 {
		return b.begin(append(change, func(s *sql.Start) { s.ScheduleTime, s.TriggerKey = d*day, key })...)
	}
	b.over(at(1, "s1"), dag.InstanceFailed)
	good := at(1, "s2")
	b.over(good, dag.InstanceSuccess)
	b.over(at(1, "s3", func(s *sql.Start) { s.DryRun = true }), dag.InstanceFailed)
	b.over(at(1, "s4", func(s *sql.Start) { s.StartTasks = []string{"load"} }), dag.InstanceFailed)
	bad := at(2, "s1")
	b.over(bad, dag.InstanceStopped)
	open := at(3, "s1")
	b.begin()
	got, err := b.RanAt(b.ctx, b.workflow.ID, dates(1000))
	b.must(err)
	want := map[dag.Millis]sql.Ran{day: {Instance: good, Had: backfill.HadSuccess}, 2 * day: {Instance: bad, Had: backfill.HadFailure}, 3 * day: {Instance: open, Had: backfill.HadOpen}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
