package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Quarantine sets an instance aside that cannot be processed: it becomes final in the state
// quarantined, gives up its owner and keeps the reason, with an event whose message says
// more. It returns ErrNotOwner if the instance's epoch is another one.
func (s *Store) Quarantine(ctx context.Context, instance, epoch int64, reason dag.Reason, message string) error {
	now := s.millis()
	err := s.write(ctx, func(tx *sqlTx) error {
		result, err := tx.ExecContext(ctx, `UPDATE workflow_instance SET state = ?, reason = ?, finished_at = ?, owner = '', seq = seq + 1
			WHERE id = ? AND owner_epoch = ? AND state NOT IN (?, ?, ?, ?)`,
			dag.InstanceQuarantined, reason, now, instance, epoch,
			dag.InstanceSuccess, dag.InstanceFailed, dag.InstanceStopped, dag.InstanceQuarantined)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			if err == nil {
				err = ErrNotOwner
			}
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO event (instance_id, seq, created_at, code, task_index, attempt, round, state, reason, message, requested_by, warning)
			SELECT id, seq, ?, ?, -1, 0, round, state, reason, ?, '', 1 FROM workflow_instance WHERE id = ?`,
			now, dag.EventInstance, message, instance)
		return err
	})
	if err != nil {
		return fmt.Errorf("quarantine instance %d: %w", instance, err)
	}
	return nil
}
