package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
)

// Timer is a cron expression of a project and the call that is made at its moments. Spec never changes.
type Timer struct {
	ID           int64
	ProjectID    int64
	Name         string
	Spec         timer.Spec
	Enabled      bool
	Why          string // where it is not enabled, and it was not a person who disabled it
	PlannedUntil dag.Millis
	Failures     int        // tasks that failed in a row
	FailingSince dag.Millis // the moment of the first of them; 0 for none
	CreatedBy    string
	CreatedAt    dag.Millis
	ChangedBy    string
	ChangedAt    dag.Millis
}

// MaxTimers bounds the timers of a project.
const MaxTimers = 100_000

const timerColumns = `t.id, t.project_id, t.name, t.spec, t.enabled, t.why, t.planned_until, t.failures, t.failing_since, t.created_by, t.created_at, t.changed_by, t.changed_at`

func scanTimer(scan func(...any) error) (t Timer, err error) {
	var spec string
	err = scan(&t.ID, &t.ProjectID, &t.Name, &spec, &t.Enabled, &t.Why, &t.PlannedUntil, &t.Failures, &t.FailingSince, &t.CreatedBy, &t.CreatedAt, &t.ChangedBy, &t.ChangedAt)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(spec), &t.Spec); err != nil {
		return t, fmt.Errorf("spec of timer %d: %w", t.ID, err)
	}
	return t, nil
}

// CreateTimer makes a timer of a project, not enabled, and returns it; ErrExists where the project has one of that
// name, however it is written, ErrFull where it has MaxTimers, ErrNotFound where it is gone.
func (s *Store) CreateTimer(ctx context.Context, t Timer) (Timer, error) {
	ids, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Timer{}, err
	}
	t.ID, t.Enabled, t.CreatedAt = ids, false, s.millis()
	t.ChangedBy, t.ChangedAt = t.CreatedBy, t.CreatedAt
	err = s.write(ctx, func(tx *sqlTx) error {
		if err := s.lockProject(ctx, tx, t.ProjectID); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM timer WHERE project_id = ?`, t.ProjectID).Scan(&n); err != nil {
			return err
		}
		if n >= MaxTimers {
			return ErrFull
		}
		return insertTimer(ctx, tx, &t)
	})
	if err != nil {
		return Timer{}, fmt.Errorf("create timer %q: %w", t.Name, err)
	}
	return t, nil
}

// insertTimer writes the row of a new timer, which is not enabled.
func insertTimer(ctx context.Context, tx *sqlTx, t *Timer) error {
	spec, err := json.Marshal(t.Spec)
	if err != nil {
		return fmt.Errorf("encode timer %q: %w", t.Name, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO timer (id, project_id, name, name_key, spec, enabled, planned_until, failures, failing_since,
		created_by, created_at, changed_by, changed_at) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?, ?, ?)`,
		t.ID, t.ProjectID, t.Name, dag.FoldName(t.Name), string(spec), t.CreatedBy, t.CreatedAt, t.ChangedBy, t.ChangedAt)
	return err
}

// Timer returns a timer of a project, or ErrNotFound.
func (s *Store) Timer(ctx context.Context, projectID, id int64) (Timer, error) {
	t, err := scanTimer(s.read.QueryRowContext(ctx, `SELECT `+timerColumns+` FROM timer t WHERE t.id = ? AND t.project_id = ?`, id, projectID).Scan)
	if err != nil {
		return Timer{}, fmt.Errorf("read timer %d: %w", id, explain(err))
	}
	return t, nil
}

// TimerFilter says which timers of a project a list shows: Name is a part of the name, however it is written.
type TimerFilter struct {
	ProjectID int64
	Name      string
}

var escapeLike = strings.NewReplacer(`!`, `!!`, `%`, `!%`, `_`, `!_`)

// Timers returns a part of a project's timers, by name: limit of them, from 1 to 200, behind the first skip ones.
func (s *Store) Timers(ctx context.Context, f TimerFilter, skip, limit int) ([]Timer, error) {
	where, args := `t.project_id = ?`, []any{f.ProjectID}
	if f.Name != "" {
		where, args = where+` AND t.name_key LIKE ? ESCAPE '!'`, append(args, "%"+escapeLike.Replace(dag.FoldName(f.Name))+"%")
	}
	out, err := collect(ctx, s, scanTimer, `SELECT `+timerColumns+` FROM timer t WHERE `+where+` ORDER BY t.name_key LIMIT ? OFFSET ?`,
		append(args, min(max(limit, 1), maxLimit), max(skip, 0))...)
	if err != nil {
		return nil, fmt.Errorf("read timers of project %d: %w", f.ProjectID, err)
	}
	return out, nil
}

