package workertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker"
	"github.com/porpoise/porpoise/worker/runner"
)

const (
	runnerDir  = "TEST_RUNNER_DIR"
	workerSpec = "TEST_WORKER"
)

// Spec says how a worker of a test runs.
type Spec struct {
	Dir       string
	Slots     int
	Masters   []worker.Peer
	Readers   []worker.Peer
	DrainFor  time.Duration
	KeepTasks bool
	Leases    bool
	Boot      string // incarnation
}

// Main is for TestMain: it makes the test binary a runner or a worker where a test
// launches it as one.
func Main(m *testing.M) {
	log := hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Info})
	if dir := os.Getenv(runnerDir); dir != "" {
		if err := runner.Main(context.Background(), runner.Config{DataDir: dir, IdleFor: 20 * time.Second, Logger: log}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if text := os.Getenv(workerSpec); text != "" {
		var s Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			panic(err)
		}
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		w, err := worker.New(s.config(log))
		if err == nil {
			err = w.Run(ctx)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func (s Spec) config(log hclog.Logger) worker.Config {
	c := worker.Config{
		Node: "w1", Incarnation: s.Boot, Slots: s.Slots, DataDir: s.Dir, Version: "test",
		Masters: worker.FixedPeers(s.Masters), DrainFor: s.DrainFor, KeepTasks: s.KeepTasks, Leases: s.Leases,
		Dial: func(_ context.Context, address string) (rpc.Conn, error) {
			return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		},
		Runner: []string{os.Args[0]}, RunnerEnv: []string{runnerDir + "=" + s.Dir, "PATH=" + os.Getenv("PATH")},
		Logger: log,
	}
	if len(s.Readers) > 0 {
		c.Apiservers = worker.FixedPeers(s.Readers)
	}
	return c
}

// NewSpec is a worker in a folder of the test, for these masters.
func NewSpec(t testing.TB, slots int, masters ...*Master) Spec {
	t.Helper()
	s := Spec{Dir: t.TempDir(), Slots: slots, Boot: "boot1"}
	for _, m := range masters {
		s.Masters = append(s.Masters, worker.Peer{Node: m.Node, Incarnation: "1", Address: m.Address})
	}
	t.Cleanup(func() { endRunner(t, s.Dir) })
	return s
}

// endRunner kills the runner of a folder and what it has started, and fails the test
// where something that belongs to no attempt was left.
func endRunner(t testing.TB, dir string) {
	said, _ := os.ReadFile(filepath.Join(dir, "runner.err"))
	if t.Failed() {
		t.Logf("the runner said: %s", said)
	}
	for _, pid := range Marked(dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if pid := RunnerPID(dir); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	}
	for _, pid := range Marked(dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// RunnerPID finds the runner of a folder, 0 if none lives.
func RunnerPID(dir string) int {
	for _, pid := range withEnv(runnerDir + "=" + dir) {
		return pid
	}
	return 0
}

// Marked finds the live processes that carry the mark of a folder's runner.
func Marked(dir string) []int {
	id, err := os.ReadFile(filepath.Join(dir, "runner.id"))
	if err != nil {
		return nil
	}
	return withEnv("PORPOISE_MARK=" + strings.TrimSpace(string(id)))
}

func withEnv(prefix string) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || len(env) == 0 {
			continue
		}
		for pair := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.HasPrefix(pair, []byte(prefix)) {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Run runs a worker in the test's process; stop ends it and waits for its end.
func Run(t testing.TB, s Spec) (stop func()) {
	t.Helper()
	log := hclog.NewNullLogger()
	if testing.Verbose() {
		log = hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Info})
	}
	w, err := worker.New(s.config(log))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	over := false
	stop = func() {
		if over {
			return
		}
		over = true
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("worker ended: %v", err)
			}
		case <-time.After(Deadline):
			t.Error("the worker does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

// Launch runs a worker as a process of its own, for tests that kill it.
func Launch(t testing.TB, s Spec) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{workerSpec + "=" + string(text), "PATH=" + os.Getenv("PATH"), "SECRET_OF_THE_WORKER=x"}
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// Dispatch makes an attempt of a type; its token is "t" and the instance.
func Dispatch(instance int64, kind string, spec any) *rpc.Dispatch {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err)
	}
	return &rpc.Dispatch{
		Attempt: &rpc.AttemptID{InstanceId: instance, Number: 1, Token: Token(instance)}, OwnerEpoch: 1,
		Type: kind, Spec: text, TaskName: "task", Workflow: "workflow", Project: "project",
		IdempotencyKey: fmt.Sprint("key-", instance), KillGraceMs: 2000,
	}
}

// Token is the token of Dispatch.
func Token(instance int64) string { return fmt.Sprint("t", instance) }

// Shell is an attempt that runs a script.
func Shell(instance int64, script string) *rpc.Dispatch {
	return Dispatch(instance, "shell", map[string]string{"script": script})
}
