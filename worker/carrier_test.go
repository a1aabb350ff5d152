package worker_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

// files makes an attempt one that leaves artifacts and uses those of a task "from".
func files(d *rpc.Dispatch, artifacts, uses []string) *rpc.Dispatch {
	d.Files = &rpc.Files{Spec: d.Spec, Artifacts: artifacts}
	d.Spec = []byte(`{"artifacts":true}`)
	for _, name := range uses {
		d.Files.Inputs = append(d.Files.Inputs, &rpc.Input{Task: 1, TaskName: "from", Name: name})
	}
	return d
}

func artifactFolders(t *testing.T, s workertest.Spec) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.Dir, "artifacts", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestArtifactsGoOutBeforeTheSuccess(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	m.Gives("in.csv", "used\x00")
	tried := false
	m.Keeps(func(string) error {
		if tried {
			return nil
		}
		tried = true
		return status.Error(codes.Unavailable, "the database is away")
	})
	s := workertest.NewSpec(t, 4, m)
	stop := workertest.Run(t, s)
	m.Submit(files(workertest.Shell(1, `
		mkdir "$PORPOISE_ARTIFACTS/out"
		cat "$PORPOISE_INPUTS/from/in.csv" > "$PORPOISE_ARTIFACTS/out/a"
		: > "$PORPOISE_ARTIFACTS/empty"
		echo x > "$PORPOISE_ARTIFACTS/undeclared"`), []string{"out/", "empty"}, []string{"in.csv"}))
	if r := m.Report("t1"); r.State != "success" {
		t.Fatalf("it ended with %v", r)
	}
	if got, want := m.Kept("t1"), map[string]string{"out/a": "used\x00", "empty": ""}; !maps.Equal(got, want) {
		t.Errorf("kept are %q, want %q", got, want)
	}
	stop()
	if left := artifactFolders(t, s); len(left) != 0 {
		t.Errorf("folders are left: %q", left)
	}
}

func TestAnAttemptFailsForItsFiles(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	m.Keeps(func(token string) error {
		if token == "t4" {
			return status.Error(codes.InvalidArgument, "artifacts refused: no such names")
		}
		return nil
	})
	s := workertest.NewSpec(t, 10, m)
	defer workertest.Run(t, s)()
	for _, c := range []struct {
		d              *rpc.Dispatch
		reason, detail string
	}{
		{files(workertest.Shell(1, "true"), []string{"a"}, nil), "artifact_missing", `"a"`},
		{files(workertest.Shell(2, `mkdir "$PORPOISE_ARTIFACTS/a"`), []string{"a/"}, nil), "artifact_missing", "no file"},
		{files(workertest.Shell(3, `mkdir "$PORPOISE_ARTIFACTS/a"; ln -s /etc/passwd "$PORPOISE_ARTIFACTS/a/b"`), []string{"a/"}, nil), "artifact_refused", `"a/b"`},
		{files(workertest.Shell(4, `: > "$PORPOISE_ARTIFACTS/a"`), []string{"a"}, nil), "artifact_refused", "no such names"},
		{files(workertest.Shell(5, `cd "$PORPOISE_ARTIFACTS"; for i in $(seq 101); do : > $i; done; mkdir a; mv [0-9]* a`), []string{"a/"}, nil), "artifact_refused", "100 files"},
		{files(workertest.Shell(6, `mkdir "$PORPOISE_ARTIFACTS/a"`), []string{"a"}, nil), "artifact_refused", "no plain file"},
		{files(workertest.Shell(7, `rm -r "$PORPOISE_ARTIFACTS"; ln -s /etc "$PORPOISE_ARTIFACTS"`), []string{"../passwd"}, nil), "artifact_missing", "passwd"},
		{files(workertest.Shell(8, "echo it ran"), nil, []string{"none"}), "input_missing", `"from/none"`},
	} {
		m.Submit(c.d)
		r := m.Report(c.d.Attempt.Token)
		if r.State != "failed" || r.Reason != c.reason || !strings.Contains(r.Message, c.detail) {
			t.Errorf("%s: ended with %s %s %q, want %s and %s", c.d.Attempt.Token, r.State, r.Reason, r.Message, c.reason, c.detail)
		}
		if kept := m.Kept(c.d.Attempt.Token); kept != nil {
			t.Errorf("%s: kept are %q", c.d.Attempt.Token, kept)
		}
	}
}

func TestArtifactsAreSentAgainByTheNextProcess(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	away := errors.New("away")
	m.Keeps(func(string) error { return away })
	s := workertest.NewSpec(t, 4, m)
	w := workertest.Launch(t, s)
	m.Submit(files(workertest.Shell(1, `echo 1 > "$PORPOISE_ARTIFACTS/a"`), []string{"a"}, nil))
	m.AwaitTries(1)
	if err := w.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = w.Wait()
	for _, r := range m.Reports("t1") {
		if r.State != "running" {
			t.Fatalf("it ended with %v before its artifact was kept", r)
		}
	}
	m.Keeps(nil)
	s.Boot = "boot2"
	stop := workertest.Run(t, s)
	if hello := m.Hellos(2); len(hello.Running) != 1 {
		t.Errorf("the next process names %v as alive, want the attempt whose artifact is to go", hello.Running)
	}
	if r := m.Report("t1"); r.State != "success" || m.Kept("t1")["a"] != "1\n" {
		t.Errorf("it ended with %v, kept are %q", r, m.Kept("t1"))
	}
	stop()
	if left := artifactFolders(t, s); len(left) != 0 {
		t.Errorf("folders are left: %q", left)
	}
}

func TestAKillEndsATransfer(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	m.Keeps(func(string) error { return errors.New("away") })
	s := workertest.NewSpec(t, 4, m)
	defer workertest.Run(t, s)()
	d := files(workertest.Shell(1, `echo 1 > "$PORPOISE_ARTIFACTS/a"`), []string{"a"}, nil)
	m.Submit(d)
	m.AwaitTries(1)
	m.Send(&rpc.MasterMessage{Kills: []*rpc.Kill{{Attempt: d.Attempt, OwnerEpoch: 1, Reason: "killed_by_user"}}})
	if r := m.Report("t1"); r.State != "killed" || r.Reason != "killed_by_user" || m.Kept("t1") != nil {
		t.Errorf("it ended with %v, kept are %q", r, m.Kept("t1"))
	}
}

func TestAnOlderWorkerWouldNotRunWhatNeedsFiles(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	s := workertest.NewSpec(t, 4, m)
	defer workertest.Run(t, s)()
	ran := filepath.Join(t.TempDir(), "ran")
	d := files(workertest.Shell(1, "touch "+ran), []string{"a"}, nil)
	d.Files = nil // which it does not read
	m.Submit(d)
	if r := m.Report("t1"); r.State != "failed" || r.Reason != "bad_spec" {
		t.Errorf("it ended with %v", r)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}
