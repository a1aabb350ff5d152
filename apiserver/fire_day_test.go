package apiserver

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

func TestFiresAreCountedByTheDaysOfTheirTimezone(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const one = schedules + "/hourly"
	made := decode[Schedule](t, b.must(201, "PUT", one, `{"cron": "0 * * * *", "timezone": "Asia/Kolkata"}`))
	if made.Words == nil || made.Words.English == "" || made.Words.Chinese == "" {
		t.Errorf("its words are %+v", made.Words)
	}
	fire := func(at string, lateMs int64, state string) {
		t.Helper()
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		ms := dag.MillisOf(moment)
		open := state == "planned"
		b.exec(`INSERT INTO fire (source_id, planned_at, due_at, bucket, revision, open, state, reason, instance_id, fired_at, master, epoch) VALUES (?, ?, ?, 0, 1, ?, ?, '', 0, ?, 'm1', 7)`,
			int64(made.ID), ms, ms, open, state, int64(ms)+lateMs)
	}
	// Kolkata is five hours and a half ahead: its 2 March begins at 18:30 of the 1st.
	fire("2026-03-01T18:00:00Z", 100, "fired")
	fire("2026-03-01T18:30:00Z", 300, "fired")
	fire("2026-03-02T17:00:00Z", 100, "fired")
	fire("2026-03-02T18:00:00Z", 0, "missed")
	fire("2026-03-02T18:30:00Z", 0, "planned")
	day := int64(dag.MillisOf(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC))) / 86_400_000
	b.exec(`INSERT INTO fire_day (source_id, day, state, fires, late_ms) VALUES (?, ?, 'fired', 4, 40), (?, ?, 'skipped', 2, 0)`, int64(made.ID), day, int64(made.ID), day)

	got := decode[FireDays](t, b.must(200, "GET", one+"/fires/days?from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z", ""))
	want := []FireDay{
		{Day: "2026-01-31", States: map[string]int64{"fired": 4, "skipped": 2}, MeanLate: 10, Pruned: 6},
		{Day: "2026-03-01", States: map[string]int64{"fired": 1}, MeanLate: 100},
		{Day: "2026-03-02", States: map[string]int64{"fired": 2, "missed": 1}, MeanLate: 200},
		{Day: "2026-03-03", States: map[string]int64{"planned": 1}},
	}
	if got.Timezone != "Asia/Kolkata" || len(got.Days) != len(want) {
		t.Fatalf("the days are %+v", got)
	}
	for i, d := range got.Days {
		if w := want[i]; d.Day != w.Day || d.MeanLate != w.MeanLate || d.Pruned != w.Pruned || !maps.Equal(d.States, w.States) {
			t.Errorf("day %d is %+v, want %+v", i, d, w)
		}
	}
	// A year and a month are those of its clock.
	for span, days := range map[string]int{"2026": 4, "2026-03": 3, "2026-01": 1, "2025": 0} {
		if got := decode[FireDays](t, b.must(200, "GET", one+"/fires/days?span="+span, "")); len(got.Days) != days {
			t.Errorf("%s has %d days with fires, want %d: %+v", span, len(got.Days), days, got.Days)
		}
	}
	for _, wrong := range []string{"span=2026-13", "span=1900", "span=2026&to=2026-12-31T00:00:00Z"} {
		if got := wrongFields(b, 400, "GET", one+"/fires/days?"+wrong, ""); !strings.HasPrefix(got, "span ") {
			t.Errorf("%s is refused for %s", wrong, got)
		}
	}
	// The last outcome is that of the latest fire that has one.
	for path, last := range map[string]func() *Fire{
		one:       func() *Fire { return decode[ScheduleDetail](t, b.must(200, "GET", one, "")).Last },
		schedules: func() *Fire { return decode[List[Schedule]](t, b.must(200, "GET", schedules, "")).Items[0].Last },
	} {
		if f := last(); f == nil || f.State != "missed" || dag.Millis(f.At).Time().UTC().Format(time.RFC3339) != "2026-03-02T18:00:00Z" {
			t.Errorf("%s: the last fire is %+v", path, f)
		}
	}
	b.must(400, "GET", one+"/fires/days?from=2025-01-01T00:00:00Z&to=2026-12-31T00:00:00Z", "")
}

func TestFiresStayOnTheirDayWhenClocksChange(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := spanOf("2026", loc)
	if err != nil {
		t.Fatal(err)
	}
	got := stretchesOf(from, to, loc)
	if len(got) != 3 || got[0].Offset != 3_600_000 || got[1].Offset != 7_200_000 || got[2].Offset != 3_600_000 || got[0].To != got[1].From || got[2].To != to {
		t.Errorf("the year is %+v", got)
	}
	if want := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC); !got[1].From.Time().Equal(want) {
		t.Errorf("the clocks change at %v, want %v", got[1].From.Time(), want)
	}
}
