package apiserver

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

const (
	// moreTurns is how many more requests that read many rows are let through at once than this process has processors, two at least:
	// one user alone keeps at most half of these busy. A database on the same machine, or of the same size, is busy with as many: with eight
	// readers on two processors a start took 106 ms at the median instead of 5, and 7 with four turns.
	moreTurns = 1
	// maxInLine bounds those that wait for their turn.
	maxInLine = 1000
)

// turns lets few of the requests that read many rows through at a time. A user may have as many turns as are free: one alone
// half of them, and another one need not wait for him.
type turns struct {
	most int

	mu   sync.Mutex // guards what follows
	all  int
	of   map[int64]int // by user
	line []*inLine
}

// inLine is a request that waits; in is closed when it is its turn.
type inLine struct {
	who int64
	in  chan struct{}
}

func newTurns(processors int) *turns {
	return &turns{most: max(processors, 2) + moreTurns, of: map[int64]int{}}
}

// take waits for a turn of a user. Who has one calls end.
func (t *turns) take(ctx context.Context, who int64) *Problem {
	t.mu.Lock()
	if t.let(who) {
		t.mu.Unlock()
		return nil
	}
	if len(t.line) >= maxInLine {
		t.mu.Unlock()
		return unavailable("too many requests that read lists wait already: try again")
	}
	w := &inLine{who, make(chan struct{})}
	t.line = append(t.line, w)
	t.mu.Unlock()
	select {
	case <-w.in:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.line, w)
	if i >= 0 {
		t.line = slices.Delete(t.line, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		t.end(who) // it was let in at that very moment
	}
	return unavailable("the request took too long: try again")
}

// let counts a turn of a user where he may have one. The caller holds the lock.
func (t *turns) let(who int64) bool {
	if t.of[who]+1 > t.most-t.all-1 {
		return false
	}
	t.of[who], t.all = t.of[who]+1, t.all+1
	return true
}

// end gives a turn back, and lets in who has waited longest of those that may.
func (t *turns) end(who int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.of[who]--; t.of[who] == 0 {
		delete(t.of, who)
	}
	t.line = slices.DeleteFunc(t.line, func(w *inLine) bool {
		in := t.let(w.who)
		if in {
			close(w.in)
		}
		return in
	})
}

// inTurn has a handler that reads many rows wait for its turn.
func (s *Server) inTurn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := callOf(r.Context()).who.userID
		if p := s.turns.take(r.Context(), who); p != nil {
			writeProblem(w, r, p)
			return
		}
		defer s.turns.end(who)
		next.ServeHTTP(w, r)
	})
}
