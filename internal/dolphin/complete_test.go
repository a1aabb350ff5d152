package dolphin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/internal/dolphin"
)

// all returns every finding of a result.
func all(r *dolphin.Result) []dolphin.Finding {
	list := slices.Clone(r.Findings)
	for _, w := range r.Workflows {
		list = append(list, w.Findings...)
		for _, task := range w.Tasks {
			list = append(list, task.Findings...)
		}
		if w.Schedule != nil {
			list = append(list, w.Schedule.Findings...)
		}
	}
	return list
}

func codes(r *dolphin.Result) map[string]bool {
	seen := map[string]bool{}
	for _, f := range all(r) {
		seen[f.Code] = true
	}
	return seen
}

// passedOver are objects of which the fields say nothing: maps and copies of what stands
// elsewhere.
var passedOver = []string{"globalParamMap", "globalParamList", "taskParamMap", "taskParamList"}

// TestNoFieldIsLeftOutSilently puts a field that nobody knows into each object of each
// export, one at a time, and wants to read of it.
func TestNoFieldIsLeftOutSilently(t *testing.T) {
	t.Parallel()
	const unknown = "brand_new"
	for _, name := range cases {
		text, err := os.ReadFile(filepath.Join("testdata", name, "export.json"))
		if err != nil {
			t.Fatal(err)
		}
		var root any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&root); err != nil {
			t.Fatal(err)
		}
		eachObject(root, "", func(path string, o map[string]any) {
			o[unknown] = "x"
			changed, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			delete(o, unknown)
			r, err := dolphin.Import(changed, dolphin.Options{})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, path, err)
			}
			if !slices.ContainsFunc(all(r), func(f dolphin.Finding) bool {
				return f.Kind.Open() && (f.Field == document.FieldKey(path, unknown) || strings.HasPrefix(path, f.Field) && strings.Contains(f.Message, unknown))
			}) {
				t.Errorf("%s: nothing is said of %s.%s", name, path, unknown)
			}
		})
	}
}

func eachObject(v any, path string, visit func(path string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(path, v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(passedOver, key) {
				eachObject(v[key], document.FieldKey(path, key), visit)
			}
		}
	case []any:
		for i := range v {
			eachObject(v[i], path+"["+strconv.Itoa(i)+"]", visit)
		}
	}
}

// TestEveryRuleIsSeen holds the table to the code: each of its lines is something that an
// import of the test's exports says.
func TestEveryRuleIsSeen(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"more": true, "list_cut": true} // TestWhatIsSaidIsBounded has them
	for _, name := range cases {
		maps.Copy(seen, codes(read(t, name)))
	}
	text, err := os.ReadFile("testdata/odd/export.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := dolphin.Import(text, dolphin.Options{Names: named})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(seen, codes(r))
	for _, rule := range dolphin.Rules() {
		if !seen[rule.Code] {
			t.Errorf("%s: no export of the tests has it", rule.Code)
		}
		if rule.Kind == dolphin.Mapped && rule.To == "" && rule.Code != "param_passed" && rule.Code != "sql_type" {
			t.Errorf("%s is mapped to nothing", rule.Code)
		}
	}
}

// named are names for what the odd export knows by its code alone.
var named = map[string]string{
	"environment:12610318974999": "prod", "task_group:4": "heavy", "workflow:42": "the answer", "workflow:1": "upstream", "task:2": "its task",
	"project:12610318974784": "dwh",
}

func TestNamesForCodesMayBeGiven(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/odd/export.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := dolphin.Import(text, dolphin.Options{Names: named})
	if err != nil {
		t.Fatal(err)
	}
	yaml := string(r.Workflows[0].YAML)
	for _, want := range []string{
		"environment: prod", "task_group: heavy", "workflow: the answer", "{project: dwh, workflow: upstream, task: its task, date: lastDay}",
	} {
		if !strings.Contains(yaml, want) {
			t.Errorf("the definition has no %q:\n%s", want, yaml)
		}
	}
	for code := range codes(r) {
		if strings.HasSuffix(code, "_unknown") && !strings.HasPrefix(code, "edge") && !strings.HasPrefix(code, "branch") {
			t.Errorf("%s is said although the name was given", code)
		}
	}
}

func TestWhatIsNoExportIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "want a JSON list",
		"hello":                                 "want a JSON list",
		"[":                                     "want a JSON list",
		"[]":                                    "it has 0 workflows",
		"{}":                                    "[0] has neither",
		"[1]":                                   "[0] has neither",
		"null":                                  "it has 0 workflows",
		`[{"processDefinition":{}}]`:            "[0] has neither",
		`{"processDefinition":{"name":1}`:       "want a JSON list",
		`[{"processDefinition":{"code":1}},{}]`: "[1] has neither",
		strings.Repeat("[", 20000):              "want a JSON list",
		"[" + strings.Repeat("1,", dolphin.MaxWorkflows) + "1]":                                                            "it has 1001 workflows",
		`[{"processDefinition":{"code":1},"taskDefinitionList":[` + strings.Repeat(`{"code":1},`, 10000) + `{"code":1}]}]`: "has 10001 tasks",
	} {
		r, err := dolphin.Import([]byte(text), dolphin.Options{})
		if !errors.Is(err, dolphin.ErrNotExport) || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("Import(%.60q) = %v, want %s", text, err, want)
		}
	}
	if _, err := dolphin.Import(make([]byte, dolphin.MaxBytes+1), dolphin.Options{}); !errors.Is(err, dolphin.ErrNotExport) {
		t.Errorf("too many bytes: %v", err)
	}
}

