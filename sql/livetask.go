package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// LiveTaskFilter says which tasks a list of live ones shows. ProjectIDs nil is every project, an empty list none.
// States are live states of tasks, at least one. The others narrow what was read, row by row: Worker has the attempt
// in flight, Name is a part of the task's name, OlderThan counts from Since, and BeyondUsual is of what waits alone: it
// has waited for longer than the history of its workflow says.
type LiveTaskFilter struct {
	ProjectIDs []int64
	WorkflowID int64
	States     []dag.TaskState
	Worker     string
	Name       string
	OlderThan  time.Duration

	BeyondUsual bool
}

// LiveTask is a task that has not ended, with its instance.
type LiveTask struct {
	Task     TaskRow
	Instance InstanceRow
	Worker   string     // of the attempt in flight, "" for none
	Since    dag.Millis // since when it is in its state
	Usual    *UsualWait // what it was compared with, of a list of BeyondUsual
}

// liveInstanceStates are those of instances whose tasks may be under way or waiting for something else than their needs.
var liveInstanceStates = []dag.InstanceState{dag.InstanceRunning, dag.InstancePausing, dag.InstancePaused, dag.InstanceStopping}

const (
	// liveStep is how many instances are looked into at once: their tasks are read by their key, whatever their state.
	liveStep = 50
	// MaxLiveInstances bounds the instances that one page looks into; a rare task costs a few short pages.
	MaxLiveInstances = 500
)

// liveCursor is the last task that a page has looked at.
type liveCursor struct {
	At   dag.Millis
	ID   int64
	Task int
}

// afterTasks stands behind every task of an instance.
const afterTasks = 1<<31 - 1

// LiveTasks returns a page of the tasks that the filter shows, those of the oldest instances first: what is stuck comes
// first. It walks the instances that have not ended by the index of their states, so that those that have ended cost
// nothing, however many there are. A page may end early: fewer rows than limit, even none, with a cursor to go on.
func (s *Store) LiveTasks(ctx context.Context, f LiveTaskFilter, page Page) ([]LiveTask, string, error) {
	after := liveCursor{Task: -1}
	if err := page.decode("live_tasks", &after); err != nil {
		return nil, "", err
	}
	instances := InstanceFilter{ProjectIDs: f.ProjectIDs, WorkflowID: f.WorkflowID, States: liveInstanceStates}
	visible, err := s.visible(ctx, instances)
	if err != nil || !visible {
		return nil, "", err
	}
	streams := instances.streams()
	w := liveWalk{s: s, f: f, limit: page.limit(), now: s.millis(), at: after}
	w.usual = usual{s: s, instances: map[int64][]int64{}, waits: map[taskOf]UsualWait{}}
	for seen := 0; seen < MaxLiveInstances; seen += liveStep {
		heads, err := s.firstHeads(ctx, streams, listCursor{w.at.At, w.at.ID}, liveStep+1)
		if err != nil {
			return nil, "", fmt.Errorf("list live tasks: %w", err)
		}
		more := len(heads) > liveStep
		full, err := w.look(ctx, heads[:min(len(heads), liveStep)])
		if err != nil {
			return nil, "", fmt.Errorf("list live tasks: %w", err)
		}
		if !full && !more {
			return w.out, "", nil
		}
		if full {
			break
		}
	}
	next, err := encodeCursor("live_tasks", w.at)
	return w.out, next, err
}

// firstHeads returns the first n keys of the merged streams from a key on, the oldest first.
func (s *Store) firstHeads(ctx context.Context, streams []stream, from listCursor, n int) ([]listCursor, error) {
	var out []listCursor
	for part := range slices.Chunk(streams, maxStreams) {
		var text []string
		var args []any
		for _, st := range part {
			text = append(text, `SELECT * FROM (SELECT created_at, id FROM workflow_instance WHERE `+st.where+
				` AND created_at >= ? AND (created_at > ? OR id >= ?) ORDER BY created_at, id LIMIT ?) AS h`)
			args = append(append(args, st.args...), from.At, from.At, from.ID, n)
		}
		got, err := collect(ctx, s, func(scan func(...any) error) (h listCursor, err error) { return h, scan(&h.At, &h.ID) },
			strings.Join(text, ` UNION ALL `), args...)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
		slices.SortFunc(out, func(a, b listCursor) int {
			if c := compare(int64(a.At), int64(b.At)); c != 0 {
				return c
			}
			return compare(a.ID, b.ID)
		})
		out = out[:min(len(out), n)]
	}
	return out, nil
}

// liveWalk gathers one page.
type liveWalk struct {
	s     *Store
	f     LiveTaskFilter
	limit int
	now   dag.Millis
	usual usual
	at    liveCursor // how far it has looked
	out   []LiveTask
}

