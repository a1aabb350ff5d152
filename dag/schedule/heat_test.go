package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

func TestFiresAreCountedByStretches(t *testing.T) {
	t.Parallel()
	from := millis(t, "2026-03-27T00:00:00Z")
	bounds := make([]dag.Millis, 5)
	for i := range bounds {
		bounds[i] = from.Add(time.Duration(i) * time.Hour)
	}
	never := map[string]schedule.Calendar{"friday": {Days: []string{"friday"}}}
	for _, c := range []struct {
		name  string
		spec  schedule.Spec
		want  []int64
		exact bool
	}{
		{"each quarter", schedule.Spec{Cron: "*/15 * * * *"}, []int64{4, 4, 4, 4}, true},
		{"once", schedule.Spec{Cron: "30 2 * * *"}, []int64{0, 0, 1, 0}, true},
		{"each second is foretold", schedule.Spec{Cron: "* * * * * *"}, []int64{3600, 3600, 3600, 3600}, false},
		{"every 20 s in one hour", schedule.Spec{Cron: "*/20 * 1 * * *"}, []int64{0, 180, 0, 0}, false},
		{"from its start on", schedule.Spec{Cron: "0 * * * *", Start: "2026-03-27T02:00:00Z"}, []int64{0, 0, 1, 1}, true},
		{"left out by a calendar", schedule.Spec{Cron: "0 * * * *", Calendar: &schedule.CalendarRule{Skip: []string{"friday"}}}, []int64{0, 0, 0, 0}, true},
	} {
		got, steps, exact := compile(t, c.spec, never).Count(bounds, 100)
		if !slices.Equal(got, c.want) || exact != c.exact {
			t.Errorf("%s: %v (exact: %v), want %v", c.name, got, exact, c.want)
		}
		if steps > 4*101+1 {
			t.Errorf("%s: %d fires were walked", c.name, steps)
		}
	}
}

func BenchmarkCountOfAWeek(b *testing.B) {
	from := dag.MillisOf(time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC))
	bounds := make([]dag.Millis, 169)
	for i := range bounds {
		bounds[i] = from.Add(time.Duration(i) * time.Hour)
	}
	for name, text := range map[string]string{"daily": "30 2 * * *", "minutely": "* * * * *", "secondly": "* * * * * *"} {
		b.Run(name, func(b *testing.B) {
			p, wrong := schedule.Spec{Cron: text, Timezone: "Europe/Berlin"}.Compile(7, nil, 0)
			if len(wrong) > 0 {
				b.Fatal(wrong)
			}
			n := 0
			for b.Loop() {
				_, steps, _ := p.Count(bounds, 240)
				n += steps
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/step")
		})
	}
}
