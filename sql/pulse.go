package sql

import (
	"context"
	"fmt"
	"strconv"

	"github.com/porpoise/porpoise/dag"
)

// Pulse is what changes from second to second in the cluster's rows, as far as it is not in the memory of its
// processes. Every number comes from an index of what is open, so that history costs nothing.
type Pulse struct {
	Commands      int        // that wait for a master, MaxPulse at most
	OldestCommand dag.Millis // when the one that was written first was; zero where none waits
	// Lent are the slots of commands that their master has no room for, of the first MaxPulse commands, in order.
	Lent []int
	// Attempts says how many attempts are under way, MaxPulse at most; Mark is another one when they are others.
	Attempts int
	Mark     string
	Overdue  int // attempts whose time is past, MaxPulse at most
	Asked    int // recoveries without an answer
	GivenUp  int // recoveries that somebody must look at
}

// MaxPulse is where the counts of a Pulse end: beyond it a person only needs to know that there are very many.
const MaxPulse = 20_000

// Pulse reads it as it is at now.
func (s *Store) Pulse(ctx context.Context, now dag.Millis) (p Pulse, err error) {
	read := func(what, query string, args []any, into ...any) {
		if err != nil {
			return
		}
		if s.trace != nil {
			s.trace(query, args)
		}
		if err = s.read.QueryRowContext(ctx, query, args...).Scan(into...); err != nil {
			err = fmt.Errorf("read the pulse of %s: %w", what, explain(err))
		}
	}
	read("commands", `SELECT COUNT(*) FROM (SELECT 1 FROM command LIMIT ?) c`, []any{MaxPulse}, &p.Commands)
	// Ids come in blocks, one per process: the lowest are the oldest but for some seconds of many starts.
	read("commands", `SELECT COALESCE(MIN(created_at), 0) FROM (SELECT created_at FROM command ORDER BY id LIMIT 100) c`, nil, &p.OldestCommand)
	if err == nil && p.Commands > 0 {
		if p.Lent, err = s.lentSlots(ctx); err != nil {
			return p, err
		}
	}
	var sum int64
	read("attempts", `SELECT COUNT(*), COALESCE(SUM(instance_id % 1000003 * 31 + task_index * 7 + number), 0) FROM
		(SELECT instance_id, task_index, number FROM task_attempt WHERE complete_by > 0 LIMIT ?) a`, []any{MaxPulse}, &p.Attempts, &sum)
	p.Mark = strconv.Itoa(p.Attempts) + "." + strconv.FormatInt(sum, 36)
	read("overdue attempts", `SELECT COUNT(*) FROM (SELECT 1 FROM task_attempt WHERE complete_by > 0 AND complete_by <= ? LIMIT ?) a`, []any{now, MaxPulse}, &p.Overdue)
	read("recoveries", `SELECT COUNT(*) FROM (SELECT 1 FROM recovery WHERE state = ? LIMIT ?) r`, []any{string(RecoveryAsked), MaxPulse}, &p.Asked)
	read("recoveries", `SELECT COUNT(*) FROM (SELECT 1 FROM recovery WHERE state = ? LIMIT ?) r`, []any{string(RecoveryError), MaxPulse}, &p.GivenUp)
	return p, err
}

func (s *Store) lentSlots(ctx context.Context) ([]int, error) {
	slots, err := collect(ctx, s, func(scan func(...any) error) (slot int, err error) { return slot, scan(&slot) },
		`SELECT DISTINCT slot FROM (SELECT slot, lent FROM command LIMIT ?) c WHERE lent = 1 ORDER BY slot`, MaxPulse)
	if err != nil {
		return nil, fmt.Errorf("read the pulse of lent commands: %w", err)
	}
	return slots, nil
}

// RunningTask is an attempt that is under way.
type RunningTask struct {
	InstanceID int64
	ProjectID  int64
	Project    string
	Workflow   string
	Task       string
	Type       string
	Number     int
	Worker     string
	State      dag.AttemptState
	// DispatchedAt is when it was given to its worker, StartedAt when that began; zero before.
	DispatchedAt, StartedAt dag.Millis
}

// RunningTasks returns up to limit attempts that are under way, on one worker unless that is "".
func (s *Store) RunningTasks(ctx context.Context, worker string, limit int) ([]RunningTask, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (t RunningTask, err error) {
		return t, scan(&t.InstanceID, &t.ProjectID, &t.Project, &t.Workflow, &t.Task, &t.Type, &t.Number, &t.Worker, &t.State, &t.DispatchedAt, &t.StartedAt)
	}, `SELECT a.instance_id, i.project_id, p.name, w.name, t.name, t.type, a.number, a.worker, a.state, a.dispatched_at, a.started_at
		FROM task_attempt a JOIN task_instance t ON t.instance_id = a.instance_id AND t.task_index = a.task_index
		JOIN workflow_instance i ON i.id = a.instance_id JOIN workflow w ON w.id = i.workflow_id JOIN project p ON p.id = i.project_id
		WHERE a.complete_by > 0 AND (? = '' OR a.worker = ?) ORDER BY a.complete_by LIMIT ?`, worker, worker, limit)
	if err != nil {
		return nil, fmt.Errorf("read tasks that run: %w", err)
	}
	return out, nil
}

// SlotWork returns the commands of a slot that wait, and the instances of it that a master has, each up to limit.
func (s *Store) SlotWork(ctx context.Context, slot, slots, limit int) ([]Command, []InstanceRow, error) {
	commands, err := s.commands(ctx, `WHERE slot = ? LIMIT ?`, slot, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("read commands of slot %d: %w", slot, err)
	}
	rows, err := collect(ctx, s, scanInstance, selectInstance+` JOIN (SELECT id FROM workflow_instance WHERE owner <> '' AND id % ? = ? LIMIT ?) o ON o.id = i.id`, slots, slot, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("read instances of slot %d: %w", slot, err)
	}
	return commands, rows, nil
}

// maxBusyGroups bounds the task groups that one answer tells of.
const maxBusyGroups = 200

// BusyTaskGroups returns the task groups of all projects in which tasks have places or wait for them.
func (s *Store) BusyTaskGroups(ctx context.Context) ([]TaskGroup, error) {
	out, err := collect(ctx, s, scanTaskGroup, selectTaskGroup+` JOIN (SELECT DISTINCT group_id FROM task_place) b ON b.group_id = g.id ORDER BY g.project_id, g.id LIMIT ?`, maxBusyGroups)
	if err != nil {
		return nil, fmt.Errorf("read task groups in use: %w", err)
	}
	return out, nil
}
