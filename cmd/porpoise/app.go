package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/sql"
)

const (
	// stopTimeout bounds a step of the way down that names no bound of its own.
	stopTimeout = 15 * time.Second
	// maxParts bounds how many parts one process runs; a returned part never waits to say so.
	maxParts = 32
)

// app is a process that is being built, runs, and is taken down in reverse. What
// starts registers at once how it stops, so that a start that fails half way takes
// down exactly what was up. Only one goroutine may call its methods.
type app struct {
	log   hclog.Logger
	steps []step
	ended chan result
	// statements counts those of SQLite where profiles are served; nil elsewhere.
	statements *sql.Statements
}

// step is one thing to stop, in at most timeout.
type step struct {
	name    string
	timeout time.Duration
	stop    func(ctx context.Context) error
}

// result is a part that has returned.
type result struct {
	name string
	err  error
}

func newApp(log hclog.Logger) *app {
	return &app{log: log, ended: make(chan result, maxParts)}
}

// onStop registers what is to be done on the way down.
func (a *app) onStop(name string, timeout time.Duration, stop func(ctx context.Context) error) {
	a.steps = append(a.steps, step{name: name, timeout: timeout, stop: stop})
}

// closing registers a Close.
func (a *app) closing(name string, closer func() error) {
	a.onStop(name, stopTimeout, func(context.Context) error { return closer() })
}

// run starts a part. Its context ends when its turn on the way down comes; then it has
// timeout to return. A part that returns before that ends the process.
func (a *app) run(name string, timeout time.Duration, part func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := part(ctx)
		done <- err
		a.ended <- result{name: name, err: err}
	}()
	a.onStop(name, timeout, func(stop context.Context) error {
		cancel()
		select {
		case err := <-done:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		case <-stop.Done():
			return fmt.Errorf("did not return within %s", timeout)
		}
	})
}

// wait returns at the first signal, or when a part returns by itself, which is an error.
func (a *app) wait(signals <-chan os.Signal) error {
	select {
	case s := <-signals:
		a.log.Info("stopping", "signal", s.String())
		return nil
	case r := <-a.ended:
		if r.err == nil {
			return fmt.Errorf("%s ended by itself", r.name)
		}
		return fmt.Errorf("%s: %w", r.name, r.err)
	}
}

// stop takes everything down, the last that came up first. A second signal ends all
// patience: what is left gets no time any more.
func (a *app) stop(signals <-chan os.Signal) error {
	hurry, rush := context.WithCancel(context.Background())
	defer rush()
	down := make(chan struct{})
	defer close(down)
	go func() {
		select {
		case <-signals:
			a.log.Warn("stopping at once", "reason", "second signal")
			rush()
		case <-down:
		}
	}()
	var wrong []error
	for _, s := range slices.Backward(a.steps) {

		began := time.Now()
		if err := a.stopOne(hurry, s); err != nil {
			wrong = append(wrong, fmt.Errorf("stop %s: %w", s.name, err))
			a.log.Warn("part did not stop well", "part", s.name, "error", err)
			continue
		}
		a.log.Debug("part stopped", "part", s.name, "took", time.Since(began))
	}
	a.steps = nil
	return errors.Join(wrong...)
}

// stopOne runs one step under its bound. A step that doesn't listen to its context is
// left behind: the process is about to end anyway.
func (a *app) stopOne(hurry context.Context, s step) error {
	ctx, cancel := context.WithTimeout(hurry, s.timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.stop(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// It may have finished in the same moment.
	select {
	case err := <-done:
		return err
	case <-time.After(100 * time.Millisecond):
		return fmt.Errorf("not done within %s", s.timeout)
	}
}
