package slot

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// broken is a registry and a history that panic.
type broken struct{ Registry }

func (b *broken) Put(context.Context, string, []byte, registry.If) (int64, error) { panic("put") }

func (b *broken) NextLayout(context.Context, int64) (int64, error) { panic("floor") }

func (b *broken) SaveRebalance(context.Context, sql.Rebalance) error { panic("history") }

func (b *broken) Lock(context.Context, registry.Session, string) (registry.Lock, error) {
	return &fragile{}, nil
}

func (b *broken) List(context.Context, string) (registry.Listing, error) { panic("list") }

// fragile is a lock that panics twice when it is given up.
type fragile struct {
	registry.Lock
	calls int
}

func (b *fragile) Lost() <-chan struct{} { return nil }

func (b *fragile) Unlock(context.Context) error {
	if b.calls++; b.calls < 3 {
		panic("unlock")
	}
	return nil
}

func TestAJobThatPanicsIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, lock := &broken{}, &fragile{}
		l := &Loop{log: hclog.NewNullLogger(), wake: make(chan struct{}, 1)}
		l.Registry, l.History = b, b
		ctx, stop := context.WithCancel(t.Context())
		jobs := make(chan job)
		go l.write(ctx, jobs)
		for _, c := range []struct {
			effect Effect
			want   func(m Message) bool
		}{
			{RaiseFloor{Serial: 3}, func(m Message) bool { r, ok := m.(Raised); return ok && r.Serial == 3 && r.Err != nil }},
			{SendPrepare{Serial: 4}, func(m Message) bool { w, ok := m.(Wrote); return ok && w == Wrote{Serial: 4, Outcome: Unknown} }},
			{SendCommit{Serial: 5}, func(m Message) bool { w, ok := m.(Wrote); return ok && w == Wrote{Serial: 5, Outcome: Unknown} }},
		} {
			jobs <- job{effect: c.effect, lock: lock}
			synctest.Wait()
			if mail := l.take(); len(mail) != 1 || !c.want(mail[0]) {
				t.Errorf("%#v: the barrier hears %#v", c.effect, mail)
			}
		}
		jobs <- job{effect: Record{}}
		jobs <- job{effect: Unlock{}, lock: lock}
		jobs <- job{effect: Unlock{}} // once the one before is done
		if lock.calls != 3 {
			t.Errorf("asked %d times to give the lock up, want 3", lock.calls)
		}
		stop()
	})
}

// A lock that was given is given up again where what follows panics: nobody else would ever have it.
func TestALockIsGivenUpWhereTheLookPanics(t *testing.T) {
	t.Parallel()
	l := New(Config{Slots: 2, Registry: &broken{}, History: &broken{}, Logger: hclog.NewNullLogger()})
	var all sync.WaitGroup
	l.wait(t.Context(), &all, nil)
	all.Wait()
	for _, m := range l.take() {
		l.step(t.Context(), &all, m)
	}
	if len(l.jobs) != 1 || l.jobs[0].lock == nil || l.jobs[0].effect != (Unlock{}) {
		t.Errorf("jobs = %+v, want the lock given up", l.jobs)
	}
}
