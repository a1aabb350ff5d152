package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

func TestAKilledWorkersTasksAreAdopted(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	first := workertest.Launch(t, spec)
	gate, pid := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "pid")
	m.Submit(
		workertest.Shell(1, "echo $$ >> "+pid+"; while [ ! -e "+gate+" ]; do sleep 0.02; done; echo end"),
		workertest.Shell(2, "echo meanwhile; while [ ! -e "+gate+"2 ]; do sleep 0.02; done"),
	)
	m.Report("t1", "running")
	m.Report("t2", "running")
	before := content(t, pid)
	_ = first.Process.Signal(syscall.SIGKILL)
	_ = first.Wait()
	touch(t, gate+"2") // the second ends while no control process is there

	spec.Boot = "boot2"
	workertest.Run(t, spec)
	hello := m.Hellos(2)
	if r := m.Report("t2"); r.State != "success" || string(r.Tail) != "meanwhile\n" {
		t.Errorf("what ended meanwhile = %v", r)
	}
	touch(t, gate)
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "end\n" {
		t.Errorf("adopted = %v (hello %v)", r, hello)
	}
	if after := content(t, pid); after != before {
		t.Errorf("pids = %q, then %q: the task was run again", before, after)
	}
}

func TestAKilledRunnersTasksAreReportedLostAndEnd(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	workertest.Run(t, spec)
	m.Submit(workertest.Shell(1, "setsid sleep 1001 & sleep 1002"))
	m.Report("t1", "running")
	_ = syscall.Kill(workertest.RunnerPID(spec.Dir), syscall.SIGKILL)
	if r := m.Report("t1"); r.State != "failed" || r.Reason != "runner_lost" {
		t.Errorf("report = %v", r)
	}
	if left := workertest.Marked(spec.Dir); len(left) != 0 {
		t.Errorf("processes %v live", left)
	}
	m.Submit(workertest.Shell(2, "echo after"))
	if r := m.Report("t2"); r.State != "success" {
		t.Errorf("the next task = %v", r)
	}
}

func TestReportsWithoutAnAckSurviveAKill(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	m.Answer(func(*rpc.Report) *rpc.Ack { return nil })
	spec := workertest.NewSpec(t, 4, m)
	first := workertest.Launch(t, spec)
	m.Submit(workertest.Shell(1, "echo kept; exit 4"), workertest.Dispatch(2, "noop", struct{}{}))
	before := m.Report("t1")
	m.Report("t2")
	_ = first.Process.Signal(syscall.SIGKILL)
	_ = first.Wait()
	heard := len(m.Reports("t1"))

	workertest.Run(t, spec)
	m.Until("the report again", func() bool { return m.Count("t1") > heard })
	reports := m.Reports("t1")
	after := reports[len(reports)-1]
	if after.ExitCode != 4 || string(after.Tail) != "kept\n" || after.OutboxId != before.OutboxId {
		t.Errorf("report after the restart = %v, want %v", after, before)
	}
}

func TestAReportIsSentAgainUntilItIsAcked(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	lost := 0
	m.Answer(func(r *rpc.Report) *rpc.Ack {
		if lost++; lost <= 2 {
			return nil
		}
		return &rpc.Ack{OutboxId: r.OutboxId, Verdict: "ok"}
	})
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	m.Submit(workertest.Dispatch(1, "noop", struct{}{}))
	m.Until("three reports", func() bool { return m.Count("t1") == 3 })
	// With its ack it is gone: what a later link brings is something else.
	m.Drop()
	m.Hellos(2)
	m.Submit(workertest.Dispatch(2, "noop", struct{}{}))
	m.Until("the next report", func() bool { return m.Count("t2") > 0 })
	if n := len(m.Reports("t1")); n != 3 {
		t.Errorf("%d reports of an acked end", n)
	}
}

func TestAReportGoesToTheOwnerThatAMasterNames(t *testing.T) {
	t.Parallel()
	m1, m2 := workertest.NewMaster(t, "m1"), workertest.NewMaster(t, "m2")
	m1.Answer(func(r *rpc.Report) *rpc.Ack {
		return &rpc.Ack{OutboxId: r.OutboxId, Verdict: "not_owner", Owner: "m2:1"}
	})
	workertest.Run(t, workertest.NewSpec(t, 4, m1, m2))
	m2.Hellos(1)
	m1.Submit(workertest.Shell(1, "echo x"))
	if r := m2.Report("t1"); r.State != "success" {
		t.Errorf("report = %v", r)
	}
}

