package shell_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/worker/task/tasktest"
)

func TestMain(m *testing.M) { tasktest.Main(m) }

func TestShellKeepsTheContract(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	tasktest.Run(t, tasktest.Example{
		Type:  "shell",
		Quick: dag.ShellSpec{Script: "echo out; echo err >&2"}, Output: "out\nerr\n",
		Fails: dag.ShellSpec{Script: "exit 3"}, Reason: "exit_code",
		Slow: dag.ShellSpec{Script: "sleep 61 & sleep 60"},
		Sets: dag.ShellSpec{Script: "echo '${setValue(rows=12)}'"}, Name: "rows", Value: "12",
		Trace: dag.ShellSpec{Script: "touch " + trace, Interpreter: "/bin/sh"},
		Traced: func() bool {
			_, err := os.Stat(trace)
			return err == nil
		},
	})
}
