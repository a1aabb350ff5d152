package spawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// readyTimeout bounds a start: a cold standalone node takes a fraction of a second, a
	// cluster waits for its schema.
	readyTimeout = 30 * time.Second
	// readyEvery is how often a start is asked: a small part of what is measured.
	readyEvery = 2 * time.Millisecond
	// stopTimeout is how long a process may take to stop before it is killed.
	stopTimeout = 60 * time.Second
	// logTail is how much of a process's log is shown when it fails.
	logTail = 4 << 10
)

// Process is one running process of the binary.
type Process struct {
	Name string
	cmd  *exec.Cmd
	log  string // file
	done chan struct{}
	err  error // valid after done
}

// start runs the binary with the given arguments, its log in dir. The environment is
// this process's without what configures Porpoise, and env.
func start(binary, dir, name string, env, args []string) (*Process, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(binary, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	// Its own group: Ctrl-C on the benchmark must let it stop the processes in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PORPOISE_") {
			p.cmd.Env = append(p.cmd.Env, pair)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process at once, as a crash would, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

// Stop ends the process by TERM, and by KILL where it does not listen.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		p.Kill()
		return fmt.Errorf("%s did not stop within %s and was killed; its log ends:\n%s", p.Name, stopTimeout, p.Tail())
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w; its log ends:\n%s", p.Name, p.err, p.Tail())
	}
	return nil
}

// Tail is the end of the process's log.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}

// RSS is the process's resident memory in bytes.
func (p *Process) RSS() (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/status")
	if err != nil {
		return 0, fmt.Errorf("read memory of %s: %w", p.Name, err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(rest)), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmRSS in /proc")
}

// ready waits until a server serves. A process that ends instead is an error.
func ready(ctx context.Context, c *client.Client, of *Process) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if err := c.Ready(ctx); err == nil {
			return nil
		}
		select {
		case <-of.done:
			return fmt.Errorf("%s ended: %w; its log ends:\n%s", of.Name, of.err, of.Tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s; its log ends:\n%s", of.Name, readyTimeout, of.Tail())
		case <-tick.C:
		}
	}
}
