package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// instanceTurn writes an instance that enters another state or loses its owner; instanceStep one
// that keeps both, as most transitions do: SQLite rewrites each index whose column stands in an
// UPDATE, changed or not, and these two stand in four.
var (
	instanceTurn = &table{
		name: "workflow_instance",
		keys: []string{"id", "owner_epoch"},
		cols: []string{
			"id", "owner_epoch", "reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline", "state", "owner",
		},
		sets: []string{"reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline", "state", "owner"},
		akin: true,
	}
	// instanceBegin writes the first transition of one that the same transaction claims; its row is locked, and no epoch of
	// it stands yet.
	instanceBegin = &table{
		name: "workflow_instance",
		keys: []string{"id"},
		cols: []string{
			"id", "owner_epoch", "reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline", "state", "owner",
			"layout_epoch",
		},
		sets: []string{
			"owner_epoch", "reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline", "state", "owner", "layout_epoch",
		},
		akin: true,
	}
	instanceStep = &table{
		name: "workflow_instance",
		keys: []string{"id", "owner_epoch"},
		cols: []string{"id", "owner_epoch", "reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline"},
		sets: []string{"reason", "round", "crash_count", "seq", "write_id", "started_at", "finished_at", "deadline"},
		akin: true,
	}
)

var taskUpsert = withCommon(&table{
	name: "task_instance",
	keys: []string{"instance_id", "task_index"},
	cols: []string{
		"instance_id", "task_index", "name", "type", "state", "reason", "round", "attempts", "retries", "lost",
		"ready_at", "next_at", "started_at", "finished_at", "outputs", "child_id", "iteration", "avoid_worker", "items",
	},
	sets: []string{
		"state", "reason", "round", "attempts", "retries", "lost", "ready_at", "next_at", "started_at", "finished_at", "outputs", "child_id",
		"iteration", "avoid_worker", "items",
	},
}, map[string]any{
	"reason": "", "retries": int64(0), "lost": int64(0), "next_at": int64(0), "outputs": "", "child_id": int64(0), "iteration": int64(0),
	"avoid_worker": "", "items": int64(0),
})

var attemptUpsert = withCommon(&table{
	name: "task_attempt",
	keys: []string{"instance_id", "task_index", "number"},
	cols: []string{
		"instance_id", "task_index", "number", "round", "token", "worker", "incarnation", "state", "reason", "kill_reason", "message",
		"dispatched_at", "started_at", "finished_at", "deadline", "exit_code", "tail", "log_bytes", "outputs", "complete_by", "child_id",
		"iteration", "cache_key", "cached_from",
	},
	sets: []string{
		"state", "reason", "kill_reason", "message", "dispatched_at", "started_at", "finished_at", "deadline", "exit_code", "tail",
		"log_bytes", "outputs", "complete_by",
	},
}, map[string]any{
	"reason": "", "kill_reason": "", "message": "", "deadline": int64(0), "exit_code": int64(0), "tail": noBytes{}, "log_bytes": int64(0),
	"outputs": "", "child_id": int64(0), "iteration": int64(0), "cache_key": "", "cached_from": int64(0),
})

var eventInsert = withCommon(&table{
	name: "event",
	cols: []string{
		"instance_id", "seq", "created_at", "code", "task_index", "attempt", "round", "state", "reason", "message", "requested_by", "warning",
	},
}, map[string]any{"reason": "", "message": "", "requested_by": "", "warning": int64(0)})

// Commit writes the transitions, merged with those of other callers into one transaction, and
// returns an error for each, in their order: nil once it is durable, ErrNotOwner where the
// instance has another epoch or no owner (nothing of it was written), ErrUnavailable where
// nothing is known to be written. A transition with empty Effects only says that the owner is
// well: it clears the crash count. Of one instance, only one Commit may be under way; the very
// same transition may be committed again after ErrUnavailable, also where it had been written.
func (s *Store) Commit(ctx context.Context, transitions []Transition) []error {
	ops := make([]*operation, len(transitions))
	for i := range transitions {
		t := &transitions[i]
		if t.Effects == nil {
			t.Effects = &dag.Effects{}
		}
		t.At = orNow(t.At, s.millis())
		ops[i] = &operation{commit: t, err: t.check()}
	}
	s.writer.do(ctx, slices.DeleteFunc(slices.Clone(ops), func(o *operation) bool { return o.err != nil })...)
	errs := make([]error, len(ops))
	for i, o := range ops {
		if o.err != nil {
			errs[i] = fmt.Errorf("commit instance %d: %w", o.commit.Instance.ID, o.err)
		}
	}
	return errs
}

