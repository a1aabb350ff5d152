package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Admit takes instances that were claimed or taken over for this engine's owner. One whose
// rows or definition cannot be read is quarantined; the others go on.
func (e *Engine) Admit(claimed []sql.Claimed) {
	for i := range claimed {
		c := &claimed[i]
		a, begin, err := e.admissible(c)
		if err != nil {
			e.log.Error("instance cannot be loaded, quarantined", "instance", c.Instance.ID, "error", err)
			e.quarantineRow(&actor{in: &dag.Instance{ID: c.Instance.ID}, epoch: c.Instance.OwnerEpoch}, err.Error())
			continue
		}
		e.insert(a, begin, c.Controls)
	}
}

// maxCrashes is how often an instance may be taken up without ever getting to a commit. A
// master that it takes down takes its other instances down too.
const maxCrashes = 3

// admissible loads an instance unless it has brought masters down.
func (e *Engine) admissible(c *sql.Claimed) (a *actor, begin bool, err error) {
	if c.Err != nil {
		return nil, false, c.Err
	}
	if c.Instance.CrashCount > maxCrashes {
		return nil, false, fmt.Errorf("taken up %d times without a commit", c.Instance.CrashCount)
	}
	return e.load(c)
}

// insert puts an actor into memory and queues its first turn.
func (e *Engine) insert(a *actor, begin bool, controls []sql.ControlRow) {
	var first []mail
	if begin {
		first = append(first, mail{input: dag.Begin{}})
	}
	for _, row := range controls {
		a.controls[row.ID] = struct{}{}
		first = append(first, mail{input: controlOf(a.plan, row)})
	}
	a.mail, a.phase = first, queued
	e.mu.Lock()
	// A claim raises the epoch, so an actor of the same epoch is this very instance, read twice. One of
	// a lower epoch has been released by its last commit and only has yet to notice.
	if old := e.actors[a.in.ID]; e.closed || old != nil && old.epoch >= a.epoch {
		e.mu.Unlock()
		return
	}
	e.nodes.forget(a.in.ID)
	e.actors[a.in.ID] = a
	e.mu.Unlock()
	for task := range a.in.Tasks {
		if attempt := &a.in.Tasks[task].Attempt; attempt.Number > 0 && attempt.Worker != "" {
			e.restoreRef(a, *attempt)
		}
	}
	e.runnable.push(a)
}

// restoreRef indexes an attempt that an earlier owner had dispatched. If its worker's process is linked,
// it is asked at once: it knows the attempt by its token, learns who owns it now, and repeats what it
// last had to say. Otherwise its hello will name the attempt, or it has lost it.
func (e *Engine) restoreRef(a *actor, attempt dag.Attempt) {
	r := ref{
		instance: a.in.ID, task: attempt.Task, number: attempt.Number, token: attempt.Token,
		node: attempt.Worker, incarnation: attempt.Incarnation, since: attempt.DispatchedAt,
		started: attempt.State != dag.AttemptDispatched,
	}
	if message, err := e.describe(a, attempt); err == nil {
		r.dispatch = message
	}
	linked := e.nodes.adopter(r)
	if linked != "" {
		r.incarnation = linked
	}
	e.nodes.add(r)
	if linked != "" && r.dispatch != nil {
		e.Links.Dispatch(rpc.Process{Node: r.node, Incarnation: linked}, r.dispatch)
	}
}

// adopter returns the linked process of a ref's worker that has the attempt: the one that it was given
// to, or one that has named it since; "" if there is none.
func (n *nodes) adopter(r ref) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.byNode[r.node]
	if known == nil || known.incarnation != r.incarnation && !known.claimed[refKey{r.instance, r.task, r.number}] {
		return ""
	}
	return known.incarnation
}

// load rebuilds an instance from its rows; begin says that it has yet to start.
func (e *Engine) load(c *sql.Claimed) (a *actor, begin bool, err error) {
	row := &c.Instance
	plan, err := e.plans.get(c.Version)
	if err != nil {
		return nil, false, err
	}
	a = &actor{
		plan:  plan,
		epoch: row.OwnerEpoch,
		facts: dag.Facts{
			Project: row.Project, Workflow: row.Workflow, WorkflowID: row.WorkflowID, Version: row.Version,
			ScheduleTime: row.ScheduleTime, Now: row.CreatedAt,
		},
		ids:      changeIDs{workflow: row.WorkflowID, project: row.ProjectID},
		controls: make(map[int64]struct{}),
	}
	if a.in, err = sql.Rebuild(plan, row, c.Tasks, c.Attempts); err != nil {
		return nil, false, fmt.Errorf("rebuild: %w", err)
	}
	begin = row.State == dag.InstanceSubmitted
	a.restored = !begin
	return a, begin, nil
}

// maxPlans bounds the compiled versions in memory; they are compiled again when needed.
const maxPlans = 1_000

// plans keeps compiled versions, which never change.
type plans struct {
	mu    sync.Mutex
	known map[planKey]*dag.Plan
}

type planKey struct {
	workflow int64
	version  int
}

func newPlans() *plans { return &plans{known: make(map[planKey]*dag.Plan)} }

func (p *plans) get(v sql.Version) (*dag.Plan, error) {
	key := planKey{v.WorkflowID, v.Version}
	p.mu.Lock()
	plan := p.known[key]
	p.mu.Unlock()
	if plan != nil {
		return plan, nil
	}
	plan, err := compile(v)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxPlans {
		for old := range p.known {
			delete(p.known, old)
			break
		}
	}
	p.known[key] = plan
	return plan, nil
}

func compile(v sql.Version) (*dag.Plan, error) {
	plan, wrong := dag.ParsePlan([]byte(v.Text), v.Format)
	if len(wrong) == 0 {
		return plan, nil
	}
	errs := make([]error, len(wrong))
	for i, w := range wrong {
		errs[i] = w
	}
	return nil, fmt.Errorf("version %d of workflow %d: %w", v.Version, v.WorkflowID, errors.Join(errs...))
}
