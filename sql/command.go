package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// CommandCursor says whose turn it was last: of equal priority, projects take turns. The zero
// value is before the first.
type CommandCursor struct {
	Priority dag.Priority
	Project  int64
}

const commandColumns = `id, instance_id, kind, slot, priority, project_id, lent, created_at`

func scanCommand(scan func(...any) error) (Command, error) {
	var c Command
	err := scan(&c.ID, &c.InstanceID, &c.Kind, &c.Slot, &c.Priority, &c.ProjectID, &c.Lent, &c.CreatedAt)
	return c, err
}

// Commands returns up to limit commands of the slots that are owned (all where slots is nil), and
// of any slot where they are lent: the highest priority first, of equal priority each project
// in its turn, and within a project by id. Where there are more than limit, next is not zero and says
// where the turns go on; the commands given must have been taken by then.
func (s *Store) Commands(ctx context.Context, slots []bool, limit int, after CommandCursor) (out []Command, next CommandCursor, err error) {
	if limit <= 0 {
		return nil, after, nil
	}
	mine, args := slotFilter(slots)
	window, err := s.commands(ctx, `WHERE `+mine+` ORDER BY priority, project_id, id LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, CommandCursor{}, fmt.Errorf("read commands: %w", err)
	}
	if len(window) <= limit {
		return inTurns(window), CommandCursor{}, nil
	}
	for priority := window[0].Priority; len(out) < limit; {
		if after.Priority != priority {
			after = CommandCursor{Priority: priority}
		}
		part, last, err := s.turns(ctx, mine, args, limit-len(out), after)
		if err != nil {
			return nil, CommandCursor{}, fmt.Errorf("read commands: %w", err)
		}
		out, after = append(out, part...), last
		if len(out) == limit {
			break
		}
		below, err := s.commands(ctx, `WHERE priority > ? AND `+mine+` ORDER BY priority, project_id, id LIMIT 1`, append([]any{priority}, args...)...)
		if err != nil {
			return nil, CommandCursor{}, fmt.Errorf("read commands: %w", err)
		}
		if len(below) == 0 {
			return out, CommandCursor{}, nil
		}
		priority = below[0].Priority
	}
	return out, after, nil
}

func (s *Store) commands(ctx context.Context, clause string, args ...any) ([]Command, error) {
	return collect(ctx, s, scanCommand, `SELECT `+commandColumns+` FROM command`+s.dial.along("command_order")+` `+clause, args...)
}

// slotFilter is the condition for commands that a master of these slots may take. The slots
// are filled up to a power of two, so that there are few texts.
func slotFilter(slots []bool) (text string, args []any) {
	for slot, owned := range slots {
		if owned {
			args = append(args, slot)
		}
	}
	switch {
	case len(args) == len(slots):
		return `1 = 1`, nil
	case len(args) == 0:
		return `lent = 1`, nil
	}
	size := 1
	for size < len(args) {
		size *= 2
	}
	for len(args) < size {
		args = append(args, args[0])
	}
	return `(slot IN (` + marks(size) + `) OR lent = 1)`, args
}

// turns takes commands of one priority from its projects, the one after the cursor first. Each gets
// an equal share, and what some do not need goes to the others.
func (s *Store) turns(ctx context.Context, mine string, args []any, limit int, after CommandCursor) ([]Command, CommandCursor, error) {
	projects, err := s.waitingProjects(ctx, limit, after)
	if err != nil {
		return nil, after, err
	}
	taken := make(map[int64][]Command, len(projects))
	last := make(map[int64]int64, len(projects))
	left, active := limit, projects
	for left > 0 && len(active) > 0 {
		var more []int64
		share := max(1, left/len(active))
		for _, project := range active {
			n := min(share, left)
			if n == 0 {
				break
			}
			given := append([]any{after.Priority, project, last[project]}, args...)
			part, err := s.commands(ctx, `WHERE priority = ? AND project_id = ? AND id > ? AND `+mine+` ORDER BY id LIMIT ?`, append(given, n)...)
			if err != nil {
				return nil, after, err
			}
			taken[project] = append(taken[project], part...)
			if left -= len(part); len(part) == n {
				last[project] = part[n-1].ID
				more = append(more, project)
			}
		}
		active = more
	}
	out := make([]Command, 0, limit)
	for round := 0; len(out) < limit-left; round++ {
		for _, project := range projects {
			if round < len(taken[project]) {
				out = append(out, taken[project][round])
				after.Project = project
			}
		}
	}
	return out, after, nil
}

// waitingProjects returns up to limit projects that have commands of the cursor's priority, from the
// cursor on and around.
func (s *Store) waitingProjects(ctx context.Context, limit int, after CommandCursor) ([]int64, error) {
	var out []int64
	from, around := after.Project, false
	for len(out) < limit {
		next, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
			`SELECT project_id FROM command WHERE priority = ? AND project_id > ? ORDER BY project_id LIMIT 1`, after.Priority, from)
		switch {
		case err != nil:
			return nil, err
		case len(next) == 0 && around, len(next) == 1 && around && next[0] > after.Project:
			return out, nil
		case len(next) == 0:
			from, around = -1, true
		default:
			from = next[0]
			out = append(out, from)
		}
	}
	return out, nil
}

// inTurns orders commands that are all given, by priority, project and id, as turns would have.
func inTurns(all []Command) []Command {
	out := make([]Command, 0, len(all))
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Priority == all[0].Priority {
			n++
		}
		var projects [][]Command
		for i, c := range all[:n] {
			if i == 0 || all[i-1].ProjectID != c.ProjectID {
				projects = append(projects, nil)
			}
			projects[len(projects)-1] = append(projects[len(projects)-1], c)
		}
		for round, want := 0, len(out)+n; len(out) < want; round++ {
			for _, p := range projects {
				if round < len(p) {
					out = append(out, p[round])
				}
			}
		}
		all = all[n:]
	}
	return out
}

// Lend marks commands as ones that any master may take, because the master of their slots has no
// room; those that are taken meanwhile are left out.
func (s *Store) Lend(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.write(ctx, func(tx *sqlTx) error {
		return eachChunk(ids, func(chunk []any) error {
			_, err := tx.ExecContext(ctx, `UPDATE command SET lent = 1 WHERE lent = 0 AND id IN (`+marks(len(chunk))+`)`, chunk...)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("lend %d commands: %w", len(ids), err)
	}
	return nil
}
