package sql

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
)

// TimerKey names one firing of a timer.
type TimerKey struct {
	TimerID   int64
	PlannedAt dag.Millis
}

func compareKeys(a, b TimerKey) int {
	return cmp.Or(cmp.Compare(a.TimerID, b.TimerID), cmp.Compare(a.PlannedAt, b.PlannedAt))
}

// TimerTask is one firing of a timer and what came of it.
type TimerTask struct {
	TimerKey
	DueAt     dag.Millis // when a master is to look at it, while its state is an open one
	Bucket    int
	State     timer.State
	Tries     int
	ClaimedBy string     // the master that made the last try
	CalledAt  dag.Millis // of the last try
	CostMS    int64      // of the last try
	Status    int        // of the last answer; 0 where none came
	Response  string     // the beginning of its body
	Error     string     // why the last try failed, or the task was skipped
}

// Open says that it is not at its end.
func (t *TimerTask) Open() bool { return t.State.Open() }

const timerTaskColumns = `timer_id, planned_at, due_at, bucket, state, tries, claimed_by, called_at, cost_ms, status, response, error`

func scanTimerTask(scan func(...any) error) (t TimerTask, err error) {
	return t, scan(&t.TimerID, &t.PlannedAt, &t.DueAt, &t.Bucket, &t.State, &t.Tries, &t.ClaimedBy, &t.CalledAt, &t.CostMS, &t.Status, &t.Response, &t.Error)
}

// DueTimerTask is an open task as a master reads it ahead.
type DueTimerTask struct {
	TimerKey
	DueAt  dag.Millis
	Bucket int
	State  timer.State
}

// DueTimerTasks calls yield with each open task that is due before a moment, in the order of their moments, until
// yield is false. It reads some thousand at a time.
func (s *Store) DueTimerTasks(ctx context.Context, before dag.Millis, yield func(DueTimerTask) bool) error {
	const page = 5000
	after := DueTimerTask{DueAt: -1}
	for {
		some, err := collect(ctx, s, func(scan func(...any) error) (t DueTimerTask, err error) {
			return t, scan(&t.TimerID, &t.PlannedAt, &t.DueAt, &t.Bucket, &t.State)
		}, `SELECT timer_id, planned_at, due_at, bucket, state FROM timer_task WHERE open = 1 AND due_at >= ? AND due_at < ?
			AND (due_at > ? OR bucket > ? OR bucket = ? AND (timer_id > ? OR timer_id = ? AND planned_at > ?))
			ORDER BY due_at, bucket, timer_id, planned_at LIMIT ?`,
			after.DueAt, before, after.DueAt, after.Bucket, after.Bucket, after.TimerID, after.TimerID, after.PlannedAt, page)
		if err != nil {
			return fmt.Errorf("read due tasks of timers: %w", err)
		}
		for _, t := range some {
			if after = t; !yield(t) {
				return nil
			}
		}
		if len(some) < page {
			return nil
		}
	}
}

// TimerClaim asks for a task: who gets it calls, and has until Until to say what came of it.
type TimerClaim struct {
	TimerKey
	Until dag.Millis
}

// ClaimedTimer is a task that the caller has now.
type ClaimedTimer struct {
	TimerKey
	Tries   int // with this one
	DueAt   dag.Millis
	Again   bool // another try's end is not known: the receiver may have been called with the same key
	Failing bool // the timer's last task failed
}

