package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cmd runs a command line as a user would, and returns what it printed.
func cmd(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{in: strings.NewReader(in), out: &o, err: &e})
	return code, o.String(), e.String()
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const good = "name: good\ntasks:\n  - {name: a, type: noop}\n"

func TestValidateNamesFileLineAndColumn(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "bad.yaml", "name: bad\ntasks:\n  - {name: a, type: noop, needs: [b]}\n")
	code, _, errs := cmd(t, "", "validate", "-f", file)
	if want := file + ":3:35: tasks[0].needs[0]: "; code != exitUsage || !strings.HasPrefix(errs, want) {
		t.Errorf("validate = %d %q, want %d and %q…", code, errs, exitUsage, want)
	}
}

func TestValidateReadsStandardInputAndJSON(t *testing.T) {
	t.Parallel()
	code, out, errs := cmd(t, good, "validate", "-f", "-", "-o", "json")
	var list []map[string]any
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != exitOK || len(list) != 1 || list[0]["name"] != "good" {
		t.Errorf("validate = %d %q %q", code, out, errs)
	}
}

func TestEveryWrongFileIsToldAndNothingIsSaved(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	defer server.Close()
	dir := t.TempDir()
	write(t, dir, "1.yaml", good)
	write(t, dir, "2.yaml", "name: two\n")
	write(t, dir, "sub/3.yml", strings.ReplaceAll(good, "good", "GOOD"))
	write(t, dir, ".hidden/4.yaml", "nonsense: yes")
	code, out, errs := cmd(t, "", "apply", "-f", dir, "--server", server.URL)
	if code != exitUsage || out != "" || calls != 0 {
		t.Errorf("apply = %d %q after %d calls, want %d, nothing, 0", code, out, calls, exitUsage)
	}
	for _, want := range []string{"2.yaml", "3.yml: name: \"GOOD\" is also the name in"} {
		if !strings.Contains(errs, want) {
			t.Errorf("errors %q lack %q", errs, want)
		}
	}
	if strings.Contains(errs, "hidden") {
		t.Errorf("a hidden folder was read: %q", errs)
	}
}

func TestUsageErrorsExitWithTwo(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"start"},
		{"start", "no-slash"},
		{"start", "a/b", "--param", "novalue"},
		{"start", "a/b", "--param", "k=1", "--param", "k=2"},
		{"start", "a/b", "--correlation-id", "order 7"},
		{"listeners"},
		{"listeners", "set", "sales", "ops"},
		{"listeners", "set", "sales", "ops", "--url", "https://example.org", "--secret-file", os.DevNull},
		{"standalone", "--listeners-reach", "moon"},
		{"standalone", "--keep-days", "-1"},
		{"standalone", "--keep-fire-days", "0"},
		{"standalone", "--keep-fires-per-schedule", "-1"},
		{"standalone", "--schedule-plan-ahead", "1s"},
		{"standalone", "--schedule-least-interval", "1ms"},
		{"master", "--keep-per-workflow", "-1"},
		{"nonsense"},
		{"token", "nonsense"},
		{"instances", "--limit", "0"},
		{"instances", "-o", "xml"},
		{"instances", "--nonsense"},
		{"logs", "1"},
		{"logs", "1", "t", "--stream", "stdboth"},
		{"logs", "1", "t", "--line", "0"},
		{"logs", "1", "t", "-f", "--grep", "x"},
		{"logs", "1", "t", "-i"},
		{"apply"},
		{"validate", "-f", "/does/not/exist"},
		{"instances", "--server", "ftp://x"},
		{"standalone", "--slots", "0"},
		{"standalone", "--demo", "--relaxed"},
		{"standalone", "--demo", "--demo-restart", "-1s"},
		{"hold", "now"},
		{"hold", "--reason", strings.Repeat("x", 1001), "--server", "http://127.0.0.1:1"},
		{"release", "me"},
		{"backup"},
		{"backup", "--database", "nonsense", "file"},
		{"backup", "--data", "/does/not/exist", "file"},
		{"restore"},
		{"restore", "/does/not/exist"},
		{"worker"},
		{"config", "check", "nonsense"},
		{"secrets", "list"},
		{"secrets", "list", "-p", "sales", "--all-projects"},
		{"task-groups", "set", "sales", "db"},
		{"runner"},
	} {
		if code, _, errs := cmd(t, "", args...); code != exitUsage || errs == "" {
			t.Errorf("porpoise %s = %d %q, want %d and a word", strings.Join(args, " "), code, errs, exitUsage)
		}
	}
}

