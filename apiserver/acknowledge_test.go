package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestAFailureIsAcknowledgedUntilItIsRecovered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	viewer, operator := b.person("vera", "alpha", roleViewer, false), b.person("olga", "alpha", roleOperator, false)
	path, list := "/api/v1/instances/"+id+"/acknowledgement", "/api/v1/instances?state=failed&acknowledged="
	put := func(token, body string) (int, string) {
		w := b.do(asked{method: "PUT", path: path, body: body, token: token})
		return w.Code, w.Body.String()
	}
	if code, body := put(operator, `{"round":1}`); code != 409 {
		t.Errorf("what has not begun is acknowledged: %d %s", code, body)
	}
	b.fail(id)
	if code, _ := put(viewer, `{"round":1}`); code != 403 {
		t.Errorf("a viewer acknowledges: %d", code)
	}
	if code, body := put(operator, `{"round":2}`); code != 409 || !strings.Contains(body, `"field":"round"`) {
		t.Errorf("a round that nobody has seen is acknowledged: %d %s", code, body)
	}
	if code, body := put(operator, `{}`); code != 422 && code != 400 || !strings.Contains(body, "round") {
		t.Errorf("without a round: %d %s", code, body)
	}
	ids := func(which string) (out []string) {
		for _, in := range decode[List[Instance]](t, b.must(200, "GET", list+which, "")).Items {
			out = append(out, fmt.Sprint(int64(in.ID)))
		}
		return out
	}
	if len(ids("no")) != 1 || len(ids("yes")) != 0 {
		t.Errorf("before: not acknowledged %v, acknowledged %v", ids("no"), ids("yes"))
	}
	if code, body := put(operator, `{"round":1,"note":"the disk is full"}`); code != 200 {
		t.Fatalf("acknowledge: %d %s", code, body)
	}
	for _, at := range []string{"/api/v1/instances/" + id, "/api/v1/instances/" + id + "/view"} {
		if w := b.must(200, "GET", at, ""); !strings.Contains(w.Body.String(), `"acknowledged":{"by":"olga"`) || !strings.Contains(w.Body.String(), "the disk is full") {
			t.Errorf("%s: %s", at, w.Body)
		}
	}
	if len(ids("no")) != 0 || len(ids("yes")) != 1 {
		t.Errorf("after: not acknowledged %v, acknowledged %v", ids("no"), ids("yes"))
	}
	if w := b.do(asked{method: "DELETE", path: path, token: viewer}); w.Code != 403 {
		t.Errorf("a viewer takes it back: %d", w.Code)
	}
	if w := b.do(asked{method: "DELETE", path: path, token: operator}); w.Code != 204 || len(ids("no")) != 1 {
		t.Errorf("taken back: %d, not acknowledged %v", w.Code, ids("no"))
	}
	if code, _ := put(operator, `{"round":1}`); code != 200 {
		t.Fatalf("acknowledge again: %d", code)
	}
	b.must(202, "POST", "/api/v1/instances/"+id+"/recover", "")
	b.step(id, dag.Control{ID: b.wishes(id)[0].ID, Verb: dag.VerbRecover, By: "olga"})
	if in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+id, "")); in.Round != 2 || in.Acknowledged != nil {
		t.Errorf("recovered, and acknowledged still: round %d, %+v", in.Round, in.Acknowledged)
	}
}

func TestUsualIsOfWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.must(200, "GET", "/api/v1/tasks?is=waiting&older=usual", "")
	if got := wrongFields(b, 400, "GET", "/api/v1/tasks?is=running&older=usual", ""); got != "older invalid_duration" {
		t.Errorf("of what runs: %s", got)
	}
}
