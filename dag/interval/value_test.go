package interval_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests want the same zones everywhere

	"github.com/porpoise/porpoise/dag/interval"
)

// zones are of the tests: changes of an hour, of half an hour, none; and such as left out
// midnight (Sao Paulo), went back across it (St. John's), began a day at 00:15 (Kathmandu)
// or left out a day (Apia).
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai",
	"America/Sao_Paulo", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "America/Havana", "Asia/Amman",
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func moment(t testing.TB, text, in string) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func of(t testing.TB, value string, at time.Time) []interval.Interval {
	t.Helper()
	got, err := interval.Of(value, at)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestEachValueMeansItsIntervals says for each date value which intervals it means on a
// Wednesday, as DolphinScheduler 3.2.2 has them; thisMonthEnd is the exception.
func TestEachValueMeansItsIntervals(t *testing.T) {
	t.Parallel()
	days := func(from, to string) string { return "days " + from + " to " + to }
	hours := func(from, to string) string { return "hours " + from + " to " + to }
	want := map[string]string{
		"currentHour":    hours("2024-03-13 11:00", "2024-03-13 12:00"),
		"last1Hour":      hours("2024-03-13 10:00", "2024-03-13 11:00"),
		"last2Hours":     hours("2024-03-13 09:00", "2024-03-13 11:00"),
		"last3Hours":     hours("2024-03-13 08:00", "2024-03-13 11:00"),
		"last24Hours":    hours("2024-03-12 01:00", "2024-03-13 01:00"),
		"today":          days("2024-03-13", "2024-03-14"),
		"last1Days":      days("2024-03-12", "2024-03-13"),
		"last2Days":      days("2024-03-11", "2024-03-13"),
		"last3Days":      days("2024-03-10", "2024-03-13"),
		"last7Days":      days("2024-03-06", "2024-03-13"),
		"thisWeek":       days("2024-03-11", "2024-03-14"),
		"lastWeek":       days("2024-03-04", "2024-03-11"),
		"lastMonday":     days("2024-03-04", "2024-03-05"),
		"lastTuesday":    days("2024-03-05", "2024-03-06"),
		"lastWednesday":  days("2024-03-06", "2024-03-07"),
		"lastThursday":   days("2024-03-07", "2024-03-08"),
		"lastFriday":     days("2024-03-08", "2024-03-09"),
		"lastSaturday":   days("2024-03-09", "2024-03-10"),
		"lastSunday":     days("2024-03-10", "2024-03-11"),
		"thisMonth":      days("2024-03-01", "2024-03-14"),
		"thisMonthBegin": days("2024-03-01", "2024-03-02"),
		"thisMonthEnd":   days("2024-03-31", "2024-04-01"),
		"lastMonth":      days("2024-02-01", "2024-03-01"),
		"lastMonthBegin": days("2024-02-01", "2024-02-02"),
		"lastMonthEnd":   days("2024-02-29", "2024-03-01"),
	}
	at := moment(t, "2024-03-13 11:30:45", "Asia/Shanghai")
	for _, name := range interval.Names() {
		got := of(t, name, at)
		unit, form, step := "days ", time.DateOnly, 24*time.Hour
		if interval.CycleOf(name) == interval.CycleHour {
			unit, form, step = "hours ", "2006-01-02 15:04", time.Hour
		}
		for k, i := range got {
			if i.To.Sub(i.From) != step || k > 0 && !got[k-1].To.Equal(i.From) {
				t.Errorf("%s: interval %d is %v: want %v each, without gaps", name, k, i, step)
			}
		}
		said := unit + got[0].From.Format(form) + " to " + got[len(got)-1].To.Format(form)
		if said != want[name] {
			t.Errorf("%s means %s, want %s", name, said, want[name])
		}
		delete(want, name)
		if interval.About(name) == "" {
			t.Errorf("%s is not said in words", name)
		}
	}
	for name := range want {
		t.Errorf("%s is no date value", name)
	}
}

// TestDaysAreThoseOfTheClock walks through years in steps of 53 minutes and holds each
// day against what the clock shows.
func TestDaysAreThoseOfTheClock(t *testing.T) {
	t.Parallel()
	for _, name := range zones[:5] {
		loc := zone(t, name)
		for at := time.Date(2023, 12, 20, 0, 0, 0, 0, loc); at.Year() < 2025; at = at.Add(53 * time.Minute) {
			day := of(t, "today", at)[0]
			for _, edge := range []struct {
				at  time.Time
				day int
			}{{day.From.Add(-1), -1}, {day.From, 0}, {at, 0}, {day.To.Add(-1), 0}, {day.To, 1}} {
				want := time.Date(at.Year(), at.Month(), at.Day()+edge.day, 12, 0, 0, 0, loc)
				if edge.at.YearDay() != want.YearDay() {
					t.Fatalf("today at %v is %v: %v is not on %s", at, day, edge.at, want.Format(time.DateOnly))
				}
			}
		}
	}
}

func TestDaysWithAChangeOfClocksAreOneDay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		zone, day string
		length    time.Duration
		hours     int
	}{
		{"Europe/Berlin", "2024-03-31", 23 * time.Hour, 23},
		{"Europe/Berlin", "2024-10-27", 25 * time.Hour, 25},
		{"America/New_York", "2024-03-10", 23 * time.Hour, 23},
		{"America/New_York", "2024-11-03", 25 * time.Hour, 25},
		{"Australia/Lord_Howe", "2024-04-07", 24*time.Hour + 30*time.Minute, 24},
		{"Australia/Lord_Howe", "2024-10-06", 23*time.Hour + 30*time.Minute, 23},
		{"Asia/Shanghai", "2024-03-31", 24 * time.Hour, 24},
		{"America/Sao_Paulo", "2018-11-04", 23 * time.Hour, 23},
		{"America/Havana", "2024-11-03", 25 * time.Hour, 25},
		{"Asia/Amman", "2021-10-29", 25 * time.Hour, 25}, // midnight twice, and time.Date says the second
	}
	for _, tt := range tests {
		day := of(t, "today", moment(t, tt.day+" 15:00:00", tt.zone))[0]
		next := of(t, "last1Days", day.To)
		if len(next) != 1 || !next[0].From.Equal(day.From) || !next[0].To.Equal(day.To) {
			t.Errorf("%s %s: the day after calls it %v, the day itself %v", tt.zone, tt.day, next, day)
		}
		hours := hoursOf(t, day)
		if got := day.To.Sub(day.From); got != tt.length || len(hours) != tt.hours {
			t.Errorf("%s %s has %v and %d hours, want %v and %d", tt.zone, tt.day, got, len(hours), tt.length, tt.hours)
		}
	}
}

