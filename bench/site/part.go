package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tailBytes is how much of a part's log an error shows.
const tailBytes = 4 << 10

// Part is one process of a site.
type Part struct {
	Name string
	PID  int

	log     string
	command command
	cmd     *exec.Cmd
	end     *end
	killed  bool // by us: its end is no surprise
}

// end is the end of a process.
type end struct {
	done chan struct{} // closed when the process is gone
	err  error         // how it ended; read after done
}

// command is what a part runs; env goes on top of what every part has.
type command struct {
	program   string
	args, env []string
}

// Start runs the porpoise binary as one more part, in an environment without what
// configures a role.
func (s *Site) Start(ctx context.Context, name, binary string, args ...string) (*Part, error) {
	return s.start(ctx, name, command{program: binary, args: args})
}

// start runs a program as a part. Its output goes to a log file of its own, and it leads
// a process group, so that a Ctrl-C on the terminal reaches only this program.
func (s *Site) start(ctx context.Context, name string, c command) (*Part, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	log, err := os.OpenFile(filepath.Join(s.Dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	cmd := exec.Command(c.program, c.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, append(environment(), c.env...), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Part{Name: name, PID: cmd.Process.Pid, log: log.Name(), command: c, cmd: cmd, end: &end{done: make(chan struct{})}}
	go func(e *end) {
		e.err = cmd.Wait()
		close(e.done)
	}(p.end)
	s.Parts = append(s.Parts, p)
	return p, nil
}

// runOnce runs a program to its end.
func (s *Site) runOnce(ctx context.Context, name string, c command) error {
	p, err := s.start(ctx, name, c)
	if err != nil {
		return err
	}
	s.Parts = s.Parts[:len(s.Parts)-1] // it is no part of what runs
	select {
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s: %w", name, ctx.Err()), p.Stop())
	case <-p.end.done:
	}
	if p.end.err != nil {
		return fmt.Errorf("%s: %w:\n%s", name, p.end.err, p.Tail())
	}
	return nil
}

// Restart starts a part that has ended again, with the command it had, and returns when
// the site is ready.
func (s *Site) Restart(ctx context.Context, p *Part) error {
	return s.RestartWith(ctx, p)
}

// RestartWith is Restart with flags behind those that the part had.
func (s *Site) RestartWith(ctx context.Context, p *Part, flags ...string) error {
	if !p.ended() {
		return fmt.Errorf("restart %s: it still runs", p.Name)
	}
	s.Began = time.Now()
	c := p.command
	c.args = append(slices.Clone(c.args), flags...)
	fresh, err := s.start(ctx, p.Name, c)
	if err != nil {
		return err
	}
	s.Parts = s.Parts[:len(s.Parts)-1]
	*p = *fresh // in the place that it had
	return s.Until(ctx, "ready again", func() error { return s.Client.Ready(ctx) })
}

// Kill ends the process as a power cut would, and returns when it is gone.
func (p *Part) Kill() {
	p.killed = true
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.end.done
}

// Signal sends the process a signal; one that is gone already gets none.
func (p *Part) Signal(signal syscall.Signal) { _ = p.cmd.Process.Signal(signal) }

// Wait returns when the process is gone: nil after exit code 0, an *exec.ExitError after
// another, or what ended the wait.
func (p *Part) Wait(ctx context.Context) error {
	select {
	case <-p.end.done:
		return p.end.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of %s: %w:\n%s", p.Name, ctx.Err(), p.Tail())
	}
}

// Stop asks the process to end, and kills it when it does not.
func (p *Part) Stop() error {
	if p.ended() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.end.done:
		if p.end.err != nil {
			return fmt.Errorf("stop %s: %w:\n%s", p.Name, p.end.err, p.Tail())
		}
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("stop %s: not ended %s after SIGTERM, killed:\n%s", p.Name, stopTimeout, p.Tail())
	}
}

func (p *Part) ended() bool {
	select {
	case <-p.end.done:
		return true
	default:
		return false
	}
}

// Tail is the end of the part's log.
func (p *Part) Tail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd) // from the beginning, if it can't
	}
	text, _ := io.ReadAll(io.LimitReader(f, tailBytes)) // what could be read is better than nothing
	return string(text)
}

// Log is all that the process has printed so far: for who looks for a line of it.
func (p *Part) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// environment is ours without what configures a role: a benchmark measures what the
// flags say.
func environment() []string {
	var kept []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PORPOISE_") {
			kept = append(kept, pair)
		}
	}
	return kept
}
