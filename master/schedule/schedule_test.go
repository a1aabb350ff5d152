package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// bench is a store with one workflow, and a clock that steps.
type bench struct {
	*sql.Store
	t        *testing.T
	clock    time.Time
	workflow sql.Workflow
	masters  []*master
}

// master has some of the slots.
type master struct {
	*Planner
	*Firer
	owned   []bool
	closed  bool
	started []int64
	stopped []int64
}

const slots = 16

var midnight = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func newBench(t *testing.T, masters int) *bench {
	t.Helper()
	b := &bench{t: t, clock: midnight}
	b.openStore(func() time.Time { return b.clock })
	for i := range masters {
		b.add(i, masters)
	}
	return b
}

func (b *bench) openStore(now func() time.Time) {
	b.t.Helper()
	var err error
	b.Store, err = sql.Open(b.t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(b.t), Relaxed: true, Slots: slots, Now: now, Alone: true})
	b.must(err)
	b.t.Cleanup(func() { _ = b.Store.Close() })
	b.must(b.Migrate(b.t.Context()))
	project, err := b.CreateProject(b.t.Context(), sql.Project{Name: "Sales"})
	b.must(err)
	b.workflow, _, _, err = b.SaveVersion(b.t.Context(), sql.SaveVersion{ProjectID: project.ID, Name: "Daily", Text: "name: Daily\n", Format: "yaml", By: "ann", Publish: true})
	b.must(err)
}

// add adds the i-th of n masters.
func (b *bench) add(i, n int) *master {
	m := &master{owned: make([]bool, slots)}
	for s := range m.owned {
		m.owned[s] = s%n == i
	}
	c := Config{
		Master: fmt.Sprint("m", i), Store: b.Store, Slots: m, Logger: hclog.NewNullLogger(), Now: func() time.Time { return b.clock },
		Started: func(ids []int64) { m.started = append(m.started, ids...) },
		Stopped: func(ids []int64) { m.stopped = append(m.stopped, ids...) },
	}
	m.Planner, m.Firer = NewPlanner(c), NewFirer(c)
	m.mono = func() time.Duration { return b.clock.Sub(midnight) }
	b.masters = append(b.masters, m)
	return m
}

func (m *master) Begin() ([]bool, int64, bool) { return m.owned, 1, !m.closed }
func (m *master) End()                         {}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) make(name string, spec rules.Spec) sql.Schedule {
	b.t.Helper()
	sch, _, err := b.SaveSchedule(b.t.Context(), sql.Schedule{WorkflowID: b.workflow.ID, Name: name, Enabled: true, Spec: spec, ChangedBy: "ann"}, -1)
	b.must(err)
	return sch
}

// run lets the masters work for a while. The clock steps from one moment that any of them wants to the next.
func (b *bench) run(d time.Duration) {
	b.t.Helper()
	planned := time.Time{}
	for end := b.clock.Add(d); b.clock.Before(end); {
		next := end
		for _, m := range b.masters {
			if b.clock.Sub(planned) >= time.Second {
				b.plan(m)
			}
			at, err := m.Firer.Once(b.t.Context())
			b.must(err)
			if at := time.UnixMilli(int64(at)); at.After(b.clock) && at.Before(next) {
				next = at
			}
		}
		if b.clock.Sub(planned) >= time.Second {
			planned = b.clock
		}
		b.clock = next
	}
}

func (b *bench) plan(m *master) {
	b.t.Helper()
	for more := true; more; {
		var err error
		more, err = m.Planner.Once(b.t.Context())
		b.must(err)
	}
}

// outcomes counts the fires of a schedule by state and reason, and fails where one has no instance of its own.
func (b *bench) outcomes(sch sql.Schedule) map[string]int {
	b.t.Helper()
	out := map[string]int{}
	seen := map[int64]bool{}
	for cursor := ""; ; {
		list, next, err := b.Fires(b.t.Context(), sch.ID, 0, math.MaxInt64, "", sql.Page{Cursor: cursor, Limit: 200})
		b.must(err)
		for _, f := range list {
			out[strings.TrimSpace(string(f.State)+" "+f.Reason)]++
			if f.State == rules.Fired && (f.Instance == 0 || seen[f.Instance]) {
				b.t.Errorf("the fire of %d has instance %d", f.At, f.Instance)
			}
			seen[f.Instance] = true
		}
		if cursor = next; next == "" {
			return out
		}
	}
}

