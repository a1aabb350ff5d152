package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// Hold says whether the cluster is held: then nothing is claimed, dispatched or timed out.
type Hold struct {
	Since  dag.Millis // zero: it is not held
	By     string
	Reason string
	// Releases counts the holds that have ended. Each end moved the moments that instances wait for: who
	// has instances in memory from before it must read them again.
	Releases int64
}

// Held says that the cluster is held.
func (h Hold) Held() bool { return h.Since != 0 }

const holdColumns = `held_at, held_by, held_reason, releases`

// Hold returns whether the cluster is held, since when and by whom.
func (s *Store) Hold(ctx context.Context) (Hold, error) {
	var h Hold
	err := s.read.QueryRowContext(ctx, `SELECT `+holdColumns+` FROM cluster WHERE one = 1`).Scan(&h.Since, &h.By, &h.Reason, &h.Releases)
	if err != nil {
		return Hold{}, fmt.Errorf("read the cluster's hold: %w", explain(err))
	}
	return h, nil
}

// SetHold holds the cluster, and returns the hold that is then in force: one that was there before
// stays as it is, and began is false.
func (s *Store) SetHold(ctx context.Context, by, reason string) (h Hold, began bool, err error) {
	now := s.millis()
	err = s.write(ctx, func(tx *sqlTx) error {
		if h, err = heldIn(ctx, tx, s.dial); err != nil {
			return err
		}
		if began = !h.Held(); !began {
			return nil
		}
		h.Since, h.By, h.Reason = now, by, reason
		return metOne(tx.ExecContext(ctx, `UPDATE cluster SET held_at = ?, held_by = ?, held_reason = ? WHERE one = 1`, now, by, reason))
	})
	if err != nil {
		return Hold{}, false, fmt.Errorf("hold the cluster: %w", err)
	}
	return h, began, nil
}

func heldIn(ctx context.Context, tx *sqlTx, d *dialect) (Hold, error) {
	var h Hold
	err := tx.QueryRowContext(ctx, `SELECT `+holdColumns+` FROM cluster WHERE one = 1`+d.forUpdate()).Scan(&h.Since, &h.By, &h.Reason, &h.Releases)
	return h, err
}

// Released is what the end of a hold has moved.
type Released struct {
	Was       Hold // not held: there was nothing to release, and nothing was moved
	At        dag.Millis
	Instances int // whose masters read them again
	Moments   int // deadlines, delays and ends of waits that were moved
}

// ReleaseHold ends a hold. In the same transaction every moment that an instance waits for moves by as
// much as the hold took from it: by all of the hold, or by what was left of it when the wait began. The
// epochs of owned instances rise, so that no master writes the old moments back. Called twice, or
// again after an answer that was lost, it moves nothing the second time.
func (s *Store) ReleaseHold(ctx context.Context) (Released, error) {
	now := s.millis()
	var out Released
	err := s.write(ctx, func(tx *sqlTx) error {
		was, err := heldIn(ctx, tx, s.dial)
		out = Released{Was: was, At: now}
		if err != nil || !was.Held() {
			return err
		}
		if err := metOne(tx.ExecContext(ctx, `UPDATE cluster SET held_at = 0, held_by = '', held_reason = '', releases = releases + 1 WHERE one = 1`)); err != nil {
			return err
		}
		ids, err := s.openInstances(ctx, tx)
		if err != nil {
			return err
		}
		return s.moveMoments(ctx, tx, &out, ids)
	})
	if err != nil {
		return Released{}, fmt.Errorf("release the cluster: %w", err)
	}
	return out, nil
}

// openInstances locks the instances that are not final, and those that an owner has, in the order in which
// every transaction locks them.
func (s *Store) openInstances(ctx context.Context, tx *sqlTx) ([]int64, error) {
	var open []string
	for _, state := range dag.InstanceStates() {
		if !state.Final {
			open = append(open, string(state.State))
		}
	}
	var ids []int64
	args := make([]any, len(open))
	for i, state := range open {
		args[i] = state
	}
	err := tx.SelectContext(ctx, &ids, `SELECT id FROM workflow_instance WHERE state IN (`+marks(len(open))+`) OR owner <> '' ORDER BY id`+s.dial.forUpdate(), args...)
	return ids, err
}

// moveMoments moves the moments of the instances. A wait that began within the hold has lost only what
// came after its beginning: began is the column that says when that was.
func (s *Store) moveMoments(ctx context.Context, tx *sqlTx, out *Released, ids []int64) error {
	from, to := int64(out.Was.Since), int64(out.At)
	moves := []struct{ table, moment, began, key, states string }{
		{"workflow_instance", "deadline", "started_at", "id", ""},
		{"task_instance", "next_at", "CASE WHEN state = 'retry_wait' THEN finished_at WHEN state = 'ready' THEN ready_at ELSE started_at END", "instance_id", ""},
		{"task_attempt", "deadline", "started_at", "instance_id", " AND finished_at = 0"},
	}
	for chunk := range slices.Chunk(ids, maxStatementRows) {
		list := make([]any, len(chunk))
		for i, id := range chunk {
			list[i] = id
		}
		for _, m := range moves {
			args := append([]any{to, from, from}, list...)
			res, err := tx.ExecContext(ctx, `UPDATE `+m.table+` SET `+m.moment+` = `+m.moment+` + ? - CASE WHEN (`+m.began+`) > ? THEN (`+m.began+`) ELSE ? END WHERE `+
				m.key+` IN (`+marks(len(chunk))+`) AND `+m.moment+` <> 0`+m.states, args...)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			out.Moments += int(n)
		}
		res, err := tx.ExecContext(ctx, `UPDATE workflow_instance SET owner_epoch = owner_epoch + 1 WHERE owner <> '' AND id IN (`+marks(len(chunk))+`)`, list...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		out.Instances += int(n)
	}
	return nil
}
