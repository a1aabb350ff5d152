package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Outline is what a list says of an instance that its own row does not hold.
type Outline struct {
	Tasks, Done int      // its tasks that are to run, and those that have ended; 0 and 0 where the page had too many to count
	Culprit     *Culprit // the task that failed or was killed first; nil for none
	Usual       Took
	Late        bool // it runs for longer than any of the last successes of its workflow
}

// Culprit is a task with what is known of its end.
type Culprit struct {
	Task    string
	State   dag.TaskState
	Reason  dag.Reason
	Message string // what the worker says of its latest attempt
	Tail    []byte // the end of that attempt's output

	index, attempt int
	finished       dag.Millis
}

// Took is how long the last successes of a workflow took; zero where none is known.
type Took struct {
	Median, Longest time.Duration
	Of              int
}

const (
	// outlineStep is how many instances have their tasks counted by one statement.
	outlineStep = 10
	// maxOutlined bounds the tasks that one page goes through, give or take a step: instances of thousands of tasks would
	// make their list slow.
	maxOutlined = 20_000
	// minLate is how many successes must be known before an instance is late.
	minLate = 3
)

// endedTasks are the states in which a task has ended.
var endedTasks = []any{
	string(dag.TaskSuccess), string(dag.TaskForcedSuccess), string(dag.TaskFailed), string(dag.TaskKilled), string(dag.TaskSkipped),
	string(dag.TaskUpstreamFailed), string(dag.TaskDisabled),
}

// Outlines reads the outlines of a page, by instance: a few statements for all of them, each by keys.
func (s *Store) Outlines(ctx context.Context, page []InstanceRow) (map[int64]*Outline, error) {
	page = page[:min(len(page), maxLimit)]
	took := map[int64]Took{}
	if err := s.addTook(ctx, page, took); err != nil {
		return nil, err
	}
	out := make(map[int64]*Outline, len(page))
	now := s.millis()
	for _, r := range page {
		out[r.ID] = &Outline{Usual: took[r.WorkflowID], Late: took[r.WorkflowID].late(r, now)}
	}
	counted := 0
	for part := range slices.Chunk(page, outlineStep) {
		if counted > maxOutlined {
			break
		}
		n, err := s.countTasks(ctx, part, out)
		if err != nil {
			return nil, fmt.Errorf("count tasks of %d instances: %w", len(part), err)
		}
		counted += n
	}
	if err := s.addCulprits(ctx, page, out); err != nil {
		return nil, fmt.Errorf("find what failed in %d instances: %w", len(page), err)
	}
	return out, nil
}

// countTasks fills in how many tasks each instance has, and how many have ended; it returns how many it went through.
func (s *Store) countTasks(ctx context.Context, part []InstanceRow, out map[int64]*Outline) (int, error) {
	args := slices.Clone(endedTasks)
	for _, r := range part {
		args = append(args, r.ID)
	}
	type count struct {
		id          int64
		tasks, done int
	}
	rows, err := collect(ctx, s, func(scan func(...any) error) (c count, err error) { return c, scan(&c.id, &c.tasks, &c.done) },
		`SELECT instance_id, COUNT(*), SUM(CASE WHEN state IN (`+marks(len(endedTasks))+`) THEN 1 ELSE 0 END) FROM task_instance
		WHERE instance_id IN (`+marks(len(part))+`) AND state <> '' GROUP BY instance_id`, args...)
	all := 0
	for _, c := range rows {
		out[c.id].Tasks, out[c.id].Done = c.tasks, c.done
		all += c.tasks
	}
	return all, err
}

// addCulprits fills in what failed first in each instance whose tasks were counted, and what its latest attempt said.
func (s *Store) addCulprits(ctx context.Context, page []InstanceRow, out map[int64]*Outline) error {
	var ids []any
	for _, r := range page {
		if r.State != dag.InstanceSuccess && out[r.ID].Tasks > 0 {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := collect(ctx, s, func(scan func(...any) error) (struct{}, error) {
		var id int64
		var c Culprit
		err := scan(&id, &c.index, &c.Task, &c.State, &c.Reason, &c.attempt, &c.finished)
		if was := out[id]; err == nil && (was.Culprit == nil || c.finished < was.Culprit.finished) {
			was.Culprit = &c
		}
		return struct{}{}, err
	}, `SELECT instance_id, task_index, name, state, reason, attempts, finished_at FROM task_instance WHERE instance_id IN (`+marks(len(ids))+`)
		AND state IN ('failed', 'killed')`, ids...)
	if err != nil {
		return err
	}
	var text []string
	var args []any
	for _, r := range page {
		if c := out[r.ID].Culprit; c != nil && c.attempt > 0 {
			text = append(text, `SELECT instance_id, message, tail FROM task_attempt WHERE instance_id = ? AND task_index = ? AND number = ?`)
			args = append(args, r.ID, c.index, c.attempt)
		}
	}
	if len(text) == 0 {
		return nil
	}
	_, err = collect(ctx, s, func(scan func(...any) error) (struct{}, error) {
		var id int64
		var message string
		var tail []byte
		err := scan(&id, &message, &tail)
		if err == nil {
			out[id].Culprit.Message, out[id].Culprit.Tail = message, tail
		}
		return struct{}{}, err
	}, strings.Join(text, ` UNION ALL `), args...)
	return err
}

// late tells whether an instance runs for longer than any of the last successes of its workflow.
func (t Took) late(r InstanceRow, now dag.Millis) bool {
	return t.Of >= minLate && r.StartedAt != 0 && !r.State.Final() && now.Sub(r.StartedAt) > t.Longest
}

// addTook fills in how long the last successes of the workflows of a page took, where that is not known yet.
func (s *Store) addTook(ctx context.Context, page []InstanceRow, took map[int64]Took) error {
	var workflows []int64
	for _, r := range page {
		if _, known := took[r.WorkflowID]; !known {
			took[r.WorkflowID] = Took{}
			workflows = append(workflows, r.WorkflowID)
		}
	}
	all := map[int64][]time.Duration{}
	for part := range slices.Chunk(workflows, maxStreams) {
		var text []string
		var args []any
		for _, id := range part {
			text = append(text, `SELECT * FROM (SELECT workflow_id, started_at, finished_at FROM workflow_instance WHERE workflow_id = ? AND state = ?
				ORDER BY created_at DESC, id DESC LIMIT ?) AS h`)
			args = append(args, id, string(dag.InstanceSuccess), maxTook)
		}
		_, err := collect(ctx, s, func(scan func(...any) error) (struct{}, error) {
			var id int64
			var from, to dag.Millis
			err := scan(&id, &from, &to)
			all[id] = append(all[id], to.Sub(from))
			return struct{}{}, err
		}, strings.Join(text, ` UNION ALL `), args...)
		if err != nil {
			return fmt.Errorf("read how long %d workflows take: %w", len(part), err)
		}
	}
	for id, each := range all {
		took[id] = Took{Median: Median(each), Longest: slices.Max(each), Of: len(each)}
	}
	return nil
}

// Median is the middle of some durations, the mean of the two middle ones of an even number; 0 of none.
func Median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
