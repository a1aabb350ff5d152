package main

import (
	"os"
	"strings"
	"testing"
)

// answered is a server that gives what the API's own test keeps.
func answered(t *testing.T, name string) *asked {
	t.Helper()
	text, err := os.ReadFile("../../apiserver/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return newAsked(t, string(text))
}

func TestSchedulesAreShownWithTheirNextFires(t *testing.T) {
	t.Parallel()
	a := answered(t, "schedules")
	code, out, errs := cmd(t, "", "schedule", "list", "alpha/daily", "--enabled", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "alpha/daily") || !strings.Contains(out, "1 moments Europe/Berlin") || !strings.Contains(out, "enabled") {
		t.Errorf("list = %d %q %q", code, out, errs)
	}
	a = answered(t, "schedule")
	code, out, errs = cmd(t, "", "schedule", "get", "alpha/daily", "once", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "2040-01-02T05:00:00+01:00") || !strings.HasPrefix(a.last(), "GET /api/v1/projects/alpha/workflows/daily/schedules/once ") {
		t.Errorf("get = %d %q %q, asked %s", code, out, errs, a.last())
	}
	a = answered(t, "schedule_explain")
	if code, out, errs = cmd(t, "", "schedule", "explain", "alpha/daily", "once", "--server", a.URL); code != exitOK || out != "it fires next at 2040-01-02T05:00:00+01:00\n" {
		t.Errorf("explain = %d %q %q", code, out, errs)
	}
}

func TestAFileOfSchedulesIsCheckedAndSentWhole(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"created": 1, "changed": 0}`)
	const file = "calendars:\n  - {name: holidays, days: [12-25]}\nschedules:\n  - {workflow: daily, name: nightly, cron: 30 2 * * *, calendar: {skip: [holidays]}, params: {day: 7}}\n"
	code, out, errs := cmd(t, file, "schedule", "apply", "shop", "-f", "-", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "1 schedules are new") {
		t.Errorf("apply = %d %q %q", code, out, errs)
	}
	want := []string{
		`PUT /api/v1/projects/shop/schedules {"calendars":[{"name":"holidays","days":["12-25"]}],"preview":true,"schedules":[{"workflow":"daily","name":"nightly","cron":"30 2 * * *","calendar":{"skip":["holidays"]},"params":{"day":"7"}}]}`,
		`PUT /api/v1/projects/shop/calendars/holidays {"days":["12-25"]}`,
		`PUT /api/v1/projects/shop/schedules {"schedules":[{"workflow":"daily","name":"nightly","cron":"30 2 * * *","calendar":{"skip":["holidays"]},"params":{"day":"7"}}],"together":true}`,
	}
	if got := strings.Join(a.calls, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("asked\n%s, want\n%s", got, strings.Join(want, "\n"))
	}
	code, _, errs = cmd(t, strings.ReplaceAll(file, "30 2", "61 2"), "schedule", "apply", "shop", "-f", "-", "--server", a.URL)
	if code != exitUsage || !strings.Contains(errs, "schedules[0].cron") || len(a.calls) != 3 {
		t.Errorf("apply of a bad file = %d %q", code, errs)
	}
}

func TestSchedulesArePausedOneByOneOrMany(t *testing.T) {
	t.Parallel()
	a := answered(t, "schedule")
	if code, _, errs := cmd(t, "", "schedule", "pause", "alpha/daily", "once", "--reason", "month end", "--server", a.URL); code != exitOK {
		t.Errorf("pause = %d %q", code, errs)
	}
	if got, want := a.last(), `POST /api/v1/projects/alpha/workflows/daily/schedules/once/pause {"reason":"month end"}`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	a = newAsked(t, `{"matched": 7, "changed": 5}`)
	code, out, errs := cmd(t, "", "schedule", "resume", "alpha", "--all", "--match", "night", "--preview", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "7 schedules match, 5 are changed") {
		t.Errorf("resume --all = %d %q %q", code, out, errs)
	}
	if got, want := a.last(), `POST /api/v1/projects/alpha/schedules/resume {"q":"night","preview":true}`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	for _, args := range [][]string{{"alpha/daily"}, {"alpha", "once"}, {"alpha/daily", "once", "--match", "x"}, {"alpha", "once", "--all"}} {
		if code, _, _ := cmd(t, "", append(append([]string{"schedule", "pause"}, args...), "--server", a.URL)...); code != exitUsage {
			t.Errorf("pause %v = %d", args, code)
		}
	}
}

func TestAProofThatDoesNotHoldFails(t *testing.T) {
	t.Parallel()
	a := answered(t, "schedule_proof")
	if code, out, errs := cmd(t, "", "schedule", "prove", "alpha/daily", "once", "--from", "2026-03-01T00:00:00Z", "--server", a.URL); code != exitOK || !strings.Contains(out, "the proof holds") {
		t.Errorf("prove = %d %q %q", code, out, errs)
	}
	a = newAsked(t, `{"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "verdict": "fails", "holds": false, "planned": 24, "outcomes": {"fired": 22, "missed": 1}, "open": 0,
		"compared": true, "missing": ["2026-03-01T05:00:00Z"], "unexpected": [], "no_instance": [], "no_fire": ["2026-03-01T06:00:00Z"],
		"wrong_days": [{"day": "2026-02-28", "planned": 24, "counted": 23}]}`)
	code, out, errs := cmd(t, "", "schedule", "prove", "alpha/daily", "once", "--server", a.URL)
	for _, want := range []string{"the proof does not hold", "missing", "an instance without a fire", "2026-02-28: 23 of 24"} {
		if code != exitFailed || !strings.Contains(out, want) {
			t.Errorf("prove = %d %q %q, want %q", code, out, errs, want)
		}
	}
	a = newAsked(t, `{"verdict": "unproven", "planned": 1, "retired": 4711, "why": "the rules were others", "why_code": "changed"}`)
	if code, out, errs := cmd(t, "", "schedule", "prove", "alpha/daily", "once", "--server", a.URL); code != exitUnproven || !strings.Contains(out, "4711") || !strings.Contains(out, "it is not proved; not all was compared: the rules were others") {
		t.Errorf("prove = %d %q %q", code, out, errs)
	}
}

func TestAllSchedulesAreProvedTogether(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "verdict": "unproven", "schedules": 7, "held": 6, "planned": 42, "outcomes": {"fired": 40}, "open": 2,
		"items": [{"project": "alpha", "workflow": "daily", "name": "once", "verdict": "unproven", "why": "the rules were others"}]}`)
	code, out, errs := cmd(t, "", "schedule", "prove", "--project", "alpha", "--from", "2026-03-01T00:00:00Z", "--server", a.URL)
	if code != exitUnproven || !strings.Contains(out, "alpha/daily") || !strings.Contains(out, "the rules were others") || !strings.Contains(out, "42") {
		t.Errorf("prove = %d %q %q", code, out, errs)
	}
	if got, want := a.last(), "GET /api/v1/schedules/proof "; !strings.HasPrefix(got, want) {
		t.Errorf("asked %s, want %s", got, want)
	}
	for _, args := range [][]string{{"alpha/daily"}, {"alpha/daily", "once", "--project", "alpha"}} {
		if code, _, _ := cmd(t, "", append(append([]string{"schedule", "prove"}, args...), "--server", a.URL)...); code != exitUsage {
			t.Errorf("prove %v = %d", args, code)
		}
	}
}

