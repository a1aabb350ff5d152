package moment_test

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/dag/moment"
)

// base is the moment of DolphinScheduler's own examples.
var base = time.Date(2020, 12, 1, 12, 30, 0, 0, time.UTC)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := moment.Location(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestLocationKnowsTheNamesOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "UTC", "UTC": "UTC", "Asia/Shanghai": "Asia/Shanghai"} {
		if loc, err := moment.Location(name); err != nil || loc.String() != want {
			t.Errorf("Location(%q) = %v, %v, want %s", name, loc, err, want)
		}
	}
	for _, name := range []string{"Local", "local", "Europe/Atlantis", "../../etc/passwd", "/etc/localtime", strings.Repeat("x", 100), "CEST", "+02:00"} {
		if loc, err := moment.Location(name); err == nil {
			t.Errorf("Location(%q) = %v, want an error", name, loc)
		}
	}
}

func TestExpandKnowsTheFormsOfDolphinScheduler(t *testing.T) {
	t.Parallel()
	friday := time.Date(2022, 8, 26, 9, 5, 7, 0, time.UTC)
	for _, c := range []struct {
		at         time.Time
		text, want string
	}{
		{base, "$[yyyyMMdd]", "20201201"},
		{base, "$[yyyyMMdd-3]", "20201128"},
		{base, "$[yyyyMMdd+7*2]", "20201215"},
		{base, "$[yyyyMMdd-7*2]", "20201117"},
		{base, "$[add_months(yyyyMMdd,-4)]", "20200801"},
		{base, "$[add_months(yyyyMMdd,12*1)]", "20211201"},
		{base, "$[HHmmss+2/24]", "143000"},
		{base, "$[HHmmss-13/24]", "233000"},
		{base, "$[HHmmss+15/24/60]", "124500"},
		{base, "$[yyyy-MM-dd HH:mm:ss-45/24/60]", "2020-12-01 11:45:00"},
		{base, "$[yyyy-MM-dd-1]", "2020-11-30"},
		{base, "$[yyyy-MM-dd/HH:mm:ss]", "2020-12-01/12:30:00"},
		{base, "$[0] $[12ab] $a[1] $", "$[0] $[12ab] $a[1] $"},
		{base, "from $[yyyyMMdd-1] to $[yyyyMMdd], $$[yyyy]", "from 20201130 to 20201201, $[yyyy]"},
		{base, "$[month_begin(yyyyMMdd,0)] $[month_begin(yyyyMMdd,-1)]", "20201201 20201130"},
		{base, "$[month_end(yyyyMMdd,0)] $[month_end(yyyyMMdd, 1 )]", "20201231 20210101"},
		{base, "$[week_begin(yyyyMMdd,0)] $[week_begin(yyyyMMdd,-1)]", "20201130 20201129"},
		{base, "$[week_end(yyyyMMdd,0)] $[week_end(yyyyMMdd,1)]", "20201206 20201207"},
		{base, "$[timestamp(yyyyMMddHHmmss)]", "1606825800"},
		{base, "$[timestamp(yyyyMMdd000000)]", "1606780800"},
		{base, "$[timestamp(add_months(yyyyMMddHHmmss,-1))]", "1604233800"},
		{base, "$[timestamp(month_begin(yyyyMMdd000000,1))]", "1606867200"},
		{friday, "$[this_day(yyyy-MM-dd)] $[last_day(yyyy-MM-dd)]", "2022-08-26 2022-08-25"},
		{friday, "$[year_week(yyyy-MM-dd)] $[year_week(yyyyMMdd)]", "2022-34 202234"},
		{friday, "$[year_week(yyyy-MM-dd,5)] $[year_week(yyyyMMdd,5)]", "2022-35 202235"},
		{friday, "$[month_first_day(yyyy-MM-dd,-1)] $[month_first_day(yyyyMMdd)]", "2022-07-01 20220801"},
		{friday, "$[month_last_day(yyyy-MM-dd,-1)] $[month_last_day(yyyyMMdd)]", "2022-07-31 20220831"},
		{friday, "$[week_first_day(yyyy-MM-dd,-1)] $[week_first_day(yyyyMMdd)]", "2022-08-15 20220822"},
		{friday, "$[week_last_day(yyyy-MM-dd,-1)] $[week_last_day(yyyyMMdd,0)]", "2022-08-21 20220828"},
		// The end of a month stays one.
		{time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC), "$[add_months(yyyyMMdd,1)] $[month_last_day(yyyyMMdd,1)] $[add_months(yyyyMMdd,-2)]", "20240229 20240229 20231130"},
		// A year's first week has four of its days.
		{time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), "$[year_week(yyyy-MM-dd)] $[YYYY-ww]", "2020-53 2020-53"},
		{time.Date(2018, 12, 31, 0, 0, 0, 0, time.UTC), "$[year_week(yyyyMMdd)] $[year_week(yyyyMMdd,7)]", "201901 201901"},
	} {
		if got, err := moment.Expand(c.text, c.at); got != c.want || err != nil {
			t.Errorf("Expand(%q) = %q, %v, want %q", c.text, got, err, c.want)
		}
		if err := moment.Check(c.text); err != nil {
			t.Errorf("Check(%q) = %v", c.text, err)
		}
	}
}

