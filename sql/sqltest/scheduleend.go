package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// published makes another workflow of the project.
func (b *bench) published(name string) sql.Workflow {
	b.t.Helper()
	w, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: name, Text: "name: " + name + "\n", Format: "yaml", By: "ann", Publish: true})
	b.must(err)
	return w
}

// after is a schedule of a workflow that fires at ends of another.
func (b *bench) after(w, other sql.Workflow, states ...dag.InstanceState) sql.Schedule {
	b.t.Helper()
	sch, _, err := b.SaveSchedule(b.ctx, sql.Schedule{
		WorkflowID: w.ID, Name: "after " + other.Name, Enabled: true, ChangedBy: "ann", AfterWorkflow: other.ID,
		Spec: schedule.Spec{After: &schedule.After{Workflow: other.Name, States: states}},
	}, -1)
	b.must(err)
	return sch
}

// ends plans what ended, for all schedules.
func (b *bench) ends() []sql.Verdict {
	b.t.Helper()
	fires, more, err := b.PlanEnds(b.ctx, 1000, func(int64) bool { return true })
	if err != nil || more {
		b.t.Fatalf("plan ends: more %v, %v", more, err)
	}
	return fires
}

func (b *bench) settled(verdicts []sql.Verdict) []int64 {
	b.t.Helper()
	out, err := b.SettleFires(b.ctx, verdicts, "m1:a", 7)
	b.must(err)
	return out.Started
}

func anEndStartsOneInstance(t *testing.T, b *bench) {
	sch := b.after(b.published("Report"), b.workflow)
	if sch.AfterWorkflow != b.workflow.ID || sch.Spec.After.Workflow != "Daily" {
		t.Errorf("saved %+v", sch)
	}
	first := b.begin(func(st *sql.Start) { st.ScheduleTime, st.TriggerKey = 5000, "s1" })
	if fires := b.ends(); len(fires) != 0 {
		t.Errorf("before the end: %+v", fires)
	}
	b.over(first, dag.InstanceSuccess)
	fires := b.ends()
	if len(fires) != 1 || fires[0].Source != sch.ID || fires[0].State != schedule.Fired || fires[0].At != 9 {
		t.Fatalf("after the end: %+v", fires)
	}
	if again := b.ends(); len(again) != 0 {
		t.Errorf("planned twice: %+v", again)
	}
	// A crash between: the fire is an open row that is due.
	due, err := b.DueFires(b.ctx, 0, 10, 10)
	if err != nil || len(due) != 1 || due[0].Source != sch.ID {
		t.Errorf("due: %+v, %v", due, err)
	}
	started := b.settled(fires)
	if len(started) != 1 || len(b.settled(fires)) != 0 {
		t.Fatalf("started %v, want one and nothing the second time", started)
	}
	row, err := b.Instance(b.ctx, started[0])
	b.must(err)
	if row.ScheduleTime != 5000 || row.TriggerKey != sql.EndKey(sch.ID, first) || row.WorkflowID != sch.WorkflowID {
		t.Errorf("the instance is %+v", row)
	}
	if f := b.fires(sch, "9 fired")[0]; f.After != first || f.ScheduleTime != 5000 || f.Instance != started[0] {
		t.Errorf("the fire is %+v", f)
	}
}

