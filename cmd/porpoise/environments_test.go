package main

import (
	"strings"
	"testing"
)

func TestAnEnvironmentIsGivenExactlyItsVariables(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"name": "Spark", "variables": {"SPARK_HOME": "/opt", "OPTS": "a=b"}, "updated_by": "ann"}`)
	code, out, errs := cmd(t, "", "environments", "set", "sales", "Spark", "SPARK_HOME=/opt", "OPTS=a=b", "EMPTY=", "--description", "of the cluster", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "Spark has 2 variables") {
		t.Errorf("set = %d %q %q", code, out, errs)
	}
	want := `PUT /api/v1/projects/sales/environments/Spark {"description":"of the cluster","variables":{"EMPTY":"","OPTS":"a=b","SPARK_HOME":"/opt"}}`
	if got := strings.TrimSpace(a.last()); got != want {
		t.Errorf("asked %s\nwant  %s", got, want)
	}
	code, out, _ = cmd(t, "", "environments", "delete", "sales", "Spark", "--server", a.URL)
	if got := strings.TrimSpace(a.last()); code != exitOK || got != "DELETE /api/v1/projects/sales/environments/Spark" || !strings.Contains(out, "deleted") {
		t.Errorf("delete = %d %q, asked %s", code, out, got)
	}
}

func TestAVariableThatCannotBeReadIsNotSent(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{}`)
	for variable, says := range map[string]string{"SPARK_HOME": `variable "SPARK_HOME": want KEY=VALUE`, "=x": "want KEY=VALUE", "A=2": "variable A is given twice"} {
		code, _, errs := cmd(t, "", "environments", "set", "sales", "Spark", "A=1", variable, "--server", a.URL)
		if code != exitUsage || !strings.Contains(errs, says) || a.last() != "" {
			t.Errorf("set %s = %d %q, asked %q", variable, code, errs, a.last())
		}
	}
}

func TestEnvironmentsAreListed(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"items": [{"name": "Spark", "variables": {"A": "1", "B": "2"}, "updated_by": "ann", "description": "of the cluster"}]}`)
	code, out, errs := cmd(t, "", "environments", "sales", "--server", a.URL)
	lines := strings.Split(out, "\n")
	if code != exitOK || len(lines) < 2 || !strings.HasPrefix(lines[0], "ENVIRONMENT") || strings.Fields(lines[1])[1] != "2" || !strings.Contains(out, "of the cluster") {
		t.Errorf("environments = %d %q %q", code, out, errs)
	}
	if code, out, _ := cmd(t, "", "environments", "sales", "-o", "json", "--server", a.URL); code != exitOK || !strings.Contains(out, `"variables"`) {
		t.Errorf("environments -o json = %d %q", code, out)
	}
}
