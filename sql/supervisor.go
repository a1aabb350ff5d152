package sql

import (
	"context"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// SupervisorRow is who supervises, and when it last looked.
type SupervisorRow struct {
	Fence    int64
	Holder   string // "<node>:<incarnation>"; "" before the first
	Since    dag.Millis
	LookedAt dag.Millis
	EveryMS  int64
}

// OverdueStep is an attempt whose time is past, with the recovery that was asked for before.
type OverdueStep struct {
	InstanceID int64
	Task       int
	Attempt    int
	State      dag.AttemptState
	CompleteBy dag.Millis
	// Failures and Recovery are of the recovery, zero and "" for none.
	Failures int
	Recovery RecoveryState
}

// BeginSupervision makes a master the supervisor and returns its fence: whoever had it before
// writes nothing any more.
func (s *Store) BeginSupervision(ctx context.Context, holder string, at dag.Millis, everyMS int64) (fence int64, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		if err := tx.QueryRowContext(ctx, `SELECT fence FROM supervisor WHERE one = 1`+s.dial.forUpdate()).Scan(&fence); err != nil {
			return err
		}
		fence++
		return metOne(tx.ExecContext(ctx, `UPDATE supervisor SET fence = ?, holder = ?, since = ?, every_ms = ? WHERE one = 1`, fence, holder, at, everyMS))
	})
	if err != nil {
		return 0, fmt.Errorf("begin to supervise: %w", err)
	}
	return fence, nil
}

