package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// TestTheClusterOfTheComposeFileBearsTheLossOfAnyPart kills one part after another, one
// kind at a time, and puts it back.
func TestTheClusterOfTheComposeFileBearsTheLossOfAnyPart(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv("PORPOISE_TEST_MYSQL")
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PORPOISE_TEST_MYSQL names no server, and with CI=true nothing may be skipped")
		}
		t.Skip("PORPOISE_TEST_MYSQL names no server: scripts/with-mariadb go test ./bench/site")
	}
	ctx := deadline(t)
	s, err := Cluster(ctx, Options{Binary: binary, Database: dsn, LogLevel: "info"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	if masters, err := s.Client.Masters(ctx); err != nil || len(masters) != 2 {
		t.Errorf("masters = %v, %v, want 2", masters, err)
	}
	for _, part := range []struct {
		name string
		lose func(context.Context, *testing.T, *Site)
	}{
		{"worker's control process: the task goes on", loseControl},
		{"apiserver: the run goes on, its caller is told", loseAPIServer},
		{"master: the other one ends the run", loseMaster},
		{"both masters: what runs is read, and what is started waits for them", loseMasters},
		{"worker and its runner: the other worker runs the task again", loseWorker},
		{"both workers, one after the other: the task fails for that reason", loseTwoWorkers},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.lose(ctx, t, s) }) {
			return // what follows begins with a whole cluster
		}
	}
}

// workerOf is the part that runs the newest attempt.
func workerOf(ctx context.Context, t *testing.T, s *Site, w *work) *Part {
	t.Helper()
	awaitTask(ctx, t, w.Client, w.id, "task", dag.TaskRunning)
	attempts := w.attempts(ctx, t)
	p := s.Part(attempts[len(attempts)-1].Worker)
	if p == nil {
		t.Fatalf("the worker %q is no part of the site", attempts[len(attempts)-1].Worker)
	}
	return p
}

