package schedule_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// documented are the calendars that the examples of docs/schedules.md name.
var documented = map[string]schedule.Calendar{
	"holidays": {Days: []string{"12-25", "12-26"}}, "sundays": {Days: []string{"sunday"}}, "none": {Days: []string{"1999-01-01"}},
}

// example reads a schedule as the tables have it.
func example(t *testing.T, text string) schedule.Spec {
	t.Helper()
	doc, wrong := schedule.Read([]byte("schedules:\n  - "+strings.Replace(text, "{", "{workflow: w, name: n, ", 1)+"\n"), "yaml")
	if len(wrong) > 0 {
		t.Fatalf("%s: %+v", text, wrong)
	}
	return doc.Schedules[0].Spec
}

// TestEveryExampleOfTheReferenceHolds runs the tables of docs/schedules.md and reads its file.
func TestEveryExampleOfTheReferenceHolds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	checked, section, block := map[string]int{}, "", ""
	for line := range strings.Lines(string(text)) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block += code
			continue
		}
		if strings.HasPrefix(block, "schedules:") {
			if doc, wrong := schedule.Read([]byte(block), "yaml"); len(wrong) > 0 || len(doc.Schedules) == 0 {
				t.Errorf("the file of the reference: %+v", wrong)
			}
			checked["file"]++
		}
		block = ""
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " |")
		}
		if len(cells) != 3 || !strings.HasPrefix(line, "| `{") && cells[0] != "nothing said" {
			continue
		}
		checked[section]++
		of := strings.Trim(cells[0], "`")
		switch section {
		case "When clocks change":
			exampleDay(t, of, cells[1], cells[2])
		case "Calendars":
			exampleWeek(t, of, cells[1], cells[2])
		case "Late fires":
			exampleLate(t, of, cells[1], cells[2])
		case "What is refused":
			exampleRefused(t, of, strings.Trim(cells[1], "`"), cells[2])
		default:
			checked[section]--
		}
	}
	for section, want := range map[string]int{"file": 3, "When clocks change": 9, "Calendars": 6, "Late fires": 6, "What is refused": 18} {
		if checked[section] != want {
			t.Errorf("%d examples of %q are found, want %d", checked[section], section, want)
		}
	}
}

func exampleDay(t *testing.T, of, day, want string) {
	t.Helper()
	s := example(t, of)
	s.Timezone = "Europe/Berlin"
	p, wrong := s.Compile(1, documented, time.Second)
	if len(wrong) > 0 {
		t.Fatalf("%s: %+v", of, wrong)
	}
	midnight, err := time.ParseInLocation(time.DateOnly, day, p.Location())
	if err != nil {
		t.Fatal(err)
	}
	four := time.Date(midnight.Year(), midnight.Month(), midnight.Day(), 4, 0, 0, 0, p.Location())
	if got := written(p, midnight, four, "15:04 MST"); got != want {
		t.Errorf("%s on %s fires at %q, want %q", of, day, got, want)
	}
}

func exampleWeek(t *testing.T, of, day, want string) {
	t.Helper()
	s := example(t, of)
	p, wrong := s.Compile(1, documented, time.Second)
	if len(wrong) > 0 {
		t.Fatalf("%s: %+v", of, wrong)
	}
	from, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	if got := written(p, from, from.AddDate(0, 0, 7), "01-02"); got != want {
		t.Errorf("%s from %s fires on %q, want %q", of, day, got, want)
	}
}

func written(p *schedule.Plan, from, until time.Time, layout string) string {
	fires, _ := p.Fires(dag.MillisOf(from), dag.MillisOf(until), 1000)
	var list []string
	for _, f := range fires {
		if f.Skip == "" {
			list = append(list, f.At.Time().In(p.Location()).Format(layout))
		}
	}
	return strings.Join(list, ", ")
}

func exampleLate(t *testing.T, of, fire, missed string) {
	t.Helper()
	s := schedule.Spec{Cron: "0 * * * *"}
	if of != "nothing said" {
		s = example(t, `{cron: "0 * * * *", misfire: `+of+`}`)
	}
	const hour = dag.Millis(3_600_000)
	now := 1000 * hour
	fires, why := 0, map[string]int{}
	for i, o := range compile(t, s, nil).Judge([]dag.Millis{now - 5*hour, now - 4*hour, now - 3*hour, now - 2*hour, now - hour}, now) {
		if o.Fire {
			fires++
		} else {
			why[o.Why]++
		}
		if o.Fire && fires < i-3 {
			t.Errorf("%s: one that is not among the newest fires", of)
		}
	}
	got := map[int]string{0: "none", 1: "the newest", 5: "all"}[fires]
	if got == "" {
		got = "the " + strconv.Itoa(fires) + " newest"
	}
	gone := ""
	for reason, n := range why {
		gone += strconv.Itoa(n) + " `" + reason + "`"
	}
	if got != fire || gone != missed {
		t.Errorf("%s: %s fire and missed are %q, want %s and %q", of, got, gone, fire, missed)
	}
}

func exampleRefused(t *testing.T, of, field, says string) {
	t.Helper()
	spec, wrong := schedule.Spec{}, []dag.FieldError(nil)
	doc, found := schedule.Read([]byte("schedules:\n  - "+strings.Replace(of, "{", "{workflow: w, name: n, ", 1)+"\n"), "yaml")
	if doc != nil {
		spec = doc.Schedules[0].Spec
		_, wrong = spec.Compile(1, documented, time.Second)
	}
	for _, e := range found {
		e.Field = strings.TrimPrefix(e.Field, "schedules[0].")
		wrong = append(wrong, e)
	}
	if len(wrong) != 1 || wrong[0].Field != field || !strings.Contains(wrong[0].Message, says) {
		t.Errorf("%s is refused with %+v, want %s: %s", of, wrong, field, says)
	}
}
