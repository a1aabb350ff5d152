package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCacheClearSaysHowMuchThatWas(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
		_, _ = w.Write([]byte(`{"deleted": 3}`))
	}))
	defer server.Close()
	if code, out, errs := cmd(t, "", "cache", "clear", "a/b", "--server", server.URL); code != exitOK || out != "3 results are kept no longer\n" || asked != "DELETE /api/v1/projects/a/workflows/b/cache" {
		t.Errorf("clear = %d %q %q, asked %s", code, out, errs, asked)
	}
	if code, out, _ := cmd(t, "", "cache", "clear", "a/b", "--task", "load it", "-o", "json", "--server", server.URL); code != exitOK || !strings.Contains(out, `"deleted": 3`) || asked != "DELETE /api/v1/projects/a/workflows/b/cache?task=load+it" {
		t.Errorf("clear of one task = %d %q, asked %s", code, out, asked)
	}
	if code, _, _ := cmd(t, "", "cache", "clear", "b", "--server", server.URL); code != exitUsage {
		t.Errorf("clear of no workflow = %d", code)
	}
}
