package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/trial"
)

const (
	chain = "name: chain\ntasks:\n  - {name: a, type: shell, script: x, outputs: [n]}\n  - {name: b, type: shell, script: x, needs: [a]}\n"
	cases = `
cases:
  - name: all is well
    tasks: {a: {outputs: {n: 1}}}
    expect: {state: success, tasks: {b: {env: {n: 1}}}}
  - name: nothing works
    tasks: {a: failed}
    expect: {tasks: {b: success}}
`
)

func TestTestTellsWhatCameOtherwise(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "chain.yaml", chain)
	beside := write(t, dir, "chain.test.yaml", cases)
	code, out, errs := cmd(t, "", "test", file)
	if code != exitFailed || errs != "" {
		t.Fatalf("test = %d %q", code, errs)
	}
	for _, want := range []string{
		"ok    chain: all is well\n", "FAIL  chain: nothing works\n", beside + ":8:25: cases[1].expect.tasks.b\n",
		"expected success\n", "got      upstream_failed", "because its process ended with an error after 1 attempt\n", "1 passed, 1 failed\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
	if code, out, _ := cmd(t, "", "test", file, "--run", "well$"); code != exitOK || !strings.Contains(out, "1 passed, 0 failed") {
		t.Errorf("test --run = %d %q", code, out)
	}
	if code, out, _ := cmd(t, "", "test", file, "-v", "--run", "well"); code != exitOK || !strings.Contains(out, "0s  b/1 success") {
		t.Errorf("test -v = %d %q", code, out)
	}
}

func TestTestTellsOfAMissingSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "pay.yaml", "name: pay\ntasks:\n  - {name: call, type: shell, script: x, env: {PASSWORD: '${secret.db}'}}\n")
	write(t, dir, "pay.test.yaml", `
cases:
  - {name: with it, expect: success}
  - {name: without it, missing_secrets: [db], expect: success}
`)
	code, out, errs := cmd(t, "", "test", file)
	if code != exitFailed || errs != "" || !strings.Contains(out, "ok    pay: with it\n") || !strings.Contains(out, "FAIL  pay: without it\n") || !strings.Contains(out, "a secret that it names could not be given to it") {
		t.Errorf("test = %d %q:\n%s", code, errs, out)
	}
	write(t, dir, "pay.test.yaml", "cases:\n  - {name: other, missing_secrets: [dbb], expect: success}\n")
	if code, _, errs := cmd(t, "", "test", file); code == exitOK || !strings.Contains(errs, "cases[0].missing_secrets[0]") || !strings.Contains(errs, `did you mean "db"?`) {
		t.Errorf("test = %d %q", code, errs)
	}
}

func TestTestGivesJSONAndJUnit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "chain.yaml", chain)
	write(t, dir, "other.test.yaml", cases)
	report := filepath.Join(dir, "report.xml")
	code, out, _ := cmd(t, "", "test", file, filepath.Join(dir, "other.test.yaml"), "-o", "json", "--junit", report)
	var results []tested
	if err := json.Unmarshal([]byte(out), &results); err != nil || code != exitFailed {
		t.Fatalf("test -o json = %d, %v: %s", code, err, out)
	}
	if len(results) != 1 || len(results[0].Cases) != 2 || !results[0].Cases[0].Passed() || results[0].Cases[1].Failures[0].Got != "upstream_failed (upstream_failed)" {
		t.Errorf("results = %+v", results)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 2 || suites.Failures != 1 || suites.Suites[0].Cases[0].Failure != nil || suites.Suites[0].Cases[1].Failure == nil {
		t.Errorf("JUnit: %s", text)
	}
}

func TestTestRefusesWrongFilesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "chain.yaml", chain)
	beside := write(t, dir, "chain.test.yaml", "cases:\n  - name: x\n    tasks: {bb: success, a: fine}\n    expects: success\n")
	code, out, errs := cmd(t, "", "test", file)
	if code != exitUsage || out != "" {
		t.Errorf("test = %d %q", code, out)
	}
	for _, want := range []string{
		beside + ":3:17: cases[0].tasks.bb: the workflow has no task \"bb\"; did you mean \"b\"?\n",
		"cases[0].tasks.a.state: ", "cases[0].expects: ", "did you mean \"expect\"?",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("errors lack %q:\n%s", want, errs)
		}
	}
	for _, args := range [][]string{{"test"}, {"test", filepath.Join(dir, "none.yaml")}, {"test", file, file}, {"test", dir, file}, {"test", file, "--run", "("}, {"test", t.TempDir()}} {
		if code, _, errs := cmd(t, "", args...); code != exitUsage || errs == "" {
			t.Errorf("porpoise %v = %d %q, want %d", args, code, errs, exitUsage)
		}
	}
}

func TestAFolderIsTestedAndItsCasesAreNoWorkflows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "chain.yaml", chain)
	write(t, dir, "chain.test.yaml", "cases: [{name: fine, expect: success}]")
	write(t, dir, "sub/without.yaml", good)
	if code, out, errs := cmd(t, "", "test", dir); code != exitOK || !strings.Contains(out, "1 passed, 0 failed") {
		t.Errorf("test DIR = %d %q %q", code, out, errs)
	}
	if code, out, errs := cmd(t, "", "validate", "-f", dir); code != exitOK || strings.Contains(out, "test.yaml") {
		t.Errorf("validate = %d %q %q", code, out, errs)
	}
}

func TestTestPrintsTheSchemaOfCases(t *testing.T) {
	t.Parallel()
	if code, out, _ := cmd(t, "", "test", "--schema"); code != exitOK || out != string(trial.Schema()) {
		t.Errorf("test --schema = %d %q", code, out)
	}
}
