package sql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
)

// Backfill is one wish to run a workflow, and with it those downstream, for many dates.
type Backfill struct {
	ID         int64
	ProjectID  int64
	WorkflowID int64
	Project    string // joined
	Workflow   string // joined
	Asked      string // JSON that says how its dates were asked for, for people
	Timezone   string // see Start
	backfill.Rules
	DryRun      bool
	WorkerGroup string
	Priority    dag.Priority
	State       backfill.State
	// Active says that something of it runs, or will.
	Active bool
	// StopRunning says that its cancel is to stop what runs, too.
	StopRunning bool
	CreatedBy   string
	CreatedAt   dag.Millis
	ChangedBy   string // who paused, resumed or cancelled it last
	FinishedAt  dag.Millis
	Dates       backfill.Counts
}

// BackfillPart is a workflow of a backfill.
type BackfillPart struct {
	ProjectID  int64
	WorkflowID int64
	Version    int
	Params     map[string]string
	OnFailure  dag.OnFailure // of its instances
}

// BackfillEntry is a date of one of the parts.
type BackfillEntry struct {
	Part int
	At   dag.Millis
}

// BackfillDate is one date of a workflow of a backfill. Place counts from 1.
type BackfillDate struct {
	Place        int64
	Project      string // joined
	Workflow     string // joined
	ScheduleTime dag.Millis
	State        backfill.DateState
	Instance     int64             // 0 for none yet
	InstanceIs   dag.InstanceState // joined; "" for none
	Round        int               // joined; of the instance
}

// BackfillKey is the trigger key of the instances of a backfill: one for each date of a workflow.
func BackfillKey(id int64) string { return fmt.Sprintf("b%d", id) }

// BackfillOf returns the backfill that a trigger key is of; false where it is of none.
func BackfillOf(key string) (id int64, ok bool) {
	digits, ok := strings.CutPrefix(key, "b")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil && id > 0
}

var (
	backfillPartInsert = &table{
		name: "backfill_part",
		cols: []string{"backfill_id", "part", "project_id", "workflow_id", "version", "params", "on_failure"},
	}
	backfillDateInsert = &table{
		name: "backfill_date",
		cols: []string{"backfill_id", "place", "part", "schedule_time", "state", "instance_id"},
	}
)