func TestEachSecondFiresOnceWhoeverHasTheSlots(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	b.run(30 * time.Second)
	b.masters[0].owned, b.masters[1].owned = b.masters[1].owned, b.masters[0].owned
	b.run(30 * time.Second)
	// One is gone, and for a while nobody has its slots; then the other has all of them.
	b.masters[0].closed = true
	b.run(10 * time.Second)
	for s := range b.masters[1].owned {
		b.masters[1].owned[s] = true
	}
	b.run(20*time.Second + 600*time.Millisecond)
	got := b.outcomes(sch)
	if fired := got["fired"]; fired != 91 || len(got) != 2 {
		t.Errorf("after 90 s it came to %v, want 91 fired, and some planned", got)
	}
	if n := len(b.masters[0].started) + len(b.masters[1].started); n != 91 {
		t.Errorf("the masters were told of %d instances, want 91", n)
	}
}

func TestEditsLoseNoFireAndDoubleNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	sch := b.make("tick", rules.Spec{Cron: "*/2 * * * * *", Jitter: "1500ms", Misfire: &rules.Misfire{Policy: rules.RunAll}})
	for i := range 20 {
		// In a jitter, at a moment, and between.
		b.run(time.Duration(700+i*137) * time.Millisecond)
		if i == 10 { // nobody was there to plan for long
			b.clock = b.clock.Add(defaultHorizon + time.Minute)
		}
		sch.Spec.Params = map[string]string{"edit": fmt.Sprint(i)}
		var err error
		sch, _, err = b.SaveSchedule(b.t.Context(), sch, sch.Revision)
		b.must(err)
	}
	b.run(10 * time.Second)
	got := b.outcomes(sch)
	seconds := int(b.clock.Sub(midnight) / time.Second)
	if fired := got["fired"]; fired < seconds/2-1 && got["missed misfire_max"] == 0 || len(got) > 3 || got["fired"]+got["missed misfire_max"] < seconds/2-1 {
		t.Errorf("after %d s and 20 edits it came to %v, want each second one fired, or missed in the outage", seconds, got)
	}
}

func TestEveryMasterMayOwnEverySlot(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	for _, m := range b.masters {
		m.owned = slices.Repeat([]bool{true}, slots)
	}
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	b.run(20*time.Second + 100*time.Millisecond)
	if got := b.outcomes(sch); got["fired"] != 21 || got["duplicate"] != 0 {
		t.Errorf("with three owners of each slot it came to %v, want 21 fired", got)
	}
}

func TestLateFiresGoByTheirPolicy(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	latest := b.make("latest", rules.Spec{Cron: "* * * * *"})
	all := b.make("all", rules.Spec{Cron: "* * * * *", Misfire: &rules.Misfire{Policy: rules.RunAll, Max: 5}})
	none := b.make("none", rules.Spec{Cron: "* * * * *", Misfire: &rules.Misfire{Policy: rules.RunNone}})
	b.run(95 * time.Second) // two fires
	b.clock = b.clock.Add(time.Hour)
	b.masters = nil
	b.add(0, 1)             // after an outage of an hour
	b.run(20 * time.Second) // before the next fire
	for _, c := range []struct {
		sch  sql.Schedule
		want map[string]int
	}{
		{latest, map[string]int{"fired": 2 + 1, "missed misfire_latest": 59}},
		{all, map[string]int{"fired": 2 + 5, "missed misfire_max": 55}},
		{none, map[string]int{"fired": 2, "missed misfire_none": 60}},
	} {
		got := b.outcomes(c.sch)
		delete(got, "planned")
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s came to %v, want %v", c.sch.Name, got, c.want)
		}
	}
}

func TestHoursOfSecondsAreCaughtUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	b.clock = b.clock.Add(2 * time.Hour)
	b.masters = nil
	b.add(0, 1)
	b.run(5 * time.Second)
	got := b.outcomes(sch)
	if got["missed misfire_latest"]+got["fired"] < 7200 || got["fired"] < 5 || got["fired"] > 40 {
		t.Errorf("after two hours it came to %v, want the old ones missed but the newest", got)
	}
}

