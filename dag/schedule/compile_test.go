package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

func TestABadScheduleNamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	long := make([]string, 1001)
	for i := range long {
		long[i] = time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339)
	}
	broken := map[string]schedule.Calendar{"broken": {Days: []string{"lunch"}}, "fine": {Days: []string{"12-25"}}}
	for _, c := range []struct {
		name string
		spec schedule.Spec
		want string // fields and codes
		says string // in some message
	}{
		{"nothing", schedule.Spec{}, "cron required", "needs cron"},
		{"both", schedule.Spec{Cron: "0 0 * * *", At: []string{"2026-01-01"}}, "at conflict", "either"},
		{"cron", schedule.Spec{Cron: "61 25 * * *"}, "cron out_of_range, cron out_of_range", "0-59"},
		{"zone", schedule.Spec{Cron: "0 0 * * *", Timezone: "Mars/Base"}, "timezone invalid", "Mars/Base"},
		{"end before start", schedule.Spec{Cron: "0 0 * * *", Start: "2026-02-01", End: "2026-01-01"}, "end out_of_range", "before start"},
		{"never between", schedule.Spec{Cron: "0 0 29 2 *", Start: "2026-01-01", End: "2027-12-31"}, "cron never_fires", "between start and end"},
		{"moments after the end", schedule.Spec{At: []string{"2026-01-02"}, End: "2026-01-01"}, "at never_fires", "between"},
		{"a dialect without cron", schedule.Spec{At: []string{"2026-01-02"}, Dialect: "unix"}, "dialect conflict", "cron"},
		{"a dialect", schedule.Spec{Cron: "0 0 * * *", Dialect: "french"}, "dialect not_in_enum", "quartz"},
		{"too many moments", schedule.Spec{At: long}, "at too_large", "1000"},
		{"moments", schedule.Spec{At: []string{"soon", "2026-03-29 02:30", "9999-01-01"}, Timezone: "Europe/Berlin"}, "at[0] invalid, at[1] invalid, at[2] out_of_range", "leave it out"},
		{"moments too near", schedule.Spec{At: []string{"2026-01-01T00:00:00.100Z", "2026-01-01T00:00:00.200Z"}}, "at out_of_range", "at least 1s"},
		{"jitter", schedule.Spec{Cron: "* * * * *", Jitter: "1m"}, "jitter out_of_range", "1m"},
		{"jitter, no duration", schedule.Spec{Cron: "* * * * *", Jitter: "some"}, "jitter invalid", "duration"},
		{
			"calendars",
			schedule.Spec{Cron: "0 0 * * *", Calendar: &schedule.CalendarRule{Skip: []string{"fine", "holidays"}, Only: []string{"Business_Days", "broken"}, Excluded: "later"}},
			"calendar.skip[1] unknown_calendar, calendar.only[1] invalid, calendar.excluded not_in_enum", "days[0]",
		},
		{"no calendars", schedule.Spec{Cron: "0 0 * * *", Calendar: &schedule.CalendarRule{}}, "calendar required", "skip or in only"},
		{
			"moves each minute",
			schedule.Spec{Cron: "* * * * *", Calendar: &schedule.CalendarRule{Skip: []string{"fine"}, Excluded: "next"}},
			"calendar.excluded conflict", "1h",
		},
		{"misfire", schedule.Spec{Cron: "0 0 * * *", Misfire: &schedule.Misfire{Policy: "some", Max: -1, MaxAge: "-1s", Grace: "x"}}, "misfire.policy not_in_enum, misfire.max out_of_range, misfire.max_age out_of_range, misfire.grace invalid", ""},
		{"misfire of none", schedule.Spec{Cron: "0 0 * * *", Misfire: &schedule.Misfire{Policy: schedule.RunNone, Max: 3, MaxAge: "1h"}}, "misfire.max conflict, misfire.max_age conflict", ""},
		{"misfire without a policy", schedule.Spec{Cron: "0 0 * * *", Misfire: &schedule.Misfire{}}, "misfire.policy required", ""},
		{
			"all at once",
			schedule.Spec{Cron: "x", Timezone: "x", Start: "x", End: "x", Jitter: "x", WorkerGroup: "/", Priority: "x", OnFailure: "x", Overlap: "x"},
			"timezone invalid, start invalid, end invalid, cron invalid, jitter invalid, worker_group invalid_name, priority not_in_enum, on_failure not_in_enum, overlap not_in_enum", "",
		},
	} {
		p, wrong := c.spec.Compile(1, broken, time.Second)
		var got, messages []string
		for _, w := range wrong {
			got, messages = append(got, w.Field+" "+w.Code), append(messages, w.Message)
		}
		if s := strings.Join(got, ", "); s != c.want || p != nil {
			t.Errorf("%s: %s, want %s: %s", c.name, s, c.want, messages)
		}
		if all := strings.Join(messages, "\n"); !strings.Contains(all, c.says) {
			t.Errorf("%s: %s, want %q", c.name, all, c.says)
		}
	}
}

