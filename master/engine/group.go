package engine

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	// givenEvery is how often the store is asked for places that other masters gave to tasks of this one,
	// while any wait: the next task is on its way within a tenth of a second, for one read of an index.
	givenEvery = 50 * time.Millisecond
	// askAgainEvery is how often the tasks that wait ask once more: what was missed, or whose group has been
	// made only now, is found by that.
	askAgainEvery = 3 * time.Second
	// maxGroupEntries bounds the tasks of one question to the store.
	maxGroupEntries = 200
)

// groupKey names a task that needs places of a task group.
type groupKey struct {
	instance int64
	task     int
}

// groupAsk is a task's question for places. A task has one at a time; an answer to an older one counts for
// nothing, because its places may have been given back since.
type groupAsk struct {
	actor *actor
	entry sql.TaskEntry
}

// groupQueue holds the tasks that ask for places, and those that wait for them.
type groupQueue struct {
	some chan struct{}

	mu      sync.Mutex // guards what follows
	asking  []groupKey
	waiting map[groupKey]groupAsk
	next    map[int64]dag.Millis // by group: when its rate lets more tasks go, here or on another master
}

func newGroupQueue() *groupQueue {
	return &groupQueue{some: make(chan struct{}, 1), waiting: make(map[groupKey]groupAsk), next: make(map[int64]dag.Millis)}
}

// pace notes when the rates of groups let more tasks go.
func (q *groupQueue) pace(next map[int64]dag.Millis) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.Copy(q.next, next)
}

// due takes the groups whose rates let more tasks go by now.
func (q *groupQueue) due(now dag.Millis) (ids []int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, at := range q.next {
		if at <= now {
			ids = append(ids, id)
			delete(q.next, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (q *groupQueue) ask(ask groupAsk) {
	key := groupKey{ask.entry.InstanceID, ask.entry.Task}
	q.mu.Lock()
	q.waiting[key] = ask
	q.asking = append(q.asking, key)
	q.mu.Unlock()
	q.kick()
}

func (q *groupQueue) kick() {
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// forget drops the question of a task that is not ready any more.
func (q *groupQueue) forget(instance int64, task int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, groupKey{instance, task})
}

// take returns the questions that are to be put next.
func (q *groupQueue) take() []groupAsk {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.asking), maxGroupEntries)
	var asks []groupAsk
	for _, key := range q.asking[:n] {
		if ask, ok := q.waiting[key]; ok {
			asks = append(asks, ask)
		}
	}
	q.asking = q.asking[n:]
	return asks
}

// again has every task that waits ask once more, in an order that depends on nothing but them.
func (q *groupQueue) again() {
	q.mu.Lock()
	q.asking = slices.SortedFunc(maps.Keys(q.waiting), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.task, b.task))
	})
	q.mu.Unlock()
	q.kick()
}

// answered ends the question of that name, and returns it.
func (q *groupQueue) answered(instance int64, task int, name int64) (groupAsk, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := groupKey{instance, task}
	ask, ok := q.waiting[key]
	if !ok || ask.entry.Ask != name {
		return groupAsk{}, false
	}
	delete(q.waiting, key)
	return ask, true
}

func (q *groupQueue) waits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)+len(q.next) > 0
}

// askGroup asks for the places of a ready task, whose state is committed.
func (e *Engine) askGroup(a *actor, task int) {
	if _, asked := a.asks[task]; asked {
		return
	}
	a.asks[task] = rand.Int64()
	group := &a.plan.Definition.Tasks[task].TaskGroup
	e.groups.ask(groupAsk{actor: a, entry: sql.TaskEntry{
		InstanceID: a.in.ID, Task: task, Owner: e.Owner, Epoch: a.epoch, ProjectID: a.ids.project,
		Group: group.Name, Weight: group.Weight, Turn: sql.TaskTurn(a.in.Priority, group.Priority),
		ReadyAt: a.in.Tasks[task].ReadyAt, Ask: a.asks[task],
	}})
}

