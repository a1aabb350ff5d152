package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// idBlock is how many ids a process takes from the database at once, and maxIDBlock how many where it used up the last
// block within idPace: each time costs a commit that all others wait for. What a process has not used when it ends is
// lost, which costs nothing: a BIGINT has 1e14 of the largest.
const (
	idBlock    = 1000
	maxIDBlock = 64_000
	idPace     = time.Second
)

// idSequence names the row of the one sequence.
const idSequence = "all"

// blocks hands out ids of the one sequence from which all tables draw.
type blocks struct {
	turn  chan struct{} // held by whoever uses the fields below, over the database's answer too
	next  int64
	limit int64 // the first id that is not ours
	size  int64 // of the last block
	taken dag.Millis
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
		take, now := int64(max(idBlock, n, min(8*n, 8*idBlock))), s.millis() // who takes many comes again
		if now.Sub(s.ids.taken) < idPace {
			take = max(take, min(2*s.ids.size, maxIDBlock))
		}
		first, err := s.takeBlock(ctx, take)
		if err != nil {
			return 0, fmt.Errorf("take %d ids: %w", n, err)
		}
		s.ids.next, s.ids.limit, s.ids.size, s.ids.taken = first, first+take, take, now
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
