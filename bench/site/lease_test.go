package site

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// adoptions is how often a worker's control process is killed and started again: a few in
// the tests, fifty where the figure is wanted.
var adoptions = flag.Int("adopt", 3, "kills of a control process in TestWorkersLeaveAndComeBack")

// watched is a task that holds a lock for its life, and says when another attempt held it: that is
// the proof of an overlap, without any clock. Every attempt writes a line when it begins and when it ends by itself.
const watched = `name: watched
params: {file: ""}
tasks:
  - name: task
    type: shell
    script: |
      exec 9>>"$file.lock"
      flock -n 9 || echo overlap >>"$file"
      echo "$PORPOISE_ATTEMPT:$$" >>"$file"
      while [ -d "${file%/*}" ] && [ ! -e "$file.go" ]; do sleep 0.05; done
      echo "$PORPOISE_ATTEMPT:ended" >>"$file"
`

// watch starts it and waits until its first attempt has begun.
func watch(ctx context.Context, t *testing.T, s *Site) *work {
	t.Helper()
	w := &work{Client: s.Client, file: filepath.Join(t.TempDir(), "evidence")}
	save(ctx, t, w.Client, "watched", watched)
	var err error
	if w.id, err = w.StartWorkflow(ctx, "p", "watched", client.Start{Params: map[string]string{"file": w.file}}); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 1)
	return w
}

// again lets the second attempt end, and demands that the two did not run at the same time.
func (w *work) again(ctx context.Context, t *testing.T, s *Site, first dag.AttemptState) {
	t.Helper()
	w.begun(ctx, t, s, 2)
	w.open(t)
	task, attempts := w.succeeds(ctx, t)
	if len(attempts) != 2 || attempts[0].State != first || attempts[1].State != dag.AttemptSuccess {
		t.Errorf("attempts = %+v, want one that is %s and one that succeeded", attempts, first)
	}
	if task.Retries != 0 {
		t.Errorf("%d retries were burnt", task.Retries)
	}
	lines := w.lines()
	if len(lines) != 3 || slices.Contains(lines, "overlap") || lines[2] != "2:ended" {
		t.Errorf("the attempts wrote %q, want two beginnings, one end and no overlap", lines)
	}
}

// pass lets time go by: how long a part is away is what these tests are about.
func pass(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestWorkersLeaveAndComeBack plays with the control processes of a cluster's workers, on one SQLite file.
func TestWorkersLeaveAndComeBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(*adoptions)*10*time.Second)
	t.Cleanup(cancel)
	s, err := Cluster(ctx, Options{
		Binary: binary, Database: SQLite, LogLevel: "info", Masters: 1, Workers: 2,
		Flags: map[string][]string{"worker": {"--keep-tasks", "--drain-for", "0s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	for _, part := range []struct {
		name string
		play func(context.Context, *testing.T, *Site)
	}{
		{"killed and back within the lease: the same process goes on", adopted},
		{"stopped for an upgrade, longer than a lease: the same process goes on", upgraded},
		{"killed for good: the task ends before another begins", orphaned},
		{"frozen and awake again: the task ended meanwhile, the worker works on", frozen},
		{"drained by request: what runs goes elsewhere and burns nothing", drained},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.play(ctx, t, s) }) {
			return
		}
	}
}

