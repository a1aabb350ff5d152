package schedule

import (
	"testing"
	"time"

	rules "github.com/porpoise/porpoise/dag/schedule"
)

func TestFiguresTellWhatBecameOfFires(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	m, counts := b.masters[0], &Figures{}
	m.Planner.Figures, m.Firer.Figures = counts, counts
	b.make("tick", rules.Spec{Cron: "* * * * * *", Misfire: &rules.Misfire{Policy: rules.RunNone}})
	b.run(10 * time.Second)
	got := counts.Message()
	if fired := got.GetFired(); fired < 9 || got.GetLate()[0] != fired || got.GetLateMs() != 0 {
		t.Errorf("on time they are %v", got)
	}
	if got.GetPlanned() < 600 || got.GetAheadMs() != (defaultHorizon/leadParts).Milliseconds() {
		t.Errorf("of the plan they are %v", got)
	}
	b.clock = b.clock.Add(2 * time.Minute) // nobody was there; the clock that nobody sets went on, too
	b.run(time.Second)
	before := got.GetFired()
	if got = counts.Message(); got.GetMissed() < 80 || got.GetFired() == before || got.GetLateMs() == 0 {
		t.Errorf("after two minutes they are %v", got)
	}
	sum := int64(0)
	for _, n := range got.GetLate() {
		sum += n
	}
	if sum != got.GetFired() {
		t.Errorf("%d are late by something, and %d fired", sum, got.GetFired())
	}
}
