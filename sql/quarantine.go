package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Quarantine sets an instance aside that cannot be processed: it becomes final in the state
// quarantined, gives up its owner and keeps the reason, with an event whose message says
// more. Its unanswered wishes are refused. It returns ErrNotOwner where the instance has
// another epoch or no owner, and nil where it is quarantined already.
func (s *Store) Quarantine(ctx context.Context, instance, epoch int64, reason dag.Reason, message string) error {
	now := s.millis()
	err := s.write(ctx, func(tx *sqlTx) error {
		var in lockedRow
		err := tx.QueryRowContext(ctx, `SELECT owner, owner_epoch, state, seq FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), instance).
			Scan(&in.owner, &in.epoch, &in.state, &in.seq)
		switch {
		case errors.Is(explain(err), ErrNotFound):
			return ErrNotOwner
		case err != nil:
			return err
		case in.epoch == epoch && in.state == string(dag.InstanceQuarantined):
			return nil
		case in.epoch != epoch || in.owner == "":
			return ErrNotOwner
		}
		err = metOne(tx.ExecContext(ctx, `UPDATE workflow_instance SET state = ?, reason = ?, finished_at = ?, deadline = 0, owner = '', seq = seq + 1
			WHERE id = ? AND owner_epoch = ?`, string(dag.InstanceQuarantined), string(reason), now, instance, epoch))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE control SET applied_at = ?, result = ? WHERE instance_id = ? AND applied_at = 0`,
			now, string(dag.InstanceQuarantined), instance)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO event (instance_id, seq, created_at, code, task_index, attempt, round, state, reason, message,
			requested_by, warning) SELECT id, seq, ?, ?, -1, 0, round, state, reason, ?, '', 1 FROM workflow_instance WHERE id = ?`,
			now, string(dag.EventInstance), message, instance)
		if err != nil {
			return err
		}
		if err := s.quarantinePlace(ctx, tx, instance); err != nil {
			return err
		}
		return s.leaveGroups(ctx, tx, instance)
	})
	if err != nil {
		return fmt.Errorf("quarantine instance %d: %w", instance, err)
	}
	return nil
}
