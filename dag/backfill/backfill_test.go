package backfill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestRangesHaveBothTheirEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, step, zone, from, to string
		want                       string
	}{
		{"days", "1d", "UTC", "2026-02-27", "2026-03-01", "2026-02-27T00:00:00Z 2026-02-28T00:00:00Z 2026-03-01T00:00:00Z"},
		{"one day", "1d", "UTC", "2026-02-27", "2026-02-27", "2026-02-27T00:00:00Z"},
		{"a beginning after midnight leaves the day out", "1d", "UTC", "2026-02-27 00:01", "2026-02-28", "2026-02-28T00:00:00Z"},
		{"an end at midnight is in", "1d", "UTC", "2026-02-27", "2026-02-28T00:00:00Z", "2026-02-27T00:00:00Z 2026-02-28T00:00:00Z"},
		{"days around a change of the clocks", "1d", "Europe/Berlin", "2026-03-28", "2026-03-30", "2026-03-28T00:00:00+01:00 2026-03-29T00:00:00+01:00 2026-03-30T00:00:00+02:00"},
		{"days that begin at one", "1d", "America/Santiago", "2026-09-05", "2026-09-07", "2026-09-05T00:00:00-04:00 2026-09-06T01:00:00-03:00 2026-09-07T00:00:00-03:00"},
		{"hours with one left out", "1h", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 03:00", "2026-03-29T01:00:00+01:00 2026-03-29T03:00:00+02:00"},
		{"the last hour of a day is in", "1h", "UTC", "2026-03-01T23:00", "2026-03-01", "2026-03-01T23:00:00Z"},
		{"a cron fires at both ends", "0 5 * * MON", "Europe/Berlin", "2026-03-23 05:00", "2026-03-30 05:00", "2026-03-23T05:00:00+01:00 2026-03-30T05:00:00+02:00"},
		{"a cron on the whole of the last day", "30 23 * * *", "UTC", "2026-03-01", "2026-03-02", "2026-03-01T23:30:00Z 2026-03-02T23:30:00Z"},
		{"what counts begins at the first moment", "@every 36h", "UTC", "2026-03-01", "2026-03-04", "2026-03-01T00:00:00Z 2026-03-02T12:00:00Z 2026-03-04T00:00:00Z"},
		{"a day that is rare", "0 0 29 2 *", "UTC", "2023-01-01", "2026-12-31", "2024-02-29T00:00:00Z"},
		{"a year that is gone", "0 0 0 1 1 ? 2001", "UTC", "2023-01-01", "2026-12-31", ""},
		{"nothing between", "1d", "UTC", "2026-02-27 01:00", "2026-02-27 02:00", ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, c.zone)
			from, _, err := backfill.Moment(c.from, loc)
			if err != nil {
				t.Fatal(err)
			}
			points, err := backfill.Every(c.step, loc)
			if err != nil {
				points, err = backfill.Cron(c.step, loc, from)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, to, err := backfill.Moment(c.to, loc)
			if err != nil {
				t.Fatal(err)
			}
			dates, count := backfill.Between(points, from, to, 10)
			var got []string
			for _, d := range dates {
				got = append(got, d.In(loc).Format(time.RFC3339))
			}
			if s := strings.Join(got, " "); s != c.want || count != len(got) {
				t.Errorf("%d dates %s, want %s", count, s, c.want)
			}
		})
	}
}

func TestTooManyDatesAreCountedNotKept(t *testing.T) {
	t.Parallel()
	points, err := backfill.Every("1h", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	dates, count := backfill.Between(points, from, from.AddDate(2, 0, 0), 10)
	if len(dates) != 10 || count != (366+365)*24+1 {
		t.Errorf("%d of %d dates", len(dates), count)
	}
	if _, count = backfill.Between(points, from, from.AddDate(1000, 0, 0), 10); count != 100_000 {
		t.Errorf("of a thousand years %d are counted, want 100000", count)
	}
}

func TestWrongMomentsAreRefused(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"":                    "is no moment",
		"2026-02-30":          "is no moment",
		"yesterday":           "is no moment",
		"2026-03-29 02:30":    "the clocks leave it out",
		"2026-03-29T02:30:00": "the clocks leave it out",
	} {
		if _, _, err := backfill.Moment(text, zone(t, "Europe/Berlin")); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Moment(%q): %v, want %q", text, err, why)
		}
	}
	if _, _, err := backfill.Moment("2011-12-30", zone(t, "Pacific/Apia")); err == nil {
		t.Error("a date that Apia never had is taken")
	}
	first, _, err := backfill.Moment("2026-10-25 02:30", zone(t, "Europe/Berlin"))
	if want := "2026-10-25T00:30:00Z"; err != nil || first.UTC().Format(time.RFC3339) != want {
		t.Errorf("a time that comes twice is %v, %v, want %s", first, err, want)
	}
	if _, err := backfill.Cron("61 * * * *", time.UTC, first); err == nil {
		t.Error("minute 61 is taken")
	}
	if _, err := backfill.Every("2d", time.UTC); err == nil {
		t.Error("a step of two days is taken")
	}
}

