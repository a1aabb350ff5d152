package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// maxRebalances bounds the history of rebalances.
const maxRebalances = 1000

// Rebalance is one layout of slots that was committed, and how it came about.
type Rebalance struct {
	Epoch       int64
	Coordinator string // node:incarnation
	Cause       string
	StartedAt   dag.Millis
	CommittedAt dag.Millis
	Restarts    int // epochs given up on the way
	Moved       int // slots with another owner than before
	Members     []RebalanceMember
	Excluded    []RebalanceMember // registered, but silent
	Steps       []RebalanceStep
}

// RebalanceMember is a master of a layout.
type RebalanceMember struct {
	Node        string `json:"node"`
	Incarnation string `json:"incarnation"`
	Weight      int    `json:"weight"`
	Slots       int    `json:"slots"`
}

// RebalanceStep is one thing that happened in a rebalance.
type RebalanceStep struct {
	Epoch int64      `json:"epoch"`
	What  string     `json:"what"`
	Node  string     `json:"node,omitempty"`
	Note  string     `json:"note,omitempty"`
	At    dag.Millis `json:"at"`
}

// NextLayout raises the floor of layout epochs by one, to atLeast if that is more, and returns
// it. Nobody gets the same epoch twice.
func (s *Store) NextLayout(ctx context.Context, atLeast int64) (epoch int64, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		if err := tx.QueryRowContext(ctx, `SELECT layout_floor FROM cluster WHERE one = 1`+s.dial.forUpdate()).Scan(&epoch); err != nil {
			return err
		}
		epoch = max(epoch+1, atLeast)
		return metOne(tx.ExecContext(ctx, `UPDATE cluster SET layout_floor = ? WHERE one = 1`, epoch))
	})
	if err != nil {
		return 0, fmt.Errorf("raise the floor of layout epochs: %w", err)
	}
	return epoch, nil
}

// LayoutFloor returns the highest epoch that NextLayout has given; 0 before the first.
func (s *Store) LayoutFloor(ctx context.Context) (epoch int64, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT layout_floor FROM cluster WHERE one = 1`).Scan(&epoch); err != nil {
		return 0, fmt.Errorf("read the floor of layout epochs: %w", explain(err))
	}
	return epoch, nil
}

// SaveRebalance keeps a rebalance, and drops the oldest beyond the last 1000. One that is kept
// already stays as it is.
func (s *Store) SaveRebalance(ctx context.Context, r Rebalance) error {
	var lists [3]string
	for i, list := range []any{r.Members, r.Excluded, r.Steps} {
		text, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("encode rebalance %d: %w", r.Epoch, err)
		}
		lists[i] = string(text)
	}
	err := s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, s.dial.insertIgnore()+`rebalance (epoch, coordinator, cause, started_at, committed_at, restarts, moved,
			members, excluded, steps) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.Epoch, r.Coordinator, r.Cause, r.StartedAt, r.CommittedAt,
			r.Restarts, r.Moved, lists[0], lists[1], lists[2])
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM rebalance WHERE epoch <= ?`, r.Epoch-maxRebalances)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep rebalance %d: %w", r.Epoch, err)
	}
	return nil
}

// Rebalances returns the last rebalances, the newest first, limit at most.
func (s *Store) Rebalances(ctx context.Context, limit int) ([]Rebalance, error) {
	out, err := collect(ctx, s, scanRebalance, `SELECT epoch, coordinator, cause, started_at, committed_at, restarts, moved, members, excluded, steps
		FROM rebalance ORDER BY epoch DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read rebalances: %w", err)
	}
	return out, nil
}

func scanRebalance(scan func(...any) error) (Rebalance, error) {
	var r Rebalance
	var lists [3]string
	err := scan(&r.Epoch, &r.Coordinator, &r.Cause, &r.StartedAt, &r.CommittedAt, &r.Restarts, &r.Moved, &lists[0], &lists[1], &lists[2])
	if err != nil {
		return r, err
	}
	for i, into := range []any{&r.Members, &r.Excluded, &r.Steps} {
		if err := json.Unmarshal([]byte(lists[i]), into); err != nil {
			return r, fmt.Errorf("rebalance %d: %w", r.Epoch, err)
		}
	}
	return r, nil
}
