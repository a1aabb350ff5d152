package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Draft is the text of a definition that is not finished: nothing checks it.
type Draft struct {
	WorkflowID int64
	Text       string
	Format     string
	UpdatedBy  string
	UpdatedAt  dag.Millis
}

// Layout is where the console draws the tasks of a workflow, as JSON that only it reads.
type Layout struct {
	WorkflowID int64
	Layout     string
	UpdatedAt  dag.Millis
}

// Draft returns a workflow's draft, or ErrNotFound.
func (s *Store) Draft(ctx context.Context, workflowID int64) (Draft, error) {
	var d Draft
	err := s.read.QueryRowContext(ctx, `SELECT workflow_id, text, format, updated_by, updated_at FROM workflow_draft WHERE workflow_id = ?`, workflowID).
		Scan(&d.WorkflowID, &d.Text, &d.Format, &d.UpdatedBy, &d.UpdatedAt)
	if err != nil {
		return Draft{}, fmt.Errorf("read draft of workflow %d: %w", workflowID, explain(err))
	}
	return d, nil
}

// PutDraft writes a workflow's draft, over an earlier one; ErrNotFound where there is no such workflow.
func (s *Store) PutDraft(ctx context.Context, d Draft) error {
	d.UpdatedAt = orNow(d.UpdatedAt, s.millis())
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockWorkflow(ctx, tx, d.WorkflowID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO workflow_draft (workflow_id, text, format, updated_at, updated_by) VALUES (?, ?, ?, ?, ?)`+
			s.dial.onConflict("workflow_id")+`text = `+s.dial.given("text")+`, format = `+s.dial.given("format")+`, updated_at = `+
			s.dial.given("updated_at")+`, updated_by = `+s.dial.given("updated_by"), d.WorkflowID, d.Text, d.Format, d.UpdatedAt, d.UpdatedBy)
		return err
	})
	if err != nil {
		return fmt.Errorf("write draft of workflow %d: %w", d.WorkflowID, err)
	}
	return nil
}

// DeleteDraft deletes a workflow's draft, or returns ErrNotFound.
func (s *Store) DeleteDraft(ctx context.Context, workflowID int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM workflow_draft WHERE workflow_id = ?`, workflowID))
	})
	if err != nil {
		return fmt.Errorf("delete draft of workflow %d: %w", workflowID, err)
	}
	return nil
}

// Layout returns a workflow's layout, or ErrNotFound.
func (s *Store) Layout(ctx context.Context, workflowID int64) (Layout, error) {
	var l Layout
	err := s.read.QueryRowContext(ctx, `SELECT workflow_id, layout, updated_at FROM workflow_layout WHERE workflow_id = ?`, workflowID).
		Scan(&l.WorkflowID, &l.Layout, &l.UpdatedAt)
	if err != nil {
		return Layout{}, fmt.Errorf("read layout of workflow %d: %w", workflowID, explain(err))
	}
	return l, nil
}

// PutLayout writes a workflow's layout, over an earlier one; ErrNotFound where there is no such workflow.
func (s *Store) PutLayout(ctx context.Context, l Layout) error {
	l.UpdatedAt = orNow(l.UpdatedAt, s.millis())
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockWorkflow(ctx, tx, l.WorkflowID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO workflow_layout (workflow_id, layout, updated_at) VALUES (?, ?, ?)`+
			s.dial.onConflict("workflow_id")+`layout = `+s.dial.given("layout")+`, updated_at = `+s.dial.given("updated_at"),
			l.WorkflowID, l.Layout, l.UpdatedAt)
		return err
	})
	if err != nil {
		return fmt.Errorf("write layout of workflow %d: %w", l.WorkflowID, err)
	}
	return nil
}

// lockWorkflow keeps a workflow from being deleted while something is written beside it.
func (s *Store) lockWorkflow(ctx context.Context, tx *sqlTx, id int64) error {
	return tx.QueryRowContext(ctx, `SELECT id FROM workflow WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), id).Scan(&id)
}
