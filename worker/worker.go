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
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
)

// ErrRunning is returned where another worker holds the data folder.
var ErrRunning = errors.New("another worker uses this data folder")

// Worker is one worker's control process.
type Worker struct {
	loop *loop
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
	l, err := newLoop(cfg)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return &Worker{loop: l, lock: lock}, nil
}

// Ready is closed when the runner has said what is alive. Before that this process
// must not take the place of its predecessor in the registry: deadlines that were
// granted to that one are not shortened yet.
func (w *Worker) Ready() <-chan struct{} { return w.loop.ready }

// Drain stops taking work until Resume; see Core.Drain. It does nothing once Run has ended.
func (w *Worker) Drain(ctx context.Context, reason string, giveBack time.Duration) {
	w.loop.post(ctx, func(l *loop) { l.Drain(reason, giveBack) })
}

// Resume takes work again.
func (w *Worker) Resume(ctx context.Context) {
	w.loop.post(ctx, func(l *loop) { l.Resume() })
}

// Run serves until ctx ends, then drains as Config.DrainFor and KeepTasks say, and
// returns when all that it started has returned. The runner may live on.
func (w *Worker) Run(ctx context.Context) error {
	defer func() { _ = w.lock.Close() }()
	c := w.loop
	// The parts outlive ctx: draining needs them.
	parts, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	masters, err := c.cfg.Masters.Watch(parts)
	if err != nil {
		_ = c.journal.Close()
		return fmt.Errorf("watch masters: %w", err)
	}
	var readers <-chan []Peer
	if c.cfg.Apiservers != nil {
		if readers, err = c.cfg.Apiservers.Watch(parts); err != nil {
			_ = c.journal.Close()
			return fmt.Errorf("watch apiservers: %w", err)
		}
	}
	var all sync.WaitGroup
	var syncErr error
	all.Go(func() { syncErr = c.journal.Run(parts) })
	all.Go(func() { c.keepRunner(parts) })
	all.Go(func() { c.keepLinks(parts, masters) })
	if readers != nil {
		all.Go(func() { c.keepReaders(parts, readers) })
	}
	c.run(parts, ctx.Done())
	w.hold(parts)
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
	c.callers.all.Wait()
	c.carrier.end()
	close(swept)
	return errors.Join(syncErr, c.journal.Close())
}

// holdWithin bounds how long a leaving worker waits for the registry.
const holdWithin = 3 * time.Second

// hold lets the attempts that stay with the runner live on while no control process is there. Where
// the registry does not answer they have the rest of their lease.
func (w *Worker) hold(ctx context.Context) {
	c := w.loop
	if !c.cfg.Leases || c.cfg.Membership == nil || c.Keeps() == 0 {
		return
	}
	length := time.Duration(0)
	if c.cfg.KeepTasks {
		length = lease.MaxHold
	}
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	sent, err := c.cfg.Membership.Hold(ctx, length)
	switch {
	case err != nil:
		c.log.Warn("the place in the registry is not held: attempts have the rest of their lease", "attempts", c.Keeps(), "error", err)
	case length > 0 && c.client != nil:
		until := c.cfg.Boot() - c.cfg.Now().Sub(sent) + length
		c.client.Send(&runner.Order{Leases: []*runner.Lease{{Until: until.Nanoseconds()}}})
		c.log.Info("attempts stay with the runner", "attempts", c.Keeps(), "for", length)
	}
}

// freeDisk is the share of a folder's disk that is free for this user, 1 where it can't be told.
func freeDisk(dir string) float64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 1
	}
	return float64(s.Bavail) / float64(s.Blocks)
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
