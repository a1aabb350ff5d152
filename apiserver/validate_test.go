package apiserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func codes(list []dag.FieldError) (out []string) {
	for _, e := range list {
		out = append(out, e.Code)
	}
	return out
}

func TestValidateSaysWhatDependsOnThePlace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	check := func(query, text string) Findings {
		return decode[Findings](t, b.must(200, "POST", "/api/v1/validate"+query, text, "Content-Type", yamlType))
	}
	const text = "name: daily\ntasks:\n  - {name: a, type: noop, worker_group: gpu}\n  - {name: b, type: shell, script: 'echo ${dya}', needs: [a], worker_group: gpu}\n"
	if f := check("", text); !f.Valid || !slices.Equal(codes(f.Warnings), []string{"unknown_variable"}) {
		t.Errorf("anywhere: %+v", f)
	}
	f := check("?project=alpha&workflow=daily", text)
	if !f.Valid || !slices.Equal(codes(f.Warnings), []string{"no_worker", "unknown_variable"}) || f.Warnings[0].Line != 3 || f.Warnings[0].Args["group"] != "gpu" {
		t.Errorf("in alpha: %+v", f)
	}
	f = check("?project=alpha&workflow=weekly", text)
	if f.Valid || !slices.Equal(codes(f.Errors), []string{"mismatch"}) || f.Errors[0].Line != 1 || f.Errors[0].Column != 7 {
		t.Errorf("under another name: %+v", f)
	}
	if f := check("?project=alpha", strings.ReplaceAll(text, "daily", "DAILY")); f.Valid || f.Errors[0].Code != "name_taken" {
		t.Errorf("in another spelling: %+v", f)
	}
	if f := check("?project=alpha&workflow=daily", "tasks: [\n"); f.Valid || f.Errors[0].Code != "syntax" {
		t.Errorf("no YAML: %+v", f)
	}
	if f := check("?project=alpha&workflow=daily", "7"); f.Valid {
		t.Errorf("no map: %+v", f)
	}
	// What somebody may not see, he can't ask about.
	other := b.person("otto", "", roleNone, false)
	for query, want := range map[string]int{"": 200, "?project=alpha": 404, "?project=nowhere": 404} {
		if w := b.do(asked{method: "POST", path: "/api/v1/validate" + query, body: text, token: other, header: map[string]string{"Content-Type": yamlType}}); w.Code != want {
			t.Errorf("validate%s = %d, want %d", query, w.Code, want)
		}
	}
}