// giveUp forgets places, and questions for them, that the commit of this turn gives back, and what was asked for a task
// that is not ready any more.
func (e *Engine) giveUp(a *actor) {
	for task := range a.places {
		if !a.runnable(task) && !a.in.Tasks[task].State.Live() {
			delete(a.places, task)
		}
	}
	for task := range a.recalled {
		if !a.runnable(task) {
			delete(a.recalled, task)
		}
	}
	for task := range a.asks {
		if !a.runnable(task) {
			delete(a.asks, task)
			e.groups.forget(a.in.ID, task)
		}
	}
}

// grouper puts the questions of tasks for places, and looks for those that others gave back, until ctx ends.
func (e *Engine) grouper(ctx context.Context) error {
	tick := time.NewTicker(givenEvery)
	defer tick.Stop()
	again := time.NewTicker(askAgainEvery)
	defer again.Stop()
	for {
		var look <-chan time.Time // of who waits for nothing
		if e.groups.waits() {
			look = tick.C
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.groups.some:
		case <-look:
		case <-again.C:
			e.AskGroups()
		}
		if !e.groups.waits() {
			continue
		}
		away := true // as after a panic
		e.guard("groups", func() { away = e.GroupOnce(ctx) })
		if !away {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(awayWait):
		}
	}
}

// AskGroups has the tasks that wait for places ask for them once more, with the next GroupOnce.
func (e *Engine) AskGroups() { e.groups.again() }

// GroupOnce asks for places for the tasks that need them, and offers those that have got theirs to the
// dispatcher. away says that the store did not answer; what was not answered is asked again.
func (e *Engine) GroupOnce(ctx context.Context) (away bool) {
	for asks := e.groups.take(); len(asks) > 0; asks = e.groups.take() {
		entries := make([]sql.TaskEntry, len(asks))
		for i := range asks {
			entries[i] = asks[i].entry
		}
		entered, err := e.Store.EnterGroups(ctx, dag.MillisOf(e.Now()), entries)
		if err != nil {
			e.log.Warn("places of task groups not asked for", "tasks", len(asks), "error", err)
			e.groups.again()
			return true
		}
		e.groups.pace(entered.Next)
		for i, entry := range entries {
			switch entered.Answers[i] {
			case sql.Admitted:
				e.placed(entry.InstanceID, entry.Task, entry.Ask)
			case sql.NotOwned:
				e.groups.answered(entry.InstanceID, entry.Task, entry.Ask)
			case sql.Waits, sql.NoGroup, sql.Discarded:
			}
		}
	}
	if !e.groups.waits() {
		return false
	}
	now := dag.MillisOf(e.Now())
	if due := e.groups.due(now); len(due) > 0 {
		next, err := e.Store.PaceGroups(ctx, now, due)
		if err != nil {
			e.log.Warn("rates of task groups not looked at", "groups", len(due), "error", err)
			for _, id := range due {
				e.groups.pace(map[int64]dag.Millis{id: now})
			}
			return true
		}
		e.groups.pace(next)
	}
	given, err := e.Store.Given(ctx, e.Owner)
	if err != nil {
		e.log.Debug("given places not read", "error", err)
		return true
	}
	for _, g := range given {
		e.placed(g.InstanceID, g.Task, g.Ask)
	}
	return false
}

// placed tells an instance that its task has the places that it asked for.
func (e *Engine) placed(instance int64, task int, name int64) {
	if ask, ok := e.groups.answered(instance, task, name); ok {
		e.mailTo(ask.actor, mail{placed: true, task: task, ask: name})
	}
}

// runnable says that a task may be given to a worker.
func (a *actor) runnable(task int) bool {
	return a.in.State == dag.InstanceRunning && a.in.Tasks[task].State == dag.TaskReady && !a.in.Delayed(task)
}

// gate says whether a ready task may be offered to the dispatcher. One that needs places asks for them
// once it is committed.
func (a *actor) gate(task int) bool { return a.places[task] || !a.plan.NeedsPlace(task) }

// given notes that a task has its places, unless it has given its question up meanwhile.
func (a *actor) given(m mail) dag.Effects {
	if name, asked := a.asks[m.task]; !asked || name != m.ask || !a.runnable(m.task) {
		return dag.Effects{}
	}
	a.places[m.task] = true
	return dag.Effects{Actions: []dag.Action{dag.Enqueue{Task: m.task}}}
}
