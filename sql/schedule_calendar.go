package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

var scheduleCalendarInsert = &table{
	name: "schedule_calendar",
	cols: []string{"project_id", "name_key", "schedule_id"},
}

// forgetCalendars deletes which calendars schedules name, up to the list of their ids.
const forgetCalendars = `DELETE FROM schedule_calendar WHERE schedule_id IN (`

// nameCalendars writes down which calendars of its project a schedule asks for. Whoever calls it holds the schedule's row.
func (s *Store) nameCalendars(ctx context.Context, tx *sqlTx, schedule, project int64, names []string) error {
	if _, err := tx.ExecContext(ctx, forgetCalendars+`?)`, schedule); err != nil {
		return err
	}
	var rows []any
	for _, name := range names {
		rows = append(rows, project, name, schedule)
	}
	return (&batch{s: s, tx: plainTx{tx, s}}).rows(ctx, scheduleCalendarInsert, s.dial.insert, rows)
}

// schedulesNaming returns the schedules of a project that ask for a calendar, locked, by their ids. All others stay free: a
// project may have thousands, which fire and are changed meanwhile. A schedule of which it is not written down what it asks
// for is read, and is written down.
func (s *Store) schedulesNaming(ctx context.Context, tx *sqlTx, projectID int64, calendar string) ([]Schedule, error) {
	var ids []int64
	unwritten := map[int64]bool{}
	b := &batch{s: s, tx: plainTx{tx, s}}
	// The lock waits for whoever is writing such a row: its schedule would be planned by the calendar as it was.
	err := b.eachRow(ctx, `SELECT schedule_id, name_key FROM schedule_calendar WHERE project_id = ? AND name_key IN (?, '')`+s.dial.forUpdate(),
		[]any{projectID, calendar}, func(scan func(...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			ids, unwritten[id] = append(ids, id), name == ""
			return err
		})
	if err != nil {
		return nil, err
	}
	slices.Sort(ids) // the order of locks
	found, err := s.lockSchedulesByID(ctx, b, ids)
	if err != nil {
		return nil, err
	}
	var out []Schedule
	for _, sch := range found {
		names := sch.Spec.CalendarNames()
		if unwritten[sch.ID] {
			if err := s.nameCalendars(ctx, tx, sch.ID, projectID, names); err != nil {
				return nil, err
			}
		}
		if slices.Contains(names, calendar) {
			out = append(out, sch)
		}
	}
	return out, nil
}

func (s *Store) lockSchedulesByID(ctx context.Context, b *batch, ids []int64) (out []Schedule, err error) {
	err = eachChunk(ids, func(chunk []any) error {
		return b.eachRow(ctx, `SELECT id, name, enabled, spec FROM schedule WHERE id IN (`+marks(len(chunk))+`) ORDER BY id`+s.dial.forUpdate(), chunk,
			func(scan func(...any) error) error {
				var sch Schedule
				var spec string
				if err := scan(&sch.ID, &sch.Name, &sch.Enabled, &spec); err != nil {
					return err
				}
				if err := json.Unmarshal([]byte(spec), &sch.Spec); err != nil {
					return fmt.Errorf("schedule %d: %w", sch.ID, err)
				}
				out = append(out, sch)
				return nil
			})
	})
	return out, err
}

// replanNaming makes the enabled schedules that ask for a calendar be planned anew, from the moment on that it returns.
func (s *Store) replanNaming(ctx context.Context, tx *sqlTx, projectID int64, calendar string) (now dag.Millis, err error) {
	using, err := s.schedulesNaming(ctx, tx, projectID, calendar)
	if err != nil {
		return 0, err
	}
	if now, err = s.clockWithin(ctx, tx); err != nil {
		return 0, err
	}
	var ids []int64
	for _, sch := range using {
		if sch.Enabled {
			ids = append(ids, sch.ID)
		}
	}
	return now, s.replan(ctx, tx, ids, true, true, now)
}
