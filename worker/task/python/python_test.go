package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task/python"
	"github.com/porpoise/porpoise/worker/task/tasktest"
	"github.com/porpoise/porpoise/worker/workertest"
)

func TestMain(m *testing.M) { tasktest.Main(m) }

func TestPythonKeepsTheContract(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	tasktest.Run(t, tasktest.Example{
		Type:  "python",
		Quick: dag.PythonSpec{Script: "import sys\nprint('out')\nprint('err', file=sys.stderr)"}, Output: "out\nerr\n",
		Fails: dag.PythonSpec{Script: "raise SystemExit(3)"}, Reason: "exit_code",
		Slow: dag.PythonSpec{Script: "import time\ntime.sleep(60)"},
		Sets: dag.PythonSpec{Script: "print('#{setValue(rows=12)}')"}, Name: "rows", Value: "12",
		Trace: dag.PythonSpec{Script: "open('" + trace + "', 'w')"},
		Traced: func() bool {
			_, err := os.Stat(trace)
			return err == nil
		},
	})
}

func TestALongScriptRunsWithoutAnArgument(t *testing.T) {
	t.Parallel()
	script := "print('" + strings.Repeat("x", 200_000) + "'[:3])"
	d := &rpc.Dispatch{Type: "python", Spec: workertest.Dispatch(1, "python", dag.PythonSpec{Script: script}).Spec}
	c, err := python.Type{}.Command(d)
	if err != nil || len(c.Script) != len(script) || c.Argv[len(c.Argv)-1] != "/dev/fd/3" {
		t.Fatalf("command = %v, %v", c.Argv, err)
	}
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 1, m))
	m.Submit(workertest.Dispatch(1, "python", dag.PythonSpec{Script: script}))
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "xxx\n" {
		t.Errorf("report = %v", r)
	}
}
