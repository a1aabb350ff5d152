package sql

import (
	"context"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/moment"
)

// The names are joined from the left, so that an instance is never lost with its workflow's row.
const (
	instanceColumns = `i.id, i.workflow_id, i.project_id, COALESCE(p.name, ''), COALESCE(w.name, ''), i.version, i.state, i.reason,
	i.round, i.owner, i.owner_epoch, i.crash_count, i.seq, i.schedule_time, i.trigger_key, i.params, i.start_tasks, i.scope, i.dry_run,
	i.worker_group, i.priority, i.on_failure, i.rerun_of, i.created_by, i.created_at, i.started_at, i.finished_at, i.deadline, i.layout_epoch, i.timezone,
	COALESCE(w.concurrency_limit, 0), COALESCE(w.when_full, ''), COALESCE(w.concurrency_key, ''),
	i.parent_instance_id, i.parent_task, i.parent_attempt, i.depth`
	instanceTables = ` FROM workflow_instance i LEFT JOIN project p ON p.id = i.project_id LEFT JOIN workflow w ON w.id = i.workflow_id`
	selectInstance = `SELECT ` + instanceColumns + instanceTables
)

func scanInstance(scan func(...any) error) (InstanceRow, error) {
	var r InstanceRow
	var params, tasks string
	err := scan(&r.ID, &r.WorkflowID, &r.ProjectID, &r.Project, &r.Workflow, &r.Version, &r.State, &r.Reason,
		&r.Round, &r.Owner, &r.OwnerEpoch, &r.CrashCount, &r.Seq, &r.ScheduleTime, &r.TriggerKey, &params, &tasks, &r.Scope, &r.DryRun,
		&r.WorkerGroup, &r.Priority, &r.OnFailure, &r.RerunOf, &r.CreatedBy, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.Deadline, &r.LayoutEpoch, &r.Timezone,
		&r.Concurrency.Limit, &r.Concurrency.WhenFull, &r.Concurrency.Key,
		&r.Parent.Instance, &r.Parent.Task, &r.Parent.Attempt, &r.Depth)
	if err != nil {
		return r, err
	}
	if r.Params, err = decodeMap(params); err != nil {
		return r, fmt.Errorf("params of instance %d: %w", r.ID, err)
	}
	if r.StartTasks, err = decodeList(tasks); err != nil {
		return r, fmt.Errorf("start_tasks of instance %d: %w", r.ID, err)
	}
	return r, nil
}

// Trigger is what started an instance.
type Trigger string

// The triggers; TriggerEnd is the end of another workflow's instance.
const (
	TriggerManual   Trigger = "manual"
	TriggerSchedule Trigger = "schedule"
	TriggerEnd      Trigger = "end"
	TriggerWebhook  Trigger = "webhook"
	TriggerBackfill Trigger = "backfill"
	TriggerChild    Trigger = "child"
	TriggerRerun    Trigger = "rerun"
)

// Trigger tells what started the instance, from the key that it was started under.
func (r *InstanceRow) Trigger() Trigger {
	_, scheduled := ScheduleOf(r.TriggerKey)
	_, filled := BackfillOf(r.TriggerKey)
	switch {
	case r.RerunOf != 0:
		return TriggerRerun
	case r.Parent.Instance != 0:
		return TriggerChild
	case filled:
		return TriggerBackfill
	case scheduled && strings.HasSuffix(r.TriggerKey, ":call"):
		return TriggerWebhook
	case scheduled && strings.Contains(r.TriggerKey, ":") && !strings.Contains(r.TriggerKey, ":now:"):
		return TriggerEnd
	case scheduled:
		return TriggerSchedule
	}
	return TriggerManual
}

// Facts are what the parameters of the instance's tasks are told of it.
func (r *InstanceRow) Facts() (dag.Facts, error) {
	location, err := moment.Location(r.Timezone)
	if err != nil {
		return dag.Facts{}, fmt.Errorf("instance %d: %w", r.ID, err)
	}
	return dag.Facts{
		Project: r.Project, Workflow: r.Workflow, ProjectID: r.ProjectID, WorkflowID: r.WorkflowID, Version: r.Version,
		ScheduleTime: r.ScheduleTime, Now: r.CreatedAt, Location: location, Depth: r.Depth, By: r.CreatedBy,
	}, nil
}

// Instance returns one instance, or ErrNotFound.
func (s *Store) Instance(ctx context.Context, id int64) (InstanceRow, error) {
	r, err := scanInstance(s.read.QueryRowContext(ctx, selectInstance+` WHERE i.id = ?`, id).Scan)
	if err != nil {
		return InstanceRow{}, fmt.Errorf("read instance %d: %w", id, explain(err))
	}
	return r, nil
}

const taskColumns = `instance_id, task_index, name, type, state, reason, round, attempts, retries, lost, ready_at, next_at, started_at, finished_at, outputs, child_id, iteration, avoid_worker, items`

func scanTask(scan func(...any) error) (TaskRow, error) {
	var t TaskRow
	var outputs string
	err := scan(&t.InstanceID, &t.Index, &t.Name, &t.Type, &t.State, &t.Reason, &t.Round, &t.Attempts, &t.Retries, &t.Lost,
		&t.ReadyAt, &t.NextAt, &t.StartedAt, &t.FinishedAt, &outputs, &t.Child, &t.Iteration, &t.AvoidWorker, &t.ItemCount)
	if err != nil {
		return t, err
	}
	if t.Outputs, err = decodeMap(outputs); err != nil {
		return t, fmt.Errorf("outputs of task %q of instance %d: %w", t.Name, t.InstanceID, err)
	}
	return t, nil
}

