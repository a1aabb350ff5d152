package apiserver

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
)

// imported asks what an export becomes in the project alpha.
func (b *bench) imported(text string, names map[string]string) Imported {
	b.t.Helper()
	body, err := json.Marshal(ImportOptions{Text: text, Names: names})
	if err != nil {
		b.t.Fatal(err)
	}
	return decode[Imported](b.t, b.must(200, "POST", "/api/v1/projects/alpha/import/dolphinscheduler", string(body)))
}

func TestAnExportIsReadAndNothingSaved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	text, err := os.ReadFile("../internal/dolphin/testdata/shops/export.json")
	if err != nil {
		t.Fatal(err)
	}
	got := b.imported(string(text), nil)
	if len(got.Workflows) < 2 || got.Count.Mapped == 0 || got.Count.Hand+got.Count.None == 0 || len(got.Open) != got.Count.Hand+got.Count.None {
		t.Fatalf("the import is %+v", got)
	}
	if !strings.Contains(got.Report, "Left to do") || got.Open[0].About == "" || got.Open[0].Field == "" || got.Open[0].Message == "" {
		t.Errorf("the report is %q, and the first that is open %+v", got.Report, got.Open[0])
	}
	if list := decode[List[Workflow]](t, b.must(200, "GET", "/api/v1/projects/alpha/workflows", "")); len(list.Items) != 0 {
		t.Fatalf("an import that is only read has saved %+v", list.Items)
	}
}

func TestWhatAnExportBecomesCanBeSaved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	text, err := os.ReadFile("../internal/dolphin/testdata/chain/export.json")
	if err != nil {
		t.Fatal(err)
	}
	got := b.imported(string(text), nil)
	if len(got.Workflows) != 1 || len(got.Schedules) != 1 || got.Workflows[0].Exists || len(got.Workflows[0].Errors) != 0 {
		t.Fatalf("the import is %+v", got)
	}
	w, s := got.Workflows[0], got.Schedules[0]
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/"+url.PathEscape(w.Name), w.Text, "Content-Type", "application/yaml")
	if s.Enabled == nil || *s.Enabled {
		t.Errorf("a schedule that fires there would fire here: %+v", s)
	}
	body, err := json.Marshal(map[string]any{"schedules": got.Schedules, "together": true})
	if err != nil {
		t.Fatal(err)
	}
	b.must(200, "PUT", "/api/v1/projects/alpha/schedules", string(body))
	if again := b.imported(string(text), nil); !again.Workflows[0].Exists {
		t.Errorf("%s is not said to be there", w.Name)
	}
}

func TestNamesOfAnImportStandForItsCodes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	export := `[{"processDefinition":{"code":1,"name":"x"},"taskDefinitionList":[{"code":2,"name":"a","taskType":"SHELL","taskParams":{"rawScript":"echo"},"environmentCode":77}],"processTaskRelationList":[]}]`
	got := b.imported(export, map[string]string{"environment:77": "prod"})
	if len(got.Workflows) != 1 || !strings.Contains(got.Workflows[0].Text, "environment: prod") {
		t.Errorf("with a name for its environment the import is %+v", got)
	}
}

func TestWhatIsNoExportIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	for body, field := range map[string]string{
		`{"text":"name: x"}`: "text",
		`{"text":"[]"}`:      "text",
		`{"text":"[]","names":{"environment":"prod"}}`:      "names",
		`{"text":"[]","names":{"planet:7":"prod"}}`:         "names",
		`{"text":"[]","names":{"environment:7":"-wrong-"}}`: "names.environment:7",
		`{"text":"[]","names":{"environment:7":""}}`:        "names.environment:7",
	} {
		p := decode[Problem](t, b.must(422, "POST", "/api/v1/projects/alpha/import/dolphinscheduler", body))
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s is refused with %+v, want the field %s", body, p.Errors, field)
		}
	}
}
