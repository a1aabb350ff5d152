package slot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry"
)

// stubborn is a lock of a registry that does not answer for a while.
type stubborn struct {
	registry.Lock
	refusals int
	lost     chan struct{}
	asked    int
}

func (s *stubborn) Lost() <-chan struct{} { return s.lost }

func (s *stubborn) Unlock(context.Context) error {
	if s.asked++; s.asked <= s.refusals {
		return registry.ErrUnavailable
	}
	return nil
}

func TestALockIsGivenUpHoweverOftenThatTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Loop{log: hclog.NewNullLogger()}
		away := &stubborn{refusals: 9, lost: make(chan struct{})}
		l.unlock(t.Context(), away)
		if away.asked != 10 {
			t.Errorf("asked %d times to give the lock up, want 10", away.asked)
		}
		gone := &stubborn{refusals: 1 << 30, lost: make(chan struct{})}
		time.AfterFunc(time.Second, func() { close(gone.lost) })
		l.unlock(t.Context(), gone) // with the membership the lock is gone, too
		if gone.asked < 2 {
			t.Errorf("asked %d times while the membership lived, want more", gone.asked)
		}
	})
}
