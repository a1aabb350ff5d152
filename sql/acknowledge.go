package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Acknowledgement says that somebody has seen an instance's failure, and looks after it. It holds for one round of the
// instance: a recovery ends it, and what fails then has to be acknowledged anew.
type Acknowledgement struct {
	InstanceID int64
	Round      int
	CreatedBy  string
	CreatedAt  dag.Millis
	Note       string
}

// ErrNotFailed says that there is no failure to acknowledge.
var ErrNotFailed = errors.New("has not failed")

// Acknowledgeable says whether an instance in a state has a failure that can be acknowledged.
func Acknowledgeable(state dag.InstanceState) bool {
	return state == dag.InstanceFailed || state == dag.InstanceQuarantined
}

var acknowledgementUpsert = &table{
	name: "acknowledgement",
	keys: []string{"instance_id"},
	cols: []string{"instance_id", "round", "created_by", "created_at", "note"},
	sets: []string{"round", "created_by", "created_at", "note"},
}

// Acknowledge keeps an acknowledgement in place of an earlier one. The instance must have failed, else ErrNotFailed, in
// the round that is acknowledged, else ErrStale: nobody acknowledges what he has not seen.
func (s *Store) Acknowledge(ctx context.Context, a Acknowledgement) (Acknowledgement, error) {
	a.CreatedAt = s.millis()
	err := s.write(ctx, func(tx *sqlTx) error {
		var state dag.InstanceState
		var round int
		// The lock keeps a recovery from coming between.
		err := tx.QueryRowContext(ctx, `SELECT state, round FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), a.InstanceID).Scan(&state, &round)
		switch {
		case err != nil:
			return err
		case round != a.Round:
			return ErrStale
		case !Acknowledgeable(state):
			return ErrNotFailed
		}
		_, err = tx.ExecContext(ctx, s.dial.upsert(acknowledgementUpsert, 1), a.InstanceID, a.Round, a.CreatedBy, a.CreatedAt, a.Note)
		return err
	})
	if err != nil {
		return Acknowledgement{}, fmt.Errorf("acknowledge instance %d: %w", a.InstanceID, explain(err))
	}
	return a, nil
}

// Unacknowledge takes an acknowledgement back; twice is as once.
func (s *Store) Unacknowledge(ctx context.Context, instance int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM acknowledgement WHERE instance_id = ?`, instance)
		return err
	})
	if err != nil {
		return fmt.Errorf("take back the acknowledgement of instance %d: %w", instance, err)
	}
	return nil
}

// Acknowledgements returns those that hold of the given instances, by id. It reads only of those that have failed, by
// their key.
func (s *Store) Acknowledgements(ctx context.Context, rows []InstanceRow) (map[int64]Acknowledgement, error) {
	rounds := map[int64]int{}
	var ids []any
	for _, r := range rows {
		if Acknowledgeable(r.State) {
			rounds[r.ID] = r.Round
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := collect(ctx, s, func(scan func(...any) error) (a Acknowledgement, err error) {
		return a, scan(&a.InstanceID, &a.Round, &a.CreatedBy, &a.CreatedAt, &a.Note)
	}, acknowledgementsText(len(ids)), ids...)
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	out := make(map[int64]Acknowledgement, len(all))
	for _, a := range all {
		if a.Round == rounds[a.InstanceID] {
			out[a.InstanceID] = a
		}
	}
	return out, nil
}

func acknowledgementsText(n int) string {
	return `SELECT instance_id, round, created_by, created_at, note FROM acknowledgement WHERE instance_id IN (` + marks(n) + `)`
}
