package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Cases are the test cases of a workflow, as their author wrote them: nothing checks the text.
type Cases struct {
	WorkflowID int64
	Text       string
	// Revision rises with every change; 0 is of a workflow that has none yet.
	Revision  int64
	UpdatedBy string
	UpdatedAt dag.Millis
}

// Cases returns a workflow's test cases, or ErrNotFound.
func (s *Store) Cases(ctx context.Context, workflowID int64) (Cases, error) {
	c := Cases{WorkflowID: workflowID}
	err := s.read.QueryRowContext(ctx, `SELECT text, revision, updated_by, updated_at FROM workflow_cases WHERE workflow_id = ?`, workflowID).
		Scan(&c.Text, &c.Revision, &c.UpdatedBy, &c.UpdatedAt)
	if err != nil {
		return Cases{}, fmt.Errorf("read test cases of workflow %d: %w", workflowID, explain(err))
	}
	return c, nil
}

// PutCases keeps a workflow's test cases over those of the revision that the author has seen, 0 for none, or over
// whatever is there with AnyRevision. It returns ErrStale where another revision is there, and ErrNotFound where there
// is no such workflow.
func (s *Store) PutCases(ctx context.Context, c Cases, seen int64) (Cases, error) {
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockWorkflow(ctx, tx, c.WorkflowID); err != nil {
			return err
		}
		var now int64
		err := tx.QueryRowContext(ctx, `SELECT revision FROM workflow_cases WHERE workflow_id = ?`, c.WorkflowID).Scan(&now)
		if err != nil && !errors.Is(explain(err), ErrNotFound) {
			return err
		}
		if seen != AnyRevision && seen != now {
			return fmt.Errorf("%w: the revision of the cases is %d", ErrStale, now)
		}
		c.Revision, c.UpdatedAt = now+1, s.millis()
		_, err = tx.ExecContext(ctx, `INSERT INTO workflow_cases (workflow_id, text, revision, updated_at, updated_by) VALUES (?, ?, ?, ?, ?)`+
			s.dial.onConflict("workflow_id")+s.dial.givenAll("text", "revision", "updated_at", "updated_by"),
			c.WorkflowID, c.Text, c.Revision, c.UpdatedAt, c.UpdatedBy)
		return err
	})
	if err != nil {
		return Cases{}, fmt.Errorf("write test cases of workflow %d: %w", c.WorkflowID, err)
	}
	return c, nil
}
