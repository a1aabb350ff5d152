package apiserver

import (
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

func TestStartNamesTheTasksInItsScope(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const one = "/api/v1/projects/alpha/workflows/w"
	b.must(201, "PUT", one, "name: w\nparams: {n: {type: integer, default: 1}}\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop, needs: [a]}\n  - {name: c, type: noop, needs: [b]}\n  - {name: d, type: noop}\n", "Content-Type", yamlType)
	before := b.snapshot()
	for body, want := range map[string][]string{
		`{}`:                                   {"a", "b", "c", "d"},
		`{"start_tasks":["b"]}`:                {"b", "c"},
		`{"start_tasks":["b"],"scope":"only"}`: {"b"},
		`{"start_tasks":["b"],"scope":"upstream"}`: {"a", "b"},
		`{"start_tasks":["d","c"],"version":1}`:    {"c", "d"},
	} {
		got := decode[struct {
			ID      string   `json:"instance_id"`
			Version int      `json:"version"`
			Tasks   []string `json:"tasks"`
		}](t, b.must(200, "POST", one+"/start?preview=true", body))
		if got.ID != "" || got.Version != 1 || !slices.Equal(got.Tasks, want) {
			t.Errorf("%s: %+v, want %v", body, got, want)
		}
	}
	p := decode[Problem](t, b.must(422, "POST", one+"/start?preview=true", `{"start_tasks":["x","a","y"],"params":{"n":"q","m":1}}`))
	if len(p.Errors) != 4 || p.Errors[0].Field != "params.n" && p.Errors[0].Field != "params.m" || p.Errors[3].Field != "start_tasks[2]" {
		t.Errorf("errors %+v", p.Errors)
	}
	if after := b.snapshot(); after != before {
		t.Error("a preview wrote something")
	}
	w := b.must(202, "POST", one+"/start", `{"start_tasks":["b"]}`)
	got := decode[struct {
		ID    string   `json:"instance_id"`
		Tasks []string `json:"tasks"`
	}](t, w)
	if got.ID == "" || !slices.Equal(got.Tasks, []string{"b", "c"}) || w.Header().Get("Location") == "" {
		t.Errorf("started %+v", got)
	}
}

// TestDatesOfAStartAreThoseOfItsTimezone looks at an instance's values, and at those of
// its rerun.
func TestDatesOfAStartAreThoseOfItsTimezone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const one = "/api/v1/projects/alpha/workflows/daily"
	b.must(201, "PUT", one, "name: daily\nparams: {day: '$[yyyy-MM-dd-1]'}\ntasks: [{name: a, type: shell, script: 'true', env: {AT: '$[HHmm]'}}]\n", "Content-Type", yamlType)
	started := func(path, key, body string) string {
		id, _ := decode[map[string]any](t, b.must(202, "POST", path, body))[key].(string)
		return id
	}
	id := started(one+"/start", "instance_id", `{"schedule_time":"2026-03-28T23:30:00Z","timezone":"Asia/Shanghai"}`)
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptSuccess, FinishedAt: dag.MillisOf(time.Now())})
	again := started("/api/v1/instances/"+id+"/rerun", "id", `{"params":{}, "version": 1}`)
	for _, id := range []string{id, again} {
		if in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+id, "")); in.Timezone != "Asia/Shanghai" {
			t.Errorf("the timezone of %s is %q", id, in.Timezone)
		}
		got := map[string]string{}
		for _, query := range []string{"", "?task=a"} {
			for _, v := range decode[List[Value]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/values"+query, "")).Items {
				got[query+v.Name] = v.Value
			}
		}
		if got["day"] != "2026-03-28" || got["?task=aday"] != "2026-03-28" || got["?task=aAT"] != "0730" {
			t.Errorf("values of %s: %v", id, got)
		}
	}
	b.must(422, "POST", one+"/start", `{"timezone":"Europe/Atlantis"}`)
	b.must(422, "POST", one+"/start", `{"timezone":"Local"}`)
}
