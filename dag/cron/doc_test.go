package cron_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/cron"
)

// TestEveryExampleOfTheReferenceHolds runs the tables of docs/cron.md: each has an
// expression first, and what becomes of it last.
func TestEveryExampleOfTheReferenceHolds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/cron.md")
	if err != nil {
		t.Fatal(err)
	}
	checked, section := 0, ""
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 3 {
			continue
		}
		example := strings.Trim(cells[0], "`")
		checked++
		switch section {
		case "What a field may hold":
			exampleFires(t, example, strings.Split(cells[2], ", "))
			if same := strings.Trim(cells[1], "`"); same != cells[1] && strings.HasPrefix(example, "@") {
				exampleFires(t, same, strings.Split(cells[2], ", "))
			}
		case "When clocks change":
			loc := zone(t, "Europe/Berlin")
			day, err := time.ParseInLocation(time.DateOnly, cells[1], loc)
			if err != nil {
				t.Fatal(err)
			}
			from := day.Add(time.Hour)
			to := time.Date(day.Year(), day.Month(), day.Day(), 4, 0, 0, 0, loc)
			got := fires(t, parse(t, example, cron.Auto), from, to, loc, "15:04 MST")
			if got == "" {
				got = "none"
			}
			if got != cells[2] {
				t.Errorf("%s on %s fires at %s, want %s", example, cells[1], got, cells[2])
			}
		case "What is refused":
			_, err := cron.Parse(example, cron.Auto)
			wrong, ok := errors.AsType[*cron.Errors](err)
			if !ok || !strings.Contains(err.Error(), cells[2]) || strconv.Itoa(wrong.List[0].Column) != cells[1] {
				t.Errorf("%s = %v, want column %s: %s", example, err, cells[1], cells[2])
			}
		default:
			t.Errorf("an example in %q is not checked: %s", section, line)
		}
	}
	if checked < 45 {
		t.Errorf("only %d examples found: the test or the page is out of date", checked)
	}
}

func exampleFires(t *testing.T, example string, want []string) {
	t.Helper()
	e := parse(t, example, cron.Auto)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, moment := range want {
		next, _ := e.Next(at, time.UTC)
		if got := next.Format(time.DateTime); got != moment {
			t.Errorf("%s fires at %s, want %s", example, got, moment)
		}
		at = next
	}
}
