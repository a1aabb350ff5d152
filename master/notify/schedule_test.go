package notify_test

import (
	"fmt"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

func TestAListenerHearsOfWhatItsScheduleStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.notifier()
	save := func(name string) sql.Schedule {
		sch, _, err := b.SaveSchedule(t.Context(), sql.Schedule{WorkflowID: b.workflow.ID, Name: name, Enabled: true, ChangedBy: "ann", Spec: schedule.Spec{Cron: "0 5 * * *"}}, -1)
		b.must(err)
		return sch
	}
	nightly, hourly := save("Nightly"), save("hourly")
	b.listener("ops", listen.Filter{Schedules: []string{"NIGHTLY"}, Events: []listen.Kind{listen.Started}})
	starts := func(key string) string {
		in := b.run(func(st *sql.Start) {
			if key != "" {
				st.ScheduleTime, st.TriggerKey = 1000, key
			}
		})
		b.events(in, instance(dag.InstanceRunning))
		return fmt.Sprint(in.ID)
	}
	starts("")
	starts(sql.ScheduleKey(hourly.ID))
	starts(sql.BackfillKey(nightly.ID))
	first, second := starts(sql.ScheduleKey(nightly.ID)), starts(sql.EndKey(nightly.ID, 77))
	b.turn(n)
	heard := map[string]int{}
	for _, c := range b.heard() {
		heard[c.InstanceID]++
	}
	if len(heard) != 2 || heard[first] != 1 || heard[second] != 1 {
		t.Errorf("heard of %v, want once of %s and %s each", heard, first, second)
	}
	b.must(b.DeleteSchedule(t.Context(), nightly.ID))
	in := b.run(func(st *sql.Start) { st.ScheduleTime, st.TriggerKey = 2000, sql.ScheduleKey(nightly.ID) })
	b.events(in, instance(dag.InstanceRunning))
	b.turn(n)
	if more := b.heard(); len(more) != 0 {
		t.Errorf("of a schedule that is gone it hears %+v", more)
	}
}