func FuzzMoment(f *testing.F) {
	for _, s := range []string{"2026-03-01", "2026-03-01T05:00:00Z", "2026-10-25 02:30", "0000-01-01", "9999-12-31T23:59:59+23:59"} {
		f.Add(s)
	}
	loc, err := time.LoadLocation("America/Santiago")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, last, err := backfill.Moment(text, loc)
		if err == nil && last.Before(first) {
			t.Errorf("Moment(%q) = %v, %v", text, first, last)
		}
	})
}

func TestDatesAreSortedAndEachOnce(t *testing.T) {
	t.Parallel()
	for order, want := range map[backfill.Order][]dag.Millis{backfill.Oldest: {1, 2, 3}, backfill.Newest: {3, 2, 1}} {
		if got := backfill.Sorted([]dag.Millis{2, 3, 1, 3, 2}, order); !slices.Equal(got, want) {
			t.Errorf("the %s first: %v, want %v", order, got, want)
		}
	}
}

func TestOnlySomeDatesAreTaken(t *testing.T) {
	t.Parallel()
	had := []backfill.Had{backfill.HadNone, backfill.HadOpen, backfill.HadSuccess, backfill.HadFailure}
	for only, want := range map[backfill.Only]string{
		backfill.All:             "none open success failure",
		backfill.Missing:         "none",
		backfill.OnlyFailed:      "failure",
		backfill.MissingOrFailed: "none failure",
	} {
		var got []string
		for _, h := range had {
			if !only.Leaves(h) {
				got = append(got, string(h))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s takes those that had %s, want %s", only, s, want)
		}
	}
}

func TestABackfillGoesOnAsItsDatesDo(t *testing.T) {
	t.Parallel()
	const w, r, s, ok, bad = backfill.DateWaiting, backfill.DateRunning, backfill.DateStopping, backfill.DateSuccess, backfill.DateFailed
	on, stop := backfill.Rules{Parallel: 3, OnFailure: backfill.Continue}, backfill.Rules{Parallel: 3, OnFailure: backfill.Stop}
	tests := []struct {
		name  string
		state backfill.State
		rules backfill.Rules
		dates backfill.Counts
		want  backfill.State
		start int
	}{
		{"at first as many start as may", backfill.Running, on, backfill.Counts{w: 10}, backfill.Running, 3},
		{"never more than wait", backfill.Running, on, backfill.Counts{w: 2}, backfill.Running, 2},
		{"room is filled", backfill.Running, on, backfill.Counts{w: 10, r: 2, ok: 5}, backfill.Running, 1},
		{"one that is stopped has its room still", backfill.Running, on, backfill.Counts{w: 10, r: 2, s: 1}, backfill.Running, 0},
		{"with fewer at once allowed, none starts", backfill.Running, on, backfill.Counts{w: 10, r: 7}, backfill.Running, 0},
		{"a failure holds up nobody", backfill.Running, on, backfill.Counts{w: 10, bad: 2}, backfill.Running, 3},
		{"a failure ends it", backfill.Running, stop, backfill.Counts{w: 10, r: 2, bad: 1}, backfill.Failed, 0},
		{"a failure ends a paused one", backfill.Paused, stop, backfill.Counts{w: 10, bad: 1}, backfill.Failed, 0},
		{"a paused one starts nothing", backfill.Paused, on, backfill.Counts{w: 10, r: 1}, backfill.Paused, 0},
		{"the last may end in a pause", backfill.Paused, on, backfill.Counts{ok: 10}, backfill.Success, 0},
		{"all well", backfill.Running, on, backfill.Counts{ok: 10}, backfill.Success, 0},
		{"not all well", backfill.Running, on, backfill.Counts{ok: 9, bad: 1}, backfill.Failed, 0},
		{"the last one runs", backfill.Running, on, backfill.Counts{ok: 9, r: 1}, backfill.Running, 0},
		{"what is cancelled stays so", backfill.Cancelled, on, backfill.Counts{w: 10}, backfill.Cancelled, 0},
		{"what has failed stays so", backfill.Failed, on, backfill.Counts{ok: 10}, backfill.Failed, 0},
	}
	for _, c := range tests {
		if next, start := backfill.Next(c.state, c.rules, c.dates); next != c.want || start != c.start {
			t.Errorf("%s: %s and %d start, want %s and %d", c.name, next, start, c.want, c.start)
		}
	}
}

func TestTheRestIsReckonedFromWhatIsDone(t *testing.T) {
	t.Parallel()
	if left, ok := backfill.Left(10*time.Minute, 5, 10); !ok || left != 20*time.Minute {
		t.Errorf("10 dates left are %v, %v, want 20m", left, ok)
	}
	for _, c := range []struct {
		took time.Duration
		done int
	}{{time.Minute, 1}, {0, 5}} {
		if left, ok := backfill.Left(c.took, c.done, 10); ok {
			t.Errorf("after %d dates in %v there is an answer: %v", c.done, c.took, left)
		}
	}
}
