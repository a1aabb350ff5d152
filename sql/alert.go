package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
)

// Alert is what the listeners of a project are told beside the events of instances: something that nobody asked for has
// become of a schedule or a timer. It is delivered as an instance's events are, under its own id in the place of one.
type Alert struct {
	ID        int64
	ProjectID int64
	Project   string // joined
	Kind      listen.Kind
	Workflow  string // of a schedule
	Subject   string // the name of the schedule or the timer
	Message   string
	By        string // the master that found it
	CreatedAt dag.Millis
}

var alertInsert = &table{
	name: "alert",
	cols: []string{"id", "project_id", "kind", "workflow", "subject", "message", "requested_by", "created_at"},
}

// alert writes alerts, and gives them to the enabled listeners of their projects. Their ids are of NextIDs.
func (b *batch) alert(ctx context.Context, alerts ...*Alert) error {
	var rows []any
	var ids []int64
	for _, a := range alerts {
		rows, ids = append(rows, a.ID, a.ProjectID, string(a.Kind), a.Workflow, a.Subject, a.Message, a.By, int64(a.CreatedAt)), append(ids, a.ID)
	}
	if err := b.rows(ctx, alertInsert, b.s.dial.insert, rows); err != nil {
		return fmt.Errorf("insert alert: %w", err)
	}
	err := b.execIDs(ctx, `INSERT INTO delivery (listener_id, instance_id, lane, state, seq, wakes, fence, attempts, next_at, since, status, error, updated_at)
		SELECT l.id, a.id, l.lane, 'due', -1, 0, 0, 0, a.created_at, 0, 0, '', a.created_at FROM alert a JOIN listener l ON l.project_id = a.project_id
		AND l.instance_id = 0 AND l.enabled = 1 WHERE a.id IN (%s)`, ids)
	if err != nil {
		return fmt.Errorf("insert deliveries of an alert: %w", err)
	}
	return nil
}

// Alert returns one alert, or ErrNotFound.
func (s *Store) Alert(ctx context.Context, id int64) (a Alert, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT a.id, a.project_id, COALESCE(p.name, ''), a.kind, a.workflow, a.subject, a.message, a.requested_by, a.created_at
		FROM alert a LEFT JOIN project p ON p.id = a.project_id WHERE a.id = ?`, id).
		Scan(&a.ID, &a.ProjectID, &a.Project, &a.Kind, &a.Workflow, &a.Subject, &a.Message, &a.By, &a.CreatedAt)
	if err != nil {
		return Alert{}, fmt.Errorf("read alert %d: %w", id, explain(err))
	}
	return a, nil
}

// sweepAlerts deletes alerts of before a moment, and their deliveries.
func (s *Store) sweepAlerts(ctx context.Context, before dag.Millis) (n int, err error) {
	ids, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT id FROM alert WHERE created_at < ? ORDER BY created_at LIMIT ?`, before, maxSwept)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		b := &batch{s: s, tx: plainTx{tx, s}}
		if err := b.execIDs(ctx, `DELETE FROM delivery WHERE instance_id IN (%s)`, ids); err != nil {
			return err
		}
		return b.execIDs(ctx, `DELETE FROM alert WHERE id IN (%s)`, ids)
	})
	return len(ids), err
}

// BreakSchedule pauses an enabled schedule that can't be planned any more, and alerts the listeners of its project; why
// says what is wrong. One that is paused already, was changed since it was read, or is gone stays as it is.
func (s *Store) BreakSchedule(ctx context.Context, sch Schedule, why, by string) error {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		var revision int64
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(revision), 0) FROM schedule WHERE id = ?`, sch.ID).Scan(&revision); err != nil || revision != sch.Revision {
			return err
		}
		changed, err := s.enable(ctx, tx, []int64{sch.ID}, false, why, by)
		if err != nil || changed == 0 {
			return err
		}
		return (&batch{s: s, tx: plainTx{tx, s}}).alert(ctx, &Alert{
			ID: id, ProjectID: sch.ProjectID, Kind: listen.ScheduleBroken, Workflow: sch.Workflow, Subject: sch.Name, Message: why, By: by, CreatedAt: s.millis(),
		})
	})
	if err != nil {
		return fmt.Errorf("pause broken schedule %d: %w", sch.ID, err)
	}
	return nil
}
