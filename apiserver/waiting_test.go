package apiserver

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAProcessThatStartsLivesAndIsNotReady(t *testing.T) {
	t.Parallel()
	w := NewWaiting("/porpoise")
	w.For("waiting for the database")
	for path, code := range map[string]int{
		"/porpoise/healthz": 200, "/healthz": 200, "/porpoise/readyz": 503, "/porpoise/api/v1/projects": 503, "/porpoise/": 503,
	} {
		got := httptest.NewRecorder()
		w.ServeHTTP(got, httptest.NewRequest("GET", path, nil))
		if got.Code != code || !strings.Contains(got.Body.String(), "not ready: waiting for the database") {
			t.Errorf("%s = %d %s, want %d and why", path, got.Code, got.Body, code)
		}
		if code == 503 && got.Header().Get("Retry-After") == "" {
			t.Errorf("%s does not say when to ask again", path)
		}
	}
}
