package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
)

// TaskEntry is a ready task that wants the places of a task group which it needs to run.
type TaskEntry struct {
	InstanceID int64
	Task       int
	Owner      string
	Epoch      int64
	ProjectID  int64
	Group      string
	Weight     int
	// Turn is the priority of the instance, then that of the task in its group: see TaskTurn.
	Turn    int
	ReadyAt dag.Millis
	// Ask names this question: Given brings it back.
	Ask int64
}

// TaskTurn orders the tasks that wait for a group: the priority of the instance goes first.
func TaskTurn(instance, group dag.Priority) int { return int(instance)*8 + int(group) }

// NoGroup is the answer to a TaskEntry whose project has no such group: ask again later.
const NoGroup Admission = "no_group"

// placeGiven is the state of a place whose task's owner has yet to hear of it.
const placeGiven = "given"

// TaskPlace is a place that was given to a task.
type TaskPlace struct {
	InstanceID int64
	Task       int
	Ask        int64
}

// taskKey names a task.
type taskKey struct{ instance, task int64 }

// Entered is the answer to a question for places.
type Entered struct {
	Answers []Admission // in the order of the entries
	Given   bool        // places were given to other tasks, too
	// Next is when PaceGroups is to be called, by group, for those whose rate holds tasks back.
	Next map[int64]dag.Millis
}

// EnterGroups asks for places for tasks that are ready. What it answered before it answers again, under the newer
// Ask, and without counting it again.
func (s *Store) EnterGroups(ctx context.Context, now dag.Millis, entries []TaskEntry) (out Entered, err error) {
	err = failpoint.Hit("group.enter.before")
	if err == nil {
		err = s.write(ctx, func(tx *sqlTx) (err error) {
			p := &taskPlaces{s: s, now: now, places: places{s: s, in: plainTx{tx, s}}}
			out.Answers, err = p.enter(ctx, entries)
			out.Given, out.Next = p.given, p.next
			return err
		})
	}
	if err == nil {
		err = failpoint.Hit("group.enter.after")
	}
	if err != nil {
		return Entered{}, fmt.Errorf("enter %d tasks: %w", len(entries), err)
	}
	return out, nil
}

// taskPlaces gives and takes the places of groups within one transaction. It locks the rows of
// instances first, then groups by id, then their places.
type taskPlaces struct {
	places
	s     *Store
	now   dag.Millis
	given bool                 // a place was given to a task that did not ask here
	next  map[int64]dag.Millis // when a task may start, of groups whose rate holds some back
}

type lockedGroup struct {
	id   int64
	size int64
	rate Rate
}

