package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

const (
	// maxRetired bounds the instances that one transaction deletes: a row each. Whoever comes meanwhile waits for it: with 128, and
	// 2,048 rows of the others, a start's p99 rose to 1.8 times.
	maxRetired = 16
	// maxRestRows bounds, about, the rows of tasks, attempts and events that one transaction deletes.
	maxRestRows = 256
)

var retiredUpsert = &table{name: "retired", cols: []string{"workflow_id", "up_to"}}

var restInsert = &table{name: "instance_rest", cols: []string{"instance_id", "events"}}

// finalStates are those that are not among openStates.
var finalStates = []dag.InstanceState{dag.InstanceFailed, dag.InstanceQuarantined, dag.InstanceStopped, dag.InstanceSuccess}

// Retire deletes a batch of the instances and backfills that ended until a moment, the oldest first, and returns how many
// rows it deleted; 0 says that nothing is left to delete. An instance disappears at once and whole for whoever asks; its
// tasks, attempts and events follow in later batches, also after a crash. It keeps, whatever their age, those that
// somebody waits for: an instance with a wish or a command, or whose deliveries are under way, and a child as long
// as its parent is there. Several processes may call it together.
func (s *Store) Retire(ctx context.Context, until dag.Millis) (int, error) {
	for _, state := range finalStates {
		ids, err := s.retirable(ctx, `i.state = ? AND i.created_at <= ? AND i.finished_at <= ?`, `i.created_at, i.id`, string(state), until, until)
		if err != nil {
			return 0, err
		}
		if n, err := s.retire(ctx, ids); err != nil || n > 0 {
			return n, err
		}
	}
	if n, err := s.sweepRests(ctx); err != nil || n > 0 {
		return n, err
	}
	return s.retireBackfills(ctx, until)
}

// RetireSurplus deletes a batch of those instances of one workflow that are over and beyond the newest of that many,
// as Retire does.
func (s *Store) RetireSurplus(ctx context.Context, workflowID int64, each int) (int, error) {
	newest, err := collect(ctx, s, scanID, `SELECT id FROM workflow_instance WHERE workflow_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?`, workflowID, each)
	if err != nil {
		return 0, fmt.Errorf("find what workflow %d has too many: %w", workflowID, err)
	}
	if len(newest) == 0 {
		return 0, nil
	}
	ids, err := s.retirable(ctx, `i.workflow_id = ? AND i.state NOT IN (`+openStates+`) AND i.id <= ?`, `i.id`, workflowID, newest[0])
	if err != nil {
		return 0, err
	}
	return s.retire(ctx, ids)
}

// Surplus returns the workflows with more instances than each. It reads an index from end to end.
func (s *Store) Surplus(ctx context.Context, each int) ([]int64, error) {
	out, err := collect(ctx, s, scanID, `SELECT workflow_id FROM workflow_instance GROUP BY workflow_id HAVING COUNT(*) > ? ORDER BY workflow_id`, each)
	if err != nil {
		return nil, fmt.Errorf("count instances of workflows: %w", err)
	}
	return out, nil
}

func scanID(scan func(...any) error) (id int64, err error) { return id, scan(&id) }

// awaited are instances that nobody may delete yet.
const awaited = `i.owner <> '' OR EXISTS (SELECT 1 FROM workflow_instance p WHERE p.id = i.parent_instance_id)
	OR EXISTS (SELECT 1 FROM command c WHERE c.id = i.id) OR EXISTS (SELECT 1 FROM control w WHERE w.instance_id = i.id AND w.applied_at = 0)
	OR EXISTS (SELECT 1 FROM delivery d WHERE d.instance_id = i.id AND d.state NOT IN ('idle', 'dead'))`

// retirable returns a batch of the instances which that finds and nobody awaits.
func (s *Store) retirable(ctx context.Context, found, order string, args ...any) ([]int64, error) {
	ids, err := collect(ctx, s, scanID, `SELECT i.id FROM workflow_instance i WHERE `+found+` AND NOT (`+awaited+`) ORDER BY `+order+` LIMIT ?`,
		append(args, maxRetired)...)
	if err != nil {
		return nil, fmt.Errorf("find old instances: %w", err)
	}
	return ids, nil
}

// retire deletes those of the instances that are over and that nobody awaits still, and leaves the rest of their
// rows for later. Its order of locks is that of all writers.
func (s *Store) retire(ctx context.Context, ids []int64) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		b := &batch{s: s, tx: plainTx{tx, s}}
		var gone []int64
		var rests, newest []any
		args := make([]any, len(ids))
		for i, id := range ids {
			args[i] = id
		}
		if s.dial.mysql {
			// Whoever adds a wish locks the instance, too.
			if err := b.eachRow(ctx, `SELECT id FROM workflow_instance WHERE id IN (`+marks(len(ids))+`) ORDER BY id FOR UPDATE`, args, func(func(...any) error) error { return nil }); err != nil {
				return err
			}
		}
		upTo := map[int64]int64{} // by workflow
		err := b.eachRow(ctx, `SELECT i.id, i.seq, i.workflow_id, i.trigger_key FROM workflow_instance i WHERE i.id IN (`+marks(len(ids))+`) AND i.state NOT IN (`+openStates+`) AND NOT (`+awaited+`) ORDER BY i.id`, args,
			func(scan func(...any) error) error {
				var id, events, workflow int64
				var key string
				err := scan(&id, &events, &workflow, &key)
				gone, rests = append(gone, id), append(rests, id, events)
				if _, ok := ScheduleOf(key); ok {
					upTo[workflow] = id // they come in order
				}
				return err
			})
		if err != nil {
			return err
		}
		for _, workflow := range slices.Sorted(maps.Keys(upTo)) {
			newest = append(newest, workflow, upTo[workflow])
		}
		if err := b.rows(ctx, retiredUpsert, func(t *table, n int) string {
			given := s.dial.given("up_to")
			return s.dial.insert(t, n) + s.dial.onConflict("workflow_id") + `up_to = CASE WHEN ` + given + ` > retired.up_to THEN ` + given + ` ELSE retired.up_to END`
		}, newest); err != nil {
			return err
		}
		if err := b.rows(ctx, restInsert, s.dial.insert, rests); err != nil {
			return err
		}
		n = len(gone)
		return b.execIDs(ctx, `DELETE FROM workflow_instance WHERE id IN (%s)`, gone)
	})
	if err != nil {
		return 0, fmt.Errorf("delete old instances: %w", err)
	}
	return n, nil
}

// RetiredUpTo returns the newest instance that schedules started of a workflow and that retention has deleted; 0 for none. One
// that is gone and not newer may be gone for that.
func (s *Store) RetiredUpTo(ctx context.Context, workflowID int64) (id int64, err error) {
	err = explain(s.read.QueryRowContext(ctx, `SELECT up_to FROM retired WHERE workflow_id = ?`, workflowID).Scan(&id))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, fmt.Errorf("read what was retired of workflow %d: %w", workflowID, err)
	}
	return id, nil
}
