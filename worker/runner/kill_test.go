package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pidFile is where a script leaves the pid of what it has started.
func pidFile(h *harness, name string) string { return filepath.Join(h.dir, name) }

func readPid(t testing.TB, path string) int {
	t.Helper()
	pid := 0
	waitFor(t, "a pid in "+path, func() bool {
		data, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0 && strings.HasSuffix(string(data), "\n")
	})
	return pid
}

func (h *harness) stop(mark string, graceMs int64) {
	h.client.Send(&Order{Stops: []*Stop{{Mark: mark, GraceMs: graceMs, Reason: "killed_by_user"}}})
}

func TestKillLeavesTimeToCleanUp(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `trap 'sleep 0.2; echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.02; done`))
	h.born("m1")
	waitFor(t, "the trap", func() bool { return h.read(1, "", 0).Size > 0 })
	h.stop("m1", 15000)
	e := h.exit("m1")
	if e.State != "killed" || e.Reason != "killed_by_user" || !strings.HasSuffix(string(e.Tail), "cleaned\n") {
		t.Errorf("exit = %v", e)
	}
}

func TestKillEndsWhatIgnoresTermAndWhatHasEscaped(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `trap '' TERM
nohup sleep 1001 >/dev/null 2>&1 & echo $! > `+pidFile(h, "nohup")+`
setsid sh -c 'echo $$ > `+pidFile(h, "setsid")+`; exec sleep 1002' &
(setsid sh -c 'sleep 1003 & echo $! > `+pidFile(h, "double")+`' &)
env -i /usr/bin/setsid /bin/sh -c 'echo $$ > `+pidFile(h, "bare")+`; exec /bin/sleep 1004' &
sleep 1005`))
	s := h.born("m1")
	pids := []int{int(s.Pid)}
	for _, name := range []string{"nohup", "setsid", "double", "bare"} {
		pids = append(pids, readPid(t, pidFile(h, name)))
	}
	h.stop("m1", 100)
	if e := h.exit("m1"); e.State != "killed" {
		t.Errorf("exit = %v", e)
	}
	// The report is the promise that nothing is left: no waiting here.
	for i, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d (%d) lives after the kill was reported", pid, i)
		}
	}
}

// Requirement F59: TERM reaches what has left the group, too, so that a kill of a well-behaved daemon
// takes no grace; what the task starts to clean up is left alone.
func TestTermReachesWhatHasLeftTheGroup(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `daemon='trap "sleep 0.3; echo bye > `+pidFile(h, "bye")+`; exit" TERM; echo $$ > `+pidFile(h, "daemon")+`; while :; do sleep 0.02; done'
(setsid nohup sh -c "$daemon" >/dev/null 2>&1 &)
trap 'setsid sh -c "sleep 0.3; echo clean > `+pidFile(h, "clean")+`"; exit 0' TERM
echo up; while :; do sleep 0.02; done`))
	h.born("m1")
	daemon := readPid(t, pidFile(h, "daemon"))
	waitFor(t, "the trap", func() bool { return h.read(1, "", 0).Size > 0 })
	begun := time.Now()
	h.stop("m1", 60_000)
	if e := h.exit("m1"); e.State != "killed" {
		t.Errorf("exit = %v", e)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the kill took %v", took)
	}
	if alive(daemon) {
		t.Error("the daemon lives")
	}
	for _, name := range []string{"bye", "clean"} {
		if _, err := os.Stat(pidFile(h, name)); err != nil {
			t.Errorf("no time to clean up: %v", err)
		}
	}
}

func TestKillOfAnAttemptThatIsNotThereChangesNothing(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.stop("m9", 0)
	h.start(shell(1, "echo x"))
	if e := h.exit("m1"); e.State != "success" {
		t.Errorf("exit = %v", e)
	}
}