func onlyTheEndsThatCountFire(t *testing.T, b *bench) {
	other := b.published("Other")
	broken := b.after(b.published("Repair"), b.workflow, dag.InstanceFailed, dag.InstanceStopped)
	good := b.after(b.published("Report"), b.workflow)
	b.over(b.begin(), dag.InstanceFailed)
	b.over(b.begin(func(st *sql.Start) { st.DryRun = true }), dag.InstanceSuccess)
	b.over(b.begin(func(st *sql.Start) { st.ScheduleTime, st.TriggerKey = 1000, sql.BackfillKey(7) }), dag.InstanceSuccess)
	b.over(b.begin(func(st *sql.Start) { st.WorkflowID = other.ID }), dag.InstanceSuccess)
	if fires := b.ends(); len(fires) != 1 || fires[0].Source != broken.ID {
		t.Errorf("a failure, a dry run, a date of a backfill and another workflow fire %+v, want %d alone", fires, broken.ID)
	}
	// Ends of one moment each have theirs; what had no schedule time starts what has that of its end.
	ids := []int64{b.begin(), b.begin()}
	b.over(ids[0], dag.InstanceSuccess)
	b.over(ids[1], dag.InstanceSuccess)
	fires := b.ends()
	if len(fires) != 2 || fires[0].At != 9 || fires[1].At != 10 || len(b.settled(fires)) != 2 {
		t.Errorf("two of one moment: %+v", fires)
	}
	list := b.fires(good, "9 fired", "10 fired")
	if row, err := b.Instance(b.ctx, list[1].Instance); err != nil || row.ScheduleTime != 10 || !slices.Equal(ids, []int64{list[0].After, list[1].After}) {
		t.Errorf("the second started %+v, %v, for %+v", row, err, list)
	}
}

func anEndAfterARecoveryIsTheSame(t *testing.T, b *bench) {
	sch := b.after(b.published("Report"), b.workflow, dag.InstanceFailed, dag.InstanceSuccess)
	once := b.after(b.published("Once"), b.workflow)
	id := b.begin()
	b.over(id, dag.InstanceFailed)
	b.settled(b.ends())
	b.overAgain(id)
	if fires := b.ends(); len(fires) != 1 || fires[0].Source != once.ID {
		t.Errorf("the second end fires %+v, want %d alone, for which it is the first", fires, once.ID)
	}
	b.fires(sch, "9 fired")
}

// overAgain recovers an instance and lets it succeed.
func (b *bench) overAgain(id int64) {
	b.t.Helper()
	if _, err := b.AddControl(b.ctx, sql.ControlRow{InstanceID: id, Verb: dag.VerbRecover, By: "ann"}); err != nil {
		b.t.Fatal(err)
	}
	got := b.claim("m1:a")
	i := slices.IndexFunc(got, func(c sql.Claimed) bool { return c.Instance.ID == id })
	if i < 0 {
		b.t.Fatalf("the recovered instance has no command: %+v", got)
	}
	b.commitEnd(got[i], dag.InstanceSuccess)
}

func whatIsPausedSkipsEnds(t *testing.T, b *bench) {
	sch := b.after(b.published("Report"), b.workflow)
	_, err := b.EnableSchedules(b.ctx, []int64{sch.ID}, false, "holiday", "bob")
	b.must(err)
	b.over(b.begin(), dag.InstanceSuccess)
	if started := b.settled(b.ends()); len(started) != 0 {
		t.Errorf("a paused one started %v", started)
	}
	b.fires(sch, "9 skipped paused")
	b.over(b.begin(), dag.InstanceSuccess)
	fires := b.ends()
	_, err = b.EnableSchedules(b.ctx, []int64{sch.ID}, true, "", "bob")
	b.must(err)
	b.settled(fires)
	b.fires(sch, "9 skipped paused", "10 skipped paused")
	b.over(b.begin(), dag.InstanceSuccess)
	fires = b.ends()
	b.settled(fires)
	b.fires(sch, "9 skipped paused", "10 skipped paused", "11 fired")

	b.over(b.begin(), dag.InstanceSuccess)
	b.must(b.DeleteSchedule(b.ctx, sch.ID))
	if fires := b.ends(); len(fires) != 0 {
		t.Errorf("a deleted one has %+v", fires)
	}
}

