package apiserver

import (
	"slices"
	"testing"
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
