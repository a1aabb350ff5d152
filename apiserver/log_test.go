package apiserver

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/apiserver/logs"
)

func (goneLogs) Search(context.Context, string, logs.Search) (logs.Found, error) {
	return logs.Found{}, logs.ErrWorkerGone
}

// keptLogs is a worker that has one text for every attempt, and no pattern but texts.
type keptLogs struct {
	text  []byte
	asked logs.Search
}

func (k *keptLogs) Read(_ context.Context, _ string, q logs.Query) (logs.Window, error) {
	const most = 256 << 10 // as a worker has it
	size := int64(len(k.text))
	from := q.Offset
	if q.Line > 0 {
		from = lineStart(k.text, q.Line)
	}
	if from < 0 {
		from = max(0, size+from)
	}
	from = min(from, size)
	end := min(size, from+int64(min(q.Limit, most)))
	return logs.Window{
		Data: k.text[from:end], Offset: from, Size: size, EOF: end == size,
		Line: int64(bytes.Count(k.text[:from], []byte{'\n'})) + 1, Newlines: int64(bytes.Count(k.text, []byte{'\n'})),
	}, nil
}

func (k *keptLogs) Follow(context.Context, string, logs.Query, func(logs.Window) error) error {
	return nil
}

func (k *keptLogs) Search(_ context.Context, _ string, q logs.Search) (logs.Found, error) {
	k.asked = q
	return logs.Found{Hits: []logs.Hit{{Offset: 4, Line: 2, Number: 1, Text: "hit hit", Length: 3, More: []int{4, 3}}}, Total: 1, Whole: true, Searched: 9}, nil
}

// printed gives a bench whose instance has an attempt on a worker, with a text.
func printed(t *testing.T, text string) (b *bench, kept *keptLogs, log string) {
	t.Helper()
	kept = &keptLogs{text: []byte(text)}
	b = newBench(t, func(c *Config) { c.Logs = kept })
	id := b.seed("alpha")
	b.assign(id)
	return b, kept, "/api/v1/instances/" + id + "/tasks/extract/attempts/1/log"
}

