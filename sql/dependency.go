package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
)

// maxRuns bounds the instances that one item of a dependency looks at: a month of runs every ten minutes.
// Of more, those of the latest moments count.
const maxRuns = 5_000

// Asker is the instance whose dependent task asks.
type Asker struct {
	Instance   int64
	WorkflowID int64
	// At is the moment that the instance is about, in the location of its calendar.
	At time.Time
}

// Dependency returns what is known of an item of a dependency, with the id of the workflow that it names, 0
// where there is none.
func (s *Store) Dependency(ctx context.Context, item interval.Item, by Asker) (interval.Facts, int64, error) {
	facts, workflow, err := s.dependency(ctx, item, by)
	if err != nil {
		return interval.Facts{}, 0, fmt.Errorf("read runs of workflow %q: %w", item.Workflow, err)
	}
	return facts, workflow, nil
}

func (s *Store) dependency(ctx context.Context, item interval.Item, by Asker) (facts interval.Facts, workflow int64, err error) {
	p, err := s.Project(ctx, item.Project)
	if errors.Is(err, ErrNotFound) {
		return interval.Facts{Gone: interval.GoneProject}, 0, nil
	} else if err != nil {
		return facts, 0, err
	}
	w, err := s.Workflow(ctx, p.ID, item.Workflow)
	if errors.Is(err, ErrNotFound) {
		return interval.Facts{Gone: interval.GoneWorkflow}, 0, nil
	} else if err != nil {
		return facts, 0, err
	}
	span, err := interval.Span(item.Date, by.At)
	if err != nil {
		return facts, w.ID, nil // Judge says so
	}
	if facts.Runs, err = s.runs(ctx, w.ID, span); err != nil {
		return facts, 0, err
	}
	if item.Task != "" {
		if err := s.taskOutcomes(ctx, item.Task, facts.Runs); err != nil {
			return facts, 0, err
		}
	}
	if w.ID == by.WorkflowID {
		facts.Own = by.Instance
		facts.First, err = s.firstRun(ctx, w.ID, by)
	}
	return facts, w.ID, err
}

// runs are the instances of a workflow whose moment lies in a stretch of time. A start by hand has that of its
// submission.
func (s *Store) runs(ctx context.Context, workflow int64, span interval.Interval) ([]interval.Run, error) {
	from, to := dag.MillisOf(span.From), dag.MillisOf(span.To)
	args := []any{workflow, from, to, workflow}
	for _, state := range instanceStates {
		args = append(args, string(state))
	}
	args = append(args, from, to, maxRuns)
	const columns = `SELECT id, schedule_time, created_at, state, dry_run, start_tasks FROM workflow_instance `
	// The first part walks the index on triggers, the second that on states.
	return collect(ctx, s, scanRun, `SELECT * FROM (`+columns+`WHERE workflow_id = ? AND schedule_time >= ? AND schedule_time < ? AND schedule_time > 0
		UNION ALL `+columns+`WHERE workflow_id = ? AND state IN (`+marks(len(instanceStates))+`) AND created_at >= ? AND created_at < ? AND schedule_time = 0) r
		ORDER BY CASE WHEN schedule_time > 0 THEN schedule_time ELSE created_at END DESC, id DESC LIMIT ?`, args...)
}

func scanRun(scan func(...any) error) (interval.Run, error) {
	var r interval.Run
	var scheduled, created dag.Millis
	var tasks string
	if err := scan(&r.ID, &scheduled, &created, &r.State, &r.DryRun, &tasks); err != nil {
		return r, err
	}
	if scheduled != 0 {
		r.ScheduleTime = scheduled.Time()
	}
	r.SubmittedAt, r.Partial = created.Time(), tasks != ""
	switch state := dag.InstanceState(r.State); {
	case state == dag.InstanceSuccess:
		r.Outcome = interval.OutcomeSuccess
	case state.Final():
		r.Outcome = interval.OutcomeFailure
	default:
		r.Outcome = interval.OutcomeOpen
	}
	return r, nil
}

// taskOutcomes sets what became of a task in each of the runs.
func (s *Store) taskOutcomes(ctx context.Context, name string, runs []interval.Run) error {
	at := make(map[int64]int, len(runs))
	ids := make([]int64, len(runs))
	for i := range runs {
		ids[i], at[runs[i].ID] = runs[i].ID, i
		if dag.InstanceState(runs[i].State) != dag.InstanceSubmitted && dag.InstanceState(runs[i].State) != dag.InstanceSerialWait {
			runs[i].Outcome = interval.OutcomeAbsent
		}
	}
	type outcome struct {
		instance int64
		state    dag.TaskState
	}
	return eachChunk(ids, func(chunk []any) error {
		rows, err := collect(ctx, s, func(scan func(...any) error) (o outcome, err error) {
			return o, scan(&o.instance, &o.state)
		}, `SELECT instance_id, state FROM task_instance WHERE instance_id IN (`+marks(len(chunk))+`) AND name = ?`, append(chunk, name)...)
		for _, o := range rows {
			r := &runs[at[o.instance]]
			switch o.state {
			case dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskSkipped, dag.TaskDisabled:
				r.Outcome = interval.OutcomeSuccess
			case dag.TaskFailed, dag.TaskKilled, dag.TaskUpstreamFailed:
				r.Outcome = interval.OutcomeFailure
			case dag.TaskWaiting, dag.TaskReady, dag.TaskDispatched, dag.TaskRunning, dag.TaskRetryWait, dag.TaskKilling:
				r.Outcome = interval.OutcomeOpen
			}
			r.State = string(o.state)
		}
		return err
	})
}

// firstRun says that a workflow has no run of an earlier moment than the one that asks.
func (s *Store) firstRun(ctx context.Context, workflow int64, by Asker) (bool, error) {
	at := dag.MillisOf(by.At)
	args := []any{workflow, at, workflow}
	for _, state := range instanceStates {
		args = append(args, string(state))
	}
	earlier, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT id FROM (SELECT id FROM workflow_instance WHERE workflow_id = ? AND schedule_time > 0 AND schedule_time < ?
		UNION ALL SELECT id FROM workflow_instance WHERE workflow_id = ? AND state IN (`+marks(len(instanceStates))+
			`) AND created_at < ? AND schedule_time = 0 AND id <> ?) r LIMIT 1`, append(args, at, by.Instance)...)
	return len(earlier) == 0, err
}

// RunOutputs returns what the instances put out, those of a later one over those of an earlier: of one task,
// or of all where task is "".
func (s *Store) RunOutputs(ctx context.Context, instances []int64, task string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range instances {
		rows, err := collect(ctx, s, scanTask, `SELECT `+taskColumns+` FROM task_instance WHERE instance_id = ? AND outputs <> ''
			ORDER BY finished_at, task_index`, id)
		if err != nil {
			return nil, fmt.Errorf("read outputs of instance %d: %w", id, err)
		}
		for _, t := range rows {
			if task == "" || t.Name == task {
				maps.Copy(out, t.Outputs)
			}
		}
	}
	return out, nil
}
