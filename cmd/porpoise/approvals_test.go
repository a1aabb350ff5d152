package main

import (
	"strings"
	"testing"
)

func TestApprovalsSayWhatTheyWant(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"items": [{"instance_id": "42", "project": "sales", "workflow": "release", "task": "ask", "attempt": 1, "quorum": 2, "message": "release 1.4?",
		"form": [{"name": "percent", "type": "integer"}, {"name": "note", "type": "string", "default": "none"}], "decisions": [{"by": "ann", "approve": true}]}]}`)
	code, out, errs := cmd(t, "", "approvals", "--server", a.URL)
	for _, want := range []string{"42", "sales/release", "ask", "1 of 2", "percent", "release 1.4?"} {
		if !strings.Contains(out, want) {
			t.Errorf("approvals = %d %q %q, it lacks %q", code, out, errs, want)
		}
	}
	if strings.Contains(out, "note") || code != exitOK {
		t.Errorf("a field that has a default is wanted: %d %q", code, out)
	}
}

func TestADecisionSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"id": "42", "state": "running"}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{
			[]string{"approve", "42", "ask", "--value", "percent=10", "--value", "note=a=b", "--reason", "it is tested", "--attempt", "3"},
			`POST /api/v1/instances/42/tasks/ask/approve {"attempt":3,"reason":"it is tested","values":{"note":"a=b","percent":"10"}}`,
		},
		{[]string{"reject", "42", "ask", "--reason", "not today"}, `POST /api/v1/instances/42/tasks/ask/reject {"reason":"not today"}`},
	} {
		code, _, errs := cmd(t, "", append(c.args, "--server", a.URL)...)
		if got := strings.TrimSpace(a.last()); code != exitOK || got != c.want {
			t.Errorf("%v = %d %q, asked %s\nwant %s", c.args, code, errs, got, c.want)
		}
	}
}

func TestADecisionThatCannotBeReadIsNotSent(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{}`)
	for _, args := range [][]string{
		{"approve", "42"}, {"approve", "42", "ask", "--value", "percent"}, {"reject", "42", "ask", "--value", "percent=1"}, {"approve", "42", "ask", "--attempt", "x"},
	} {
		if code, _, errs := cmd(t, "", append(args, "--server", a.URL)...); code != exitUsage || errs == "" || a.last() != "" {
			t.Errorf("%v = %d %q, asked %q", args, code, errs, a.last())
		}
	}
}
