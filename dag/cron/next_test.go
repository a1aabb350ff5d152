package cron_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests want the same zones everywhere

	"github.com/porpoise/porpoise/dag/cron"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

const layout = "2006-01-02 15:04:05"

// fires returns the fires of a stretch of time, as the clock of a zone shows them.
func fires(t testing.TB, e cron.Expression, from, to time.Time, loc *time.Location, format string) string {
	t.Helper()
	var list []string
	for at, ok := e.Next(from.Add(-1), loc); ok && at.Before(to); at, ok = e.Next(at, loc) {
		list = append(list, at.Format(format))
	}
	return strings.Join(list, ", ")
}

func TestNextIsWhatTheDialectSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		dialect cron.Dialect
		after   string
		want    string // the next fires, as many as are named; "." says that there is no more
	}{
		// Times of the day.
		{"* * * * *", "", "2026-01-01 00:00:00", "2026-01-01 00:01:00, 2026-01-01 00:02:00"},
		{"* * * * * ?", "", "2026-01-01 00:00:00", "2026-01-01 00:00:01, 2026-01-01 00:00:02"},
		{"30 2 * * *", "", "2026-01-01 02:29:59", "2026-01-01 02:30:00, 2026-01-02 02:30:00"},
		{"30 2 * * *", "", "2026-01-01 02:30:00", "2026-01-02 02:30:00"},
		{"*/15 * * * *", "", "2026-12-31 23:44:00", "2026-12-31 23:45:00, 2027-01-01 00:00:00"},
		{"5/15 * * * *", "", "2026-01-01 00:00:00", "2026-01-01 00:05:00, 2026-01-01 00:20:00, 2026-01-01 00:35:00, 2026-01-01 00:50:00, 2026-01-01 01:05:00"},
		{"0 /20 * * * ?", "", "2026-01-01 00:00:00", "2026-01-01 00:20:00, 2026-01-01 00:40:00, 2026-01-01 01:00:00"},
		{"50-10/5 * * * *", "", "2026-01-01 00:00:00", "2026-01-01 00:05:00, 2026-01-01 00:10:00, 2026-01-01 00:50:00, 2026-01-01 00:55:00"},
		{"0 22-2/2 * * *", "", "2026-01-01 00:30:00", "2026-01-01 02:00:00, 2026-01-01 22:00:00, 2026-01-02 00:00:00"},
		{"0,30 9-10 * * *", "", "2026-01-01 00:00:00", "2026-01-01 09:00:00, 2026-01-01 09:30:00, 2026-01-01 10:00:00, 2026-01-01 10:30:00, 2026-01-02 09:00:00"},
		{"15,45 30 2 * * ?", "", "2026-01-01 02:30:15", "2026-01-01 02:30:45, 2026-01-02 02:30:15"},
		// Days of the week: 1 is Monday in Unix, Sunday in Quartz. 1 January 2026 is a Thursday.
		{"0 0 * * 1", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00"},
		{"0 0 0 ? * 1", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00"},
		{"0 0 0 ? * 1", cron.Unix, "2026-01-01 00:00:00", "2026-01-05 00:00:00"},
		{"0 0 * * 0", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
		{"0 0 * * 7", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
		{"0 0 * * 5-7", "", "2026-01-01 00:00:00", "2026-01-02 00:00:00, 2026-01-03 00:00:00, 2026-01-04 00:00:00, 2026-01-09 00:00:00"},
		{"0 0 * * 7-1", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-05 00:00:00, 2026-01-11 00:00:00"},
		{"0 0 * * SAT-MON", "", "2026-01-01 00:00:00", "2026-01-03 00:00:00, 2026-01-04 00:00:00, 2026-01-05 00:00:00, 2026-01-10 00:00:00"},
		{"0 0 0 ? * 7-2", "", "2026-01-01 00:00:00", "2026-01-03 00:00:00, 2026-01-04 00:00:00, 2026-01-05 00:00:00, 2026-01-10 00:00:00"},
		{"0 0 0 ? * mon,Wed", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00, 2026-01-07 00:00:00"},
		{"0 0 0 ? * 2-6", "", "2026-01-02 12:00:00", "2026-01-05 00:00:00"},
		{"0 0 0 ? * L", "", "2026-01-01 00:00:00", "2026-01-03 00:00:00, 2026-01-10 00:00:00"},
		{"0 0 0 ? * 6L", "", "2026-01-01 00:00:00", "2026-01-30 00:00:00, 2026-02-27 00:00:00"},
		{"0 0 * * 6L", "", "2026-01-01 00:00:00", "2026-01-31 00:00:00, 2026-02-28 00:00:00"},
		{"0 0 * * friL", "", "2026-01-01 00:00:00", "2026-01-30 00:00:00"},
		{"0 0 0 ? * 6#3", "", "2026-01-01 00:00:00", "2026-01-16 00:00:00, 2026-02-20 00:00:00"},
		{"0 0 * * 6#3", "", "2026-01-01 00:00:00", "2026-01-17 00:00:00"},
		{"0 0 * * 7#1", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00"},
		{"0 0 0 ? * FRI#5", "", "2026-01-01 00:00:00", "2026-01-30 00:00:00, 2026-05-29 00:00:00"},
		{"0 0 * * MON#1,FRI#3", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00, 2026-01-16 00:00:00, 2026-02-02 00:00:00"},
		// Days of the month.
		{"0 0 31 * *", "", "2026-01-31 00:00:00", "2026-03-31 00:00:00"},
		{"0 0 29 2 *", "", "2026-01-01 00:00:00", "2028-02-29 00:00:00, 2032-02-29 00:00:00"},
		{"0 0 0 29 2 ?", "", "2096-03-01 00:00:00", "2104-02-29 00:00:00"},
		{"0 0 29-2 * *", "", "2026-02-01 00:00:00", "2026-02-02 00:00:00, 2026-03-01 00:00:00, 2026-03-02 00:00:00, 2026-03-29 00:00:00"},
		{"0 0 0 L * ?", "", "2026-02-01 00:00:00", "2026-02-28 00:00:00, 2026-03-31 00:00:00"},
		{"0 0 0 L 2 ?", "", "2028-01-01 00:00:00", "2028-02-29 00:00:00"},
		{"0 0 0 L-3 * ?", "", "2026-02-01 00:00:00", "2026-02-25 00:00:00, 2026-03-28 00:00:00"},
		{"0 0 0 L-30 * ?", "", "2026-01-02 00:00:00", "2026-03-01 00:00:00"},
		{"0 0 0 15W * ?", "", "2026-02-01 00:00:00", "2026-02-16 00:00:00, 2026-03-16 00:00:00, 2026-04-15 00:00:00"},
		{"0 0 0 1W * ?", "", "2026-07-15 00:00:00", "2026-08-03 00:00:00"},
		{"0 0 0 31W * ?", "", "2026-05-15 00:00:00", "2026-05-29 00:00:00, 2026-07-31 00:00:00"},
		{"0 0 0 30W 5 ?", "", "2026-05-15 00:00:00", "2026-05-29 00:00:00"},
		{"0 0 0 LW * ?", "", "2026-01-01 00:00:00", "2026-01-30 00:00:00, 2026-02-27 00:00:00, 2026-03-31 00:00:00"},
		{"0 0 0 L-2W * ?", "", "2026-05-01 00:00:00", "2026-05-29 00:00:00, 2026-06-29 00:00:00"},
		{"0 0 0 1W,15,L * ?", "", "2026-02-01 00:00:00", "2026-02-02 00:00:00, 2026-02-15 00:00:00, 2026-02-28 00:00:00"},
		// Both day fields.
		{"0 0 13 * FRI", "", "2026-02-01 00:00:00", "2026-02-06 00:00:00, 2026-02-13 00:00:00, 2026-02-20 00:00:00, 2026-02-27 00:00:00, 2026-03-06 00:00:00, 2026-03-13 00:00:00"},
		{"0 0 1 * MON", "", "2026-07-01 00:00:00", "2026-07-06 00:00:00, 2026-07-13 00:00:00, 2026-07-20 00:00:00, 2026-07-27 00:00:00, 2026-08-01 00:00:00"},
		{"0 0 */2 * MON", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00, 2026-01-19 00:00:00"},
		{"0 0 1-7 * */7", "", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-02-01 00:00:00"},
		{"0 0 ? * MON", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00"},
		{"0 0 0 * * MON", "", "2026-01-01 00:00:00", "2026-01-05 00:00:00"},
		{"0 0 0 * * *", "", "2026-01-01 00:00:00", "2026-01-02 00:00:00"},
		// Months and years.
		{"0 0 1 nov-feb *", "", "2026-01-01 00:00:00", "2026-02-01 00:00:00, 2026-11-01 00:00:00, 2026-12-01 00:00:00, 2027-01-01 00:00:00"},
		{"0 0 0 1 1/3 ?", "", "2026-01-01 00:00:00", "2026-04-01 00:00:00, 2026-07-01 00:00:00, 2026-10-01 00:00:00, 2027-01-01 00:00:00"},
		{"0 0 0 1 1 ? 2027,2030", "", "2026-01-01 00:00:00", "2027-01-01 00:00:00, 2030-01-01 00:00:00, ."},
		{"0 0 0 1 1 ? 2025-2099/50", "", "2000-01-01 00:00:00", "2025-01-01 00:00:00, 2075-01-01 00:00:00, ."},
		{"0 0 0 1 1 ? *", "", "2098-06-01 00:00:00", "2099-01-01 00:00:00, 2100-01-01 00:00:00"},
		{"0 0 0 1 1 ? 2020", "", "2026-01-01 00:00:00", "."},
		{"0 0 0 1 1 ? 1970", "", "1066-01-01 00:00:00", "1970-01-01 00:00:00, ."},
		// Words.
		{"@yearly", "", "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
		{"@Annually", "", "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
		{"@monthly", "", "2026-01-01 00:00:00", "2026-02-01 00:00:00"},
		{"@weekly", cron.Quartz, "2026-01-01 00:00:00", "2026-01-04 00:00:00"},
		{"@daily", "", "2026-01-01 00:00:00", "2026-01-02 00:00:00"},
		{" @midnight ", "", "2026-01-01 00:00:00", "2026-01-02 00:00:00"},
		{"@hourly", "", "2026-01-01 00:00:00", "2026-01-01 01:00:00"},
		{"@every 90s", "", "2026-01-01 00:00:00", "2026-01-01 00:01:30, 2026-01-01 00:03:00"},
		{"@every 1h30m", "", "2026-01-01 00:00:01", "2026-01-01 01:30:00"},
		// The end of time.
		{"0 0 * * *", "", "9999-12-30 12:00:00", "9999-12-31 00:00:00, ."},
		{"@every 1d", "", "9999-12-30 12:00:00", "9999-12-31 00:00:00, ."},
	} {
		e := parse(t, tt.text, tt.dialect)
		at, err := time.Parse(layout, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Count(tt.want, ",") + 1 {
			next, ok := e.Next(at, nil)
			if !ok {
				got = append(got, ".")
				break
			}
			got, at = append(got, next.Format(layout)), next
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("Next(%q) after %s = %s, want %s", tt.text, tt.after, text, tt.want)
		}
	}
}

// TestClocksThatChangeLoseNoFireAndDoubleNone has the days on which clocks are changed.
func TestClocksThatChangeLoseNoFireAndDoubleNone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		about, text, zone, day, want string
	}{
		// New York, 8 March 2026: 02:00 is followed by 03:00. 1 November: 02:00 EDT is 01:00 EST.
		{"a fixed time in the gap", "30 2 * * *", "America/New_York", "2026-03-08", "03:00:00 EDT"},
		{"several in the gap are one", "0,30 2 * * *", "America/New_York", "2026-03-08", "03:00:00 EDT"},
		{"and one with the time after it", "0,30 2,3 * * *", "America/New_York", "2026-03-08", "03:00:00 EDT, 03:30:00 EDT"},
		{"real time leaves the gap out", "*/30 1-3 * * *", "America/New_York", "2026-03-08", "01:00:00 EST, 01:30:00 EST, 03:00:00 EDT, 03:30:00 EDT"},
		{"a wildcard minute of an hour that is left out", "*/15 2 * * *", "America/New_York", "2026-03-08", ""},
		{"so does an open step", "0 0/15 2 * * ?", "America/New_York", "2026-03-08", ""},
		{"a fixed time that is repeated", "30 1 * * *", "America/New_York", "2026-11-01", "01:30:00 EDT"},
		{"a wildcard is repeated", "*/30 1 * * *", "America/New_York", "2026-11-01", "01:00:00 EDT, 01:30:00 EDT, 01:00:00 EST, 01:30:00 EST"},
		{"every hour is every hour", "0 0 * * * ?", "America/New_York", "2026-11-01", "00:00:00 EDT, 01:00:00 EDT, 01:00:00 EST, 02:00:00 EST, 03:00:00 EST, 04:00:00 EST, 05:00:00 EST"},
		{"the time after the repetition", "0 2 * * *", "America/New_York", "2026-11-01", "02:00:00 EST"},
		{"a range of hours is fixed", "0 0-3 * * *", "America/New_York", "2026-11-01", "00:00:00 EDT, 01:00:00 EDT, 02:00:00 EST, 03:00:00 EST"},
		{"the whole range is a wildcard", "0 0 0-23 * * ?", "America/New_York", "2026-11-01", "00:00:00 EDT, 01:00:00 EDT, 01:00:00 EST, 02:00:00 EST, 03:00:00 EST, 04:00:00 EST, 05:00:00 EST"},
		// Havana, 8 March 2026: midnight is left out. 1 November: 01:00 is 00:00 again.
		{"midnight in the gap", "0 0 * * *", "America/Havana", "2026-03-08", "01:00:00 CDT"},
		{"midnight that is repeated", "0 0 * * *", "America/Havana", "2026-11-01", "00:00:00 CDT"},
		// Lord Howe changes by 30 minutes: 5 April 2026 02:00 is 01:30, 4 October 02:00 is 02:30.
		{"half an hour is left out", "15 2 * * *", "Australia/Lord_Howe", "2026-10-04", "02:30:00 +11"},
		{"half an hour is repeated", "45 1 * * *", "Australia/Lord_Howe", "2026-04-05", "01:45:00 +11"},
		// Troll changes by two hours: 29 March 2026 01:00 is 03:00, 25 October 03:00 is 01:00.
		{"two hours are left out", "0 1,2 * * *", "Antarctica/Troll", "2026-03-29", "03:00:00 +02"},
		{"two hours are repeated", "30 1,2 * * *", "Antarctica/Troll", "2026-10-25", "01:30:00 +02, 02:30:00 +02"},
		// Apia had no 30 December 2011 at all.
		{"a whole day is left out", "0 12 30 * *", "Pacific/Apia", "2011-12-31", "00:00:00 +14"},
		// Santiago, 5 April 2026: midnight is 23:00 again, on the day before.
		{"a repeated hour of yesterday", "*/30 0,23 4-5 4 *", "America/Santiago", "2026-04-05", "00:00:00 -04, 00:30:00 -04"},
		{"@every knows no clock", "@every 30m", "America/New_York", "2026-03-08", "00:00:00 EST, 00:30:00 EST, 01:00:00 EST, 01:30:00 EST, 03:00:00 EDT, 03:30:00 EDT, 04:00:00 EDT, 04:30:00 EDT, 05:00:00 EDT, 05:30:00 EDT"},
	} {
		loc := zone(t, tt.zone)
		day, err := time.ParseInLocation("2006-01-02", tt.day, loc)
		if err != nil {
			t.Fatal(err)
		}
		y, m, d := day.Add(12 * time.Hour).Date()
		from := time.Date(y, m, d, 0, 0, 0, 0, loc)
		to := time.Date(y, m, d, 5, 59, 0, 0, loc)
		if got := fires(t, parse(t, tt.text, cron.Auto), from, to, loc, "15:04:05 MST"); got != tt.want {
			t.Errorf("%s: %q on %s in %s fires at %q, want %q", tt.about, tt.text, tt.day, tt.zone, got, tt.want)
		}
	}
}

// TestTheLastDayOfALeapYearIsNoEnd: for years beyond its tables, package time takes every
// year for one of 365 days.
func TestTheLastDayOfALeapYearIsNoEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Sydney"} {
		loc := zone(t, name)
		from := time.Date(2040, 12, 31, 0, 0, 0, 0, loc)
		for _, text := range []string{"0 12 * * *", "0 */12 * * *"} {
			want := "31 12:00, 01 12:00"
			if strings.Contains(text, "*/12") {
				want = "31 00:00, 31 12:00, 01 00:00, 01 12:00"
			}
			if got := fires(t, parse(t, text, cron.Auto), from, from.AddDate(0, 0, 2), loc, "02 15:04"); got != want {
				t.Errorf("%q in %s fires at %s, want %s", text, name, got, want)
			}
		}
	}
}

// TestATimeThatIsRepeatedAtTheEndOfADayIsNotPassedOver: the next day that fits is far away,
// and the clock goes back to one that does.
func TestATimeThatIsRepeatedAtTheEndOfADayIsNotPassedOver(t *testing.T) {
	t.Parallel()
	loc := zone(t, "America/Santiago")
	from := time.Date(2026, 4, 4, 23, 45, 0, 0, loc)
	if _, offset := from.Zone(); offset != -3*3600 {
		t.Fatalf("%v is not the first of the two", from)
	}
	want := "04 23:00 -04, 04 23:30 -04, 04 23:00 -04"
	if got := fires(t, parse(t, "*/30 23 4 4 *", cron.Auto), from, from.AddDate(1, 0, 0).Add(-30*time.Minute), loc, "02 15:04 MST"); got != want {
		t.Errorf("fires at %s, want %s", got, want)
	}
}

func TestEveryCountsFromItsAnchor(t *testing.T) {
	t.Parallel()
	anchor := time.Date(2026, 1, 1, 10, 0, 7, 5, time.UTC)
	e := parse(t, "@every 7h", cron.Auto).From(anchor)
	want := "2026-01-01 03:00:07, 2026-01-01 10:00:07, 2026-01-01 17:00:07, 2026-01-02 00:00:07"
	if got := fires(t, e, anchor.Add(-8*time.Hour), anchor.Add(15*time.Hour), time.UTC, layout); got != want {
		t.Errorf("@every 7h from 10:00:07 fires at %s, want %s", got, want)
	}
	if e := parse(t, "0 * * * *", cron.Auto); e.From(anchor) != e {
		t.Error("an anchor changes an expression of fields")
	}
}

func TestTheZeroExpressionNeverFires(t *testing.T) {
	t.Parallel()
	if at, ok := (cron.Expression{}).Next(time.Now(), time.UTC); ok {
		t.Errorf("Next of nothing = %v", at)
	}
}

// A search that passes over changes of the clocks must not come out behind what it looks for: in summer the clock on
// the wall is ahead of what it was where the search began.
func TestAFireBehindAChangeOfTheClocksIsNotPassedOver(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	e, err := cron.Parse("0 5 1 7 *", cron.Auto)
	if err != nil {
		t.Fatal(err)
	}
	after := time.Date(2026, 1, 15, 0, 0, 0, 0, berlin)
	for year := 2026; year < 2045; year++ {
		at, ok := e.Next(after, berlin)
		if want := time.Date(year, 7, 1, 5, 0, 0, 0, berlin); !ok || !at.Equal(want) {
			t.Fatalf("after %v it fires at %v, want %v", after, at, want)
		}
		after = time.Date(year+1, 1, 15, 0, 0, 0, 0, berlin)
	}
}