// failing is a store that fails once in each of its ways.
type failing struct {
	*sql.Store
	failed map[string]bool
}

func (f *failing) once(what string) error {
	if f.failed[what] {
		return nil
	}
	f.failed[what] = true
	return errors.New(what + " failed")
}

func (f *failing) UnplannedSchedules(ctx context.Context, before dag.Millis, limit int, owns func(int64) bool) ([]sql.Schedule, bool, error) {
	if err := f.once("unplanned"); err != nil {
		return nil, false, err
	}
	return f.Store.UnplannedSchedules(ctx, before, limit, owns)
}

func (f *failing) PlanFires(ctx context.Context, stretches []sql.Stretch) (int, error) {
	if err := f.once("plan"); err != nil {
		return 0, err
	}
	return f.Store.PlanFires(ctx, stretches)
}

func (f *failing) Clock(ctx context.Context) (dag.Millis, error) {
	if err := f.once("clock"); err != nil {
		return 0, err
	}
	return f.Store.Clock(ctx)
}

func TestAPlannerWhoseStoreFailsGoesOnAtItsNextLook(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	m := b.masters[0]
	store := &failing{b.Store, map[string]bool{}}
	m.Planner.Store = store
	for range 3 {
		if _, err := m.Planner.Once(t.Context()); err == nil {
			t.Fatalf("after %v failed it says nothing", store.failed)
		}
		b.clock = b.clock.Add(PlanEvery)
	}
	b.run(1100 * time.Millisecond)
	if got := b.outcomes(sch); got["fired"] != 5 || got["planned"] == 0 {
		t.Errorf("a look after the last failure it came to %v, want each second fired", got)
	}
}

func TestManyThatAreDueAtOnceFireEachOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	const each = 90
	var made []sql.Schedule
	for i := range 8 {
		made = append(made, b.make(fmt.Sprint("tick", i), rules.Spec{Cron: "* * * * * *", Misfire: &rules.Misfire{Policy: rules.RunAll}}))
	}
	b.clock = b.clock.Add(each * time.Second)
	m := b.masters[0]
	b.run(4 * time.Second)
	for _, sch := range made {
		if got := b.outcomes(sch); got["fired"] < each || got["fired"] > each+5 {
			t.Errorf("schedule %s came to %v, want each second fired", sch.Name, got)
		}
	}
	slices.Sort(m.started)
	if n := len(slices.Compact(slices.Clone(m.started))); n != len(m.started) || n < 8*each {
		t.Errorf("the hint named %d instances, %d of them once", len(m.started), n)
	}
}

func TestWhatWaitsStartsAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	sch := b.make("tick", rules.Spec{Cron: "*/10 * * * * *", Overlap: rules.Wait})
	b.run(25 * time.Second)
	if got := b.outcomes(sch); got["fired"] != 1 || got["waiting"] != 1 || got["skipped overlap_newer"] != 1 {
		t.Fatalf("while the first runs it came to %v", got)
	}
	owner := b.masters[sch.ID%slots%2]
	first := append(b.masters[0].started, b.masters[1].started...)[0]
	b.end(first)
	owner.Finished(b.workflow.ID)
	if len(owner.awaited.Heard()) != 1 {
		t.Error("the end of the first was not heard")
	}
	b.run(1100 * time.Millisecond)
	if got := b.outcomes(sch); got["fired"] != 2 || got["waiting"] != 0 {
		t.Errorf("after the end of the first it came to %v", got)
	}
	for _, m := range b.masters {
		m.Finished(1 << 40)
	}
}

// Between two looks an instance ends, and then another fire is due: the older one is first in line.
func TestWhatWaitsComesBeforeWhatIsDue(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	sch := b.make("tick", rules.Spec{Cron: "*/10 * * * * *", Overlap: rules.Wait})
	b.run(19_900 * time.Millisecond)
	b.end(append(b.masters[0].started, b.masters[1].started...)[0])
	b.run(200 * time.Millisecond)
	list, _, err := b.Fires(t.Context(), sch.ID, 0, dag.MillisOf(b.clock), "", sql.Page{})
	b.must(err)
	if len(list) != 3 || list[1].State != rules.Fired || list[2].State != rules.Waiting {
		t.Errorf("the fires are %+v, want the second fired and the third waiting", list)
	}
}