// hoursOf collects the hours from the begin of an interval to its end, each by currentHour.
func hoursOf(t testing.TB, of1 interval.Interval) []interval.Interval {
	t.Helper()
	var hours []interval.Interval
	for at := of1.From; at.Before(of1.To); {
		hour := of(t, "currentHour", at)[0]
		if !hour.From.Equal(at) || !hour.To.After(at) {
			t.Fatalf("the hour at %v is %v: it should begin there", at, hour)
		}
		hours = append(hours, hour)
		at = hour.To
		if len(hours) > 50 {
			t.Fatalf("%v has no end of hours", of1)
		}
	}
	if end := hours[len(hours)-1].To; !end.Equal(of1.To) {
		t.Fatalf("the hours of %v end at %v", of1, end)
	}
	return hours
}

// TestIntervalsHoldTogether draws moments in all zones and holds what must always be so.
func TestIntervalsHoldTogether(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 800 {
		name := zones[random.IntN(len(zones))]
		at := time.Unix(random.Int64N(70*365*86400), random.Int64N(1e9)).In(zone(t, name))
		holdTogether(t, at)
	}
	// Around each change of clocks, where chance rarely comes.
	for _, name := range zones {
		at := time.Date(1985, 12, 1, 0, 0, 0, 0, zone(t, name))
		for {
			_, next := at.ZoneBounds()
			if next.IsZero() || next.Year() > 2026 {
				break
			}
			for _, d := range []time.Duration{-25 * time.Hour, -time.Hour, -time.Nanosecond, 0, 30 * time.Second, time.Hour, 25 * time.Hour, 7 * 24 * time.Hour} {
				holdTogether(t, next.Add(d))
			}
			at = next
		}
	}
}

