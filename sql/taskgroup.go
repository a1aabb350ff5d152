package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// TaskGroup is a named number of places in a project, which its tasks take while they run.
type TaskGroup struct {
	ID          int64
	ProjectID   int64
	Name        string
	Description string
	Size        int // 0 gives no place
	Rate        Rate
	Started     int        // tasks that were let go within the last Rate.Per
	NextAt      dag.Millis // when the rate lets the next task go; zero where it does now
	Used        int        // the weight of the tasks that have places; it may be over Size
	Waiting     int        // tasks that wait
	CreatedAt   dag.Millis
	UpdatedAt   dag.Millis
}

// GroupTask is a task that has places of a group, or waits for them.
type GroupTask struct {
	InstanceID int64
	Task       int
	TaskName   string
	Workflow   string
	State      dag.TaskState
	Waiting    bool
	Forced     bool
	// ForcedBy gave it its places beyond the size, for ForcedReason.
	ForcedBy, ForcedReason string
	Weight                 int
	ReadyAt                dag.Millis
}

const selectTaskGroup = `SELECT g.id, g.project_id, g.name, g.description, g.size, g.rate_tasks, g.rate_per, g.created_at, g.updated_at,
	(SELECT COALESCE(SUM(p.weight), 0) FROM task_place p WHERE p.group_id = g.id AND p.state IN ('given', 'held')),
	(SELECT COUNT(*) FROM task_place p WHERE p.group_id = g.id AND p.state = 'waiting') FROM task_group g`

func scanTaskGroup(scan func(...any) error) (g TaskGroup, err error) {
	var per int64
	err = scan(&g.ID, &g.ProjectID, &g.Name, &g.Description, &g.Size, &g.Rate.Tasks, &per, &g.CreatedAt, &g.UpdatedAt, &g.Used, &g.Waiting)
	g.Rate.Per = time.Duration(per) * time.Millisecond
	return g, err
}

// PutTaskGroup makes a task group of a project, or changes its size, rate and description; a larger size lets
// waiting tasks go. A new rate counts what started under the one before. It returns the group as it is then, and whether it is new.
func (s *Store) PutTaskGroup(ctx context.Context, g TaskGroup) (TaskGroup, bool, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return TaskGroup{}, false, err
	}
	made := false
	err = s.write(ctx, func(tx *sqlTx) error {
		var project string
		// The lock keeps two first writes of one name, and a delete of the project, apart.
		err := tx.QueryRowContext(ctx, `SELECT name FROM project WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), g.ProjectID).Scan(&project)
		if err != nil {
			return err
		}
		p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
		now := s.millis()
		known, err := p.groupID(ctx, g.ProjectID, g.Name)
		if made = errors.Is(err, ErrNotFound); made {
			_, err = tx.ExecContext(ctx, `INSERT INTO task_group (id, project_id, name, name_key, description, size, rate_tasks, rate_per, created_at, updated_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, g.ProjectID, g.Name, dag.FoldName(g.Name), g.Description, g.Size, g.Rate.Tasks, g.Rate.Per.Milliseconds(), now, now)
			return err
		}
		if err != nil {
			return err
		}
		locked, err := p.lockGroup(ctx, known)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE task_group SET name = ?, description = ?, size = ?, rate_tasks = ?, rate_per = ?, updated_at = ? WHERE id = ?`,
			g.Name, g.Description, g.Size, g.Rate.Tasks, g.Rate.Per.Milliseconds(), now, known)
		if err != nil {
			return err
		}
		locked.size, locked.rate = int64(g.Size), g.Rate
		return p.settleGroup(ctx, locked, nil, nil)
	})
	if err != nil {
		return TaskGroup{}, false, fmt.Errorf("put task group %q: %w", g.Name, err)
	}
	out, err := s.TaskGroup(ctx, g.ProjectID, g.Name)
	return out, made, err
}

// TaskGroup returns the project's group of that name, however it is written, or ErrNotFound.
func (s *Store) TaskGroup(ctx context.Context, projectID int64, name string) (TaskGroup, error) {
	g, err := scanTaskGroup(s.read.QueryRowContext(ctx, selectTaskGroup+` WHERE g.project_id = ? AND g.name_key = ?`, projectID, dag.FoldName(name)).Scan)
	if err == nil {
		err = s.countStarts(ctx, &g)
	}
	if err != nil {
		return TaskGroup{}, fmt.Errorf("read task group %q: %w", name, explain(err))
	}
	return g, nil
}

// countStarts fills what a group's rate has let go.
func (s *Store) countStarts(ctx context.Context, g *TaskGroup) error {
	if g.Rate.Tasks == 0 {
		return nil
	}
	starts, err := collect(ctx, s, func(scan func(...any) error) (t groupStart, err error) { return t, scan(&t.at, &t.tasks) },
		`SELECT started_at, tasks FROM task_group_start WHERE group_id = ? AND started_at > ? ORDER BY started_at`, g.ID, int64(s.millis().Add(-g.Rate.Per)))
	if err != nil {
		return err
	}
	c := pace{rate: g.Rate, left: int64(g.Rate.Tasks), starts: starts}
	for _, t := range starts {
		c.left -= t.tasks
		g.Started += int(t.tasks)
	}
	if c.left <= 0 {
		g.NextAt = c.next()
	}
	return nil
}

// TaskGroups returns a page of a project's groups, by name.
func (s *Store) TaskGroups(ctx context.Context, projectID int64, page Page) ([]TaskGroup, string, error) {
	var after nameCursor
	if err := page.decode("task_groups", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanTaskGroup, selectTaskGroup+` WHERE g.project_id = ? AND g.name_key > ? ORDER BY g.name_key LIMIT ?`,
		projectID, afterName(page, after), limit+1)
	for i := 0; i < len(out) && err == nil; i++ {
		err = s.countStarts(ctx, &out[i])
	}
	if err != nil {
		return nil, "", fmt.Errorf("read task groups of project %d: %w", projectID, err)
	}
	return cut(out, limit, "task_groups", func(g TaskGroup) any { return nameCursor{dag.FoldName(g.Name)} })
}

// DeleteTaskGroup deletes a group; InUseError while tasks have places of it or wait for them.
func (s *Store) DeleteTaskGroup(ctx context.Context, projectID int64, name string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
		id, err := p.groupID(ctx, projectID, name)
		if err == nil {
			_, err = p.lockGroup(ctx, id)
		}
		if err != nil {
			return err
		}
		refs, err := references(ctx, tx, "instance ", `SELECT DISTINCT instance_id FROM task_place WHERE group_id = ? ORDER BY instance_id LIMIT 10`, id)
		if err != nil {
			return err
		}
		if len(refs) > 0 {
			return &InUseError{What: "task group " + name, References: refs}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM task_group_start WHERE group_id = ?`, id); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `DELETE FROM task_group WHERE id = ?`, id))
	})
	if err != nil {
		return fmt.Errorf("delete task group %q: %w", name, err)
	}
	return nil
}