// end ends an instance.
func (b *bench) end(id int64) {
	b.t.Helper()
	got, err := b.Claim(b.t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: "m1:a"}})
	b.must(err)
	in := &dag.Instance{ID: id, State: dag.InstanceSuccess, Round: 1, Seq: got[0].Instance.Seq + 1, FinishedAt: 9}
	plan := &dag.Plan{Definition: &dag.Definition{Name: "Daily"}}
	b.must(b.Commit(b.t.Context(), []sql.Transition{{Instance: in, Plan: plan, Epoch: got[0].Instance.OwnerEpoch, Effects: &dag.Effects{Changed: true}, Release: true, At: 9}})[0])
}

func TestWhatIsReplacedIsStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.make("tick", rules.Spec{Cron: "*/10 * * * * *", Overlap: rules.Replace})
	b.run(15 * time.Second)
	m := b.masters[0]
	if len(m.started) != 2 || !slices.Equal(m.stopped, m.started[:1]) {
		t.Errorf("started %v, stopped %v; want the first stopped", m.started, m.stopped)
	}
}

func TestAScheduleThatCanNotBePlannedIsPaused(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	broken := b.make("broken", rules.Spec{Cron: "* * * * *", Timezone: "Mars/Olympus"})
	good := b.make("good", rules.Spec{Cron: "* * * * *"})
	b.run(10 * time.Second)
	got, err := b.ScheduleByID(t.Context(), broken.ID)
	if err != nil || got.Enabled || !strings.Contains(got.Why, "timezone") || !strings.Contains(got.Why, "Mars/Olympus") {
		t.Errorf("the broken one: enabled %v, why %q, %v", got.Enabled, got.Why, err)
	}
	if got := b.outcomes(good); got["fired"] != 1 {
		t.Errorf("the other came to %v", got)
	}
}

func TestARareScheduleIsLookedAtRarely(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("yearly", rules.Spec{Cron: "0 0 1 1 *"})
	over := b.make("over", rules.Spec{At: []string{"2026-03-01T00:00:00Z"}})
	b.plan(b.masters[0])
	got, err := b.ScheduleByID(t.Context(), sch.ID)
	if want := b.clock.Add(defaultHorizon + maxLeap); err != nil || got.PlannedUntil != dag.MillisOf(want) {
		t.Errorf("planned until %d, %v; want a day ahead", got.PlannedUntil, err)
	}
	if got, err = b.ScheduleByID(t.Context(), over.ID); err != nil || got.PlannedUntil != math.MaxInt64 {
		t.Errorf("what never fires again is planned until %d, %v", got.PlannedUntil, err)
	}
}

func TestAClockThatIsSetBackFiresNothingTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	b.run(20*time.Second + 100*time.Millisecond)
	b.clock = b.clock.Add(-10 * time.Second)
	b.run(15 * time.Second)
	if got := b.outcomes(sch); got["fired"] != 26 || got["duplicate"] != 0 {
		t.Errorf("it came to %v, want 26 fired", got)
	}
}

// skewed is a store whose clock is another.
type skewed struct {
	*sql.Store
	clock func() time.Time
}

func (s *skewed) Clock(context.Context) (dag.Millis, error) { return dag.MillisOf(s.clock()), nil }

func TestAClockThatLeapsFiresNothingUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("minutely", rules.Spec{Cron: "* * * * *", Misfire: &rules.Misfire{Policy: rules.RunAll}})
	m := b.masters[0]
	truth := time.Duration(0) // by how much the database's clock is behind ours
	m.Firer.Store = &skewed{b.Store, func() time.Time { return b.clock.Add(-truth) }}
	b.run(time.Second)
	leap := func(d time.Duration) {
		b.clock = b.clock.Add(d)
		before := m.mono
		m.mono = func() time.Duration { return before() - d }
	}
	leap(time.Hour)
	truth = time.Hour
	b.run(20 * time.Second)
	if got := b.outcomes(sch); got["fired"] != 1 {
		t.Errorf("after a leap by mistake it came to %v, want the first fire alone", got)
	}
	truth = 0 // it was right, as after the sleep of a laptop
	b.run(10 * time.Second)
	if got := b.outcomes(sch); got["fired"] != 61 {
		t.Errorf("after a leap that is confirmed it came to %v, want 61 fired", got)
	}
	truth = 40 * time.Second
	b.run(2 * time.Minute)
	if got := b.outcomes(sch); got["fired"] > 62 {
		t.Errorf("with a clock that is 40 s ahead it came to %v, want nothing more", got)
	}
}