// CreateBackfill makes a backfill of parts, whose dates start in the order given. newest is the latest backfill of the
// workflow that the caller knew when it planned, 0 for none: where another was made since, it returns ErrExists.
func (s *Store) CreateBackfill(ctx context.Context, b Backfill, parts []BackfillPart, dates []BackfillEntry, newest int64) (Backfill, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Backfill{}, err
	}
	b.ID, b.State, b.CreatedAt = id, backfill.Running, orNow(b.CreatedAt, s.millis())
	var partRows, dateRows []any
	for i, p := range parts {
		partRows = append(partRows, id, int64(i), p.ProjectID, p.WorkflowID, int64(p.Version), encodeMap(p.Params), string(p.OnFailure))
	}
	for i, d := range dates {
		dateRows = append(dateRows, id, int64(i+1), int64(d.Part), int64(d.At), string(backfill.DateWaiting), int64(0))
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		// The lock keeps two backfills of one workflow, and its delete, apart.
		var name string
		err := tx.QueryRowContext(ctx, `SELECT name FROM workflow WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), b.WorkflowID).Scan(&name)
		if err != nil {
			return err
		}
		var latest int64
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM backfill WHERE workflow_id = ?`, b.WorkflowID).Scan(&latest); err != nil {
			return err
		}
		if latest != newest {
			return fmt.Errorf("backfill %d of workflow %q: %w", latest, name, ErrExists)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO backfill (id, project_id, workflow_id, asked, timezone, parallel, on_failure, dry_run, worker_group, priority,
			state, active, stop_running, created_by, created_at, changed_by, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?, ?, '', 0)`,
			b.ID, b.ProjectID, b.WorkflowID, b.Asked, b.Timezone, b.Parallel, string(b.OnFailure), flag(b.DryRun), b.WorkerGroup, int64(b.Priority),
			string(b.State), b.CreatedBy, b.CreatedAt)
		if err != nil {
			return err
		}
		in := &batch{s: s, tx: plainTx{tx, s}}
		if err := in.rows(ctx, backfillPartInsert, s.dial.insert, partRows); err != nil {
			return err
		}
		return in.rows(ctx, backfillDateInsert, s.dial.insert, dateRows)
	})
	if err != nil {
		return Backfill{}, fmt.Errorf("create backfill of workflow %d: %w", b.WorkflowID, err)
	}
	return s.Backfill(ctx, id)
}

const selectBackfill = `SELECT b.id, b.project_id, b.workflow_id, COALESCE(p.name, ''), COALESCE(w.name, ''), b.asked, b.timezone, b.parallel, b.on_failure,
	b.dry_run, b.worker_group, b.priority, b.state, b.active, b.stop_running, b.created_by, b.created_at, b.changed_by, b.finished_at
	FROM backfill b LEFT JOIN project p ON p.id = b.project_id LEFT JOIN workflow w ON w.id = b.workflow_id`

func scanBackfill(scan func(...any) error) (b Backfill, err error) {
	return b, scan(&b.ID, &b.ProjectID, &b.WorkflowID, &b.Project, &b.Workflow, &b.Asked, &b.Timezone, &b.Parallel, &b.OnFailure,
		&b.DryRun, &b.WorkerGroup, &b.Priority, &b.State, &b.Active, &b.StopRunning, &b.CreatedBy, &b.CreatedAt, &b.ChangedBy, &b.FinishedAt)
}

// Backfill returns one backfill, or ErrNotFound.
func (s *Store) Backfill(ctx context.Context, id int64) (Backfill, error) {
	b, err := scanBackfill(s.read.QueryRowContext(ctx, selectBackfill+` WHERE b.id = ?`, id).Scan)
	if err != nil {
		return Backfill{}, fmt.Errorf("read backfill %d: %w", id, explain(err))
	}
	out := []Backfill{b}
	return out[0], s.addDateCounts(ctx, out)
}

// Backfills returns a page of the backfills of a workflow, the newest first.
func (s *Store) Backfills(ctx context.Context, workflowID int64, page Page) ([]Backfill, string, error) {
	return s.backfills(ctx, "b.workflow_id", workflowID, page)
}

// ProjectBackfills returns a page of the backfills of all workflows of a project, the newest first.
func (s *Store) ProjectBackfills(ctx context.Context, projectID int64, page Page) ([]Backfill, string, error) {
	return s.backfills(ctx, "b.project_id", projectID, page)
}

func (s *Store) backfills(ctx context.Context, column string, id int64, page Page) ([]Backfill, string, error) {
	before := keyCursor{1<<63 - 1}
	if err := page.decode("backfills", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanBackfill, selectBackfill+` WHERE `+column+` = ? AND b.id < ? ORDER BY b.id DESC LIMIT ?`, id, before.Key, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read backfills of %s %d: %w", column, id, err)
	}
	out, next, err := cut(out, limit, "backfills", func(b Backfill) any { return keyCursor{b.ID} })
	if err != nil {
		return nil, "", err
	}
	return out, next, s.addDateCounts(ctx, out)
}

// ActiveBackfills returns up to limit backfills of which something runs or will, by id, beginning after one.
func (s *Store) ActiveBackfills(ctx context.Context, after int64, limit int) ([]int64, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT id FROM backfill WHERE active = 1 AND id > ? ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read active backfills: %w", err)
	}
	return out, nil
}

// addDateCounts counts the dates of backfills.
func (s *Store) addDateCounts(ctx context.Context, list []Backfill) error {
	at := make(map[int64]int, len(list))
	ids := make([]int64, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, i
		list[i].Dates = backfill.Counts{}
	}
	type count struct {
		id    int64
		state backfill.DateState
		n     int
	}
	return eachChunk(ids, func(chunk []any) error {
		counts, err := collect(ctx, s, func(scan func(...any) error) (c count, err error) { return c, scan(&c.id, &c.state, &c.n) },
			`SELECT backfill_id, state, COUNT(*) FROM backfill_date WHERE backfill_id IN (`+marks(len(chunk))+`) GROUP BY backfill_id, state`, chunk...)
		if err != nil {
			return fmt.Errorf("count dates of backfills: %w", err)
		}
		for _, c := range counts {
			list[at[c.id]].Dates[c.state] = c.n
		}
		return nil
	})
}

// BackfillDates returns a page of the dates of a backfill in the order in which they start; with a state, of those
// alone.
func (s *Store) BackfillDates(ctx context.Context, id int64, state backfill.DateState, page Page) ([]BackfillDate, string, error) {
	var after keyCursor
	if err := page.decode("backfill_dates", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	where, args := `d.backfill_id = ? AND d.place > ?`, []any{id, after.Key}
	if state != "" {
		where, args = where+` AND d.state = ?`, append(args, string(state))
	}
	out, err := collect(ctx, s, func(scan func(...any) error) (d BackfillDate, err error) {
		return d, scan(&d.Place, &d.Project, &d.Workflow, &d.ScheduleTime, &d.State, &d.Instance, &d.InstanceIs, &d.Round)
	}, `SELECT d.place, COALESCE(p.name, ''), COALESCE(w.name, ''), d.schedule_time, d.state, d.instance_id, COALESCE(i.state, ''), COALESCE(i.round, 0)
		FROM backfill_date d JOIN backfill_part t ON t.backfill_id = d.backfill_id AND t.part = d.part LEFT JOIN project p ON p.id = t.project_id
		LEFT JOIN workflow w ON w.id = t.workflow_id LEFT JOIN workflow_instance i ON i.id = d.instance_id
		WHERE `+where+` ORDER BY d.place LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read dates of backfill %d: %w", id, err)
	}
	return cut(out, limit, "backfill_dates", func(d BackfillDate) any { return keyCursor{d.Place} })
}

