package main

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/sql"
)

func TestProfilesAreForThisHostAlone(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                "",
		"127.0.0.1:6060":  "",
		"[::1]:6060":      "",
		"localhost:6060":  "",
		"0.0.0.0:6060":    "no loopback address",
		":6060":           "no loopback address",
		"10.0.0.7:6060":   "no loopback address",
		"example.com:606": "no loopback address",
		"6060":            "missing port",
	} {
		wrong := (&logging{LogLevel: "info", Pprof: address}).check()
		switch {
		case want == "" && len(wrong) > 0:
			t.Errorf("pprof %q: %v", address, wrong)
		case want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0].Error(), want) || !strings.HasPrefix(wrong[0].Error(), "pprof: ")):
			t.Errorf("pprof %q: %v, want one error with %q that names the key", address, wrong, want)
		}
	}
}

func TestProfilesAreServedUntilTheProcessStops(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	a := newApp(hclog.New(&hclog.LoggerOptions{Output: &log}))
	if err := a.servePprof(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(log.String(), "address=")
	address = strings.TrimSpace(address)
	get := func(path string) (string, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, http.NoBody)
		if err != nil {
			return "", err
		}
		answer, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
	if text, err := get("goroutine?debug=1"); err != nil || !strings.Contains(text, "TestProfilesAreServedUntilTheProcessStops") {
		t.Errorf("the goroutines of this process: %v\n%s", err, text)
	}
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db"), Statements: a.statements})
	if err == nil {
		err = errors.Join(store.Migrate(t.Context()), store.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := get("../statements"); err != nil || !strings.Contains(text, `"text":"COMMIT","count":`) {
		t.Errorf("the statements of this process: %v\n%s", err, text)
	}
	if err := a.stop(nil); err != nil {
		t.Error(err)
	}
	if text, err := get("goroutine?debug=1"); err == nil {
		t.Errorf("profiles are served after the end: %s", text)
	}
}
