package examples_test

import (
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/trial"
	"github.com/porpoise/porpoise/examples"
)

// TestExamplesDoWhatTheirCasesSay runs every case of every example, as porpoise test does.
func TestExamplesDoWhatTheirCasesSay(t *testing.T) {
	t.Parallel()
	for _, e := range examples.All() {
		t.Run(e.File, func(t *testing.T) {
			t.Parallel()
			plan, wrong := dag.ParsePlan(e.Text, "yaml")
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			suite, wrong := trial.Read(e.Cases, "yaml", plan)
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			if len(suite.Cases) < 3 {
				t.Errorf("%d cases, want 3: one that goes well, one that does not, one at the edge", len(suite.Cases))
			}
			for i := range suite.Cases {
				for _, f := range suite.Run(i).Failures {
					t.Errorf("%s: line %d: %s: expected %s, got %s. %s", suite.Cases[i].Name, f.Line, f.Field, f.Expected, f.Got, f.Hint)
				}
			}
		})
	}
}

// TestExamplesReadWellInAList holds what the console shows of them: a name, and a sentence.
func TestExamplesReadWellInAList(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, e := range examples.All() {
		review := dag.ReviewText(e.Text, "yaml")
		if len(review.Errors)+len(review.Warnings) > 0 {
			t.Fatalf("%s: errors %v, warnings %v", e.File, review.Errors, review.Warnings)
		}
		def := review.Definition
		if other, twice := names[dag.FoldName(def.Name)]; twice {
			t.Errorf("%s and %s have one name", e.File, other)
		}
		names[dag.FoldName(def.Name)] = e.File
		if n := len(def.Description); n < 30 || n > 160 || def.Description[n-1] != '.' {
			t.Errorf("%s: the description has %d bytes, want a sentence of 30 to 160: %q", e.File, n, def.Description)
		}
	}
}
