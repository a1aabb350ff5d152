package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run tests a module of one package by the real go, and gives what verdict says of it.
func run(t *testing.T, code string, ci bool) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module x\n",
		"x_test.go": "package x\n\nimport \"testing\"\n\n" + code,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	events, _ := cmd.Output() // go test fails with its tests; verdict has its own opinion
	var out strings.Builder
	v := newVerdict(&out)
	if err := v.read(strings.NewReader(string(events))); err != nil {
		t.Fatal(err)
	}
	ok := v.close(ci)
	return out.String(), ok
}

func TestVerdictIsThatOfGoTest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code     string
		ci, want bool
		says     []string
		not      string
	}{
		"pass":       {"func TestA(t *testing.T) { t.Log(\"hush\") }", true, true, []string{"ok  \tx\t", "1 tests passed in 1 packages"}, "hush"},
		"fail":       {"func TestA(t *testing.T) { t.Run(\"b\", func(t *testing.T) { t.Error(\"why\") }) }", false, false, []string{"why", "--- FAIL: TestA/b", "FAIL\tx\t", "failed: x TestA/b\n    x_test.go:5: why"}, ""},
		"skip":       {"func TestA(t *testing.T) { t.Skip(\"no moon\") }", false, true, []string{"skipped: x TestA: x_test.go:5: no moon", "ok  \tx\t"}, ""},
		"skip in CI": {"func TestA(t *testing.T) { t.Skip(\"no moon\") }", true, false, []string{"skipped: x TestA", "with CI=true nothing may be skipped"}, ""},
		"panic":      {"func TestA(t *testing.T) { panic(\"ouch\") }", false, false, []string{"panic: ouch", "FAIL\tx\t"}, ""},
		"no build":   {"func TestA(t *testing.T) { nothing() }", false, false, []string{"undefined: nothing", "FAIL\tx [build failed]"}, ""},
		"no tests":   {"var _ *testing.T", false, true, []string{"no tests to run", "ok  \tx\t"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, ok := run(t, c.code, c.ci)
			if ok != c.want {
				t.Errorf("verdict = %v, want %v", ok, c.want)
			}
			for _, s := range c.says {
				if !strings.Contains(out, s) {
					t.Errorf("it does not say %q:\n%s", s, out)
				}
			}
			if c.not != "" && strings.Contains(out, c.not) {
				t.Errorf("it says %q:\n%s", c.not, out)
			}
		})
	}
}

func TestNothingTestedIsNoSuccess(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if newVerdict(&out).close(false) {
		t.Error("a run without packages holds")
	}
}
