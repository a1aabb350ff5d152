package apiserver

import (
	"strings"
	"testing"
)

func TestDiffOfVersionsAndDraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	const one = "/api/v1/projects/alpha/workflows/daily"
	b.must(201, "PUT", one, strings.ReplaceAll(twoTasks, "needs: [extract]", "retry: {times: 1}")+"  - {name: c, type: noop, needs: [load]}\n",
		"Content-Type", yamlType, "If-Match", "*")
	d := decode[Diff](t, b.must(200, "GET", one+"/versions/1/diff/2", ""))
	if d.SameText || len(d.Tasks.Added) != 1 || len(d.Tasks.Changed) != 1 || d.Tasks.Changed[0].Fields[0].Field != "retry.times" ||
		len(d.Edges.Added) != 1 || d.Edges.Removed[0] != (DiffEdge{"extract", "load"}) || len(d.Settings) != 0 {
		t.Errorf("diff %+v", d)
	}
	b.must(404, "GET", one+"/versions/1/diff/draft", "")
	b.must(404, "GET", one+"/versions/1/diff/3", "")
	b.must(400, "GET", one+"/versions/1/diff/newest", "")
	b.must(201, "PUT", one+"/draft", "# mine\n"+twoTasks, "Content-Type", yamlType)
	if d := decode[Diff](t, b.must(200, "GET", one+"/versions/1/diff/draft", "")); d.SameText || len(d.Tasks.Changed)+len(d.Settings) != 0 || d.To != "draft" {
		t.Errorf("a comment differs: %+v", d)
	}
	if d := decode[Diff](t, b.must(200, "GET", one+"/versions/draft/diff/1", "")); d.From != "draft" {
		t.Errorf("the other way round: %+v", d)
	}
	b.must(200, "PUT", one+"/draft", "tasks: [", "Content-Type", yamlType, "If-Match", "*")
	if p := decode[Problem](t, b.must(422, "GET", one+"/versions/1/diff/draft", "")); p.Errors[0].Line != 1 {
		t.Errorf("a draft that is no YAML: %+v", p)
	}
}
