package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// release takes the places of released instances that have ended and gives them to the next. One
// that was released in serial_wait gets a command if its turn came meanwhile, or if it has yet to
// enter: without one, nobody would look at it again.
func (p *places) release(ctx context.Context, released map[int64]dag.InstanceState, placed map[int64]line) error {
	lines := map[line][]int64{}
	var asleep []int64
	for _, id := range sortedKeys(released) {
		l, has := placed[id]
		switch {
		case has && (released[id].Final() || released[id] == dag.InstanceSerialWait):
			lines[l] = append(lines[l], id)
		case !has && released[id] == dag.InstanceSerialWait:
			asleep = append(asleep, id)
		}
	}
	order := make([]line, 0, len(lines))
	for l := range lines {
		order = append(order, l)
	}
	slices.SortFunc(order, compareLines)
	for _, l := range order {
		if err := p.lock(ctx, l); err != nil {
			return err
		}
		var ended []int64
		for _, id := range lines[l] {
			if released[id].Final() {
				ended = append(ended, id)
				continue
			}
			state, err := p.stateOf(ctx, id)
			if err != nil {
				return err
			}
			if state == placeHeld {
				asleep = append(asleep, id)
			}
		}
		if len(ended) == 0 {
			continue
		}
		if err := p.execIDs(ctx, `DELETE FROM workflow_place WHERE instance_id IN (%s)`, ended); err != nil {
			return err
		}
		if err := p.next(ctx, l); err != nil {
			return err
		}
	}
	return p.wake(ctx, asleep)
}

// next settles a locked line by the limit of its workflow, and drops it where nobody is in it.
func (p *places) next(ctx context.Context, l line) error {
	limit, some := 0, false
	err := p.each(ctx, `SELECT concurrency_limit FROM workflow WHERE id = ?`, []any{l.workflow}, func(scan func(...any) error) error { return scan(&limit) })
	if err != nil {
		return err
	}
	if err := p.settle(ctx, l, limit, nil, nil); err != nil {
		return err
	}
	err = p.each(ctx, `SELECT instance_id FROM workflow_place WHERE workflow_id = ? AND limit_key = ? LIMIT 1`+p.s.dial.forUpdate(), []any{l.workflow, l.key},
		func(scan func(...any) error) error {
			var id int64
			some = true
			return scan(&id)
		})
	if err != nil || some {
		return err
	}
	return p.in.exec(ctx, `DELETE FROM workflow_limit WHERE workflow_id = ? AND limit_key = ?`, []any{l.workflow, l.key}, anyRows)
}

// plainPlaces is places within a transaction of write.
func (s *Store) plainPlaces(ctx context.Context, tx *sqlTx) (*places, error) {
	s.mu.Lock()
	known := s.cluster
	s.mu.Unlock()
	if known != nil {
		return &places{s: s, in: plainTx{tx, s}, slots: int64(known.Slots)}, nil
	}
	p := &places{s: s, in: plainTx{tx, s}}
	// Within the transaction: on SQLite it holds the only connection for writes.
	if err := tx.QueryRowContext(ctx, `SELECT slots FROM cluster WHERE one = 1`).Scan(&p.slots); err != nil {
		return nil, fmt.Errorf("read slots: %w", err)
	}
	return p, nil
}

// maxAdopted bounds the running instances that get a place when their workflow gets its first limit.
const maxAdopted = 10_000

