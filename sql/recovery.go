package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// RecoveryState says how far a recovery is.
type RecoveryState string

// The states of a recovery.
const (
	RecoveryAsked   RecoveryState = "asked"   // the owner has yet to answer
	RecoveryApplied RecoveryState = "applied" // the owner did what it could, and the step is watched
	RecoveryDone    RecoveryState = "done"    // the step moved on
	RecoveryError   RecoveryState = "error"   // given up: somebody must look
)

// What can be stuck beside an attempt, whose step is its state.
const (
	StepStart   = "start"   // an instance without owner and without command
	StepCommand = "command" // a command that nobody takes
)

// RecoveryRow is one thing that got stuck, and what was done about it. Task is -1 where it is no
// attempt.
type RecoveryRow struct {
	ID         int64
	InstanceID int64
	Task       int
	Attempt    int
	Step       string
	State      RecoveryState
	Failures   int
	GiveUp     bool
	Fence      int64
	FirstAt    dag.Millis
	AskedAt    dag.Millis
	CompleteBy dag.Millis
	AnsweredAt dag.Millis
	AnsweredBy string
	Result     string
}

const recoveryColumns = `id, instance_id, task_index, attempt, step, state, failures, give_up, fence, first_at, asked_at, complete_by,
	answered_at, answered_by, result`

func scanRecovery(scan func(...any) error) (r RecoveryRow, err error) {
	return r, scan(&r.ID, &r.InstanceID, &r.Task, &r.Attempt, &r.Step, &r.State, &r.Failures, &r.GiveUp, &r.Fence, &r.FirstAt, &r.AskedAt,
		&r.CompleteBy, &r.AnsweredAt, &r.AnsweredBy, &r.Result)
}

// AskRecovery is one look of the supervisor: it asks for the recoveries and closes those of steps
// that moved on, in one transaction that compares the fence; ErrStale says that another one
// supervises. Asking for attempts leaves their rows to their owner. An instance without owner
// gets a command, if it still needs one; a command that nobody takes is lent to all.
func (s *Store) AskRecovery(ctx context.Context, fence int64, now dag.Millis, asks []RecoveryRow) error {
	first, err := s.NextIDs(ctx, 2*max(1, len(asks)))
	if err != nil {
		return fmt.Errorf("ask for recovery: %w", err)
	}
	cluster, err := s.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("ask for recovery: %w", err)
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		err := metOne(tx.ExecContext(ctx, `UPDATE supervisor SET looked_at = ? WHERE one = 1 AND fence = ?`, now, fence))
		if errors.Is(err, ErrNotFound) {
			return ErrStale
		}
		if err != nil {
			return err
		}
		for i, r := range asks {
			r.ID, r.Fence, r.AskedAt = first+int64(2*i), fence, now
			needed := true
			switch r.Step {
			case StepStart:
				needed, err = s.resumeOrphan(ctx, tx, r.InstanceID, r.ID+1, int64(cluster.Slots), now)
			case StepCommand:
				_, err = tx.ExecContext(ctx, `UPDATE command SET lent = 1 WHERE instance_id = ? AND id = ?`, r.InstanceID, r.Attempt)
			}
			if err == nil && needed {
				err = s.saveRecovery(ctx, tx, r)
			}
			if err != nil {
				return err
			}
		}
		return closeRecoveries(ctx, tx, now)
	})
	if err != nil {
		return fmt.Errorf("ask for %d recoveries: %w", len(asks), err)
	}
	return nil
}

