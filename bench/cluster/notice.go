package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	// noticeBar is from the end of an instance to the end of the task that waits for it, by the moments in their
	// rows: on one master and on the other.
	noticeBar = 100 * time.Millisecond
	// awaited instances end some seconds after they began, when all that wait for them do.
	awaited  = "name: %s\ntasks:\n  - {name: rest, type: wait, for: %s}\n"
	parents  = "name: parents\ntasks:\n  - {name: a, type: sub_workflow, workflow: child}\n"
	waiting  = "name: waiting\ntasks:\n  - {name: a, type: dependent, check: {all: [{workflow: upstream, date: today}]}}\n"
	restTime = 3 * time.Second
)

// notice measures how late a task that waits hears that what it waits for has ended, where that is another
// master's: a child, and the run of another workflow.
func notice(ctx context.Context, o options) (measured []figures.Spread, err error) {
	err = o.onPair(ctx, func(p *pair) error {
		for _, w := range [][2]string{ // those that wait come after what they wait for
			{"child", fmt.Sprintf(awaited, "child", restTime)}, {"parents", parents}, {"upstream", fmt.Sprintf(awaited, "upstream", restTime)}, {"waiting", waiting},
		} {
			if _, err := p.Client.SaveWorkflow(ctx, client.Save{Project: "p", Workflow: w[0], Format: "yaml", Text: []byte(w[1]), Match: "*", Publish: true}); err != nil {
				return err
			}
		}
		children := figures.Spread{What: "child ends on the other master -> its parent's task has ended", Bar: noticeBar}
		runs := figures.Spread{What: "run ends on the other master -> the dependent task has ended", Bar: noticeBar}
		for turn := 0; len(children.Took) < o.waits || len(runs.Took) < o.waits; turn++ {
			progress("waits: %d of %d children, %d of %d runs", len(children.Took), o.waits, len(runs.Took), o.waits)
			if turn == maxTurns {
				return fmt.Errorf("after %d turns too few waits are across masters", turn)
			}
			took, err := p.hear(ctx, "parents", "child", "", turn)
			if err != nil {
				return err
			}
			children.Took = append(children.Took, took...)
			if took, err = p.hear(ctx, "waiting", "upstream", "upstream", turn); err != nil {
				return err
			}
			runs.Took = append(runs.Took, took...)
		}
		measured = []figures.Spread{children, runs}
		return nil
	})
	return measured, err
}

// maxTurns bounds the turns of starters: about half of the waits in each are across masters.
const maxTurns = 100

// hear starts instances that wait, and then one of the workflow that they wait for, unless they start their own;
// it returns how late those heard whose master was not that of what they waited for. Each turn is about a day of
// its own, of which there is no run yet.
func (p *pair) hear(ctx context.Context, waiting, awaited, start string, turn int) (took []time.Duration, err error) {
	// Ids don't tell a turn from those before: every process gives out ids of its own range.
	since := time.Now().UnixMilli()
	day := client.Start{ScheduleTime: time.Date(2001, 1, 1+turn, 12, 0, 0, 0, time.UTC).Format(time.RFC3339)}
	err = each(ctx, starters, func(ctx context.Context, _ int) error {
		_, err := p.Client.StartWorkflow(ctx, "p", waiting, day)
		return err
	})
	if err == nil && start != "" {
		_, err = p.Client.StartWorkflow(ctx, "p", start, day)
	}
	if err != nil {
		return nil, err
	}
	want := starters + 1
	if start == "" {
		want = 2 * starters
	}
	var owners map[int64]string
	err = soon(ctx, "all run", func() (err error) {
		owners, err = p.owners(ctx, since, dag.InstanceRunning, want)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = soon(ctx, "all have ended", func() error {
		_, err := p.owners(ctx, since, dag.InstanceSuccess, want)
		return err
	})
	if err != nil {
		return nil, err
	}
	// The pairs: a child by its parent, any other by being the one run of this turn.
	rows, err := p.db.QueryContext(ctx, `SELECT w.id, e.id, t.finished_at - e.finished_at FROM workflow_instance w
		JOIN workflow wd ON wd.id = w.workflow_id AND wd.name = ?
		JOIN task_instance t ON t.instance_id = w.id
		JOIN workflow_instance e ON e.created_at >= ? AND (e.parent_instance_id = w.id OR ? <> '')
		JOIN workflow ed ON ed.id = e.workflow_id AND ed.name = ?
		WHERE w.created_at >= ?`, waiting, since, start, awaited, since)
	if err != nil {
		return nil, fmt.Errorf("read when they heard: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var waiter, ended, late int64
		if err := rows.Scan(&waiter, &ended, &late); err != nil {
			return nil, fmt.Errorf("read when one heard: %w", err)
		}
		if owners[waiter] != owners[ended] {
			took = append(took, time.Duration(late)*time.Millisecond)
		}
	}
	return took, rows.Err()
}

// owners reads which master has which instance of a turn; it is an error unless so many are in a state.
func (p *pair) owners(ctx context.Context, since int64, state dag.InstanceState, want int) (owners map[int64]string, err error) {
	rows, err := p.db.QueryContext(ctx, `SELECT id, owner FROM workflow_instance WHERE created_at >= ? AND state = ?`, since, state)
	if err != nil {
		return nil, fmt.Errorf("read who has what: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	owners = map[int64]string{}
	for rows.Next() {
		var id int64
		var owner string
		if err := rows.Scan(&id, &owner); err != nil {
			return nil, fmt.Errorf("read who has one: %w", err)
		}
		owners[id] = owner
	}
	if len(owners) != want {
		return nil, fmt.Errorf("%d of %d are %s", len(owners), want, state)
	}
	return owners, rows.Err()
}
