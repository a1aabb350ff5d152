package apiserver

import (
	"reflect"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestTaskTypesAreCachedByTheirETag(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.must(200, "GET", "/api/v1/task-types", "")
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("headers %v", first.Header())
	}
	if again := b.must(304, "GET", "/api/v1/task-types", "", "If-None-Match", tag); again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
		t.Errorf("unchanged: %v %q", again.Header(), again.Body)
	}
	b.must(200, "GET", "/api/v1/task-types", "", "If-None-Match", `"old"`)
}

func TestTaskTypesDescribeEveryKeyForAForm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := decode[TaskTypes](t, b.must(200, "GET", "/api/v1/task-types", ""))
	var names []string
	for _, tt := range got.Items {
		names = append(names, tt.Type)
		properties := tt.Schema["properties"].(map[string]any)
		places := map[float64]string{}
		for name, p := range properties {
			at, ok := p.(map[string]any)["x-order"].(float64)
			if other, twice := places[at]; !ok || twice {
				t.Errorf("%s.%s has the place %v, like %s", tt.Type, name, at, other)
			}
			places[at] = name
		}
		for _, name := range tt.Required {
			if properties[name] == nil {
				t.Errorf("%s requires %s and does not describe it", tt.Type, name)
			}
		}
		if !slices.Contains(tt.Required, "name") {
			t.Errorf("%s requires %v", tt.Type, tt.Required)
		}
	}
	if !reflect.DeepEqual(names, dag.TaskTypes()) {
		t.Errorf("types %v, want %v", names, dag.TaskTypes())
	}
	// What a schema refers to is in it.
	for _, tt := range append(got.Items, TaskType{Type: "workflow", Schema: got.Workflow.Schema}) {
		defs, _ := tt.Schema["$defs"].(map[string]any)
		for _, ref := range refs(tt.Schema) {
			if defs[ref[len("#/$defs/"):]] == nil {
				t.Errorf("%s refers to %s", tt.Type, ref)
			}
		}
	}
	if p := got.Workflow.Schema["properties"].(map[string]any); p["tasks"] != nil || p["params"] == nil {
		t.Errorf("workflow form %v", p)
	}
}

func refs(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if ref, ok := inner.(string); ok && k == "$ref" {
				out = append(out, ref)
			}
			out = append(out, refs(inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, refs(inner)...)
		}
	}
	return out
}
