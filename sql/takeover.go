package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
)

// TakeOver gives up to limit instances of a dead owner to another, each by a compare-and-set of
// owner and epoch; epoch and crash count rise by one. Fewer than limit means that none is left.
func (s *Store) TakeOver(ctx context.Context, from, to string, limit int) ([]Claimed, error) {
	if from == "" || to == "" {
		return nil, fmt.Errorf("take over %q for %q: want two owners", from, to)
	}
	var won []ownership
	if err := failpoint.Hit("takeover.select.before"); err != nil {
		return nil, fmt.Errorf("take over %s: %w: %w", from, ErrUnavailable, err)
	}
	err := s.write(ctx, func(tx *sqlTx) (err error) {
		won, err = s.move(ctx, tx, transfer{from: from, to: to, crashes: 1}, `ORDER BY id LIMIT ?`, limit)
		if err == nil && len(won) > 0 {
			err = failpoint.Hit("takeover.bump.before")
		}
		return err
	})
	if err == nil && len(won) > 0 {
		err = failpoint.Hit("takeover.bump.after")
	}
	if err != nil {
		return nil, fmt.Errorf("take over %s: %w", from, err)
	}
	if len(won) > 0 {
		if err := failpoint.Hit("takeover.load.before"); err != nil {
			return nil, fmt.Errorf("take over %s: %w: %w", from, ErrUnavailable, err)
		}
	}
	return s.load(ctx, won)
}

// Retake gives instances of an owner to the same owner again, with an epoch and a crash count one
// higher, so that what it still has under way for them comes to nothing. Those that are not
// its own are left out.
func (s *Store) Retake(ctx context.Context, owner string, ids []int64) ([]Claimed, error) {
	won, err := s.moveThese(ctx, transfer{from: owner, to: owner, crashes: 1}, ids)
	if err != nil {
		return nil, fmt.Errorf("take up %d instances of %s again: %w", len(ids), owner, err)
	}
	return s.load(ctx, won)
}

// HandOver gives instances of an owner who leaves to another, and returns how many. Epochs
// rise by one, crash counts do not: nothing has crashed. Those that are not its own are left out.
func (s *Store) HandOver(ctx context.Context, from, to string, ids []int64) (int, error) {
	won, err := s.moveThese(ctx, transfer{from: from, to: to}, ids)
	if err != nil {
		return 0, fmt.Errorf("hand %d instances of %s to %s: %w", len(ids), from, to, err)
	}
	return len(won), nil
}

// transfer is a change of owner; crashes is added to the crash count.
type transfer struct {
	from, to string
	crashes  int
}

func (s *Store) moveThese(ctx context.Context, t transfer, ids []int64) ([]ownership, error) {
	if t.from == "" || t.to == "" {
		return nil, fmt.Errorf("from %q to %q: want two owners", t.from, t.to)
	}
	var won []ownership
	err := s.write(ctx, func(tx *sqlTx) error {
		won = won[:0]
		return eachChunk(ids, func(chunk []any) error {
			got, err := s.move(ctx, tx, t, `AND id IN (`+marks(len(chunk))+`) ORDER BY id`, chunk...)
			won = append(won, got...)
			return err
		})
	})
	return won, err
}

