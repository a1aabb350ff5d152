package interval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/interval"
)

func leaf(name string) interval.Tree {
	return interval.Tree{Item: &interval.Item{Project: "p", Workflow: name, Date: "today"}}
}

func verdicts(words string) []interval.Finding {
	var out []interval.Finding
	for w := range strings.FieldsSeq(words) {
		v := map[string]interval.Verdict{"S": interval.Success, "F": interval.Failed, "W": interval.Waiting}[w]
		out = append(out, interval.Finding{Verdict: v, Code: "leaf", Text: fmt.Sprint("leaf ", len(out))})
	}
	return out
}

func TestDecideBringsGroupsToOneVerdict(t *testing.T) {
	t.Parallel()
	three := []interval.Tree{leaf("a"), leaf("b"), leaf("c")}
	all, either := interval.Tree{All: three}, interval.Tree{Any: three}
	// (a and b) or (c and d): the two levels that DolphinScheduler's form has.
	two := interval.Tree{Any: []interval.Tree{{All: []interval.Tree{leaf("a"), leaf("b")}}, {All: []interval.Tree{leaf("c"), leaf("d")}}}}
	tests := []struct {
		tree     interval.Tree
		findings string
		want     interval.Verdict
		causes   int
	}{
		{all, "S S S", interval.Success, 3},
		{all, "S W S", interval.Waiting, 1},
		{all, "W F S", interval.Failed, 1},
		{all, "W W F", interval.Failed, 1},
		{all, "W W W", interval.Waiting, 3},
		{either, "F F F", interval.Failed, 3},
		{either, "F W F", interval.Waiting, 1},
		{either, "F W S", interval.Success, 1},
		{two, "S S F F", interval.Success, 1},
		{two, "S W F F", interval.Waiting, 1},
		{two, "S F F W", interval.Failed, 2},
		{two, "F F W S", interval.Waiting, 1},
		{leaf("a"), "W", interval.Waiting, 0},
		{interval.Tree{All: three[:1]}, "F", interval.Failed, 0},
	}
	for _, tt := range tests {
		got := interval.Decide(&tt.tree, verdicts(tt.findings), interval.OnFailureFail)
		if got.Verdict != tt.want || len(got.Causes) != tt.causes {
			t.Errorf("%s: %s with %d causes (%s), want %s with %d", tt.findings, got.Verdict, len(got.Causes), got.Text, tt.want, tt.causes)
		}
		for _, c := range got.Causes {
			if c.Verdict != got.Verdict {
				t.Errorf("%s: a cause of %s is %s", tt.findings, got.Verdict, c.Verdict)
			}
		}
	}
}

func TestDecideSaysWhy(t *testing.T) {
	t.Parallel()
	tree := interval.Tree{All: []interval.Tree{leaf("a"), leaf("b"), leaf("c")}}
	for findings, want := range map[string]string{
		"S W W": "all of 3 dependencies must succeed: 2 are still to come",
		"S F F": "2 of 3 dependencies have failed",
		"S S S": "3 of 3 dependencies have succeeded",
	} {
		if got := interval.Decide(&tree, verdicts(findings), interval.OnFailureFail); got.Text != want || got.Code != interval.CodeAll {
			t.Errorf("%s: %s %q, want %q", findings, got.Code, got.Text, want)
		}
	}
	held := interval.Decide(&tree, verdicts("S F W"), interval.OnFailureWait)
	if held.Verdict != interval.Waiting || held.Code != interval.CodeHeld || len(held.Causes) != 1 || held.Causes[0].Verdict != interval.Failed {
		t.Errorf("a failure that is waited out is %+v", held)
	}
	if got := interval.Decide(&tree, verdicts("S S S"), interval.OnFailureWait); got.Verdict != interval.Success {
		t.Errorf("a success is %s", got.Verdict)
	}
	tree = interval.Tree{Any: tree.All}
	if got := interval.Decide(&tree, verdicts("F W W"), interval.OnFailureWait); got.Text != "one of 3 dependencies must succeed, and none has: 2 are still to come" {
		t.Errorf("text is %q", got.Text)
	}
}

func TestItemsComeInTheOrderOfTheText(t *testing.T) {
	t.Parallel()
	tree := interval.Tree{All: []interval.Tree{{Any: []interval.Tree{leaf("a"), leaf("b")}}, leaf("c"), {All: []interval.Tree{leaf("d")}}}}
	var names []string
	for _, i := range tree.Items() {
		names = append(names, i.Workflow)
	}
	if !slices.Equal(names, []string{"a", "b", "c", "d"}) {
		t.Errorf("items are %v", names)
	}
}

func TestValidateNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	tree := interval.Tree{All: []interval.Tree{
		{},
		{Any: []interval.Tree{}},
		{Item: &interval.Item{Date: "lastMondy"}},
		{Item: &interval.Item{Workflow: "w"}, All: []interval.Tree{leaf("a")}},
		{Any: []interval.Tree{leaf("a"), {Item: &interval.Item{Workflow: "w"}}}},
	}}
	var at *document.Path
	var got []string
	for _, e := range tree.Validate(at.Key("check")) {
		got = append(got, e.Field+" "+e.Code)
	}
	want := []string{
		"check.all[0] invalid", "check.all[1].any required", "check.all[2].workflow required", "check.all[2].date not_in_enum",
		"check.all[3] invalid", "check.all[4].any[1].date required",
	}
	if !slices.Equal(got, want) {
		t.Errorf("wrong are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTreesAreBounded(t *testing.T) {
	t.Parallel()
	deep := leaf("a")
	for range interval.MaxDepth + 1 {
		deep = interval.Tree{All: []interval.Tree{deep}}
	}
	wide := interval.Tree{}
	for range interval.MaxItems + 1 {
		wide.All = append(wide.All, leaf("a"))
	}
	for want, tree := range map[string]interval.Tree{document.CodeTooDeep: deep, document.CodeTooLarge: wide} {
		errs := tree.Validate(nil)
		if len(errs) != 1 || errs[0].Code != want {
			t.Errorf("want %s, got %v", want, errs)
		}
	}
	deep, wide = deep.All[0], interval.Tree{All: wide.All[:interval.MaxItems]}
	if errs := append(deep.Validate(nil), wide.Validate(nil)...); len(errs) > 0 {
		t.Errorf("at the limit: %v", errs)
	}
}
