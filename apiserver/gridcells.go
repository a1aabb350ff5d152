package apiserver

import (
	"context"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/sql"
)

// maxKeptCells bounds the cells in memory, about 15 MB; beyond it all are dropped and read again.
const maxKeptCells = 200_000

// cells keeps the cells of instances that have ended. An instance that runs again has a higher number of
// its latest event, so that what is kept never goes stale.
type cells struct {
	store Store

	mu    sync.Mutex
	kept  map[int64]keptCells
	count int
}

type keptCells struct {
	seq   int64
	cells []sql.Cell
}

func newCells(store Store) *cells { return &cells{store: store, kept: map[int64]keptCells{}} }

// get returns the cells of an instance as far as its row is; callers must not change them.
func (c *cells) get(ctx context.Context, row *sql.InstanceRow) ([]sql.Cell, error) {
	c.mu.Lock()
	kept, ok := c.kept[row.ID]
	c.mu.Unlock()
	if ok && kept.seq == row.Seq {
		return kept.cells, nil
	}
	read, err := c.store.Cells(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("grid: %w", err)
	}
	// Cells are read after their row: of an instance that has not ended they may be further than it.
	if !row.State.Final() || len(read) > maxKeptCells {
		return read, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count+len(read) > maxKeptCells {
		clear(c.kept)
		c.count = 0
	}
	c.count += len(read) - len(c.kept[row.ID].cells)
	c.kept[row.ID] = keptCells{row.Seq, read}
	return read, nil
}