// move changes the owner of those of its instances that a condition picks. The rows are locked
// before their epochs are read, so an UPDATE that meets fewer is a broken database.
func (s *Store) move(ctx context.Context, tx *sqlTx, t transfer, pick string, args ...any) ([]ownership, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, owner_epoch FROM workflow_instance WHERE owner = ? AND owner <> '' `+pick+s.dial.forUpdate(),
		append([]any{t.from}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var won []ownership
	var ids []int64
	for rows.Next() {
		o := ownership{owner: t.to}
		if err := rows.Scan(&o.id, &o.epoch); err != nil {
			return nil, err
		}
		o.epoch++
		won, ids = append(won, o), append(ids, o.id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(ids, maxStatementRows) {
		args := []any{t.to, t.crashes, t.from}
		for _, id := range chunk {
			args = append(args, id)
		}
		res, err := tx.ExecContext(ctx, `UPDATE workflow_instance SET owner = ?, owner_epoch = owner_epoch + 1, crash_count = crash_count + ?
			WHERE owner = ? AND id IN (`+marks(len(chunk))+`)`, args...)
		if err != nil {
			return nil, err
		}
		if met, err := res.RowsAffected(); err != nil {
			return nil, err
		} else if met != int64(len(chunk)) {
			return nil, fmt.Errorf("%d of %d rows met, though they were locked", met, len(chunk))
		}
	}
	return won, nil
}

// Standing is how an owned instance stands in the store.
type Standing struct {
	ID, Epoch, Seq int64
}

// Standings returns how up to limit instances of an owner stand, those above after, by id.
func (s *Store) Standings(ctx context.Context, owner string, after int64, limit int) ([]Standing, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (st Standing, err error) {
		return st, scan(&st.ID, &st.Epoch, &st.Seq)
	}, `SELECT id, owner_epoch, seq FROM workflow_instance WHERE owner = ? AND owner <> '' AND id > ? ORDER BY id LIMIT ?`, owner, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read how the instances of %s stand: %w", owner, err)
	}
	return out, nil
}

// ReleaseQuarantine lets masters touch a quarantined instance again: it goes back to the state
// it was in, its crashes are forgotten, and a command gives it an owner. It returns
// ErrNotFound where there is no such instance, ErrStale where it is not quarantined, and ErrFull where
// its workflow runs as many as its concurrency allows.
func (s *Store) ReleaseQuarantine(ctx context.Context, instance int64, by string) error {
	command, err := s.NextIDs(ctx, 1)
	if err != nil {
		return fmt.Errorf("release instance %d: %w", instance, err)
	}
	cluster, err := s.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("release instance %d: %w", instance, err)
	}
	now := s.millis()
	err = s.write(ctx, func(tx *sqlTx) error {
		var state string
		var project, priority, seq, round int64
		err := tx.QueryRowContext(ctx, `SELECT state, project_id, priority, seq, round FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), instance).
			Scan(&state, &project, &priority, &seq, &round)
		if err != nil {
			return explain(err)
		}
		if state != string(dag.InstanceQuarantined) {
			return fmt.Errorf("it is %s: %w", state, ErrStale)
		}
		before, err := stateBefore(ctx, tx, instance, round > 0)
		if err != nil {
			return err
		}
		if before != dag.InstanceSubmitted && before != dag.InstanceSerialWait {
			if err := s.retakePlace(ctx, tx, instance); err != nil {
				return err
			}
		}
		if err := metOne(tx.ExecContext(ctx, `UPDATE workflow_instance SET state = ?, reason = '', finished_at = 0, crash_count = 0, seq = seq + 1
			WHERE id = ? AND state = ?`, string(before), instance, state)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO event (instance_id, seq, created_at, code, task_index, attempt, round, state, reason, message,
			requested_by, warning) VALUES (?, ?, ?, ?, -1, 0, ?, ?, '', 'released from quarantine', ?, 0)`,
			instance, seq+1, now, string(dag.EventInstance), round, string(before), by)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, s.dial.insert(commandInsert, 1), command, string(CommandResume), instance, project, nil, nil, nil,
			command%int64(cluster.Slots), priority, now)
		return err
	})
	if err != nil {
		return fmt.Errorf("release instance %d: %w", instance, err)
	}
	return nil
}

// stateBefore finds the state of a quarantined instance before that: the last that its history
// names, or that of one that never began.
func stateBefore(ctx context.Context, tx *sqlTx, instance int64, begun bool) (dag.InstanceState, error) {
	if !begun {
		return dag.InstanceSubmitted, nil
	}
	var states []string
	err := tx.SelectContext(ctx, &states, `SELECT state FROM event WHERE instance_id = ? AND code = ? AND state <> ? ORDER BY seq DESC LIMIT 1`,
		instance, string(dag.EventInstance), string(dag.InstanceQuarantined))
	if err != nil {
		return "", err
	}
	for _, state := range states {
		if before := dag.InstanceState(state); before.Valid() && !before.Final() {
			return before, nil
		}
	}
	return dag.InstanceRunning, nil
}
