package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// maxSwept bounds the rows of one sweep: it holds the writers up for some milliseconds at most.
const maxSwept = 512

// Sweep deletes rows that have outlived their use, 512 of a kind at most, and returns how many: the
// Idempotency-Keys that a day has passed over, the oldest takeovers and recoveries, deliveries
// that have rested for a month, and results of tasks that have expired or are too many. A caller who gets 512 may call again at once;
// several processes may sweep together. Where nothing is old it only reads.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	failovers, err := s.sweepFailovers(ctx)
	if err != nil {
		return 0, err
	}
	recoveries, err := s.sweepRecoveries(ctx)
	if err != nil {
		return failovers, err
	}
	deliveries, err := s.sweepDeliveries(ctx)
	if err != nil {
		return failovers + recoveries, err
	}
	cached, err := s.sweepCache(ctx)
	if err != nil {
		return failovers + recoveries + deliveries, err
	}
	keys, err := s.sweepIdempotency(ctx)
	return failovers + recoveries + deliveries + cached + keys, err
}

func (s *Store) sweepIdempotency(ctx context.Context) (n int, err error) {
	until := s.millis().Add(-idempotencyKept)
	keys, err := collect(ctx, s, func(scan func(...any) error) (k requestKey, err error) {
		return k, scan(&k.user, &k.key)
	}, `SELECT user_id, request_key FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ?`, until, maxSwept)
	if err != nil {
		return 0, fmt.Errorf("read old idempotency keys: %w", err)
	}
	if len(keys) == 0 {
		return 0, nil
	}
	if n, err = s.sweepKeys(ctx, keys, until); err != nil {
		return 0, fmt.Errorf("delete old idempotency keys: %w", err)
	}
	return n, nil
}

// sweepKeys deletes those of the keys that are old still: a start may have given one a new
// answer since it was read. The plus keeps the databases from walking all old rows by
// their age instead of those few by their keys.
func (s *Store) sweepKeys(ctx context.Context, keys []requestKey, until dag.Millis) (int, error) {
	args := []any{until}
	for _, k := range keys {
		args = append(args, k.user, k.key)
	}
	return s.delete(ctx, `DELETE FROM idempotency WHERE +created_at <= ? AND `+s.dial.rowsIn("(user_id, request_key)", 2, len(keys)), args)
}

// sweepOldest deletes the rows of a table beyond those with the highest ids, and returns how many.
func (s *Store) sweepOldest(ctx context.Context, table string, kept int) (n int, err error) {
	old, err := collect(ctx, s, scanID,
		`SELECT id FROM `+table+` ORDER BY id DESC LIMIT ? OFFSET ?`, maxSwept, kept)
	if err != nil {
		return 0, fmt.Errorf("read old rows of %s: %w", table, err)
	}
	if len(old) == 0 {
		return 0, nil
	}
	if n, err = s.delete(ctx, `DELETE FROM `+table+` WHERE id >= ? AND id <= ?`, []any{old[len(old)-1], old[0]}); err != nil {
		return 0, fmt.Errorf("delete old rows of %s: %w", table, err)
	}
	return n, nil
}

// delete runs one DELETE and returns how many rows it met.
func (s *Store) delete(ctx context.Context, text string, args []any) (n int, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		n = 0 // it may be tried again
		return restDelete(ctx, tx, &n, text, args)
	})
	return n, err
}