func TestPatternsAreThoseOfJava(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 9, 0, 5, 7, 123456789, zone(t, "Europe/Berlin"))
	for pattern, want := range map[string]string{
		"y-M-d H:m:s": "2026-3-9 0:5:7", "yy uuuu": "26 2026", "MMM MMMM LL": "Mar March 03", "E EEE EEEE": "Mon Mon Monday",
		"hh KK kk a": "12 00 24 AM", "SSS": "123", "SSSSSSSSS": "123456789", "DDD": "068", "Q QQ": "1 01", "ww w": "11 11",
		"X XX XXX x Z z": "+01 +0100 +01:00 +01 +0100 CET", "VV": "Europe/Berlin", "yyyy'T'HH''mm": "2026T00'05", "'it''s' d": "it's 9", "yyyy年MM月": "2026年03月",
		"yyyy']'MM": "2026]03", "yyyy(MM)": "2026(03)",
	} {
		if got, err := moment.Expand("$["+pattern+"]", at); got != want || err != nil {
			t.Errorf("Expand of %s = %q, %v, want %q", pattern, got, err, want)
		}
	}
}

func TestMistakesAreFoundWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		offset  int
		message string
	}{
		{"a $[yyyy", 2, "no closing ]"},
		{"a $[]", 4, "is empty"},
		{"$[ ]", 2, "is empty"},
		{"$[yyyy$[MM]]", 7, "can't stand in another"},
		{"$[" + strings.Repeat("y", 300) + "]", 0, "within 256 bytes"},
		{"$[yyyyMMbb]", 8, `letter "b" is not known`},
		{"$[foo]", 2, `letter "f" is not known`},
		{"$[yyyyyyyyyyyy]", 2, "more than 9"},
		{"$['T]", 0, "no closing ]"},
		{"$[add_month(yyyy,1)]", 2, "did you mean add_months?"},
		{"$[do_it(yyyy,1)]", 2, "known are add_months"},
		{"$[add_months(yyyyMMdd)]", 13, "a pattern and a number"},
		{"$[add_months(yyyyMMdd,x)]", 13, "a pattern and a number"},
		{"$[add_months(yyyyMMdd,1/2)]", 22, "a whole number, not 1/2"},
		{"$[add_months(yyyyMMdd,1+)]", 24, "wants a number here"},
		{"$[add_months(yyyyMMdd,(1)]", 22, "no closing )"},
		{"$[add_months(yyyyMMdd,1)2)]", 23, "is not expected"},
		{"$[add_months(yyyyMMdd,1/0)]", 23, "divides by zero"},
		{"$[add_months(yyyyMMdd,99999999)]", 22, "too large"},
		{"$[add_months(,1)]", 13, "pattern is empty"},
		{"$[last_day(yyyyMMdd,1)]", 11, "a pattern alone"},
		{"$[week_last_day(yyyy-MM-dd,0) - 1]", 15, "nothing may follow"},
		{"$[yyyyMMdd-1/7/11]", 10, "no whole number of seconds"},
		{"$[yyyyMMdd+9999999]", 10, "too far"},
		{"$[-1]", 2, "pattern is empty"},
		{"$[timestamp(yyyyMMdd)]", 12, "yyyyMMddHHmmss"},
		{"$[timestamp(bad_one(yyyyMMdd))]", 12, "no function"},
		{"$[year_week(yyyy,8)]", 17, "from 1, Monday, to 7"},
		{"$[year_week(yyyy,1/3)]", 17, "whole number"},
		{"$[year_week(b)]", 12, "not known"},
	} {
		err := moment.Check(c.text)
		var wrong *moment.Error
		if !errors.As(err, &wrong) || wrong.Offset != c.offset || !strings.Contains(wrong.Message, c.message) {
			t.Errorf("Check(%.40q) = %v, want %q at %d", c.text, err, c.message, c.offset)
		}
		if _, other := moment.Expand(c.text, base); other == nil || err != nil && other.Error() != err.Error() {
			t.Errorf("Expand(%.40q) = %v, want what Check says: %v", c.text, other, err)
		}
	}
	for _, text := range []string{"$[yyyyMMdd-900000]", "$[add_months(yyyy,12*8000)]", "$[yyyyMMdd+3999999]"} {
		if _, err := moment.Expand(text, base); err == nil || !strings.Contains(err.Error(), "1 to 9999") {
			t.Errorf("Expand(%q) = %v, want an error of the years", text, err)
		}
	}
	if _, err := moment.Expand(strings.Repeat("$[EEEE]", 12_000)+strings.Repeat("x", 20_000), base); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long text is %v, want the bound", err)
	}
}

