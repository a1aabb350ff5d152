package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// idempotencyKept is how long an Idempotency-Key stands for its answer.
const idempotencyKept = 24 * time.Hour

var instanceInsert = withCommon(&table{
	name: "workflow_instance",
	cols: []string{
		"id", "workflow_id", "project_id", "version", "state", "reason", "round", "owner", "owner_epoch", "crash_count", "seq",
		"write_id", "schedule_time", "trigger_key", "params", "start_tasks", "scope", "dry_run", "worker_group", "priority",
		"on_failure", "rerun_of", "created_by", "created_at", "started_at", "finished_at", "deadline",
		"parent_instance_id", "parent_task", "parent_attempt", "depth", "timezone",
	},
}, map[string]any{
	"state": string(dag.InstanceSubmitted), "reason": "", "round": int64(0), "owner": "", "owner_epoch": int64(0), "crash_count": int64(0),
	"seq": int64(0), "schedule_time": int64(0), "params": "", "start_tasks": "", "scope": "", "dry_run": int64(0), "worker_group": "",
	"on_failure": "", "rerun_of": int64(0), "started_at": int64(0), "finished_at": int64(0), "deadline": int64(0),
	"parent_instance_id": int64(0), "parent_task": "", "parent_attempt": int64(0), "depth": int64(0), "timezone": "",
})

var commandInsert = withCommon(&table{
	name: "command",
	cols: []string{
		"id", "kind", "instance_id", "project_id", "workflow_id", "schedule_time", "trigger_key", "slot", "priority", "created_at",
	},
}, map[string]any{"kind": string(CommandStart), "schedule_time": int64(0)})

var idempotencyInsert = &table{
	name: "idempotency",
	cols: []string{"user_id", "request_key", "hash", "instance_id", "created_at"},
}

// Start makes the instance and its command, in one transaction, and returns the instance's id.
// existed says that an earlier start with the same Idempotency-Key and hash made it, and id is
// that one's. It returns ErrExists where the workflow has an instance of the same schedule
// time and trigger key, and ErrIdempotencyMismatch where the key was used for another request.
// An ID of 0 is taken from NextIDs, and an empty TriggerKey becomes that of a manual start.
func (s *Store) Start(ctx context.Context, st Start) (id int64, existed bool, err error) {
	if st.ID == 0 {
		if st.ID, err = s.NextIDs(ctx, 1); err != nil {
			return 0, false, err
		}
	}
	if st.TriggerKey == "" {
		st.TriggerKey = ManualKey(st.ID)
	}
	st.At = orNow(st.At, s.millis())
	o := &operation{start: &st}
	if err := s.writer.doOrLeave(ctx, o); err != nil {
		return 0, false, fmt.Errorf("start workflow %d: %w", st.WorkflowID, err)
	}
	return o.id, o.existed, nil
}

// ManualKey is the trigger key of instance id where a person or a program started it.
func ManualKey(id int64) string { return fmt.Sprintf("m%d", id) }

type triggerKey struct {
	workflow, schedule int64
	key                string
}

type requestKey struct {
	user int64
	key  string
}

func (st *Start) trigger() triggerKey {
	return triggerKey{st.WorkflowID, int64(st.ScheduleTime), st.TriggerKey}
}

func (st *Start) request() requestKey { return requestKey{st.Idempotency.UserID, st.Idempotency.Key} }

// manual says that the key holds the instance's own id: nobody else can have it.
func (st *Start) manual() bool { return st.ScheduleTime == 0 && st.TriggerKey == ManualKey(st.ID) }

// starts writes the new instances. What is refused is told apart before a row is written:
// a refusal by the database would undo the whole batch.
func (b *batch) starts(ctx context.Context) error {
	var ops []*operation
	for _, o := range b.ops {
		if o.start != nil {
			ops = append(ops, o)
		}
	}
	if len(ops) == 0 {
		return nil
	}
	if err := b.answerRepeats(ctx, ops); err != nil {
		return fmt.Errorf("read idempotency keys: %w", err)
	}
	if err := b.refuseTriggers(ctx, ops); err != nil {
		return fmt.Errorf("read triggers: %w", err)
	}
	starts := make([]*Start, 0, len(ops))
	for _, o := range ops {
		if o.err == nil && !o.existed {
			o.id = o.start.ID
			starts = append(starts, o.start)
		}
	}
	return b.insertStarts(ctx, starts)
}

