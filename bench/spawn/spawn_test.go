package spawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const composeFile = "../../docker-compose.yml"

// binary is what the tests start, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "porpoise-spawn-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "porpoise")
	cmd := exec.Command("go", "build", "-o", binary, "../../cmd/porpoise")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped, and as others have built it
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func places() map[string]string {
	return map[string]string{
		"/data": "/tmp/data", "/secrets": "/tmp/secrets", "/join": "/tmp/join", "etcd:2379": "127.0.0.1:2379",
		"0.0.0.0:8080": "127.0.0.1:1", "0.0.0.0:7070": "127.0.0.1:2", "0.0.0.0:7071": "127.0.0.1:3",
		"master-1:7070": "127.0.0.1:2", "master-2:7070": "127.0.0.1:4", "apiserver:7071": "127.0.0.1:3",
		"mysql:porpoise:${MYSQL_PASSWORD:-porpoise}@tcp(mysql:3306)/porpoise": "mysql:root@tcp(127.0.0.1:3306)/p",
	}
}

// TestTheRolesTakeTheComposeFilesCommands holds each command of the file against the
// binary: a flag that was renamed, or a setting that is refused, is found here.
func TestTheRolesTakeTheComposeFilesCommands(t *testing.T) {
	t.Parallel()
	file, err := readCompose(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	if m, w, a := file.names("master"), file.names("worker"), file.names("apiserver"); len(m) != 2 || len(w) != 2 || len(a) != 1 || len(file.names("migrate")) != 1 {
		t.Errorf("services: %v %v %v", m, w, a)
	}
	for name := range file {
		args, env, err := file.arguments(name, places())
		if err != nil {
			t.Error(err)
		}
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"config", "check"}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAPlaceThatIsNotReplacedIsAnError(t *testing.T) {
	t.Parallel()
	file, err := readCompose(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	some := places()
	delete(some, "0.0.0.0:7070")
	if _, _, err := file.arguments("master-1", some); err == nil || !strings.Contains(err.Error(), "0.0.0.0:7070") {
		t.Errorf("arguments = %v", err)
	}
}

const threeSteps = `name: steps
tasks:
  - {name: before, type: shell, script: 'echo before >>"$file"'}
  - {name: during, type: shell, needs: [before], script: 'echo during >>"$file"; while [ ! -e "$file.go" ]; do sleep 0.02; done'}
  - {name: after, type: shell, needs: [during], script: 'echo after >>"$file"; echo done'}
params: {file: ""}
`

func save(t *testing.T, c *client.Client, name, text string) {
	t.Helper()
	if _, err := c.PutProject(t.Context(), "p", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SaveWorkflow(t.Context(), client.Save{Project: "p", Workflow: name, Format: "yaml", Text: []byte(text), Publish: true}); err != nil {
		t.Fatal(err)
	}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// awaitTask waits for a task's state through the event stream.
func awaitTask(ctx context.Context, t *testing.T, c *client.Client, id, task string, state dag.TaskState) {
	t.Helper()
	there := fmt.Errorf("%s is %s", task, state)
	err := c.Watch(ctx, id, func(client.Update) error {
		tasks, err := c.Tasks(ctx, id)
		if err != nil {
			return err
		}
		for _, got := range tasks {
			if got.Name == task && got.State == state {
				return there
			}
		}
		return nil
	})
	if err != there { //nolint:errorlint // it is this very value
		t.Fatalf("wait until %v: %v", there, err)
	}
}

func TestARunSurvivesTheCrashOfTheWholeNode(t *testing.T) {
	t.Parallel()
	ctx, dir := deadline(t), t.TempDir()
	node, err := Standalone(ctx, binary, dir, "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	save(t, node.Client, "steps", threeSteps)
	evidence := filepath.Join(dir, "evidence")
	id, err := node.Client.StartWorkflow(ctx, "p", "steps", client.Start{Params: map[string]string{"file": evidence}})
	if err != nil {
		t.Fatal(err)
	}
	awaitTask(ctx, t, node.Client, id, "during", dag.TaskRunning)
	node.Kill()

	began := time.Now()
	node, err = Standalone(ctx, binary, dir, "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready again after %s", time.Since(began))
	t.Cleanup(func() {
		if err := node.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(evidence+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := node.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v; the log ends:\n%s", in.State, in.Reason, err, node.Tail())
	}
	got, err := os.ReadFile(evidence)
	if err != nil || string(got) != "before\nduring\nafter\n" {
		t.Errorf("the tasks wrote %q, %v: want each once, in order", got, err)
	}
}

func TestAWorkerOfAnotherHostJoinsAStandaloneNode(t *testing.T) {
	t.Parallel()
	ctx, dir := deadline(t), t.TempDir()
	rpc, etcd := free(t), free(t)
	node, err := Standalone(ctx, binary, dir, "--rpc", rpc, "--etcd-listen", etcd, "--slots", "1")
	if err != nil {
		t.Fatal(err)
	}
	token, err := node.Client.CreateJoinToken(ctx, client.NewJoinToken{Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	worker, err := start(binary, dir, "worker", nil, []string{
		"worker", "--node", "elsewhere", "--data", filepath.Join(dir, "worker"), "--groups", "far",
		"--etcd", "https://" + etcd, "--masters", rpc, "--join-token", token.Token,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(worker.Stop(), node.Stop()); err != nil {
			t.Error(err)
		}
	})
	save(t, node.Client, "far", "name: far\ntasks:\n  - {name: there, type: shell, worker_group: far, script: echo hello}\n")
	id, err := node.Client.StartWorkflow(ctx, "p", "far", client.Start{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := node.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v; the worker's log ends:\n%s", in.State, in.Reason, err, worker.Tail())
	}
	var out bytes.Buffer
	if err := node.Client.ReadLog(ctx, &out, id, "there", 1, "", false); err != nil || out.String() != "hello\n" {
		t.Errorf("the log of the far task is %q, %v", out.String(), err)
	}
}

func free(t *testing.T) string {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func TestTheClusterOfTheComposeFileRunsAWorkflow(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv("PORPOISE_TEST_MYSQL")
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PORPOISE_TEST_MYSQL names no server, and with CI=true nothing may be skipped")
		}
		t.Skip("PORPOISE_TEST_MYSQL names no server: scripts/with-mariadb go test ./bench/spawn")
	}
	ctx, dir := deadline(t), t.TempDir()
	c, err := StartCluster(ctx, ClusterConfig{Binary: binary, Compose: composeFile, Dir: dir, DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if masters, err := c.Client.Masters(ctx); err != nil || len(masters) != 2 {
		t.Errorf("masters = %v, %v, want 2", masters, err)
	}
	save(t, c.Client, "steps", threeSteps)
	evidence := filepath.Join(dir, "evidence")
	id, err := c.Client.StartWorkflow(ctx, "p", "steps", client.Start{Params: map[string]string{"file": evidence}})
	if err != nil {
		t.Fatal(err)
	}
	awaitTask(ctx, t, c.Client, id, "during", dag.TaskRunning)
	// The instance's master dies as by a crash; the other one ends the run.
	in, err := c.Client.Instance(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	owner := c.Processes[in.Owner]
	if owner == nil {
		t.Fatalf("the owner %q is no process of ours", in.Owner)
	}
	owner.Kill()
	c.forget(owner)
	if err := os.WriteFile(evidence+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err = c.Client.Wait(ctx, id, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	if got, err := os.ReadFile(evidence); err != nil || string(got) != "before\nduring\nafter\n" {
		t.Errorf("the tasks wrote %q, %v: want each once, in order", got, err)
	}
	var out bytes.Buffer
	if err := c.Client.ReadLog(ctx, &out, id, "after", 1, "", false); err != nil || out.String() != "done\n" {
		t.Errorf("the log of after is %q, %v", out.String(), err)
	}
}