// Supervisor returns who supervises.
func (s *Store) Supervisor(ctx context.Context) (r SupervisorRow, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT fence, holder, since, looked_at, every_ms FROM supervisor WHERE one = 1`).
		Scan(&r.Fence, &r.Holder, &r.Since, &r.LookedAt, &r.EveryMS)
	if err != nil {
		return r, fmt.Errorf("read supervisor: %w", explain(err))
	}
	return r, nil
}

// Overdue returns up to limit attempts whose time is past at now, and which no recovery covers
// for longer, the longest past first. Where none is, it reads one entry of an index.
func (s *Store) Overdue(ctx context.Context, now dag.Millis, limit int) ([]OverdueStep, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (o OverdueStep, err error) {
		return o, scan(&o.InstanceID, &o.Task, &o.Attempt, &o.State, &o.CompleteBy, &o.Failures, &o.Recovery)
	}, `SELECT a.instance_id, a.task_index, a.number, a.state, a.complete_by, COALESCE(r.failures, 0), COALESCE(r.state, '')
		FROM task_attempt a LEFT JOIN recovery r ON r.instance_id = a.instance_id AND r.task_index = a.task_index AND r.attempt = a.number
			AND r.step = a.state
		WHERE a.complete_by > 0 AND a.complete_by <= ? AND (r.complete_by IS NULL OR r.complete_by <= ?)
		ORDER BY a.complete_by LIMIT ?`, now, now, limit)
	if err != nil {
		return nil, fmt.Errorf("read overdue steps: %w", err)
	}
	return out, nil
}

// Orphan is an instance that is to go on and has no owner.
type Orphan struct {
	InstanceID int64
	State      dag.InstanceState
	OwnerEpoch int64
	CreatedAt  dag.Millis
}

// maxOrphans bounds the instances that one read returns.
const maxOrphans = 50

// Orphans looks through a window of instances that are to go on, oldest first from after on, for those
// without owner and without a command, made before a moment; and where the window was not full, at the
// instances without both that a wish waits for. It returns where the next window begins, zero at the end.
func (s *Store) Orphans(ctx context.Context, before dag.Millis, after OrphanCursor, window int) ([]Orphan, OrphanCursor, error) {
	states := []dag.InstanceState{dag.InstanceSubmitted, dag.InstanceRunning, dag.InstancePausing, dag.InstanceStopping}
	if after.State < 0 || after.State >= len(states) {
		after = OrphanCursor{}
	}
	rows, err := collect(ctx, s, scanOrphan, `SELECT id, state, owner_epoch, created_at, owner FROM workflow_instance
		WHERE state = ? AND (created_at > ? OR created_at = ? AND id > ?) AND created_at <= ? ORDER BY created_at, id LIMIT ?`,
		string(states[after.State]), after.CreatedAt, after.CreatedAt, after.ID, before, window)
	if err != nil {
		return nil, after, fmt.Errorf("read instances without owner: %w", err)
	}
	var suspects []Orphan
	for _, row := range rows {
		if row.owner == "" {
			suspects = append(suspects, row.Orphan)
		}
	}
	if len(rows) < window {
		after = OrphanCursor{State: (after.State + 1) % len(states)}
		wished, err := collect(ctx, s, scanOrphan, `SELECT DISTINCT i.id, i.state, i.owner_epoch, i.created_at, i.owner
			FROM control c JOIN workflow_instance i ON i.id = c.instance_id
			WHERE c.applied_at = 0 AND c.created_at <= ? AND i.owner = '' AND i.owner_epoch > 0 LIMIT ?`, before, maxOrphans)
		if err != nil {
			return nil, after, fmt.Errorf("read wishes without owner: %w", err)
		}
		for _, row := range wished {
			suspects = append(suspects, row.Orphan)
		}
	} else {
		last := rows[len(rows)-1]
		after.CreatedAt, after.ID = last.CreatedAt, last.InstanceID
	}
	orphans, err := s.withoutCommand(ctx, suspects)
	return orphans, after, err
}

// OrphanCursor is where a walk over the instances that are to go on stands.
type OrphanCursor struct {
	State     int
	CreatedAt dag.Millis
	ID        int64
}

type orphanRow struct {
	Orphan
	owner string
}

func scanOrphan(scan func(...any) error) (o orphanRow, err error) {
	return o, scan(&o.InstanceID, &o.State, &o.OwnerEpoch, &o.CreatedAt, &o.owner)
}

// withoutCommand returns those that no command is there for. A start command has its instance's id, so that
// of a long queue nearly all are passed by one look at the key.
func (s *Store) withoutCommand(ctx context.Context, suspects []Orphan) ([]Orphan, error) {
	for _, query := range []string{`SELECT instance_id FROM command WHERE id IN (%s)`, `SELECT instance_id FROM command WHERE instance_id IN (%s)`} {
		if len(suspects) == 0 {
			return nil, nil
		}
		ids := make([]int64, len(suspects))
		for i, o := range suspects {
			ids[i] = o.InstanceID
		}
		there := make(map[int64]bool)
		err := eachChunk(ids, func(chunk []any) error {
			found, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
				strings.Replace(query, "%s", marks(len(chunk)), 1), chunk...)
			for _, id := range found {
				there[id] = true
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read commands of instances without owner: %w", err)
		}
		left := suspects[:0:0]
		for _, o := range suspects {
			if !there[o.InstanceID] {
				left = append(left, o)
			}
		}
		suspects = left
	}
	return suspects[:min(len(suspects), maxOrphans)], nil
}

// Unclaimed looks through a window of commands by id from after on, for those that have waited since
// before a moment and that not every master may take yet, limit at most. It returns where the next window
// begins, 0 at the end.
func (s *Store) Unclaimed(ctx context.Context, before dag.Millis, after int64, window, limit int) ([]Command, int64, error) {
	rows, err := s.commands(ctx, `WHERE id > ? ORDER BY id LIMIT ?`, after, window)
	if err != nil {
		return nil, after, fmt.Errorf("read commands that wait: %w", err)
	}
	after = 0
	if len(rows) == window {
		after = rows[len(rows)-1].ID
	}
	var out []Command
	for _, c := range rows {
		if !c.Lent && c.CreatedAt <= before && len(out) < limit {
			out = append(out, c)
		}
	}
	return out, after, nil
}
