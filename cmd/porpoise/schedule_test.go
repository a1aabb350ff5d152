package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestSchedulePreviewShowsWordsAndFires answers with what the API's own test keeps.
func TestSchedulePreviewShowsWordsAndFires(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../apiserver/testdata/schedule_preview.json")
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.RequestURI()
		_, _ = w.Write(golden)
	}))
	defer server.Close()
	code, out, errs := cmd(t, "", "schedule", "preview", "30 2 * * 0", "--timezone", "Europe/Berlin", "-n", "2", "--from", "2026-03-23T00:00:00Z", "--server", server.URL)
	if code != exitOK {
		t.Fatalf("schedule preview = %d %q", code, errs)
	}
	if want := "GET /api/v1/schedules/preview?cron=30+2+%2A+%2A+0&from=2026-03-23T00%3A00%3A00Z&n=2&timezone=Europe%2FBerlin"; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	for _, want := range []string{
		"at 02:30 on Sunday (Europe/Berlin)\n", "unix: Sunday is 0 or 7", "(by the number of fields)", "stands for times on the wall",
		"2026-03-29T03:00:00+02:00  ", "  the clock leaves out 02:30:00\n", "2026-04-05T02:30:00+02:00  ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if code, out, _ := cmd(t, "", "schedule", "preview", "30 2 * * 0", "-o", "json", "--server", server.URL); code != exitOK || !strings.Contains(out, `"left_out"`) {
		t.Errorf("schedule preview -o json = %d %q", code, out)
	}
	if code, _, _ := cmd(t, "", "schedule", "preview", "--server", server.URL); code != exitUsage {
		t.Errorf("schedule preview of nothing = %d", code)
	}
}
