package apiserver

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestWhoReadsManyListsLeavesTurnsToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(3)
		const loud, quiet = 1, 2
		var all sync.WaitGroup
		in := func(who int64) (end func()) {
			free := make(chan struct{})
			all.Go(func() {
				if p := turns.take(t.Context(), who); p != nil {
					t.Errorf("a turn of %d: %v", who, p)
					return
				}
				<-free
				turns.end(who)
			})
			synctest.Wait()
			return func() { close(free); synctest.Wait() }
		}
		var ends []func()
		for range 8 {
			ends = append(ends, in(loud))
		}
		if n := turns.of[loud]; n != 2 {
			t.Errorf("one user alone has %d of 4 turns, want 2", n)
		}
		end := in(quiet)
		if turns.of[quiet] != 1 || len(turns.line) != 6 {
			t.Errorf("another one has %d turns and %d wait, want 1 and 6", turns.of[quiet], len(turns.line))
		}
		end()
		for _, end := range ends {
			end()
		}
		all.Wait()
		if turns.all != 0 || len(turns.of) != 0 || len(turns.line) != 0 {
			t.Errorf("in the end %d turns are taken and %d wait", turns.all, len(turns.line))
		}
	})
}

func TestOneUsersListsKeepHalfOfTheProcessorsBusy(t *testing.T) {
	t.Parallel()
	for processors, own := range map[int]int{1: 1, 2: 1, 4: 2, 16: 8} {
		turns := newTurns(processors)
		for turns.let(1) {
		}
		if turns.of[1] != own || !turns.let(2) {
			t.Errorf("on %d processors one user has %d turns, want %d and one for the next", processors, turns.of[1], own)
		}
	}
}

func TestWhoGivesUpHisPlaceInTheLineIsAnsweredAndForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2)
		turns.most = 2
		if p := turns.take(t.Context(), 1); p != nil {
			t.Fatal(p)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var p *Problem
		var waiting sync.WaitGroup
		waiting.Go(func() { p = turns.take(ctx, 1) })
		synctest.Wait()
		cancel()
		waiting.Wait()
		if p == nil || p.Status != http.StatusServiceUnavailable || p.headers.Get("Retry-After") == "" || len(turns.line) != 0 {
			t.Errorf("who leaves the line is answered %v, and %d are left in it", p, len(turns.line))
		}
		turns.end(1)
		if turns.all != 0 {
			t.Errorf("%d turns are taken", turns.all)
		}
	})
}

func TestAListIsReadInTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.turns.most = 2
	admin := decode[struct {
		UserID string `json:"user_id"`
	}](t, b.must(200, "GET", "/api/v1/session", "")).UserID
	id, ok := parseID(admin)
	if !ok {
		t.Fatalf("the session's user is %q", admin)
	}
	if p := b.server.turns.take(t.Context(), id); p != nil {
		t.Fatal(p)
	}
	var waiting sync.WaitGroup
	var code atomic.Int64
	waiting.Go(func() { code.Store(int64(b.do(asked{method: "GET", path: "/api/v1/instances", token: b.admin}).Code)) })
	inLine := func() int {
		b.server.turns.mu.Lock()
		defer b.server.turns.mu.Unlock()
		return len(b.server.turns.line)
	}
	for inLine() == 0 {
		if code.Load() != 0 {
			t.Fatal("a list was read though it was not its turn")
		}
		runtime.Gosched()
	}
	b.must(200, "GET", "/api/v1/projects", "") // it reads few rows
	b.server.turns.end(id)
	waiting.Wait()
	if code.Load() != 200 {
		t.Errorf("in its turn the list is answered %d", code.Load())
	}
}