// check refuses what would end the writer, and with it every caller's work.
func (t *Transition) check() error {
	n := len(t.Instance.Tasks)
	if len(t.Effects.Tasks) > 0 || len(t.Effects.Attempts) > 0 || len(t.Effects.Children) > 0 || len(t.Effects.Cached) > 0 {
		if t.Plan == nil || len(t.Plan.Definition.Tasks) != n {
			return fmt.Errorf("%d tasks do not fit the plan", n)
		}
	}
	for _, i := range t.Effects.Tasks {
		if i < 0 || i >= n {
			return fmt.Errorf("task %d of %d changed", i, n)
		}
	}
	return nil
}

// commits writes the transitions of those who still own their instance.
func (b *batch) commits(ctx context.Context) error {
	var ops []*operation
	for _, o := range b.ops {
		if o.commit == nil {
			continue
		}
		row, found := b.locked[o.commit.Instance.ID]
		switch {
		case !found || row.epoch != o.commit.Epoch:
			o.err = ErrNotOwner
		case o.commit.Claim != nil && !row.begins:
			o.err = ErrNotOwner // another claim was quicker, and has that epoch
		case row.owner != "":
			ops = append(ops, o)
		case !o.commit.Release || row.seq != o.commit.Instance.Seq || row.state != string(o.commit.Instance.State):
			o.err = ErrNotOwner
		default:
			// It is this very release, written before by a commit whose answer was lost.
		}
	}
	if len(ops) == 0 {
		return nil
	}
	slices.SortFunc(ops, func(x, y *operation) int { return compare(x.commit.Instance.ID, y.commit.Instance.ID) })
	if err := b.updateInstances(ctx, ops); err != nil {
		return err
	}
	var tasks, attempts, items, events []any
	for _, o := range ops {
		tasks = appendTasks(tasks, o.commit)
		attempts = appendAttempts(attempts, o.commit)
		items = appendItems(items, o.commit)
		events = appendEvents(events, o.commit, b.locked[o.commit.Instance.ID].seq)
	}
	if err := b.rows(ctx, taskUpsert, b.s.dial.upsert, tasks); err != nil {
		return fmt.Errorf("write tasks: %w", err)
	}
	if err := b.rows(ctx, attemptUpsert, b.s.dial.upsert, attempts); err != nil {
		return fmt.Errorf("write attempts: %w", err)
	}
	if err := b.rows(ctx, itemUpsert, b.s.dial.upsert, items); err != nil {
		return fmt.Errorf("write items: %w", err)
	}
	if err := b.rows(ctx, eventInsert, b.s.dial.insert, events); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	if err := b.tell(ctx, ops); err != nil {
		return err
	}
	if err := b.answers(ctx, ops); err != nil {
		return err
	}
	if err := b.approvals(ctx, ops); err != nil {
		return err
	}
	if err := b.children(ctx, ops); err != nil {
		return err
	}
	if err := b.caches(ctx, ops); err != nil {
		return err
	}
	if err := b.release(ctx, ops); err != nil {
		return err
	}
	return b.groups(ctx, ops)
}

func (b *batch) updateInstances(ctx context.Context, ops []*operation) error {
	var begins, turns, steps []any
	for _, o := range ops {
		in, row := o.commit.Instance, b.locked[o.commit.Instance.ID]
		args := &steps
		turn := row.begins || o.commit.Release || string(in.State) != row.state
		switch {
		case row.begins:
			args = &begins
		case turn:
			args = &turns
		}
		*args = append(*args, in.ID, o.commit.Epoch)
		if b.seen {
			*args = append(*args, row.owner, row.seq, row.mark, int64(0))
		}
		*args = append(*args, string(in.Reason), int64(in.Round), int64(0), in.Seq, b.writeID,
			int64(in.StartedAt), int64(in.FinishedAt), int64(in.Deadline))
		if turn {
			owner := row.owner
			if o.commit.Release {
				owner = ""
			}
			*args = append(*args, string(in.State), owner)
		}
		if row.begins {
			*args = append(*args, o.commit.Claim.LayoutEpoch)
		}
	}
	turn, step := instanceTurn, instanceStep
	if b.seen {
		turn, step = instanceTurnSeen, instanceStepSeen
	}
	for _, u := range []struct {
		t    *table
		args []any
	}{{instanceBegin, begins}, {turn, turns}, {step, steps}} {
		if err := b.updates(ctx, u.t, u.args, true); err != nil {
			return fmt.Errorf("update instances: %w", err)
		}
	}
	return nil
}

