package schedule

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// after makes a workflow whose schedule fires at the ends of the bench's workflow.
func (b *bench) after(name string) sql.Schedule {
	b.t.Helper()
	w, _, _, err := b.SaveVersion(b.t.Context(), sql.SaveVersion{ProjectID: b.workflow.ProjectID, Name: name, Text: "name: " + name + "\n", Format: "yaml", By: "ann", Publish: true})
	b.must(err)
	sch, _, err := b.SaveSchedule(b.t.Context(), sql.Schedule{
		WorkflowID: w.ID, Name: name, Enabled: true, ChangedBy: "ann", AfterWorkflow: b.workflow.ID, Spec: rules.Spec{After: &rules.After{Workflow: "Daily"}},
	}, -1)
	b.must(err)
	return sch
}

// begin starts an instance of the bench's workflow.
func (b *bench) begin() int64 {
	b.t.Helper()
	id, _, err := b.Start(b.t.Context(), sql.Start{WorkflowID: b.workflow.ID, ProjectID: b.workflow.ProjectID, Version: 1, Priority: dag.PriorityMedium, OnFailure: dag.OnFailureContinue})
	b.must(err)
	return id
}

func TestAnEndFiresWithinSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	first, second := b.after("Report"), b.after("Archive")
	b.run(2 * time.Second)
	b.end(b.begin())
	b.run(2 * time.Second)
	for _, sch := range []sql.Schedule{first, second} {
		if got := b.outcomes(sch); len(got) != 1 || got["fired"] != 1 {
			t.Errorf("%s came to %v, want one fired", sch.Name, got)
		}
		if m := b.masters[sch.ID%slots%2]; len(m.started) == 0 {
			t.Errorf("nobody was told of what %s started", sch.Name)
		}
	}
	b.end(b.begin())
	b.run(2 * time.Second)
	if got := b.outcomes(first); got["fired"] != 2 {
		t.Errorf("after the second end it came to %v", got)
	}
}

// A master that died between the row of the fire and its start leaves it to the next one, however long that takes.
func TestAnEndOutlivesItsMaster(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.after("Report")
	b.run(2 * time.Second)
	b.end(b.begin())
	b.end(b.begin())
	fires, _, err := b.PlanEnds(t.Context(), 10, func(int64) bool { return true })
	b.must(err)
	if len(fires) != 2 {
		t.Fatalf("planned %+v", fires)
	}
	b.clock = b.clock.Add(time.Hour)
	b.masters = nil
	m, began := b.add(0, 1), b.clock
	m.mono = func() time.Duration { return b.clock.Sub(began) }
	b.run(3 * time.Second)
	if got := b.outcomes(sch); len(got) != 1 || got["fired"] != 2 {
		t.Errorf("an hour later it came to %v, want both fired", got)
	}
}

func TestAHeldClusterStartsNothingAtAnEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	sch := b.after("Report")
	b.masters[0].closed = true
	b.end(b.begin())
	b.run(3 * time.Second)
	if got := b.outcomes(sch); len(got) != 0 {
		t.Errorf("while it is held it came to %v", got)
	}
	b.masters[0].closed = false
	b.run(3 * time.Second)
	if got := b.outcomes(sch); got["fired"] != 1 {
		t.Errorf("then it came to %v, want one fired", got)
	}
}
