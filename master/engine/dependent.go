package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

const (
	// dependentEvery is how often is looked whose turn it is: the interval of a task is a second at least.
	dependentEvery = time.Second
	// secondLook follows the first one of a task soon: what ended during that told nobody of this task yet.
	secondLook = 100 * time.Millisecond
	// maxLooked bounds the tasks of one turn; the others wait for the next, which follows at once.
	maxLooked = 1_000
)

// Runs reads what dependent tasks wait for.
type Runs interface {
	// Dependency returns what is known of an item, and the id of its workflow, 0 where there is none.
	Dependency(ctx context.Context, item interval.Item, by sql.Asker) (interval.Facts, int64, error)
	// RunOutputs returns what a task of the instances, or all of their tasks, put out.
	RunOutputs(ctx context.Context, instances []int64, task string) (map[string]string, error)
}

// dependents are the dependent tasks that wait, of evicted instances too. One goroutine looks for all of
// them, and the end of a workflow's instance makes those due that wait for it.
type dependents struct {
	some chan struct{}

	mu         sync.Mutex
	soon       bool // some want their second look
	waiting    map[place]*dependent
	byWorkflow map[int64]map[place]struct{}
}

type place struct {
	instance int64
	task     int
}

// dependent is one task that waits. Its size counts: thousands may wait for days.
type dependent struct {
	number    int
	spec      *dag.DependentSpec // the plan's own
	project   string
	by        sql.Asker
	looked    bool
	due       bool // before its next turn: something that it waits for has ended
	next      time.Time
	workflows []int64 // under which it stands in byWorkflow
}

func newDependents() *dependents {
	return &dependents{some: make(chan struct{}, 1), waiting: map[place]*dependent{}, byWorkflow: map[int64]map[place]struct{}{}}
}

func (d *dependents) signal() {
	select {
	case d.some <- struct{}{}:
	default:
	}
}

// note remembers which dependent tasks of an instance wait, and which no longer.
func (d *dependents) note(a *actor, attempts []dag.Attempt) {
	for i := range attempts {
		attempt := &attempts[i]
		if attempt.Number == 0 {
			continue
		}
		spec, ok := a.plan.Definition.Tasks[attempt.Task].Spec.(*dag.DependentSpec)
		if !ok {
			continue
		}
		at := place{a.in.ID, attempt.Task}
		d.mu.Lock()
		d.forget(at)
		if !attempt.State.Final() {
			d.waiting[at] = &dependent{
				number: attempt.Number, spec: spec, project: a.in.Facts.Project, due: true,
				by: sql.Asker{Instance: a.in.ID, WorkflowID: a.ids.workflow, At: a.in.Facts.Base()},
			}
		}
		d.mu.Unlock()
		d.signal()
	}
}

// forget drops a task that no longer waits. The caller holds mu.
func (d *dependents) forget(at place) {
	known := d.waiting[at]
	if known == nil {
		return
	}
	delete(d.waiting, at)
	for _, workflow := range known.workflows {
		delete(d.byWorkflow[workflow], at)
		if len(d.byWorkflow[workflow]) == 0 {
			delete(d.byWorkflow, workflow)
		}
	}
}

// take returns the tasks whose turn it is, in order, and when there are more, true.
func (d *dependents) take(now time.Time) (due map[place]dependent, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due = map[place]dependent{}
	for at, w := range d.waiting {
		if !w.due && now.Before(w.next) {
			continue
		}
		if len(due) == maxLooked {
			return due, true
		}
		w.due, w.next = false, now.Add(time.Duration(w.spec.Interval))
		due[at] = *w
	}
	return due, false
}

// again has a task wait for its next turn, which comes at once where one of these workflows ends.
func (d *dependents) again(at place, number int, workflows []int64, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.waiting[at]
	if w == nil || w.number != number {
		return
	}
	if !w.looked {
		w.looked, w.next, d.soon = true, now.Add(secondLook), true
	}
	if slices.Equal(w.workflows, workflows) {
		return
	}
	due, next := w.due, w.next
	d.forget(at)
	w.workflows, w.due, w.next = workflows, due, next
	d.waiting[at] = w
	for _, workflow := range workflows {
		if d.byWorkflow[workflow] == nil {
			d.byWorkflow[workflow] = map[place]struct{}{}
		}
		d.byWorkflow[workflow][at] = struct{}{}
	}
}

