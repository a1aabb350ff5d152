package dag

import (
	"strings"
	"testing"
)

// drawnForm is a form with one field, which has a default.
func drawnForm(name string) Form {
	value := valueText("none")
	field := paramText{Type: string(ParamString), Default: &value}
	f := make(Form, 1)
	f[0].Name, f[0].Value = name, field
	return f
}

const approvalText = `
name: release
params: {version: "7"}
tasks:
  - name: ask
    type: approval
    message: Release ${version}?
    approvers: {users: [ann, bob], roles: [owner]}
    quorum: 2
    not_starter: true
    expires: 2d
    on_expiry: reject
    form:
      percent: {type: integer, min: 1, max: 100, description: How much of it}
      note: none
  - name: go
    type: shell
    needs: [ask]
    script: release "$percent"
    env: {NOTE: "${ask.note}"}
`

func TestAFormsFieldsAreOutputsForTheTasksBelow(t *testing.T) {
	plan, errs := ParsePlan([]byte(approvalText), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, 1000)
	for k, by := range []string{"ann", "bob"} {
		values := map[string]string{"percent": []string{"10", "25"}[k]}
		in.Step(Control{ID: 1, Verb: VerbApprove, Tasks: []int{0}, By: by, Decision: Decision{Number: 1, Values: values}}, 2000)
	}
	run, err := Resolve(in, 1, in.Facts)
	if err != nil {
		t.Fatal(err)
	}
	if run.Env["percent"] != "25" || run.Env["NOTE"] != "none" {
		t.Errorf("the task below sees %v, want the last approval's percent and the default note", run.Env)
	}
	if got := in.ApprovalMessage(0); got != "Release 7?" {
		t.Errorf("it asks %q", got)
	}
}

func TestARejectionFillsInNothing(t *testing.T) {
	plan, errs := ParsePlan([]byte(approvalText), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, 1000)
	fx := in.Step(Control{ID: 1, Verb: VerbReject, Tasks: []int{0}, By: "ann", Decision: Decision{Number: 1, Reason: "not today", Values: map[string]string{"percent": "10"}}}, 2000)
	if len(fx.Decisions) != 1 || fx.Decisions[0].Values != nil || fx.Decisions[0].Reason != "not today" || in.Tasks[0].Outputs != nil {
		t.Errorf("what is kept of the rejection is %+v, the outputs are %v", fx.Decisions, in.Tasks[0].Outputs)
	}
}

func TestADryRunAsksNobody(t *testing.T) {
	plan, errs := ParsePlan([]byte(approvalText), "yaml")
	if len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	in := NewInstance(plan, 1, StartOptions{DryRun: true})
	fx := in.Step(Begin{}, 1000)
	if ask := in.Tasks[0]; ask.State != TaskSuccess || ask.Outputs["note"] != "none" || ask.NextAt != 0 {
		t.Errorf("the approval is %+v", ask)
	}
	for _, action := range fx.Actions {
		if arm, ok := action.(Arm); ok {
			t.Errorf("a timer is armed: %+v", arm)
		}
	}
	if in.Tasks[1].State != TaskReady {
		t.Errorf("the task below is %s", in.Tasks[1].State)
	}
}

func TestWhatIsWrongWithAnApprovalIsToldAtOnce(t *testing.T) {
	for _, c := range []struct{ key, field, says string }{
		{"approvers: {}", "tasks[0].approvers", "nobody could decide"},
		{"approvers: {users: [ann, ann]}", "tasks[0].approvers.users[1]", "twice"},
		{"approvers: {users: [ann]}\n    quorum: 2", "tasks[0].quorum", "more people must approve than are asked"},
		{"approvers: {roles: [viewer]}", "tasks[0].approvers.roles[0]", "want operator"},
		{"quorum: 0", "tasks[0].quorum", "1"},
		{"on_expiry: approve", "tasks[0].on_expiry", "expires"},
		{"on_expiry: maybe", "tasks[0].on_expiry", "fail"},
		{"expires: 1d\n    on_expiry: approve\n    form: {n: {type: integer}}", "tasks[0].form.n", "wants a default"},
		{"form: {n: {type: integer, default: x}}", "tasks[0].form.n.default", "whole number"},
		{"form: {PATH: x}", "tasks[0].form.PATH", ""},
		{"form: {day: \"$[yyyyMMdd]\"}", "tasks[0].form.day", "stands as it is"},
		{"message: Take ${none}?", "tasks[0].message", "none"},
		{"wanted: 1", "tasks[0].wanted", ""},
	} {
		text := "name: w\ntasks:\n  - name: ask\n    type: approval\n    " + c.key + "\n"
		_, errs := Parse([]byte(text), "yaml")
		found := false
		for _, e := range errs {
			found = found || e.Field == c.field && strings.Contains(e.Message, c.says)
		}
		if !found {
			t.Errorf("%s: got %v, want an error at %s that says %q", c.key, errs, c.field, c.says)
		}
	}
}

func TestAFormRefusesWhatItDoesNotTake(t *testing.T) {
	def, errs := Parse([]byte(approvalText), "yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	spec := def.Tasks[0].Spec.(*ApprovalSpec)
	for _, c := range []struct {
		values map[string]string
		field  string
	}{
		{map[string]string{"percent": "50"}, ""},
		{map[string]string{"percent": "101"}, "values.percent"},
		{map[string]string{"percent": "many"}, "values.percent"},
		{map[string]string{}, "values.percent"},
		{map[string]string{"percent": "5", "other": "x"}, "values.other"},
	} {
		got := ""
		if errs := spec.CheckValues(c.values); len(errs) > 0 {
			got = errs[0].Field
		}
		if got != c.field {
			t.Errorf("%v: wrong is %q, want %q", c.values, got, c.field)
		}
	}
}