func TestCalendarsAreSetAndDeleted(t *testing.T) {
	t.Parallel()
	a := answered(t, "calendar")
	if code, out, errs := cmd(t, "", "calendars", "set", "shop", "holidays", "12-25", "sunday", "--server", a.URL); code != exitOK || !strings.Contains(out, "2 days") {
		t.Errorf("set = %d %q %q", code, out, errs)
	}
	if got, want := a.last(), `PUT /api/v1/projects/shop/calendars/holidays {"days":["12-25","sunday"]}`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if code, _, errs := cmd(t, "", "calendars", "set", "shop", "holidays", "13-25", "--server", a.URL); code != exitUsage || !strings.Contains(errs, "days[0]") {
		t.Errorf("set of a wrong day = %d %q", code, errs)
	}
	if code, _, errs := cmd(t, "", "calendars", "delete", "shop", "holidays", "--server", a.URL); code != exitOK || !strings.HasPrefix(a.last(), "DELETE /api/v1/projects/shop/calendars/holidays") {
		t.Errorf("delete = %d %q", code, errs)
	}
}

func TestMissedFiresAreRun(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"fires": [{"at": "2026-03-01T00:00:00Z", "instance_id": "42", "started": true}], "left_out": ["2026-03-02T00:00:00Z"]}`)
	code, out, errs := cmd(t, "", "schedule", "run", "shop/daily", "nightly", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "--server", a.URL)
	if got := a.last(); code != exitOK || !strings.Contains(out, "42") || !strings.Contains(out, "left out") || !strings.Contains(got, "/nightly/fires/run") ||
		!strings.Contains(got, `{"at":["2026-03-01T00:00:00Z","2026-03-02T00:00:00Z"]}`) {
		t.Errorf("run = %d %q %q, asked %s", code, out, errs, got)
	}
	a = newAsked(t, `{"fires": [], "left_out": ["2026-03-02T00:00:00Z"]}`)
	if code, out, _ := cmd(t, "", "schedule", "run", "shop/daily", "nightly", "2026-03-02T00:00:00Z", "--server", a.URL); code != exitFailed {
		t.Errorf("nothing to run = %d %q", code, out)
	}
}
