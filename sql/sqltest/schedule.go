package sqltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// hourly is a schedule of the bench's workflow.
func (b *bench) hourly(name string, change ...func(*sql.Schedule)) sql.Schedule {
	b.t.Helper()
	sch := sql.Schedule{
		WorkflowID: b.workflow.ID, Name: name, Enabled: true, ChangedBy: "ann",
		Spec: schedule.Spec{Cron: "0 * * * *", Timezone: "Europe/Berlin", Params: map[string]string{"k": "v"}, WorkerGroup: "big", Priority: "low", OnFailure: dag.OnFailureEnd},
	}
	for _, c := range change {
		c(&sch)
	}
	saved, _, err := b.SaveSchedule(b.ctx, sch, -1)
	b.must(err)
	return saved
}

func overlapping(o schedule.Overlap) func(*sql.Schedule) {
	return func(sch *sql.Schedule) { sch.Spec.Overlap = o }
}

// plan writes fires of a schedule at moments, and says that these are all until long after now.
func (b *bench) planned(sch sql.Schedule, at ...dag.Millis) {
	b.t.Helper()
	st := sql.Stretch{Schedule: sch, Until: dag.MillisOf(time.Now().Add(time.Hour))}
	for _, m := range at {
		st.Fires = append(st.Fires, schedule.Fire{At: m, Due: m})
	}
	n, err := b.PlanFires(b.ctx, []sql.Stretch{st})
	b.must(err)
	if n != len(at) {
		b.t.Fatalf("%d fires planned, want %d", n, len(at))
	}
}

// fire settles fires of a schedule so that they start.
func (b *bench) fire(sch sql.Schedule, at ...dag.Millis) sql.Settlement {
	b.t.Helper()
	var verdicts []sql.Verdict
	for _, m := range at {
		verdicts = append(verdicts, sql.Verdict{Source: sch.ID, At: m, State: schedule.Fired})
	}
	out, err := b.SettleFires(b.ctx, verdicts, "m1:a", 7)
	b.must(err)
	return out
}

