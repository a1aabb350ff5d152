package sql

import (
	"context"
	"fmt"
)

// idBlock is how many ids a process takes from the database at once. What a process has not
// used when it ends is lost, which costs nothing: a BIGINT has 9e15 such blocks.
const idBlock = 1000

// idSequence names the row of the one sequence.
const idSequence = "all"

// blocks hands out ids of the one sequence from which all tables draw.
type blocks struct {
	turn  chan struct{} // held by whoever uses the fields below, over the database's answer too
	next  int64
	limit int64 // the first id that is not ours
}

// NextIDs returns the first of n ids in a row that nobody else gets. Ids of one process
// rise; those of several processes interleave in blocks.
func (s *Store) NextIDs(ctx context.Context, n int) (int64, error) {
	if n <= 0 {
		return 0, fmt.Errorf("take %d ids: want 1 or more", n)
	}
	select {
	case s.ids.turn <- struct{}{}:
		defer func() { <-s.ids.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if s.ids.limit-s.ids.next < int64(n) {
		take := int64(max(idBlock, n))
		first, err := s.takeBlock(ctx, take)
		if err != nil {
			return 0, fmt.Errorf("take %d ids: %w", n, err)
		}
		s.ids.next, s.ids.limit = first, first+take
	}
	first := s.ids.next
	s.ids.next += int64(n)
	return first, nil
}

func (s *Store) takeBlock(ctx context.Context, n int64) (first int64, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO id_block (name, next_id) VALUES (?, ?)`+
			s.dial.onConflict("name")+`next_id = id_block.next_id + ?`, idSequence, 1+n, n)
		if err != nil {
			return err
		}
		var next int64
		if err := tx.QueryRowContext(ctx, `SELECT next_id FROM id_block WHERE name = ?`, idSequence).Scan(&next); err != nil {
			return err
		}
		first = next - n
		return nil
	})
	return first, err
}
