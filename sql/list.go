package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// InstanceFilter says which instances a list shows. ProjectIDs nil is every project, an empty
// list none. From (included) and To (excluded) are of created_at; zero is no bound.
//
// The other fields narrow what the indexes gave, row by row, and hold for Instances alone:
// Version, By (who created it), Param (text that "name=value" of one of its parameters
// contains), LongerThan, which counts up to now for what has not ended, Trigger (what started it),
// Late (see Outline), Worker (who had an attempt of it), and Acknowledged: only those with an acknowledgement that holds, or only
// those without.
type InstanceFilter struct {
	ProjectIDs []int64
	WorkflowID int64
	States     []dag.InstanceState
	From, To   dag.Millis

	// IDs, where there are any, are all that is wanted; only ProjectIDs is heeded beside them.
	IDs []int64

	Version    int
	By, Param  string
	LongerThan time.Duration
	Trigger    Trigger
	Late       bool
	Worker     string

	Acknowledged *bool
}

// instanceStates are all states: an unfiltered list is the merge of one stream of each.
var instanceStates = []dag.InstanceState{
	dag.InstanceSubmitted, dag.InstanceSerialWait, dag.InstanceRunning, dag.InstancePausing, dag.InstancePaused, dag.InstanceStopping,
	dag.InstanceStopped, dag.InstanceFailed, dag.InstanceSuccess, dag.InstanceQuarantined,
}

const (
	// maxStreams bounds the parts of one UNION ALL; SQLite takes 500.
	maxStreams = 100
	// MaxCount bounds what InstanceCounts counts: a count that high means "at least".
	MaxCount = 10000
)

// listCursor is the last instance of a page.
type listCursor struct {
	At dag.Millis
	ID int64
}

// stream is one part of a list that an index gives in its order: it has one state, and at most
// one project or workflow.
type stream struct {
	where string
	args  []any
}

func (f InstanceFilter) streams() []stream {
	states := f.States
	if len(states) == 0 {
		states = instanceStates
	}
	states = slices.Clone(states)
	slices.Sort(states)
	var out []stream
	for _, state := range slices.Compact(states) {
		switch {
		case f.WorkflowID != 0:
			out = append(out, stream{"workflow_id = ? AND state = ?", []any{f.WorkflowID, string(state)}})
		case f.ProjectIDs != nil:
			for _, p := range f.ProjectIDs {
				out = append(out, stream{"project_id = ? AND state = ?", []any{p, string(state)}})
			}
		default:
			out = append(out, stream{"state = ?", []any{string(state)}})
		}
	}
	for i := range out {
		if f.From != 0 {
			out[i].where += " AND created_at >= ?"
			out[i].args = append(out[i].args, f.From)
		}
		if f.To != 0 {
			out[i].where += " AND created_at < ?"
			out[i].args = append(out[i].args, f.To)
		}
	}
	return out
}

