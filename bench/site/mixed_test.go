//go:build mixed

package site

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// versionBefore is a binary of the version before, which PORPOISE_TEST_BEFORE names: `make mixed` builds it.
func versionBefore(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PORPOISE_TEST_BEFORE")
	if path == "" {
		t.Fatal("PORPOISE_TEST_BEFORE names no binary of the version before")
	}
	return path
}

// mixed starts a node of one version with a worker of another, and a task on that worker.
func mixed(ctx context.Context, t *testing.T, node, worker string) (*Site, *work) {
	t.Helper()
	var free [2]string
	for i := range free {
		var err error
		if free[i], err = FreeAddress(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Standalone(ctx, Options{Binary: node, LogLevel: "info", Flags: map[string][]string{"standalone": {"--rpc", free[0], "--etcd-listen", free[1]}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	token, err := s.Client.CreateJoinToken(ctx, client.NewJoinToken{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Start(ctx, "elsewhere", worker, "worker", "--node", "elsewhere", "--data", filepath.Join(s.Dir, "elsewhere"), "--groups", "far",
		"--etcd", "https://"+free[1], "--masters", free[0], "--join-token", token.Token)
	if err != nil {
		t.Fatal(err)
	}
	w := &work{Client: s.Client, file: filepath.Join(t.TempDir(), "evidence")}
	save(ctx, t, w.Client, "gated", strings.Replace(gated, "type: shell,", "type: shell, worker_group: far,", 1))
	if w.id, err = w.StartWorkflow(ctx, "p", "gated", client.Start{Params: map[string]string{"file": w.file}}); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 1)
	return s, w
}

// Requirements W32 and F68, in both orders.
func TestAVersionWorksBesideTheOneBefore(t *testing.T) {
	t.Parallel()
	before := versionBefore(t)
	for name, order := range map[string][2]string{"newer node": {binary, before}, "newer worker": {before, binary}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := deadline(t)
			_, w := mixed(ctx, t, order[0], order[1])
			w.open(t)
			w.once(ctx, t)
		})
	}
}

func TestANodeIsUpgradedUnderARunningTask(t *testing.T) {
	t.Parallel()
	before := versionBefore(t)
	ctx := deadline(t)
	s, w := mixed(ctx, t, before, before)
	node := s.Part("standalone")
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	node.command.program = binary
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	w.open(t)
	w.once(ctx, t)
	// And not back: the older program says why it does not start on the newer schema.
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(s.Dir, "standalone")
	code, _, errs := finish(t, porpoiseOf(ctx, before, "standalone", "--data", data, "--http", "127.0.0.1:0"))
	if code != 1 || !strings.Contains(errs, "is newer than this program's") {
		t.Errorf("the version before on the newer schema = %d %q", code, errs)
	}
}
