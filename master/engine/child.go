package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// childPollEvery is how often the children that are waited for are looked at: the safety net under
	// the word that each leaves for its parent when it ends.
	childPollEvery = 5 * time.Second
	// maxShownErrors bounds the errors of a refused child's parameters that its attempt tells.
	maxShownErrors = 3
)

// children is what sub_workflow tasks ask of the store: children to start, and children that have
// ended to be read. One goroutine does both for all instances.
type children struct {
	some chan struct{}

	mu       sync.Mutex
	launches []launch
	ends     []ending
	waited   map[int64]waiting // by child: live attempts, also of evicted instances
}

// launch is a sub_workflow or a dynamic task that is ready.
type launch struct {
	instance int64
	task     int
	spec     dag.SubWorkflowSpec
	project  int64 // of the parent
	child    dag.Child
	many     bool // a dynamic task: each item has a child
	each     []map[string]string
	ids      int // how many children may be made at the most
}

// waiting is a live attempt that waits for its child.
type waiting struct {
	instance     int64
	task, number int
}

// ending is the word that a child has ended.
type ending struct {
	waiting
	child   int64
	control int64 // the row that said so; 0 where the poll did
}

func newChildren() *children {
	return &children{some: make(chan struct{}, 1), waited: make(map[int64]waiting)}
}

func (c *children) add(launches []launch, ends []ending) {
	c.mu.Lock()
	c.launches = append(c.launches, launches...)
	c.ends = append(c.ends, ends...)
	c.mu.Unlock()
	select {
	case c.some <- struct{}{}:
	default:
	}
}

func (c *children) take() (launches []launch, ends []ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	launches, ends = c.launches, c.ends
	c.launches, c.ends = nil, nil
	return launches, ends
}

// noteItems is note for the children of dynamic tasks.
func (c *children) noteItems(in *dag.Instance, refs []dag.ItemRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range refs {
		t := &in.Tasks[ref.Task]
		if ref.Index >= len(t.Items) {
			continue
		}
		m := &t.Items[ref.Index]
		if m.State == dag.ItemRunning && t.Attempt.Number != 0 {
			c.waited[m.Child] = waiting{in.ID, ref.Task, t.Attempt.Number}
		} else {
			delete(c.waited, m.Child)
		}
	}
}

// note remembers which children a committed turn waits for, and which no longer.
func (c *children) note(instance int64, attempts []dag.Attempt) {
	for i := range attempts {
		a := &attempts[i]
		if a.Child == 0 {
			continue
		}
		c.mu.Lock()
		if a.State.Final() {
			delete(c.waited, a.Child)
		} else {
			c.waited[a.Child] = waiting{instance, a.Task, a.Number}
		}
		c.mu.Unlock()
	}
}

// launch begins an attempt of a sub_workflow task that became ready. What needs the store is done by
// ChildrenOnce, which mails the result.
func (e *Engine) launch(a *actor, turn *commit, task int) {
	refuse := func(reason dag.Reason, message string) {
		turn.fx.Add(a.in.Step(dag.Launch{Task: task, Reason: reason, Message: message}, turn.at))
	}
	if a.in.Recovers(task) {
		turn.fx.Add(a.in.Step(dag.Launch{Task: task}, turn.at))
		return
	}
	spec, ok := dag.ChildOf(a.plan.Definition.Tasks[task].Spec)
	if !ok {
		panic(fmt.Sprintf("instance %d: task %d has the spec %T", a.in.ID, task, a.plan.Definition.Tasks[task].Spec))
	}
	if a.depth >= dag.MaxDepth {
		refuse(dag.ReasonChildRefused, fmt.Sprintf("sub-workflows are nested %d deep here, which is the most that is allowed", a.depth))
		return
	}
	l := launch{instance: a.in.ID, task: task, spec: spec, project: a.ids.project}
	var params map[string]string
	var err error
	if l.many = a.plan.Definition.Tasks[task].Type == dag.TypeDynamic; !l.many {
		params, err = dag.ChildParams(a.in, task, a.in.Facts)
	} else if l.ids = len(a.in.Tasks[task].Items); l.ids == 0 {
		l.each, err = dag.Items(a.in, task, a.in.Facts)
		l.ids = len(l.each)
	}
	if err != nil {
		refuse(dag.ReasonParams, err.Error())
		return
	}
	group := a.in.GroupOf(task)
	if group == dag.DefaultWorkerGroup {
		group = ""
	}
	l.child = dag.Child{Params: params, ScheduleTime: a.in.Facts.ScheduleTime, WorkerGroup: group, Depth: a.depth + 1, By: a.by}
	e.children.add([]launch{l}, nil)
}

