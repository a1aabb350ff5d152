package apiserver

import (
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const cachedDaily = "name: daily\ntasks:\n  - {name: a, type: shell, script: x, cache: {max_age: 1d}}\n  - {name: b, type: shell, script: y, cache: {max_age: 1d}, needs: [a]}\n"

func TestWhatIsKeptOfAWorkflowIsShownAndCleared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const one = "/api/v1/projects/p/workflows/daily"
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", cachedDaily, "")
	start := func() string {
		return decode[struct {
			ID string `json:"instance_id"`
		}](t, b.must(202, "POST", one+"/start", "")).ID
	}
	first, second := start(), start()
	done := func(task int, token string) []dag.Input {
		return []dag.Input{
			dag.Assign{Task: task, Worker: "w1", Incarnation: "b1", Token: token},
			dag.Report{Task: task, Number: 1, Token: token, State: dag.AttemptSuccess, FinishedAt: dag.MillisOf(time.Now())},
		}
	}
	b.drive(first, append(append([]dag.Input{dag.Begin{}}, done(0, "t1")...), done(1, "t2")...)...)
	from, _ := parseID(first)
	ran, err := b.db.Attempt(t.Context(), from, 0, 1)
	if err != nil || ran.CacheKey == "" {
		t.Fatalf("the attempt that ran is %+v, %v", ran, err)
	}
	now := time.Now()
	entry := dag.CacheEntry{Key: ran.CacheKey, Instance: from, At: dag.MillisOf(now), Until: dag.MillisOf(now.Add(time.Hour))}
	b.drive(second, dag.Begin{}, dag.Recall{Task: 0, Entry: entry})

	attempts := decode[List[Attempt]](t, b.must(200, "GET", "/api/v1/instances/"+second+"/tasks/a/attempts", "")).Items
	if len(attempts) != 1 || jsonID(int64(attempts[0].CachedFrom)) != first || attempts[0].Worker != "" {
		t.Errorf("the attempt is %+v, want one that took over what instance %s gave", attempts, first)
	}
	why := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+second+"/explain?task=a", ""))
	if why.Code != "cached" || !strings.Contains(why.Text, "did not run") || len(why.Causes) != 1 || why.Causes[0].Text != "taken over from instance "+first {
		t.Errorf("explained as %+v", why)
	}

	viewer, operator := b.person("vic", "p", roleViewer, false), b.person("opa", "p", roleOperator, false)
	if w := b.do(asked{method: "DELETE", path: one + "/cache", token: viewer}); w.Code != 403 {
		t.Errorf("a viewer clears the cache: %d", w.Code)
	}
	for _, c := range []struct {
		query string
		want  int
	}{{"?task=none", 0}, {"?task=a", 1}, {"", 1}, {"", 0}} {
		w := b.do(asked{method: "DELETE", path: one + "/cache" + c.query, token: operator})
		if w.Code != 200 || decode[Cleared](t, w).Deleted != c.want {
			t.Errorf("clearing %q = %d %s, want %d deleted", c.query, w.Code, w.Body, c.want)
		}
	}
	b.must(404, "DELETE", "/api/v1/projects/p/workflows/none/cache", "")
}
