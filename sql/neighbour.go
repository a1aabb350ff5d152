package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Neighbours are the instances of the same workflow around one: zero where there is none.
type Neighbours struct {
	Previous, Next int64
	LastSuccess    int64           // the latest one before it that succeeded
	Took           []time.Duration // of the last successes, the newest first
}

// maxTook is how many successes tell how long a workflow usually takes.
const maxTook = 20

// Neighbours finds the instances around one. It reads a few entries of an index and the
// rows of at most maxTook successes.
func (s *Store) Neighbours(ctx context.Context, in InstanceRow) (Neighbours, error) {
	var out Neighbours
	streams := InstanceFilter{WorkflowID: in.WorkflowID}.streams()
	var err error
	if out.Previous, err = s.beside(ctx, streams, in, "<", "DESC"); err != nil {
		return out, err
	}
	if out.Next, err = s.beside(ctx, streams, in, ">", "ASC"); err != nil {
		return out, err
	}
	successes := InstanceFilter{WorkflowID: in.WorkflowID, States: []dag.InstanceState{dag.InstanceSuccess}}.streams()
	if out.LastSuccess, err = s.beside(ctx, successes, in, "<", "DESC"); err != nil {
		return out, err
	}
	out.Took, err = s.Took(ctx, in.WorkflowID)
	return out, err
}

// Took returns how long the last successes of a workflow took, the newest first, maxTook at most.
func (s *Store) Took(ctx context.Context, workflowID int64) ([]time.Duration, error) {
	took, err := collect(ctx, s, func(scan func(...any) error) (time.Duration, error) {
		var from, to dag.Millis
		err := scan(&from, &to)
		return to.Sub(from), err
	}, `SELECT started_at, finished_at FROM workflow_instance WHERE workflow_id = ? AND state = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
		workflowID, string(dag.InstanceSuccess), maxTook)
	if err != nil {
		return nil, fmt.Errorf("read how long workflow %d takes: %w", workflowID, err)
	}
	return took, nil
}

// beside returns the nearest instance of the streams on one side of another.
func (s *Store) beside(ctx context.Context, streams []stream, in InstanceRow, side, order string) (int64, error) {
	var text []string
	var args []any
	for _, st := range streams {
		text = append(text, `SELECT * FROM (SELECT created_at, id FROM workflow_instance WHERE `+st.where+` AND created_at `+side+`= ? AND (created_at `+side+
			` ? OR id `+side+` ?) ORDER BY created_at `+order+`, id `+order+` LIMIT 1) AS h`)
		args = append(append(args, st.args...), in.CreatedAt, in.CreatedAt, in.ID)
	}
	got, err := collect(ctx, s, func(scan func(...any) error) (h listCursor, err error) { return h, scan(&h.At, &h.ID) },
		strings.Join(text, ` UNION ALL `), args...)
	if err != nil {
		return 0, fmt.Errorf("find what is beside instance %d: %w", in.ID, err)
	}
	var best listCursor
	for _, h := range got {
		later := h.At > best.At || h.At == best.At && h.ID > best.ID
		if best.ID == 0 || later == (order == "DESC") {
			best = h
		}
	}
	return best.ID, nil
}
