// Package ui holds the web console's built files and serves them.
//
// It owns the embedded folder dist, the cache headers, the choice of a file's compressed
// copy, and the fallback by which a path of the console's own router gives its index. It never reads the disk at run
// time, needs no Node to compile (a committed placeholder stands in for a console
// that was not built), and knows nothing of the API. cmd hands its handler to the
// apiserver.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed all:dist
var files embed.FS

const (
	// immutable is for files whose name holds a hash of their content: a year, which is
	// the longest that caches take for an answer.
	immutable = "public, max-age=31536000, immutable"
	// revalidate makes a browser ask each time; the ETag makes the answer short.
	revalidate = "no-cache"
	// policy lets the console load its own files only. Neither script nor style may be
	// written into a page; the canvas sets styles by CSSOM, which no policy forbids.
	policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

	indexName = "index.html"
)

// baseTag is where the index says what its links are relative to.
var baseTag = regexp.MustCompile(`<base href="[^"]*"\s*/?>`)

// hashed is a name that the build gave a hash, such as assets/index-B7x2k9Qa.js. It is
// asked of that folder only: elsewhere such a name may be somebody's choice.
var hashed = regexp.MustCompile(`[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$`)

// file is one answer, made at the start.
type file struct {
	data  []byte
	kind  string // Content-Type
	etag  string
	cache string
	// packed are the same bytes compressed, the smallest first.
	packed []packed
}

// packed is a compressed copy of a file. Its tag differs from the file's: a cache must not
// take the one for the other.
type packed struct {
	coding string // as in Accept-Encoding
	data   []byte
	etag   string
}

// codings are the copies that a build may lay beside a file, by the ending of their names;
// the first that a browser takes is sent.
var codings = []struct{ name, ending string }{{"br", ".br"}, {"gzip", ".gz"}}

// handler serves files from memory; it never changes after it was made.
type handler struct {
	files map[string]file // by path below the mount, without a leading slash
}

// Handler returns the handler of the console for a server that is mounted at basePath
// ("" or such as "/porpoise"); it is to be given paths from which basePath was taken
// away. It is safe for concurrent use.
func Handler(basePath string) (http.Handler, error) {
	// A build goes to dist/app, beside the committed placeholder, so that it leaves the
	// working tree clean.
	folder := "dist"
	if _, err := fs.Stat(files, "dist/app/"+indexName); err == nil {
		folder = "dist/app"
	}
	dist, err := fs.Sub(files, folder)
	if err != nil {
		return nil, fmt.Errorf("console files: %w", err)
	}
	return newHandler(dist, basePath)
}

func newHandler(dist fs.FS, basePath string) (http.Handler, error) {
	h := &handler{files: map[string]file{}}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		if name == indexName {
			if data, err = rebase(data, basePath); err != nil {
				return err
			}
		}
		h.files[name] = newFile(name, data)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("console files: %w", err)
	}
	index, ok := h.files[indexName]
	if !ok {
		return nil, errors.New("console files: there is no " + indexName)
	}
	h.pair()
	// Its copies were made before it was rebased.
	index.packed = nil
	if small := squeeze(index.data); len(small) < len(index.data) {
		index.pack("gzip", small)
	}
	h.files[indexName] = index
	return h, nil
}

// pair takes the compressed copies out of the files, and puts each to its file.
func (h *handler) pair() {
	for _, c := range codings {
		for name, small := range h.files {
			whole, ok := strings.CutSuffix(name, c.ending)
			if !ok {
				continue
			}
			delete(h.files, name)
			if f, ok := h.files[whole]; ok {
				f.pack(c.name, small.data)
				h.files[whole] = f
			}
		}
	}
}

func (f *file) pack(coding string, data []byte) {
	f.packed = append(f.packed, packed{coding: coding, data: data, etag: strings.TrimSuffix(f.etag, `"`) + "-" + coding + `"`})
}

// squeeze compresses the index, which is known only at the start: its base is the server's.
func squeeze(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// takes tells whether an Accept-Encoding header allows a coding. One that is named with
// q=0, or not named at all, is not wanted.
func takes(accept []string, coding string) bool {
	any := false
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(part, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			wanted := true
			if q, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q="); ok {
				weight, err := strconv.ParseFloat(q, 64)
				wanted = err == nil && weight > 0
			}
			switch name {
			case coding:
				return wanted
			case "*":
				any = wanted
			}
		}
	}
	return any
}

// rebase points the index's relative links at the mount.
func rebase(index []byte, basePath string) ([]byte, error) {
	if n := len(baseTag.FindAll(index, 2)); n != 1 {
		return nil, fmt.Errorf("%s has %d <base> tags, want 1", indexName, n)
	}
	tag := `<base href="` + html.EscapeString(strings.TrimSuffix(basePath, "/")) + `/">`
	return baseTag.ReplaceAllLiteral(index, []byte(tag)), nil
}

func newFile(name string, data []byte) file {
	sum := sha256.Sum256(data)
	f := file{data: data, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, cache: revalidate, kind: kindOf(name)}
	if strings.HasPrefix(name, "assets/") && hashed.MatchString(name) {
		f.cache = immutable
	}
	return f
}

// kinds are the types of what a build makes; the machine's own table is not asked,
// because it differs between machines.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
	".woff2": "font/woff2", ".woff": "font/woff", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm",
	".webmanifest": "application/manifest+json",
}

func kindOf(name string) string {
	if kind, ok := kinds[path.Ext(name)]; ok {
		return kind
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// ServeHTTP answers with a file, with the index for a page of the console's own, or 404.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	f, ok := h.files[name]
	if !ok {
		// A page has no dot in its last part; what has one is a file that is not there,
		// and answering it with a page would hide that.
		if strings.Contains(path.Base(name), ".") && name != "" {
			http.NotFound(w, r)
			return
		}
		f = h.files[indexName]
	}
	head := w.Header()
	data, etag := f.data, f.etag
	if len(f.packed) > 0 {
		// Said of the whole answer too: a cache must not give it to who could take less.
		head.Add("Vary", "Accept-Encoding")
		for _, p := range f.packed {
			if takes(r.Header.Values("Accept-Encoding"), p.coding) {
				data, etag = p.data, p.etag
				head.Set("Content-Encoding", p.coding)
				break
			}
		}
	}
	head.Set("Content-Type", f.kind)
	head.Set("Cache-Control", f.cache)
	head.Set("ETag", etag)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin")
	if strings.HasPrefix(f.kind, "text/html") || f.kind == "image/svg+xml" {
		head.Set("Content-Security-Policy", policy)
	}
	// It compares If-None-Match, cuts ranges and leaves the body out for HEAD.
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
