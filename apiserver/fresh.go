package apiserver

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// fresh reads what many callers want at the same time once for all of them, and never hands out what was read before its
// caller asked: a caller that finds a reading under way shares the next one, which begins after it. So whoever has just
// changed something sees his change, by whichever server. Any number of goroutines may use it.
type fresh[K comparable, V any] struct {
	// read is called without a caller's values where it is for several.
	read func(ctx context.Context, key K) (V, error)

	mu    sync.Mutex
	under map[K]*reading[V]
}

// reading is one call of read: done is closed once value and err are set.
type reading[V any] struct {
	done  chan struct{}
	value V
	err   error
	next  *reading[V] // for those who came after it began; nil for none
}

func newFresh[K comparable, V any](read func(ctx context.Context, key K) (V, error)) *fresh[K, V] {
	return &fresh[K, V]{read: read, under: map[K]*reading[V]{}}
}

// get returns what read says of a key, as of a moment after the call.
func (f *fresh[K, V]) get(ctx context.Context, key K) (V, error) {
	f.mu.Lock()
	now := f.under[key]
	if now == nil {
		now = &reading[V]{done: make(chan struct{})}
		f.under[key] = now
		f.mu.Unlock()
		f.run(ctx, key, now)
		return now.value, now.err
	}
	if now.next == nil {
		now.next = &reading[V]{done: make(chan struct{})}
	}
	mine := now.next
	f.mu.Unlock()
	select {
	case <-mine.done:
		return mine.value, mine.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// run reads, and has the next reading begin where somebody waits for it.
func (f *fresh[K, V]) run(ctx context.Context, key K, r *reading[V]) {
	defer func() {
		close(r.done)
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.next == nil {
			delete(f.under, key)
			return
		}
		f.under[key] = r.next
		go func(next *reading[V]) {
			ctx, cancel := context.WithTimeout(context.Background(), handlerTimeout)
			defer cancel()
			f.run(ctx, key, next)
		}(r.next)
	}()
	// A panic here is one request's fault, and not the process's: whoever waits is told.
	defer func() {
		if v := recover(); v != nil {
			r.err = fmt.Errorf("read %v: panic: %v\n%s", key, v, debug.Stack())
		}
	}()
	r.value, r.err = f.read(ctx, key)
}
