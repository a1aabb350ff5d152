package figures

import (
	"strings"
	"testing"
)

func TestReportSaysWhichBarsAreMissed(t *testing.T) {
	t.Parallel()
	r := Report{Machine: "a machine", Rows: []Row{
		{What: "context", Ours: "1 ms"},
		{What: "good", Limit: "2 ms", Ours: "3 ms", N: 5, Ratio: 1.5, Bar: "< 4 ms"},
		{What: "bad", Ours: "5 ms", Bar: "< 4 ms", Missed: true},
	}}
	text := r.Markdown()
	for _, want := range []string{"| context | - | 1 ms | - | - | - | - |", "| good | 2 ms | 3 ms | 5 | 1.50 | < 4 ms | yes |", "| bad | - | 5 ms | - | - | < 4 ms | NO |"} {
		if !strings.Contains(text, want) {
			t.Errorf("Markdown() = %q, want %q in it", text, want)
		}
	}
	if err := r.Missed(); err == nil || err.Error() != "bad: 5 ms, the bar is < 4 ms" {
		t.Errorf("Missed() = %v, want the bad row alone", err)
	}
}
