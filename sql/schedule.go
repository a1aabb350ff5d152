package sql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// MaxSchedules bounds the schedules of a workflow.
const MaxSchedules = 1000

// Schedule starts instances of a workflow at the moments that its document says.
type Schedule struct {
	ID         int64
	ProjectID  int64
	WorkflowID int64
	Project    string // joined
	Workflow   string // joined
	Name       string
	Spec       schedule.Spec
	// Revision rises with each change of what it does, from 1 on: a fire that an older one planned starts nothing.
	Revision int64
	Enabled  bool
	Why      string // where it is not enabled: why not
	// AfterWorkflow is the workflow whose ends it waits for, as Spec.After names it; 0 where moments fire.
	AfterWorkflow int64
	// PlannedUntil is the moment before which every fire has its row.
	PlannedUntil dag.Millis
	CreatedBy    string
	CreatedAt    dag.Millis
	ChangedBy    string
	ChangedAt    dag.Millis
}

// ScheduleKey is the trigger key of the instances of a schedule: one for each of its moments.
func ScheduleKey(id int64) string { return fmt.Sprintf("s%d", id) }

// ScheduleFilter says which schedules are wanted; a zero field asks for nothing.
type ScheduleFilter struct {
	ProjectID  int64
	WorkflowID int64
	Text       string // in the name, however it is written
	Enabled    *bool
}

const (
	scheduleColumns = `s.id, s.project_id, s.workflow_id, COALESCE(p.name, ''), COALESCE(w.name, ''), s.name, s.spec, s.revision, s.enabled, s.why,
	s.planned_until, s.after_workflow, s.created_by, s.created_at, s.changed_by, s.changed_at`
	selectSchedule = `SELECT ` + scheduleColumns + ` FROM schedule s LEFT JOIN project p ON p.id = s.project_id LEFT JOIN workflow w ON w.id = s.workflow_id`
)

func scanSchedule(scan func(...any) error) (sch Schedule, err error) {
	var spec string
	err = scan(&sch.ID, &sch.ProjectID, &sch.WorkflowID, &sch.Project, &sch.Workflow, &sch.Name, &spec, &sch.Revision, &sch.Enabled, &sch.Why,
		&sch.PlannedUntil, &sch.AfterWorkflow, &sch.CreatedBy, &sch.CreatedAt, &sch.ChangedBy, &sch.ChangedAt)
	if err != nil {
		return sch, err
	}
	return sch, sch.decode(spec)
}

func (sch *Schedule) decode(spec string) error {
	if err := json.Unmarshal([]byte(spec), &sch.Spec); err != nil {
		return fmt.Errorf("schedule %d: %w", sch.ID, err)
	}
	return nil
}

func encodeSpec(spec schedule.Spec) string {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("sql: spec of a schedule: %v", err)) // texts, numbers and flags: it can't fail
	}
	return string(text)
}

// SaveSchedule makes a schedule of a workflow, or changes it, and returns it as it is then and whether it is new.
// match is the revision that must stand: 0 makes a new one alone, -1 takes any. It returns ErrExists where a new one
// was wanted and the name is taken, ErrStale where another revision stands, ErrNotFound where the workflow is gone, or
// the schedule that was to be changed, ErrFull where the workflow has MaxSchedules, and ErrCircle where its end would
// come to start it. A change holds from the next
// fire on: what is due already and was not fired is skipped.
func (s *Store) SaveSchedule(ctx context.Context, sch Schedule, match int64) (saved Schedule, created bool, err error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Schedule{}, false, err
	}
	now := s.millis()
	err = s.write(ctx, func(tx *sqlTx) error {
		created, err = s.saveSchedule(ctx, tx, sch, match, id, now)
		return err
	})
	if err != nil {
		return Schedule{}, false, fmt.Errorf("save schedule %q: %w", sch.Name, err)
	}
	saved, err = s.Schedule(ctx, sch.WorkflowID, sch.Name)
	return saved, created, err
}

// SaveSchedules makes or changes schedules, whatever revisions stand, all of them or none, and returns how many are new. Where
// err says why one can't be saved, as SaveSchedule does, bad is its index; -1 where it is not about one of them.
func (s *Store) SaveSchedules(ctx context.Context, list []Schedule) (made, bad int, err error) {
	first, err := s.NextIDs(ctx, len(list))
	if err != nil {
		return 0, -1, err
	}
	order := make([]int, len(list)) // of locks
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].WorkflowID, list[b].WorkflowID) })
	now := s.millis()
	err = s.write(ctx, func(tx *sqlTx) error {
		made, bad = 0, -1
		for _, i := range order {
			created, err := s.saveSchedule(ctx, tx, list[i], -1, first+int64(i), now)
			if err != nil {
				bad = i
				return err
			}
			if created {
				made++
			}
		}
		return nil
	})
	if err != nil {
		return 0, bad, fmt.Errorf("save %d schedules: %w", len(list), err)
	}
	return made, -1, nil
}

