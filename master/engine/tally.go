package engine

import "sync"

// Tally counts what becomes of the live attempts of instances that were taken over: adopted, once
// their worker has shown that it has them, or lost. Its methods may be called by any goroutine,
// and on a nil Tally, which counts nothing.
type Tally struct {
	mu            sync.Mutex // guards what follows
	waiting       int
	adopted, lost int
}

// Counts returns how many attempts were adopted, were lost, and are of unknown lot still.
func (t *Tally) Counts() (adopted, lost, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.adopted, t.lost, t.waiting
}

func (t *Tally) open() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.waiting++
	t.mu.Unlock()
}

// lot is what became of an attempt.
type lot uint8

const (
	lotAdopted lot = iota
	lotLost
	lotForgotten // its instance has left this master
)

func (t *Tally) close(l lot) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	switch l {
	case lotAdopted:
		t.adopted++
	case lotLost:
		t.lost++
	case lotForgotten:
	}
}
