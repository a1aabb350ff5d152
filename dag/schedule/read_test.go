package schedule_test

import (
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/schedule"
)

const file = `calendars:
  - name: holidays
    days: ["12-25", 2026-12-31..2027-01-03]
schedules:
  - workflow: daily
    name: nightly
    cron: 30 2 * * *
    timezone: Europe/Berlin
    calendar: {skip: [holidays, of the project], excluded: next}
    misfire: {policy: all, max: 3, max_age: 2h}
    params: {day: 7}
    enabled: false
  - {workflow: daily, name: once, at: ["2026-03-01 05:00"], overlap: skip}
`

func TestAFileHasSchedulesAndCalendars(t *testing.T) {
	t.Parallel()
	doc, wrong := schedule.Read([]byte(file), "yaml")
	if len(wrong) > 0 || len(doc.Schedules) != 2 || len(doc.Calendars) != 1 {
		t.Fatalf("%+v, %+v", doc, wrong)
	}
	s := doc.Schedules[0]
	if s.Workflow != "daily" || s.Cron != "30 2 * * *" || s.Calendar.Excluded != "next" || s.Misfire.Max != 3 || s.Params["day"] != "7" || s.Enabled == nil || *s.Enabled {
		t.Errorf("read %+v", s)
	}
	if doc.Schedules[1].Enabled != nil {
		t.Error("what is not said is said")
	}
}

func TestABadFileNamesAllThatIsWrongWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"schedules:\n  - workflow: daily\n    cron: 5\n    cronn: x\n":                                                          "schedules[0].cron wrong_type 3, schedules[0].cronn unknown_field 4, schedules[0].name required 2",
		"schedules:\n  - {workflow: daily, name: n, cron: '0 25 * * *', jitter: x}\ncalendars:\n  - {name: c, days: [lunch]}\n": "schedules[0].cron out_of_range 2, schedules[0].jitter invalid 2, calendars[0].days[0] invalid 4",
		"{}":          "body required 1",
		"schedules: ": "schedules null 1",
		"a: [":        "body syntax 1",
	} {
		doc, wrong := schedule.Read([]byte(text), "yaml")
		var got []string
		for _, w := range wrong {
			got = append(got, w.Field+" "+w.Code+" "+string(rune('0'+w.Line)))
		}
		left, right := strings.Split(want, ", "), got
		if doc != nil || len(left) != len(right) {
			t.Errorf("%q: wrong are %q, want %q", text, got, want)
			continue
		}
		for _, one := range left {
			if !strings.Contains(strings.Join(right, ", "), one) {
				t.Errorf("%q: wrong are %q, want %q", text, got, want)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(file), "yaml")
	f.Add([]byte(`{"schedules": [{"workflow": "w", "name": "n", "cron": "* * * * *"}]}`), "json")
	f.Fuzz(func(t *testing.T, text []byte, format string) {
		doc, wrong := schedule.Read(text, format)
		if (doc == nil) == (len(wrong) == 0) {
			t.Errorf("%v with %d errors", doc, len(wrong))
		}
		for _, w := range wrong {
			if w.Field == "" || w.Code == "" || w.Message == "" {
				t.Errorf("an error without its field, code or message: %+v", w)
			}
		}
	})
}
