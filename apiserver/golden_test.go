package apiserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// What differs from run to run, and what stands for it in a golden answer.
var unsteady = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`), `"2026-11-21T12:00:00.000Z"`},
	{regexp.MustCompile(`"((?:[a-z_]*_)?id)": ?"[^"]+"`), `"$1": "1"`},
	{regexp.MustCompile(`"secret": ?"[^"]+"`), `"secret": "pp_..."`},
	{regexp.MustCompile(`"token": ?"pj1[^"]+"`), `"token": "pj1.cafe..."`},
}

// TestAnswersAreAsTheyWere compares whole answers with testdata/*.json; -update writes them.
func TestAnswersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.assign(id)
	const w = "/api/v1/projects/alpha/workflows/daily"
	in := "/api/v1/instances/" + id
	for _, c := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"project", "GET", "/api/v1/projects/alpha", "", 200},
		{"projects", "GET", "/api/v1/projects", "", 200},
		{"workflow", "GET", w, "", 200},
		{"workflows", "GET", "/api/v1/projects/alpha/workflows", "", 200},
		{"versions", "GET", w + "/versions", "", 200},
		{"version", "GET", w + "/versions/1", "", 200},
		{"layout_none", "GET", w + "/layout", "", 200},
		{"layout", "PUT", w + "/layout", `{"tasks":{"load":{"x":10,"y":20.5}}}`, 200},
		{"validate", "POST", "/api/v1/validate", `{"name":"x","tasks":[{"name":"a","type":"nop"}]}`, 200},
		{"instance", "GET", in, "", 200},
		{"instances", "GET", "/api/v1/instances?state=running", "", 200},
		{"tasks", "GET", in + "/tasks", "", 200},
		{"attempts", "GET", in + "/tasks/extract/attempts", "", 200},
		{"events", "GET", in + "/events?limit=2", "", 200},
		{"counts", "GET", "/api/v1/instances/counts?project=alpha", "", 200},
		{"graph", "GET", w + "/versions/1/graph", "", 200},
		{"preview", "GET", in + "/preview?verb=stop", "", 200},
		{"explain", "GET", in + "/explain", "", 200},
		{"explain_task", "GET", in + "/explain?task=load", "", 200},
		{"masters", "GET", "/api/v1/cluster/masters", "", 200},
		{"workers", "GET", "/api/v1/cluster/workers", "", 200},
		{"slots", "GET", "/api/v1/cluster/slots", "", 200},
		{"join_token", "POST", "/api/v1/cluster/join-tokens", `{"role":"worker"}`, 201},
		{"session", "GET", "/api/v1/session", "", 200},
		{"token", "POST", "/api/v1/tokens", `{"name":"ci","role":"viewer","project":"alpha"}`, 201},
		{"users", "GET", "/api/v1/users", "", 200},
		{"member", "PUT", "/api/v1/projects/alpha/members/admin", `{"role":"owner"}`, 200},
		{"members", "GET", "/api/v1/projects/alpha/members", "", 200},
		{"start", "POST", w + "/start", `{"params":{"day":7},"priority":"high"}`, 202},
		{"pause", "POST", in + "/pause", "", 202},
		{"not_found", "GET", "/api/v1/instances/9999999", "", 404},
		{"wrong_fields", "POST", "/api/v1/cluster/join-tokens", `{"role":"king","uses":0,"exires":1}`, 422},
	} {
		got := normal(t, b.must(c.status, c.method, c.path, c.body).Body.Bytes())
		file := filepath.Join("testdata", c.name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s %s =\n%s\nwant\n%s", c.method, c.path, got, want)
		}
	}
}

func normal(t *testing.T, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	text := out.Bytes()
	for _, u := range unsteady {
		text = u.what.ReplaceAll(text, []byte(u.as))
	}
	return append(bytes.TrimSpace(text), '\n')
}
