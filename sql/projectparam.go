package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// The bounds of a project's parameters: all of them go into the environment of each of its
// tasks, which the kernel takes 2 MiB of.
const (
	MaxProjectParams     = 200
	MaxProjectParamBytes = 256 << 10 // names and values of one project together
)

// ProjectParam is a parameter that every task of a project sees.
type ProjectParam struct {
	ProjectID   int64
	Name        string
	Value       string
	Description string
	UpdatedAt   dag.Millis
	UpdatedBy   string
}

func scanProjectParam(scan func(...any) error) (ProjectParam, error) {
	var p ProjectParam
	err := scan(&p.ProjectID, &p.Name, &p.Value, &p.Description, &p.UpdatedAt, &p.UpdatedBy)
	return p, err
}

const selectProjectParams = `SELECT project_id, name, value, description, updated_at, updated_by FROM project_param`

// ProjectParams returns the parameters of a project, by name.
func (s *Store) ProjectParams(ctx context.Context, projectID int64) ([]ProjectParam, error) {
	out, err := collect(ctx, s, scanProjectParam, selectProjectParams+` WHERE project_id = ? ORDER BY name`, projectID)
	if err != nil {
		return nil, fmt.Errorf("read params of project %d: %w", projectID, explain(err))
	}
	return out, nil
}

// PutProjectParam makes a parameter of a project, or gives it another value. It returns
// ErrNotFound where the project is gone, and ErrFull where it would have more than
// MaxProjectParams, or more than MaxProjectParamBytes.
func (s *Store) PutProjectParam(ctx context.Context, p ProjectParam) (ProjectParam, error) {
	p.UpdatedAt = orNow(p.UpdatedAt, s.millis())
	err := s.write(ctx, func(tx *sqlTx) error {
		// The project's row is the lock: two writers together could pass the bounds.
		if err := s.lockProject(ctx, tx, p.ProjectID); err != nil {
			return err
		}
		var n, size int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(LENGTH(name) + LENGTH(value)), 0) FROM project_param WHERE project_id = ? AND name <> ?`,
			p.ProjectID, p.Name).Scan(&n, &size)
		if err != nil {
			return err
		}
		if n >= MaxProjectParams || size+len(p.Name)+len(p.Value) > MaxProjectParamBytes {
			return ErrFull
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO project_param (project_id, name, value, description, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?)`+
			s.dial.onConflict("project_id, name")+`value = `+s.dial.given("value")+`, description = `+s.dial.given("description")+
			`, updated_at = `+s.dial.given("updated_at")+`, updated_by = `+s.dial.given("updated_by"),
			p.ProjectID, p.Name, p.Value, p.Description, p.UpdatedAt, p.UpdatedBy)
		return err
	})
	if err != nil {
		return ProjectParam{}, fmt.Errorf("put param %s of project %d: %w", p.Name, p.ProjectID, explain(err))
	}
	return p, nil
}

// DeleteProjectParam takes a parameter away; ErrNotFound where there is none.
func (s *Store) DeleteProjectParam(ctx context.Context, projectID int64, name string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM project_param WHERE project_id = ? AND name = ?`, projectID, name))
	})
	if err != nil {
		return fmt.Errorf("delete param %s of project %d: %w", name, projectID, err)
	}
	return nil
}

// loadProjectParams gives each instance the parameters of its project, as they are now.
func (s *Store) loadProjectParams(ctx context.Context, out []Claimed) error {
	return loadOfProjects(ctx, s, out, scanProjectParam, selectProjectParams,
		func(p ProjectParam) (int64, string, string) { return p.ProjectID, p.Name, p.Value },
		func(c *Claimed, known map[string]string) { c.ProjectParams = known })
}

// loadOfProjects reads what the projects of instances have, in one query, and gives it to each instance by name; what
// all projects have comes with it, where the project has nothing of that name itself.
// Instances of one project share the map: nobody may write to it.
func loadOfProjects[R, V any](ctx context.Context, s *Store, out []Claimed, scan func(func(...any) error) (R, error), query string,
	parts func(R) (project int64, name string, value V), give func(c *Claimed, known map[string]V),
) error {
	known := map[int64]map[string]V{}
	for i := range out {
		known[out[i].Instance.ProjectID] = nil
	}
	if len(known) == 0 {
		return nil
	}
	ids := make([]any, 1, len(known)+1)
	ids[0] = AllProjects
	for id := range known {
		ids = append(ids, id)
	}
	rows, err := collect(ctx, s, scan, query+` WHERE project_id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		project, name, value := parts(row)
		if known[project] == nil {
			known[project] = map[string]V{}
		}
		known[project][name] = value
	}
	for project := range known {
		for name, value := range known[AllProjects] {
			if known[project] == nil {
				known[project] = map[string]V{}
			}
			if _, own := known[project][name]; !own {
				known[project][name] = value
			}
		}
	}
	for i := range out {
		give(&out[i], known[out[i].Instance.ProjectID])
	}
	return nil
}
