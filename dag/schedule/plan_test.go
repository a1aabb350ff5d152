package schedule_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/schedule"
)

func compile(t rapid.TB, s schedule.Spec, calendars map[string]schedule.Calendar) *schedule.Plan {
	t.Helper()
	p, wrong := s.Compile(7, calendars, time.Second)
	if len(wrong) > 0 {
		t.Fatalf("%+v is refused: %+v", s, wrong)
	}
	return p
}

func millis(t rapid.TB, text string) dag.Millis {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return dag.MillisOf(at)
}

// local writes the fires between two moments as the clocks of the schedule show them, those that are left out in brackets.
func local(t rapid.TB, p *schedule.Plan, from, until string) string {
	t.Helper()
	fires, _ := p.Fires(millis(t, from), millis(t, until), 1000)
	var list []string
	for _, f := range fires {
		text := f.At.Time().In(p.Location()).Format("Mon 01-02 15:04 -0700")
		if f.Skip != "" {
			text = "(" + text + " " + f.Skip + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestFiresAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	holidays := map[string]schedule.Calendar{
		"holidays": {Days: []string{"12-25", "12-26", "2026-12-31..2027-01-03"}},
		"sundays":  {Days: []string{"Sunday"}},
		"summer":   {Days: []string{"2026-07-01", "2026-06-01..2026-06-29", "2026-07-31..2026-08-01", "2026-07-31"}},
		"august":   {Days: []string{"2026-08-01..2026-08-31", "2026-08-01"}},
		"never":    {Days: []string{"1999-01-01"}},
	}
	rule := func(excluded string, skip ...string) *schedule.CalendarRule {
		return &schedule.CalendarRule{Skip: skip, Excluded: excluded}
	}
	only := func(excluded string, only ...string) *schedule.CalendarRule {
		return &schedule.CalendarRule{Only: only, Excluded: excluded}
	}
	const berlin = "Europe/Berlin"
	for _, c := range []struct {
		name        string
		spec        schedule.Spec
		from, until string
		want        string
	}{
		{
			"a time in the gap fires at its end",
			schedule.Spec{Cron: "30 2 * * *", Timezone: berlin},
			"2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z",
			"Sat 03-28 02:30 +0100, Sun 03-29 03:00 +0200, Mon 03-30 02:30 +0200",
		},
		{
			"a time that is shown twice fires at the first",
			schedule.Spec{Cron: "30 2 * * *", Timezone: berlin},
			"2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z",
			"Sun 10-25 02:30 +0200, Mon 10-26 02:30 +0100",
		},
		{
			"what repeats each hour follows real time",
			schedule.Spec{Cron: "30 * * * *", Timezone: berlin},
			"2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z",
			"Sun 10-25 02:30 +0200, Sun 10-25 02:30 +0100",
		},
		{
			"start and end are included",
			schedule.Spec{Cron: "0 0 * * *", Start: "2026-03-02 00:00", End: "2026-03-03 00:00"},
			"2026-02-01T00:00:00Z", "2026-04-01T00:00:00Z",
			"Mon 03-02 00:00 +0000, Tue 03-03 00:00 +0000",
		},
		{
			"a date as the end is the whole of it",
			schedule.Spec{Cron: "0 */12 * * *", End: "2026-03-01"},
			"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z",
			"Sun 03-01 00:00 +0000, Sun 03-01 12:00 +0000",
		},
		{
			"what counts begins at the start",
			schedule.Spec{Cron: "@every 36h", Start: "2026-03-01 06:00"},
			"2026-02-01T00:00:00Z", "2026-03-05T00:00:00Z",
			"Sun 03-01 06:00 +0000, Mon 03-02 18:00 +0000, Wed 03-04 06:00 +0000",
		},
		{
			"moments fire once each",
			schedule.Spec{At: []string{"2026-03-02 05:00", "2026-03-01T05:00:00Z", "2026-03-02T05:00:00Z"}},
			"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z",
			"Sun 03-01 05:00 +0000, Mon 03-02 05:00 +0000",
		},
		{
			"days of a calendar are left out",
			schedule.Spec{Cron: "0 8 * * *", Calendar: rule("", "Holidays")},
			"2026-12-24T00:00:00Z", "2026-12-28T00:00:00Z",
			"Thu 12-24 08:00 +0000, (Fri 12-25 08:00 +0000 calendar), (Sat 12-26 08:00 +0000 calendar), Sun 12-27 08:00 +0000",
		},
		{
			"the next day that counts has one fire",
			schedule.Spec{Cron: "0 8 * * *", Calendar: rule("next", "holidays", "sundays")},
			"2026-12-24T00:00:00Z", "2026-12-29T00:00:00Z",
			"Thu 12-24 08:00 +0000, Mon 12-28 08:00 +0000",
		},
		{
			"a fire moves over a month's end",
			schedule.Spec{Cron: "0 8 31 12 *", Calendar: rule("next", "holidays", "sundays")},
			"2026-12-01T00:00:00Z", "2027-02-01T00:00:00Z",
			"Mon 01-04 08:00 +0000",
		},
		{
			"the last business day of the month",
			schedule.Spec{Cron: "0 0 8 L * ?", Calendar: only("previous", "business_days")},
			"2026-01-15T00:00:00Z", "2026-06-15T00:00:00Z",
			"Fri 01-30 08:00 +0000, Fri 02-27 08:00 +0000, Tue 03-31 08:00 +0000, Thu 04-30 08:00 +0000, Fri 05-29 08:00 +0000",
		},
		{
			"a fire moves to the day before",
			schedule.Spec{Cron: "0 8 1 * *", Calendar: only("previous", "business_days")},
			"2026-01-15T00:00:00Z", "2026-06-15T00:00:00Z",
			"Fri 01-30 08:00 +0000, Fri 02-27 08:00 +0000, Wed 04-01 08:00 +0000, Fri 05-01 08:00 +0000, Mon 06-01 08:00 +0000",
		},
		{
			"a moved time in a gap fires at its end",
			schedule.Spec{Cron: "30 2 28 3 *", Timezone: berlin, Calendar: only("next", "sundays")},
			"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z",
			"Sun 03-29 03:00 +0200",
		},
		{
			"a moved time that is shown twice fires at the first",
			schedule.Spec{Cron: "30 2 24 10 *", Timezone: berlin, Calendar: only("next", "sundays")},
			"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z",
			"Sun 10-25 02:30 +0200",
		},
		{
			"a day within a longer stretch takes nothing from it",
			schedule.Spec{Cron: "0 8 * 7-9 *", Calendar: only("", "summer")},
			"2026-07-30T00:00:00Z", "2026-08-03T00:00:00Z",
			"(Thu 07-30 08:00 +0000 calendar), Fri 07-31 08:00 +0000, Sat 08-01 08:00 +0000, (Sun 08-02 08:00 +0000 calendar)",
		},
		{
			"31 days are near enough",
			schedule.Spec{Cron: "0 8 1 7 *", Calendar: only("next", "summer", "august")},
			"2026-06-30T00:00:00Z", "2026-08-03T00:00:00Z",
			"Sat 08-01 08:00 +0000",
		},
		{
			"where no day is near a fire is skipped",
			schedule.Spec{Cron: "0 8 1 * *", Calendar: only("next", "never")},
			"2026-01-15T00:00:00Z", "2026-03-15T00:00:00Z",
			"(Sun 02-01 08:00 +0000 calendar), (Sun 03-01 08:00 +0000 calendar)",
		},
		{
			"a day that a zone never had",
			schedule.Spec{Cron: "0 8 * * *", Timezone: "Pacific/Apia"},
			"2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z",
			"Thu 12-29 08:00 -1000, Sat 12-31 00:00 +1400, Sat 12-31 08:00 +1400",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := local(t, compile(t, c.spec, holidays), c.from, c.until); got != c.want {
				t.Errorf("fires\n%s, want\n%s", got, c.want)
			}
		})
	}
}

// naive is whether a calendar's entry names a day, by looking at texts.
func naive(entry, day string) bool {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	if first, last, ok := strings.Cut(entry, ".."); ok {
		return first <= day && day <= last
	}
	return entry == day || entry == day[5:] || entry == strings.ToLower(at.Weekday().String())
}

// slow is what a plan's fires are, found by trying: each fire of the expression by itself, each day by its text, each
// moment of a moved one by going through the minutes.
func slow(e cron.Expression, loc *time.Location, entries []string, only bool, excluded string, from, to time.Time) []schedule.Fire {
	counts := func(day string) bool {
		listed := slices.ContainsFunc(entries, func(e string) bool { return naive(e, day) })
		return listed == only
	}
	found := map[dag.Millis]string{}
	const reach = 40 * 24 * time.Hour
	for at, ok := e.Next(from.Add(-reach), loc); ok && at.Before(to.Add(reach)); at, ok = e.Next(at, loc) {
		day := at.Format(time.DateOnly)
		if counts(day) {
			found[dag.MillisOf(at)] = ""
			continue
		}
		moved := false
		for n := 1; n <= 31 && excluded != "skip" && !moved; n++ {
			civil, _ := time.Parse(time.DateOnly, day)
			if excluded == "previous" {
				civil = civil.AddDate(0, 0, -n)
			} else {
				civil = civil.AddDate(0, 0, n)
			}
			if !counts(civil.Format(time.DateOnly)) {
				continue
			}
			want := civil.Format(time.DateOnly) + at.Format(" 15:04")
			minute := civil.Add(-16 * time.Hour)
			for minute.In(loc).Format("2006-01-02 15:04") < want {
				minute = minute.Add(time.Minute)
			}
			found[dag.MillisOf(minute)] = ""
			moved = true
		}
		if !moved {
			found[dag.MillisOf(at)] = schedule.ReasonCalendar
		}
	}
	var list []schedule.Fire
	for at, skip := range found {
		if at >= dag.MillisOf(from) && at < dag.MillisOf(to) {
			list = append(list, schedule.Fire{At: at, Skip: skip})
		}
	}
	slices.SortFunc(list, func(a, b schedule.Fire) int { return int(a.At - b.At) })
	return list
}

// TestFiresAreAsASlowWalkFindsThem takes random expressions, zones and calendars through changes of the clocks, and
// asks for the fires in pieces of random lengths.
func TestFiresAreAsASlowWalkFindsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		number := func(low, high int) int { return rapid.IntRange(low, high).Draw(r, "n") }
		of := func(words ...string) string { return rapid.SampledFrom(words).Draw(r, "word") }
		zone := of("UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "America/New_York")
		expression := fmt.Sprintf("%d %s %s * %s", number(0, 59), of("0", "2", "1,2", "0,12", "*/6"), of("*", "*", "1", "*/5"), of("*", "*", "sat", "mon-fri"))
		from := time.Date(2026, time.Month(number(1, 12)), number(1, 28), number(0, 23), number(0, 59), 0, 0, time.UTC)
		to := from.AddDate(0, 0, number(1, 12))
		var entries []string
		for range number(1, 5) {
			first := from.AddDate(0, 0, number(-20, 20))
			entries = append(entries, of("saturday", "sunday", "monday", first.Format("01-02"), first.Format(time.DateOnly),
				first.Format(time.DateOnly)+".."+first.AddDate(0, 0, number(0, 30)).Format(time.DateOnly)))
		}
		excluded, only := of("skip", "next", "previous"), rapid.Bool().Draw(r, "only")
		rule := &schedule.CalendarRule{Skip: []string{"Days"}, Excluded: excluded}
		if only {
			rule = &schedule.CalendarRule{Only: []string{"DAYS"}, Excluded: excluded}
		}
		s := schedule.Spec{Cron: expression, Timezone: zone, Calendar: rule}
		p := compile(r, s, map[string]schedule.Calendar{"days": {Days: entries}})
		e, err := cron.Parse(expression, cron.Auto)
		if err != nil {
			r.Fatal(err)
		}
		want := slow(e, p.Location(), entries, only, excluded, from, to)
		var got []schedule.Fire
		for at := dag.MillisOf(from); at < dag.MillisOf(to); {
			until := min(at.Add(time.Duration(number(1, 5000))*time.Minute), dag.MillisOf(to))
			fires, planned := p.Fires(at, until, number(1, 5))
			if planned <= at || planned > until {
				r.Fatalf("from %v until %v are told until %v", at, until, planned)
			}
			got, at = append(got, fires...), planned
		}
		for i := range got {
			if got[i].Due != got[i].At {
				r.Fatalf("without jitter the fire of %v is due at %v", got[i].At, got[i].Due)
			}
			got[i].Due = 0
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%+v with %v fires from %v to %v at\n%v, want\n%v", s, entries, from, to, got, want)
		}
	})
}

