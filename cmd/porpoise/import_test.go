package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/schedule"
)

// simple is an export of which everything comes over.
const simple = `[{"processDefinition":{"code":11,"name":"Nightly Load","projectCode":1,"globalParams":"[{\"prop\":\"region\",\"direct\":\"IN\",\"type\":\"VARCHAR\",\"value\":\"eu\"}]"},
"processTaskRelationList":[{"preTaskCode":0,"postTaskCode":12},{"preTaskCode":12,"postTaskCode":13}],
"taskDefinitionList":[{"code":12,"name":"a","taskType":"SHELL","taskParams":{"rawScript":"echo ${region}"}},{"code":13,"name":"b","taskType":"SHELL","taskParams":{"rawScript":"exit 0"}}]}]`

const odd = "../../internal/dolphin/testdata/odd/export.json"

func TestImportReportsAndWritesNothingUnasked(t *testing.T) {
	t.Parallel()
	code, out, errs := cmd(t, "", "import", odd)
	if code != exitByHand || !strings.Contains(out, "[no_task_type]") || errs != "" {
		t.Errorf("import = %d %q\n%s", code, errs, out)
	}
	if code, out, errs = cmd(t, simple, "import", "-"); code != exitOK || !strings.HasPrefix(out, "Workflows: 1, refused as they are: 0\n") {
		t.Errorf("import of what all comes over = %d %q\n%s", code, errs, out)
	}
	code, out, _ = cmd(t, simple, "import", "-", "-o", "json")
	var report struct {
		Workflows []struct{ Workflow string }
		Count     map[string]int
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitOK || report.Workflows[0].Workflow != "Nightly Load" || report.Count["mapped"] == 0 {
		t.Errorf("import as JSON = %d %v\n%s", code, err, out)
	}
}

func TestImportWritesFilesAndReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	code, out, errs := cmd(t, simple, "import", "-", "--out", filepath.Join(dir, "new"), "--report", report)
	if code != exitOK || out != "" {
		t.Fatalf("import = %d %q %q", code, out, errs)
	}
	file := filepath.Join(dir, "new", "nightly_load.yaml")
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "name: Nightly Load\n") {
		t.Errorf("%s holds %q, %v", file, text, err)
	}
	if code, _, errs := cmd(t, "", "validate", "-f", file); code != exitOK {
		t.Errorf("validate = %d %q", code, errs)
	}
	if text, err = os.ReadFile(report); err != nil || !json.Valid(text) || !strings.Contains(string(text), "nightly_load.yaml") {
		t.Errorf("the report holds %q, %v", text, err)
	}
	if code, _, errs = cmd(t, simple, "import", "-", "--out", filepath.Join(dir, "new")); code != exitUsage || !strings.Contains(errs, "nightly_load.yaml is there") {
		t.Errorf("a second import = %d %q", code, errs)
	}
	if code, _, errs = cmd(t, simple, "import", "-", "--out", filepath.Join(dir, "new"), "--force"); code != exitOK {
		t.Errorf("a forced import = %d %q", code, errs)
	}
	// Names of workflows are no paths.
	if code, _, errs = cmd(t, strings.ReplaceAll(simple, "Nightly Load", "../../日报"), "import", "-", "--out", filepath.Join(dir, "new")); code != exitOK {
		t.Errorf("import = %d %q", code, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "new", "11.yaml")); err != nil {
		t.Error(err)
	}
}

func TestImportApplies(t *testing.T) {
	t.Parallel()
	var saved []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			text, _ := io.ReadAll(r.Body)
			saved = append(saved, r.URL.Path+" "+string(text))
			answer := `{"version": 1, "created": true}`
			if strings.HasSuffix(r.URL.Path, "/schedules") {
				answer = `{"created": 1}`
			}
			_, _ = io.WriteString(w, answer)
			return
		}
		w.Header().Set("ETag", `"0"`)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	code, out, errs := cmd(t, simple, "import", "-", "--apply", "--project", "dwh", "--server", server.URL)
	if code != exitOK || len(saved) != 1 || !strings.HasPrefix(saved[0], "/api/v1/projects/dwh/workflows/Nightly Load name: Nightly Load") {
		t.Errorf("import = %d %q, saved %q", code, errs, saved)
	}
	if !strings.Contains(out, "dwh/Nightly Load") || strings.Contains(out, "came over") || !strings.Contains(errs, "came over") {
		t.Errorf("out %q, errors %q", out, errs)
	}
	saved = nil
	timed := strings.Replace(simple, `"taskDefinitionList"`, `"schedule": {"crontab": "0 0 3 * * ? *", "timezoneId": "Asia/Shanghai", "releaseState": "ONLINE"}, "taskDefinitionList"`, 1)
	if timed == simple {
		t.Fatal("the export has no place for a schedule")
	}
	code, _, errs = cmd(t, timed, "import", "-", "--apply", "--project", "dwh", "--server", server.URL)
	if code != exitOK || len(saved) != 2 || !strings.HasPrefix(saved[1], "/api/v1/projects/dwh/schedules ") ||
		!strings.Contains(saved[1], `"cron":"0 0 3 * * ? *"`) || !strings.Contains(saved[1], `"enabled":false`) || !strings.Contains(errs, "paused") {
		t.Errorf("import of a schedule = %d %q, saved %q", code, errs, saved)
	}
	dir := t.TempDir()
	if code, _, errs = cmd(t, timed, "import", "-", "--out", dir); code != exitOK {
		t.Errorf("import to files = %d %q", code, errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "schedules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if doc, wrong := schedule.Read(text, "yaml"); len(wrong) > 0 || len(doc.Schedules) != 1 || doc.Schedules[0].Workflow != "Nightly Load" {
		t.Errorf("the file of schedules is %s: %v", text, wrong)
	}
	saved = nil
	wrong := strings.ReplaceAll(simple, "echo ${region}", "cat < "+strings.Repeat("x", 2<<20)) // a script over the limit
	if code, _, errs = cmd(t, wrong, "import", "-", "--apply", "--server", server.URL); code != exitUsage || len(saved) > 0 || !strings.Contains(errs, "nothing was saved") {
		t.Errorf("import of what is refused = %d, saved %q", code, saved)
	}
}

func TestImportRefusesWrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"import"},
		{"import", filepath.Join(dir, "none.json")},
		{"import", write(t, dir, "bad.json", `[{"tasks":[]}]`), "--out", dir},
		{"import", odd, "--name", "environment=prod"},
		{"import", odd, "--name", "queue:1=prod"},
		{"import", odd, "--name", "environment:1=a/b"},
	} {
		if code, out, errs := cmd(t, "", args...); code != exitUsage || out != "" || errs == "" {
			t.Errorf("%q = %d %q %q", args, code, out, errs)
		}
	}
	if _, out, _ := cmd(t, "", "import", odd, "--name", "environment:12610318974999=prod", "-o", "json"); !strings.Contains(out, "the environment has the given name: prod") {
		t.Errorf("the name of the environment was not taken")
	}
}
