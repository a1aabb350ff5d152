package guard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"
)

func TestALoopGoesOnAfterAPanicAndEndsWithItsError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := errors.New("over")
		runs := 0
		err := Loop(t.Context(), hclog.NewNullLogger(), "test", func(context.Context) error {
			if runs++; runs < 3 {
				panic("poison")
			}
			return over
		})()
		if runs != 3 || !errors.Is(err, over) {
			t.Errorf("ran %d times and ended with %v, want 3 and its own error", runs, err)
		}
	})
}

func TestAPanickingLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := Loop(ctx, hclog.NewNullLogger(), "test", func(context.Context) error {
		cancel()
		panic("poison")
	})()
	if err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	if err := Do(hclog.NewNullLogger(), "test", func() error { panic("poison") }); err == nil || err.Error() != "panic in test: poison" {
		t.Errorf("got %v", err)
	}
	if err := Do(hclog.NewNullLogger(), "test", func() error { return nil }); err != nil {
		t.Errorf("got %v", err)
	}
}
