package dag

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func compare(t *testing.T, before, after string) Difference {
	t.Helper()
	d, errs := Compare([]byte(before), []byte(after), "yaml", "yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return d
}

// shownFields writes field differences in one line each.
func shownFields(fields []FieldDifference) (out []string) {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for _, f := range fields {
		out = append(out, f.Field+": "+text(f.Before)+" > "+text(f.After))
	}
	return out
}

func TestDifferenceNamesTasksFieldsAndEdges(t *testing.T) {
	t.Parallel()
	d := compare(t, `
name: w
params: {day: 1, old: x}
timeout: {after: 1h}
tasks:
  - {name: a, type: shell, script: one, retry: {times: 1}, outputs: [x]}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: noop, needs: [a, b]}
`, `
tasks:   # the order of keys and tasks does not count, nor do comments
  - {type: noop, name: c, needs: [b, d]}
  - {name: a, type: shell, script: two, retry: {times: 1, delay: 5s}, outputs: [x, y]}
  - {name: d, type: noop}
  - {name: b, type: noop, needs: [a]}
timeout: {after: 2h}
params: {day: "1"}
name: w
`)
	if got, want := shownFields(d.Settings), []string{"timeout.after: 1h > 2h", `params.day: 1 > "1"`, "params.old: x > -"}; !reflect.DeepEqual(got, want) {
		t.Errorf("settings %q, want %q", got, want)
	}
	if len(d.Changed) != 1 || d.Changed[0].Task != "a" {
		t.Fatalf("changed %+v", d.Changed)
	}
	if got, want := shownFields(d.Changed[0].Fields), []string{"script: one > two", "retry.delay: - > 5s", `outputs: ["x"] > ["x", "y"]`}; !reflect.DeepEqual(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	if !reflect.DeepEqual(d.Added, []string{"d"}) || d.Removed != nil || d.Cut {
		t.Errorf("added %v, removed %v", d.Added, d.Removed)
	}
	if !reflect.DeepEqual(d.EdgesAdded, []Edge{{"d", "c"}}) || !reflect.DeepEqual(d.EdgesRemoved, []Edge{{"a", "c"}}) {
		t.Errorf("edges %v, %v", d.EdgesAdded, d.EdgesRemoved)
	}
	if same := compare(t, "name: w\ntasks: [{name: a, type: noop}]", "# hi\ntasks:\n  - {type: noop, name: a}\nname: w\n"); !same.Empty() {
		t.Errorf("the same: %+v", same)
	}
}

func TestDifferenceTakesDraftsThatAreNotValid(t *testing.T) {
	t.Parallel()
	d := compare(t, "name: w\ntasks:\n  - {name: a, type: noop}\n", "name: w\ntasks:\n  - {name: a, type: nop, neds: [x]}\n  - {name: a}\n  - {type: x}\n  - 7\n")
	if want := []string{"a [2]", "tasks[2]", "tasks[3]"}; !reflect.DeepEqual(d.Added, want) {
		t.Errorf("added %v, want %v", d.Added, want)
	}
	for _, text := range []string{"", "7", "tasks: 7", "tasks: {}", "tasks:", "name: []"} {
		if _, errs := Compare([]byte("name: w\ntasks: []"), []byte(text), "yaml", "yaml"); len(errs) > 0 && text != "" {
			t.Errorf("%q: %v", text, errs)
		}
	}
	if _, errs := Compare([]byte("a: ["), []byte("a: 1"), "yaml", "yaml"); len(errs) == 0 || errs[0].Line == 0 {
		t.Errorf("a text that is none: %v", errs)
	}
}

func TestDifferenceIsBounded(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	before.WriteString("name: w\ntasks:\n")
	after.WriteString("name: w\ntasks:\n")
	for i := range 3 * MaxDiffEntries / 2 {
		fmt.Fprintf(&before, "  - {name: a%d, type: shell, script: %s}\n", i, strings.Repeat("é", 1200))
		fmt.Fprintf(&after, "  - {name: a%d, type: shell, script: %s}\n", i, strings.Repeat("è", 1200))
	}
	d := compare(t, before.String(), after.String())
	bytes := 0
	for _, c := range d.Changed {
		for _, f := range c.Fields {
			if !strings.HasSuffix(*f.Before, cutMark) || len(*f.Before) > MaxDiffValue+len(cutMark) {
				t.Fatalf("value of %d bytes", len(*f.Before))
			}
			bytes += len(*f.Before) + len(*f.After)
		}
	}
	if !d.Cut || len(d.Changed) != MaxDiffEntries || bytes > maxDiffBytes+2*MaxDiffEntries*(len(cutMark)+1) {
		t.Errorf("%d changed, %d bytes, cut %v", len(d.Changed), bytes, d.Cut)
	}
}