func mastersShareTheEnds(t *testing.T, b *bench) {
	sch := b.after(b.published("Report"), b.workflow)
	const each = 30
	for range each {
		b.over(b.begin(), dag.InstanceSuccess)
	}
	if fires, more, err := b.PlanEnds(b.ctx, each, func(id int64) bool { return id != sch.ID }); err != nil || more || len(fires) != 0 {
		t.Errorf("who owns nothing plans %+v, %v, %v", fires, more, err)
	}
	if fires, more, err := b.PlanEnds(b.ctx, 1, func(int64) bool { return true }); err != nil || !more || len(fires) != 1 {
		t.Errorf("one of many: %+v, %v, %v", fires, more, err)
	}
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var wait sync.WaitGroup
	var mu sync.Mutex
	planned, started := 1, 0
	for i := range 4 {
		wait.Go(func() {
			fires, _, err := stores[i%2].PlanEnds(b.ctx, each, func(int64) bool { return true })
			if err != nil {
				t.Error(err)
				return
			}
			out, err := stores[i%2].SettleFires(b.ctx, fires, fmt.Sprint("m", i), 7)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			planned, started = planned+len(fires), started+len(out.Started)
			mu.Unlock()
		})
	}
	wait.Wait()
	if planned != each || started != each-1 {
		t.Errorf("%d ends are planned and %d started, want %d and all but the first", planned, started, each)
	}
}

func circlesOfEndsAreRefused(t *testing.T, b *bench) {
	second, third := b.published("Second"), b.published("Third")
	b.after(second, b.workflow)
	b.after(third, second)
	save := func(w, other sql.Workflow) error {
		_, _, err := b.SaveSchedule(b.ctx, sql.Schedule{
			WorkflowID: w.ID, Name: "closes", Enabled: false, ChangedBy: "ann", AfterWorkflow: other.ID, Spec: schedule.Spec{After: &schedule.After{Workflow: other.Name}},
		}, -1)
		return err
	}
	for _, other := range []sql.Workflow{b.workflow, second, third} {
		if err := save(b.workflow, other); !errors.Is(err, sql.ErrCircle) {
			t.Errorf("Daily after %s: %v, want ErrCircle", other.Name, err)
		}
	}
	b.must(save(third, b.workflow))
	before, err := b.StartedBy(b.ctx, []int64{third.ID, second.ID})
	if slices.Sort(before); err != nil || !slices.Equal(slices.Compact(before), []int64{b.workflow.ID, second.ID}) {
		t.Errorf("started by %v, %v", before, err)
	}
	// Two that close a circle together: one of them is refused.
	x, y := b.published("X"), b.published("Y")
	wrong := make([]error, 2)
	var wait sync.WaitGroup
	wait.Go(func() { wrong[0] = save(x, y) })
	wait.Go(func() { wrong[1] = save(y, x) })
	wait.Wait()
	if refused := errors.Is(wrong[0], sql.ErrCircle); refused == errors.Is(wrong[1], sql.ErrCircle) || wrong[0] != nil && wrong[1] != nil {
		t.Errorf("two together: %v and %v, want one refused", wrong[0], wrong[1])
	}
}

func anEndIsPrunedWithItsFire(t *testing.T, b *bench) {
	sch := b.after(b.published("Report"), b.workflow)
	id := b.begin()
	b.over(id, dag.InstanceSuccess)
	b.settled(b.ends())
	n, err := b.SweepFires(b.ctx, day)
	if err != nil || n != 1 {
		t.Fatalf("swept %d, %v", n, err)
	}
	sums, err := b.SumFires(b.ctx, sch.ID, 0, dag.MillisOf(time.Now()))
	if err != nil || sums.Pruned != 1 || sums.States[schedule.Fired] != 1 {
		t.Errorf("after the sweep it sums up to %+v, %v", sums, err)
	}
	// The ledger does not know it any more.
	b.overAgain(id)
	b.settled(b.ends())
	b.fires(sch, "9 duplicate")
}

func whatFiresAtEndsIsListed(t *testing.T, b *bench) {
	b.hourly("by the clock")
	var want []sql.AfterEdge
	for _, name := range []string{"first", "second"} {
		other := b.published(name)
		want = append(want, sql.AfterEdge{Name: b.after(b.workflow, other).Name, WorkflowID: b.workflow.ID, After: other.ID})
	}
	for limit, n := range map[int]int{1: 1, 10: 2} {
		got, err := b.SchedulesAfter(b.ctx, limit)
		b.must(err)
		if !slices.Equal(got, want[:n]) {
			t.Errorf("%d at most: %+v, want %+v", limit, got, want[:n])
		}
	}
}
