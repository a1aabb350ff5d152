package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func console(t *testing.T, basePath string) http.Handler {
	t.Helper()
	h, err := newHandler(fstest.MapFS{
		"index.html":               {Data: []byte(`<html><head><base href="/"></head><body>console</body></html>`)},
		"assets/index-B7x2k9Qa.js": {Data: []byte(`go()`)},
		"favicon.svg":              {Data: []byte(`<svg/>`)},

		"index.html.br":                {Data: []byte(`stale`)},
		"assets/big-A1b2C3d4.js":       {Data: []byte(`whole`)},
		"assets/big-A1b2C3d4.js.br":    {Data: []byte(`brotli`)},
		"assets/big-A1b2C3d4.js.gz":    {Data: []byte(`gzip`)},
		"assets/lonely-A1b2C3d4.js.gz": {Data: []byte(`of nothing`)},
	}, basePath)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, path string, header ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://x/", http.NoBody)
	r.URL.Path = path
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFirstPageIsTheConsoleOrSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	h, err := Handler("")
	if err != nil {
		t.Fatal(err)
	}
	page := body(t, get(h, "/"))
	if strings.Contains(page, "porpoise-console") {
		return // it is built
	}
	for _, want := range []string{"make console", `href="docs"`, `<base href="/">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPagesOfTheConsoleGiveTheIndex(t *testing.T) {
	t.Parallel()
	h := console(t, "")
	for _, path := range []string{"/", "", "/projects/a/workflows/b", "/instances/42", "/index.html"} {
		resp := get(h, path)
		if got := body(t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(got, "console") {
			t.Errorf("GET %q = %d %q, want the index", path, resp.StatusCode, got)
		}
		if got := resp.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("GET %q: Cache-Control = %q, want no-cache", path, got)
		}
	}
}

func TestMissingFilesAreNotAnsweredByAPage(t *testing.T) {
	t.Parallel()
	h := console(t, "")
	for _, path := range []string{"/assets/old-11112222.js", "/favicon.ico", "/../ui.go", "/assets/../../ui.go", "/dist/../ui.go", "/.git", "/..", "/assets/..%2f..%2fui.go"} {
		resp := get(h, path)
		if got := body(t, resp); resp.StatusCode != http.StatusNotFound || strings.Contains(got, "package") {
			t.Errorf("GET %q = %d %q, want 404", path, resp.StatusCode, got)
		}
	}
}

func TestHashedFilesAreCachedForEver(t *testing.T) {
	t.Parallel()
	h := console(t, "")
	resp := get(h, "/assets/index-B7x2k9Qa.js")
	if got := resp.Header.Get("Cache-Control"); got != immutable {
		t.Errorf("Cache-Control = %q, want %q", got, immutable)
	}
	if got := resp.Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	if got := get(h, "/favicon.svg").Header.Get("Cache-Control"); got != revalidate {
		t.Errorf("unhashed: Cache-Control = %q, want %q", got, revalidate)
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	h := console(t, "")
	tag := get(h, "/").Header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	resp := get(h, "/instances/7", "If-None-Match", tag)
	if got := body(t, resp); resp.StatusCode != http.StatusNotModified || got != "" {
		t.Errorf("with the tag: %d %q, want 304 and nothing", resp.StatusCode, got)
	}
}

func TestBasePathIsWrittenIntoTheIndexOnly(t *testing.T) {
	t.Parallel()
	h := console(t, `/tools/"porpoise"`)
	if got := body(t, get(h, "/")); !strings.Contains(got, `<base href="/tools/&#34;porpoise&#34;/">`) {
		t.Errorf("index = %q, want the base path, escaped", got)
	}
	if got := body(t, get(h, "/assets/index-B7x2k9Qa.js")); got != "go()" {
		t.Errorf("script = %q", got)
	}
}

func TestPagesForbidForeignScript(t *testing.T) {
	t.Parallel()
	csp := get(console(t, ""), "/").Header.Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "object-src 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("Content-Security-Policy = %q, lacks %q", csp, want)
		}
	}
}

func TestPlaceholderHasNoInlineScript(t *testing.T) {
	t.Parallel()
	h, err := Handler("")
	if err != nil {
		t.Fatal(err)
	}
	page := body(t, get(h, "/"))
	if strings.Contains(page, "<script>") || strings.Contains(page, " onclick=") {
		t.Error("the page holds script that its own policy forbids")
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	console(t, "").ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST = %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	w = httptest.NewRecorder()
	console(t, "").ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", http.NoBody))
	if w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD = %d with %d bytes", w.Code, w.Body.Len())
	}
}

func TestIndexWithoutABaseTagIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := newHandler(fstest.MapFS{"index.html": {Data: []byte("<html></html>")}}, ""); err == nil {
		t.Error("an index that can't be mounted elsewhere was taken")
	}
	if _, err := newHandler(fstest.MapFS{"a.js": {Data: []byte("x")}}, ""); err == nil {
		t.Error("a build without an index was taken")
	}
}

func TestCompressedCopiesAreSentToWhoTakesThem(t *testing.T) {
	t.Parallel()
	h := console(t, "/porpoise")
	tags := map[string]string{}
	for _, c := range []struct{ accept, coding, body string }{
		{"gzip, deflate, br, zstd", "br", "brotli"},
		{"gzip", "gzip", "gzip"},
		{"GZIP;q=0.5, br;q=0", "gzip", "gzip"},
		{"*", "br", "brotli"},
		{"br;q=0, *", "gzip", "gzip"},
		{"br;q=x", "", "whole"},
		{"identity", "", "whole"},
		{"", "", "whole"},
	} {
		resp := get(h, "/assets/big-A1b2C3d4.js", "Accept-Encoding", c.accept)
		if got := body(t, resp); got != c.body || resp.Header.Get("Content-Encoding") != c.coding {
			t.Errorf("Accept-Encoding %q = %q as %q, want %q as %q", c.accept, got, resp.Header.Get("Content-Encoding"), c.body, c.coding)
		}
		if resp.Header.Get("Vary") != "Accept-Encoding" || resp.Header.Get("Cache-Control") != immutable || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("Accept-Encoding %q: headers %v", c.accept, resp.Header)
		}
		tag := resp.Header.Get("ETag")
		if was, ok := tags[tag]; ok && was != c.body {
			t.Errorf("%q and %q share the ETag %s", was, c.body, tag)
		}
		tags[tag] = c.body
		if resp := get(h, "/assets/big-A1b2C3d4.js", "Accept-Encoding", c.accept, "If-None-Match", tag); resp.StatusCode != http.StatusNotModified {
			t.Errorf("Accept-Encoding %q with its tag = %d", c.accept, resp.StatusCode)
		}
	}
	for _, path := range []string{"/assets/big-A1b2C3d4.js.br", "/assets/lonely-A1b2C3d4.js.gz", "/assets/lonely-A1b2C3d4.js", "/index.html.br"} {
		if resp := get(h, path, "Accept-Encoding", "br, gzip"); resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404: a copy has no address of its own", path, resp.StatusCode)
		}
	}
}

func TestTheIndexIsCompressedAfterItsBaseIsKnown(t *testing.T) {
	t.Parallel()
	long := `<html><head><base href="/"></head><body>` + strings.Repeat("console ", 200) + `</body></html>`
	h, err := newHandler(fstest.MapFS{"index.html": {Data: []byte(long)}, "index.html.gz": {Data: []byte("stale")}}, "/porpoise")
	if err != nil {
		t.Fatal(err)
	}
	resp := get(h, "/p/a/r/7", "Accept-Encoding", "gzip, br")
	if resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Cache-Control") != revalidate || resp.Header.Get("ETag") == "" {
		t.Fatalf("headers %v", resp.Header)
	}
	whole, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(whole)
	if err != nil || !strings.Contains(string(page), `<base href="/porpoise/">`) {
		t.Errorf("index = %.80q, %v", page, err)
	}
	if plain := get(h, "/p/a/r/7"); plain.Header.Get("ETag") == resp.Header.Get("ETag") || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("plain headers %v", plain.Header)
	}
}
