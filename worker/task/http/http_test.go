package http_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/rpc"
	thttp "github.com/porpoise/porpoise/worker/task/http"
	"github.com/porpoise/porpoise/worker/task/tasktest"
	"github.com/porpoise/porpoise/worker/workertest"
)

func TestMain(m *testing.M) { tasktest.Main(m) }

// serve answers what the tests ask for.
func serve(t *testing.T) (url string, traces *atomic.Int64) {
	t.Helper()
	traces = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") })
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/trace", func(http.ResponseWriter, *http.Request) { traces.Add(1) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/trace", http.StatusFound) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte{'x'}, 2<<20)) })
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("X-Day"), r.Header.Get("Idempotency-Key"), body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, traces
}

func TestHTTPKeepsTheContract(t *testing.T) {
	t.Parallel()
	url, traces := serve(t)
	tasktest.Run(t, tasktest.Example{
		Type:  "http",
		Quick: dag.HTTPSpec{URL: url + "/hello"}, Output: "hello",
		Fails: dag.HTTPSpec{URL: url + "/missing"}, Reason: "http_status",
		Slow: dag.HTTPSpec{URL: url + "/slow"},
		Sets: dag.HTTPSpec{URL: url + "/hello"}, Name: "response", Value: "hello",
		Trace: dag.HTTPSpec{URL: url + "/trace"}, Traced: func() bool { return traces.Load() > 0 },
	})
}

func call(t *testing.T, of thttp.Type, spec dag.HTTPSpec) (reason, message, output string) {
	t.Helper()
	d := workertest.Dispatch(1, "http", spec)
	out := new(bytes.Buffer)
	r := of.Call(t.Context(), d, out)
	return r.Reason, r.Message, out.String()
}

func TestTheAnswerIsJudged(t *testing.T) {
	t.Parallel()
	url, traces := serve(t)
	for _, c := range []struct {
		spec   dag.HTTPSpec
		reason string
	}{
		{dag.HTTPSpec{URL: url + "/missing", Expect: &dag.HTTPExpect{Status: dag.StatusRanges{{From: 200, To: 299}, {From: 404, To: 404}}}}, ""},
		{dag.HTTPSpec{URL: url + "/hello", Expect: &dag.HTTPExpect{Status: dag.StatusRanges{{From: 201, To: 201}}}}, "http_status"},
		{dag.HTTPSpec{URL: url + "/hello", Expect: &dag.HTTPExpect{BodyContains: "ell"}}, ""},
		{dag.HTTPSpec{URL: url + "/hello", Expect: &dag.HTTPExpect{BodyContains: "bye"}}, "http_body"},
		{dag.HTTPSpec{URL: url + "/hello", Expect: &dag.HTTPExpect{BodyNotContains: "ell"}}, "http_body"},
		{dag.HTTPSpec{URL: url + "/away"}, "http_status"},
		{dag.HTTPSpec{URL: url + "/large"}, "response_too_large"},
		{dag.HTTPSpec{URL: "file:///etc/passwd"}, "bad_spec"},
		{dag.HTTPSpec{URL: "gopher://x/"}, "bad_spec"},
		{dag.HTTPSpec{URL: "http://"}, "bad_spec"},
		{dag.HTTPSpec{URL: "http://127.0.0.1:1/"}, "http_failed"},
	} {
		if reason, message, _ := call(t, thttp.Type{}, c.spec); reason != c.reason || (reason != "") != (message != "") {
			t.Errorf("%v: %s %q, want %q", c.spec, reason, message, c.reason)
		}
	}
	if traces.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestTheRequestIsAsTheTaskSays(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	_, _, out := call(t, thttp.Type{}, dag.HTTPSpec{
		URL: url + "/echo", Method: "post", Headers: map[string]string{"X-Day": "monday"}, Body: "a=1",
	})
	if out != "POST monday key-1 a=1" {
		t.Errorf("the server saw %q", out)
	}
}

// Attack A12: addresses that a task must not reach.
func TestDeniedAddressesAreDeniedByWhatTheyResolveTo(t *testing.T) {
	t.Parallel()
	url, traces := serve(t)
	port := url[strings.LastIndex(url, ":"):]
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0xa9fea9fe", "224.0.0.1"} {
		reason, message, _ := call(t, thttp.Type{}, dag.HTTPSpec{URL: "http://" + host + port + "/trace", ConnectTimeout: dag.Duration(time.Second)})
		if reason != "address_denied" && host != "0xa9fea9fe" || reason == "" {
			t.Errorf("%s: %s %s", host, reason, message)
		}
	}
	strict := thttp.Type{Rule: egress.Rule{DenyLoopback: true, DenyPrivate: true}}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "127.1.2.3", "10.0.0.1", "192.168.0.1", "[fd00::1]", "0.0.0.0"} {
		reason, message, _ := call(t, strict, dag.HTTPSpec{URL: "http://" + host + port + "/trace", ConnectTimeout: dag.Duration(time.Second)})
		if reason != "address_denied" {
			t.Errorf("%s: %s %s", host, reason, message)
		}
	}
	if traces.Load() != 0 {
		t.Error("a denied address was reached")
	}
}

func TestACallThatWasUnderWayIsNotMadeAgainAfterAKill(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	entered := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 2, m)
	first := workertest.Launch(t, spec)
	d := workertest.Dispatch(1, "http", dag.HTTPSpec{URL: server.URL})
	m.Submit(d)
	<-entered
	_ = first.Process.Kill()
	_ = first.Wait()
	spec.Boot = "boot2"
	workertest.Run(t, spec)
	m.Hellos(2)
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	if r := m.Report("t1"); r.State != "failed" || r.Reason != "worker_restarted" {
		t.Errorf("report = %v", r)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}
