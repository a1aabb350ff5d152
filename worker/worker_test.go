package worker_test

import (
	"testing"

	"github.com/porpoise/porpoise/worker/workertest"
)

func TestMain(m *testing.M) { workertest.Main(m) }

func TestAttemptsRunAndAreReported(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	m.Submit(workertest.Shell(1, "echo x"), workertest.Shell(2, "exit 7"), workertest.Dispatch(3, "noop", struct{}{}))
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "x\n" || r.StartedAt == 0 || r.FinishedAt < r.StartedAt {
		t.Errorf("shell = %v", r)
	}
	if r := m.Report("t2"); r.State != "failed" || r.Reason != "exit_code" || r.ExitCode != 7 {
		t.Errorf("exit 7 = %v", r)
	}
	if r := m.Report("t3"); r.State != "success" {
		t.Errorf("noop = %v", r)
	}
	m.AwaitAsks(4)
}
