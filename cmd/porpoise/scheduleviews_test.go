package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWhatSchedulesAndTimersDoIsShown(t *testing.T) {
	t.Parallel()
	const file = "schedules:\n  - {workflow: daily, name: nightly, cron: 30 2 * * *}\n"
	for _, c := range []struct {
		answer, in, line string
		wants            []string
		asked            string
	}{
		{"schedule_fire_days", "", "schedule days alpha/daily once --span 2026", []string{"DAY", "FIRED", "DUPLICATE"}, "GET /api/v1/projects/alpha/workflows/daily/schedules/once/fires/days "},
		{"schedule_heat", "", "schedule heat --timezone Europe/Berlin", []string{"2040-01-02", "\n05 "}, "GET /api/v1/schedules/heat "},
		{"schedule_hour", "", "schedule hour 2040-01-02 5", []string{"alpha/daily", "once"}, "GET /api/v1/schedules/hour "},
		{"schedule_rules_preview", file, "schedule preview --project alpha -f -", []string{"nightly", "2026-03-29T03:00:00+02:00", "the clock leaves out 02:30:00"}, `POST /api/v1/projects/alpha/schedules/preview {"cron":"30 2 * * *","workflow":"daily","n":5}`},
		{"calendar", "", "calendars get alpha holidays", []string{"12-25", "sunday"}, "GET /api/v1/projects/alpha/calendars/holidays "},
		{"timer_slices", "", "timer slices", []string{"overdue", "DUE"}, "GET /api/v1/cluster/timers "},
	} {
		a := answered(t, c.answer)
		code, out, errs := cmd(t, c.in, append(strings.Fields(c.line), "--server", a.URL)...)
		for _, want := range c.wants {
			if code != exitOK || !strings.Contains(out, want) {
				t.Errorf("%s = %d %q %q, want %q", c.line, code, out, errs, want)
			}
		}
		if got := a.last(); !strings.HasPrefix(got, c.asked) {
			t.Errorf("%s asked %s, want %s", c.line, got, c.asked)
		}
	}
}

func TestAScheduleIsSetWithoutAFile(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"created": 1, "changed": 0}`)
	code, out, errs := cmd(t, "", "schedule", "set", "shop/daily", "nightly", "30 2 * * *", "--timezone", "Europe/Berlin", "--overlap", "wait", "--param", "day=7", "--server", a.URL)
	want := `PUT /api/v1/projects/shop/schedules {"schedules":[{"workflow":"daily","name":"nightly","cron":"30 2 * * *","timezone":"Europe/Berlin","overlap":"wait","params":{"day":"7"}}],"together":true}`
	if code != exitOK || !strings.Contains(out, "is made") || a.last() != want {
		t.Errorf("set = %d %q %q, asked\n%s, want\n%s", code, out, errs, a.last(), want)
	}
	for _, line := range []string{"schedule set shop/daily nightly x --param day", "schedule preview", "schedule preview x --project shop", "schedule hour today 5", "timer replace shop x n c u"} {
		if code, _, errs := cmd(t, "", append(strings.Fields(line), "--server", a.URL)...); code != exitUsage || errs == "" {
			t.Errorf("%s = %d %q", line, code, errs)
		}
	}
}

func TestATimerIsReplaced(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"code": 0, "msg": "ok", "id": 13}`)
	code, out, errs := cmd(t, "", "timer", "replace", "sales", "12", "ping", "*/10 * * * * *", "http://example.org/ping", "--header", "X-A: 1", "--server", a.URL)
	if got := a.last(); code != exitOK || !strings.Contains(out, "timer 13 is in the place of 12") || !strings.HasPrefix(got, "PUT /api/timer/v1/def ") || !strings.Contains(got, `"id":12`) || !strings.Contains(got, `"X-A":["1"]`) {
		t.Errorf("replace = %d %q %q, asked %s", code, out, errs, got)
	}
}

// verbs says by which verb what the API does with schedules, calendars and timers can be had, or why there is none.
var verbs = map[string]string{
	"list-timer-tasks": "timer records", "get-timer": "timer get", "replace-timer": "timer replace", "create-timer": "timer create", "delete-timer": "timer delete",
	"list-timers": "timer list", "find-timers": "timer list", "enable-timer": "timer enable", "sum-timers": "timer stats", "disable-timer": "timer disable",
	"list-timer-slices": "timer slices", "list-calendars": "calendars", "get-calendar": "calendars get", "put-calendar": "calendars set", "delete-calendar": "calendars delete",
	"put-schedules": "schedule apply", "pause-schedules": "schedule pause", "preview-schedule-rules": "schedule preview", "resume-schedules": "schedule resume",
	"get-schedule": "schedule get", "put-schedule": "schedule set", "delete-schedule": "schedule delete", "explain-schedule": "schedule explain",
	"list-fires": "schedule fires", "list-fire-days": "schedule days", "run-fires": "schedule run", "pause-schedule": "schedule pause",
	"prove-schedule": "schedule prove", "prove-schedules": "schedule prove", "resume-schedule": "schedule resume", "trigger-schedule": "schedule trigger",
	"find-schedules": "schedule list", "heat-of-schedules": "schedule heat", "schedules-of-hour": "schedule hour", "preview-schedule": "schedule preview",
	"read-import":    "import",
	"list-schedules": "-: schedule list PROJECT/WORKFLOW asks find-schedules for the same",
	"call-schedule":  "-: the sender of a webhook calls it, with a signature; schedule webhook says how",
}

// What the API does with schedules and timers the command line does too. The routes are those of the console's types, which are
// written from the API's own document.
func TestEveryRouteOfSchedulesAndTimersHasAVerb(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../ui/src/api/schema.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	about := regexp.MustCompile(`schedule|calendar|timer|/task/v1|/hooks`)
	path, method := regexp.MustCompile(`^    "(/[^"]*)": \{`), regexp.MustCompile(`^        (?:get|put|post|delete|patch): operations\["([^"]+)"\]`)
	at, found := "", map[string]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if m := path.FindStringSubmatch(line); m != nil {
			at = m[1]
		}
		if m := method.FindStringSubmatch(line); m != nil && about.MatchString(at) {
			found[m[1]] = true
		}
	}
	if len(found) < 30 {
		t.Fatalf("only %d routes are found", len(found))
	}
	root := (&cli{}).root()
	for id := range found {
		verb, ok := verbs[id]
		if !ok {
			t.Errorf("%s has no verb: give it one, or say why not", id)
			continue
		}
		if strings.HasPrefix(verb, "-: ") {
			continue
		}
		if c, rest, err := root.Find(strings.Fields(verb)); err != nil || len(rest) > 0 || !is(c, verb) {
			t.Errorf("%s: there is no verb %q", id, verb)
		}
	}
	for id := range verbs {
		if !found[id] {
			t.Errorf("there is no route %s", id)
		}
	}
}

// is says that a command is the one of that name below the root.
func is(c *cobra.Command, verb string) bool {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return name == verb
}