func (p *taskPlaces) enter(ctx context.Context, entries []TaskEntry) ([]Admission, error) {
	ready, err := p.lockReady(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("lock instances: %w", err)
	}
	answers := make([]Admission, len(entries))
	groups := map[int64][]int{}
	for i, e := range entries {
		answers[i] = NotOwned
		if !ready[taskKey{e.InstanceID, int64(e.Task)}] {
			continue
		}
		id, err := p.groupID(ctx, e.ProjectID, e.Group)
		switch {
		case errors.Is(err, ErrNotFound):
			answers[i] = NoGroup
		case err != nil:
			return nil, fmt.Errorf("read task group: %w", err)
		default:
			groups[id] = append(groups[id], i)
		}
	}
	for _, id := range sortedKeys(groups) {
		g, err := p.lockGroup(ctx, id)
		if errors.Is(err, ErrNotFound) { // deleted since
			for _, i := range groups[id] {
				answers[i] = NoGroup
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("lock task group %d: %w", id, err)
		}
		if err := p.enterGroup(ctx, g, entries, groups[id], answers); err != nil {
			return nil, fmt.Errorf("task group %d: %w", id, err)
		}
	}
	return answers, nil
}

// lockReady locks the instances, and returns the tasks that are ready and whose owner asks.
func (p *taskPlaces) lockReady(ctx context.Context, entries []TaskEntry) (map[taskKey]bool, error) {
	var ids []int64
	for _, e := range entries {
		ids = append(ids, e.InstanceID)
	}
	slices.Sort(ids)
	owned := make(map[int64]ownership, len(ids))
	err := eachChunk(slices.Compact(ids), func(chunk []any) error {
		return p.each(ctx, `SELECT id, owner_epoch, owner FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`) AND state = 'running'
			ORDER BY id`+p.s.dial.forUpdate(), chunk, func(scan func(...any) error) error {
			var o ownership
			err := scan(&o.id, &o.epoch, &o.owner)
			owned[o.id] = o
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var args []any
	for _, e := range entries {
		if owned[e.InstanceID] == (ownership{e.InstanceID, e.Epoch, e.Owner}) {
			args = append(args, e.InstanceID, e.Task)
		}
	}
	ready := make(map[taskKey]bool, len(args)/2)
	for chunk := range slices.Chunk(args, 2*maxStatementRows) {
		// The instance's lock guards its tasks.
		err := p.each(ctx, `SELECT instance_id, task_index FROM task_instance WHERE state = 'ready' AND `+
			p.s.dial.rowsIn("(instance_id, task_index)", 2, len(chunk)/2), chunk, func(scan func(...any) error) error {
			var k taskKey
			err := scan(&k.instance, &k.task)
			ready[k] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return ready, nil
}

func (p *taskPlaces) groupID(ctx context.Context, project int64, name string) (id int64, err error) {
	err = p.each(ctx, `SELECT id FROM task_group WHERE project_id = ? AND name_key = ?`, []any{project, dag.FoldName(name)},
		func(scan func(...any) error) error { return scan(&id) })
	if err == nil && id == 0 {
		err = ErrNotFound
	}
	return id, err
}

func (p *taskPlaces) lockGroup(ctx context.Context, id int64) (g lockedGroup, err error) {
	var per int64
	err = p.each(ctx, `SELECT id, size, rate_tasks, rate_per FROM task_group WHERE id = ?`+p.s.dial.forUpdate(), []any{id},
		func(scan func(...any) error) error { return scan(&g.id, &g.size, &g.rate.Tasks, &per) })
	g.rate.Per = time.Duration(per) * time.Millisecond
	if err == nil && g.id == 0 {
		err = ErrNotFound
	}
	return g, err
}

func (p *taskPlaces) enterGroup(ctx context.Context, g lockedGroup, entries []TaskEntry, which []int, answers []Admission) error {
	here := make(map[taskKey]int, len(which))
	for _, i := range which {
		e := &entries[i]
		key := taskKey{e.InstanceID, int64(e.Task)}
		var state string
		var group int64
		err := p.each(ctx, `SELECT state, group_id FROM task_place WHERE instance_id = ? AND task_index = ?`+p.s.dial.forUpdate(),
			[]any{key.instance, key.task}, func(scan func(...any) error) error { return scan(&state, &group) })
		if err != nil {
			return err
		}
		switch state {
		case "":
			err = p.in.exec(ctx, `INSERT INTO task_place (instance_id, task_index, group_id, state, turn, weight, ask, forced, ready_at)
				VALUES (?, ?, ?, 'waiting', ?, ?, ?, 0, ?)`, []any{key.instance, key.task, g.id, int64(e.Turn), int64(e.Weight), e.Ask, int64(e.ReadyAt)}, anyRows)
			answers[i], here[key] = Waits, i
		case placeWaiting:
			err = p.in.exec(ctx, `UPDATE task_place SET ask = ? WHERE instance_id = ? AND task_index = ?`, []any{e.Ask, key.instance, key.task}, anyRows)
			answers[i], here[key] = Waits, i
		default:
			err = p.in.exec(ctx, `UPDATE task_place SET state = 'held', ask = ? WHERE instance_id = ? AND task_index = ?`, []any{e.Ask, key.instance, key.task}, anyRows)
			answers[i] = Admitted
		}
		if err != nil {
			return err
		}
	}
	return p.settleGroup(ctx, g, here, answers)
}

// settleGroup gives the free places of a locked group to the tasks whose turn it is. The first that does not
// fit keeps those behind it waiting, so that a heavy one gets its turn; one that is heavier than the whole
// group is passed over. The group's rate bounds how many go now.
func (p *taskPlaces) settleGroup(ctx context.Context, g lockedGroup, here map[taskKey]int, answers []Admission) error {
	free := g.size
	err := p.each(ctx, `SELECT weight FROM task_place WHERE group_id = ? AND state IN ('given', 'held')`+p.s.dial.forUpdate(), []any{g.id},
		func(scan func(...any) error) error {
			var weight int64
			err := scan(&weight)
			free -= weight
			return err
		})
	if err != nil || free <= 0 {
		return err
	}
	c, err := p.pace(ctx, g)
	if err != nil {
		return err
	}
	if c.left <= 0 {
		p.wait(g, &c)
		return nil
	}
	var given []taskKey
	stop := false
	err = p.each(ctx, `SELECT instance_id, task_index, weight FROM task_place WHERE group_id = ? AND state = 'waiting' AND weight <= ?
		ORDER BY turn, ready_at, instance_id, task_index LIMIT ?`+p.s.dial.forUpdate(), []any{g.id, g.size, min(free, maxPicked)},
		func(scan func(...any) error) error {
			var k taskKey
			var weight int64
			if err := scan(&k.instance, &k.task, &weight); err != nil {
				return err
			}
			if stop = stop || weight > free || int64(len(given)) == c.left; !stop {
				free -= weight
				given = append(given, k)
			}
			return nil
		})
	if err != nil {
		return err
	}
	if err := p.started(ctx, g, &c, int64(len(given))); err != nil {
		return err
	}
	p.wait(g, &c)
	for _, k := range given {
		state := placeGiven
		if i, entering := here[k]; entering {
			answers[i], state = Admitted, placeHeld
		} else {
			p.given = true
		}
		err := p.in.exec(ctx, `UPDATE task_place SET state = ? WHERE instance_id = ? AND task_index = ?`, []any{state, k.instance, k.task}, anyRows)
		if err != nil {
			return err
		}
	}
	return nil
}

// leave takes back the places of tasks, whatever their groups, and gives them to the next. The rows of
// their instances are locked.
func (p *taskPlaces) leave(ctx context.Context, tasks []any) error {
	groups := map[int64][]any{}
	for chunk := range slices.Chunk(tasks, 2*maxStatementRows) {
		err := p.each(ctx, `SELECT group_id, instance_id, task_index FROM task_place WHERE `+
			p.s.dial.rowsIn("(instance_id, task_index)", 2, len(chunk)/2), chunk, func(scan func(...any) error) error {
			var group int64
			var k taskKey
			err := scan(&group, &k.instance, &k.task)
			groups[group] = append(groups[group], k.instance, k.task)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, id := range sortedKeys(groups) {
		g, err := p.lockGroup(ctx, id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		for chunk := range slices.Chunk(groups[id], 2*maxStatementRows) {
			if err := p.in.exec(ctx, `DELETE FROM task_place WHERE `+p.s.dial.rowsIn("(instance_id, task_index)", 2, len(chunk)/2), chunk, anyRows); err != nil {
				return err
			}
		}
		if g.id != 0 {
			if err := p.settleGroup(ctx, g, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupLeavers returns the tasks of a transition that need their places no longer, as instance and index. Nothing
// starts while an instance pauses: what is only ready then waits outside its group.
func groupLeavers(t *Transition, args []any) []any {
	if t.Plan == nil {
		return args
	}
	still := func(i int) bool {
		state := t.Instance.Tasks[i].State
		return state.Live() || state == dag.TaskReady && t.Instance.State == dag.InstanceRunning
	}
	if t.Instance.State == dag.InstancePausing || t.Instance.State == dag.InstancePaused {
		for i := range t.Plan.Definition.Tasks {
			if t.Plan.NeedsPlace(i) && t.Instance.Tasks[i].State == dag.TaskReady {
				args = append(args, t.Instance.ID, int64(i))
			}
		}
	}
	for _, i := range t.Effects.Tasks {
		if state := t.Instance.Tasks[i].State; t.Plan.NeedsPlace(i) && !still(i) && state != dag.TaskWaiting {
			args = append(args, t.Instance.ID, int64(i))
		}
	}
	return args
}

// groups takes back the places of the tasks that the transitions ended.
func (b *batch) groups(ctx context.Context, ops []*operation) error {
	var leavers []any
	for _, o := range ops {
		leavers = groupLeavers(o.commit, leavers)
	}
	if len(leavers) == 0 {
		return nil
	}
	p := &taskPlaces{s: b.s, places: places{s: b.s, in: b.tx}}
	for _, o := range ops {
		p.now = max(p.now, o.commit.At)
	}
	if err := p.leave(ctx, leavers); err != nil {
		return fmt.Errorf("release places of task groups: %w", err)
	}
	for _, o := range ops {
		o.commit.Given, o.commit.Next = o.commit.Given || p.given, p.next
	}
	return nil
}

// maxGiven bounds the places that one call of Given returns.
const maxGiven = 500

// Given returns the places that were given to tasks of an owner since the last call. It mostly reads one
// entry of an index and no more.
func (s *Store) Given(ctx context.Context, owner string) ([]TaskPlace, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (t TaskPlace, err error) { return t, scan(&t.InstanceID, &t.Task, &t.Ask) },
		`SELECT p.instance_id, p.task_index, p.ask FROM task_place p JOIN workflow_instance i ON i.id = p.instance_id
		WHERE p.state = 'given' AND i.owner = ? ORDER BY p.instance_id, p.task_index LIMIT ?`, owner, maxGiven)
	if err != nil {
		return nil, fmt.Errorf("read places given to %s: %w", owner, err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		for _, t := range out {
			_, err := tx.ExecContext(ctx, `UPDATE task_place SET state = 'held' WHERE instance_id = ? AND task_index = ? AND ask = ? AND state = 'given'`,
				t.InstanceID, t.Task, t.Ask)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take places given to %s: %w", owner, err)
	}
	return out, nil
}

// leaveGroups takes back all places of an instance that is set aside; its row is locked.
func (s *Store) leaveGroups(ctx context.Context, tx *sqlTx, instance int64) error {
	p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
	var tasks []any
	err := p.each(ctx, `SELECT task_index FROM task_place WHERE instance_id = ? ORDER BY task_index`, []any{instance}, func(scan func(...any) error) error {
		var task int64
		err := scan(&task)
		tasks = append(tasks, instance, task)
		return err
	})
	if err != nil || len(tasks) == 0 {
		return err
	}
	return p.leave(ctx, tasks)
}

// sweepTaskPlaces takes back places that no task needs any more and gives free ones, as SweepPlaces does.
func (s *Store) sweepTaskPlaces(ctx context.Context) (mended int, err error) {
	stale, err := collect(ctx, s, func(scan func(...any) error) (k taskKey, err error) { return k, scan(&k.instance, &k.task) },
		`SELECT p.instance_id, p.task_index FROM task_place p LEFT JOIN task_instance t ON t.instance_id = p.instance_id AND t.task_index = p.task_index
		WHERE t.state IS NULL OR t.state NOT IN ('ready', 'dispatched', 'running', 'killing') ORDER BY p.instance_id, p.task_index LIMIT ?`, maxSwept)
	if err != nil {
		return 0, fmt.Errorf("read places of ended tasks: %w", err)
	}
	for _, k := range stale {
		err := s.write(ctx, func(tx *sqlTx) error {
			p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
			needed := false
			err := p.each(ctx, `SELECT id FROM workflow_instance WHERE id = ?`+s.dial.forUpdate(), []any{k.instance}, func(scan func(...any) error) error {
				var id int64
				return scan(&id)
			})
			if err == nil {
				err = p.each(ctx, `SELECT state FROM task_instance WHERE instance_id = ? AND task_index = ?`, []any{k.instance, k.task}, func(scan func(...any) error) error {
					var state dag.TaskState
					err := scan(&state)
					needed = state.Live() || state == dag.TaskReady
					return err
				})
			}
			if err != nil || needed {
				return err
			}
			return p.leave(ctx, []any{k.instance, k.task})
		})
		if err != nil {
			return mended, fmt.Errorf("take back the place of task %d of instance %d: %w", k.task, k.instance, err)
		}
		mended++
	}
	free, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT g.id FROM task_group g WHERE EXISTS (SELECT 1 FROM task_place w WHERE w.group_id = g.id AND w.state = 'waiting' AND w.weight <= g.size)
		AND g.size > (SELECT COALESCE(SUM(h.weight), 0) FROM task_place h WHERE h.group_id = g.id AND h.state IN ('given', 'held')) ORDER BY g.id LIMIT ?`, maxSwept)
	if err != nil {
		return mended, fmt.Errorf("read task groups with free places: %w", err)
	}
	for _, id := range free {
		err := s.write(ctx, func(tx *sqlTx) error {
			p := &taskPlaces{s: s, now: s.millis(), places: places{s: s, in: plainTx{tx, s}}}
			g, err := p.lockGroup(ctx, id)
			if errors.Is(err, ErrNotFound) {
				return nil
			}
			if err == nil {
				err = p.settleGroup(ctx, g, nil, nil)
			}
			if p.given {
				mended++
			}
			return err
		})
		if err != nil {
			return mended, fmt.Errorf("settle task group %d: %w", id, err)
		}
	}
	return mended, nil
}
