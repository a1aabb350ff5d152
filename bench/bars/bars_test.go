package main

import (
	"strings"
	"testing"
)

func TestReportSaysWhichBarsAreMissed(t *testing.T) {
	t.Parallel()
	r := report{Machine: "a machine", Rows: []row{
		{What: "context", Ours: "1 ms"},
		{What: "good", Limit: "2 ms", Ours: "3 ms", Ratio: 1.5, Bar: "< 4 ms"},
		{What: "bad", Ours: "5 ms", Bar: "< 4 ms", Missed: true},
	}}
	text := r.markdown()
	for _, want := range []string{"| context | - | 1 ms | - | - | - |", "| good | 2 ms | 3 ms | 1.50 | < 4 ms | yes |", "| bad | - | 5 ms | - | < 4 ms | NO |"} {
		if !strings.Contains(text, want) {
			t.Errorf("markdown() = %q, want %q in it", text, want)
		}
	}
	if err := r.missed(); err == nil || err.Error() != "bad: 5 ms, the bar is < 4 ms" {
		t.Errorf("missed() = %v, want the bad row alone", err)
	}
}

func TestWorkflowsHaveTheShapeThatIsMeasured(t *testing.T) {
	t.Parallel()
	if line := chain(3, "shell", "true"); len(line) != 3 || len(line[0].Needs) != 0 || line[2].Needs[0] != "t1" {
		t.Errorf("chain(3) = %+v, want each task to need the one before", line)
	}
	wide := fanOut(5)
	if len(wide) != 7 || len(wide[6].Needs) != 5 || wide[3].Needs[0] != "first" {
		t.Errorf("fanOut(5) = %+v, want 1 -> 5 -> 1", wide)
	}
}
