package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const (
	// siftStep is how many rows are read at once where a filter looks into them.
	siftStep = 200
	// MaxSifted bounds the rows that one page of such a list looks at: a rare value costs a
	// few short pages, never a walk through all instances in one request.
	MaxSifted = 2000
	// maxOnWorker bounds them where each costs a look at all its attempts.
	maxOnWorker = 400
)

// narrows tells whether the filter has to look into the rows.
func (f InstanceFilter) narrows() bool {
	return f.Version != 0 || f.By != "" || f.Param != "" || f.LongerThan > 0 || f.Trigger != "" || f.Late || f.Worker != "" || f.Acknowledged != nil
}

// keeps tells whether a row that the indexes gave is shown.
func (f InstanceFilter) keeps(r InstanceRow, now dag.Millis) bool {
	if f.Trigger != "" && r.Trigger() != f.Trigger {
		return false
	}
	if f.Version != 0 && r.Version != f.Version || f.By != "" && r.CreatedBy != f.By {
		return false
	}
	if f.LongerThan > 0 {
		end := r.FinishedAt
		if end == 0 {
			end = now
		}
		if r.StartedAt == 0 || time.Duration(end-r.StartedAt)*time.Millisecond < f.LongerThan {
			return false
		}
	}
	if f.Param == "" {
		return true
	}
	for name, value := range r.Params {
		if strings.Contains(name+"="+value, f.Param) {
			return true
		}
	}
	return false
}

// sifted returns a page of a list whose filter looks into the rows. It walks the same
// indexes and may end early: fewer rows than limit, even none, with a cursor to go on.
func (s *Store) sifted(ctx context.Context, f InstanceFilter, more bool, after listCursor, limit int) ([]InstanceRow, string, error) {
	var out []InstanceRow
	streams, now := f.streams(), s.millis()
	took := map[int64]Took{}
	most := MaxSifted
	if f.Worker != "" {
		most = maxOnWorker
	}
	for seen := 0; seen < most; {
		heads, err := s.heads(ctx, streams, more, after, siftStep+1)
		if err != nil {
			return nil, "", fmt.Errorf("list instances: %w", err)
		}
		last := len(heads) <= siftStep
		heads = heads[:min(len(heads), siftStep)]
		if len(heads) == 0 {
			return out, "", nil
		}
		rows, err := s.rowsOf(ctx, heads)
		if err != nil {
			return nil, "", err
		}
		var acknowledged map[int64]Acknowledgement
		if f.Acknowledged != nil {
			if acknowledged, err = s.Acknowledgements(ctx, rows); err != nil {
				return nil, "", err
			}
		}
		if f.Late {
			if err := s.addTook(ctx, rows, took); err != nil {
				return nil, "", err
			}
		}
		var here map[int64]bool
		if f.Worker != "" {
			if here, err = s.onWorker(ctx, rows, f.Worker); err != nil {
				return nil, "", err
			}
		}
		for i, r := range rows {
			after = listCursor{At: r.CreatedAt, ID: r.ID}
			if _, seen := acknowledged[r.ID]; !f.keeps(r, now) || f.Late && !took[r.WorkflowID].late(r, now) || f.Acknowledged != nil && seen != *f.Acknowledged || f.Worker != "" && !here[r.ID] {
				continue
			}
			if out = append(out, r); len(out) == limit && (i < len(rows)-1 || !last) {
				next, err := encodeCursor("instances", after)
				return out, next, err
			}
		}
		if last {
			return out, "", nil
		}
		more = true
		seen += len(heads)
	}
	next, err := encodeCursor("instances", after)
	return out, next, err
}

// onWorker tells which of some instances had an attempt on a worker, by the key of their attempts: no index of attempts has workers,
// since each attempt would write to it.
func (s *Store) onWorker(ctx context.Context, rows []InstanceRow, worker string) (map[int64]bool, error) {
	args := make([]any, 0, len(rows)+1)
	for i := range rows {
		args = append(args, rows[i].ID)
	}
	ids, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) }, `SELECT id FROM workflow_instance
		WHERE id IN (`+marks(len(rows))+`) AND EXISTS (SELECT 1 FROM task_attempt WHERE instance_id = workflow_instance.id AND worker = ?)`, append(args, worker)...)
	if err != nil {
		return nil, fmt.Errorf("look for attempts on %s: %w", worker, err)
	}
	out := make(map[int64]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, nil
}
