package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

const (
	workflowColumns = `w.id, w.project_id, p.name, w.name, w.description, w.published, w.latest, w.created_at, w.updated_at,
	w.draft_revision, w.changed_by, w.changed_at`
	workflowTables = `
	FROM workflow w JOIN project p ON p.id = w.project_id`
	selectWorkflow = `SELECT ` + workflowColumns + workflowTables
	selectNamed    = `SELECT ` + workflowColumns + `, p.description, p.created_at, p.updated_at` + workflowTables
)

func scanWorkflow(scan func(...any) error) (Workflow, error) {
	var w Workflow
	err := scan(&w.ID, &w.ProjectID, &w.Project, &w.Name, &w.Description, &w.Published, &w.Latest, &w.CreatedAt, &w.UpdatedAt,
		&w.DraftRevision, &w.ChangedBy, &w.ChangedAt)
	return w, err
}

// Workflow returns the project's workflow of that name, however it is written, or ErrNotFound.
func (s *Store) Workflow(ctx context.Context, projectID int64, name string) (Workflow, error) {
	w, err := scanWorkflow(s.read.QueryRowContext(ctx, selectWorkflow+` WHERE w.project_id = ? AND w.name_key = ? AND w.deleted_at = 0`,
		projectID, dag.FoldName(name)).Scan)
	if err != nil {
		return Workflow{}, fmt.Errorf("read workflow %q: %w", name, explain(err))
	}
	return w, nil
}

// WorkflowNamed returns a workflow by its names, however they are written, with its project, in one question. Where the
// project alone is there, it is in the answer beside ErrNotFound.
func (s *Store) WorkflowNamed(ctx context.Context, project, name string) (p Project, w Workflow, err error) {
	row := s.read.QueryRowContext(ctx, selectNamed+` WHERE p.name_key = ? AND p.deleted_at = 0 AND w.name_key = ? AND w.deleted_at = 0`,
		dag.FoldName(project), dag.FoldName(name))
	w, err = scanWorkflow(func(into ...any) error { return row.Scan(append(into, &p.Description, &p.CreatedAt, &p.UpdatedAt)...) })
	switch err = explain(err); {
	case errors.Is(err, ErrNotFound):
		if p, err = s.Project(ctx, project); err == nil {
			w, err = s.Workflow(ctx, p.ID, name)
		}
	case err != nil:
		err = fmt.Errorf("read workflow %q: %w", name, err)
	default:
		p.ID, p.Name = w.ProjectID, w.Project
	}
	return p, w, err
}

// WorkflowByID returns one workflow, or ErrNotFound.
func (s *Store) WorkflowByID(ctx context.Context, id int64) (Workflow, error) {
	w, err := scanWorkflow(s.read.QueryRowContext(ctx, selectWorkflow+` WHERE w.id = ? AND w.deleted_at = 0`, id).Scan)
	if err != nil {
		return Workflow{}, fmt.Errorf("read workflow %d: %w", id, explain(err))
	}
	return w, nil
}

// WorkflowsByID returns those of the workflows that there are, in no order; at most maxLimit
// are read at a time.
func (s *Store) WorkflowsByID(ctx context.Context, ids []int64) ([]Workflow, error) {
	var out []Workflow
	for part := range slices.Chunk(ids, maxLimit) {
		args := make([]any, len(part))
		for i, id := range part {
			args[i] = id
		}
		rows, err := collect(ctx, s, scanWorkflow, selectWorkflow+` WHERE w.deleted_at = 0 AND w.id IN (?`+strings.Repeat(", ?", len(part)-1)+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("read workflows: %w", err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Workflows returns a page of a project's workflows, by name.
func (s *Store) Workflows(ctx context.Context, projectID int64, page Page) ([]Workflow, string, error) {
	var after nameCursor
	if err := page.decode("workflows", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanWorkflow, selectWorkflow+` WHERE w.project_id = ? AND w.name_key > ? AND w.deleted_at = 0
		ORDER BY w.name_key LIMIT ?`, projectID, afterName(page, after), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read workflows of project %d: %w", projectID, err)
	}
	return cut(out, limit, "workflows", func(w Workflow) any { return nameCursor{dag.FoldName(w.Name)} })
}

// Publish makes a saved version the one that starts and schedules use.
func (s *Store) Publish(ctx context.Context, workflowID int64, version int, by string) error {
	v, err := s.Version(ctx, workflowID, version)
	if err != nil {
		return fmt.Errorf("publish version %d of workflow %d: %w", version, workflowID, err)
	}
	concurrency := dag.ReadConcurrency([]byte(v.Text), v.Format)
	err = s.write(ctx, func(tx *sqlTx) error {
		if err := s.publishLimit(ctx, tx, workflowID, concurrency); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE workflow SET published = ?, updated_at = ?, changed_by = ?, changed_at = ? WHERE id = ? AND deleted_at = 0`,
			version, s.millis(), by, s.millis(), workflowID))
	})
	if err != nil {
		return fmt.Errorf("publish version %d of workflow %d: %w", version, workflowID, err)
	}
	return nil
}

// DeleteWorkflow deletes a workflow; InUseError while instances of it are not final. Its row
// and versions stay, nameless, for the history of its instances.
func (s *Store) DeleteWorkflow(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		var name string
		err := tx.QueryRowContext(ctx, `SELECT name FROM workflow WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), id).Scan(&name)
		if err != nil {
			return err
		}
		// Before the instances are looked for: it waits for a fire that is on its way, whose instance then stands against it.
		if err := s.deleteSchedulesOf(ctx, tx, id); err != nil {
			return err
		}
		refs, err := references(ctx, tx, "instance ", `SELECT id FROM workflow_instance WHERE workflow_id = ? AND state IN (`+openStates+`) LIMIT 10`, id)
		if err != nil {
			return err
		}
		if len(refs) == 0 {
			refs, err = references(ctx, tx, "backfill ", `SELECT b.id FROM backfill_part p JOIN backfill b ON b.id = p.backfill_id
				WHERE p.workflow_id = ? AND b.active = 1 ORDER BY b.id LIMIT 10`, id)
			if err != nil {
				return err
			}
		}
		if len(refs) > 0 {
			return &InUseError{What: "workflow " + name, References: refs}
		}
		return s.forgetWorkflow(ctx, tx, id)
	})
	if err != nil {
		return fmt.Errorf("delete workflow %d: %w", id, err)
	}
	return nil
}

// forgetWorkflow takes a locked workflow out of sight, with what is beside its versions.
func (s *Store) forgetWorkflow(ctx context.Context, tx *sqlTx, id int64) error {
	for _, text := range []string{
		`DELETE FROM workflow_draft WHERE workflow_id = ?`, `DELETE FROM workflow_layout WHERE workflow_id = ?`,
		`DELETE FROM workflow_cases WHERE workflow_id = ?`, `DELETE FROM task_cache WHERE workflow_id = ?`,
	} {
		if _, err := tx.ExecContext(ctx, text, id); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE workflow SET name_key = ?, published = 0, draft_revision = 0, deleted_at = ? WHERE id = ?`, deletedKey(id), s.millis(), id)
	return err
}