// saveSchedule saves one in a transaction. id is that of a new one.
func (s *Store) saveSchedule(ctx context.Context, tx *sqlTx, sch Schedule, match, id int64, now dag.Millis) (created bool, err error) {
	sch.ChangedAt = now
	// The workflow's row is the lock: two writers together could pass the bound, or make one name twice.
	if err := tx.QueryRowContext(ctx, `SELECT project_id FROM workflow WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), sch.WorkflowID).Scan(&sch.ProjectID); err != nil {
		return false, err
	}
	if err := s.refuseCircle(ctx, tx, &sch); err != nil {
		return false, err
	}
	var stands Schedule
	var spec string
	err = tx.QueryRowContext(ctx, `SELECT id, spec, revision, enabled FROM schedule WHERE workflow_id = ? AND name_key = ?`+s.dial.forUpdate(),
		sch.WorkflowID, dag.FoldName(sch.Name)).Scan(&stands.ID, &spec, &stands.Revision, &stands.Enabled)
	created = errors.Is(explain(err), ErrNotFound)
	switch {
	case err != nil && !created:
		return false, err
	case created && match > 0:
		return false, ErrNotFound
	case created:
		sch.ID, sch.CreatedBy = id, sch.ChangedBy
		return true, s.insertSchedule(ctx, tx, sch)
	case match == 0:
		return false, ErrExists
	case match > 0 && match != stands.Revision:
		return false, fmt.Errorf("it is revision %d: %w", stands.Revision, ErrStale)
	}
	if spec != encodeSpec(sch.Spec) || stands.Enabled != sch.Enabled {
		if err := s.replan(ctx, tx, []int64{stands.ID}, sch.Enabled, now); err != nil {
			return false, err
		}
	}
	if names := sch.Spec.CalendarNames(); spec != encodeSpec(sch.Spec) && (len(names) > 0 || strings.Contains(spec, `"calendar"`)) {
		if err := s.nameCalendars(ctx, tx, stands.ID, sch.ProjectID, names); err != nil {
			return false, err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE schedule SET name = ?, spec = ?, why = ?, after_workflow = ?, after_states = ?, changed_by = ?, changed_at = ? WHERE id = ?`,
		sch.Name, encodeSpec(sch.Spec), sch.Why, sch.AfterWorkflow, afterStates(&sch.Spec), sch.ChangedBy, now, stands.ID)
	return false, err
}

func (s *Store) insertSchedule(ctx context.Context, tx *sqlTx, sch Schedule) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM schedule WHERE workflow_id = ?`, sch.WorkflowID).Scan(&n); err != nil {
		return err
	}
	if n >= MaxSchedules {
		return ErrFull
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO schedule (id, project_id, workflow_id, name, name_key, spec, revision, enabled, why, planned_until,
		after_workflow, after_states, created_by, created_at, changed_by, changed_at) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		sch.ID, sch.ProjectID, sch.WorkflowID, sch.Name, dag.FoldName(sch.Name), encodeSpec(sch.Spec), flag(sch.Enabled), sch.Why, sch.ChangedAt,
		sch.AfterWorkflow, afterStates(&sch.Spec), sch.CreatedBy, sch.ChangedAt, sch.ChangedBy, sch.ChangedAt)
	if names := sch.Spec.CalendarNames(); err == nil && len(names) > 0 {
		err = s.nameCalendars(ctx, tx, sch.ID, sch.ProjectID, names)
	}
	return err
}

// replan raises the revision of schedules whose rows are locked, and makes them be planned anew from a moment on. Open
// fires before it stay: they are due, or will be by their jitter, and are judged then. Where no master was there to plan
// for long, what was due since is skipped here: it must come before the document or a calendar is replaced. The
// fires of ends and calls stay too, wherever between the moments they stand: those have come already.
func (s *Store) replan(ctx context.Context, tx *sqlTx, ids []int64, enabled bool, now dag.Millis) error {
	reason := schedule.ReasonChanged
	if !enabled {
		reason = schedule.ReasonPaused
	}
	if err := s.skipUnplanned(ctx, tx, ids, reason, now); err != nil {
		return err
	}
	return eachChunk(ids, func(chunk []any) error {
		_, err := tx.ExecContext(ctx, `UPDATE schedule SET revision = revision + 1, enabled = ?, planned_until = ? WHERE id IN (`+marks(len(chunk))+`)`,
			append([]any{flag(enabled), now}, chunk...)...)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM fire WHERE open = 1 AND after_id = 0 AND call_id = '' AND planned_at >= ? AND source_id IN (`+marks(len(chunk))+`)`, append([]any{now}, chunk...)...)
		return err
	})
}

