package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// The bounds of the environments of a project. One is read into memory with each instance of its project.
const (
	MaxEnvironments     = 100
	MaxEnvironmentBytes = 128 << 10 // names and values of one environment together
)

// AllProjects stands in place of a project in what all of them have: a project's own of the same name wins.
const AllProjects int64 = 0

// Environment is a named set of environment variables, which tasks of a project, or of AllProjects, take by its name.
type Environment struct {
	ProjectID   int64
	Name        string
	Variables   map[string]string
	Description string
	UpdatedAt   dag.Millis
	UpdatedBy   string
}

func scanEnvironment(scan func(...any) error) (Environment, error) {
	var e Environment
	var variables string
	if err := scan(&e.ProjectID, &e.Name, &variables, &e.Description, &e.UpdatedAt, &e.UpdatedBy); err != nil {
		return e, err
	}
	var err error
	if e.Variables, err = decodeMap(variables); err != nil {
		return e, fmt.Errorf("variables of environment %q: %w", e.Name, err)
	}
	return e, nil
}

const selectEnvironments = `SELECT project_id, name, variables, description, updated_at, updated_by FROM environment`

// Environments returns the environments of a project itself, or those of AllProjects, by name.
func (s *Store) Environments(ctx context.Context, projectID int64) ([]Environment, error) {
	out, err := collect(ctx, s, scanEnvironment, selectEnvironments+` WHERE project_id = ? ORDER BY name_key`, projectID)
	if err != nil {
		return nil, fmt.Errorf("read environments of project %d: %w", projectID, explain(err))
	}
	return out, nil
}

// PutEnvironment makes an environment of a project, or of AllProjects, or gives it other variables. It returns ErrNotFound where
// the project is gone, and ErrFull where it would have more than MaxEnvironments, or the environment
// more than MaxEnvironmentBytes.
func (s *Store) PutEnvironment(ctx context.Context, e Environment) (Environment, error) {
	e.UpdatedAt = orNow(e.UpdatedAt, s.millis())
	key := dag.FoldName(e.Name)
	size := 0
	for name, value := range e.Variables {
		size += len(name) + len(value)
	}
	err := s.write(ctx, func(tx *sqlTx) error {
		// The project's row is the lock, or the cluster's: two writers together could pass the bound.
		if err := s.lockEnvironments(ctx, tx, e.ProjectID); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM environment WHERE project_id = ? AND name_key <> ?`, e.ProjectID, key).Scan(&n); err != nil {
			return err
		}
		if n >= MaxEnvironments || size > MaxEnvironmentBytes {
			return ErrFull
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO environment (project_id, name_key, name, variables, description, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?, ?)`+
			s.dial.onConflict("project_id, name_key")+`name = `+s.dial.given("name")+`, variables = `+s.dial.given("variables")+`, description = `+
			s.dial.given("description")+`, updated_at = `+s.dial.given("updated_at")+`, updated_by = `+s.dial.given("updated_by"),
			e.ProjectID, key, e.Name, encodeMap(e.Variables), e.Description, e.UpdatedAt, e.UpdatedBy)
		return err
	})
	if err != nil {
		return Environment{}, fmt.Errorf("put environment %s of project %d: %w", e.Name, e.ProjectID, explain(err))
	}
	return e, nil
}

func (s *Store) lockEnvironments(ctx context.Context, tx *sqlTx, projectID int64) error {
	if projectID != AllProjects {
		return s.lockProject(ctx, tx, projectID)
	}
	var id string
	return tx.QueryRowContext(ctx, `SELECT id FROM cluster WHERE one = 1`+s.dial.forUpdate()).Scan(&id)
}

// DeleteEnvironment takes an environment away; ErrNotFound where there is none. Tasks that name it fail until
// there is one again.
func (s *Store) DeleteEnvironment(ctx context.Context, projectID int64, name string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM environment WHERE project_id = ? AND name_key = ?`, projectID, dag.FoldName(name)))
	})
	if err != nil {
		return fmt.Errorf("delete environment %s of project %d: %w", name, projectID, err)
	}
	return nil
}

// loadEnvironments gives each instance the environments of its project and of all, as they are now.
func (s *Store) loadEnvironments(ctx context.Context, out []Claimed) error {
	return loadOfProjects(ctx, s, out, scanEnvironment, selectEnvironments,
		func(e Environment) (int64, string, map[string]string) {
			return e.ProjectID, dag.FoldName(e.Name), e.Variables
		},
		func(c *Claimed, known map[string]map[string]string) { c.Environments = known })
}