func TestDownloadHasTheSameBytes(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := 0; text.Len() < 3<<20; i++ {
		text.WriteString("\x1b[32mline\x1b[0m \xff\x00 日志\r\n")
	}
	b, _, path := printed(t, text.String())
	w := b.must(200, "GET", path+"/download", "")
	if got := w.Body.String(); got != text.String() {
		t.Errorf("%d bytes, want %d", len(got), text.Len())
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename=extract-1.log` {
		t.Errorf("Content-Disposition = %s", got)
	}
	w = b.must(200, "GET", strings.Replace(path, "/attempts/1/log", "/logs.zip", 1), "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || len(z.File) != 1 || z.File[0].Name != "attempt-1.log" {
		t.Fatalf("zip = %+v, %v", z, err)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != text.String() {
		t.Errorf("%d bytes in the zip, want %d, %v", len(got), text.Len(), err)
	}
}

func TestZipSaysWhatIsNotThereAnyMore(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Logs = goneLogs{} })
	id := b.seed("alpha")
	b.assign(id)
	w := b.must(200, "GET", "/api/v1/instances/"+id+"/tasks/extract/logs.zip", "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || len(z.File) != 1 || z.File[0].Name != "attempt-1.missing.txt" {
		t.Fatalf("zip = %+v, %v", z, err)
	}
	b.must(503, "GET", "/api/v1/instances/"+id+"/tasks/extract/attempts/1/log/download", "")
	b.must(503, "GET", "/api/v1/instances/"+id+"/tasks/extract/attempts/1/log/search?q=x", "")
	b.must(404, "GET", "/api/v1/instances/"+id+"/tasks/load/logs.zip", "")
}

func TestWindowsBeginAtALine(t *testing.T) {
	t.Parallel()
	b, _, path := printed(t, "one\ntwo\nthree\n")
	ask := func(query string) (w LogWindow) {
		t.Helper()
		got := b.do(asked{method: "GET", path: path + query, token: b.admin, header: map[string]string{"Accept": "application/json"}})
		if got.Code != 200 {
			t.Fatalf("%s = %d: %s", query, got.Code, got.Body)
		}
		if err := json.Unmarshal(got.Body.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if w := ask("?line=2"); w.Data != "two\nthree\n" || w.Line != 2 || w.Offset != 4 || w.Newlines != 3 || w.LeftOut != nil {
		t.Errorf("from line 2 = %+v", w)
	}
	cut, _, path := printed(t, "日志\n")
	got := cut.do(asked{method: "GET", path: path + "?limit=4", token: cut.admin, header: map[string]string{"Accept": "application/json"}})
	if !strings.Contains(got.Body.String(), `"next_offset":3,`) || !strings.Contains(got.Body.String(), `"data":"日"`) {
		t.Errorf("a window that ends within a character = %s", got.Body)
	}
	if w := ask("?offset=-3"); w.Data != "ee\n" || w.Line != 3 {
		t.Errorf("the end = %+v", w)
	}
}

func TestSearchIsPassedToTheWorker(t *testing.T) {
	t.Parallel()
	b, kept, path := printed(t, "one\nhit\n")
	got := b.must(200, "GET", path+"/search?q=h%2Bit&regex=true&case=true&line=2&count=true&limit=7&stream=stderr", "")
	var f LogFound
	if err := json.Unmarshal(got.Body.Bytes(), &f); err != nil || f.Total != 1 || !f.Whole || len(f.Hits) != 1 || f.Hits[0].Line != 2 {
		t.Errorf("found %s, %v", got.Body, err)
	}
	if a := kept.asked; a.Text != "h+it" || !a.Regexp || !a.MatchCase || a.Line != 2 || !a.Count || a.Hits != 7 || a.Stream != "stderr" || a.Backward {
		t.Errorf("asked for %+v", a)
	}
	b.must(200, "GET", path+"/search?errors=true&backward=true", "")
	if a := kept.asked; a.Text != errorLike || !a.Regexp || !a.Backward || a.Offset < 1<<60 || a.Hits != defaultHits {
		t.Errorf("asked for %+v", a)
	}
}

// The console reads these answers, too.
func TestLogAnswersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	b, _, path := printed(t, "one\nhit\n")
	for name, query := range map[string]string{"log_window": "?line=2", "log_found": "/search?q=hit&count=true"} {
		w := b.do(asked{method: "GET", path: path + query, token: b.admin, header: map[string]string{"Accept": "application/json"}})
		got, file := normal(t, w.Body.Bytes()), filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s =\n%s\nwant\n%s%v", name, got, want, err)
		}
	}
}

func TestBadSearchesNameTheField(t *testing.T) {
	t.Parallel()
	b, _, path := printed(t, "x")
	for query, field := range map[string]string{
		"": "q", "?q=": "q", "?q=%28&regex=true": "q", "?q=a%0Ab": "q", "?q=%FF": "q", "?q=" + strings.Repeat("x", 1001): "q",
		"?q=" + strings.Repeat("%E6%97%A5", 400): "q", "?q=x&errors=true": "errors", "?q=x&offset=1.5": "offset", "?q=x&line=0": "line",
		"?q=x&limit=1001": "limit", "?q=x&limit=0": "limit", "?q=x&stream=both": "stream", "?q=x&regex=perhaps": "regex", "?qq=x": "qq",
	} {
		w := b.do(asked{method: "GET", path: path + "/search" + query, token: b.admin})
		expectField(t, query, w, field)
	}
	for query, field := range map[string]string{"?line=0": "line", "?line=x": "line", "?lines=0": "lines", "?offset=x": "offset"} {
		expectField(t, query, b.do(asked{method: "GET", path: path + query, token: b.admin}), field)
	}
}

func expectField(t *testing.T, query string, w *httptest.ResponseRecorder, field string) {
	t.Helper()
	var p Problem
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	found := false
	for _, e := range p.Errors {
		found = found || e.Field == field
	}
	if w.Code != 400 || !found {
		t.Errorf("%q = %d: %s; want 400 about %s", query, w.Code, w.Body, field)
	}
}

func (talkingLogs) Search(context.Context, string, logs.Search) (logs.Found, error) {
	return logs.Found{}, nil
}
