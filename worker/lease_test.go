package worker_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

// How busy the machine is in TestNoLeaseEndsOnABusyMachine: longer than a lease in the tests, beside which others run; ten
// minutes of eight programs per core where the figure is wanted.
var (
	burn    = flag.Duration("burn", 7*time.Second, "how long the machine is busy")
	burners = flag.Int("burners", 1, "programs per core that keep it busy")
)

// T15, requirement F15: 200 tasks, and programs that do nothing but compute.
func TestNoLeaseEndsOnABusyMachine(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 200, m)
	spec.Leases = true
	workertest.Launch(t, spec)
	gate := filepath.Join(t.TempDir(), "gate")
	for i := range int64(200) {
		m.Submit(workertest.Shell(i+1, "while [ ! -e "+gate+" ]; do sleep 1; done"))
	}
	for i := range int64(200) {
		m.Report(workertest.Token(i+1), "running")
	}
	for range *burners * runtime.NumCPU() {
		burner := exec.Command("/bin/sh", "-c", "while :; do :; done")
		burner.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := burner.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = burner.Process.Kill()
			_ = burner.Wait()
		})
	}
	<-time.After(*burn)
	touch(t, gate)
	m.AwaitFinals(200)
	for i := range int64(200) {
		if r := m.Report(workertest.Token(i + 1)); r.State != "success" {
			t.Errorf("attempt %d ended as %s (%s)", i+1, r.State, r.Reason)
		}
	}
}

// Requirement F19: a master that hears the worker but whose answers do not arrive keeps no task alive, and a
// worker that was cut off gives up its tasks by itself.
func TestTasksEndWhereNobodyAnswers(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	spec.Leases = true
	workertest.Run(t, spec)
	m.Submit(workertest.Shell(1, "sleep 1001"))
	m.Report("t1", "running")
	begun := time.Now()
	m.Beat(nil)
	if r := m.Report("t1"); r.State != "lost" || r.Reason != "lease_ended" {
		t.Errorf("report = %v, want it lost", r)
	}
	if took := time.Since(begun); took < 4*time.Second || took > 9*time.Second {
		t.Errorf("the task ended %v after the last answer, want about 6 s", took)
	}
	if left := workertest.Marked(spec.Dir); len(left) != 0 {
		t.Errorf("processes %v live", left)
	}
	// A new task is not begun either, until somebody answers.
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{workertest.Shell(3, "true")}})
	if r := m.Report("t3"); r.State != "returned" {
		t.Errorf("a dispatch to a worker without a lease = %v", r)
	}
}
