package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestPreviewShowsValuesWithTheirSources answers with what the API's own test keeps.
func TestPreviewShowsValuesWithTheirSources(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../apiserver/testdata/parameters.json")
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.Path + " " + string(body)
		_, _ = w.Write(golden)
	}))
	defer server.Close()
	code, out, errs := cmd(t, "", "preview", "shop/nightly", "--task", "extract", "--param", "day=7", "--schedule-time", "2026-03-29T04:00:00Z",
		"--timezone", "Europe/Berlin", "--server", server.URL)
	if code != exitOK {
		t.Fatalf("preview = %d %q", code, errs)
	}
	if !strings.HasPrefix(asked, "POST /api/v1/projects/shop/workflows/nightly/parameters ") ||
		!strings.Contains(asked, `"params":{"day":"7"},"schedule_time":"2026-03-29T04:00:00Z","timezone":"Europe/Berlin","task":"extract"`) {
		t.Errorf("asked %s", asked)
	}
	for _, want := range []string{"NAME ", "system_task_name ", " extract ", " built_in", "FIELD ", "script "} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if code, out, _ := cmd(t, "", "preview", "shop/nightly", "-o", "json", "--server", server.URL); code != exitOK || !strings.Contains(out, `"chain"`) {
		t.Errorf("preview -o json = %d %q", code, out)
	}
	if code, _, _ := cmd(t, "", "preview", "nightly", "--server", server.URL); code != exitUsage {
		t.Errorf("preview without a project = %d", code)
	}
}
