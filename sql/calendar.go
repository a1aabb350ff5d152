package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// MaxCalendars bounds the calendars of a project. All of them are read to plan one of its schedules.
const MaxCalendars = 100

// Calendar is a named set of days, on which schedules of its project do not fire, or do alone.
type Calendar struct {
	ID        int64
	ProjectID int64
	Name      string
	Spec      schedule.Calendar
	ChangedBy string
	ChangedAt dag.Millis
}

const selectCalendar = `SELECT id, project_id, name, spec, changed_by, changed_at FROM calendar`

func scanCalendar(scan func(...any) error) (c Calendar, err error) {
	var spec string
	if err := scan(&c.ID, &c.ProjectID, &c.Name, &spec, &c.ChangedBy, &c.ChangedAt); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(spec), &c.Spec); err != nil {
		return c, fmt.Errorf("calendar %q: %w", c.Name, err)
	}
	return c, nil
}

// SaveCalendar makes a calendar of a project, or gives it other days, and returns it and whether it is new. The
// schedules of the project are planned anew from now on. It returns ErrNotFound where the project is gone, and
// ErrFull where it has MaxCalendars.
func (s *Store) SaveCalendar(ctx context.Context, c Calendar) (saved Calendar, created bool, err error) {
	spec, err := json.Marshal(c.Spec)
	if err != nil {
		return Calendar{}, false, fmt.Errorf("encode calendar %q: %w", c.Name, err)
	}
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Calendar{}, false, err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		// The project's row is the lock: two writers together could pass the bound, or make one name twice.
		if err := s.lockProject(ctx, tx, c.ProjectID); err != nil {
			return err
		}
		var n, known int64
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN name_key = ? THEN id ELSE 0 END), 0) FROM calendar WHERE project_id = ?`,
			dag.FoldName(c.Name), c.ProjectID).Scan(&n, &known)
		if err != nil {
			return err
		}
		now, err := s.replanNaming(ctx, tx, c.ProjectID, dag.FoldName(c.Name))
		if err != nil {
			return err
		}
		switch created = known == 0; {
		case !created:
			_, err = tx.ExecContext(ctx, `UPDATE calendar SET name = ?, spec = ?, changed_by = ?, changed_at = ? WHERE id = ?`, c.Name, string(spec), c.ChangedBy, now, known)
		case n >= MaxCalendars:
			return ErrFull
		default:
			_, err = tx.ExecContext(ctx, `INSERT INTO calendar (id, project_id, name, name_key, spec, changed_by, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				id, c.ProjectID, c.Name, dag.FoldName(c.Name), string(spec), c.ChangedBy, now)
		}
		return err
	})
	if err != nil {
		return Calendar{}, false, fmt.Errorf("save calendar %q: %w", c.Name, err)
	}
	saved, err = s.Calendar(ctx, c.ProjectID, c.Name)
	return saved, created, err
}

// Calendar returns the project's calendar of that name, however it is written, or ErrNotFound.
func (s *Store) Calendar(ctx context.Context, projectID int64, name string) (Calendar, error) {
	c, err := scanCalendar(s.read.QueryRowContext(ctx, selectCalendar+` WHERE project_id = ? AND name_key = ?`, projectID, dag.FoldName(name)).Scan)
	if err != nil {
		return Calendar{}, fmt.Errorf("read calendar %q: %w", name, explain(err))
	}
	return c, nil
}

// Calendars returns the calendars of a project, by name.
func (s *Store) Calendars(ctx context.Context, projectID int64) ([]Calendar, error) {
	out, err := collect(ctx, s, scanCalendar, selectCalendar+` WHERE project_id = ? ORDER BY name_key`, projectID)
	if err != nil {
		return nil, fmt.Errorf("read calendars of project %d: %w", projectID, err)
	}
	return out, nil
}

// DeleteCalendar deletes a calendar; an InUseError names the schedules that still ask for it.
func (s *Store) DeleteCalendar(ctx context.Context, projectID int64, name string) error {
	key := dag.FoldName(name)
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		using, err := s.schedulesNaming(ctx, tx, projectID, key)
		if err != nil {
			return err
		}
		if len(using) > 0 {
			used := &InUseError{What: "calendar " + name}
			for _, sch := range using[:min(len(using), 10)] {
				used.References = append(used.References, "schedule "+sch.Name)
			}
			return used
		}
		return metOne(tx.ExecContext(ctx, `DELETE FROM calendar WHERE project_id = ? AND name_key = ?`, projectID, key))
	})
	if err != nil {
		return fmt.Errorf("delete calendar %q: %w", name, err)
	}
	return nil
}