// publishLimit makes concurrency hold for a workflow. Where there was none, the instances that run
// count from now on; those that wait go as far as the new limit allows.
func (s *Store) publishLimit(ctx context.Context, tx *sqlTx, workflow int64, c dag.Concurrency) error {
	var before dag.Concurrency
	err := tx.QueryRowContext(ctx, `SELECT concurrency_limit, when_full, concurrency_key FROM workflow WHERE id = ?`+s.dial.forUpdate(), workflow).
		Scan(&before.Limit, &before.WhenFull, &before.Key)
	if err != nil {
		return err
	}
	if before == c {
		return nil
	}
	_, err = tx.ExecContext(ctx, `UPDATE workflow SET concurrency_limit = ?, when_full = ?, concurrency_key = ? WHERE id = ?`,
		c.Limit, string(c.WhenFull), c.Key, workflow)
	if err != nil {
		return err
	}
	p, err := s.plainPlaces(ctx, tx)
	if err != nil {
		return err
	}
	if before.Limit == 0 {
		if err := p.adopt(ctx, workflow); err != nil {
			return fmt.Errorf("give places to running instances: %w", err)
		}
	}
	var keys []string
	err = tx.SelectContext(ctx, &keys, `SELECT DISTINCT limit_key FROM workflow_place WHERE state = 'waiting' AND workflow_id = ? ORDER BY limit_key`, workflow)
	if err != nil {
		return err
	}
	for _, key := range keys {
		l := line{workflow, key}
		if err := p.lock(ctx, l); err != nil {
			return err
		}
		if err := p.settle(ctx, l, c.Limit, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// adopt gives places to the instances of a workflow that run without: they have begun, or are about to. The key
// that they would have had is not known, so they count for a limit without key.
func (p *places) adopt(ctx context.Context, workflow int64) error {
	var ids, priorities []int64
	err := p.each(ctx, `SELECT i.id, i.priority FROM workflow_instance i WHERE i.workflow_id = ?
		AND (i.state IN ('running', 'pausing', 'paused', 'stopping') OR i.state = 'submitted' AND i.owner <> '')
		AND NOT EXISTS (SELECT 1 FROM workflow_place p WHERE p.instance_id = i.id) ORDER BY i.id LIMIT ?`, []any{workflow, maxAdopted},
		func(scan func(...any) error) error {
			var id, priority int64
			err := scan(&id, &priority)
			ids, priorities = append(ids, id), append(priorities, priority)
			return err
		})
	if err != nil || len(ids) == 0 {
		return err
	}
	l := line{workflow: workflow}
	if err := p.lock(ctx, l); err != nil {
		return err
	}
	for i, id := range ids {
		if err := p.add(ctx, l, &Entry{InstanceID: id, Priority: dag.Priority(priorities[i])}, placeHeld); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns the line of an instance that has a place, and locks it.
func (p *places) placeOf(ctx context.Context, instance int64) (l line, found bool, err error) {
	err = p.each(ctx, `SELECT workflow_id, limit_key FROM workflow_place WHERE instance_id = ?`, []any{instance}, func(scan func(...any) error) error {
		found = true
		return scan(&l.workflow, &l.key)
	})
	if err == nil && found {
		err = p.lock(ctx, l)
	}
	return l, found, err
}

// quarantinePlace gives the place of an instance that is set aside to the next.
func (s *Store) quarantinePlace(ctx context.Context, tx *sqlTx, instance int64) error {
	p, err := s.plainPlaces(ctx, tx)
	if err != nil {
		return err
	}
	l, found, err := p.placeOf(ctx, instance)
	if err != nil || !found {
		return err
	}
	if err := p.in.exec(ctx, `UPDATE workflow_place SET state = 'out' WHERE instance_id = ?`, []any{instance}, anyRows); err != nil {
		return err
	}
	return p.next(ctx, l)
}

// retakePlace gives an instance that had begun before it was set aside its place back, or returns ErrFull.
func (s *Store) retakePlace(ctx context.Context, tx *sqlTx, instance int64) error {
	p, err := s.plainPlaces(ctx, tx)
	if err != nil {
		return err
	}
	l, found, err := p.placeOf(ctx, instance)
	if err != nil || !found {
		return err
	}
	var limit int
	if err := tx.QueryRowContext(ctx, `SELECT concurrency_limit FROM workflow WHERE id = ?`, l.workflow).Scan(&limit); err != nil {
		return err
	}
	if limit > 0 {
		if free, err := p.free(ctx, l, limit); err != nil {
			return err
		} else if free <= 0 {
			return fmt.Errorf("its workflow runs %d instances, which is its limit: %w", limit, ErrFull)
		}
	}
	return p.in.exec(ctx, `UPDATE workflow_place SET state = 'held' WHERE instance_id = ?`, []any{instance}, anyRows)
}

// SweepPlaces looks for what no transaction should have left behind: places of instances that have
// ended, free places that somebody waits for, instances whose turn came and that nobody was told of. It returns how many
// it mended; mostly it only reads. Several masters may call it at once.
func (s *Store) SweepPlaces(ctx context.Context) (mended int, err error) {
	id := func(scan func(...any) error) (id int64, err error) { return id, scan(&id) }
	ended, err := collect(ctx, s, id, `SELECT p.instance_id FROM workflow_place p LEFT JOIN workflow_instance i ON i.id = p.instance_id
		WHERE i.id IS NULL OR i.state IN ('stopped', 'failed', 'success') ORDER BY p.instance_id LIMIT ?`, maxSwept)
	if err != nil {
		return 0, fmt.Errorf("read places of ended instances: %w", err)
	}
	for _, id := range ended {
		if err := s.write(ctx, func(tx *sqlTx) error { return s.takeBack(ctx, tx, id) }); err != nil {
			return mended, fmt.Errorf("take back the place of instance %d: %w", id, err)
		}
		mended++
	}
	// Only held ones count against a limit; a line with neither is not there.
	free, err := collect(ctx, s, func(scan func(...any) error) (l line, err error) { return l, scan(&l.workflow, &l.key) },
		`SELECT p.workflow_id, p.limit_key FROM workflow_place p JOIN workflow w ON w.id = p.workflow_id
		WHERE p.state = 'waiting' AND p.replaced_by = 0 GROUP BY p.workflow_id, p.limit_key, w.concurrency_limit
		HAVING w.concurrency_limit = 0 OR w.concurrency_limit > (SELECT COUNT(*) FROM workflow_place h WHERE h.workflow_id = p.workflow_id
			AND h.limit_key = p.limit_key AND h.state = 'held') ORDER BY p.workflow_id, p.limit_key LIMIT ?`, maxSwept)
	if err != nil {
		return mended, fmt.Errorf("read lines with free places: %w", err)
	}
	for _, l := range free {
		if err := s.inPlaces(ctx, func(p *places) error {
			if err := p.lock(ctx, l); err != nil {
				return err
			}
			return p.next(ctx, l)
		}); err != nil {
			return mended, fmt.Errorf("settle line %q of workflow %d: %w", l.key, l.workflow, err)
		}
		mended++
	}
	asleep, err := collect(ctx, s, id, `SELECT i.id FROM workflow_instance i LEFT JOIN workflow_place p ON p.instance_id = i.id
		WHERE i.state = 'serial_wait' AND i.owner = '' AND (p.state IS NULL OR p.state <> 'waiting')
		AND NOT EXISTS (SELECT 1 FROM command c WHERE c.id = i.id) ORDER BY i.created_at, i.id LIMIT ?`, maxSwept)
	if err != nil {
		return mended, fmt.Errorf("read instances that sleep: %w", err)
	}
	if len(asleep) > 0 {
		if err := s.inPlaces(ctx, func(p *places) error { return p.wake(ctx, asleep) }); err != nil {
			return mended, fmt.Errorf("wake %d instances: %w", len(asleep), err)
		}
	}
	tasks, err := s.sweepTaskPlaces(ctx)
	return mended + len(asleep) + tasks, err
}

func (s *Store) inPlaces(ctx context.Context, f func(p *places) error) error {
	return s.write(ctx, func(tx *sqlTx) error {
		p, err := s.plainPlaces(ctx, tx)
		if err != nil {
			return err
		}
		return f(p)
	})
}

// takeBack deletes the place of an instance that is final or gone.
func (s *Store) takeBack(ctx context.Context, tx *sqlTx, instance int64) error {
	p, err := s.plainPlaces(ctx, tx)
	if err != nil {
		return err
	}
	open := false
	err = p.each(ctx, `SELECT state FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), []any{instance}, func(scan func(...any) error) error {
		var state dag.InstanceState
		err := scan(&state)
		open = !state.Final() || state == dag.InstanceQuarantined
		return err
	})
	if err != nil || open {
		return err
	}
	l, found, err := p.placeOf(ctx, instance)
	if err != nil || !found {
		return err
	}
	if err := p.in.exec(ctx, `DELETE FROM workflow_place WHERE instance_id = ?`, []any{instance}, anyRows); err != nil {
		return err
	}
	return p.next(ctx, l)
}

// Holder is an instance in a line.
type Holder struct {
	InstanceID int64
	State      dag.InstanceState
	Since      dag.Millis // when it entered
}

// PlaceInLine is how an instance stands in its line: who holds the places, and who is before an instance.
type PlaceInLine struct {
	Key        string
	Limit      int
	Waiting    bool  // false where the instance holds a place itself
	ReplacedBy int64 // the newer instance that takes its place; 0 for none
	Holders    []Holder
	Held       int // all holders, of which Holders lists the first
	Ahead      int // those that wait and are before it
}

// maxHolders bounds the holders that one answer lists.
const maxHolders = 10

// Place returns how an instance stands under the limit of its workflow, or ErrNotFound where it has no place.
func (s *Store) Place(ctx context.Context, instance int64) (PlaceInLine, error) {
	var out PlaceInLine
	var l line
	var state string
	var priority int64
	err := s.read.QueryRowContext(ctx, `SELECT p.workflow_id, p.limit_key, p.state, p.priority, p.replaced_by, w.concurrency_limit
		FROM workflow_place p JOIN workflow w ON w.id = p.workflow_id WHERE p.instance_id = ?`, instance).
		Scan(&l.workflow, &l.key, &state, &priority, &out.ReplacedBy, &out.Limit)
	if err != nil {
		return out, fmt.Errorf("read place of instance %d: %w", instance, explain(err))
	}
	out.Key, out.Waiting = l.key, state == placeWaiting
	out.Holders, err = collect(ctx, s, func(scan func(...any) error) (h Holder, err error) { return h, scan(&h.InstanceID, &h.State, &h.Since) },
		`SELECT p.instance_id, i.state, p.entered_at FROM workflow_place p JOIN workflow_instance i ON i.id = p.instance_id
		WHERE p.workflow_id = ? AND p.limit_key = ? AND p.state = 'held' ORDER BY p.entered_at, p.instance_id LIMIT ?`, l.workflow, l.key, maxHolders)
	if err != nil {
		return out, fmt.Errorf("read who holds the places of instance %d: %w", instance, err)
	}
	err = s.read.QueryRowContext(ctx, `SELECT COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state = 'waiting' AND replaced_by = 0
		AND (priority < ? OR priority = ? AND instance_id < ?) THEN 1 END) FROM workflow_place WHERE workflow_id = ? AND limit_key = ?`,
		priority, priority, instance, l.workflow, l.key).Scan(&out.Held, &out.Ahead)
	if err != nil {
		return out, fmt.Errorf("read the line of instance %d: %w", instance, explain(err))
	}
	return out, nil
}
