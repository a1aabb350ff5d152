package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// CommandCursor is a place in the order of commands; the zero value is before the first.
type CommandCursor struct {
	Priority dag.Priority
	ID       int64
}

const (
	// commandExamine is how many rows one query walks; those of other masters' slots are
	// among them.
	commandExamine = 512
	// maxExamined bounds the rows that one call of Commands walks: a master with one slot
	// of 256 finds, on average, its 64 next commands among them.
	maxExamined = 16384
)

const commandColumns = `id, instance_id, kind, slot, priority, project_id, created_at`

func scanCommand(scan func(...any) error) (Command, error) {
	var c Command
	err := scan(&c.ID, &c.InstanceID, &c.Kind, &c.Slot, &c.Priority, &c.ProjectID, &c.CreatedAt)
	return c, err
}

// Commands returns up to limit commands of the slots that are owned (all where slots is nil), by
// priority and id, that stand behind after. next is where the walk ended, for a
// caller that wants more; it is zero where there is nothing behind.
func (s *Store) Commands(ctx context.Context, slots []bool, limit int, after CommandCursor) (out []Command, next CommandCursor, err error) {
	all := true
	for _, owned := range slots {
		all = all && owned
	}
	for examined := 0; examined < maxExamined; {
		n := commandExamine
		if all {
			n = limit - len(out)
		}
		rows, err := s.commandsBehind(ctx, after, n)
		if err != nil {
			return nil, CommandCursor{}, fmt.Errorf("read commands: %w", err)
		}
		examined += len(rows)
		for _, c := range rows {
			after = CommandCursor{c.Priority, c.ID}
			if all || c.Slot < len(slots) && slots[c.Slot] {
				if out = append(out, c); len(out) == limit {
					return out, after, nil
				}
			}
		}
		if len(rows) < n {
			return out, CommandCursor{}, nil
		}
	}
	return out, after, nil
}

// commandsBehind walks the index from a place. One query per priority, because neither MySQL
// nor MariaDB turns (priority, id) > (?, ?) into a range.
func (s *Store) commandsBehind(ctx context.Context, after CommandCursor, n int) ([]Command, error) {
	if after == (CommandCursor{}) {
		return collect(ctx, s, scanCommand, `SELECT `+commandColumns+` FROM command ORDER BY priority, id LIMIT ?`, n)
	}
	out, err := collect(ctx, s, scanCommand, `SELECT `+commandColumns+` FROM command WHERE priority = ? AND id > ? ORDER BY id LIMIT ?`,
		after.Priority, after.ID, n)
	if err != nil || len(out) == n {
		return out, err
	}
	more, err := collect(ctx, s, scanCommand, `SELECT `+commandColumns+` FROM command WHERE priority > ? ORDER BY priority, id LIMIT ?`,
		after.Priority, n-len(out))
	return append(out, more...), err
}