func TestWhatATaskLeavesBehindEndsWithIt(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `sleep 1001 & echo $! > `+pidFile(h, "plain")+`
setsid sh -c 'echo $$ > `+pidFile(h, "setsid")+`; exec sleep 1002' >/dev/null 2>&1 &
env -i /usr/bin/setsid /bin/sh -c 'echo $$ > `+pidFile(h, "bare")+`; exec /bin/sleep 1003' >/dev/null 2>&1 &
while [ ! -s `+pidFile(h, "setsid")+` ] || [ ! -s `+pidFile(h, "bare")+` ]; do sleep 0.01; done
echo done`))
	e := h.exit("m1")
	if e.State != "success" || string(e.Tail) != "done\n" {
		t.Errorf("exit = %v", e)
	}
	if took := e.FinishedAt - e.StartedAt; took > 8000 {
		t.Errorf("a grandchild that holds stdout held the end up for %d ms", took)
	}
	for _, name := range []string{"plain", "setsid", "bare"} {
		pid := readPid(t, pidFile(h, name))
		waitFor(t, name+" to end", func() bool { return !alive(pid) })
	}
}

func TestARunnerThatComesAfterAKilledOneEndsItsTasks(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `echo before; (setsid sh -c 'echo $$ > `+pidFile(h, "away")+`; exec sleep 1001' &); sleep 1002`), shell(2, "echo two"))
	h.exit("m2")
	s := readPid(t, pidFile(h, "away"))
	waitFor(t, "output on disk", func() bool {
		// The file is there a moment before what is written to it.
		text, err := os.ReadFile(filepath.Join(h.dir, "output", "big", "1-0-1", "0"))
		return err == nil && strings.Contains(string(text), "before\n")
	})
	if err := h.proc.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = h.proc.Wait()
	h.detach()
	attached := h.connect()
	if len(attached.Running) != 0 || len(attached.Exits) != 2 {
		t.Fatalf("attached = %v, want the ends of both", attached)
	}
	for _, e := range attached.Exits {
		switch e.Mark {
		case "m1":
			if e.State != "failed" || e.Reason != "runner_lost" || e.Attempt.Token != "token1" || string(e.Tail) != "before\n" {
				t.Errorf("exit = %v", e)
			}
		case "m2":
			if e.State != "success" {
				t.Errorf("exit = %v", e)
			}
		}
	}
	if alive(s) {
		t.Errorf("process %d of the killed runner lives", s)
	}
	// The same attempt is never run again.
	h.start(shell(1, "echo again"))
	if e := h.exit("m1"); e.Reason != "runner_lost" {
		t.Errorf("the attempt was run again: %v", e)
	}
}

func TestANewControlProcessFindsWhatRunsAndWhatHasEnded(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, "echo up; while [ ! -e "+pidFile(h, "go")+" ]; do sleep 0.02; done; echo end"), shell(2, "true"), shell(3, "true"))
	h.exit("m2")
	pid := h.born("m1").Pid
	h.client.Send(&Order{Forget: []string{"m2"}, Starts: []*Start{shell(4, "true")}})
	h.exit("m3")
	h.exit("m4") // so the runner has taken the order
	h.detach()
	attached := h.connect()
	if len(attached.Running) != 1 || attached.Running[0].Pid != pid || attached.Running[0].Attempt.Token != "token1" {
		t.Fatalf("running = %v, want pid %d", attached.Running, pid)
	}
	if len(attached.Exits) != 2 || attached.Exits[0].Mark == "m2" || attached.Exits[1].Mark == "m2" {
		t.Errorf("ends = %v, want those of m3 and m4", attached.Exits)
	}
	if err := os.WriteFile(pidFile(h, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := h.exit("m1"); e.State != "success" || string(e.Tail) != "up\nend\n" {
		t.Errorf("exit = %v", e)
	}
}

func TestTheRunnerRefusesAWrongSecret(t *testing.T) {
	t.Parallel()
	h := launch(t)
	path := filepath.Join(h.dir, "runner.secret")
	secret, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the secret = %v", info.Mode())
	}
	if err := os.WriteFile(path, []byte("guessed"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), h.dir, Attachment{Incarnation: "x"})
	if err != nil {
		t.Fatal(err)
	}
	c.Send(&Order{Starts: []*Start{shell(1, "echo x > "+pidFile(h, "intruder"))}})
	if err := c.Run(t.Context(), func(n *News) { t.Errorf("news without the secret: %v", n) }); err == nil {
		t.Error("the runner kept the connection")
	}
	_ = os.WriteFile(path, secret, 0o600)
	h.start(shell(2, "true"))
	h.exit("m2")
	if _, err := os.Stat(pidFile(h, "intruder")); err == nil {
		t.Error("the intruder's task ran")
	}
}