// Requirement T13: settings that break a law of the heartbeats are refused by name before anything is opened.
func TestHeartbeatSettingsThatBreakALawAreRefused(t *testing.T) {
	t.Parallel()
	worker := []string{"config", "check", "worker", "--etcd", "localhost:2379"}
	for named, args := range map[string][]string{
		"heartbeat-cycle":  {"--heartbeat-timeout", "300s", "--heartbeat-cycle", "180s"},
		"slots":            {"--heartbeat-timeout", "300s", "--heartbeat-cycle", "120s", "--heartbeat-batch", "1", "--slots", "61"},
		"heartbeat-batch":  {"--heartbeat-batch", "0"},
		"heartbeat-period": {"--heartbeat-period", "1h"},
	} {
		if code, _, errs := cmd(t, "", append(slices.Clone(worker), args...)...); code != exitUsage || !strings.Contains(errs, named+":") {
			t.Errorf("%v = %d %q, want %d and the name %s", args, code, errs, exitUsage, named)
		}
	}
	literal := append(slices.Clone(worker), "--heartbeat-timeout", "300s", "--heartbeat-cycle", "120s", "--heartbeat-batch", "1", "--slots", "60")
	if code, _, errs := cmd(t, "", literal...); code != 0 {
		t.Errorf("one beat per second for 60 slots = %d %q", code, errs)
	}
}

func TestAnswersBecomeExitCodes(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		400: exitUsage, 422: exitUsage, 401: exitRefused, 403: exitRefused, 404: exitRefused, 409: exitRefused, 412: exitRefused, 428: exitRefused,
		429: exitUnreachable, 500: exitUnreachable, 503: exitUnreachable,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"detail": "two things", "errors": [{"field": "a", "message": "is wrong"}, {"field": "b", "message": "is worse", "line": 3}]}`))
		}))
		code, _, errs := cmd(t, "", "projects", "--server", server.URL)
		server.Close()
		if code != want {
			t.Errorf("%d = exit code %d, want %d", status, code, want)
		}
		for _, line := range []string{"two things\n", "  a: is wrong\n", "  line 3, column 1: b: is worse\n"} {
			if !strings.Contains(errs, line) {
				t.Errorf("%d: %q lacks %q", status, errs, line)
			}
		}
	}
}

func TestAServerThatIsAwayExitsWithThree(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if code, _, errs := cmd(t, "", "projects", "--server", server.URL); code != exitUnreachable || !strings.Contains(errs, "Is it running") {
		t.Errorf("projects = %d %q", code, errs)
	}
}

func TestAProxysPageIsNoProblemDocument(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>"))
	}))
	defer server.Close()
	if code, _, errs := cmd(t, "", "projects", "--server", server.URL); code != exitUnreachable || !strings.Contains(errs, "502 Bad Gateway") {
		t.Errorf("projects = %d %q", code, errs)
	}
}

func TestNamesInPathsAreEscaped(t *testing.T) {
	t.Parallel()
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.RequestURI
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"instance_id": "7"}`))
	}))
	defer server.Close()
	code, out, _ := cmd(t, "", "start", "a b/../c?d", "--server", server.URL)
	if want := "/api/v1/projects/a%20b/workflows/..%2Fc%3Fd/start"; code != exitOK || out != "7\n" || path != want {
		t.Errorf("start = %d %q at %s, want 0, 7 at %s", code, out, path, want)
	}
}

func TestTextOfOthersCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"items": [{"name": "a\u001b[2Jb", "role": "admin"}]}`))
	}))
	defer server.Close()
	code, out, _ := cmd(t, "", "projects", "--server", server.URL)
	if code != exitOK || strings.Contains(out, "\x1b") || !strings.Contains(out, "a [2Jb") {
		t.Errorf("projects = %d %q", code, out)
	}
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			_, _ = w.Write([]byte(`{"items": [{"name": "one"}], "next_cursor": "c"}`))
			return
		}
		_, _ = w.Write([]byte(`{"items": [{"name": "two"}]}`))
	}))
	defer server.Close()
	if _, out, _ := cmd(t, "", "projects", "--server", server.URL); !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("projects = %q, want both pages", out)
	}
}