// A master whose clock is wrong keeps its slots: others do its part.
func TestAMasterWithAWrongClockHoldsUpNoSchedule(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, time.Hour, 25 * time.Second} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			wrong := b.masters[0]
			clock := func() time.Time { return b.clock.Add(off) }
			wrong.Planner.Now, wrong.Firer.Now = clock, clock
			var made []sql.Schedule
			for i := range slots {
				made = append(made, b.make(fmt.Sprint("s", i), rules.Spec{Cron: "* * * * *", Misfire: &rules.Misfire{Policy: rules.RunNone}}))
			}
			after := b.after("Report")
			for range 19 {
				b.run(10 * time.Second)
				b.end(b.begin())
			}
			b.run(20 * time.Second)
			by := map[string]int{}
			for _, sch := range made {
				list, _, err := b.Fires(t.Context(), sch.ID, 0, dag.MillisOf(b.clock.Add(-25*time.Second)), "", sql.Page{})
				b.must(err)
				if len(list) != 4 {
					t.Errorf("%s has %d fires, want one each minute", sch.Name, len(list))
				}
				for _, f := range list {
					by[f.Master]++
					if late := f.FiredAt - f.Due; f.State != rules.Fired || late > 21_000 || late < 0 && f.Master != "m0" {
						t.Errorf("%s: the fire of %d is %s %s by %s, %d ms late", sch.Name, f.At, f.State, f.Reason, f.Master, late)
					}
				}
			}
			// One that is trusted and ahead is early with its own part alone.
			if by["m1"] == 0 || off < time.Minute && off > 0 && by["m1"] < len(made) {
				t.Errorf("they fired %v", by)
			}
			if got := b.outcomes(after); got["fired"] != 19 {
				t.Errorf("the ends came to %v, want each fired", got)
			}
		})
	}
}

func TestAHeldClusterFiresNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.make("tick", rules.Spec{Cron: "* * * * * *"})
	b.run(2 * time.Second)
	before := b.outcomes(sch)["fired"]
	b.masters[0].closed = true
	b.run(5 * time.Second)
	if got := b.outcomes(sch); got["fired"] != before {
		t.Errorf("while it is held it came to %v", got)
	}
}

func TestRunFiresAtTheMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t}
		b.openStore(time.Now)
		m := b.add(0, 1)
		m.Planner.Now, m.Firer.Now = time.Now, time.Now
		began := time.Now()
		m.mono = func() time.Duration { return time.Since(began) }
		sch := b.make("tick", rules.Spec{Cron: "*/5 * * * * *"})
		b.plan(m)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Firer.Run(ctx) }()
		time.Sleep(21 * time.Second) // of the bubble: no real time passes
		synctest.Wait()
		cancel()
		b.must(<-done)
		list, _, err := b.Fires(t.Context(), sch.ID, 0, dag.MillisOf(time.Now()), "", sql.Page{})
		b.must(err)
		for _, f := range list {
			if late := f.FiredAt - f.Due; f.State != rules.Fired || late > 1 {
				t.Errorf("the fire of %d is %s, %d ms late", f.At, f.State, late)
			}
		}
		if len(list) != 5 {
			t.Errorf("%d fires in 21 s, want 5", len(list))
		}
	})
}

func TestALeapIsConfirmedWhereClocksDifferALittle(t *testing.T) {
	t.Parallel()
	var c trust
	c.look(0, 0)
	c.compare(10_000, 0)
	if !c.fires() || !c.warns() {
		t.Errorf("10 s off: fires %v, warns %v; want both", c.fires(), c.warns())
	}
	if !c.look(120_000, time.Second) || c.fires() {
		t.Error("after a leap of two minutes it fires")
	}
	c.compare(11_000, 120_000)
	if c.fires() {
		t.Error("it fires where the database does not agree")
	}
	c.look(240_000, 2*time.Second) // the whole machine slept
	c.compare(250_000, 240_000)
	if !c.fires() {
		t.Error("it does not fire where the database agrees but for the 10 s")
	}
}
