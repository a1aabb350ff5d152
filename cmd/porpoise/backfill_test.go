package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// backfillServer answers previews with what the API's own test keeps, and shows backfill 7 as it goes on.
type backfillServer struct {
	mu    sync.Mutex
	asked []string
	shows []string
}

func (s *backfillServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.String()+" "+strings.TrimSpace(string(body)))
	switch {
	case r.URL.Query().Get("preview") != "":
		golden, _ := os.ReadFile("../../apiserver/testdata/backfill_preview.json")
		_, _ = w.Write(golden)
	case strings.HasSuffix(r.URL.Path, "/backfills"):
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"backfill_id":"7","token":"1.cafe","count":3,"parts":[]}`)
	default:
		_, _ = io.WriteString(w, s.shows[0])
		if len(s.shows) > 1 {
			s.shows = s.shows[1:]
		}
	}
}

func TestABackfillIsStartedAsItsPreviewShowed(t *testing.T) {
	t.Parallel()
	s := &backfillServer{shows: []string{
		`{"id":"7","state":"running","active":true,"progress":{"total":3,"done":1,"success":1,"running":1,"waiting":1,"eta":"2026-03-01T00:00:00.000Z"}}`,
		`{"id":"7","state":"failed","active":false,"progress":{"total":3,"done":3,"success":2,"failed":1}}`,
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	code, out, errs := cmd(t, "", "backfill", "start", "shop/daily", "--from", "2026-03-01", "--to", "2026-03-03", "--param", "day=7", "--preview", "--server", server.URL)
	if code != exitOK || !strings.Contains(out, "alpha/daily") || !strings.Contains(out, "3 run, 0 are left out; token 1.cafe") {
		t.Errorf("preview = %d %s %s", code, out, errs)
	}
	s.asked = nil
	code, out, errs = cmd(t, "", "backfill", "start", "shop/daily", "--from", "2026-03-01", "--to", "2026-03-03", "--only", "missing", "--downstream", "--wait", "--server", server.URL)
	want := "backfill 7  running  1 of 3 dates done, 1 running, 1 waiting\nbackfill 7  failed  3 of 3 dates done, 1 failed\n"
	if code != exitFailed || out != want {
		t.Errorf("start --wait = %d %q %q, want %d %q", code, out, errs, exitFailed, want)
	}
	const path = "/api/v1/projects/shop/workflows/daily/backfills"
	if len(s.asked) != 4 || !strings.HasPrefix(s.asked[0], "POST "+path+"?preview=true ") || strings.Contains(s.asked[0], `"preview"`) ||
		!strings.HasPrefix(s.asked[1], "POST "+path+" ") || !strings.Contains(s.asked[1], `"downstream":true`) || !strings.Contains(s.asked[1], `"preview":"1.cafe"`) {
		t.Errorf("asked %q", s.asked)
	}
}

func TestABackfillIsControlledFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := &backfillServer{shows: []string{`{"id":"7","state":"paused","active":true,"progress":{"total":3,"waiting":3}}`}}
	server := httptest.NewServer(s)
	defer server.Close()
	for args, want := range map[string]string{
		"pause shop/daily 7":                 "POST /7/pause ",
		"resume shop/daily 7":                "POST /7/resume ",
		"cancel shop/daily 7":                `POST /7/cancel {"running":"leave"}`,
		"cancel shop/daily 7 --stop-running": `POST /7/cancel {"running":"stop"}`,
		"parallel shop/daily 7 --dates 4":    `POST /7/parallel {"parallel":4}`,
		"show shop/daily 7":                  "GET /7 ",
	} {
		s.asked = nil
		code, out, errs := cmd(t, "", append(append([]string{"backfill"}, strings.Fields(args)...), "--server", server.URL)...)
		got := ""
		if len(s.asked) == 1 {
			got = strings.Replace(s.asked[0], "/api/v1/projects/shop/workflows/daily/backfills", "", 1)
		}
		if code != exitOK || got != want || !strings.Contains(out, "paused") {
			t.Errorf("%s = %d %q %q after %q, want %q", args, code, out, errs, s.asked, want)
		}
	}
	if code, _, _ := cmd(t, "", "backfill", "pause", "daily", "7", "--server", server.URL); code != exitUsage {
		t.Errorf("pause without a project = %d", code)
	}
}
