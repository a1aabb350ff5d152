package apiserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/apiserver/watch"
)

// listener reads a stream of server-sent events on a real connection.
type listener struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Reader
}

func (b *bench) listen(t *testing.T, srv *httptest.Server, topics, last string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/stream?topics="+topics, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.admin)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &listener{t: t, resp: resp, in: bufio.NewReader(resp.Body)}
}

// open serves b on loopback. Streams that are still open at the end are cut.
func (b *bench) open(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(b.handler)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv
}

// next returns one message: its id, kind and data.
func (l *listener) next() (id, kind, data string) {
	l.t.Helper()
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			l.t.Fatalf("read stream: %v", err)
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			if kind != "" {
				return id, kind, data
			}
		}
	}
}

func TestStreamResumesAfterTheLastEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.assign(id)
	srv := b.open(t)
	events := decode[List[Event]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/events", "")).Items
	if len(events) < 2 {
		t.Fatalf("events = %+v", events)
	}
	l := b.listen(t, srv, "instance:"+id+":1", "")
	for _, want := range events[1:] {
		sid, kind, data := l.next()
		if kind != "event" || sid != fmt.Sprintf("%s:%d", id, want.Seq) || !strings.Contains(data, fmt.Sprintf(`"seq":%d`, want.Seq)) {
			t.Errorf("message %s %s %s, want event %d", sid, kind, data, want.Seq)
		}
	}
	// A browser that connects again says itself where it was.
	_, kind, data := b.listen(t, srv, "instance:"+id, id+":1").next()
	if kind != "event" || !strings.Contains(data, `"seq":2`) {
		t.Errorf("after Last-Event-ID: %s %s", kind, data)
	}
	if _, kind, data := b.listen(t, srv, "instance:"+id, "").next(); kind != "snapshot" || !strings.Contains(data, `"state":"running"`) {
		t.Errorf("without seq: %s %s", kind, data)
	}
}

func TestStreamOfListsTellsWhatChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.seed("beta")
	srv := b.open(t)
	l := b.listen(t, srv, "instances:beta", "")
	if _, kind, data := l.next(); kind != "changed" || data != `{"topic":"instances:beta"}` {
		t.Errorf("first message %s %s", kind, data)
	}
	b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", "")
	w := b.must(202, "POST", "/api/v1/projects/beta/workflows/daily/start", "")
	want := decode[map[string]any](t, w)["instance_id"].(string)
	if _, kind, data := l.next(); kind != "changed" || !strings.Contains(data, `"instance_id":"`+want+`"`) {
		t.Errorf("after a start %s %s, want instance %s", kind, data, want)
	}
}

// TestA15StreamsOfOneUserAreBounded is requirement A15.
func TestA15StreamsOfOneUserAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	srv := b.open(t)
	var open []*listener
	for range maxStreams {
		l := b.listen(t, srv, "instances", "")
		l.next()
		open = append(open, l)
	}
	if l := b.listen(t, srv, "instances", ""); l.resp.StatusCode != 429 || l.resp.Header.Get("Retry-After") == "" {
		t.Errorf("one more = %d", l.resp.StatusCode)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/stream?topics=" + strings.Repeat("instances,", maxTopics) + "instances", token: b.admin}); w.Code != 400 {
		t.Errorf("too many topics = %d", w.Code)
	}
	if ct := open[0].resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("Content-Type %q", ct)
	}
}

func TestStreamEndsWithItsCallersRights(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	ctx := context.Background()
	token := b.person("vera", "alpha", roleViewer, false)
	p, err := b.store.Project(ctx, "alpha")
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	who, err := b.server.identify(r)
	if err != nil {
		t.Fatal(err)
	}
	st := &stream{s: b.server, call: &call{who: who}, topics: []*topic{{name: "instances:alpha", project: p.ID}}, request: r}
	if err := st.stillAllowed(ctx); err != nil {
		t.Errorf("before: %v", err)
	}
	if !st.wants(watch.Change{Project: p.ID}) || st.wants(watch.Change{Project: p.ID + 1}) {
		t.Error("the filter lets the wrong changes through")
	}
	b.must(204, "DELETE", "/api/v1/projects/alpha/members/vera", "")
	if err := st.stillAllowed(ctx); err == nil {
		t.Error("still allowed without the role")
	}
}

// talkingLogs is a worker that prints line after line.
type talkingLogs struct{ lines []string }

func (l talkingLogs) Read(_ context.Context, _ string, q logs.Query) (logs.Window, error) {
	all := strings.Join(l.lines, "")
	from := min(max(q.Offset, 0), int64(len(all)))
	to := min(from+int64(q.Limit), int64(len(all)))
	return logs.Window{Data: []byte(all[from:to]), Offset: from, Size: int64(len(all)), EOF: to == int64(len(all))}, nil
}

func (l talkingLogs) Follow(_ context.Context, _ string, _ logs.Query, yield func(logs.Window) error) error {
	for i, line := range l.lines {
		if err := yield(logs.Window{Data: []byte(line), EOF: i == len(l.lines)-1}); err != nil {
			return err
		}
	}
	return nil
}

func TestLogIsTextAndNeverAPage(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.Logs = talkingLogs{lines: []string{"<script>alert(1)</script>\n", "two\n", "three\n"}}
	})
	id := b.seed("alpha")
	b.assign(id)
	path := "/api/v1/instances/" + id + "/tasks/extract/attempts/1/log"
	w := b.must(200, "GET", path+"?offset=26&limit=4", "")
	if w.Body.String() != "two\n" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(w.Header().Get("Content-Disposition"), "log.txt") || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Log-Eof") != "false" {
		t.Errorf("window %q with %v", w.Body, w.Header())
	}
	win := decode[LogWindow](t, b.must(200, "GET", path+"?offset=30&limit=1000000000", "", "Accept", "application/json"))
	if win.Data != "three\n" || !win.EOF || win.NextOffset != 36 || win.Size != 36 {
		t.Errorf("JSON window %+v", win)
	}
	srv := b.open(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path+"?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.admin)
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil || string(all) != "<script>alert(1)</script>\ntwo\nthree\n" {
		t.Errorf("followed %q %v", all, err)
	}
}

func TestLogOfAWorkerThatIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Logs = goneLogs{} })
	id := b.seed("alpha")
	b.assign(id)
	for _, q := range []string{"", "?follow=true"} {
		w := b.must(503, "GET", "/api/v1/instances/"+id+"/tasks/extract/attempts/1/log"+q, "")
		if !strings.Contains(w.Body.String(), "worker lost") || w.Header().Get("Content-Type") != problemType {
			t.Errorf("log%s = %s", q, w.Body)
		}
	}
}