// ActiveBackfill returns the latest backfill of a workflow of which something runs or will, 0 where none does.
func (s *Store) ActiveBackfill(ctx context.Context, workflowID int64) (id int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM backfill WHERE active = 1 AND workflow_id = ?`, workflowID).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("read active backfill of workflow %d: %w", workflowID, err)
	}
	return id, nil
}

// NewestBackfill returns the latest backfill of a workflow, 0 where it has none.
func (s *Store) NewestBackfill(ctx context.Context, workflowID int64) (id int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM backfill WHERE workflow_id = ?`, workflowID).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("read newest backfill of workflow %d: %w", workflowID, explain(err))
	}
	return id, nil
}

// DependingWorkflows returns the ids of published workflows that may have dependent tasks, up to limit of them beginning
// after one: their text holds the word.
func (s *Store) DependingWorkflows(ctx context.Context, after int64, limit int) ([]int64, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT w.id FROM workflow w JOIN workflow_version v ON v.workflow_id = w.id AND v.version = w.published
		WHERE w.deleted_at = 0 AND w.id > ? AND v.text LIKE ? ORDER BY w.id LIMIT ?`, after, "%"+dag.TypeDependent+"%", limit)
	if err != nil {
		return nil, fmt.Errorf("read workflows with dependents: %w", err)
	}
	return out, nil
}

// Ran is the latest run of the whole workflow for a schedule time.
type Ran struct {
	Instance int64
	Had      backfill.Had
}

// RanAt returns what there is of each of the schedule times already; of those that never ran there is nothing. Dry
// runs, and instances that left tasks out from the start, count for nothing.
func (s *Store) RanAt(ctx context.Context, workflowID int64, times []dag.Millis) (map[dag.Millis]Ran, error) {
	out := map[dag.Millis]Ran{}
	type run struct {
		at    dag.Millis
		id    int64
		state dag.InstanceState
	}
	given := make([]int64, len(times))
	for i, t := range times {
		given[i] = int64(t)
	}
	err := eachChunk(given, func(chunk []any) error {
		runs, err := collect(ctx, s, func(scan func(...any) error) (r run, err error) { return r, scan(&r.at, &r.id, &r.state) },
			`SELECT i.schedule_time, i.id, i.state FROM workflow_instance i JOIN (SELECT MAX(id) AS id FROM workflow_instance WHERE workflow_id = ?
			AND schedule_time IN (`+marks(len(chunk))+`) AND dry_run = 0 AND start_tasks = '' GROUP BY schedule_time) latest ON latest.id = i.id`,
			append([]any{workflowID}, chunk...)...)
		for _, r := range runs {
			had := backfill.HadOpen
			switch {
			case r.state == dag.InstanceSuccess:
				had = backfill.HadSuccess
			case r.state.Final():
				had = backfill.HadFailure
			}
			out[r.at] = Ran{r.id, had}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read runs of workflow %d: %w", workflowID, err)
	}
	return out, nil
}