// Force is somebody's wish that a task gets the places for which it waits.
type Force struct {
	GroupID, InstanceID int64
	Task                int
	By, Reason          string
}

// ForceTask gives a task that waits for places of a group what it needs, whatever the group has left; its rate
// counts it all the same. It returns
// ErrNotFound where no such task waits for it.
func (s *Store) ForceTask(ctx context.Context, f Force) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
		g, err := p.lockGroup(ctx, f.GroupID)
		if err != nil {
			return err
		}
		c, err := p.pace(ctx, g)
		if err == nil {
			err = p.started(ctx, g, &c, 1)
		}
		if err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE task_place SET state = 'given', forced = 1, forced_by = ?, forced_reason = ?
			WHERE group_id = ? AND instance_id = ? AND task_index = ? AND state = 'waiting'`, f.By, f.Reason, f.GroupID, f.InstanceID, f.Task))
	})
	if err != nil {
		return fmt.Errorf("force task %d of instance %d: %w", f.Task, f.InstanceID, err)
	}
	return nil
}

// maxGroupTasks bounds the tasks that one read of a group returns.
const maxGroupTasks = 200

// GroupTasks returns the tasks of a group, 200 at most: those that have places, then those that wait, by
// their turn.
func (s *Store) GroupTasks(ctx context.Context, groupID int64) ([]GroupTask, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (t GroupTask, err error) {
		return t, scan(&t.InstanceID, &t.Task, &t.TaskName, &t.State, &t.Workflow, &t.Waiting, &t.Forced, &t.ForcedBy, &t.ForcedReason, &t.Weight, &t.ReadyAt)
	}, `SELECT p.instance_id, p.task_index, COALESCE(t.name, ''), COALESCE(t.state, ''), COALESCE(w.name, ''), CASE WHEN p.state = 'waiting' THEN 1 ELSE 0 END,
		p.forced, p.forced_by, p.forced_reason, p.weight, p.ready_at FROM task_place p LEFT JOIN task_instance t ON t.instance_id = p.instance_id AND t.task_index = p.task_index
		LEFT JOIN workflow_instance i ON i.id = p.instance_id LEFT JOIN workflow w ON w.id = i.workflow_id
		WHERE p.group_id = ? ORDER BY CASE WHEN p.state = 'waiting' THEN 1 ELSE 0 END, p.turn, p.ready_at, p.instance_id, p.task_index LIMIT ?`, groupID, maxGroupTasks)
	if err != nil {
		return nil, fmt.Errorf("read tasks of task group %d: %w", groupID, err)
	}
	return out, nil
}

// TaskInGroup is how a task stands in its group.
type TaskInGroup struct {
	Waiting bool
	Ahead   int // those that wait and are before it
}

// TaskPlace returns how a task stands in the group that it asked for places, or ErrNotFound where it has not.
func (s *Store) TaskPlace(ctx context.Context, instance int64, task int) (TaskInGroup, error) {
	var out TaskInGroup
	err := s.read.QueryRowContext(ctx, `SELECT CASE WHEN p.state = 'waiting' THEN 1 ELSE 0 END, (SELECT COUNT(*) FROM task_place o WHERE o.group_id = p.group_id
		AND o.state = 'waiting' AND (o.turn < p.turn OR o.turn = p.turn AND (o.ready_at < p.ready_at OR o.ready_at = p.ready_at
		AND (o.instance_id < p.instance_id OR o.instance_id = p.instance_id AND o.task_index < p.task_index))))
		FROM task_place p WHERE p.instance_id = ? AND p.task_index = ?`, instance, task).Scan(&out.Waiting, &out.Ahead)
	if err != nil {
		return out, fmt.Errorf("read place of task %d of instance %d: %w", task, instance, explain(err))
	}
	return out, nil
}
