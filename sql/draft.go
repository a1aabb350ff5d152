package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Draft is the text of a definition that is not finished: nothing checks it.
type Draft struct {
	WorkflowID int64
	Text       string
	Format     string
	// BaseVersion is the version that the draft was made from; 0 for none.
	BaseVersion int
	// Revision rises with every change of a workflow's draft, also over its deletion: one
	// number is one text.
	Revision  int64
	UpdatedBy string
	UpdatedAt dag.Millis
}

// SaveDraft is a text to be kept as the draft of a workflow, which need not exist yet.
type SaveDraft struct {
	ProjectID int64
	Name      string
	Text      string
	Format    string
	By        string
	// BaseVersion is the version that the text was made from; KeepBase leaves that of the
	// draft that is there, and takes the latest version for a new one.
	BaseVersion int
	// IfMatch is the revision that the author has seen; nil wants no draft to be there;
	// AnyRevision overwrites on purpose.
	IfMatch *int64
}

const (
	// KeepBase is the BaseVersion that changes nothing.
	KeepBase = -1
	// AnyRevision is the IfMatch of a draft that fits whatever there is, also nothing.
	AnyRevision = -1
)

// Layout is where the console draws the tasks of a workflow, as JSON that only it reads.
type Layout struct {
	WorkflowID int64
	Layout     string
	UpdatedAt  dag.Millis
}

// Draft returns a workflow's draft, or ErrNotFound.
func (s *Store) Draft(ctx context.Context, workflowID int64) (Draft, error) {
	var d Draft
	err := s.read.QueryRowContext(ctx, `SELECT workflow_id, text, format, base_version, revision, updated_by, updated_at FROM workflow_draft WHERE workflow_id = ?`, workflowID).
		Scan(&d.WorkflowID, &d.Text, &d.Format, &d.BaseVersion, &d.Revision, &d.UpdatedBy, &d.UpdatedAt)
	if err != nil {
		return Draft{}, fmt.Errorf("read draft of workflow %d: %w", workflowID, explain(err))
	}
	return d, nil
}

// SaveDraft keeps a draft, and makes its workflow, without any version, where there is none;
// created says so. It returns ErrExists where IfMatch is nil and a draft is there, ErrStale
// where IfMatch is not its revision, and ErrNotFound where BaseVersion is no version.
func (s *Store) SaveDraft(ctx context.Context, v SaveDraft) (w Workflow, d Draft, created bool, err error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Workflow{}, Draft{}, false, err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		w, created, err = s.lockOrMake(ctx, tx, v.ProjectID, v.Name, "", id)
		if err != nil {
			return err
		}
		now, has := w.DraftRevision, v.IfMatch
		switch {
		case has == nil && now > 0:
			return ErrExists
		case has != nil && *has != AnyRevision && *has != now:
			return fmt.Errorf("%w: the draft's revision is %d", ErrStale, now)
		case v.BaseVersion > w.Latest:
			return fmt.Errorf("base version %d: %w", v.BaseVersion, ErrNotFound)
		}
		d, err = s.putDraft(ctx, tx, v, &w)
		return err
	})
	if err != nil {
		return Workflow{}, Draft{}, false, fmt.Errorf("write draft of workflow %q: %w", v.Name, err)
	}
	return w, d, created, nil
}

// putDraft writes the next revision of the locked workflow's draft.
func (s *Store) putDraft(ctx context.Context, tx *sqlTx, v SaveDraft, w *Workflow) (Draft, error) {
	d := Draft{WorkflowID: w.ID, Text: v.Text, Format: v.Format, BaseVersion: v.BaseVersion, UpdatedBy: v.By, UpdatedAt: s.millis()}
	if v.BaseVersion == KeepBase {
		d.BaseVersion = w.Latest
		err := tx.QueryRowContext(ctx, `SELECT base_version FROM workflow_draft WHERE workflow_id = ?`, w.ID).Scan(&d.BaseVersion)
		if err != nil && !errors.Is(explain(err), ErrNotFound) {
			return d, err
		}
	}
	if err := tx.QueryRowContext(ctx, `SELECT draft_seq + 1 FROM workflow WHERE id = ?`, w.ID).Scan(&d.Revision); err != nil {
		return d, err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO workflow_draft (workflow_id, text, format, base_version, revision, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?, ?)`+
		s.dial.onConflict("workflow_id")+s.dial.givenAll("text", "format", "base_version", "revision", "updated_at", "updated_by"),
		d.WorkflowID, d.Text, d.Format, d.BaseVersion, d.Revision, d.UpdatedAt, d.UpdatedBy)
	if err != nil {
		return d, err
	}
	w.DraftRevision, w.ChangedBy, w.ChangedAt = d.Revision, d.UpdatedBy, d.UpdatedAt
	return d, metOne(tx.ExecContext(ctx, `UPDATE workflow SET draft_seq = ?, draft_revision = ?, changed_by = ?, changed_at = ? WHERE id = ?`,
		d.Revision, d.Revision, w.ChangedBy, w.ChangedAt, w.ID))
}

// DeleteDraft is a wish to throw a draft away.
type DeleteDraft struct {
	WorkflowID int64
	// IfMatch is the revision that is meant, or AnyRevision.
	IfMatch int64
	By      string
}

// DeleteDraft deletes a workflow's draft, and with it a workflow that has never had a version:
// nothing else of it is there. It returns ErrNotFound where there is no draft, and ErrStale
// where it has another revision.
func (s *Store) DeleteDraft(ctx context.Context, v DeleteDraft) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		var latest int
		var revision int64
		err := tx.QueryRowContext(ctx, `SELECT latest, draft_revision FROM workflow WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), v.WorkflowID).Scan(&latest, &revision)
		switch {
		case err != nil:
			return err
		case revision == 0:
			return ErrNotFound
		case v.IfMatch != AnyRevision && v.IfMatch != revision:
			return fmt.Errorf("%w: the draft's revision is %d", ErrStale, revision)
		}
		if latest == 0 {
			return s.forgetWorkflow(ctx, tx, v.WorkflowID)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM workflow_draft WHERE workflow_id = ?`, v.WorkflowID); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE workflow SET draft_revision = 0, changed_by = ?, changed_at = ? WHERE id = ?`, v.By, s.millis(), v.WorkflowID))
	})
	if err != nil {
		return fmt.Errorf("delete draft of workflow %d: %w", v.WorkflowID, err)
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