// release gives a command to the instances that were released while wishes about them wait, and the
// places of those that ended to the next.
func (b *batch) release(ctx context.Context, ops []*operation) error {
	released := map[int64]dag.InstanceState{}
	for _, o := range ops {
		if o.commit.Release {
			released[o.commit.Instance.ID] = o.commit.Instance.State
		}
	}
	if len(released) == 0 {
		return nil
	}
	if err := b.endDates(ctx, ops); err != nil {
		return fmt.Errorf("note ends with dates of backfills: %w", err)
	}
	var wanted []int64
	placed, waiting := map[int64]line{}, map[int64][]waitsFor{}
	err := b.ask(ctx, append(waitingFor(b.endedWorkflows(ops), waiting), unanswered(sortedKeys(released), &wanted, placed)...))
	if err != nil {
		return fmt.Errorf("read what waits for released instances: %w", err)
	}
	if err := b.noteEnds(ctx, ops, waiting); err != nil {
		return fmt.Errorf("note ends for schedules: %w", err)
	}
	if err := b.resume(ctx, wanted); err != nil {
		return err
	}
	p := &places{s: b.s, in: b.tx, slots: b.slots}
	if err := p.release(ctx, released, placed); err != nil {
		return fmt.Errorf("release places: %w", err)
	}
	if p.woke {
		for _, o := range ops {
			o.commit.Woke = true
		}
	}
	return nil
}

func appendTasks(args []any, t *Transition) []any {
	changed := t.Effects.Tasks
	if len(changed) > 1 {
		changed = slices.Clone(changed)
		slices.Sort(changed)
		changed = slices.Compact(changed)
	}
	for _, i := range changed {
		r, def := &t.Instance.Tasks[i], &t.Plan.Definition.Tasks[i]
		args = append(args, t.Instance.ID, int64(i), def.Name, def.Type, string(r.State), string(r.Reason), int64(r.Round), int64(r.Attempts),
			int64(r.Retries), int64(r.Lost), int64(r.ReadyAt), int64(r.NextAt), int64(r.StartedAt), int64(r.FinishedAt), encodeMap(r.Outputs), r.Child,
			int64(r.Iteration), r.AvoidWorker, int64(len(r.Items)))
	}
	return args
}

// appendAttempts adds the last value of each attempt: a statement must not meet a row twice.
func appendAttempts(args []any, t *Transition) []any {
	list := t.Effects.Attempts
	superseded := laterOnes(list)
	for i := range list {
		a := &list[i]
		if superseded(i) {
			continue
		}
		tail := a.Tail
		if tail == nil {
			tail = []byte{}
		}
		args = append(args, t.Instance.ID, int64(a.Task), int64(a.Number), int64(a.Round), a.Token, a.Worker, a.Incarnation, string(a.State),
			string(a.Reason), string(a.KillReason), a.Message, int64(a.DispatchedAt), int64(a.StartedAt), int64(a.FinishedAt),
			int64(a.Deadline), int64(a.ExitCode), tail, a.LogBytes, encodeMap(a.Outputs), int64(completeBy(a, t.At, t.Grace)),
			a.Child, int64(a.Iteration), a.CacheKey, a.CachedFrom)
	}
	return args
}

// fewAttempts are compared with each other; more are looked up.
const fewAttempts = 8

// laterOnes says of the i-th of list whether the same attempt follows it.
func laterOnes(list []dag.Attempt) func(i int) bool {
	same := func(a, b *dag.Attempt) bool { return a.Task == b.Task && a.Number == b.Number }
	if len(list) <= fewAttempts {
		return func(i int) bool {
			for j := i + 1; j < len(list); j++ {
				if same(&list[i], &list[j]) {
					return true
				}
			}
			return false
		}
	}
	last := make(map[[2]int]int, len(list))
	for i := range list {
		last[[2]int{list[i].Task, list[i].Number}] = i
	}
	return func(i int) bool { return last[[2]int{list[i].Task, list[i].Number}] != i }
}

// appendEvents adds the events behind seq, the last one that is written. Only the owner of this
// epoch writes them, and without a gap: those up to it are this transition's own, written before
// by a commit whose answer was lost.
func appendEvents(args []any, t *Transition, seq int64) []any {
	for i := range t.Effects.Events {
		e := &t.Effects.Events[i]
		if e.Seq <= seq {
			continue
		}
		args = append(args, t.Instance.ID, e.Seq, int64(e.At), string(e.Code), int64(e.Task), int64(e.Attempt), int64(e.Round), e.State,
			string(e.Reason), e.Message, e.By, flag(e.Warning))
	}
	return args
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
