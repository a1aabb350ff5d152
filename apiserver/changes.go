package apiserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/sql"
)

// pollWorkflows is how often the rows of followed workflows are read: what another
// apiserver has saved is seen this late. With nobody following, nothing is read.
const pollWorkflows = time.Second

// WorkflowChange is the data of a message of a workflow's topic.
type WorkflowChange struct {
	Latest    int    `json:"latest"`
	Published int    `json:"published"`
	Draft     int64  `json:"draft_revision"`
	By        string `json:"by" doc:"Who made the last change."`
	At        Time   `json:"at"`
	Gone      bool   `json:"gone,omitempty" doc:"The workflow was deleted."`
}

func changeOf(w sql.Workflow) WorkflowChange {
	return WorkflowChange{Latest: w.Latest, Published: w.Published, Draft: w.DraftRevision, By: w.ChangedBy, At: Time(w.ChangedAt)}
}

// followers are the streams that follow workflows, and what they were told last.
type followers struct {
	wake chan struct{} // the first one has come

	mu    sync.Mutex
	open  map[*follower]struct{}
	known map[int64]told
	turn  uint64 // rises with every push
}

// told is the last known state of a workflow. turn is that of the push it came by, so that
// a poll that began before does not bring back what was before.
type told struct {
	change WorkflowChange
	turn   uint64
}

// follower is one stream. Its pending changes replace each other: the latest is what counts.
type follower struct {
	of    *followers
	ids   map[int64]bool
	ready chan struct{}

	pending map[int64]WorkflowChange // under of.mu
}

func newFollowers() *followers {
	return &followers{wake: make(chan struct{}, 1), open: map[*follower]struct{}{}, known: map[int64]told{}}
}

// follow subscribes to workflows. Close it.
func (f *followers) follow(ids []int64) *follower {
	one := &follower{of: f, ids: map[int64]bool{}, ready: make(chan struct{}, 1), pending: map[int64]WorkflowChange{}}
	for _, id := range ids {
		one.ids[id] = true
	}
	f.mu.Lock()
	f.open[one] = struct{}{}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return one
}

func (one *follower) close() {
	f := one.of
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, one)
	for id := range one.ids {
		if !f.wanted(id) {
			delete(f.known, id)
		}
	}
}

// take returns what has changed since the last take.
func (one *follower) take() map[int64]WorkflowChange {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	out := one.pending
	one.pending = map[int64]WorkflowChange{}
	return out
}

// wanted tells whether anybody follows a workflow; mu is held.
func (f *followers) wanted(id int64) bool {
	for one := range f.open {
		if one.ids[id] {
			return true
		}
	}
	return false
}

// push hands out a change that this process has made.
func (f *followers) push(id int64, c WorkflowChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn++
	if f.wanted(id) {
		f.tell(id, told{c, f.turn})
	}
}

// tell hands on what differs from what was known; mu is held.
func (f *followers) tell(id int64, now told) {
	before, known := f.known[id]
	f.known[id] = now
	if known && before.change == now.change {
		return
	}
	for one := range f.open {
		if one.ids[id] {
			one.pending[id] = now.change
			select {
			case one.ready <- struct{}{}:
			default:
			}
		}
	}
}

// saw notes what a stream has begun with, so that the next poll does not tell it again.
func (f *followers) saw(id int64, c WorkflowChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.known[id]; !known && f.wanted(id) {
		f.known[id] = told{change: c}
	}
}

// wantedIDs lists what is followed, and the turn at which it was asked.
func (f *followers) wantedIDs() ([]int64, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[int64]bool{}
	for one := range f.open {
		maps.Copy(all, one.ids)
	}
	return slices.Sorted(maps.Keys(all)), f.turn
}

// polled hands on what a poll has found; a workflow that it has not found is gone.
func (f *followers) polled(ids []int64, rows []sql.Workflow, turn uint64) {
	found := make(map[int64]WorkflowChange, len(rows))
	for _, w := range rows {
		found[w.ID] = changeOf(w)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		before := f.known[id]
		if before.turn > turn || !f.wanted(id) {
			continue
		}
		c, ok := found[id]
		if !ok {
			c = before.change
			c.Gone = true
		}
		f.tell(id, told{c, before.turn})
	}
}

// run polls for as long as anybody follows.
func (f *followers) run(ctx context.Context, s *Server) {
	tick := time.NewTicker(pollWorkflows)
	defer tick.Stop()
	for {
		next := tick.C
		if ids, _ := f.wantedIDs(); len(ids) == 0 {
			next = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			continue
		case <-next:
		}
		ids, turn := f.wantedIDs()
		if len(ids) == 0 {
			continue
		}
		rows, err := s.store.WorkflowsByID(ctx, ids)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Debug("workflows not polled", "error", err)
			}
			continue
		}
		f.polled(ids, rows, turn)
	}
}

// changed tells those who follow a workflow that it has changed.
func (s *Server) changed(w sql.Workflow) { s.followers.push(w.ID, changeOf(w)) }

// changedByID is changed for a workflow that must be read again, or is gone.
func (s *Server) changedByID(ctx context.Context, id int64) {
	w, err := s.store.WorkflowByID(ctx, id)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		s.followers.push(id, WorkflowChange{By: callOf(ctx).who.name, At: Time(s.at()), Gone: true})
	case err == nil:
		s.changed(w)
	default: // the next poll finds it
	}
}