// Requirement F07: the same process every time, and no attempt is lost.
func adopted(ctx context.Context, t *testing.T, s *Site) {
	w := watch(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	for i := range *adoptions {
		before := incarnation(ctx, t, s, worker.Name)
		worker.Kill()
		pass(ctx, time.Duration(i%4)*time.Second)
		if err := s.Restart(ctx, worker); err != nil {
			t.Fatal(err)
		}
		err := s.Until(ctx, worker.Name+" is back and has heard that its task is wanted", func() error {
			d, err := s.Client.Worker(ctx, worker.Name)
			if err == nil && (d.Incarnation == before || d.Figures == nil || d.Figures.Heartbeat.Backup != 1) {
				err = fmt.Errorf("its incarnation is %q, it was %q, figures %+v", d.Incarnation, before, d.Figures)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if lines := w.lines(); len(lines) != 1 {
			t.Fatalf("after %d kills the task has written %q", i+1, lines)
		}
	}
	t.Logf("%d of %d adoptions kept the process", *adoptions, *adoptions)
	w.open(t)
	if _, attempts := w.succeeds(ctx, t); len(attempts) != 1 {
		t.Errorf("attempts = %+v, want one", attempts)
	}
}

// A planned restart holds the worker's place for a minute.
func upgraded(ctx context.Context, t *testing.T, s *Site) {
	w := watch(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	if err := worker.Stop(); err != nil {
		t.Fatal(err)
	}
	pass(ctx, 10*time.Second) // longer than the lease and all patience of a master
	if err := s.Restart(ctx, worker); err != nil {
		t.Fatal(err)
	}
	err := s.Until(ctx, worker.Name+" has its task", func() error {
		d, err := s.Client.Worker(ctx, worker.Name)
		if err == nil && (d.Figures == nil || d.Figures.Running != 1 || d.Draining != "") {
			err = fmt.Errorf("its state is %+v, draining %q", d.Figures, d.Draining)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pass(ctx, 8*time.Second) // the leases that it has now are its own
	w.open(t)
	if _, attempts := w.succeeds(ctx, t); len(attempts) != 1 || len(w.lines()) != 2 {
		t.Errorf("attempts = %+v, the task wrote %q, want one", attempts, w.lines())
	}
}

// Requirement F07: the runner without its control process ends the task before a master starts another.
func orphaned(ctx context.Context, t *testing.T, s *Site) {
	w := watch(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	began := time.Now()
	worker.Kill()
	w.begun(ctx, t, s, 2)
	t.Logf("another attempt ran %v after the kill", time.Since(began).Round(10*time.Millisecond))
	w.again(ctx, t, s, dag.AttemptLost)
	if err := s.Restart(ctx, worker); err != nil {
		t.Fatal(err)
	}
	awaitWorkers(ctx, t, s, 2)
}

// Requirement F12: the same with a control process that sleeps past its lease. It finds its tasks gone, and works on.
func frozen(ctx context.Context, t *testing.T, s *Site) {
	w := watch(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	worker.Signal(syscall.SIGSTOP)
	w.begun(ctx, t, s, 2)
	pass(ctx, 10*time.Second) // three leases in all
	worker.Signal(syscall.SIGCONT)
	w.again(ctx, t, s, dag.AttemptLost)
	err := s.Until(ctx, worker.Name+" is free", func() error {
		d, err := s.Client.Worker(ctx, worker.Name)
		if err == nil && (d.Figures == nil || d.Figures.Running != 0 || d.Figures.FreeSlots == 0 || d.Figures.Outbox != 0) {
			err = fmt.Errorf("its state is %+v", d.Figures)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Requirement W23.
func drained(ctx context.Context, t *testing.T, s *Site) {
	w := watch(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	out, err := porpoise(ctx, s, "workers", "drain", worker.Name, "--reason", "kernel update", "--give-back-after", "1s").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "takes no more work") {
		t.Fatalf("workers drain said %q, %v", out, err)
	}
	w.again(ctx, t, s, dag.AttemptReturned)
	if attempts := w.attempts(ctx, t); attempts[1].Worker == worker.Name {
		t.Error("the second attempt ran on the drained worker")
	}
	if out, _ = porpoise(ctx, s, "workers", worker.Name).CombinedOutput(); !strings.Contains(string(out), "kernel update") {
		t.Errorf("workers %s said %q", worker.Name, out)
	}
	if out, err = porpoise(ctx, s, "workers", "resume", worker.Name).CombinedOutput(); err != nil {
		t.Fatalf("workers resume said %q, %v", out, err)
	}
	err = s.Until(ctx, worker.Name+" takes work again", func() error {
		d, err := s.Client.Worker(ctx, worker.Name)
		if err == nil && (d.Draining != "" || d.Figures == nil || d.Figures.FreeSlots == 0) {
			err = fmt.Errorf("draining %q, %+v", d.Draining, d.Figures)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func awaitWorkers(ctx context.Context, t *testing.T, s *Site, n int) {
	t.Helper()
	awaitNodes(ctx, t, s, n, "workers", s.Client.Workers)
}

func awaitMasters(ctx context.Context, t *testing.T, s *Site, n int) {
	t.Helper()
	awaitNodes(ctx, t, s, n, "masters", s.Client.Masters)
}

func awaitNodes(ctx context.Context, t *testing.T, s *Site, n int, role string, list func(context.Context) ([]client.Node, error)) {
	t.Helper()
	err := s.Until(ctx, fmt.Sprintf("%d %s are in", n, role), func() error {
		nodes, err := list(ctx)
		if err == nil && len(nodes) != n {
			err = fmt.Errorf("there are %d", len(nodes))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
