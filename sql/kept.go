package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// KeptTask is a task that an instance took over from the one that it runs again.
type KeptTask struct {
	dag.Kept
	// FromInstance and FromAttempt are where it ran; FromAttempt is 0 where it ended without an attempt.
	FromInstance int64
	FromAttempt  int
}

var keptInsert = &table{
	name: "kept_task",
	cols: []string{"instance_id", "task_index", "from_instance_id", "from_attempt", "state", "reason", "outputs", "finished_at"},
}

func appendKept(args []any, st *Start) []any {
	for i := range st.Kept {
		k := &st.Kept[i]
		args = append(args, st.ID, int64(k.Task), k.FromInstance, int64(k.FromAttempt), string(k.State), string(k.Reason), encodeMap(k.Outputs), int64(k.FinishedAt))
	}
	return args
}

// Kept returns the tasks that an instance took over, in the order of the plan.
func (s *Store) Kept(ctx context.Context, instance int64) ([]KeptTask, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (k KeptTask, err error) {
		var outputs string
		if err := scan(&k.Task, &k.FromInstance, &k.FromAttempt, &k.State, &k.Reason, &outputs, &k.FinishedAt); err != nil {
			return k, err
		}
		k.Outputs, err = decodeMap(outputs)
		return k, err
	}, `SELECT task_index, from_instance_id, from_attempt, state, reason, outputs, finished_at FROM kept_task WHERE instance_id = ? ORDER BY task_index`, instance)
	if err != nil {
		return nil, fmt.Errorf("read kept tasks of instance %d: %w", instance, err)
	}
	return out, nil
}

// NeedsKept says that Rebuild wants Kept to be filled: the instance runs another one again and has not begun.
func (r *InstanceRow) NeedsKept() bool {
	return r.RerunOf != 0 && (r.State == dag.InstanceSubmitted || r.State == dag.InstanceSerialWait && r.Round <= 1)
}