func TestOneWorkflowNeedsNoList(t *testing.T) {
	t.Parallel()
	r, err := dolphin.Import([]byte("\ufeff"+`{"processDefinition":{"code":1,"name":"one"},"taskDefinitionList":[{"code":2,"name":"a","taskType":"SHELL","taskParams":{"rawScript":"true"}}]}`), dolphin.Options{})
	if err != nil || len(r.Workflows) != 1 || r.Open() || len(r.Workflows[0].Refused) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := "name: one\ntasks:\n  - name: a\n    type: shell\n    script: \"true\"\n    interpreter: bash\n"; string(r.Workflows[0].YAML) != want {
		t.Errorf("the definition is\n%swant\n%s", r.Workflows[0].YAML, want)
	}
}

func TestWhatIsSaidIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`[{"processDefinition":{"code":1,"name":"n"`)
	for i := range 5000 {
		b.WriteString(`,"u` + strconv.Itoa(i) + `":"\u001b[2J` + strings.Repeat("x", 100) + `"`)
	}
	b.WriteString(`},"taskDefinitionList":[{"code":2,"name":"a","taskType":"SHELL","taskParams":{"rawScript":"true"}}]}]`)
	r, err := dolphin.Import([]byte(b.String()), dolphin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	findings := r.Workflows[0].Findings
	last := findings[len(findings)-1]
	if len(findings) != 1000 || last.Code != "more" || !strings.HasSuffix(last.Message, ": 4002") {
		t.Errorf("%d findings, the last is %+v", len(findings), last)
	}
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil || strings.Contains(out.String(), "\x1b") || out.Len() > 1<<20 {
		t.Errorf("the report has %d bytes (%v), or steers the terminal", out.Len(), err)
	}
}

// TestHostileExportsAreBounded gives parameters that would grow without end, more of them than
// are read, and names that would steer a terminal.
func TestHostileExportsAreBounded(t *testing.T) {
	t.Parallel()
	type prop = map[string]string
	var laughs, many []prop
	for i := range 12 {
		laughs = append(laughs, prop{"prop": "p" + strconv.Itoa(i), "value": strings.Repeat("${p"+strconv.Itoa((i+1)%12)+"}", 1000)})
	}
	laughs = append(laughs, prop{"prop": "\x1b[2J", "value": "x"})
	for i := range 3000 {
		many = append(many, prop{"prop": "q" + strconv.Itoa(i), "value": "v"})
	}
	text, err := json.Marshal([]any{map[string]any{
		"processDefinition":  map[string]any{"code": 1, "name": "n", "globalParamList": laughs},
		"taskDefinitionList": []any{map[string]any{"code": 2, "name": "a", "taskType": "SHELL", "taskParams": map[string]any{"rawScript": "true", "localParams": many}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := dolphin.Import(text, dolphin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("the report steers the terminal (%v)", err)
	}
	if yaml := r.Workflows[0].YAML; len(yaml) > 13*(110<<10)+100<<10 || bytes.Contains(yaml, []byte("q1000:")) || !bytes.Contains(yaml, []byte("q999:")) {
		t.Errorf("the definition has %d bytes", len(yaml))
	}
	if !codes(r)["list_cut"] {
		t.Error("nothing is said of parameters that were not read")
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range cases {
		text, err := os.ReadFile(filepath.Join("testdata", name, "export.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`[{"processDefinition":{"code":"1","name":"\u0000","globalParams":"[{\"prop\":\"a\",\"value\":\"${b}\"},{\"prop\":\"b\",\"value\":\"${a}${a}\"}]"},"taskDefinitionList":[{}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := dolphin.Import(text, dolphin.Options{})
		if err != nil {
			return
		}
		again, err := dolphin.Import(text, dolphin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Workflows {
			w := &r.Workflows[i]
			if !bytes.Equal(w.YAML, again.Workflows[i].YAML) {
				t.Fatalf("twice is not the same:\n%s\n%s", w.YAML, again.Workflows[i].YAML)
			}
			for _, e := range w.Refused {
				switch e.Code {
				case document.CodeSyntax, document.CodeYAMLFeature, document.CodeDuplicateKey, document.CodeNull:
					t.Fatalf("what was written is no document: %v\n%s", e, w.YAML)
				}
				if strings.HasSuffix(e.Field, ".name") || e.Field == "name" {
					t.Fatalf("the name is not one: %v\n%s", e, w.YAML)
				}
			}
		}
		if err := r.WriteText(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	})
}
