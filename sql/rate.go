package sql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Rate is how many tasks may start in any stretch of time that is Per long. Without Tasks it is no limit.
type Rate struct {
	Tasks int
	Per   time.Duration // whole milliseconds
}

// pace is how many tasks of a group may start now by its rate.
type pace struct {
	rate   Rate
	left   int64
	starts []groupStart // those that still count, the oldest first
}

// groupStart is how many tasks of a group were let go at a moment.
type groupStart struct {
	at    dag.Millis
	tasks int64
}

// pace reads what counts against the rate of a locked group, and forgets what does no longer.
func (p *taskPlaces) pace(ctx context.Context, g lockedGroup) (pace, error) {
	out := pace{rate: g.rate, left: math.MaxInt64}
	if g.rate.Tasks == 0 {
		return out, nil
	}
	err := p.in.exec(ctx, `DELETE FROM task_group_start WHERE group_id = ? AND started_at <= ?`, []any{g.id, int64(p.now.Add(-g.rate.Per))}, anyRows)
	if err != nil {
		return out, err
	}
	out.left = int64(g.rate.Tasks)
	err = p.each(ctx, `SELECT started_at, tasks FROM task_group_start WHERE group_id = ? ORDER BY started_at`+p.s.dial.forUpdate(), []any{g.id},
		func(scan func(...any) error) error {
			var s groupStart
			err := scan(&s.at, &s.tasks)
			out.left -= s.tasks
			out.starts = append(out.starts, s)
			return err
		})
	return out, err
}

// next is when another task may start, of a pace that has none left.
func (c *pace) next() dag.Millis {
	left := c.left
	for _, s := range c.starts {
		if left += s.tasks; left > 0 {
			return s.at.Add(c.rate.Per)
		}
	}
	return 0
}

var groupStartUpsert = &table{
	name: "task_group_start",
	keys: []string{"group_id", "started_at"},
	cols: []string{"group_id", "started_at", "tasks"},
	sets: []string{"tasks"},
}

// started counts tasks of a locked group that are let go now. A clock behind that of another master counts them where
// the latest stand, so that they are not forgotten too early.
func (p *taskPlaces) started(ctx context.Context, g lockedGroup, c *pace, tasks int64) error {
	if c.rate.Tasks == 0 || tasks == 0 {
		return nil
	}
	now := groupStart{at: p.now, tasks: tasks}
	if n := len(c.starts); n > 0 && c.starts[n-1].at >= now.at {
		now = groupStart{at: c.starts[n-1].at, tasks: tasks + c.starts[n-1].tasks}
		c.starts = c.starts[:n-1]
	}
	c.starts = append(c.starts, now)
	c.left -= tasks
	return p.in.exec(ctx, p.s.dial.upsert(groupStartUpsert, 1), []any{g.id, int64(now.at), now.tasks}, anyRows)
}

// wait notes when a group may let a task go by its rate, where it may not now.
func (p *taskPlaces) wait(g lockedGroup, c *pace) {
	if c.left > 0 {
		return
	}
	if p.next == nil {
		p.next = map[int64]dag.Millis{}
	}
	p.next[g.id] = c.next()
}

// PaceGroups lets the tasks of groups go that their rate held back until now. It returns when it is to be called again,
// by group, for those that hold more back.
func (s *Store) PaceGroups(ctx context.Context, now dag.Millis, ids []int64) (next map[int64]dag.Millis, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		p := &taskPlaces{s: s, now: now, places: places{s: s, in: plainTx{tx, s}}}
		for _, id := range ids {
			g, err := p.lockGroup(ctx, id)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err == nil {
				err = p.settleGroup(ctx, g, nil, nil)
			}
			if err != nil {
				return err
			}
		}
		next = p.next
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pace %d task groups: %w", len(ids), err)
	}
	return next, nil
}