// saveRecovery writes a request over the one before. failures is its caller's count.
func (s *Store) saveRecovery(ctx context.Context, tx *sqlTx, r RecoveryRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO recovery (`+recoveryColumns+`) VALUES (`+marks(15)+`)`+s.dial.onConflict("instance_id, task_index, attempt, step")+
		s.dial.givenAll("state", "failures", "give_up", "fence", "asked_at", "complete_by", "answered_at", "answered_by", "result"),
		r.ID, r.InstanceID, r.Task, r.Attempt, r.Step, string(RecoveryAsked), r.Failures, flag(r.GiveUp), r.Fence, r.AskedAt, r.AskedAt, r.CompleteBy, 0, "", "")
	return err
}

// resumeOrphan gives an instance without owner a command, unless it has found either meanwhile.
func (s *Store) resumeOrphan(ctx context.Context, tx *sqlTx, instance, command, slots int64, now dag.Millis) (bool, error) {
	var owner string
	var project, priority, commands int64
	err := tx.QueryRowContext(ctx, `SELECT owner, project_id, priority FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), instance).
		Scan(&owner, &project, &priority)
	if err != nil {
		return false, explain(err)
	}
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM command WHERE instance_id = ?`, instance).Scan(&commands); err != nil {
		return false, err
	}
	if owner != "" || commands > 0 {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, s.dial.insert(commandInsert, 1), command, string(CommandResume), instance, project, nil, nil, nil,
		command%slots, priority, now)
	return true, err
}

// closeRecoveries notes which of the open ones have moved on.
func closeRecoveries(ctx context.Context, tx *sqlTx, now dag.Millis) error {
	for _, still := range []string{
		`task_index >= 0 AND NOT EXISTS (SELECT 1 FROM task_attempt a WHERE a.instance_id = recovery.instance_id
			AND a.task_index = recovery.task_index AND a.number = recovery.attempt AND a.state = recovery.step)`,
		`step = 'start' AND EXISTS (SELECT 1 FROM workflow_instance i WHERE i.id = recovery.instance_id AND i.owner <> '')`,
		`step = 'start' AND EXISTS (SELECT 1 FROM workflow_instance i WHERE i.id = recovery.instance_id
			AND i.state IN ('stopped', 'failed', 'success', 'paused', 'quarantined'))`,
		`step = 'command' AND NOT EXISTS (SELECT 1 FROM command c WHERE c.id = recovery.attempt)`,
	} {
		_, err := tx.ExecContext(ctx, `UPDATE recovery SET state = 'done', answered_at = ? WHERE state IN ('asked', 'applied') AND `+still, now)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxRecoveries bounds the requests that one read returns.
const maxRecoveries = 200

// RecoveriesOf returns the requests about attempts of instances that owner drives, in id order.
func (s *Store) RecoveriesOf(ctx context.Context, owner string) ([]RecoveryRow, error) {
	out, err := collect(ctx, s, scanRecovery, `SELECT r.id, r.instance_id, r.task_index, r.attempt, r.step, r.state, r.failures, r.give_up, r.fence,
		r.first_at, r.asked_at, r.complete_by, r.answered_at, r.answered_by, r.result
		FROM recovery r JOIN workflow_instance i ON i.id = r.instance_id
		WHERE r.state = 'asked' AND r.task_index >= 0 AND i.owner = ? ORDER BY r.id LIMIT ?`, owner, maxRecoveries)
	if err != nil {
		return nil, fmt.Errorf("read recoveries for owner %s: %w", owner, err)
	}
	return out, nil
}

// AnswerRecovery notes what the owner did, and extends the time of the attempt to the
// recovery's; it does nothing where the instance has another owner or the request another answer.
func (s *Store) AnswerRecovery(ctx context.Context, owner string, r RecoveryRow) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		owned, err := lockOwned(ctx, s, tx, owner, []int64{r.InstanceID})
		if err != nil {
			return err
		}
		if len(owned) == 0 {
			if r.State != RecoveryError {
				return nil
			}
			// The end of the attempt may have been the instance's end, which leaves it without owner.
		} else if _, err := tx.ExecContext(ctx, `UPDATE task_attempt SET complete_by = ? WHERE instance_id = ? AND task_index = ? AND number = ?
			AND complete_by > 0`, r.CompleteBy, r.InstanceID, r.Task, r.Attempt); err != nil {
			return err
		}
		// What was given up moves on by that, which the supervisor may have seen before this answer came.
		_, err = tx.ExecContext(ctx, `UPDATE recovery SET state = ?, answered_at = ?, answered_by = ?, result = ?
			WHERE id = ? AND (state = 'asked' OR state = 'done' AND ? = 'error')`,
			string(r.State), r.AnsweredAt, owner, r.Result, r.ID, string(r.State))
		return err
	})
	if err != nil {
		return fmt.Errorf("answer recovery %d: %w", r.ID, err)
	}
	return nil
}

// Recoveries returns a page of the recoveries, the newest first; in one state unless that is "".
func (s *Store) Recoveries(ctx context.Context, state RecoveryState, page Page) ([]RecoveryRow, string, error) {
	before := keyCursor{1<<63 - 1}
	if err := page.decode("recoveries", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	query, args := `WHERE id < ?`, []any{before.Key}
	if state != "" {
		query, args = query+` AND state = ?`, append(args, string(state))
	}
	out, err := collect(ctx, s, scanRecovery, `SELECT `+recoveryColumns+` FROM recovery `+query+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read recoveries: %w", err)
	}
	return cut(out, limit, "recoveries", func(r RecoveryRow) any { return keyCursor{r.ID} })
}

// AttemptKey names one attempt.
type AttemptKey struct {
	InstanceID int64
	Task       int
	Attempt    int
}

// ExtendAttempts gives attempts that run under an owner more time, but not beyond what their timeout
// and its kill need.
func (s *Store) ExtendAttempts(ctx context.Context, owner string, now dag.Millis, keys []AttemptKey) error {
	if len(keys) == 0 {
		return nil
	}
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = k.InstanceID
	}
	err := s.write(ctx, func(tx *sqlTx) error {
		owned, err := lockOwned(ctx, s, tx, owner, ids)
		if err != nil {
			return err
		}
		var args []any
		for _, k := range keys {
			if owned[k.InstanceID] {
				args = append(args, k.InstanceID, k.Task, k.Attempt)
			}
		}
		if len(args) == 0 {
			return nil
		}
		until := now.Add(RunWithin)
		_, err = tx.ExecContext(ctx, `UPDATE task_attempt SET complete_by = CASE WHEN deadline > 0 AND deadline + ? < ? THEN deadline + ? ELSE ? END
			WHERE state = 'running' AND complete_by > 0 AND `+s.dial.rowsIn("(instance_id, task_index, number)", 3, len(args)/3),
			append([]any{KillWithin.Milliseconds(), until, KillWithin.Milliseconds(), until}, args...)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("extend %d attempts: %w", len(keys), err)
	}
	return nil
}

// lockOwned locks those of the instances that an owner has, in the order that all writers keep.
func lockOwned(ctx context.Context, s *Store, tx *sqlTx, owner string, ids []int64) (map[int64]bool, error) {
	owned := make(map[int64]bool, len(ids))
	err := eachChunk(ids, func(chunk []any) error {
		var got []int64
		err := tx.SelectContext(ctx, &got, `SELECT id FROM workflow_instance WHERE owner = ? AND id IN (`+marks(len(chunk))+`) ORDER BY id`+s.dial.forUpdate(),
			append([]any{owner}, chunk...)...)
		for _, id := range got {
			owned[id] = true
		}
		return err
	})
	return owned, err
}

// keptRecoveries is how many recoveries are kept.
const keptRecoveries = 10_000

// sweepRecoveries deletes the oldest recoveries beyond those that are kept, and returns how many.
func (s *Store) sweepRecoveries(ctx context.Context) (int, error) {
	return s.sweepOldest(ctx, "recovery", keptRecoveries)
}