const attemptColumns = `instance_id, task_index, number, round, token, worker, incarnation, state, reason, kill_reason, message, dispatched_at,
	started_at, finished_at, deadline, exit_code, tail, log_bytes, outputs, child_id, iteration, cache_key, cached_from`

func scanAttempt(scan func(...any) error) (AttemptRow, error) {
	var a AttemptRow
	var outputs string
	err := scan(&a.InstanceID, &a.Task, &a.Number, &a.Round, &a.Token, &a.Worker, &a.Incarnation, &a.State, &a.Reason, &a.KillReason,
		&a.Message, &a.DispatchedAt, &a.StartedAt, &a.FinishedAt, &a.Deadline, &a.ExitCode, &a.Tail, &a.LogBytes, &outputs, &a.Child, &a.Iteration,
		&a.CacheKey, &a.CachedFrom)
	if err != nil {
		return a, err
	}
	if len(a.Tail) == 0 {
		a.Tail = nil
	}
	if a.Outputs, err = decodeMap(outputs); err != nil {
		return a, fmt.Errorf("outputs of task %d of instance %d: %w", a.Task, a.InstanceID, err)
	}
	return a, nil
}

// Tasks returns a page of an instance's tasks, in the order of the plan.
func (s *Store) Tasks(ctx context.Context, instanceID int64, page Page) ([]TaskRow, string, error) {
	var after keyCursor
	if err := page.decode("tasks", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	start := int64(-1)
	if page.Cursor != "" {
		start = after.Key
	}
	out, err := collect(ctx, s, scanTask, `SELECT `+taskColumns+` FROM task_instance WHERE instance_id = ? AND task_index > ?
		ORDER BY task_index LIMIT ?`, instanceID, start, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read tasks of instance %d: %w", instanceID, err)
	}
	if err := s.items(ctx, out); err != nil {
		return nil, "", err
	}
	return cut(out, limit, "tasks", func(t TaskRow) any { return keyCursor{int64(t.Index)} })
}

// Task returns the task of that very name, or ErrNotFound.
func (s *Store) Task(ctx context.Context, instanceID int64, name string) (TaskRow, error) {
	t, err := scanTask(s.read.QueryRowContext(ctx, `SELECT `+taskColumns+` FROM task_instance WHERE instance_id = ? AND name = ?`, instanceID, name).Scan)
	if err != nil {
		return TaskRow{}, fmt.Errorf("read task %q of instance %d: %w", name, instanceID, explain(err))
	}
	return t, nil
}

// maxAttempts bounds the attempts that one read returns: the latest ones.
const maxAttempts = 1000

// Attempts returns the attempts of a task, the latest first.
func (s *Store) Attempts(ctx context.Context, instanceID int64, task int) ([]AttemptRow, error) {
	out, err := collect(ctx, s, scanAttempt, `SELECT `+attemptColumns+` FROM task_attempt WHERE instance_id = ? AND task_index = ?
		ORDER BY number DESC LIMIT ?`, instanceID, task, maxAttempts)
	if err != nil {
		return nil, fmt.Errorf("read attempts of task %d of instance %d: %w", task, instanceID, err)
	}
	return out, nil
}

// LiveAttempts returns the attempts of an instance that are not final, by task.
func (s *Store) LiveAttempts(ctx context.Context, instanceID int64) ([]dag.Attempt, error) {
	rows, err := collect(ctx, s, scanAttempt, `SELECT `+attemptColumns+` FROM task_attempt WHERE instance_id = ?
		AND state IN ('dispatched', 'running', 'killing') ORDER BY task_index, number`, instanceID)
	if err != nil {
		return nil, fmt.Errorf("read live attempts of instance %d: %w", instanceID, err)
	}
	out := make([]dag.Attempt, len(rows))
	for i := range rows {
		out[i] = rows[i].Attempt
	}
	return out, nil
}

// Attempt returns one attempt, or ErrNotFound.
func (s *Store) Attempt(ctx context.Context, instanceID int64, task, number int) (AttemptRow, error) {
	a, err := scanAttempt(s.read.QueryRowContext(ctx, `SELECT `+attemptColumns+` FROM task_attempt
		WHERE instance_id = ? AND task_index = ? AND number = ?`, instanceID, task, number).Scan)
	if err != nil {
		return AttemptRow{}, fmt.Errorf("read attempt %d of task %d of instance %d: %w", number, task, instanceID, explain(err))
	}
	return a, nil
}

// maxEvents bounds the events that one read returns.
const maxEvents = 1000

// Events returns up to limit events of an instance with a seq above afterSeq, in order.
func (s *Store) Events(ctx context.Context, instanceID, afterSeq int64, limit int) ([]EventRow, error) {
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	out, err := collect(ctx, s, func(scan func(...any) error) (e EventRow, err error) {
		return e, scan(&e.InstanceID, &e.Seq, &e.At, &e.Code, &e.Task, &e.Attempt, &e.Round, &e.State, &e.Reason, &e.Message, &e.By,
			&e.Warning, &e.TaskName)
	}, `SELECT e.instance_id, e.seq, e.created_at, e.code, e.task_index, e.attempt, e.round, e.state, e.reason, e.message, e.requested_by,
		e.warning, COALESCE(t.name, '') FROM event e LEFT JOIN task_instance t ON t.instance_id = e.instance_id AND t.task_index = e.task_index
		WHERE e.instance_id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, instanceID, afterSeq, limit)
	if err != nil {
		return nil, fmt.Errorf("read events of instance %d: %w", instanceID, err)
	}
	return out, nil
}
