package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestDiffPrintsWhatDiffers reads the very answer that the API's own tests compare with.
func TestDiffPrintsWhatDiffers(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../apiserver/testdata/diff.json")
	if err != nil {
		t.Fatal(err)
	}
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.RequestURI
		_, _ = w.Write(golden)
	}))
	defer server.Close()
	code, out, errs := cmd(t, "", "diff", "alpha/daily", "1", "--server", server.URL)
	if code != exitOK || path != "/api/v1/projects/alpha/workflows/daily/versions/1/diff/draft" {
		t.Fatalf("diff = %d %q at %s", code, errs, path)
	}
	for _, want := range []string{"timeout.after:\n  + 1h\n", "+ task c\n", "- task load\n", "task extract:\n  script:\n    - echo \"${day}\"\n    + echo\n", "+ c needs extract\n", "- load needs extract\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("diff %q lacks %q", out, want)
		}
	}
	if _, out, _ := cmd(t, "", "diff", "alpha/daily", "1", "2", "-o", "json", "--server", server.URL); !strings.Contains(out, `"same_text": false`) {
		t.Errorf("as JSON %q", out)
	}
}

func TestVersionsShowTheirMessages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = w.Write([]byte(`{"version": 3, "created": true}`))
			return
		}
		_, _ = w.Write([]byte(`{"items": [{"version": 2, "published": true, "message": "adds c", "created_by": "ann", "created_at": "2026-11-21T12:00:00.000Z"}]}`))
	}))
	defer server.Close()
	if code, out, _ := cmd(t, "", "versions", "a/b", "--server", server.URL); code != exitOK || !strings.Contains(out, "published") || !strings.Contains(out, "adds c") {
		t.Errorf("versions = %d %q", code, out)
	}
	if code, out, _ := cmd(t, "", "restore", "a/b", "1", "-m", "back", "--server", server.URL); code != exitOK || !strings.Contains(out, "restored") {
		t.Errorf("restore = %d %q", code, out)
	}
	if code, _, _ := cmd(t, "", "versions", "b", "--server", server.URL); code != exitUsage {
		t.Errorf("versions of no workflow = %d", code)
	}
}

func TestApplySendsItsMessage(t *testing.T) {
	t.Parallel()
	said := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			said = r.URL.Query().Get("message")
			_, _ = w.Write([]byte(`{"version": 1, "created": true}`))
			return
		}
		w.Header().Set("ETag", `"0"`) // a workflow that is only a draft yet
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	file := write(t, t.TempDir(), "good.yaml", good)
	code, out, errs := cmd(t, "", "apply", "-f", file, "-m", "first words", "--server", server.URL)
	if code != exitOK || said != "first words" || !strings.Contains(out, "created") {
		t.Errorf("apply = %d %q %q, message %q", code, out, errs, said)
	}
}