// Instances returns a page of the instances that the filter shows, the newest first.
//
// Each state of each project is one stream that an index holds in order: a page reads the
// heads of the streams and merges them, so that it examines limit rows of each at most,
// however rare a state is and however many instances there are.
func (s *Store) Instances(ctx context.Context, f InstanceFilter, page Page) ([]InstanceRow, string, error) {
	var after listCursor
	if err := page.decode("instances", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	visible, err := s.visible(ctx, f)
	if err != nil || !visible {
		return nil, "", err
	}
	if len(f.IDs) > 0 {
		rows, err := s.named(ctx, f)
		return rows, "", err
	}
	if f.narrows() {
		return s.sifted(ctx, f, page.Cursor != "", after, limit)
	}
	heads, err := s.heads(ctx, f.streams(), page.Cursor != "", after, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list instances: %w", err)
	}
	heads, next, err := cut(heads, limit, "instances", func(h listCursor) any { return h })
	if err != nil || len(heads) == 0 {
		return nil, "", err
	}
	rows, err := s.rowsOf(ctx, heads)
	return rows, next, err
}

// named reads instances by their ids, at most maxLimit, in the order of the ids; those of
// other projects are left out.
func (s *Store) named(ctx context.Context, f InstanceFilter) ([]InstanceRow, error) {
	heads := make([]listCursor, 0, len(f.IDs))
	for _, id := range f.IDs[:min(len(f.IDs), maxLimit)] {
		heads = append(heads, listCursor{ID: id})
	}
	rows, err := s.rowsOf(ctx, heads)
	return slices.DeleteFunc(rows, func(r InstanceRow) bool { return f.ProjectIDs != nil && !slices.Contains(f.ProjectIDs, r.ProjectID) }), err
}

// rowsOf reads the instances of some keys, in their order.
func (s *Store) rowsOf(ctx context.Context, heads []listCursor) ([]InstanceRow, error) {
	ids := make([]any, len(heads))
	place := make(map[int64]int, len(heads))
	for i, h := range heads {
		ids[i], place[h.ID] = h.ID, i
	}
	rows, err := collect(ctx, s, scanInstance, selectInstance+` WHERE i.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	slices.SortFunc(rows, func(a, b InstanceRow) int { return place[a.ID] - place[b.ID] })
	return rows, nil
}

// visible tells whether a filter that names a workflow may show it: an index of a workflow's
// instances can't also narrow their projects, of which it has just one.
func (s *Store) visible(ctx context.Context, f InstanceFilter) (bool, error) {
	if f.WorkflowID == 0 || f.ProjectIDs == nil {
		return true, nil
	}
	var project int64
	err := s.read.QueryRowContext(ctx, `SELECT project_id FROM workflow WHERE id = ?`, f.WorkflowID).Scan(&project)
	switch err = explain(err); {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read project of workflow %d: %w", f.WorkflowID, err)
	}
	return slices.Contains(f.ProjectIDs, project), nil
}

// heads returns the first n keys of the merged streams.
func (s *Store) heads(ctx context.Context, streams []stream, more bool, after listCursor, n int) ([]listCursor, error) {
	var out []listCursor
	for part := range slices.Chunk(streams, maxStreams) {
		var text []string
		var args []any
		for _, st := range part {
			where, a := st.where, slices.Clone(st.args)
			if more {
				// The first condition is the range of the index, the second drops the rows of the
				// same millisecond that were shown.
				where += " AND created_at <= ? AND (created_at < ? OR id < ?)"
				a = append(a, after.At, after.At, after.ID)
			}
			text = append(text, `SELECT * FROM (SELECT created_at, id FROM workflow_instance WHERE `+where+
				` ORDER BY created_at DESC, id DESC LIMIT ?) AS h`)
			args = append(append(args, a...), n)
		}
		got, err := collect(ctx, s, func(scan func(...any) error) (h listCursor, err error) {
			return h, scan(&h.At, &h.ID)
		}, strings.Join(text, ` UNION ALL `), args...)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
		slices.SortFunc(out, func(a, b listCursor) int {
			if c := compare(int64(b.At), int64(a.At)); c != 0 {
				return c
			}
			return compare(b.ID, a.ID)
		})
		out = out[:min(len(out), n)]
	}
	return out, nil
}

// InstanceCounts counts the instances that the filter shows, by state, up to MaxCount of each:
// a count of MaxCount means that many or more. States without any are left out.
func (s *Store) InstanceCounts(ctx context.Context, f InstanceFilter) (map[dag.InstanceState]int, error) {
	states := f.States
	if len(states) == 0 {
		states = instanceStates
	}
	out := map[dag.InstanceState]int{}
	visible, err := s.visible(ctx, f)
	if err != nil || !visible {
		return out, err
	}
	for _, state := range states {
		f.States = []dag.InstanceState{state}
		for _, st := range f.streams() {
			n, err := collect(ctx, s, func(scan func(...any) error) (n int, err error) { return n, scan(&n) },
				`SELECT COUNT(*) FROM (SELECT id FROM workflow_instance WHERE `+st.where+` LIMIT ?) AS c`, append(st.args, MaxCount-out[state])...)
			if err != nil {
				return nil, fmt.Errorf("count instances: %w", err)
			}
			if n[0] > 0 {
				out[state] += n[0]
			}
			if out[state] >= MaxCount {
				break
			}
		}
	}
	return out, nil
}
