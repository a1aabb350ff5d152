package docs_test

import (
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/trial"
)

// TestCasesInTheDocumentsPass runs every YAML block of cases against the workflow before it.
func TestCasesInTheDocumentsPass(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, p := range pages(t) {
		workflow := ""
		for _, block := range yamlBlock.FindAllStringSubmatch(p.text, -1) {
			switch {
			case strings.HasPrefix(block[1], "name:"):
				workflow = block[1]
				continue
			case !strings.HasPrefix(block[1], "cases:") && !strings.HasPrefix(block[1], "each:"):
				continue
			}
			plan, wrong := dag.ParsePlan([]byte(workflow), "yaml")
			if len(wrong) > 0 {
				t.Fatalf("%s: the workflow before cases: %v", p.path, wrong)
			}
			suite, wrong := trial.Read([]byte(block[1]), "yaml", plan)
			if len(wrong) > 0 {
				t.Fatalf("%s: cases are refused: %v", p.path, wrong)
			}
			for i := range suite.Cases {
				ran++
				for _, f := range suite.Run(i).Failures {
					t.Errorf("%s: %s: %s: expected %s, got %s. %s", p.path, suite.Cases[i].Name, f.Field, f.Expected, f.Got, f.Hint)
				}
			}
		}
	}
	if ran < 3 {
		t.Errorf("%d cases found in the documents, there should be more", ran)
	}
}