// Package time gives every year after 2037 365 days where it tells how long a zone's offset lasts.
func TestValuesHoldOnTheLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	for _, name := range zones {
		for year := 2040; year < 2070; year += 4 {
			holdTogether(t, time.Date(year, 12, 31, 10, 30, 0, 0, zone(t, name)))
		}
	}
}

func holdTogether(t *testing.T, at time.Time) {
	t.Helper()
	for _, name := range interval.Names() {
		got := of(t, name, at)
		if len(got) == 0 {
			t.Fatalf("%s at %v means nothing", name, at)
		}
		span, err := interval.Span(name, at)
		if err != nil || !span.From.Equal(got[0].From) || !span.To.Equal(got[len(got)-1].To) {
			t.Fatalf("Span(%s, %v) = %v, %v", name, at, span, err)
		}
		for k, i := range got {
			if !i.From.Before(i.To) || k > 0 && !i.From.Equal(got[k-1].To) {
				t.Fatalf("%s at %v: interval %d of %v is empty or leaves a gap", name, at, k, got)
			}
			if i.From.Location() != at.Location() {
				t.Fatalf("%s at %v is told in %v", name, at, i.From.Location())
			}
			if interval.CycleOf(name) != interval.CycleHour {
				if day := of(t, "today", i.From)[0]; !day.From.Equal(i.From) || !day.To.Equal(i.To) {
					t.Fatalf("%s at %v: %v is not the day %v", name, at, i, day)
				}
			}
		}
		holds := span.Holds(at)
		switch current := map[string]bool{"currentHour": true, "today": true, "thisWeek": true, "thisMonth": true}[name]; {
		case current && !holds:
			t.Fatalf("%s at %v is %v, without the moment itself", name, at, span)
		case !current && strings.HasPrefix(name, "last") && name != "last24Hours" && (holds || span.From.After(at)):
			t.Fatalf("%s at %v is %v, not over", name, at, span)
		}
	}
	lengths(t, at)
	monday := of(t, "thisWeek", at)[0].From
	if wd := weekdayOf(t, monday); wd != time.Monday && at.Location().String() != "Pacific/Apia" {
		t.Fatalf("the week of %v begins on %v, a %v", at, monday, wd)
	}
	before, _ := interval.Span("lastWeek", at)
	if !before.To.Equal(monday) {
		t.Fatalf("the week before %v ends at %v, the week begins at %v", at, before.To, monday)
	}
	for k, name := range []string{"lastMonday", "lastTuesday", "lastWednesday", "lastThursday", "lastFriday", "lastSaturday", "lastSunday"} {
		if week, day := of(t, "lastWeek", at), of(t, name, at)[0]; len(week) == 7 && day != week[k] {
			t.Fatalf("%s at %v is %v, in lastWeek it is %v", name, at, day, week[k])
		}
	}
	month, begin, end := of(t, "lastMonth", at), of(t, "lastMonthBegin", at)[0], of(t, "lastMonthEnd", at)[0]
	if month[0] != begin || month[len(month)-1] != end {
		t.Fatalf("lastMonth at %v is %v, its begin %v, its end %v", at, month, begin, end)
	}
	last := of(t, "thisMonthEnd", at)[0]
	if begin := of(t, "thisMonthBegin", last.To)[0]; !begin.From.Equal(last.To) {
		t.Fatalf("the month of %v ends at %v, the next one begins at %v", at, last.To, begin.From)
	}
	hoursOf(t, of(t, "today", at)[0])
	if hours := of(t, "last3Hours", at); !hours[2].To.Equal(of(t, "currentHour", at)[0].From) {
		t.Fatalf("last3Hours at %v end at %v", at, hours[2].To)
	}
}