// childLoop starts and reads children until ctx ends.
func (e *Engine) childLoop(ctx context.Context) error {
	tick := time.NewTicker(childPollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.children.some:
			away := false
			e.guard("children", func() { away = e.ChildrenOnce(ctx) })
			if !away {
				continue
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(awayWait):
			}
		case <-tick.C:
			e.guard("poll children", func() { e.PollChildren(ctx) })
		}
	}
}

// ChildrenOnce starts the children that are asked for, and reads those of which it was told that they
// have ended. away says that some wait still, because the store is away. Only one goroutine at a time
// may call it.
func (e *Engine) ChildrenOnce(ctx context.Context) (away bool) {
	launches, ends := e.children.take()
	for i, l := range launches {
		input, err := e.startOf(ctx, l)
		if err != nil {
			e.log.Warn("children not started", "count", len(launches)-i, "error", err)
			e.children.add(launches[i:], ends)
			return true
		}
		e.post(l.instance, mail{input: input})
	}
	if err := e.tellEnds(ctx, ends); err != nil {
		e.log.Warn("ended children not read", "count", len(ends), "error", err)
		e.children.add(nil, ends)
		return true
	}
	return false
}

// startOf finds out what a child is to run. What stands against it is told by the input; an error is
// the store's.
func (e *Engine) startOf(ctx context.Context, l launch) (dag.Launch, error) {
	refused := func(format string, args ...any) (dag.Launch, error) {
		return dag.Launch{Task: l.task, Reason: dag.ReasonChildRefused, Message: fmt.Sprintf(format, args...)}, nil
	}
	project := l.project
	if l.spec.Project != "" {
		p, err := e.Store.Project(ctx, l.spec.Project)
		if errors.Is(err, sql.ErrNotFound) {
			return refused("there is no project %q", l.spec.Project)
		} else if err != nil {
			return dag.Launch{}, err
		}
		project = p.ID
	}
	w, err := e.Store.Workflow(ctx, project, l.spec.Workflow)
	if errors.Is(err, sql.ErrNotFound) {
		return refused("there is no workflow %q", l.spec.Workflow)
	} else if err != nil {
		return dag.Launch{}, err
	}
	version := w.Published
	if l.spec.Version != nil {
		version = *l.spec.Version
	}
	if version == 0 {
		return refused("workflow %q of project %q has no published version", w.Name, w.Project)
	}
	v, err := e.Store.Version(ctx, w.ID, version)
	if errors.Is(err, sql.ErrNotFound) {
		return refused("workflow %q of project %q has no version %d", w.Name, w.Project, version)
	} else if err != nil {
		return dag.Launch{}, err
	}
	plan, err := e.plans.get(v)
	if err != nil {
		return refused("%v", err)
	}
	given := l.each
	if !l.many {
		given = []map[string]string{l.child.Params}
	}
	for i, params := range given {
		wrong := dag.CheckParams(plan.Definition, params)
		if len(wrong) == 0 {
			continue
		}
		var says []string
		for _, w := range wrong[:min(len(wrong), maxShownErrors)] {
			says = append(says, w.Field+": "+w.Message)
		}
		if l.many {
			says[0] = fmt.Sprintf("item %d: %s", i, says[0])
		}
		return refused("workflow %q of project %q does not take these parameters: %s", w.Name, w.Project, strings.Join(says, "; "))
	}
	child := l.child
	child.WorkflowID, child.ProjectID, child.Version = w.ID, w.ProjectID, version
	if child.ID, err = e.Store.NextIDs(ctx, max(l.ids, 1)); err != nil {
		return dag.Launch{}, err
	}
	return dag.Launch{Task: l.task, Child: &child, Each: l.each}, nil
}

// tellEnds mails to parents how their children ended.
func (e *Engine) tellEnds(ctx context.Context, ends []ending) error {
	if len(ends) == 0 {
		return nil
	}
	ids := make([]int64, len(ends))
	for i := range ends {
		ids[i] = ends[i].child
	}
	rows, err := e.childRows(ctx, ids)
	if err != nil {
		return err
	}
	for _, end := range ends {
		row, found := rows[end.child]
		if !e.post(end.instance, mail{input: endOf(end, row, found)}) && e.inMemory(end.instance) {
			e.children.add(nil, []ending{end}) // its mailbox is full
		}
	}
	return nil
}

