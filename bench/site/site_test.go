package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// binary is what the tests start, built once as it is shipped.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "porpoise-site-test.")
	if err == nil {
		binary, err = Build(context.Background(), "cmd/porpoise", dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// standalone starts a node that the end of the test stops.
func standalone(ctx context.Context, t *testing.T, flags ...string) *Site {
	t.Helper()
	s, err := Standalone(ctx, Options{Binary: binary, LogLevel: "info", Flags: map[string][]string{"standalone": flags}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

// stop stops a site; after a failure its logs are worth reading.
func stop(t *testing.T, s *Site) {
	t.Helper()
	if t.Failed() {
		t.Log(s.tails())
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func save(ctx context.Context, t *testing.T, c *client.Client, name, text string) {
	t.Helper()
	if _, err := c.PutProject(ctx, "p", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SaveWorkflow(ctx, client.Save{Project: "p", Workflow: name, Format: "yaml", Text: []byte(text), Match: "*", Publish: true}); err != nil {
		t.Fatal(err)
	}
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

// work is a running workflow of one task, which notes each of its beginnings and then
// waits for the gate.
type work struct {
	*client.Client
	id, file string
}

const gated = `name: gated
params: {file: ""}
tasks:
  - {name: task, type: shell, script: 'echo $$ >>"$file"; echo begun; while [ -d "${file%/*}" ] && [ ! -e "$file.go" ]; do sleep 0.02; done; echo ended >>"$file"'}
`

// begin starts it and waits until the task has begun.
func begin(ctx context.Context, t *testing.T, s *Site) *work {
	t.Helper()
	w := &work{Client: s.Client, file: filepath.Join(t.TempDir(), "evidence")}
	save(ctx, t, w.Client, "gated", gated)
	start := client.Start{Params: map[string]string{"file": w.file}, IdempotencyKey: w.file}
	// A database that many tests share may be silent for long enough to be refused for, as anybody's may: who has a key asks again.
	err := s.Until(ctx, "the start is taken", func() (err error) {
		w.id, err = w.StartWorkflow(ctx, "p", "gated", start)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 1)
	return w
}

// begun waits until the task has begun so many times.
func (w *work) begun(ctx context.Context, t *testing.T, s *Site, times int) {
	t.Helper()
	err := s.Until(ctx, fmt.Sprintf("the task has begun %d times", times), func() error {
		if got := len(w.lines()); got < times {
			return fmt.Errorf("it has %d times", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *work) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(w.file+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *work) lines() []string {
	text, _ := os.ReadFile(w.file) // nothing before it has begun
	return strings.Fields(string(text))
}

// attempts are those of the task, oldest first.
func (w *work) attempts(ctx context.Context, t *testing.T) []client.Attempt {
	t.Helper()
	attempts, err := w.Attempts(ctx, w.id, "task")
	if err != nil || len(attempts) == 0 {
		t.Fatalf("attempts = %v, %v", attempts, err)
	}
	slices.SortFunc(attempts, func(a, b client.Attempt) int { return a.Number - b.Number })
	return attempts
}

// succeeds waits for the end and returns the task and its attempts.
func (w *work) succeeds(ctx context.Context, t *testing.T) (client.Task, []client.Attempt) {
	t.Helper()
	in, err := w.Wait(ctx, w.id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v, want success", in.State, in.Reason, err)
	}
	tasks, err := w.Tasks(ctx, w.id)
	if err != nil || len(tasks) != 1 {
		t.Fatalf("tasks = %v, %v", tasks, err)
	}
	return tasks[0], w.attempts(ctx, t)
}

// once demands that the task ran a single time and to its end.
func (w *work) once(ctx context.Context, t *testing.T) {
	t.Helper()
	if _, attempts := w.succeeds(ctx, t); len(attempts) != 1 {
		t.Errorf("attempts = %+v, want one", attempts)
	}
	if lines := w.lines(); len(lines) != 2 || lines[1] != "ended" {
		t.Errorf("the task wrote %q, want one pid and its end", lines)
	}
}

// porpoise prepares a command line against the site, as its admin would type it.
func porpoise(ctx context.Context, s *Site, args ...string) *exec.Cmd {
	cmd := porpoiseOf(ctx, binary, args...)
	cmd.Env = append(cmd.Env, "PORPOISE_SERVER="+s.URL, "PORPOISE_TOKEN="+s.Token)
	return cmd
}

// porpoiseOf prepares a command line of some version.
func porpoiseOf(ctx context.Context, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = environment()
	return cmd
}

// finish runs a prepared command and returns its exit code and what it printed.
func finish(t *testing.T, cmd *exec.Cmd) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// gone says that there is no such process, or only what is left of it until it is reaped.
func gone(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	_, rest, _ := bytes.Cut(text, []byte(") "))
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || bytes.HasPrefix(rest, []byte("Z"))
}