func TestAnAttemptIsNeverRunTwice(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	m.AwaitAsks(4)
	runs, gate := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "gate")
	d := workertest.Shell(1, "echo run >> "+runs+"; while [ ! -e "+gate+" ]; do sleep 0.02; done")
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d, d}})
	m.Report("t1", "running")
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	m.Until("the answer to the second", func() bool { return m.Count("t1") >= 2 })
	touch(t, gate)
	m.Report("t1")
	before := len(m.Reports("t1"))
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	m.Until("the answer after the end", func() bool { return m.Count("t1") > before })
	if got := content(t, runs); got != "run\n" {
		t.Errorf("runs = %q", got)
	}
	reports := m.Reports("t1")
	if last := reports[len(reports)-1]; last.State != "success" {
		t.Errorf("last answer = %v", last)
	}
}

func TestAFormerOwnerIsRefused(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	m.AwaitAsks(4)
	gate := filepath.Join(t.TempDir(), "gate")
	d := workertest.Shell(1, "while [ ! -e "+gate+" ]; do sleep 0.02; done")
	d.OwnerEpoch = 5
	old := workertest.Shell(1, "echo never")
	old.Attempt.Number, old.Attempt.Token, old.OwnerEpoch = 2, "old", 4
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	m.Report("t1", "running")
	m.Send(&rpc.MasterMessage{
		Dispatches: []*rpc.Dispatch{old},
		Kills:      []*rpc.Kill{{Attempt: d.Attempt, OwnerEpoch: 4, Reason: "stopped"}},
	})
	touch(t, gate)
	if r := m.Report("t1"); r.State != "success" {
		t.Errorf("the kill of a former owner was obeyed: %v", r)
	}
	if got := m.Reports("old"); len(got) != 0 {
		t.Errorf("the dispatch of a former owner was answered: %v", got)
	}
}

func TestDrainWaitsForWhatRuns(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	spec.DrainFor = workertest.Deadline
	stop := workertest.Run(t, spec)
	m.AwaitAsks(4)
	gate := filepath.Join(t.TempDir(), "gate")
	m.Submit(workertest.Shell(1, "while [ ! -e "+gate+" ]; do sleep 0.02; done"))
	m.Report("t1", "running")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop()
	}()
	m.AwaitAsks(0)
	select {
	case <-ended:
		t.Fatal("the worker left its task")
	default:
	}
	touch(t, gate)
	<-ended
	if r := m.Report("t1"); r.State != "success" {
		t.Errorf("report = %v", r)
	}
	if pid := workertest.RunnerPID(spec.Dir); pid != 0 {
		until(t, "the runner to end", func() bool { return workertest.RunnerPID(spec.Dir) == 0 })
	}
}

func TestDrainGivesBackWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	stop := workertest.Run(t, spec)
	m.Submit(workertest.Shell(1, "trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done"))
	m.Report("t1", "running")
	stop()
	if r := m.Report("t1"); r.State != "returned" || r.Reason != "resource_termination" {
		t.Errorf("report = %v", r)
	}
	if left := workertest.Marked(spec.Dir); len(left) != 0 {
		t.Errorf("processes %v live", left)
	}
}

func TestARestartKeepsTheTasks(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	spec.KeepTasks = true
	stop := workertest.Run(t, spec)
	gate := filepath.Join(t.TempDir(), "gate")
	m.Submit(workertest.Shell(1, "while [ ! -e "+gate+" ]; do sleep 0.02; done; echo same"))
	m.Report("t1", "running")
	stop()
	if got := m.Reports("t1"); got[len(got)-1].State != "running" {
		t.Fatalf("reports = %v", got)
	}
	spec.Boot = "boot2"
	workertest.Run(t, spec)
	touch(t, gate)
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "same\n" {
		t.Errorf("report = %v", r)
	}
}

func TestOneDataFolderServesOneWorker(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	workertest.Run(t, spec)
	second := workertest.Launch(t, spec)
	if err := second.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("a second worker ended with %v", err)
	}
}

func TestAsksFollowWaitingWork(t *testing.T) {
	t.Parallel()
	m1, m2 := workertest.NewMaster(t, "m1"), workertest.NewMaster(t, "m2")
	workertest.Run(t, workertest.NewSpec(t, 8, m1, m2))
	m1.AwaitAsks(4)
	m2.AwaitAsks(4)
	m1.Send(&rpc.MasterMessage{Waiting: []*rpc.Waiting{{Group: "other", Count: 100}}})
	m2.Send(&rpc.MasterMessage{Waiting: []*rpc.Waiting{{Group: "default", Count: 100}}})
	m2.AwaitAsks(7)
	m1.AwaitAsks(1)
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// until looks often: what it waits for are other processes.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(workertest.Deadline); !done(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", workertest.Deadline, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