// look adds what is shown of some instances; full says that the page is, and that more may follow.
func (w *liveWalk) look(ctx context.Context, heads []listCursor) (full bool, err error) {
	if len(heads) == 0 {
		return false, nil
	}
	having, err := w.having(ctx, heads)
	if err != nil || len(having) == 0 {
		w.at = liveCursor{heads[len(heads)-1].At, heads[len(heads)-1].ID, afterTasks}
		return false, err
	}
	rows, err := w.s.rowsOf(ctx, having)
	if err != nil {
		return false, err
	}
	for _, in := range rows {
		if in.ID != w.at.ID {
			w.at = liveCursor{in.CreatedAt, in.ID, -1}
		}
		if full, err := w.tasksOf(ctx, in); err != nil || full {
			return full, err
		}
	}
	w.at = liveCursor{heads[len(heads)-1].At, heads[len(heads)-1].ID, afterTasks}
	return false, nil
}

// having leaves out the instances without a task in one of the states.
func (w *liveWalk) having(ctx context.Context, heads []listCursor) ([]listCursor, error) {
	args := make([]any, 0, len(heads)+len(w.f.States))
	for _, h := range heads {
		args = append(args, h.ID)
	}
	ids, err := collect(ctx, w.s, scanID, `SELECT DISTINCT instance_id FROM task_instance WHERE instance_id IN (`+marks(len(heads))+`) AND state IN (`+
		marks(len(w.f.States))+`)`, append(args, w.states()...)...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(heads), func(h listCursor) bool { return !slices.Contains(ids, h.ID) }), nil
}

func (w *liveWalk) states() []any {
	out := make([]any, len(w.f.States))
	for i, state := range w.f.States {
		out[i] = string(state)
	}
	return out
}

// tasksOf adds what is shown of one instance, from where the walk stands.
func (w *liveWalk) tasksOf(ctx context.Context, in InstanceRow) (full bool, err error) {
	for {
		args := append([]any{in.ID, w.at.Task}, w.states()...)
		rows, err := collect(ctx, w.s, scanLive, `SELECT `+taskColumns+`, COALESCE((SELECT a.worker FROM task_attempt a WHERE a.instance_id = task_instance.instance_id
			AND a.task_index = task_instance.task_index AND a.number = task_instance.attempts), ''), COALESCE((SELECT a.dispatched_at FROM task_attempt a
			WHERE a.instance_id = task_instance.instance_id AND a.task_index = task_instance.task_index AND a.number = task_instance.attempts), 0)
			FROM task_instance WHERE instance_id = ? AND task_index > ? AND state IN (`+marks(len(w.f.States))+`) ORDER BY task_index LIMIT ?`,
			append(args, maxLimit)...)
		if err != nil {
			return false, err
		}
		for _, t := range rows {
			w.at.Task = t.Task.Index
			if !w.keeps(t) {
				continue
			}
			if w.f.BeyondUsual {
				if beyond, err := w.beyond(ctx, in, &t); err != nil {
					return false, err
				} else if w.usual.full() && !beyond {
					return true, nil
				} else if !beyond {
					continue
				}
			}
			t.Instance = in
			if w.out = append(w.out, t); len(w.out) == w.limit || w.usual.full() {
				return true, nil
			}
		}
		if len(rows) < maxLimit {
			return false, nil
		}
	}
}

func (w *liveWalk) keeps(t LiveTask) bool {
	f := &w.f
	return (f.Worker == "" || t.Worker == f.Worker) && (f.Name == "" || strings.Contains(t.Task.Name, f.Name)) &&
		(f.OlderThan == 0 || t.Since != 0 && time.Duration(w.now-t.Since)*time.Millisecond >= f.OlderThan)
}

func scanLive(scan func(...any) error) (t LiveTask, err error) {
	var dispatched dag.Millis
	t.Task, err = scanTask(func(into ...any) error { return scan(append(into, &t.Worker, &dispatched)...) })
	switch t.Task.State {
	case dag.TaskReady:
		t.Worker, t.Since = "", t.Task.ReadyAt
	case dag.TaskRetryWait:
		t.Worker, t.Since = "", t.Task.FinishedAt
	case dag.TaskDispatched:
		t.Since = dispatched
	case dag.TaskWaiting, dag.TaskRunning, dag.TaskKilling, dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskFailed, dag.TaskKilled, dag.TaskSkipped,
		dag.TaskUpstreamFailed, dag.TaskDisabled:
		if t.Since = t.Task.StartedAt; t.Since == 0 {
			t.Since = dispatched
		}
	}
	return t, err
}
