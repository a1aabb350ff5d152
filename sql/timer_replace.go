package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
)

// ReplaceTimer deletes a timer of a project and makes another in its place, in one transaction, enabled where the old one
// was, and returns it. It has an id of its own, so that nothing which is under way for the old one counts for it; of each
// moment one of the two calls. It returns ErrNotFound where the old one is gone, and ErrExists where a third has the name.
func (s *Store) ReplaceTimer(ctx context.Context, old int64, t Timer) (Timer, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Timer{}, err
	}
	now, err := s.Clock(ctx) // masters go by it, too
	if err != nil {
		return Timer{}, err
	}
	t.ID, t.CreatedAt, t.ChangedBy, t.ChangedAt = id, now, t.CreatedBy, now
	err = s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockProject(ctx, tx, t.ProjectID); err != nil {
			return err
		}
		was, err := s.lockTimer(ctx, tx, t.ProjectID, old)
		if err != nil {
			return err
		}
		if t.PlannedUntil, err = s.begun(ctx, tx, old, now); err != nil {
			return fmt.Errorf("read what it calls: %w", err)
		}
		if err := metOne(tx.ExecContext(ctx, `DELETE FROM timer WHERE id = ?`, old)); err != nil {
			return err
		}
		if err := insertTimer(ctx, tx, &t); err != nil {
			return err
		}
		if t.Enabled = was.Enabled; !t.Enabled {
			return nil
		}
		if _, _, err := s.planTimers(ctx, tx, []Timer{t}, now); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE timer SET enabled = 1 WHERE id = ?`, t.ID))
	})
	if err != nil {
		return Timer{}, fmt.Errorf("replace timer %d: %w", old, err)
	}
	return t, nil
}

// begun is the moment from which on no master has claimed a task of a timer: they claim a little ahead. The rows are locked,
// so that none does meanwhile.
func (s *Store) begun(ctx context.Context, tx *sqlTx, id int64, now dag.Millis) (dag.Millis, error) {
	from := now
	ahead := now.Add(timer.ClaimAhead + time.Second) // a second for clocks that differ
	b := &batch{s: s, tx: plainTx{tx, s}}
	err := b.eachRow(ctx, `SELECT planned_at, state FROM timer_task WHERE timer_id = ? AND planned_at >= ? AND planned_at <= ? ORDER BY planned_at`+s.dial.forUpdate(),
		[]any{id, now, ahead}, func(scan func(...any) error) error {
			var at dag.Millis
			var state timer.State
			err := scan(&at, &state)
			if state != timer.Planned {
				from = max(from, at+1)
			}
			return err
		})
	return from, err
}