// insertStarts writes the rows of starts that nothing stands against.
func (b *batch) insertStarts(ctx context.Context, starts []*Start) error {
	var instances, commands, keys, kept []any
	for _, st := range starts {
		instances = append(instances,
			st.ID, st.WorkflowID, st.ProjectID, int64(st.Version), string(dag.InstanceSubmitted), "", int64(0), "", int64(0), int64(0), int64(0),
			b.writeID, int64(st.ScheduleTime), st.TriggerKey, encodeMap(st.Params), encodeList(st.StartTasks), string(st.Scope),
			flag(st.DryRun), st.WorkerGroup, int64(st.Priority), string(st.OnFailure), st.RerunOf, st.By, int64(st.At), int64(0), int64(0), int64(0),
			st.Parent.Instance, st.Parent.Task, int64(st.Parent.Attempt), int64(st.Depth), st.Timezone)
		commands = append(commands, st.ID, string(CommandStart), st.ID, st.ProjectID, st.WorkflowID, int64(st.ScheduleTime), st.TriggerKey,
			st.ID%b.slots, int64(st.Priority), int64(st.At))
		kept = appendKept(kept, st)
		if st.Idempotency.Key != "" {
			keys = append(keys, st.Idempotency.UserID, st.Idempotency.Key, st.Idempotency.Hash, st.ID, int64(st.At))
		}
	}
	if err := b.rows(ctx, instanceInsert, b.s.dial.insert, instances); err != nil {
		return fmt.Errorf("insert instances: %w", err)
	}
	if err := b.rows(ctx, commandInsert, b.s.dial.insert, commands); err != nil {
		return fmt.Errorf("insert commands: %w", err)
	}
	if err := b.rows(ctx, keptInsert, b.s.dial.insert, kept); err != nil {
		return fmt.Errorf("insert kept tasks: %w", err)
	}
	if err := b.rows(ctx, idempotencyInsert, b.s.dial.insert, keys); err != nil {
		return fmt.Errorf("insert idempotency keys: %w", err)
	}
	return b.listen(ctx, starts)
}

// known is what an idempotency row says.
type known struct {
	hash     string
	instance int64
	at       dag.Millis
}

// answerRepeats answers the starts whose Idempotency-Key is known, or stands in this batch before them.
func (b *batch) answerRepeats(ctx context.Context, ops []*operation) error {
	var args []any
	for _, o := range ops {
		if o.start.Idempotency.Key != "" {
			args = append(args, o.start.Idempotency.UserID, o.start.Idempotency.Key)
		}
	}
	if len(args) == 0 {
		return nil
	}
	rows := map[requestKey]known{}
	err := b.eachPair(ctx, `SELECT user_id, request_key, hash, instance_id, created_at FROM idempotency WHERE `,
		"(user_id, request_key)", 2, args, func(scan func(...any) error) error {
			var k requestKey
			var v known
			if err := scan(&k.user, &k.key, &v.hash, &v.instance, &v.at); err != nil {
				return err
			}
			rows[k] = v
			return nil
		})
	if err != nil {
		return err
	}
	for _, o := range ops {
		st := o.start
		if st.Idempotency.Key == "" {
			continue
		}
		v, seen := rows[st.request()]
		if seen && st.At.Sub(v.at) >= idempotencyKept {
			err := b.tx.exec(ctx, `DELETE FROM idempotency WHERE user_id = ? AND request_key = ? AND created_at = ?`,
				[]any{st.Idempotency.UserID, st.Idempotency.Key, int64(v.at)}, anyRows)
			if err != nil {
				return err
			}
			seen = false
		}
		switch {
		case !seen:
			rows[st.request()] = known{st.Idempotency.Hash, st.ID, st.At}
		case v.hash != st.Idempotency.Hash:
			o.err = ErrIdempotencyMismatch
		default:
			o.id, o.existed = v.instance, true
		}
	}
	return nil
}

// refuseTriggers refuses the starts whose trigger already made an instance.
func (b *batch) refuseTriggers(ctx context.Context, ops []*operation) error {
	var args []any
	taken := map[triggerKey]bool{}
	for _, o := range ops {
		if o.err == nil && !o.existed && !o.start.manual() {
			args = append(args, o.start.WorkflowID, int64(o.start.ScheduleTime), o.start.TriggerKey)
		}
	}
	if len(args) == 0 {
		return nil
	}
	err := b.eachPair(ctx, `SELECT workflow_id, schedule_time, trigger_key FROM workflow_instance WHERE `,
		"(workflow_id, schedule_time, trigger_key)", 3, args, func(scan func(...any) error) error {
			var k triggerKey
			if err := scan(&k.workflow, &k.schedule, &k.key); err != nil {
				return err
			}
			taken[k] = true
			return nil
		})
	if err != nil {
		return err
	}
	for _, o := range ops {
		if o.err != nil || o.existed || o.start.manual() {
			continue
		}
		if taken[o.start.trigger()] {
			o.err = ErrExists
		}
		taken[o.start.trigger()] = true
	}
	return nil
}

// eachPair selects the rows whose cols are among args, k values each.
func (b *batch) eachPair(ctx context.Context, text, cols string, k int, args []any, row func(scan func(...any) error) error) error {
	for len(args) > 0 {
		n := b.chunkRows(args, k)
		if err := b.eachRow(ctx, text+b.s.dial.rowsIn(cols, k, n), args[:n*k], row); err != nil {
			return err
		}
		args = args[n*k:]
	}
	return nil
}

// eachRow reads the rows of one SELECT. They are closed when it returns, since the
// transaction takes no other statement before.
func (b *batch) eachRow(ctx context.Context, text string, args []any, row func(scan func(...any) error) error) error {
	rows, err := b.tx.query(ctx, text, args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
