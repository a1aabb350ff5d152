package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

const (
	// maxCached bounds what is kept of one workflow, so that a key which is new each time fills no disk. More may
	// stand there until the next sweep.
	maxCached = 1_000
	// sweptWorkflows bounds the workflows of one sweep.
	sweptWorkflows = 16
)

var cacheUpsert = &table{
	name: "task_cache",
	keys: []string{"cache_key"},
	cols: []string{"cache_key", "workflow_id", "task", "instance_id", "attempt", "outputs", "created_at", "expires_at"},
	sets: []string{"instance_id", "attempt", "outputs", "created_at", "expires_at"},
}

// caches keeps what the transitions ask to be kept. Rows come in the order of their keys, so that two masters which
// write the same ones wait for each other in turn.
func (b *batch) caches(ctx context.Context, ops []*operation) error {
	type kept struct {
		dag.CacheEntry
		workflow int64
		task     string
	}
	var all []kept
	for _, o := range ops {
		t := o.commit
		for _, c := range t.Effects.Cached {
			all = append(all, kept{c, t.Instance.Facts.WorkflowID, t.Plan.Definition.Tasks[c.Task].Name})
		}
	}
	slices.SortStableFunc(all, func(x, y kept) int { return strings.Compare(x.Key, y.Key) })
	var args []any
	for i := range all {
		c := &all[i]
		if i+1 < len(all) && all[i+1].Key == c.Key {
			continue // the later one stays
		}
		args = append(args, c.Key, c.workflow, c.task, c.Instance, int64(c.Number), encodeMap(c.Outputs), int64(c.At), int64(c.Until))
	}
	if err := b.rows(ctx, cacheUpsert, b.s.dial.upsert, args); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return nil
}

// Cached returns what is kept under the keys, by key; what has expired is left out.
func (s *Store) Cached(ctx context.Context, keys []string) (map[string]dag.CacheEntry, error) {
	found := make(map[string]dag.CacheEntry, len(keys))
	now := s.millis()
	for chunk := range slices.Chunk(keys, maxStatementRows) {
		args := []any{now}
		for _, key := range chunk {
			args = append(args, key)
		}
		list, err := collect(ctx, s, func(scan func(...any) error) (c dag.CacheEntry, err error) {
			var outputs string
			if err := scan(&c.Key, &c.Instance, &c.Number, &outputs, &c.At, &c.Until); err != nil {
				return c, err
			}
			c.Outputs, err = decodeMap(outputs)
			return c, err
		}, `SELECT cache_key, instance_id, attempt, outputs, created_at, expires_at FROM task_cache
			WHERE +expires_at > ? AND cache_key IN (`+marks(len(chunk))+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("read kept results: %w", err)
		}
		for _, c := range list {
			found[c.Key] = c
		}
	}
	return found, nil
}

// ClearCache deletes what is kept of a workflow, or of its task of that very name alone where one is given, and returns
// how much that was.
func (s *Store) ClearCache(ctx context.Context, workflowID int64, task string) (n int, err error) {
	text, args := `DELETE FROM task_cache WHERE workflow_id = ?`, []any{workflowID}
	if task != "" {
		text, args = text+` AND task = ?`, append(args, task)
	}
	if n, err = s.delete(ctx, text, args); err != nil {
		return 0, fmt.Errorf("clear the cache of workflow %d: %w", workflowID, err)
	}
	return n, nil
}

// sweepCache deletes what has expired, and the oldest of what is too much.
func (s *Store) sweepCache(ctx context.Context) (n int, err error) {
	now := s.millis()
	// What is kept anew meanwhile has another moment.
	n, err = s.sweepCached(ctx, ` AND +expires_at <= ?`, []any{now}, `SELECT cache_key FROM task_cache WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`, now, maxSwept)
	if err != nil {
		return 0, fmt.Errorf("delete expired results: %w", err)
	}
	full, err := collect(ctx, s, scanID,
		`SELECT workflow_id FROM task_cache GROUP BY workflow_id HAVING COUNT(*) > ? ORDER BY workflow_id LIMIT ?`, maxCached, sweptWorkflows)
	if err != nil {
		return n, fmt.Errorf("read workflows with many results: %w", err)
	}
	for _, workflow := range full {
		if n >= maxSwept {
			break
		}
		more, err := s.sweepCached(ctx, ``, nil, `SELECT cache_key FROM task_cache WHERE workflow_id = ? ORDER BY created_at DESC, cache_key LIMIT ? OFFSET ?`,
			workflow, maxSwept-n, maxCached)
		if err != nil {
			return n, fmt.Errorf("delete old results of workflow %d: %w", workflow, err)
		}
		n += more
	}
	return n, nil
}

// sweepCached deletes the rows whose keys a query gives, where they are still as the condition says.
func (s *Store) sweepCached(ctx context.Context, still string, stillArgs []any, query string, args ...any) (int, error) {
	keys, err := collect(ctx, s, func(scan func(...any) error) (key any, err error) {
		var text string
		err = scan(&text)
		return text, err
	}, query, args...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return s.delete(ctx, `DELETE FROM task_cache WHERE cache_key IN (`+marks(len(keys))+`)`+still, append(keys, stillArgs...))
}
