package apiserver

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestADatabaseThatHangsIsNoticedInTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		p := newPatience(func(ctx context.Context) error {
			if hangs.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		}, hclog.NewNullLogger())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.run(ctx) }()
		time.Sleep(10 * time.Second)
		under := p.answering()
		if under.Err() != nil {
			t.Fatal("requests are refused though the database answers")
		}
		hangs.Store(true)
		began := time.Now()
		<-under.Done()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a request was held up for %s", took)
		}
		if p.answering().Err() == nil {
			t.Error("a new request is let in while the database hangs")
		}
		hangs.Store(false)
		time.Sleep(2 * time.Second)
		if p.answering().Err() != nil {
			t.Error("requests are refused though the database is back")
		}
		cancel()
		<-done
	})
}

// A full or read-only one refuses at once, and still reads.
func TestADatabaseThatRefusesIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(func(context.Context) error { return errors.New("it takes no writes") }, hclog.NewNullLogger())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.run(ctx) }()
		time.Sleep(time.Minute)
		if p.answering().Err() != nil {
			t.Error("requests are refused though the database answers")
		}
		cancel()
		<-done
	})
}

func TestWhoIsCutOffByASilentDatabaseIsToldSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, want := range []string{"the request was cancelled", "the database does not answer: try again"} {
		if p := b.server.problemOf(t.Context(), context.Canceled); p.Status != 503 || p.Detail != want {
			t.Errorf("the answer is %d %q, want 503 %q", p.Status, p.Detail, want)
		}
		b.server.patience.judge(false, true)
	}
}
