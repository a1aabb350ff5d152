package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/sql"
)

// maxStandings bounds one read of how the own instances stand.
const maxStandings = 2_000

// Verify compares what is in memory with the rows, once the store was away or if forced: a database
// that came back may have lost its last commits, or have given instances away meanwhile. An
// instance whose row is another's is forgotten; one whose row stands elsewhere is read again under a
// new epoch. It returns false if the store did not tell.
func (e *Engine) Verify(ctx context.Context, force bool) bool {
	if !e.away.Swap(false) && !force {
		return true
	}
	before := e.resting()
	rows := make(map[int64]sql.Standing, len(before))
	for after := int64(0); ; {
		page, err := e.Store.Standings(ctx, e.Owner, after, maxStandings)
		if err != nil {
			e.log.Debug("own instances not read", "error", err)
			e.away.Store(true)
			return false
		}
		for _, row := range page {
			rows[row.ID] = row
		}
		if len(page) < maxStandings {
			break
		}
		after = page[len(page)-1].ID
	}
	for _, was := range before {
		row, own := rows[was.ID]
		if own && row == was {
			continue
		}
		// What has moved on since the first look did so by a commit, which the epoch guards.
		if a := e.stillResting(was); a != nil {
			e.log.Warn("instance differs from its row, dropped", "instance", was.ID, "epoch", was.Epoch, "seq", was.Seq, "owned", own,
				"row_epoch", row.Epoch, "row_seq", row.Seq)
			e.drop(a, nil)
			if own {
				e.retakes.push(was.ID)
			}
		}
	}
	e.mu.Lock()
	for id := range e.evicted {
		if _, own := rows[id]; !own {
			delete(e.evicted, id)
		}
	}
	e.mu.Unlock()
	return true
}

// Reread drops every instance that rests here, in memory or evicted from it, because its row was changed
// by another hand under a new epoch. It stays owned: who takes in what is owned reads it again. What is under way
// comes to nothing by its epoch.
func (e *Engine) Reread() {
	for _, was := range e.resting() {
		if a := e.stillResting(was); a != nil {
			e.drop(a, nil)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.evicted)
}

// resting returns how the instances stand that nobody is stepping or committing, by id.
func (e *Engine) resting() []sql.Standing {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]sql.Standing, 0, len(e.actors))
	for _, id := range slices.Sorted(maps.Keys(e.actors)) {
		if standing, ok := e.actors[id].standing(); ok {
			out = append(out, standing)
		}
	}
	return out
}

func (a *actor) standing() (sql.Standing, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.phase != idle {
		return sql.Standing{}, false
	}
	return sql.Standing{ID: a.in.ID, Epoch: a.epoch, Seq: a.in.Seq}, true
}

func (e *Engine) stillResting(was sql.Standing) *actor {
	e.mu.Lock()
	a := e.actors[was.ID]
	e.mu.Unlock()
	if a == nil {
		return nil
	}
	if now, ok := a.standing(); !ok || now != was {
		return nil
	}
	return a
}

// Leave refuses all further mail, so that what is under way comes to its end: the first step of
// a handover. Quiet says when it has.
func (e *Engine) Leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaving = true
}

// Quiet says that no instance is being stepped or committed.
func (e *Engine) Quiet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.actors {
		if _, ok := a.standing(); !ok {
			return false
		}
	}
	return true
}

// Hears says whether a worker is linked to this master.
func (e *Engine) Hears(worker string) bool {
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	known := e.nodes.byNode[worker]
	return known != nil && known.incarnation != ""
}

// On returns the instances that have attempts on a worker, by id.
func (e *Engine) On(worker string) []int64 {
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	known := e.nodes.byNode[worker]
	if known == nil {
		return nil
	}
	var ids []int64
	for key := range known.refs {
		ids = append(ids, key.instance)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Forget drops instances that were handed to another master. A commit of theirs that is on its way
// meets a higher epoch, and comes to nothing.
func (e *Engine) Forget(instances []int64) {
	for _, id := range instances {
		e.mu.Lock()
		a := e.actors[id]
		delete(e.evicted, id)
		e.mu.Unlock()
		if a == nil {
			continue
		}
		if _, resting := a.standing(); resting {
			e.drop(a, nil)
		}
	}
}
