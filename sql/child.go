package sql

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// VerbChildEnded is no wish: a control row of this verb tells a parent that the child of an attempt has
// ended. The engine makes a dag.ChildEnded of it.
const VerbChildEnded dag.Verb = "child_ended"

// VerbChildAgain is no wish either: a control row of this verb tells a parent that has ended that its child runs
// again, on somebody's wish. The engine makes a dag.ChildAgain of it.
const VerbChildAgain dag.Verb = "child_again"

// Parent ties a child instance to the attempt that waits for it; zero for an instance that
// somebody, or a schedule, started.
type Parent struct {
	Instance int64
	Task     string
	Attempt  int
}

// ChildKey is the trigger key of a child of an attempt: of the item of that index, and 0 where it has one child.
func ChildKey(instance int64, task, attempt, index int) string {
	return fmt.Sprintf("t%d.%d.%d.%d", instance, task, attempt, index)
}

// children makes the children of transitions and passes their wishes on to them; those whose child has
// ended for their parent tell it. A transition that had been written before, by a commit whose answer was
// lost, has done all of that.
func (b *batch) children(ctx context.Context, ops []*operation) error {
	var starts []*Start
	var controls []any
	var tied, told []int64
	for _, o := range ops {
		t := o.commit
		if b.locked[t.Instance.ID].seq < t.Instance.Seq {
			for i := range t.Effects.Children {
				starts = append(starts, childStart(t, &t.Effects.Children[i]))
			}
			for _, order := range t.Effects.Orders {
				if order.Number > 0 {
					tied = append(tied, order.Child, int64(order.Number))
					b.tie(order)
				}
				if order.Verb == "" {
					if wake, ok := b.endedBefore(t, order.Child); ok {
						controls = b.wish(controls, &wake)
					}
					continue
				}
				controls = b.wish(controls, &ControlRow{
					InstanceID: order.Child, Verb: order.Verb, Force: order.Force, By: t.By, At: t.At,
				})
				told = append(told, order.Child)
			}
			if again, ok := b.again(t); ok {
				controls = b.wish(controls, &again)
				told = append(told, again.InstanceID)
			}
		}
		if wake, ok := b.wake(t); ok {
			controls = b.wish(controls, &wake)
			told = append(told, wake.InstanceID)
		}
	}
	if err := b.insertStarts(ctx, starts); err != nil {
		return fmt.Errorf("insert children: %w", err)
	}
	for i := 0; i < len(tied); i += 2 {
		err := b.tx.exec(ctx, `UPDATE workflow_instance SET parent_attempt = ? WHERE id = ?`, []any{tied[i+1], tied[i]}, anyRows)
		if err != nil {
			return fmt.Errorf("tie a child to another attempt: %w", err)
		}
	}
	if err := b.rows(ctx, controlInsert, b.s.dial.insert, controls); err != nil {
		return fmt.Errorf("insert controls of parents and children: %w", err)
	}
	var orphans []int64
	for _, id := range told {
		if in, found := b.locked[id]; found && in.owner == "" && in.epoch > 0 && !slices.Contains(orphans, id) {
			orphans = append(orphans, id)
		}
	}
	return b.resume(ctx, orphans)
}

// childStart is the start of a child: what it does not say of itself it has from its parent.
func childStart(t *Transition, c *dag.Child) *Start {
	in := t.Instance
	return &Start{
		ID: c.ID, WorkflowID: c.WorkflowID, ProjectID: c.ProjectID, Version: c.Version, ScheduleTime: c.ScheduleTime, Timezone: in.Facts.Timezone(),
		TriggerKey: ChildKey(in.ID, c.Task, c.Number, c.Index), Params: c.Params, DryRun: in.DryRun, WorkerGroup: c.WorkerGroup,
		Priority: in.Priority, OnFailure: in.OnFailure, By: c.By, At: t.At, Depth: c.Depth,
		Parent: Parent{Instance: in.ID, Task: t.Plan.Definition.Tasks[c.Task].Name, Attempt: c.Number},
	}
}

// wakes says that a transition ends a child, so that its parent must hear of it.
func (t *Transition) wakes() bool {
	return t.Parent != 0 && t.Release && t.Instance.State.Final()
}

// wake is the word to the parent of an instance that has ended. Which attempt waits for it stands in
// the row. A parent that is final itself waits for nothing.
func (b *batch) wake(t *Transition) (ControlRow, bool) {
	parent, found := b.locked[t.Parent]
	if !t.wakes() || !found || dag.InstanceState(parent.state).Final() {
		return ControlRow{}, false
	}
	return b.word(t, VerbChildEnded, t.Parent, t.Instance.ID), true
}

// word is what a transition has to say to the parent of a child.
func (b *batch) word(t *Transition, verb dag.Verb, parent, child int64) ControlRow {
	row := b.locked[child]
	return ControlRow{InstanceID: parent, Verb: verb, Tasks: []string{row.parentTask}, Attempt: row.parentAttempt, Child: child, By: t.By, At: t.At}
}