// lengths holds how many intervals a value means where no day is left out.
func lengths(t *testing.T, at time.Time) {
	t.Helper()
	for name, want := range map[string]int{"last1Hour": 1, "last2Hours": 2, "last3Hours": 3, "last1Days": 1, "last2Days": 2, "last3Days": 3, "last7Days": 7} {
		if got := len(of(t, name, at)); got != want {
			t.Fatalf("%s at %v has %d intervals", name, at, got)
		}
	}
	if at.Location().String() == "Pacific/Apia" && at.Year() > 2010 && at.Year() < 2013 {
		return
	}
	if got := len(of(t, "lastWeek", at)); got != 7 {
		t.Fatalf("lastWeek at %v has %d days", at, got)
	}
	begin, _ := interval.Span("lastMonth", at)
	noon := begin.From.Add(12 * time.Hour)
	want := time.Date(noon.Year(), noon.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if got := len(of(t, "lastMonth", at)); got != want {
		t.Fatalf("lastMonth at %v has %d days, the calendar has %d", at, got, want)
	}
}

// weekdayOf asks at noon: the first minutes of a day may show the date before.
func weekdayOf(t testing.TB, day time.Time) time.Weekday {
	t.Helper()
	return day.Add(12 * time.Hour).Weekday()
}

func TestLeapYears(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]int{1900: 28, 2000: 29, 2023: 28, 2024: 29} {
		at := time.Date(year, 3, 31, 23, 0, 0, 0, time.UTC)
		if got := len(of(t, "lastMonth", at)); got != want {
			t.Errorf("February %d has %d days, want %d", year, got, want)
		}
	}
}

// TestAWholeDayMayBeMissing is Samoa, which went from 29 to 31 December 2011.
func TestAWholeDayMayBeMissing(t *testing.T) {
	t.Parallel()
	at := moment(t, "2011-12-31 08:00:00", "Pacific/Apia")
	if day := of(t, "last1Days", at)[0]; day.From.Format(time.DateOnly) != "2011-12-29" || !day.To.Equal(of(t, "today", at)[0].From) {
		t.Errorf("the day before %v is %v", at, day)
	}
	if got := len(of(t, "lastMonth", moment(t, "2012-01-10 00:00:00", "Pacific/Apia"))); got != 30 {
		t.Errorf("December 2011 had %d days in Samoa, want 30", got)
	}
}

func TestUnknownValuesAreRefusedWithWhatWasMeant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"last1Day":                      `did you mean "last1Days"`,
		"lastMondey":                    `did you mean "lastMonday"`,
		"Today":                         `did you mean "today"`,
		"":                              "known are currentHour, last1Hour",
		"next week, if it doesn't rain": "known are",
	} {
		_, err := interval.Of(text, time.Now())
		if check := interval.Check(text); !errors.Is(err, interval.ErrUnknownValue) || check.Error() != err.Error() {
			t.Errorf("Of(%q) = %v, Check %v", text, err, check)
		}
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Of(%q) = %v, want %s", text, err, want)
		}
		if interval.CycleOf(text) != "" || interval.About(text) != "" {
			t.Errorf("%q has a cycle", text)
		}
	}
}

func FuzzOf(f *testing.F) {
	for k, name := range interval.Names() {
		f.Add(name, int64(1711846800+k*3600), zones[k%len(zones)])
	}
	f.Add("last1Day", int64(0), "UTC")
	f.Fuzz(func(t *testing.T, value string, unix int64, zone string) {
		loc, err := time.LoadLocation(zone)
		if err != nil || unix < -1<<36 || unix > 1<<36 {
			t.Skip()
		}
		at := time.Unix(unix, 0).In(loc)
		got, err := interval.Of(value, at)
		if known := slices.Contains(interval.Names(), value); known != (err == nil) || known != (interval.Check(value) == nil) {
			t.Fatalf("Of(%q) = %v, Check %v", value, err, interval.Check(value))
		}
		for k, i := range got {
			if !i.From.Before(i.To) || k > 0 && !i.From.Equal(got[k-1].To) || len(got) > 31 {
				t.Fatalf("Of(%q, %v) = %v", value, at, got)
			}
		}
	})
}

func BenchmarkOfThisMonth(b *testing.B) {
	at := moment(b, "2024-03-31 11:30:45", "Europe/Berlin")
	for b.Loop() {
		of(b, "thisMonth", at)
	}
}
