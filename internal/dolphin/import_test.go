package dolphin_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/internal/dolphin"
)

var update = flag.Bool("update", false, "write the files that the golden tests compare with")

// cases are the folders of testdata: an export each, what becomes of it, and the report.
var cases = []string{"chain", "branches", "dependent", "calls", "shops", "odd"}

func read(t testing.TB, name string) *dolphin.Result {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name, "export.json"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := dolphin.Import(text, dolphin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: run the test with -update and look at the difference\ngot\n%s\nwant\n%s", path, got, want)
	}
}

func TestExportsBecomeDefinitionsAndAReport(t *testing.T) {
	t.Parallel()
	for _, name := range cases {
		result := read(t, name)
		var b bytes.Buffer
		for i := range result.Workflows {
			w := &result.Workflows[i]
			w.Refused = nil // what the language takes is another test's matter
			b.WriteString("# " + w.Name + "\n")
			b.Write(w.YAML)
		}
		golden(t, filepath.Join("testdata", name, "definitions.yaml"), b.Bytes())
		b.Reset()
		if err := result.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", name, "report.txt"), b.Bytes())
	}
}

// coming are the task types that an import writes and that are still to come to the language;
// everything else that is refused is a mistake of the import.
var coming = []string{"sql"}

func TestWhatIsWrittenIsAccepted(t *testing.T) {
	t.Parallel()
	for _, name := range cases {
		result := read(t, name)
		for i := range result.Workflows {
			w := &result.Workflows[i]
			for _, e := range w.Refused {
				task, key, _ := strings.Cut(e.Field, "].")
				if (strings.HasSuffix(key, ".when") || strings.HasSuffix(key, ".date")) && toldOf(w, task) {
					continue // what cannot be said here is left to a hand
				}
				if e.Code != dag.CodeUnknownType || !slices.Contains(coming, e.Value) {
					t.Errorf("%s: %s is refused: %s at line %d: %s\n%s", name, w.Name, e.Field, e.Line, e.Message, w.YAML)
				}
			}
		}
	}
	if plain := read(t, "branches").Workflows[0]; plain.Name != "order items" {
		t.Errorf("the first workflow is %s: a sub-workflow comes before the one that runs it", plain.Name)
	}
}

// toldOf tells whether the report says that a condition or a date of a task needs a hand; at is
// tasks[2.
func toldOf(w *dolphin.Workflow, at string) bool {
	i, err := strconv.Atoi(strings.TrimPrefix(at, "tasks["))
	return err == nil && slices.ContainsFunc(w.Tasks[i].Findings, func(f dolphin.Finding) bool {
		return slices.Contains([]string{"expression", "unknown_code", "dependent_date"}, f.Code)
	})
}

func TestEveryFindingNamesAFieldOfTheExport(t *testing.T) {
	t.Parallel()
	for _, name := range cases {
		text, err := os.ReadFile(filepath.Join("testdata", name, "export.json"))
		if err != nil {
			t.Fatal(err)
		}
		root, errs := document.Read(text, "json")
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		result := read(t, name)
		check := func(findings []dolphin.Finding) {
			for _, f := range findings {
				if !exists(root, f.Field) {
					t.Errorf("%s: %s is about %s, which is not there", name, f.Code, f.Field)
				}
			}
		}
		check(result.Findings)
		for _, w := range result.Workflows {
			check(w.Findings)
			for _, task := range w.Tasks {
				check(task.Findings)
			}
			if w.Schedule != nil {
				check(w.Schedule.Findings)
			}
		}
	}
}
