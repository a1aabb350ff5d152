package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asRoot skips a test that only root can run.
func asRoot(t *testing.T, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s needs root", why)
	}
}

// cgroup makes a group of cgroup v1 with a limit for what a task may use.
func cgroup(t *testing.T, controller, file, limit string) string {
	t.Helper()
	asRoot(t, "a control group")
	dir := filepath.Join("/sys/fs/cgroup", controller, fmt.Sprintf("porpoise-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no control group of %s here: %v", controller, err)
	}
	t.Cleanup(func() { waitFor(t, "the control group to be empty", func() bool { return os.Remove(dir) == nil }) })
	if err := os.WriteFile(filepath.Join(dir, file), []byte(limit), 0); err != nil {
		t.Skipf("no limit of %s here: %v", file, err)
	}
	return dir
}

// Requirement F58: where memory runs out a task goes first, and who keeps the leases runs before it.
func TestTasksAreGivenUpFirst(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `while [ "$(cat /proc/$$/oom_score_adj)" != 800 ]; do sleep 0.02; done; sleep 0.05
(setsid sh -c 'cat /proc/self/oom_score_adj; cut -d" " -f19 /proc/self/stat')`))
	if e := h.exit("m1"); string(e.Tail) != "800\n10\n" {
		t.Errorf("score and nice of what a task starts = %q", e.Tail)
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, caps, _ := strings.Cut(string(status), "CapEff:")
	effective, _ := strconv.ParseUint(strings.TrimSpace(caps[:strings.IndexByte(caps, '\n')]), 16, 64)
	if effective&(1<<unix.CAP_SYS_RESOURCE) == 0 {
		t.Log("not looked at here: the protection of the runner needs CAP_SYS_RESOURCE")
		return
	}
	score, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", h.proc.Pid))
	if err != nil || string(score) != "-500\n" {
		t.Errorf("score of the runner = %q, %v", score, err)
	}
}

// Requirement F58: a task that uses up its memory is a failed attempt; its runner and the others go on.
func TestATaskThatUsesUpItsMemoryFailsAlone(t *testing.T) {
	t.Parallel()
	group := cgroup(t, "memory", "memory.limit_in_bytes", "33554432")
	h := launch(t)
	h.start(shell(1, "echo $$ > "+group+"/cgroup.procs; exec tail /dev/zero"), shell(2, "sleep 0.5; echo fine"))
	if e := h.exit("m1"); e.State != "failed" || e.Reason != "signal" || e.ExitCode != 128+int32(unix.SIGKILL) {
		t.Errorf("exit = %v", e)
	}
	if e := h.exit("m2"); e.State != "success" {
		t.Errorf("exit of the other = %v", e)
	}
}

// Requirement F58: a fork bomb under a limit ends with its kill, and others run beside it.
func TestAForkBombEndsWithItsKill(t *testing.T) {
	t.Parallel()
	group := cgroup(t, "pids", "pids.max", "64")
	h := launch(t)
	// The function is the classic one, and each of its processes begins anew what dies.
	h.start(shell(1, "echo $$ > "+group+"/cgroup.procs; b() { b | b & b & while :; do b 2>/dev/null & sleep 0.01; done; }; b"))
	h.born("m1")
	waitFor(t, "the bomb to reach its limit", func() bool {
		n, _ := os.ReadFile(group + "/pids.current")
		return strings.TrimSpace(string(n)) == "64"
	})
	h.start(shell(2, "echo fine"))
	if e := h.exit("m2"); e.State != "success" {
		t.Errorf("exit of the other = %v", e)
	}
	h.stop("m1", 100)
	if e := h.exit("m1"); e.State != "killed" {
		t.Errorf("exit = %v", e)
	}
	if n, _ := os.ReadFile(group + "/cgroup.procs"); len(n) != 0 {
		t.Errorf("processes live after the kill was reported: %s", strings.ReplaceAll(string(n), "\n", " "))
	}
}

// Requirement F63: what a full disk does not take of the output is counted, and ends are told all the same.
func TestAFullDiskDropsOutputAndNothingElse(t *testing.T) {
	t.Parallel()
	asRoot(t, "a disk of one's own")
	h := launch(t)
	h.detach()
	disk := filepath.Join(h.dir, "output", "big")
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skipf("no disk of one's own here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	h.connect()
	h.start(shell(1, "head -c 8000000 /dev/zero | tr '\\0' x; echo; echo last"), shell(2, "echo short"))
	if e := h.exit("m1"); e.State != "success" || !strings.HasSuffix(string(e.Tail), "x\nlast\n") || e.LogBytes != 8000006 {
		t.Errorf("exit = %s, %d bytes, the end is %.20q", e.State, e.LogBytes, e.Tail[max(0, len(e.Tail)-20):])
	}
	if e := h.exit("m2"); e.State != "success" {
		t.Errorf("exit of the other = %v", e)
	}
	for h.dropped < 6_900_000 {
		h.note(h.next())
	}
	if text := h.read(2, "", 0); string(text.Data) != "short\n" {
		t.Errorf("output of the other = %v", text)
	}
}
