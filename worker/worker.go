package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrRunning is returned where another worker holds the data folder.
var ErrRunning = errors.New("another worker uses this data folder")

// Worker is one worker's control process.
type Worker struct {
	cfg  Config
	core *core
	lock *os.File
}

// New opens the data folder, which no other worker may use, and reads the outbox that an
// earlier process left. Run closes it.
func New(cfg Config) (*Worker, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(cfg.DataDir, "worker.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, ErrRunning
	}
	k, err := openKept(cfg.DataDir)
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return &Worker{cfg: cfg, core: newCore(&cfg, k), lock: lock}, nil
}

// Run serves until ctx ends, then drains as Config.DrainFor and KeepTasks say, and
// returns when all that it started has returned. The runner may live on.
func (w *Worker) Run(ctx context.Context) error {
	defer func() { _ = w.lock.Close() }()
	c := w.core
	// The parts outlive ctx: draining needs them.
	parts, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	masters, err := w.cfg.Masters.Watch(parts)
	if err != nil {
		_ = c.kept.file.Close()
		return fmt.Errorf("watch masters: %w", err)
	}
	var all sync.WaitGroup
	var syncErr error
	all.Go(func() { syncErr = c.kept.run(parts) })
	all.Go(func() { c.keepRunner(parts) })
	all.Go(func() { c.keepLinks(parts, masters) })
	if w.cfg.Apiservers != nil {
		readers, err := w.cfg.Apiservers.Watch(parts)
		if err != nil {
			stop()
			all.Wait()
			_ = c.kept.file.Close()
			return fmt.Errorf("watch apiservers: %w", err)
		}
		all.Go(func() { c.keepReaders(parts, readers) })
	}
	c.run(parts, ctx.Done())
	stop()
	// The loop has ended: what still wants to tell it something must not wait for it.
	swept := make(chan struct{})
	go func() {
		for {
			select {
			case <-c.events:
			case <-swept:
				return
			}
		}
	}()
	all.Wait()
	c.calls.all.Wait()
	close(swept)
	return errors.Join(syncErr, c.kept.file.Close())
}

// loadAverage is that of the last minute, 0 where it can't be read.
func loadAverage() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