// Schedule returns the workflow's schedule of that name, however it is written, or ErrNotFound.
func (s *Store) Schedule(ctx context.Context, workflowID int64, name string) (Schedule, error) {
	sch, err := scanSchedule(s.read.QueryRowContext(ctx, selectSchedule+` WHERE s.workflow_id = ? AND s.name_key = ?`, workflowID, dag.FoldName(name)).Scan)
	if err != nil {
		return Schedule{}, fmt.Errorf("read schedule %q: %w", name, explain(err))
	}
	return sch, nil
}

// ScheduleByID returns one schedule, or ErrNotFound.
func (s *Store) ScheduleByID(ctx context.Context, id int64) (Schedule, error) {
	sch, err := scanSchedule(s.read.QueryRowContext(ctx, selectSchedule+` WHERE s.id = ?`, id).Scan)
	if err != nil {
		return Schedule{}, fmt.Errorf("read schedule %d: %w", id, explain(err))
	}
	return sch, nil
}

// SchedulesByID returns some schedules in the order of their ids as given; those that are gone are left out.
func (s *Store) SchedulesByID(ctx context.Context, ids []int64) ([]Schedule, error) {
	found := make(map[int64]Schedule, len(ids))
	err := eachChunk(ids, func(chunk []any) error {
		some, err := collect(ctx, s, scanSchedule, selectSchedule+` WHERE s.id IN (`+marks(len(chunk))+`)`, chunk...)
		for _, sch := range some {
			found[sch.ID] = sch
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %d schedules: %w", len(ids), err)
	}
	var out []Schedule
	for _, id := range ids {
		if sch, ok := found[id]; ok {
			out = append(out, sch)
		}
	}
	return out, nil
}

// Schedules returns a page of the schedules that a filter wants, the oldest first.
func (s *Store) Schedules(ctx context.Context, f ScheduleFilter, page Page) ([]Schedule, string, error) {
	var after keyCursor
	if err := page.decode("schedules", &after); err != nil {
		return nil, "", err
	}
	where, args := []string{"s.id > ?"}, []any{after.Key}
	add := func(text string, arg any) { where, args = append(where, text), append(args, arg) }
	if f.ProjectID != 0 {
		add("s.project_id = ?", f.ProjectID)
	}
	if f.WorkflowID != 0 {
		add("s.workflow_id = ?", f.WorkflowID)
	}
	if f.Enabled != nil {
		add("s.enabled = ?", flag(*f.Enabled))
	}
	if f.Text != "" {
		add("INSTR(s.name_key, ?) > 0", dag.FoldName(f.Text))
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanSchedule, selectSchedule+` WHERE `+strings.Join(where, " AND ")+` ORDER BY s.id LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read schedules: %w", err)
	}
	return cut(out, limit, "schedules", func(sch Schedule) any { return keyCursor{sch.ID} })
}

// EnableSchedules enables schedules, or pauses them, and returns how many that changed; why says why they are paused.
// Those that are gone, or are so already, are passed over. Enabled again, a schedule fires from now on: what would
// have been due during the pause never had a row.
func (s *Store) EnableSchedules(ctx context.Context, ids []int64, enabled bool, why, by string) (changed int, err error) {
	if enabled {
		why = ""
	}
	ids = slices.Sorted(slices.Values(ids)) // the order of locks
	for chunk := range slices.Chunk(slices.Compact(ids), maxStatementRows) {
		n, err := s.enableSchedules(ctx, chunk, enabled, why, by)
		if changed += n; err != nil {
			return changed, fmt.Errorf("enable schedules: %w", err)
		}
	}
	return changed, nil
}

func (s *Store) enableSchedules(ctx context.Context, ids []int64, enabled bool, why, by string) (changed int, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		changed, err = s.enable(ctx, tx, ids, enabled, why, by)
		return err
	})
	return changed, err
}

func (s *Store) enable(ctx context.Context, tx *sqlTx, ids []int64, enabled bool, why, by string) (changed int, err error) {
	now := s.millis()
	args := []any{flag(!enabled)}
	for _, id := range ids {
		args = append(args, id)
	}
	var other []int64
	if err := tx.SelectContext(ctx, &other, `SELECT id FROM schedule WHERE enabled = ? AND id IN (`+marks(len(ids))+`) ORDER BY id`+s.dial.forUpdate(), args...); err != nil {
		return 0, err
	}
	if len(other) == 0 {
		return 0, nil
	}
	err = eachChunk(other, func(chunk []any) error {
		_, err := tx.ExecContext(ctx, `UPDATE schedule SET why = ?, changed_by = ?, changed_at = ? WHERE id IN (`+marks(len(chunk))+`)`, append([]any{why, by, now}, chunk...)...)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(other), s.replan(ctx, tx, other, enabled, now)
}

// DeleteSchedule deletes a schedule and what it has planned; ErrNotFound where it is gone. Its instances stay.
func (s *Store) DeleteSchedule(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := metOne(tx.ExecContext(ctx, `DELETE FROM schedule WHERE id = ?`, id)); err != nil {
			return err
		}
		return s.forgetFires(ctx, tx, []int64{id})
	})
	if err != nil {
		return fmt.Errorf("delete schedule %d: %w", id, err)
	}
	return nil
}

// deleteSchedulesOf deletes the schedules of a workflow, whose row is locked.
func (s *Store) deleteSchedulesOf(ctx context.Context, tx *sqlTx, workflow int64) error {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, `SELECT id FROM schedule WHERE workflow_id = ? ORDER BY id`+s.dial.forUpdate(), workflow); err != nil || len(ids) == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM schedule WHERE workflow_id = ?`, workflow); err != nil {
		return err
	}
	return s.forgetFires(ctx, tx, ids)
}

// forgetFires deletes the open fires of schedules that are deleted, the sums, the ends and calls that they had, and which calendars they named. What had its outcome goes with the
// sweep: it may be very many.
func (s *Store) forgetFires(ctx context.Context, tx *sqlTx, ids []int64) error {
	return eachChunk(ids, func(chunk []any) error {
		for _, text := range []string{`DELETE FROM fire WHERE open = 1 AND source_id IN (`, `DELETE FROM fire_day WHERE source_id IN (`, forgetEnds, forgetCalls, forgetCalendars} {
			if _, err := tx.ExecContext(ctx, text+marks(len(chunk))+`)`, chunk...); err != nil {
				return err
			}
		}
		return nil
	})
}

// TriggerSchedule starts an instance of a schedule's workflow now, as a fire would, and returns it. It counts as one of
// the schedule's where the next fire asks whether one of them runs; itself it asks for nothing. It returns ErrNotFound
// where the schedule is gone, and ErrStale where its workflow has no published version.
func (s *Store) TriggerSchedule(ctx context.Context, id int64, by string) (instance int64, err error) {
	sch, err := s.ScheduleByID(ctx, id)
	if err != nil {
		return 0, err
	}
	w, err := s.WorkflowByID(ctx, sch.WorkflowID)
	if err != nil {
		return 0, err
	}
	if w.Published == 0 {
		return 0, fmt.Errorf("trigger schedule %d: workflow %q is not published: %w", id, w.Name, ErrStale)
	}
	st := sch.start(w.Published, s.millis(), s.millis())
	// No fire's key: it would take the place of one of the same moment, and a proof looks for the fire of each.
	st.By, st.TriggerKey = by, ScheduleKey(id)+":now"
	instance, _, err = s.Start(ctx, st)
	return instance, err
}

// start is the start of one instance of the schedule.
func (sch *Schedule) start(version int, scheduleTime, now dag.Millis) Start {
	spec := &sch.Spec
	priority, ok := dag.ParsePriority(spec.Priority)
	if !ok {
		priority = dag.PriorityMedium
	}
	return Start{
		WorkflowID: sch.WorkflowID, ProjectID: sch.ProjectID, Version: version, ScheduleTime: scheduleTime, Timezone: spec.Timezone,
		TriggerKey: ScheduleKey(sch.ID), Params: spec.Params, DryRun: spec.DryRun, WorkerGroup: spec.WorkerGroup, Priority: priority,
		OnFailure: spec.OnFailure, By: sch.CreatedBy, At: now,
	}
}
