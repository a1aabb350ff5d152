package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/internal/failpoint"
)

// spawner makes processes; several do so at once, because a fork returns only when the
// new process has replaced its program.
type spawner struct {
	null     int    // open for reading
	empty    string // the shared empty folder
	outputs  string // folder of the files that $PORPOISE_OUTPUT names
	markHead string // of this data folder
}

// spawn fills in what the birth brings: pid, pipes, or a failure that names its reason.
func (s *spawner) spawn(t *task) {
	var out, err2 [2]int
	if err := unix.Pipe2(out[:], unix.O_CLOEXEC); err != nil {
		t.failure = &failure{"exec_failed", fmt.Sprintf("make pipe: %v", err)}
		return
	}
	if err := unix.Pipe2(err2[:], unix.O_CLOEXEC); err != nil {
		closeAll(out[:])
		t.failure = &failure{"exec_failed", fmt.Sprintf("make pipe: %v", err)}
		return
	}
	files := []uintptr{uintptr(s.null), uintptr(out[1]), uintptr(err2[1])}
	script := -1
	if len(t.start.Script) > 0 {
		var err error
		if script, err = memfd(t.start.Script); err != nil {
			closeAll(out[:])
			closeAll(err2[:])
			t.failure = &failure{"exec_failed", err.Error()}
			return
		}
		files = append(files, uintptr(script))
	}
	err := s.fork(t, files)
	closeAll([]int{out[1], err2[1]})
	if script >= 0 {
		_ = unix.Close(script)
	}
	if err != nil {
		closeAll([]int{out[0], err2[0]})
		t.failure = s.explain(t, err)
		return
	}
	for _, fd := range []int{out[0], err2[0]} {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_NONBLOCK)
	}
	t.pipes = [2]int{out[0], err2[0]}
}

func (s *spawner) fork(t *task, files []uintptr) error {
	dir := t.start.Dir
	if dir == "" {
		dir = s.empty
	}
	env := append(t.start.Env, markEnv+"="+s.markHead+t.start.Mark)
	if t.outputs != nil {
		t.outputPath = filepath.Join(s.outputs, t.start.Mark)
		env = append(env, "PORPOISE_OUTPUT="+t.outputPath)
	}
	if err := failpoint.Hit("shim.spawn.before"); err != nil {
		return err
	}
	t.startedAt = time.Now().UnixMilli()
	pid, err := syscall.ForkExec(t.start.Argv[0], t.start.Argv, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &t.pidfd},
	})
	if err != nil {
		return err
	}
	t.pid = pid
	_ = failpoint.Hit("shim.spawn.after")
	return nil
}

// explain finds out what an error of fork and exec was about: the system says "no such
// file" for the folder and the program alike.
func (s *spawner) explain(t *task, err error) *failure {
	if dir := t.start.Dir; dir != "" {
		info, derr := os.Stat(dir)
		switch {
		case derr != nil:
			return &failure{"working_dir", fmt.Sprintf("working_dir %q: %v", dir, errors.Unwrap(derr))}
		case !info.IsDir():
			return &failure{"working_dir", fmt.Sprintf("working_dir %q is no folder", dir)}
		}
	}
	program := t.start.Argv[0]
	switch {
	case errors.Is(err, syscall.ENOENT):
		return &failure{"no_interpreter", fmt.Sprintf("%q is not on this worker", program)}
	case errors.Is(err, syscall.E2BIG):
		return &failure{"exec_failed", "parameters and environment together are over what the system takes"}
	default:
		return &failure{"exec_failed", fmt.Sprintf("start %q: %v", program, err)}
	}
}

// memfd holds a script where no file has to be made and removed.
func memfd(text []byte) (int, error) {
	fd, err := unix.MemfdCreate("script", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("hold script: %w", err)
	}
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		if err != nil {
			_ = unix.Close(fd)
			return -1, fmt.Errorf("hold script: %w", err)
		}
		text = text[n:]
	}
	return fd, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
