package site

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const threeSteps = `name: steps
tasks:
  - {name: before, type: shell, script: 'echo before >>"$file"'}
  - {name: during, type: shell, needs: [before], script: 'echo during >>"$file"; while [ -d "${file%/*}" ] && [ ! -e "$file.go" ]; do sleep 0.02; done'}
  - {name: after, type: shell, needs: [during], script: 'echo after >>"$file"; echo done'}
params: {file: ""}
`

func TestARunSurvivesTheCrashOfTheWholeNode(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	save(ctx, t, s.Client, "steps", threeSteps)
	evidence := filepath.Join(t.TempDir(), "evidence")
	id, err := s.Client.StartWorkflow(ctx, "p", "steps", client.Start{Params: map[string]string{"file": evidence}})
	if err != nil {
		t.Fatal(err)
	}
	awaitTask(ctx, t, s.Client, id, "during", dag.TaskRunning)
	node := s.Part("standalone")
	node.Kill()
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evidence+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	got, err := os.ReadFile(evidence)
	if err != nil || string(got) != "before\nduring\nafter\n" {
		t.Errorf("the tasks wrote %q, %v: want each once, in order", got, err)
	}
}

func TestCtrlCWaitsForARunningTask(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	w, node := begin(ctx, t, s), s.Part("standalone")
	node.Signal(syscall.SIGINT)
	err := s.Until(ctx, "the node drains", func() error {
		if !strings.Contains(node.Log(), "worker drains") {
			return errors.New("its log does not say so")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.open(t)
	if err := node.Wait(ctx); err != nil {
		t.Fatalf("the node ended with %v", err)
	}
	if lines := w.lines(); len(lines) != 2 {
		t.Errorf("the task wrote %q before the node was gone, want its end, too", lines)
	}
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	w.once(ctx, t)
}

func TestATaskThatCtrlCEndsRunsAgainWithoutARetry(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t, "--drain-for", "0s")
	w, node := begin(ctx, t, s), s.Part("standalone")
	node.Signal(syscall.SIGINT)
	if err := node.Wait(ctx); err != nil {
		t.Fatalf("the node ended with %v", err)
	}
	if first := w.lines(); len(first) != 1 || !gone(first[0]) {
		t.Errorf("the task wrote %q and lives on", first)
	}
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 2)
	w.open(t)
	task, attempts := w.succeeds(ctx, t)
	if len(attempts) != 2 || attempts[0].State != dag.AttemptReturned || attempts[1].State != dag.AttemptSuccess || task.Retries != 0 {
		t.Errorf("%d retries, attempts %+v; want none, one returned and one that succeeded", task.Retries, attempts)
	}
}

// TestAKillReachesWhatHasFledItsSession kills a task whose script leaves a process
// behind that has its own session and no parent any more.
func TestAKillReachesWhatHasFledItsSession(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	pids := filepath.Join(t.TempDir(), "pids")
	save(ctx, t, s.Client, "fork", `name: fork
params: {file: ""}
tasks:
  - {name: fork, type: shell, script: '(setsid sh -c "sleep 300 & echo \$\$ \$! >>$file; wait" &) ; echo $$ >>$file; sleep 300'}
`)
	id, err := s.Client.StartWorkflow(ctx, "p", "fork", client.Start{Params: map[string]string{"file": pids}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	err = s.Until(ctx, "all processes of the task run", func() error {
		text, err := os.ReadFile(pids)
		if found = strings.Fields(string(text)); err == nil && len(found) < 3 {
			err = errors.New("some are missing")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	awaitTask(ctx, t, s.Client, id, "fork", dag.TaskRunning)
	if _, err := s.Client.ControlTask(ctx, id, "fork", "kill"); err != nil {
		t.Fatal(err)
	}
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceFailed || in.Reason != dag.ReasonTaskKilled {
		t.Fatalf("the instance is %s (%s), %v, want failed by the kill", in.State, in.Reason, err)
	}
	for _, pid := range found {
		if !gone(pid) {
			t.Errorf("process %s of the killed task is still there", pid)
		}
	}
}

func TestAWorkerOfAnotherHostJoinsAStandaloneNode(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	var free [2]string
	for i := range free {
		var err error
		if free[i], err = FreeAddress(ctx); err != nil {
			t.Fatal(err)
		}
	}
	rpc, etcd := free[0], free[1]
	s := standalone(ctx, t, "--rpc", rpc, "--etcd-listen", etcd, "--slots", "1")
	token, err := s.Client.CreateJoinToken(ctx, client.NewJoinToken{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Start(ctx, "elsewhere", binary, "worker", "--node", "elsewhere", "--data", filepath.Join(s.Dir, "elsewhere"), "--groups", "far",
		"--etcd", "https://"+etcd, "--masters", rpc, "--join-token", token.Token)
	if err != nil {
		t.Fatal(err)
	}
	save(ctx, t, s.Client, "far", "name: far\ntasks:\n  - {name: there, type: shell, worker_group: far, script: echo hello}\n")
	id, err := s.Client.StartWorkflow(ctx, "p", "far", client.Start{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	var out bytes.Buffer
	if err := s.Client.ReadLog(ctx, &out, id, "there", 1, "", false); err != nil || out.String() != "hello\n" {
		t.Errorf("the log of the far task is %q, %v", out.String(), err)
	}
}

// TestWrongSettingsAreToldBeforeAPortIsTaken gives a port that is taken: a role that
// tried it before it looked at its settings would complain of the port.
func TestWrongSettingsAreToldBeforeAPortIsTaken(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	address, dir := taken.Addr().String(), t.TempDir()
	nobody := &Site{}
	for name, args := range map[string][]string{
		"slots":     {"standalone", "--http", address, "--slots", "0"},
		"drain-for": {"standalone", "--http", address, "--drain-for", "-1s"},
		"database":  {"apiserver", "--http", address, "--etcd", "127.0.0.1:1"},
		"etcd":      {"master", "--rpc", address, "--database", "sqlite:" + filepath.Join(dir, "db")},
		"tls-cert":  {"standalone", "--http", address, "--tls-key", "key"},
	} {
		data := filepath.Join(dir, name)
		code, _, errs := finish(t, porpoise(ctx, nobody, append(args, "--data", data)...))
		if code != 2 || !strings.Contains(errs, name) || strings.Contains(errs, "in use") {
			t.Errorf("%v = %d %q, want 2 and a word about %s", args, code, errs, name)
		}
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v has made its data folder: %v", args, err)
		}
	}
	code, _, errs := finish(t, porpoise(ctx, nobody, "standalone", "--http", address, "--data", filepath.Join(dir, "busy")))
	if code != 1 || !strings.Contains(errs, "--http") || !strings.Contains(errs, address) {
		t.Errorf("a taken port = %d %q, want 1 and a word about --http", code, errs)
	}
}
