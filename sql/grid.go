package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Cell is one task of an instance as a grid of many instances shows it.
type Cell struct {
	Name                  string
	State                 dag.TaskState
	Attempts              int
	StartedAt, FinishedAt dag.Millis
}

// Cells returns all tasks of an instance in the order of its plan, and of each only what a grid
// shows: a walk along the rows of that instance alone, however many others there are.
func (s *Store) Cells(ctx context.Context, instanceID int64) ([]Cell, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (c Cell, err error) {
		return c, scan(&c.Name, &c.State, &c.Attempts, &c.StartedAt, &c.FinishedAt)
	}, `SELECT name, state, attempts, started_at, finished_at FROM task_instance WHERE instance_id = ? ORDER BY task_index`, instanceID)
	if err != nil {
		return nil, fmt.Errorf("read cells of instance %d: %w", instanceID, err)
	}
	return out, nil
}

// TasksAt returns the task of one index of several instances, at most maxLimit, by instance.
// Instances that have no such index are left out.
func (s *Store) TasksAt(ctx context.Context, index int, instances []int64) (map[int64]TaskRow, error) {
	if len(instances) == 0 {
		return nil, nil
	}
	args := []any{index}
	for _, id := range instances[:min(len(instances), maxLimit)] {
		args = append(args, id)
	}
	rows, err := collect(ctx, s, scanTask, `SELECT `+taskColumns+` FROM task_instance WHERE task_index = ? AND instance_id IN (`+marks(len(args)-1)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("read task %d of %d instances: %w", index, len(instances), err)
	}
	out := make(map[int64]TaskRow, len(rows))
	for _, r := range rows {
		out[r.InstanceID] = r
	}
	return out, nil
}