func loseControl(ctx context.Context, t *testing.T, s *Site) {
	w := begin(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	before := incarnation(ctx, t, s, worker.Name)
	worker.Kill()
	if err := s.Restart(ctx, worker); err != nil {
		t.Fatal(err)
	}
	err := s.Until(ctx, worker.Name+" is back", func() error {
		if now := incarnation(ctx, t, s, worker.Name); now == "" || now == before {
			return fmt.Errorf("its incarnation is %q, it was %q", now, before)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.open(t)
	w.once(ctx, t)
}

// incarnation is that of a live worker, "" where there is none.
func incarnation(ctx context.Context, t *testing.T, s *Site, name string) string {
	t.Helper()
	nodes, err := s.Client.Workers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Name == name {
			return n.Incarnation
		}
	}
	return ""
}

func loseAPIServer(ctx context.Context, t *testing.T, s *Site) {
	w := &work{Client: s.Client, file: filepath.Join(t.TempDir(), "evidence")}
	save(ctx, t, w.Client, "gated", gated)
	cli := porpoise(ctx, s, "start", "p/gated", "--param", "file="+w.file, "--wait", "--patience", "500ms")
	var said strings.Builder
	cli.Stdout, cli.Stderr = &said, &said
	if err := cli.Start(); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 1)
	running, err := s.Client.Instances(ctx, client.Filter{Project: "p", Workflow: "gated", States: []string{"running"}})
	if err != nil || len(running) != 1 {
		t.Fatalf("running instances = %v, %v", running, err)
	}
	w.id = running[0].ID
	api := s.Part("apiserver")
	api.Kill()
	_ = cli.Wait() // the code tells more
	if code := cli.ProcessState.ExitCode(); code != 3 {
		t.Errorf("start --wait ended with %d, want 3; it said %q", code, said.String())
	}
	w.open(t)
	if err := s.Restart(ctx, api); err != nil {
		t.Fatal(err)
	}
	w.once(ctx, t)
}

func loseMaster(ctx context.Context, t *testing.T, s *Site) {
	save(ctx, t, s.Client, "steps", threeSteps)
	evidence := filepath.Join(t.TempDir(), "evidence")
	id, err := s.Client.StartWorkflow(ctx, "p", "steps", client.Start{Params: map[string]string{"file": evidence}})
	if err != nil {
		t.Fatal(err)
	}
	awaitTask(ctx, t, s.Client, id, "during", dag.TaskRunning)
	in, err := s.Client.Instance(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	owner := s.Part(in.Owner)
	if owner == nil {
		t.Fatalf("the owner %q is no part of the site", in.Owner)
	}
	owner.Kill()
	if err := os.WriteFile(evidence+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err = s.Client.Wait(ctx, id, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	if got, err := os.ReadFile(evidence); err != nil || string(got) != "before\nduring\nafter\n" {
		t.Errorf("the tasks wrote %q, %v: want each once, in order", got, err)
	}
	var out strings.Builder
	if err := s.Client.ReadLog(ctx, &out, id, "after", 1, "", false); err != nil || out.String() != "done\n" {
		t.Errorf("the log of after is %q, %v", out.String(), err)
	}
	if err := s.Restart(ctx, owner); err != nil {
		t.Fatal(err)
	}
}

// loseMasters leaves nobody who schedules: a task that runs goes on, and everything can be asked for.
func loseMasters(ctx context.Context, t *testing.T, s *Site) {
	w := begin(ctx, t, s)
	awaitTask(ctx, t, w.Client, w.id, "task", dag.TaskRunning)
	var masters []*Part
	for _, p := range s.Parts {
		if strings.HasPrefix(p.Name, "master") {
			p.Kill()
			masters = append(masters, p)
		}
	}
	if len(masters) != 2 {
		t.Fatalf("%d masters were killed, want 2", len(masters))
	}
	in, err := s.Client.Instance(ctx, w.id)
	if err != nil || in.State != dag.InstanceRunning {
		t.Errorf("the instance is %s, %v", in.State, err)
	}
	tasks, err := s.Client.Tasks(ctx, w.id)
	if err != nil || len(tasks) != 1 || tasks[0].State != dag.TaskRunning {
		t.Errorf("its tasks are %+v, %v", tasks, err)
	}
	if attempts := w.attempts(ctx, t); len(attempts) != 1 {
		t.Errorf("its attempts are %+v", attempts)
	}
	if events, err := s.Client.Events(ctx, w.id, 0); err != nil || len(events) == 0 {
		t.Errorf("its events are %+v, %v", events, err)
	}
	var out strings.Builder
	if err := s.Client.ReadLog(ctx, &out, w.id, "task", 1, "", false); err != nil || out.String() != "begun\n" {
		t.Errorf("its log is %q, %v", out.String(), err)
	}
	if why, err := s.Client.Explain(ctx, w.id, ""); err != nil || why.Code == "" {
		t.Errorf("it is explained by %+v, %v", why, err)
	}
	later, err := s.Client.StartWorkflow(ctx, "p", "gated", client.Start{Params: map[string]string{"file": w.file}})
	if err != nil {
		t.Fatalf("a start without masters: %v", err)
	}
	w.open(t)
	for _, p := range masters {
		if err := s.Restart(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	w.succeeds(ctx, t)
	if in, err := s.Client.Wait(ctx, later, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Errorf("what was started meanwhile is %s (%s), %v", in.State, in.Reason, err)
	}
}

func loseWorker(ctx context.Context, t *testing.T, s *Site) {
	w := begin(ctx, t, s)
	worker := workerOf(ctx, t, s, w)
	destroy(t, s, worker)
	w.begun(ctx, t, s, 2)
	if second := workerOf(ctx, t, s, w); second == worker {
		t.Errorf("the second attempt is on %s, too", second.Name)
	}
	w.open(t)
	task, attempts := w.succeeds(ctx, t)
	if len(attempts) != 2 || attempts[0].State != dag.AttemptLost || attempts[1].State != dag.AttemptSuccess || task.Retries != 0 {
		t.Errorf("%d retries, attempts %+v; want none, one lost and one that succeeded", task.Retries, attempts)
	}
	if err := s.Restart(ctx, worker); err != nil {
		t.Fatal(err)
	}
	err := s.Until(ctx, worker.Name+" is back", func() error {
		if incarnation(ctx, t, s, worker.Name) == "" {
			return fmt.Errorf("%s is not registered", worker.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// destroy ends a worker with its runner, as the loss of its host does.
func destroy(t *testing.T, s *Site, worker *Part) {
	t.Helper()
	worker.Kill()
	pids, err := s.processes()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		args := strings.Split(string(line), "\x00")
		if len(args) > 1 && args[1] == "runner" && strings.Contains(string(line), "/"+worker.Name) {
			killed++
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if killed != 1 {
		t.Fatalf("%d runners of %s found among %d processes, want one", killed, worker.Name, len(pids))
	}
}

func loseTwoWorkers(ctx context.Context, t *testing.T, s *Site) {
	w := begin(ctx, t, s)
	destroy(t, s, workerOf(ctx, t, s, w))
	w.begun(ctx, t, s, 2)
	destroy(t, s, workerOf(ctx, t, s, w))
	in, err := w.Wait(ctx, w.id, nil)
	if err != nil || in.State != dag.InstanceFailed {
		t.Fatalf("the instance is %s (%s), %v, want it failed", in.State, in.Reason, err)
	}
	tasks, err := w.Tasks(ctx, w.id)
	if err != nil || len(tasks) != 1 || tasks[0].State != dag.TaskFailed || tasks[0].Reason != dag.ReasonWorkerLost {
		t.Errorf("tasks %+v, %v; want one, failed with %s", tasks, err, dag.ReasonWorkerLost)
	}
	if attempts := w.attempts(ctx, t); len(attempts) != 2 || attempts[0].State != dag.AttemptLost || attempts[1].State != dag.AttemptLost {
		t.Errorf("attempts %+v, want two, both lost", attempts)
	}
	rows, err := s.Client.Failovers(ctx, "worker", 2)
	if err != nil || len(rows) != 2 || rows[0].Lost != 1 || rows[1].Lost != 1 || rows[0].Node == rows[1].Node {
		t.Errorf("failovers %+v, %v; want one of each worker", rows, err)
	}
}