// fires checks the fires of a schedule, as "moment state reason".
func (b *bench) fires(sch sql.Schedule, want ...string) []sql.Fire {
	b.t.Helper()
	list, _, err := b.Fires(b.ctx, sch.ID, 0, math.MaxInt64, "", sql.Page{Limit: 200})
	b.must(err)
	var got []string
	for _, f := range list {
		line := fmt.Sprintf("%d %s", f.At, f.State)
		if f.Reason != "" {
			line += " " + f.Reason
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("fires are %q, want %q", got, want)
	}
	return list
}

// anyones owns every fire.
func anyones(int64, dag.Millis) bool { return true }

func schedulesComeAndGo(t *testing.T, b *bench) {
	sch, created, err := b.SaveSchedule(b.ctx, sql.Schedule{WorkflowID: b.workflow.ID, Name: "Each Hour", Enabled: true, ChangedBy: "ann", Spec: schedule.Spec{Cron: "0 * * * *"}}, 0)
	if err != nil || !created || sch.Revision != 1 || sch.ProjectID != b.project.ID || sch.Project != "Sales" || sch.Workflow != "Daily" || sch.CreatedBy != "ann" ||
		sch.PlannedUntil != sch.CreatedAt || sch.Spec.Cron != "0 * * * *" {
		t.Fatalf("made %+v, %v, %v", sch, created, err)
	}
	again := sch
	again.Name, again.ChangedBy = "each hour", "bob"
	if _, _, err := b.SaveSchedule(b.ctx, again, 0); !errors.Is(err, sql.ErrExists) {
		t.Errorf("made twice: %v, want ErrExists", err)
	}
	saved, created, err := b.SaveSchedule(b.ctx, again, -1)
	if err != nil || created || saved.ID != sch.ID || saved.Revision != 1 || saved.Name != "each hour" || saved.CreatedBy != "ann" || saved.ChangedBy != "bob" {
		t.Errorf("saved as it was: %+v, %v, %v; want revision 1 with another name", saved, created, err)
	}
	again.Spec.Cron = "30 * * * *"
	if saved, _, err = b.SaveSchedule(b.ctx, again, 1); err != nil || saved.Revision != 2 {
		t.Errorf("changed: revision %d, %v; want 2", saved.Revision, err)
	}
	if _, _, err := b.SaveSchedule(b.ctx, again, 1); !errors.Is(err, sql.ErrStale) {
		t.Errorf("saved over revision 2 as 1: %v, want ErrStale", err)
	}
	again.Name = "another"
	if _, _, err := b.SaveSchedule(b.ctx, again, 3); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("changed one that is not there: %v, want ErrNotFound", err)
	}
	b.hourly("second", func(s *sql.Schedule) { s.Enabled, s.Why = false, "holiday" })
	off := false
	list, next, err := b.Schedules(b.ctx, sql.ScheduleFilter{ProjectID: b.project.ID, WorkflowID: b.workflow.ID, Text: "SECO", Enabled: &off}, sql.Page{})
	if err != nil || len(list) != 1 || list[0].Why != "holiday" || next != "" {
		t.Errorf("filtered: %+v, %q, %v", list, next, err)
	}
	list, next, err = b.Schedules(b.ctx, sql.ScheduleFilter{}, sql.Page{Limit: 1})
	if err != nil || len(list) != 1 || next == "" {
		t.Errorf("the first page: %+v, %q, %v", list, next, err)
	}
	if list, next, err = b.Schedules(b.ctx, sql.ScheduleFilter{}, sql.Page{Cursor: next}); err != nil || len(list) != 1 || list[0].Name != "second" || next != "" {
		t.Errorf("the second page: %+v, %q, %v", list, next, err)
	}
	b.must(b.DeleteSchedule(b.ctx, sch.ID))
	if err := b.DeleteSchedule(b.ctx, sch.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := b.Schedule(b.ctx, b.workflow.ID, "each hour"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("read after its delete: %v", err)
	}
}

func schedulesArePausedByLists(t *testing.T, b *bench) {
	first, second := b.hourly("first"), b.hourly("second")
	ahead := dag.MillisOf(time.Now().Add(time.Minute))
	b.planned(first, 1000, ahead)
	n, err := b.EnableSchedules(b.ctx, []int64{second.ID, first.ID, first.ID, 1 << 40}, false, "holiday", "bob")
	if err != nil || n != 2 {
		t.Errorf("paused %d, %v; want 2", n, err)
	}
	if n, err = b.EnableSchedules(b.ctx, []int64{first.ID}, false, "again", "eve"); err != nil || n != 0 {
		t.Errorf("paused again: %d, %v", n, err)
	}
	got, err := b.ScheduleByID(b.ctx, first.ID)
	if err != nil || got.Enabled || got.Why != "holiday" || got.ChangedBy != "bob" || got.Revision != 2 {
		t.Errorf("the first is %+v, %v", got, err)
	}
	b.fires(first, "1000 planned") // what lies ahead is not planned any more
	b.fire(first, 1000)
	b.fires(first, "1000 skipped paused")
	if n, err = b.EnableSchedules(b.ctx, []int64{first.ID}, true, "", "bob"); err != nil || n != 1 {
		t.Errorf("resumed %d, %v", n, err)
	}
	if got, err = b.ScheduleByID(b.ctx, first.ID); err != nil || !got.Enabled || got.Why != "" || got.PlannedUntil < first.PlannedUntil {
		t.Errorf("resumed it is %+v, %v", got, err)
	}
}

func schedulesAreSavedTogether(t *testing.T, b *bench) {
	there := b.hourly("there")
	other := b.published("Other")
	wish := func(w sql.Workflow, name, cron string) sql.Schedule {
		return sql.Schedule{WorkflowID: w.ID, Name: name, Enabled: true, ChangedBy: "bob", Spec: schedule.Spec{Cron: cron}}
	}
	list := []sql.Schedule{wish(other, "new", "0 5 * * *"), wish(b.workflow, "There", "0 6 * * *"), wish(sql.Workflow{ID: 1 << 40}, "gone", "0 7 * * *")}
	if made, bad, err := b.SaveSchedules(b.ctx, list); !errors.Is(err, sql.ErrNotFound) || bad != 2 || made != 0 {
		t.Errorf("with one whose workflow is gone: %d made, %d is bad, %v; want the third, ErrNotFound", made, bad, err)
	}
	if got, err := b.ScheduleByID(b.ctx, there.ID); err != nil || got.Revision != 1 || got.Name != "there" {
		t.Errorf("then what was there is %+v, %v", got, err)
	}
	if _, err := b.Schedule(b.ctx, other.ID, "new"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("then the first is there: %v", err)
	}
	if made, bad, err := b.SaveSchedules(b.ctx, list[:2]); err != nil || bad != -1 || made != 1 {
		t.Errorf("without it: %d made, %d is bad, %v", made, bad, err)
	}
	if got, err := b.ScheduleByID(b.ctx, there.ID); err != nil || got.Revision != 2 || got.Name != "There" || got.Spec.Cron != "0 6 * * *" {
		t.Errorf("what was there is %+v, %v", got, err)
	}
}

func aFireStartsOneInstance(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	b.planned(sch, 1000, 2000)
	if again, err := b.PlanFires(b.ctx, []sql.Stretch{{Schedule: sch, Fires: []schedule.Fire{{At: 1000, Due: 1000}}, Until: 3000}}); err != nil || again != 0 {
		t.Errorf("planned twice from the same moment: %d, %v", again, err)
	}
	due, err := b.DueFires(b.ctx, 500, 1500, 10)
	if err != nil || len(due) != 1 || due[0].At != 1000 || due[0].Bucket != schedule.Bucket(sch.ID) || due[0].WorkflowID != b.workflow.ID {
		t.Errorf("due: %+v, %v", due, err)
	}
	var wait sync.WaitGroup
	started := make([]sql.Settlement, 4)
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	for i := range started {
		wait.Go(func() {
			var err error
			started[i], err = stores[i%2].SettleFires(b.ctx, []sql.Verdict{{Source: sch.ID, At: 1000, State: schedule.Fired}, {Source: sch.ID, At: 1000, State: schedule.Fired}}, fmt.Sprint("m", i), 7)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	var ids []int64
	for _, s := range started {
		ids = append(ids, s.Started...)
	}
	if len(ids) != 1 {
		t.Fatalf("two masters started %v, want one instance", ids)
	}
	row, err := b.Instance(b.ctx, ids[0])
	b.must(err)
	if row.ScheduleTime != 1000 || row.TriggerKey != sql.ScheduleKey(sch.ID) || row.Params["k"] != "v" || row.Priority != dag.PriorityLow || row.Version != 1 ||
		row.Timezone != "Europe/Berlin" || row.WorkerGroup != "big" || row.OnFailure != dag.OnFailureEnd || row.CreatedBy != "ann" {
		t.Errorf("the instance is %+v", row)
	}
	if commands := b.claim("m1:a"); len(commands) != 1 || commands[0].Instance.ID != ids[0] {
		t.Errorf("claimed %+v", commands)
	}
	list := b.fires(sch, "1000 fired", "2000 planned")
	if f := list[0]; f.Instance != ids[0] || f.FiredAt == 0 || f.Epoch != 7 || f.Master == "" {
		t.Errorf("the fire is %+v", f)
	}
	only, _, err := b.Fires(b.ctx, sch.ID, 0, 5000, schedule.Fired, sql.Page{})
	if err != nil || len(only) != 1 {
		t.Errorf("those that fired: %+v, %v", only, err)
	}
}

func aTriggerThatIsTakenIsADuplicate(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	b.planned(sch, 1000, 2000)
	b.begin(func(st *sql.Start) { st.ScheduleTime, st.TriggerKey = 1000, sql.ScheduleKey(sch.ID) })
	if out := b.fire(sch, 1000, 2000); len(out.Started) != 1 || len(out.Fires) != 2 {
		t.Errorf("settled %+v, want one started of two", out)
	}
	b.fires(sch, "1000 duplicate", "2000 fired")
}

func anUnpublishedWorkflowStartsNothing(t *testing.T, b *bench) {
	draft, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Draft", Text: "name: Draft\n", Format: "yaml", By: "ann"})
	b.must(err)
	sch := b.hourly("hourly", func(s *sql.Schedule) { s.WorkflowID = draft.ID })
	b.planned(sch, 1000)
	b.fire(sch, 1000)
	b.fires(sch, "1000 skipped not_published")
	if _, err := b.TriggerSchedule(b.ctx, sch.ID, "eve"); !errors.Is(err, sql.ErrStale) {
		t.Errorf("triggered: %v, want ErrStale", err)
	}
}

func theNewestWaits(t *testing.T, b *bench) {
	sch := b.hourly("hourly", overlapping(schedule.Wait))
	b.planned(sch, 1000, 2000, 3000)
	first := b.fire(sch, 1000).Started
	if out := b.fire(sch, 2000); len(out.Started) != 0 || len(out.Fires) != 1 {
		t.Errorf("while the first runs the second did %+v", out)
	}
	if out := b.fire(sch, 2000); len(out.Fires) != 0 {
		t.Errorf("settled again, what waits did %+v", out)
	}
	b.fires(sch, "1000 fired", "2000 waiting", "3000 planned")
	b.fire(sch, 2000, 3000)
	b.fires(sch, "1000 fired", "2000 skipped overlap_newer", "3000 waiting")
	late := b.hourly("late")
	b.planned(late, 1000, 2000, 4000)
	_, err := b.PlanFires(b.ctx, []sql.Stretch{{Schedule: b.hourly("behind"), Fires: []schedule.Fire{{At: 1000, Due: 1000}}, Until: 1500}})
	b.must(err)
	got, waiting, err := b.OverdueFires(b.ctx, 3500, 10, anyones)
	if err != nil || len(got) != 1 || got[0].Source != late.ID || got[0].At != 1000 || len(waiting) != 1 || waiting[0].Source != sch.ID || waiting[0].State != schedule.Waiting || waiting[0].WorkflowID != b.workflow.ID {
		t.Errorf("overdue: %+v, and %+v waits, %v; want the oldest of what is late, and what waits", got, waiting, err)
	}
	b.over(first[0], dag.InstanceFailed)
	if out := b.fire(sch, 3000); len(out.Started) != 1 {
		t.Errorf("after the end of the first it did %+v", out)
	}
}

func anOverlapSkipsOrReplaces(t *testing.T, b *bench) {
	skips, replaces := b.hourly("skips", overlapping(schedule.Skip)), b.hourly("replaces", overlapping(schedule.Replace))
	b.planned(skips, 1000, 2000)
	b.fire(skips, 1000, 2000)
	b.fires(skips, "1000 fired", "2000 skipped overlap")

	b.planned(replaces, 1000, 2000, 3000)
	first := b.fire(replaces, 1000).Started
	out := b.fire(replaces, 2000, 3000)
	b.fires(replaces, "1000 fired", "2000 fired", "3000 fired")
	if len(out.Started) != 2 || !slices.Equal(out.Stopped, []int64{first[0], out.Started[0]}) {
		t.Fatalf("two that replace: %+v, want what was before them stopped", out)
	}
	for _, id := range out.Stopped {
		wishes, err := b.Controls(b.ctx, id)
		if err != nil || len(wishes) != 1 || wishes[0].Verb != dag.VerbStop {
			t.Errorf("wishes about %d: %+v, %v", id, wishes, err)
		}
	}
}

func aTriggeredScheduleCountsAsRunning(t *testing.T, b *bench) {
	sch := b.hourly("hourly", overlapping(schedule.Skip))
	b.planned(sch, 1000)
	id, err := b.TriggerSchedule(b.ctx, sch.ID, "eve")
	b.must(err)
	if row, err := b.Instance(b.ctx, id); err != nil || row.CreatedBy != "eve" || row.Params["k"] != "v" || row.ScheduleTime == 0 {
		t.Errorf("the instance is %+v, %v", row, err)
	}
	b.fire(sch, 1000)
	b.fires(sch, "1000 skipped overlap")
}

func missedFiresAreToldApart(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	other, third := b.hourly("other"), b.hourly("third")
	b.planned(sch, 1000, 2000, 3000)
	b.planned(other, 500, 2000)
	b.planned(third, 1000)
	overdue, waiting, err := b.OverdueFires(b.ctx, 2500, 10, anyones)
	if err != nil || len(overdue) != 3 || overdue[0].Source != other.ID || overdue[0].Late != 2 || overdue[1].Source != sch.ID || overdue[1].Late != 2 || overdue[2].Late != 1 || len(waiting) != 0 {
		t.Errorf("overdue: %+v, and %+v waits, %v", overdue, waiting, err)
	}
	// Of the others' there may be more than anybody wants.
	overdue, _, err = b.OverdueFires(b.ctx, 2500, 1, func(id int64, _ dag.Millis) bool { return id != other.ID })
	if err != nil || len(overdue) != 1 || overdue[0].Source != sch.ID {
		t.Errorf("overdue of all but the oldest: %+v, %v", overdue, err)
	}
	all, err := b.LateFires(b.ctx, []int64{other.ID, sch.ID}, 1000, 2500)
	late := all[sch.ID]
	if err != nil || len(all) != 2 || len(late) != 2 || late[0].At != 1000 || late[1].At != 2000 || late[1].Due != 2000 || late[1].Revision != 1 {
		t.Errorf("late: %+v, %v", all, err)
	}
	if late := all[other.ID]; len(late) != 1 || late[0].At != 2000 {
		t.Errorf("late of the other from 1000 on: %+v", late)
	}
	_, err = b.SettleFires(b.ctx, []sql.Verdict{
		{Source: sch.ID, At: 1000, State: schedule.Missed, Reason: schedule.ReasonOlder}, {Source: sch.ID, At: 2000, State: schedule.Fired},
	}, "m1:a", 7)
	b.must(err)
	b.fires(sch, "1000 missed misfire_latest", "2000 fired", "3000 planned")
}

func prunedFiresStillAddUp(t *testing.T, b *bench) {
	sch := b.hourly("hourly", overlapping(schedule.Skip))
	gone := b.hourly("gone")
	b.planned(sch, 1000, 2000, day+1000)
	b.planned(gone, 1000)
	b.fire(sch, 1000, 2000)
	b.fire(gone, 1000)
	before, err := b.SumFires(b.ctx, sch.ID, 0, 2*day)
	b.must(err)
	if before.Total() != 3 || before.Open() != 1 || before.States[schedule.Fired] != 1 || before.States[schedule.Skipped] != 1 || before.LateMs == 0 || before.Pruned != 0 {
		t.Errorf("summed %+v", before)
	}
	b.must(b.DeleteSchedule(b.ctx, gone.ID))
	for _, want := range []int{3, 0} {
		if n, err := b.SweepFires(b.ctx, 2*day); err != nil || n != want {
			t.Errorf("swept %d, %v; want %d", n, err, want)
		}
	}
	b.fires(sch, fmt.Sprintf("%d planned", day+1000))
	after, err := b.SumFires(b.ctx, sch.ID, 0, 2*day)
	b.must(err)
	if after.Pruned != 2 || after.LateMs != before.LateMs || fmt.Sprint(after.States) != fmt.Sprint(before.States) {
		t.Errorf("after the sweep it sums up to %+v, before to %+v", after, before)
	}
	if other, err := b.SumFires(b.ctx, sch.ID, day, 2*day); err != nil || other.Total() != 1 {
		t.Errorf("the second day has %+v, %v", other, err)
	}
	sch, err = b.ScheduleByID(b.ctx, sch.ID)
	b.must(err)
	b.planned(sch, 3000)
	b.fire(sch, 3000)
	_, err = b.SweepFires(b.ctx, day)
	b.must(err)
	if more, err := b.SumFires(b.ctx, sch.ID, 0, day); err != nil || more.Pruned != 3 || more.States[schedule.Skipped] != 2 || more.States[schedule.Fired] != 1 {
		t.Errorf("after another sweep of the same day it sums up to %+v, %v; want one more skipped", more, err)
	}
	if none, err := b.SumFires(b.ctx, gone.ID, 0, 2*day); err != nil || none.Total() != 0 {
		t.Errorf("a deleted schedule has %+v, %v", none, err)
	}
}

func firesAreCountedByDays(t *testing.T, b *bench) {
	const hour = day / 24
	sch := b.hourly("hourly")
	other := b.hourly("other")
	b.planned(sch, 1000, 2000, day-hour+1000, day+1000)
	b.planned(other, 3000)
	b.fire(sch, 1000, 2000)
	counts := func() string {
		// From the second day on the clock is an hour behind: its first fire is on the date before, again.
		got, err := b.CountFires(b.ctx, sch.ID, []sql.FireStretch{{From: 0, To: day - hour}, {From: day - hour, To: day, Offset: int64(hour)}, {From: day, To: 2 * day, Offset: -int64(hour)}})
		b.must(err)
		var text strings.Builder
		for _, c := range got {
			fmt.Fprintf(&text, "%d %s %d %t, ", c.Day, c.State, c.Fires, c.Pruned)
			if (c.LateMs > 0) != (c.State == schedule.Fired) {
				t.Errorf("those that are %s are %d ms late", c.State, c.LateMs)
			}
		}
		return text.String()
	}
	if got, want := counts(), "0 fired 2 false, 0 planned 1 false, 1 planned 1 false, "; got != want {
		t.Errorf("counted %s; want %s", got, want)
	}
	last, err := b.LastFires(b.ctx, []int64{sch.ID, other.ID, 999999}, 2*day)
	if err != nil || len(last) != 1 || last[sch.ID].At != 2000 || last[sch.ID].State != schedule.Fired {
		t.Errorf("the last fires are %+v, %v", last, err)
	}
	if last, err := b.LastFires(b.ctx, []int64{sch.ID}, 1999); err != nil || last[sch.ID].At != 1000 {
		t.Errorf("the last fires up to before the second are %+v, %v", last, err)
	}
	_, err = b.SweepFires(b.ctx, day)
	b.must(err)
	if got, want := counts(), "0 fired 2 true, 0 planned 1 false, 1 planned 1 false, "; got != want {
		t.Errorf("after the sweep counted %s; want %s", got, want)
	}
}

func tenThousandFireTogether(t *testing.T, b *bench) {
	schedules, each := 20, 500
	if testing.Short() {
		each = 50
	}
	var verdicts []sql.Verdict
	for i := range schedules {
		sch := b.hourly(fmt.Sprint("s", i))
		var at []dag.Millis
		for m := range each {
			at = append(at, dag.Millis(1000*(m+1)))
			verdicts = append(verdicts, sql.Verdict{Source: sch.ID, At: at[m], State: schedule.Fired})
		}
		b.planned(sch, at...)
	}
	out, err := b.SettleFires(b.ctx, verdicts, "m1:a", 7)
	b.must(err)
	ids := slices.Compact(slices.Sorted(slices.Values(out.Started)))
	if len(ids) != len(verdicts) {
		t.Errorf("%d instances started, want %d", len(ids), len(verdicts))
	}
	if again, err := b.SettleFires(b.ctx, verdicts, "m2:a", 8); err != nil || len(again.Fires) != 0 {
		t.Errorf("fired again: %d, %v", len(again.Fires), err)
	}
}

func schedulesGoWithTheirWorkflow(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	b.planned(sch, 1000, 2000)
	id := b.fire(sch, 1000).Started[0]
	var used *sql.InUseError
	if err := b.DeleteWorkflow(b.ctx, b.workflow.ID); !errors.As(err, &used) {
		t.Errorf("the workflow of what runs is deleted: %v", err)
	}
	b.fires(sch, "1000 fired", "2000 planned")
	b.over(id, dag.InstanceSuccess)
	b.must(b.DeleteWorkflow(b.ctx, b.workflow.ID))
	if _, err := b.ScheduleByID(b.ctx, sch.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("it is there after its workflow: %v", err)
	}
	b.fires(sch, "1000 fired")
	if _, _, err := b.SaveSchedule(b.ctx, sch, -1); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("saved for a deleted workflow: %v, want ErrNotFound", err)
	}
}