// tie notes that a child tells another attempt when it ends, for the other transitions of the batch: those of
// parents come first, as their ids are lower.
func (b *batch) tie(o dag.Order) {
	row := b.locked[o.Child]
	row.parentAttempt = o.Number
	b.locked[o.Child] = row
}

// endedBefore is the word of a child that runs again, and has ended before its parent began to wait for it.
func (b *batch) endedBefore(t *Transition, child int64) (ControlRow, bool) {
	if row, found := b.locked[child]; !found || !dag.InstanceState(row.state).Final() {
		return ControlRow{}, false
	}
	return b.word(t, VerbChildEnded, t.Instance.ID, child), true
}

// again is the word to a parent that has ended: its child has opened a new round. One that has not ended either
// asked for that itself, or has nothing to do with this child any more; one in quarantine stays there.
func (b *batch) again(t *Transition) (ControlRow, bool) {
	parent, found := b.locked[t.Parent]
	state := dag.InstanceState(parent.state)
	if !t.Effects.NewRound || !found || !state.Final() || state == dag.InstanceQuarantined {
		return ControlRow{}, false
	}
	return b.word(t, VerbChildAgain, t.Parent, t.Instance.ID), true
}

// told lists the instances beside its own that a transition writes to.
func (t *Transition) told() []int64 {
	var ids []int64
	for _, o := range t.Effects.Orders {
		ids = append(ids, o.Child)
	}
	if t.wakes() || t.Parent != 0 && t.Effects.NewRound {
		ids = append(ids, t.Parent)
	}
	return ids
}

// ChildRow is how a child stands for its parent.
type ChildRow struct {
	ID                int64
	Project, Workflow string
	State             dag.InstanceState
	Reason            dag.Reason
	Attempt           int  // of the parent, that waits for it
	Open              bool // a wish about it has yet to be answered, so it may not stay as it is
	// Outputs are all that its tasks gave, of two of one name the later; only of a child that is final.
	Outputs map[string]string
	// Failed are tasks that failed or were killed, at most a few.
	Failed []string
}

// maxFailed bounds the failed tasks that a parent is told of.
const maxFailed = 3

// Children returns those of the instances that there are, by id.
func (s *Store) Children(ctx context.Context, ids []int64) ([]ChildRow, error) {
	var out []ChildRow
	at := map[int64]int{}
	err := eachChunk(ids, func(chunk []any) error {
		rows, err := collect(ctx, s, func(scan func(...any) error) (c ChildRow, err error) {
			return c, scan(&c.ID, &c.Project, &c.Workflow, &c.State, &c.Reason, &c.Attempt, &c.Open)
		}, `SELECT i.id, COALESCE(p.name, ''), COALESCE(w.name, ''), i.state, i.reason, i.parent_attempt,
			EXISTS (SELECT 1 FROM control c WHERE c.instance_id = i.id AND c.applied_at = 0)
			FROM workflow_instance i LEFT JOIN project p ON p.id = i.project_id LEFT JOIN workflow w ON w.id = i.workflow_id
			WHERE i.id IN (`+marks(len(chunk))+`) ORDER BY i.id`, chunk...)
		var final []any
		for _, c := range rows {
			at[c.ID] = len(out)
			out = append(out, c)
			if c.State.Final() {
				final = append(final, c.ID)
			}
		}
		if err != nil || len(final) == 0 {
			return err
		}
		return s.childTasks(ctx, final, func(t TaskRow) { out[at[t.InstanceID]].add(t) })
	})
	if err != nil {
		return nil, fmt.Errorf("read %d children: %w", len(ids), err)
	}
	return out, nil
}

// childTasks reads the tasks of instances that say something to their parents, in the order in which they ended.
func (s *Store) childTasks(ctx context.Context, ids []any, each func(TaskRow)) error {
	tasks, err := collect(ctx, s, scanTask, `SELECT `+taskColumns+` FROM task_instance WHERE instance_id IN (`+marks(len(ids))+`)
		AND (outputs <> '' OR state IN ('failed', 'killed')) ORDER BY instance_id, finished_at, task_index`, ids...)
	for _, t := range tasks {
		each(t)
	}
	return err
}

func (c *ChildRow) add(t TaskRow) {
	if (t.State == dag.TaskFailed || t.State == dag.TaskKilled) && len(c.Failed) < maxFailed {
		c.Failed = append(c.Failed, t.Name)
	}
	if c.Outputs == nil && len(t.Outputs) > 0 {
		c.Outputs = make(map[string]string, len(t.Outputs))
	}
	maps.Copy(c.Outputs, t.Outputs)
}

// ChildrenOf returns a page of the children of an instance, the latest first.
func (s *Store) ChildrenOf(ctx context.Context, instance int64, page Page) ([]InstanceRow, string, error) {
	before := keyCursor{1<<63 - 1}
	if err := page.decode("children", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanInstance, selectInstance+` WHERE i.parent_instance_id = ? AND i.parent_instance_id > 0 AND i.id < ?
		ORDER BY i.id DESC LIMIT ?`, instance, before.Key, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read children of instance %d: %w", instance, err)
	}
	return cut(out, limit, "children", func(r InstanceRow) any { return keyCursor{r.ID} })
}