func TestFasterThanAllowedIsRefused(t *testing.T) {
	t.Parallel()
	s := schedule.Spec{Cron: "*/10 * * * * *"}
	if _, wrong := s.Compile(1, nil, time.Minute); len(wrong) != 1 || wrong[0].Field != "cron" || !strings.Contains(wrong[0].Message, "10s apart, at least 1m") {
		t.Errorf("each 10 seconds where a minute is the least: %+v", wrong)
	}
	for _, shortest := range []time.Duration{0, 10 * time.Second} {
		if _, wrong := s.Compile(1, nil, shortest); len(wrong) > 0 {
			t.Errorf("each 10 seconds where %v is the least: %+v", shortest, wrong)
		}
	}
}

func TestAnErrorOfCronHasItsColumn(t *testing.T) {
	t.Parallel()
	_, wrong := schedule.Spec{Cron: "0 61 * * *"}.Compile(1, nil, 0)
	if len(wrong) != 1 || wrong[0].Column != 3 || wrong[0].Line != 1 {
		t.Errorf("%+v, want column 3", wrong)
	}
}

func TestCalendarNamesAreFoldedAndEachOnce(t *testing.T) {
	t.Parallel()
	s := schedule.Spec{Calendar: &schedule.CalendarRule{Skip: []string{"Holidays", "b"}, Only: []string{"business_days", "HOLIDAYS", "A"}}}
	if got := s.CalendarNames(); !slices.Equal(got, []string{"a", "b", "holidays"}) {
		t.Errorf("%q", got)
	}
	if got := (schedule.Spec{}).CalendarNames(); got != nil {
		t.Errorf("without calendars %q", got)
	}
}

func TestABadCalendarNamesItsEntries(t *testing.T) {
	t.Parallel()
	c := schedule.Calendar{Days: []string{"2026-12-25", "02-29", "02-30", "Fri", "fryday", "2026-02-29", "2026-12-26..2026-12-25", "", "2026-12-25..soon"}}
	var got []string
	for _, w := range c.Check("days") {
		got = append(got, w.Field)
	}
	if s := fmt.Sprint(got); s != "[days[2] days[4] days[5] days[6] days[7] days[8]]" {
		t.Errorf("wrong are %s", s)
	}
	if wrong := (schedule.Calendar{}).Check("days"); len(wrong) != 1 || wrong[0].Code != "required" {
		t.Errorf("an empty calendar: %+v", wrong)
	}
	if wrong := (schedule.Calendar{Days: make([]string, 1001)}).Check("days"); len(wrong) != 1 || wrong[0].Code != "too_large" {
		t.Errorf("1001 days: %+v", wrong)
	}
}

// FuzzCompile holds what any document that is taken must keep to: fires go on in order, and none is outside.
func FuzzCompile(f *testing.F) {
	f.Add("0 8 * * *", "", "Europe/Berlin", "2026-01-01", "", "12-25", "next", "1m")
	f.Add("@every 90s", "", "", "", "2026-06-01 05:00", "2026-01-01..2026-03-01", "skip", "")
	f.Add("", "2026-02-28T05:00:00Z", "Asia/Kolkata", "", "", "monday", "previous", "0s")
	from := dag.Millis(time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC).UnixMilli())
	f.Fuzz(func(t *testing.T, expression, at, zone, start, end, day, excluded, jitter string) {
		s := schedule.Spec{Cron: expression, Timezone: zone, Start: start, End: end, Jitter: jitter}
		if at != "" {
			s.At = []string{at}
		}
		if excluded != "" {
			s.Calendar = &schedule.CalendarRule{Skip: []string{"days"}, Excluded: excluded}
		}
		p, wrong := s.Compile(1, map[string]schedule.Calendar{"days": {Days: []string{day}}}, time.Second)
		for _, w := range wrong {
			if w.Field == "" || w.Code == "" || w.Message == "" {
				t.Errorf("an error without its field, code or message: %+v", w)
			}
		}
		if p == nil {
			return
		}
		last := from - 1
		fires, until := p.Fires(from, from.Add(60*24*time.Hour), 50)
		for _, fire := range fires {
			if fire.At <= last || fire.Due < fire.At || fire.At >= until {
				t.Fatalf("a fire at %v, due at %v, after %v, until %v", fire.At, fire.Due, last, until)
			}
			last = fire.At
		}
	})
}
