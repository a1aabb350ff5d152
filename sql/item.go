package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// itemUpsert writes the children of dynamic tasks. What a row holds beyond its task's count of items is of an
// earlier round, and is written anew when it is needed again.
var itemUpsert = &table{
	name: "task_item",
	keys: []string{"instance_id", "task_index", "item_index"},
	cols: []string{"instance_id", "task_index", "item_index", "state", "child_id", "workflow_id", "project_id", "version", "params", "outputs"},
	sets: []string{"state", "child_id", "workflow_id", "project_id", "version", "params", "outputs"},
}

// appendItems adds the items that changed and are still there at the end of the transition, each once.
func appendItems(args []any, t *Transition) []any {
	seen := make(map[dag.ItemRef]bool, len(t.Effects.Items))
	for _, ref := range t.Effects.Items {
		items := t.Instance.Tasks[ref.Task].Items
		if seen[ref] || ref.Index >= len(items) {
			continue
		}
		seen[ref] = true
		m := &items[ref.Index]
		args = append(args, t.Instance.ID, int64(ref.Task), int64(ref.Index), string(m.State), m.Child, m.WorkflowID, m.ProjectID,
			int64(m.Version), encodeMap(m.Params), encodeMap(m.Outputs))
	}
	return args
}

// items reads the children of those of the tasks that are dynamic, each into its task.
func (s *Store) items(ctx context.Context, tasks []TaskRow) error {
	for i := range tasks {
		t := &tasks[i]
		if t.ItemCount == 0 {
			continue
		}
		items, err := collect(ctx, s, scanItem, `SELECT state, child_id, workflow_id, project_id, version, params, outputs FROM task_item
			WHERE instance_id = ? AND task_index = ? AND item_index < ? ORDER BY item_index`, t.InstanceID, t.Index, t.ItemCount)
		if err != nil {
			return fmt.Errorf("read items of task %q of instance %d: %w", t.Name, t.InstanceID, err)
		}
		if len(items) != t.ItemCount {
			return fmt.Errorf("%w: task %q of instance %d has %d items, there are %d rows", dag.ErrDamaged, t.Name, t.InstanceID, t.ItemCount, len(items))
		}
		t.Items = items
	}
	return nil
}

func scanItem(scan func(...any) error) (m dag.Item, err error) {
	var params, outputs string
	if err = scan(&m.State, &m.Child, &m.WorkflowID, &m.ProjectID, &m.Version, &params, &outputs); err != nil {
		return m, err
	}
	if m.Params, err = decodeMap(params); err != nil {
		return m, fmt.Errorf("params: %w", err)
	}
	if m.Outputs, err = decodeMap(outputs); err != nil {
		return m, fmt.Errorf("outputs: %w", err)
	}
	return m, nil
}

// ItemCount is how many of the items of a dynamic task are in one state.
type ItemCount struct {
	Task  int // its index
	State dag.ItemState
	Count int
}

// ItemCounts counts the items of all dynamic tasks of an instance by their state.
func (s *Store) ItemCounts(ctx context.Context, instanceID int64) ([]ItemCount, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (c ItemCount, err error) { return c, scan(&c.Task, &c.State, &c.Count) },
		`SELECT m.task_index, m.state, COUNT(*) FROM task_instance t JOIN task_item m ON m.instance_id = t.instance_id AND m.task_index = t.task_index
		WHERE t.instance_id = ? AND t.items > 0 AND m.item_index < t.items GROUP BY m.task_index, m.state ORDER BY m.task_index, m.state`, instanceID)
	if err != nil {
		return nil, fmt.Errorf("count items of instance %d: %w", instanceID, err)
	}
	return out, nil
}