func TestPlanningGoesOnFromWhereItEnded(t *testing.T) {
	t.Parallel()
	p := compile(t, schedule.Spec{Cron: "* * * * *", End: "2026-03-01T00:05:00Z"}, nil)
	from := millis(t, "2026-03-01T00:00:00Z")
	fires, until := p.Fires(from, from.Add(time.Hour), 2)
	if len(fires) != 2 || until != from.Add(time.Minute)+1 {
		t.Errorf("%v until %d, want two and until just after the second", fires, until-from)
	}
	if fires, until = p.Fires(from, from.Add(time.Minute), 100); len(fires) != 1 || until != from.Add(time.Minute) {
		t.Errorf("%v until %d, want one and a minute", fires, until-from)
	}
	if fires, until = p.Fires(from, from.Add(time.Hour), 6); len(fires) != 6 || until != math.MaxInt64 {
		t.Errorf("%v until %d, want six and for ever", fires, until)
	}
	if fires, until = p.Fires(from.Add(time.Hour), from.Add(2*time.Hour), 6); len(fires) != 0 || until != math.MaxInt64 {
		t.Errorf("after the end %v until %d, want none and for ever", fires, until)
	}
}

func TestJitterIsTheSameForTheSameFire(t *testing.T) {
	t.Parallel()
	spec := schedule.Spec{Cron: "* * * * *", Jitter: "59s"}
	from := millis(t, "2026-03-01T00:00:00Z")
	jitter := func(id int64, from dag.Millis) []time.Duration {
		p, wrong := spec.Compile(id, nil, time.Second)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		fires, _ := p.Fires(from, from.Add(1000*time.Minute), 1000)
		var list []time.Duration
		for _, f := range fires {
			list = append(list, f.Due.Sub(f.At))
		}
		return list
	}
	first := jitter(1, from)
	if !slices.Equal(first, jitter(1, from)) || !slices.Equal(first[10:], jitter(1, from.Add(10*time.Minute))[:990]) {
		t.Error("the same fires have another jitter when they are reckoned again")
	}
	if slices.Equal(first, jitter(2, from)) {
		t.Error("two schedules have the same jitter")
	}
	sum := time.Duration(0)
	for _, j := range first {
		if j < 0 || j > 59*time.Second {
			t.Fatalf("a jitter of %v", j)
		}
		sum += j
	}
	if mean := sum / 1000; mean < 26*time.Second || mean > 33*time.Second {
		t.Errorf("the mean jitter is %v, want about half of 59s", mean)
	}
}

