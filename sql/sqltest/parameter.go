package sqltest

import (
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// timezoneGoesWithTheInstance: whoever takes an instance reckons its dates where its start said.
func timezoneGoesWithTheInstance(t *testing.T, b *bench) {
	here := b.begin(func(s *sql.Start) { s.Timezone, s.ScheduleTime = "Europe/Berlin", 1_700_000_000_000 })
	there := b.begin()
	got := map[int64]string{}
	for _, c := range b.claim("m1:a") {
		facts, err := c.Instance.Facts()
		b.must(err)
		got[c.Instance.ID] = facts.Location.String() + " " + facts.Workflow
	}
	if got[here] != "Europe/Berlin Daily" || got[there] != "UTC Daily" {
		t.Errorf("facts = %v, want Berlin for the first and UTC for the second", got)
	}
	lost := b.begin(func(s *sql.Start) { s.Timezone = "Europe/Atlantis" })
	row, err := b.Instance(b.ctx, lost)
	b.must(err)
	if _, err := row.Facts(); err == nil {
		t.Error("a timezone that is not known any more is taken for another one")
	}
}
