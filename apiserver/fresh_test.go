package apiserver

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadersAtTheSameTimeShareOneReadingThatBeginsAfterThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stored, reads atomic.Int64
		f := newFresh(func(context.Context, string) (int64, error) {
			reads.Add(1)
			v := stored.Load()
			time.Sleep(time.Second)
			return v, nil
		})
		get := func(want int64) {
			if v, err := f.get(t.Context(), "a"); err != nil || v != want {
				t.Errorf("get = %d, %v, want %d", v, err, want)
			}
		}
		go get(0)
		synctest.Wait()
		stored.Store(1) // the reading under way has missed it
		for range 100 {
			go get(1)
		}
		synctest.Wait()
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("%d readings for 101 callers, want 2", n)
		}
		stored.Store(2)
		get(2)
		if len(f.under) != 0 {
			t.Errorf("%d readings are kept", len(f.under))
		}
	})
}

func TestAReaderWhoLeavesTakesNobodyWithHim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFresh(func(ctx context.Context, _ string) (int, error) {
			select {
			case <-time.After(time.Second):
				return 7, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		})
		left, leave := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		ask := func(ctx context.Context) {
			_, err := f.get(ctx, "a")
			ended <- err
		}
		go ask(left) // reads
		synctest.Wait()
		go ask(left) // shares the next one with the third
		go ask(t.Context())
		synctest.Wait()
		leave()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("who left was told %v", err)
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("who stayed was told %v", err)
		}
	})
}

func TestAPanicOfAReadingIsToldToThoseWhoWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFresh(func(context.Context, string) (int, error) {
			time.Sleep(time.Second)
			panic("bad row")
		})
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := f.get(t.Context(), "a")
				ended <- err
			}()
			synctest.Wait()
		}
		for range 2 {
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "bad row") {
				t.Errorf("told %v, want the panic", err)
			}
		}
	})
}