func TestChangesOfClocksAreMarked(t *testing.T) {
	t.Parallel()
	p := compile(t, schedule.Spec{Cron: "30 2 * * *", Timezone: "Europe/Berlin"}, nil)
	if mark, leftOut := p.Mark(millis(t, "2026-03-29T03:00:00+02:00")); mark != cron.MarkGap || leftOut != "02:30:00" {
		t.Errorf("in the gap: %q %q", mark, leftOut)
	}
	if mark, _ := p.Mark(millis(t, "2026-10-25T02:30:00+02:00")); mark != cron.MarkRepeated {
		t.Errorf("in the hour that comes twice: %q", mark)
	}
	if mark, _ := p.Mark(millis(t, "2026-10-26T02:30:00+01:00")); mark != "" {
		t.Errorf("on another day: %q", mark)
	}
}

func TestTheNextFireIsFoundBehindManyThatAreLeftOut(t *testing.T) {
	t.Parallel()
	calendars := map[string]schedule.Calendar{"sundays": {Days: []string{"sunday"}}, "all": {Days: []string{"2000-01-01..2199-12-31"}}}
	from := millis(t, "2026-03-28T22:59:59Z")
	p := compile(t, schedule.Spec{Cron: "* * * * * *", Timezone: "Europe/Berlin", Calendar: &schedule.CalendarRule{Skip: []string{"sundays"}}}, calendars)
	if f, ok := p.NextOn(from); !ok || f.At != millis(t, "2026-03-30T00:00:00+02:00") {
		t.Errorf("after Saturday it fires at %v, %v", f.At.Time(), ok)
	}
	if f, ok := p.NextOn(from - 5000); !ok || f.At != from-4000 {
		t.Errorf("on Saturday it fires at %v, %v", f.At.Time(), ok)
	}
	p = compile(t, schedule.Spec{Cron: "* * * * * *", Calendar: &schedule.CalendarRule{Skip: []string{"all"}}}, calendars)
	if f, ok := p.NextOn(from); ok {
		t.Errorf("where all is left out it fires at %v", f.At.Time())
	}
}
