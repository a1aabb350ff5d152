package binding

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run shows until ctx ends that this process lives, and puts the id back into a registry that was wiped. A
// process that could not be checked, because the registry was away, is checked as soon as it is there. It
// returns ErrForeign where the database is found to belong to another registry.
func (b *Binding) Run(ctx context.Context) error {
	for {
		if err := b.step(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, ErrForeign) {
				return err
			}
			b.log.Debug("registry or database do not answer", "error", err)
		}
		if !pause(ctx, BeatEvery) {
			return nil
		}
	}
}

func (b *Binding) step(ctx context.Context) error {
	if !b.Bound() {
		err := b.Check(ctx)
		if err == nil {
			b.log.Info("the registry answers, and is the one of this database", "registry", b.mark.ID)
		}
		return err
	}
	beat, cancel := context.WithTimeout(ctx, callWait)
	err := b.Rows.Beat(beat, b.mark.ID)
	cancel()
	if errors.Is(err, ErrMoved) {
		// A database that lost its last commits may have forgotten us; or it was given away.
		return b.Check(ctx)
	}
	look, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	return errors.Join(err, b.restore(look))
}

// restore puts the mark back. A registry that says something else was set back to an older copy of
// itself: the next start asks about it, and what runs goes on.
func (b *Binding) restore(ctx context.Context) error {
	m, err := b.read(ctx)
	switch {
	case errors.Is(err, ErrForeign), err == nil && m.ID != "" && m.ID != b.mark.ID:
		b.log.Error("the registry has another id than the database: it was set back, or is another cluster's; the next start here will be refused",
			"registry", m.ID, "database", b.mark.ID, "error", err)
		return nil
	case err != nil || m.ID != "":
		return err
	}
	if err := b.write(ctx, b.mark); err != nil {
		return fmt.Errorf("put the id back: %w", err)
	}
	b.log.Warn("the registry was wiped, its id is put back", "registry", b.mark.ID)
	return nil
}

// Alive looks for a while whether any process lives that uses the database, whatever its registry.
func Alive(ctx context.Context, rows Rows) (bool, error) {
	first, err := rows.Registry(ctx)
	for end := time.Now().Add(quiet); err == nil && time.Now().Before(end); {
		if !pause(ctx, lookEvery) {
			return false, ctx.Err()
		}
		var row Row
		if row, err = rows.Registry(ctx); err == nil && row != first {
			return true, nil
		}
	}
	return false, err
}