// ClaimTimerTasks takes tasks for an owner, all in one transaction, and returns those that it got: those that are open and
// whose moment has come, or nearly, as timer.ClaimAhead says, and whose timer is enabled. Of two masters that want
// one, one gets it. Tasks that are not to be called any more are skipped. now is by a clock that the caller trusts.
func (s *Store) ClaimTimerTasks(ctx context.Context, owner string, claims []TimerClaim, now dag.Millis) (out []ClaimedTimer, err error) {
	slices.SortFunc(claims, func(a, b TimerClaim) int { return compareKeys(a.TimerKey, b.TimerKey) })
	err = s.write(ctx, func(tx *sqlTx) error {
		out = out[:0]
		tasks, err := s.lockTimerTasks(ctx, tx, keysOf(claims))
		if err != nil {
			return err
		}
		stand, err := standOf(ctx, tx, tasks)
		if err != nil {
			return err
		}
		var rows []any
		var skipped []TimerResult
		for _, c := range claims {
			task, ok := tasks[c.TimerKey]
			if !ok || !task.Open() || task.DueAt > now.Add(timer.ClaimAhead) {
				continue // another master was first
			}
			timerNow, there := stand[task.TimerID]
			switch {
			case !there:
				task.State, task.Error = timer.Skipped, skippedDeleted
			case !timerNow.enabled && task.State == timer.Calling:
				task.State, task.Error = timer.Skipped, skippedUnknown
			case !timerNow.enabled:
				task.State, task.Error = timer.Skipped, skippedDisabled
			case task.State == timer.Planned && now.Sub(task.PlannedAt) > timer.MaxLate:
				task.State, task.Error = timer.Skipped, skippedLate
			default:
				out = append(out, ClaimedTimer{
					TimerKey: c.TimerKey, Tries: task.Tries + 1, DueAt: task.DueAt, Again: task.State == timer.Calling, Failing: timerNow.failing,
				})
				task.State, task.DueAt, task.ClaimedBy, task.Tries = timer.Calling, c.Until, owner, task.Tries+1
			}
			if task.State == timer.Skipped && there {
				skipped = append(skipped, TimerResult{TimerKey: c.TimerKey, ProjectID: timerNow.project, Tries: task.Tries, State: timer.Skipped})
			}
			rows = append(rows, task.TimerID, task.PlannedAt, task.DueAt, flag(task.Open()), string(task.State), task.Tries, task.ClaimedBy, task.Error)
		}
		if err := (&batch{s: s, tx: plainTx{tx, s}}).updates(ctx, timerTaskClaimed, rows, true); err != nil {
			return err
		}
		return s.addDays(ctx, tx, skipped)
	})
	if err != nil {
		return nil, fmt.Errorf("claim %d tasks of timers: %w", len(claims), err)
	}
	return out, nil
}

var timerTaskClaimed = &table{
	name: "timer_task", keys: []string{"timer_id", "planned_at"},
	cols: []string{"timer_id", "planned_at", "due_at", "open", "state", "tries", "claimed_by", "error"},
	sets: []string{"due_at", "open", "state", "tries", "claimed_by", "error"},
}

func keysOf(claims []TimerClaim) []TimerKey {
	keys := make([]TimerKey, len(claims))
	for i, c := range claims {
		keys[i] = c.TimerKey
	}
	return keys
}

// lockTimerTasks locks and reads the tasks of sorted keys.
func (s *Store) lockTimerTasks(ctx context.Context, tx *sqlTx, keys []TimerKey) (map[TimerKey]TimerTask, error) {
	out := make(map[TimerKey]TimerTask, len(keys))
	for chunk := range slices.Chunk(keys, maxStatementRows) {
		args := make([]any, 0, 2*len(chunk))
		for _, k := range chunk {
			args = append(args, k.TimerID, k.PlannedAt)
		}
		rows, err := tx.QueryContext(ctx, `SELECT `+timerTaskColumns+` FROM timer_task WHERE `+s.dial.rowsIn("(timer_id, planned_at)", 2, len(chunk))+
			` ORDER BY timer_id, planned_at`+s.dial.forUpdate(), args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			t, err := scanTimerTask(rows.Scan)
			if err != nil {
				return nil, err
			}
			out[t.TimerKey] = t
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type timerStand struct {
	project          int64
	enabled, failing bool
}

// standOf reads how the timers of tasks stand.
func standOf(ctx context.Context, tx *sqlTx, tasks map[TimerKey]TimerTask) (map[int64]timerStand, error) {
	out := make(map[int64]timerStand)
	var ids []int64
	for k := range tasks {
		ids = append(ids, k.TimerID)
	}
	slices.Sort(ids)
	return out, eachChunk(slices.Compact(ids), func(chunk []any) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, project_id, enabled, failures FROM timer WHERE id IN (`+marks(len(chunk))+`)`, chunk...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, failures int64
			var stand timerStand
			if err := rows.Scan(&id, &stand.project, &stand.enabled, &failures); err != nil {
				return err
			}
			stand.failing = failures > 0
			out[id] = stand
		}
		return rows.Err()
	})
}
