package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

const projectColumns = `id, name, description, created_at, updated_at`

func scanProject(scan func(...any) error) (Project, error) {
	var p Project
	err := scan(&p.ID, &p.Name, &p.Description, &p.CreatedAt, &p.UpdatedAt)
	return p, err
}

// CreateProject makes a project and returns it with its id; ErrExists where the name is
// taken, however it is written.
func (s *Store) CreateProject(ctx context.Context, p Project) (Project, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Project{}, err
	}
	p.ID, p.CreatedAt = id, orNow(p.CreatedAt, s.millis())
	p.UpdatedAt = p.CreatedAt
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO project (id, name, name_key, description, created_at, updated_at, deleted_at)
			VALUES (?, ?, ?, ?, ?, ?, 0)`, p.ID, p.Name, dag.FoldName(p.Name), p.Description, p.CreatedAt, p.UpdatedAt)
		return err
	})
	if err != nil {
		return Project{}, fmt.Errorf("create project %q: %w", p.Name, err)
	}
	return p, nil
}

// UpdateProject changes the name and description of project p.ID.
func (s *Store) UpdateProject(ctx context.Context, p Project) (Project, error) {
	p.UpdatedAt = s.millis()
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `UPDATE project SET name = ?, name_key = ?, description = ?, updated_at = ? WHERE id = ? AND deleted_at = 0`,
			p.Name, dag.FoldName(p.Name), p.Description, p.UpdatedAt, p.ID))
	})
	if err != nil {
		return Project{}, fmt.Errorf("update project %d: %w", p.ID, err)
	}
	return s.ProjectByID(ctx, p.ID)
}

// Project returns the project of that name, however it is written, or ErrNotFound.
func (s *Store) Project(ctx context.Context, name string) (Project, error) {
	p, err := scanProject(s.read.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM project WHERE name_key = ? AND deleted_at = 0`, dag.FoldName(name)).Scan)
	if err != nil {
		return Project{}, fmt.Errorf("read project %q: %w", name, explain(err))
	}
	return p, nil
}

// ProjectByID returns one project, or ErrNotFound.
func (s *Store) ProjectByID(ctx context.Context, id int64) (Project, error) {
	p, err := scanProject(s.read.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM project WHERE id = ? AND deleted_at = 0`, id).Scan)
	if err != nil {
		return Project{}, fmt.Errorf("read project %d: %w", id, explain(err))
	}
	return p, nil
}

// Projects returns a page of all projects, by name.
func (s *Store) Projects(ctx context.Context, page Page) ([]Project, string, error) {
	var after nameCursor
	if err := page.decode("projects", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanProject, `SELECT `+projectColumns+` FROM project WHERE name_key > ? AND deleted_at = 0 ORDER BY name_key LIMIT ?`,
		afterName(page, after), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read projects: %w", err)
	}
	return cut(out, limit, "projects", func(p Project) any { return nameCursor{dag.FoldName(p.Name)} })
}

// MemberProjects returns the projects in which a user has a role, by id.
func (s *Store) MemberProjects(ctx context.Context, userID int64) ([]Project, error) {
	out, err := collect(ctx, s, scanProject, `SELECT p.id, p.name, p.description, p.created_at, p.updated_at
		FROM project_member m JOIN project p ON p.id = m.project_id WHERE m.user_id = ? AND p.deleted_at = 0 ORDER BY p.id`, userID)
	if err != nil {
		return nil, fmt.Errorf("read projects of user %d: %w", userID, err)
	}
	return out, nil
}

// DeleteProject deletes an empty project; InUseError where it holds workflows, or instances
// that are not final. Its row stays, nameless, for the history that refers to it.
func (s *Store) DeleteProject(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		var name string
		err := tx.QueryRowContext(ctx, `SELECT name FROM project WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), id).Scan(&name)
		if err != nil {
			return err
		}
		refs, err := references(ctx, tx, "workflow ", `SELECT name FROM workflow WHERE project_id = ? AND deleted_at = 0 ORDER BY id LIMIT 10`, id)
		if err != nil {
			return err
		}
		if len(refs) == 0 {
			refs, err = references(ctx, tx, "instance ", `SELECT id FROM workflow_instance WHERE project_id = ? AND state IN (`+openStates+`) LIMIT 10`, id)
			if err != nil {
				return err
			}
		}
		if len(refs) > 0 {
			return &InUseError{What: "project " + name, References: refs}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM project_member WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM project_param WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM secret WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM environment WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM token WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM task_group WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM calendar WHERE project_id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM listener WHERE project_id = ? AND instance_id = 0`, id); err != nil {
			return err
		}
		// Their tasks are skipped at their moments: there may be very many.
		if _, err := tx.ExecContext(ctx, `DELETE FROM timer WHERE project_id = ?`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE project SET name_key = ?, deleted_at = ? WHERE id = ?`, deletedKey(id), s.millis(), id)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete project %d: %w", id, err)
	}
	return nil
}

// openStates are the states of instances that are not final, as SQL.
const openStates = `'submitted', 'serial_wait', 'running', 'pausing', 'paused', 'stopping'`

// deletedKey is the folded name of what was deleted: no name of a person's folds to it,
// since names hold no control characters.
func deletedKey(id int64) string { return fmt.Sprintf("\x00%d", id) }

// afterName is where a list by name goes on; the first page starts behind all deleted keys.
func afterName(page Page, after nameCursor) string {
	if page.Cursor == "" {
		return "\x01"
	}
	return after.Name
}

// lockProject locks the row of a project that is there, so that what belongs to it can be counted and added; it
// gives sql.ErrNoRows where the project is gone.
func (s *Store) lockProject(ctx context.Context, tx *sqlTx, id int64) error {
	return tx.QueryRowContext(ctx, `SELECT id FROM project WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), id).Scan(&id)
}