// TestClockChangesMoveNoDate: days are those of the calendar, hours are time that passes.
func TestClockChangesMoveNoDate(t *testing.T) {
	t.Parallel()
	berlin, cairo := zone(t, "Europe/Berlin"), zone(t, "Africa/Cairo")
	for _, c := range []struct {
		at         time.Time
		text, want string
	}{
		// 29 March 2026 has 23 hours, 25 October 25.
		{time.Date(2026, 3, 30, 0, 30, 0, 0, berlin), "$[yyyyMMddHHmm-1] $[yyyyMMddHHmm-24/24]", "202603290030 202603290030"},
		{time.Date(2026, 3, 30, 0, 30, 0, 0, berlin), "$[yyyyMMddHHmm-23/24]", "202603290030"},
		{time.Date(2026, 3, 29, 1, 30, 0, 0, berlin), "$[HHmm+1/24]", "0330"},
		{time.Date(2026, 10, 26, 0, 30, 0, 0, berlin), "$[yyyyMMddHHmm-1]", "202610250030"},
		{time.Date(2026, 10, 25, 1, 30, 0, 0, berlin), "$[HHmm+1/24] $[HHmm+2/24]", "0230 0230"},
		// The clock shows 02:30 twice: the second time is that of the schedule.
		{time.Unix(1792891800, 0).In(berlin), "$[yyyyMMddHHmmss] $[timestamp(yyyyMMddHHmmss)]", "20261025023000 1792891800"},
		{time.Unix(1792888200, 0).In(berlin), "$[yyyyMMddHHmmss] $[timestamp(yyyyMMddHHmmss)]", "20261025023000 1792888200"},
		// In Cairo 24 April 2026 begins at one o'clock.
		{time.Date(2026, 4, 25, 0, 0, 0, 0, cairo), "$[yyyyMMddHHmm-1] $[timestamp(yyyyMMdd000000)]", "202604240000 1777064400"},
		{time.Date(2026, 4, 24, 12, 0, 0, 0, cairo), "$[yyyyMMdd] $[timestamp(yyyyMMdd000000)]", "20260424 1776981600"},
	} {
		if got, err := moment.Expand(c.text, c.at); got != c.want || err != nil {
			t.Errorf("Expand(%q) at %v = %q, %v, want %q", c.text, c.at, got, err, c.want)
		}
	}
}

