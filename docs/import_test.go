package docs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/internal/dolphin"
)

// TestTheImportsTableIsTheCodes holds docs/IMPORT.md to the table that the import goes by.
func TestTheImportsTableIsTheCodes(t *testing.T) {
	t.Parallel()
	var want []string
	for _, r := range dolphin.Rules() {
		to := r.To
		if to != "" {
			to = "`" + to + "`"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", r.Code, r.From, r.Kind, to, r.About))
	}
	sameLines(t, "IMPORT.md", "| Code | There |", want)
}

// TestTheTableOfDatesIsTheCodes holds docs/dates.md to the date values.
func TestTheTableOfDatesIsTheCodes(t *testing.T) {
	t.Parallel()
	var want []string
	for _, name := range interval.Names() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", name, interval.CycleOf(name), interval.About(name)))
	}
	sameLines(t, "dates.md", "| Value | Cycle |", want)
}

// sameLines compares the rows of the table that begins with head.
func sameLines(t *testing.T, page, head string, want []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n"+head)
	if !found {
		t.Fatalf("docs/%s has no table %s", page, head)
	}
	var got []string
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| ---") {
			got = append(got, line)
		} else if len(got) > 0 {
			break
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("docs/%s lacks the row\n%s", page, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("docs/%s has a row that the code has not:\n%s", page, line)
		}
	}
}