// wantSoon says once that some want their second look.
func (d *dependents) wantSoon() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	soon := d.soon
	d.soon = false
	return soon
}

// Finished says that an instance of a workflow has ended, here or at another master: whoever waits for that
// looks at once. It only saves waiting.
func (e *Engine) Finished(workflow int64) {
	d := e.dependents
	d.mu.Lock()
	for at := range d.byWorkflow[workflow] {
		d.waiting[at].due = true
	}
	some := len(d.byWorkflow[workflow]) > 0
	d.mu.Unlock()
	if some {
		d.signal()
	}
}

// dependentLoop looks for dependent tasks until ctx ends.
func (e *Engine) dependentLoop(ctx context.Context) error {
	tick := time.NewTicker(dependentEvery)
	defer tick.Stop()
	var soon <-chan time.Time
	for {
		if soon == nil && e.dependents.wantSoon() {
			soon = time.After(secondLook)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.dependents.some:
		case <-soon:
			soon = nil
		case <-tick.C:
		}
		for more := true; more && ctx.Err() == nil; {
			more = false
			e.guard("dependents", func() { more = e.DependentsOnce(ctx) })
		}
	}
}

// asked is one question to the store: equal ones of one turn are asked once.
type asked struct {
	item interval.Item
	at   time.Time
}

type answered struct {
	facts    interval.Facts
	workflow int64
}

// DependentsOnce looks at the dependent tasks whose turn it is, and mails what they have come to; more says
// that others wait for the same. Only one goroutine at a time may call it.
func (e *Engine) DependentsOnce(ctx context.Context) (more bool) {
	now := e.Now()
	due, more := e.dependents.take(now)
	known := map[asked]answered{}
	for _, at := range slices.SortedFunc(maps.Keys(due), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.task, b.task))
	}) {
		w := due[at]
		if !e.Has(at.instance) {
			e.dependents.mu.Lock()
			e.dependents.forget(at)
			e.dependents.mu.Unlock()
			continue
		}
		if err := e.look(ctx, at, w, known); err != nil {
			e.log.Warn("runs that are waited for were not read", "instance", at.instance, "task", at.task, "error", err)
			return false // the next turn is some seconds away
		}
	}
	return more
}

// look judges what one task waits for.
func (e *Engine) look(ctx context.Context, at place, w dependent, known map[asked]answered) error {
	tree := w.spec.Tree(w.project)
	items := tree.Items()
	findings := make([]interval.Finding, len(items))
	var workflows []int64
	for i, item := range items {
		q := asked{item: item, at: w.by.At}
		got, seen := known[q]
		if !seen || got.workflow == w.by.WorkflowID { // what concerns the asker itself is its own
			var err error
			if got.facts, got.workflow, err = e.Store.Dependency(ctx, item, w.by); err != nil {
				return err
			}
			known[q] = got
		}
		if got.workflow != 0 {
			workflows = append(workflows, got.workflow)
		}
		findings[i] = interval.Judge(item, w.by.At, got.facts)
	}
	slices.Sort(workflows)
	workflows = slices.Compact(workflows)
	whole := interval.Decide(tree, findings, interval.OnFailure(w.spec.OnFailure))
	if whole.Verdict == interval.Waiting {
		e.dependents.again(at, w.number, workflows, e.Now())
		return nil
	}
	ev := dag.Decided{Task: at.task, Number: w.number, Success: whole.Verdict == interval.Success, Message: whole.Text}
	if ev.Success {
		var err error
		if ev.Outputs, err = e.passed(ctx, items, findings); err != nil {
			return err
		}
	}
	if !e.post(at.instance, mail{input: ev}) {
		e.wake(at.instance) // back in memory it is looked at again
	}
	return nil
}

// passed gathers the outputs of the runs that counted, item after item.
func (e *Engine) passed(ctx context.Context, items []interval.Item, findings []interval.Finding) (map[string]string, error) {
	all := map[string]string{}
	for i := range items {
		if findings[i].Verdict != interval.Success {
			continue
		}
		outputs, err := e.Store.RunOutputs(ctx, findings[i].Runs, items[i].Task)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, outputs)
	}
	return all, nil
}

// instanceName names an instance in what it writes to others.
func instanceName(id int64) string { return "instance " + strconv.FormatInt(id, 10) }
