package failpoint_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAReleaseHasNoFailpoints builds the product as it is released and as a test of
// crashes wants it, and looks for the package in their symbols.
func TestAReleaseHasNoFailpoints(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the product")
	}
	for _, c := range []struct {
		tags string
		want bool
	}{{"", false}, {"failpoints", true}} {
		binary := filepath.Join(t.TempDir(), "porpoise")
		build(t, binary, c.tags)
		out, err := exec.CommandContext(t.Context(), "go", "tool", "nm", binary).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(out, []byte("internal/failpoint.")); got != c.want {
			t.Errorf("with tags %q the binary has failpoints: %t", c.tags, got)
		}
	}
}

func build(t *testing.T, binary, tags string) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-trimpath", "-tags", tags, "-o", binary, "../../cmd/porpoise")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
}