// TestCalendarAgreesWithItself compares the functions with each other on random moments
// of zones with changes of many kinds.
func TestCalendarAgreesWithItself(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/Sao_Paulo"), zone(t, "Australia/Lord_Howe"), zone(t, "Pacific/Apia"), zone(t, "Asia/Shanghai")}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-2e9, 4e9).Draw(t, "second"), 0).In(rapid.SampledFrom(zones).Draw(t, "zone"))
		n := rapid.IntRange(-500, 500).Draw(t, "n")
		number := strconv.Itoa(n)
		expand := func(text string) string {
			got, err := moment.Expand(text, at)
			if err != nil {
				t.Fatalf("Expand(%q) at %v: %v", text, at, err)
			}
			return got
		}
		day, err := time.Parse("20060102", expand("$[yyyyMMdd]"))
		if err != nil || day.Format("20060102") != at.Format("20060102") {
			t.Fatalf("the day of %v is %v, %v", at, day, err)
		}
		sign := ""
		if n >= 0 {
			sign = "+"
		}
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		first := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
		y, w := day.ISOWeek()
		for text, want := range map[string]string{
			"$[yyyyMMdd" + sign + number + "]":            day.AddDate(0, 0, n).Format("20060102"),
			"$[week_begin(yyyyMMdd," + number + ")]":      monday.AddDate(0, 0, n).Format("20060102"),
			"$[week_last_day(yyyyMMdd," + number + ")]":   monday.AddDate(0, 0, 7*n+6).Format("20060102"),
			"$[month_first_day(yyyyMMdd," + number + ")]": first.AddDate(0, n, 0).Format("20060102"),
			"$[month_last_day(yyyyMMdd," + number + ")]":  first.AddDate(0, n+1, -1).Format("20060102"),
			"$[month_end(yyyyMMdd," + number + ")]":       first.AddDate(0, 1, n-1).Format("20060102"),
			"$[year_week(yyyyMMdd)]":                      strconv.Itoa(y*100 + w),
			"$[timestamp(yyyyMMddHHmmss)]":                strconv.FormatInt(at.Unix(), 10),
			"$[yyyyMMddHHmmss-1/24/60]":                   at.Add(-time.Minute).Format("20060102150405"),
			"$[yyyy-MM-dd'T'HH:mm:ssXXX]":                 at.Format(time.RFC3339),
		} {
			if strings.Contains(text, "XXX") && at.Add(-2*time.Hour).Format("Z07:00") != at.Add(2*time.Hour).Format("Z07:00") {
				continue // an hour that is there twice
			}
			if got := expand(text); got != want {
				t.Errorf("Expand(%q) at %v = %q, want %q", text, at, got, want)
			}
		}
	})
}

func TestInsideChangesOnlyExpressions(t *testing.T) {
	t.Parallel()
	change := func(e string) string { return "<" + e + ">" }
	for text, want := range map[string]string{
		"a": "a", "a $[yyyy] b $[MM]$$[dd] $[0]": "a $[<yyyy>] b $[<MM>]$$[dd] $[0]", "$[yyyy] $[": "$[yyyy] $[",
	} {
		if got := moment.Inside(text, change); got != want {
			t.Errorf("Inside(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestEveryTimeExpressionOfTheReferenceHolds runs the table of docs/PARAMETERS.md.
func TestEveryTimeExpressionOfTheReferenceHolds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/PARAMETERS.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]*\\$\\[[^`]+)` \\| (?:`([^`]+)`|error)")
	found := row.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		got, err := moment.Expand(m[1], base)
		if (err != nil) != (m[2] == "") || got != m[2] {
			t.Errorf("%s = %q, %v, want %q", m[1], got, err, m[2])
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d examples found: the test or the page is out of date", len(found))
	}
}

func FuzzMoment(f *testing.F) {
	for _, text := range []string{
		"$[yyyyMMdd-1]", "$[add_months(yyyyMMdd,12*(1+1))] x $[0]", "$[timestamp(week_begin(yyyyMMddHHmmss,-1))]", "$[yyyy-MM-dd'T'HH:mm:ss.SSSXXX+1/24/60]",
		"$$[a] $[year_week(yyyy-MM-dd,5)]", "$[EEEE, d MMM yyyy]", "$[month_last_day(yyyyMMdd,-(3))]", "$['", "$[''']",
	} {
		f.Add(text, int64(1606825800))
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, second int64) {
		at := time.Unix(second%200_000_000_000, 0).In(berlin)
		got, err := moment.Expand(text, at)
		check := moment.Check(text)
		var wrong *moment.Error
		switch {
		case check != nil && err == nil:
			t.Fatalf("Check(%q) = %v, Expand finds nothing", text, check)
		case err != nil && (!errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text)):
			t.Fatalf("Expand(%q) = %v: no place in the text", text, err)
		case len(got) > moment.MaxResult:
			t.Fatalf("Expand(%q) gives %d bytes", text, len(got))
		case moment.Inside(text, func(e string) string { return e }) != text:
			t.Fatalf("Inside(%q) changes what is not to be changed", text)
		}
	})
}
