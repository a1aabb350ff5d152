// Package guard keeps a panic in one goroutine from ending the whole process: a poisoned row or
// message must not take down what has nothing to do with it, again after every restart.
//
// It owns the recovery and the line in the log that tells of it. It never decides what the
// panic was about: who calls it does, and sets aside what brought it. The goroutines of a
// master run under it; a test of the house holds that.
package guard

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Do runs one piece of work and returns its error, or one that tells of its panic, which is logged.
func Do(log hclog.Logger, what string, work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic survived", "in", what, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in %s: %v", what, r)
		}
	}()
	return work()
}

// again is the pause before a loop that panicked runs again: it must not fill the log.
const again = time.Second

// Loop returns a function for a goroutine: it runs a loop until that returns, and runs it again
// after a panic, until ctx ends.
func Loop(ctx context.Context, log hclog.Logger, what string, loop func(context.Context) error) func() error {
	return func() error {
		for {
			ended := false
			err := Do(log, what, func() (err error) {
				err = loop(ctx)
				ended = true
				return err
			})
			if ended {
				return err
			}
			timer := time.NewTimer(again)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil
			case <-timer.C:
			}
		}
	}
}
