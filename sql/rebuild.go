package sql

import (
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Rebuild makes an instance of its rows, ready to be stepped or explained: a new one where it
// has never begun, else as the last commit left it. live are its attempts that are not
// final, and those that were lost last. The error wraps dag.ErrDamaged where the rows contradict each other or the plan.
func Rebuild(plan *dag.Plan, row *InstanceRow, tasks []TaskRow, live []dag.Attempt) (*dag.Instance, error) {
	if row.State == dag.InstanceSubmitted || row.State == dag.InstanceSerialWait && row.Round <= 1 {
		starts, err := startIndexes(plan, row.StartTasks)
		if err != nil {
			return nil, err
		}
		kept := make([]dag.Kept, len(row.Kept))
		for i := range row.Kept {
			if kept[i] = row.Kept[i].Kept; kept[i].Task < 0 || kept[i].Task >= len(plan.Definition.Tasks) || !kept[i].State.Final() {
				return nil, fmt.Errorf("%w: it took over task %d as %q, but version %d has %d tasks", dag.ErrDamaged, kept[i].Task, kept[i].State, row.Version, len(plan.Definition.Tasks))
			}
		}
		in := dag.NewInstance(plan, row.ID, dag.StartOptions{
			Params: row.Params, StartTasks: starts, Scope: row.Scope, DryRun: row.DryRun,
			WorkerGroup: row.WorkerGroup, Priority: row.Priority, OnFailure: row.OnFailure, Kept: kept,
		})
		in.State, in.Seq, in.Limited = row.State, row.Seq, row.Concurrency.Limit > 0
		return in, nil
	}
	in := &dag.Instance{
		ID: row.ID, State: row.State, Reason: row.Reason, Round: row.Round, Seq: row.Seq,
		OnFailure: row.OnFailure, DryRun: row.DryRun, Params: row.Params,
		WorkerGroup: row.WorkerGroup, Priority: row.Priority,
		StartedAt: row.StartedAt, FinishedAt: row.FinishedAt, Deadline: row.Deadline,
		Limited: row.Concurrency.Limit > 0,
		Tasks:   make([]dag.TaskInstance, len(plan.Definition.Tasks)),
	}
	if in.OnFailure == "" { // the start left it to the definition
		in.OnFailure = plan.Definition.OnFailure
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Index < 0 || t.Index >= len(in.Tasks) {
			return nil, fmt.Errorf("%w: there is a row of task %d, but version %d has %d tasks", dag.ErrDamaged, t.Index, row.Version, len(in.Tasks))
		}
		in.Tasks[t.Index] = t.TaskInstance
	}
	if err := dag.Restore(plan, in, live); err != nil {
		return nil, err
	}
	return in, nil
}

func startIndexes(plan *dag.Plan, names []string) ([]int, error) {
	indexes := make([]int, 0, len(names))
	for _, name := range names {
		i, ok := plan.Task(name)
		if !ok {
			return nil, fmt.Errorf("%w: the start names task %q, which the version does not have", dag.ErrDamaged, name)
		}
		indexes = append(indexes, i)
	}
	return indexes, nil
}
