package shell_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/porpoise/porpoise/worker/task/shell"
	"github.com/porpoise/porpoise/worker/task/tasktest"
)

func TestMain(m *testing.M) { tasktest.Main(m) }

func TestShellKeepsTheContract(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	tasktest.Run(t, tasktest.Example{
		Type:  "shell",
		Quick: shell.Spec{Script: "echo out; echo err >&2"}, Output: "out\nerr\n",
		Fails: shell.Spec{Script: "exit 3"}, Reason: "exit_code",
		Slow: shell.Spec{Script: "sleep 61 & sleep 60"},
		Sets: shell.Spec{Script: "echo '${setValue(rows=12)}'"}, Name: "rows", Value: "12",
		Trace: shell.Spec{Script: "touch " + trace, Interpreter: "sh -e"},
		Traced: func() bool {
			_, err := os.Stat(trace)
			return err == nil
		},
	})
}