func (e *Engine) childRows(ctx context.Context, ids []int64) (map[int64]sql.ChildRow, error) {
	slices.Sort(ids)
	list, err := e.Store.Children(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	rows := make(map[int64]sql.ChildRow, len(list))
	for _, row := range list {
		rows[row.ID] = row
	}
	return rows, nil
}

// endOf says how a child ended. One that is gone without a trace has failed; one that runs again by
// somebody's wish is not final, and the rules do not count it.
func endOf(end ending, row sql.ChildRow, found bool) dag.ChildEnded {
	ev := dag.ChildEnded{ID: end.control, Task: end.task, Number: end.number, Child: end.child, State: row.State, Outputs: row.Outputs}
	switch {
	case !found:
		ev.State, ev.Message = dag.InstanceFailed, fmt.Sprintf("child instance %d is no longer there", end.child)
	case row.State != dag.InstanceSuccess:
		ev.Message = fmt.Sprintf("child instance %d of workflow %q in project %q is %s", end.child, row.Workflow, row.Project, row.State)
		if len(row.Failed) > 0 {
			ev.Message += ": " + strings.Join(row.Failed, ", ")
		}
	}
	return ev
}

// PollChildren looks at every child that is waited for, and tells the parents of those that have ended.
// An evicted parent is brought back first, and told the next time.
func (e *Engine) PollChildren(ctx context.Context) {
	e.children.mu.Lock()
	waited := maps.Clone(e.children.waited)
	e.children.mu.Unlock()
	ids := make([]int64, 0, len(waited))
	for child, w := range waited {
		if e.Has(w.instance) {
			ids = append(ids, child)
			continue
		}
		e.children.mu.Lock()
		if e.children.waited[child] == w {
			delete(e.children.waited, child)
		}
		e.children.mu.Unlock()
	}
	if len(ids) == 0 {
		return
	}
	rows, err := e.childRows(ctx, ids)
	if err != nil {
		e.log.Debug("children not read", "error", err)
		return
	}
	for _, child := range ids {
		w := waited[child]
		row, found := rows[child]
		if found && (!row.State.Final() || row.Open || row.Attempt != w.number) {
			continue
		}
		if !e.post(w.instance, mail{input: endOf(ending{waiting: w, child: child}, row, found)}) {
			e.wake(w.instance)
		}
	}
}

// received sorts the control rows of an instance: wishes are mailed as they are, but of an ended child
// there is something to be read first.
func (a *actor) received(rows []sql.ControlRow) (mails []mail, ends []ending) {
	for _, row := range rows {
		if row.Verb == sql.VerbChildEnded {
			ends = append(ends, ending{
				waiting: waiting{instance: row.InstanceID, task: parentTask(a.plan, row), number: row.Attempt}, child: row.Child, control: row.ID,
			})
		} else if row.Verb == sql.VerbChildAgain {
			mails = append(mails, mail{input: dag.ChildAgain{ID: row.ID, Task: parentTask(a.plan, row), Child: row.Child, By: row.By}})
		} else {
			mails = append(mails, mail{input: controlOf(a.plan, row)})
		}
	}
	return mails, ends
}

// parentTask is the task that a child's word is about, -1 for none.
func parentTask(plan *dag.Plan, row sql.ControlRow) int {
	if len(row.Tasks) == 1 {
		if task, ok := plan.Task(row.Tasks[0]); ok {
			return task
		}
	}
	return -1
}

// hint says that a committed turn wrote rows that others should see at once: of children and of the parent.
func (e *Engine) hint(a *actor, done *commit) {
	var h rpc.Hint
	for i := range done.fx.Children {
		h.Commands = append(h.Commands, done.fx.Children[i].ID)
	}
	for _, o := range done.fx.Orders {
		if o.Verb == "" {
			e.Nudge(a.in.ID) // the child may have ended before, of which this very commit then tells
			continue
		}
		h.Controls = append(h.Controls, o.Child)
	}
	if a.parent != 0 && (done.release && a.in.State.Final() || done.fx.NewRound) {
		h.Controls = append(h.Controls, a.parent)
	}
	if done.release && a.in.State.Final() {
		h.Finished = append(h.Finished, a.ids.workflow)
	}
	if len(h.Commands)+len(h.Controls)+len(h.Finished) > 0 {
		e.Hint(&h)
	}
}
