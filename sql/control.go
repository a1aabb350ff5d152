package sql

import (
	"context"
	"fmt"
	"slices"
)

var controlInsert = &table{
	name: "control",
	cols: []string{
		"id", "instance_id", "verb", "tasks", "scope", "forced", "requested_by", "created_at", "applied_at", "result", "attempt",
		"child_id", "args",
	},
}

// AddControl writes a wish about an instance and returns it with its id. Where the instance
// has no owner, the same transaction makes the command that gives it one; an instance whose
// start command still waits needs none. It returns ErrNotFound where there is no such instance.
func (s *Store) AddControl(ctx context.Context, c ControlRow) (ControlRow, error) {
	c.At = orNow(c.At, s.millis())
	c.AppliedAt, c.Result = 0, ""
	asked := c // the writer may still have c when its caller has left
	o := &operation{control: &c}
	if err := s.writer.doOrLeave(ctx, o); err != nil {
		return ControlRow{}, fmt.Errorf("%s instance %d: %w", asked.Verb, asked.InstanceID, err)
	}
	return c, nil
}

func (b *batch) controls(ctx context.Context) error {
	var controls []any
	var orphans []int64
	for _, o := range b.ops {
		c := o.control
		if c == nil {
			continue
		}
		in, found := b.locked[c.InstanceID]
		if !found {
			o.err = ErrNotFound
			continue
		}
		controls = b.wish(controls, c)
		if in.owner == "" && in.epoch > 0 {
			orphans = append(orphans, c.InstanceID)
		}
	}
	if err := b.rows(ctx, controlInsert, b.s.dial.insert, controls); err != nil {
		return fmt.Errorf("insert controls: %w", err)
	}
	return b.resume(ctx, orphans)
}

// wish appends the row of c, which gets its id.
func (b *batch) wish(controls []any, c *ControlRow) []any {
	c.ID = b.nextID()
	return append(controls, c.ID, c.InstanceID, string(c.Verb), encodeList(c.Tasks), string(c.Scope), flag(c.Force), c.By,
		int64(c.At), int64(0), "", int64(c.Attempt), c.Child, encodeArgs(c))
}

// resume makes a command for each of the instances, which have no owner.
func (b *batch) resume(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	var args []any
	err := eachChunk(ids, func(chunk []any) error {
		rows, err := b.tx.query(ctx, `SELECT id, project_id, priority FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`)`, chunk)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, project, priority int64
			if err := rows.Scan(&id, &project, &priority); err != nil {
				return err
			}
			command := b.nextID()
			args = append(args, command, string(CommandResume), id, project, nil, nil, nil, command%b.slots, priority, int64(b.s.millis()))
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("read instances to resume: %w", err)
	}
	if err := b.rows(ctx, commandInsert, b.s.dial.insert, args); err != nil {
		return fmt.Errorf("insert resume commands: %w", err)
	}
	return nil
}

const controlColumns = `id, instance_id, verb, tasks, scope, forced, requested_by, created_at, applied_at, result, attempt, child_id, args`

func scanControl(scan func(...any) error) (ControlRow, error) {
	var c ControlRow
	var tasks, args string
	err := scan(&c.ID, &c.InstanceID, &c.Verb, &tasks, &c.Scope, &c.Force, &c.By, &c.At, &c.AppliedAt, &c.Result, &c.Attempt, &c.Child, &args)
	if err != nil {
		return c, err
	}
	if err := c.decodeArgs(args); err != nil {
		return c, err
	}
	c.Tasks, err = decodeList(tasks)
	return c, err
}

// maxControls bounds the wishes that one read returns; more wait for the next.
const maxControls = 1000

// Controls returns the wishes about instances that are not yet answered, in id order; of many instances not all
// at once where there are very many.
func (s *Store) Controls(ctx context.Context, instances ...int64) ([]ControlRow, error) {
	var out []ControlRow
	err := eachChunk(instances, func(chunk []any) error {
		rows, err := collect(ctx, s, scanControl, `SELECT `+controlColumns+` FROM control WHERE instance_id IN (`+marks(len(chunk))+`) AND applied_at = 0
			ORDER BY id LIMIT ?`, append(chunk, maxControls)...)
		out = append(out, rows...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read controls of %d instances: %w", len(instances), err)
	}
	return out, nil
}

// ControlsOf returns the wishes, not yet answered, about instances that owner drives, in id
// order: the safety net of a master that missed a hint.
func (s *Store) ControlsOf(ctx context.Context, owner string) ([]ControlRow, error) {
	out, err := collect(ctx, s, scanControl, `SELECT c.id, c.instance_id, c.verb, c.tasks, c.scope, c.forced, c.requested_by, c.created_at,
		c.applied_at, c.result, c.attempt, c.child_id, c.args FROM control c JOIN workflow_instance i ON i.id = c.instance_id
		WHERE c.applied_at = 0 AND i.owner = ? ORDER BY c.id LIMIT ?`, owner, maxControls)
	if err != nil {
		return nil, fmt.Errorf("read controls for owner %s: %w", owner, err)
	}
	return out, nil
}

// Control returns one wish with its answer, if it has one.
func (s *Store) Control(ctx context.Context, id int64) (ControlRow, error) {
	c, err := scanControl(s.read.QueryRowContext(ctx, `SELECT `+controlColumns+` FROM control WHERE id = ?`, id).Scan)
	if err != nil {
		return ControlRow{}, fmt.Errorf("read control %d: %w", id, explain(err))
	}
	return c, nil
}

var controlAnswer = &table{
	name: "control",
	keys: []string{"id", "instance_id"},
	cols: []string{"id", "instance_id", "applied_at", "result"},
	sets: []string{"applied_at", "result"},
}

// answers writes what became of the wishes that the transitions applied.
func (b *batch) answers(ctx context.Context, ops []*operation) error {
	var args []any
	for _, o := range ops {
		for _, a := range o.commit.Effects.Applied {
			args = append(args, a.ID, o.commit.Instance.ID, int64(o.commit.At), a.Result)
		}
	}
	if err := b.updates(ctx, controlAnswer, args, false); err != nil {
		return fmt.Errorf("answer controls: %w", err)
	}
	return nil
}

// unanswered asks which of the instances have wishes without an answer, and in which lines any of them has a place.
func unanswered(ids []int64, wanted *[]int64, placed map[int64]line) []question {
	var out []question
	_ = eachChunk(ids, func(chunk []any) error {
		in := marks(len(chunk))
		out = append(out, question{
			`SELECT DISTINCT instance_id, 0, '' FROM control WHERE instance_id IN (` + in + `) AND applied_at = 0
			UNION ALL SELECT instance_id, workflow_id, limit_key FROM workflow_place WHERE instance_id IN (` + in + `)`, slices.Concat(chunk, chunk),
			func(scan func(...any) error) error {
				var id int64
				var l line
				if err := scan(&id, &l.workflow, &l.key); err != nil {
					return err
				}
				if l.workflow == 0 {
					*wanted = append(*wanted, id)
				} else {
					placed[id] = l
				}
				return nil
			},
		})
		return nil
	})
	return out
}
