package master

import (
	"context"
	"sync"
	"time"

	"github.com/porpoise/porpoise/master/engine"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/sql"
)

const (
	// holdEvery is how often a master asks whether the cluster is held: within a second all have stopped.
	holdEvery = 500 * time.Millisecond
	// holdWait bounds one look.
	holdWait = 2 * time.Second
)

// Holds says whether the cluster is held.
type Holds interface {
	Hold(ctx context.Context) (sql.Hold, error)
}

// hold is what this master knows of the cluster's hold.
type hold struct {
	mu       sync.Mutex // guards what follows
	stopped  bool       // nothing is claimed, dispatched or timed out
	known    bool       // last is one that was read
	last     sql.Hold
	late     map[engine.Alarm]struct{} // timers whose moment came meanwhile
	settling bool                      // instances that were not at rest at a release may still stand as before it
}

// unknown stops everything until somebody has looked: a master that starts during a hold begins nothing.
func (h *hold) unknown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

func (h *hold) held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped
}

// keep keeps a timer for the end of the hold; false says that there is none.
func (h *hold) keep(alarm engine.Alarm) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		if h.late == nil {
			h.late = make(map[engine.Alarm]struct{})
		}
		h.late[alarm] = struct{}{}
	}
	return h.stopped
}

// seen is what a look has changed.
type seen struct {
	began, released bool
	late            map[engine.Alarm]struct{} // to be brought now
}

// see takes what was read.
func (h *hold) see(now sql.Hold) seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := seen{
		began:    now.Held() && !(h.known && h.last.Held()),
		released: h.known && now.Releases != h.last.Releases,
	}
	h.stopped, h.known, h.last = now.Held(), true, now
	if !h.stopped {
		s.late, h.late = h.late, nil
	}
	return s
}

// settle says whether a release is still to be followed up, and notes what is so now.
func (h *hold) settle(now bool) (before bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, h.settling = h.settling, now
	return before
}

// heldSlots lets nobody take commands while the cluster is held.
type heldSlots struct {
	*slot.Table
	hold *hold
}

// Begin is the table's, unless the cluster is held.
func (s heldSlots) Begin() (owned []bool, epoch int64, ok bool) {
	if s.hold.held() {
		return nil, 0, false
	}
	return s.Table.Begin()
}

// fire brings a timer to its instance, after the hold if there is one. One that the release has moved is
// only armed again.
func (m *Master) fire(alarm engine.Alarm) {
	if !m.hold.keep(alarm) {
		m.engine.Fire(alarm)
	}
}

// LookAtHold asks once whether the cluster is held, and stops or goes on. After a release it drops the
// instances in memory, whose rows have moved on, and has them read again.
func (m *Master) LookAtHold(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, holdWait)
	defer cancel()
	now, err := m.Store.Hold(ctx)
	if err != nil {
		m.log.Debug("not known whether the cluster is held", "error", err)
		return
	}
	if now.Held() {
		m.placer.Hold()
	}
	saw := m.hold.see(now)
	if saw.began {
		m.log.Warn("the cluster is held: nothing is claimed, dispatched or timed out", "by", now.By, "reason", now.Reason)
	}
	if saw.released {
		m.log.Info("the hold is over, instances are read again", "releases", now.Releases)
		m.engine.Reread()
		m.failover.Hint()
		m.hold.settle(true)
	} else if m.hold.settle(false) && !m.engine.Verify(ctx, true) {
		m.hold.settle(true) // the store did not tell: again with the next look
	}
	if now.Held() {
		return
	}
	for alarm := range saw.late {
		m.engine.Fire(alarm)
	}
	m.placer.Release()
	if saw.released {
		m.intake.Hint()
	}
}

// watchHold looks until ctx ends.
func (m *Master) watchHold(ctx context.Context) error {
	m.LookAtHold(ctx)
	for pause(ctx, holdEvery) {
		m.LookAtHold(ctx)
	}
	return nil
}