// TimersByID returns those of the timers that are there, in any order.
func (s *Store) TimersByID(ctx context.Context, ids []int64) ([]Timer, error) {
	var out []Timer
	err := eachChunk(ids, func(chunk []any) error {
		some, err := collect(ctx, s, scanTimer, `SELECT `+timerColumns+` FROM timer t WHERE t.id IN (`+marks(len(chunk))+`)`, chunk...)
		out = append(out, some...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read timers: %w", err)
	}
	return out, nil
}

// EnableTimer enables a timer of a project and writes the tasks of the next two windows with it, so that it fires
// from now on whatever the masters do. What was due while it was disabled is skipped. Enabling it twice is enabling
// it once. It returns ErrNotFound where there is no such timer.
func (s *Store) EnableTimer(ctx context.Context, projectID, id int64, by string) error {
	now, err := s.Clock(ctx) // masters go by it, too
	if err != nil {
		return err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		t, err := s.lockTimer(ctx, tx, projectID, id)
		if err != nil || t.Enabled {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE timer_task SET open = 0, state = 'skipped', error = ? WHERE timer_id = ? AND state = 'planned' AND planned_at <= ?`,
			skippedDisabled, id, now)
		if err != nil {
			return err
		}
		t.PlannedUntil = max(t.PlannedUntil, now)
		if _, _, err := s.planTimers(ctx, tx, []Timer{t}, now); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE timer SET enabled = 1, why = '', changed_by = ?, changed_at = ? WHERE id = ?`, by, now, id))
	})
	if err != nil {
		return fmt.Errorf("enable timer %d: %w", id, err)
	}
	return nil
}

// DisableTimer disables a timer of a project. Its tasks stay: they are skipped at their moment, unless it is enabled
// again by then. It returns ErrNotFound where there is no such timer.
func (s *Store) DisableTimer(ctx context.Context, projectID, id int64, by string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		t, err := s.lockTimer(ctx, tx, projectID, id)
		if err != nil || !t.Enabled {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE timer SET enabled = 0, changed_by = ?, changed_at = ? WHERE id = ?`, by, s.millis(), id))
	})
	if err != nil {
		return fmt.Errorf("disable timer %d: %w", id, err)
	}
	return nil
}

// DeleteTimer deletes a timer of a project. What it had planned is skipped at its moment. It returns ErrNotFound where
// there is no such timer.
func (s *Store) DeleteTimer(ctx context.Context, projectID, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM timer WHERE id = ? AND project_id = ?`, id, projectID))
	})
	if err != nil {
		return fmt.Errorf("delete timer %d: %w", id, err)
	}
	return nil
}

// lockTimer locks and reads a timer of a project.
func (s *Store) lockTimer(ctx context.Context, tx *sqlTx, projectID, id int64) (Timer, error) {
	return scanTimer(tx.QueryRowContext(ctx, `SELECT `+timerColumns+` FROM timer t WHERE t.id = ? AND t.project_id = ?`+s.dial.forUpdate(), id, projectID).Scan)
}

// TimerTotals are what became of the tasks of a project's timers since a day, and how many timers fail now.
type TimerTotals struct {
	Enabled, Failing int
	// Tasks counts by final state, Tries all calls; LateMS is the sum of what the calls of Tasks came late.
	Tasks  map[timer.State]int64
	Tries  int64
	LateMS int64
}

// TimerTotals returns them for the days from the one of a moment on, as the calendar of UTC has them.
func (s *Store) TimerTotals(ctx context.Context, projectID int64, since dag.Millis) (TimerTotals, error) {
	out := TimerTotals{Tasks: map[timer.State]int64{}}
	err := s.read.QueryRowContext(ctx, `SELECT COALESCE(SUM(enabled), 0), COALESCE(SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END), 0) FROM timer WHERE project_id = ?`,
		projectID).Scan(&out.Enabled, &out.Failing)
	if err != nil {
		return out, fmt.Errorf("count timers of project %d: %w", projectID, explain(err))
	}
	type sum struct {
		state              timer.State
		tasks, tries, late int64
	}
	sums, err := collect(ctx, s, func(scan func(...any) error) (v sum, err error) {
		return v, scan(&v.state, &v.tasks, &v.tries, &v.late)
	},
		`SELECT state, SUM(tasks), SUM(tries), SUM(late_ms) FROM timer_day WHERE project_id = ? AND day >= ? GROUP BY state`, projectID, dayOf(since))
	if err != nil {
		return out, fmt.Errorf("sum tasks of project %d: %w", projectID, err)
	}
	for _, v := range sums {
		out.Tasks[v.state] = v.tasks
		out.Tries += v.tries
		out.LateMS += v.late
	}
	return out, nil
}

// dayOf is the number of a moment's day since 1970.
func dayOf(at dag.Millis) int64 { return int64(at) / msPerDay }
