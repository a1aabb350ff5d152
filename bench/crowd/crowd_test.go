package crowd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/porpoise/porpoise/bench/site"
)

func TestWorkflowsHaveTheShapeThatIsMeasured(t *testing.T) {
	t.Parallel()
	if line := Chain(3, "shell", "true"); len(line) != 3 || len(line[0].Needs) != 0 || line[2].Needs[0] != "t1" {
		t.Errorf("Chain(3) = %+v, want each task to need the one before", line)
	}
	wide := FanOut(5, "noop", "")
	if len(wide) != 7 || len(wide[6].Needs) != 5 || wide[3].Needs[0] != "first" {
		t.Errorf("FanOut(5) = %+v, want 1 -> 5 -> 1", wide)
	}
}

func TestLayersNeedTwoOfTheLayerBefore(t *testing.T) {
	t.Parallel()
	tasks := Layers(6, 2)
	if len(tasks) != 6 || len(tasks[1].Needs) != 0 || !slices.Equal(tasks[5].Needs, []string{"t3", "t2"}) {
		t.Errorf("Layers(6, 2) = %+v, want three layers of two", tasks)
	}
}

// taker accepts starts, and refuses those beyond a number.
func taker(t *testing.T, most int64) (s *site.Site, connections *atomic.Int64) {
	t.Helper()
	var taken atomic.Int64
	connections = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/projects/p/workflows/w/start" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s %s by %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		n := taken.Add(1)
		if n > most {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"instance_id":"%d"}`, n)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return &site.Site{URL: server.URL, Token: "secret"}, connections
}

func TestACallerKeepsItsConnectionAndHearsRefusals(t *testing.T) {
	t.Parallel()
	s, connections := taker(t, 2)
	c := NewStarter(s, "p", "w")
	defer c.Close()
	for want := range 2 {
		if id, err := c.Start(t.Context()); err != nil || id != fmt.Sprint(want+1) {
			t.Fatalf("Start = %q, %v, want %d", id, err, want+1)
		}
	}
	a, err := c.Call(t.Context())
	if err != nil || a.Status != http.StatusServiceUnavailable || a.RetryAfter != "7" {
		t.Errorf("a call beyond = %+v, %v, want 503 with Retry-After 7", a, err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestACallHasTheBodyThatItWasGiven(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got = append(got, fmt.Sprint(r.Method, " ", r.URL, " ", string(body), " ", err))
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	s := &site.Site{URL: server.URL}
	for _, c := range []*Caller{StarterWith(s, "p", "w", `{"priority":"highest"}`), NewReader(s, "/api/v1/instances?limit=1")} {
		if a, err := c.Call(t.Context()); err != nil || a.Status != http.StatusAccepted {
			t.Fatalf("Call = %+v, %v", a, err)
		}
		c.Close()
	}
	want := []string{`POST /api/v1/projects/p/workflows/w/start {"priority":"highest"} <nil>`, "GET /api/v1/instances?limit=1  <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("the server was asked %q, want %q", got, want)
	}
}

func TestCallsStopAtTheirNumberAndAtARefusal(t *testing.T) {
	t.Parallel()
	s, connections := taker(t, 100)
	starter := func() *Caller { return NewStarter(s, "p", "w") }
	if n, err := Calls(t.Context(), 4, starter, func(begun int64) bool { return begun <= 90 }); n != 90 || err != nil {
		t.Errorf("Calls = %d, %v, want 90", n, err)
	}
	if n := connections.Load(); n != 4 {
		t.Errorf("%d connections, want one for each caller", n)
	}
	if n, err := Calls(t.Context(), 4, starter, func(int64) bool { return true }); n != 10 || err == nil {
		t.Errorf("Calls = %d, %v, want the other 10 and an error", n, err)
	}
}
