package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone
	err  error         // how it ended; read after done
}

// start runs a program as a part. Its output goes to a log file of its own, and it leads
// a process group, so that a Ctrl-C on the terminal reaches only this program.
func (s *Site) start(ctx context.Context, name, program string, args ...string) (*Part, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	log, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, environment(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Part{Name: name, PID: cmd.Process.Pid, log: log.Name(), cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	s.Parts = append(s.Parts, p)
	return p, nil
}

// runOnce runs a program to its end.
func (s *Site) runOnce(ctx context.Context, name, program string, args ...string) error {
	p, err := s.start(ctx, name, program, args...)
	if err != nil {
		return err
	}
	s.Parts = s.Parts[:len(s.Parts)-1] // it is no part of what runs
	select {
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s: %w", name, ctx.Err()), p.Stop())
	case <-p.done:
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w:\n%s", name, p.err, p.tail())
	}
	return nil
}

// Restart starts a part that has ended again, with the command it had, and returns when
// the site is ready.
func (s *Site) Restart(ctx context.Context, p *Part) error {
	if !p.ended() {
		return fmt.Errorf("restart %s: it still runs", p.Name)
	}
	s.Began = time.Now()
	fresh, err := s.start(ctx, p.Name, p.cmd.Path, p.cmd.Args[1:]...)
	if err != nil {
		return err
	}
	s.Parts = s.Parts[:len(s.Parts)-1]
	*p = *fresh // in the place that it had
	return s.until(ctx, "ready again", func() error { return s.Client.Ready(ctx) })
}

// Kill ends the process as a power cut would, and returns when it is gone.
func (p *Part) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
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
	case <-p.done:
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("stop %s: not ended %s after SIGTERM, killed:\n%s", p.Name, stopTimeout, p.tail())
	}
}

func (p *Part) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail is the end of the part's log.
func (p *Part) tail() string {
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
