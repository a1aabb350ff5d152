package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// RegistryRow says which registry the cluster belongs to.
type RegistryRow struct {
	ID      string // "" before the first
	Beat    int64  // rises while a process of the cluster lives
	BoundAt dag.Millis
	BoundBy string
}

// Registry returns which registry the cluster belongs to.
func (s *Store) Registry(ctx context.Context) (r RegistryRow, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT id, beat, bound_at, bound_by FROM cluster_registry WHERE one = 1`).
		Scan(&r.ID, &r.Beat, &r.BoundAt, &r.BoundBy)
	if err != nil {
		return r, fmt.Errorf("read the cluster's registry: %w", explain(err))
	}
	return r, nil
}

// BindRegistry gives the cluster to another registry. It returns ErrStale unless the cluster
// belongs to from, "" for none.
func (s *Store) BindRegistry(ctx context.Context, from, to, by string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return changed(metOne(tx.ExecContext(ctx, `UPDATE cluster_registry SET id = ?, beat = beat + 1, bound_at = ?, bound_by = ? WHERE one = 1 AND id = ?`,
			to, s.millis(), by, from)))
	})
	if err != nil {
		return fmt.Errorf("give the cluster to registry %q: %w", to, err)
	}
	return nil
}

// BeatRegistry says that a process lives that belongs to the registry. It returns ErrStale where the cluster
// belongs to another one.
func (s *Store) BeatRegistry(ctx context.Context, id string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return changed(metOne(tx.ExecContext(ctx, `UPDATE cluster_registry SET beat = beat + 1 WHERE one = 1 AND id = ?`, id)))
	})
	if err != nil {
		return fmt.Errorf("beat for registry %q: %w", id, err)
	}
	return nil
}

// changed makes a row that was not met one that changed.
func changed(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrStale
	}
	return err
}
