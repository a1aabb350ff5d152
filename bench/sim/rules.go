package main

import (
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// state is one of dag's three kinds of state.
type state interface {
	~string
	Final() bool
}

// closure are the states that some steps lead to: one commit may hold several of them.
type closure[S state] map[S]map[S]bool

var (
	instanceSteps = reachable(dag.InstanceStates())
	taskSteps     = reachable(dag.TaskStates())
	attemptSteps  = reachable(dag.AttemptStates())
)

// reachable lists what some steps lead to, from each state.
func reachable[S state](table []dag.StateInfo[S]) closure[S] {
	next, again := map[S][]S{}, map[S][]S{}
	for _, info := range table {
		next[info.State], again[info.State] = info.Next, info.Again
	}
	reach := closure[S]{}
	for _, info := range table {
		seen := map[S]bool{info.State: true}
		todo := append([]S(nil), next[info.State]...)
		for len(todo) > 0 {
			s := todo[0]
			todo = todo[1:]
			if !seen[s] {
				seen[s] = true
				todo = append(todo, next[s]...)
			}
		}
		reach[info.State] = seen
	}
	return reach
}

// follows says whether b may come after a. A new round may begin with what the round before ended in.
func (c closure[S]) follows(a, b S, again bool) bool { return c[a][b] || again }

// definition is the workflow of an instance.
func (a *audit) definition(in *instance) *workflow {
	t := a.w.opt.template
	for i := range t.workflows {
		if t.workflows[i].ID == in.workflow {
			return &t.plans[i]
		}
	}
	return nil
}

// task is what the world knows of a task of an instance.
func (a *audit) task(id int64, index int) *task {
	in := a.instances[id]
	if in == nil {
		return nil
	}
	wf := a.definition(in)
	if wf == nil || index >= len(wf.tasks) {
		return nil
	}
	return &wf.tasks[index]
}

// done says whether a task counts as done for those that need it.
func (a *audit) done(in *instance, wf *workflow, name string) bool {
	for i := range wf.tasks {
		if wf.tasks[i].name != name {
			continue
		}
		row := a.tasks[taskKey{in.id, i}]
		if row == nil {
			return true // out of scope
		}
		return row.done(&wf.tasks[i])
	}
	return false
}

// done says whether a task in this state counts as done for those that need it.
func (t *taskRow) done(what *task) bool {
	switch t.state {
	case dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskSkipped, dag.TaskDisabled:
		return true
	case dag.TaskFailed:
		return what.allow
	case dag.TaskWaiting, dag.TaskReady, dag.TaskDispatched, dag.TaskRunning, dag.TaskRetryWait, dag.TaskKilling, dag.TaskKilled, dag.TaskUpstreamFailed:
	}
	return false
}

// broken says whether a task in this state keeps its instance from being a success.
func (t *taskRow) broken(what *task) bool {
	return t.state == dag.TaskKilled || t.state == dag.TaskUpstreamFailed || t.state == dag.TaskFailed && !what.allow
}

// settled holds an instance against the rules as it stands after a commit.
func (a *audit) settled(in *instance) {
	w := a.w
	if in.seq != in.lastSeq {
		w.fail("I26", "%v has seq %d, and its last event is %d", in, in.seq, in.lastSeq)
	}
	wf := a.definition(in)
	if wf == nil {
		return
	}
	a.withinLimit(in, wf)
	if len(in.tasks) == 0 {
		return
	}
	broken, open := false, false
	for _, i := range in.tasks {
		row := a.tasks[taskKey{in.id, i}]
		a.order(in, wf, row)
		a.oneAlive(row)
		open = open || !row.state.Final()
		broken = broken || row.broken(&wf.tasks[i])
	}
	if in.state.Final() && in.state != dag.InstanceQuarantined {
		if open {
			w.fail("I24", "%v is over, and a task of it is not", in)
		}
		if (in.state == dag.InstanceSuccess) == broken {
			w.fail("I24", "%v ends so, with a broken task: %v", in, broken)
		}
		if in.owner != "" && in.owner == a.owners[in.id].owner { // who takes it up again to answer a wish is another
			w.fail("I24", "%v is over and has an owner", in)
		}
	}
}

// withinLimit holds the instances of a workflow against I31: no more of them have begun than its limit.
func (a *audit) withinLimit(in *instance, wf *workflow) {
	if wf.limit == 0 || !begun(in.state) {
		return
	}
	var others []int64
	for _, other := range a.instances {
		if other.workflow == in.workflow && begun(other.state) {
			others = append(others, other.id)
		}
	}
	if len(others) > wf.limit {
		slices.Sort(others)
		a.w.fail("I31", "%v runs, and so do %v: %d are allowed", in, others, wf.limit)
	}
}

// begun says that an instance in this state has begun its round, and not ended it.
func begun(s dag.InstanceState) bool {
	switch s {
	case dag.InstanceRunning, dag.InstancePausing, dag.InstancePaused, dag.InstanceStopping:
		return true
	case dag.InstanceSubmitted, dag.InstanceSerialWait, dag.InstanceStopped, dag.InstanceFailed, dag.InstanceSuccess, dag.InstanceQuarantined:
	}
	return false
}

// order holds a task against I14: it goes on when, and only when, all that it needs is done.
func (a *audit) order(in *instance, wf *workflow, row *taskRow) {
	met := true
	for _, need := range wf.tasks[row.task].needs {
		met = met && a.done(in, wf, need)
	}
	switch {
	case row.state == dag.TaskWaiting && met && in.state == dag.InstanceRunning:
		a.w.fail("I14", "task %v waits, and all that it needs is done", row.taskKey)
	case !met && (row.state == dag.TaskReady || row.state == dag.TaskRetryWait || row.state.Live()):
		a.w.fail("I14", "task %v is %s before what it needs is done", row.taskKey, row.state)
	}
}

// oneAlive holds a task against I13: at most its last attempt is not over.
func (a *audit) oneAlive(t *taskRow) {
	for n := 1; n < t.attempts; n++ {
		if r := a.attempts[attemptKey{t.taskKey, n}]; r == nil || !r.state.Final() {
			a.w.fail("I13", "%v, and %d attempts were made", r, t.attempts)
		}
	}
	last := a.attempts[attemptKey{t.taskKey, t.attempts}]
	if last != nil && last.state.Final() == t.state.Live() {
		a.w.fail("I13", "task %v is %s, and %v", t.taskKey, t.state, last)
	}
}

// lostLimit is how many workers a task may lose in a round before it fails.
const lostLimit = 2

// maxReturned is how often an attempt may be given back in a world of a minute or two before somebody
// must have thought of something better than to give it out again.
const maxReturned = 30

// budget holds a new attempt against the retries that its task has: I13 and I18.
func (a *audit) budget(r *attemptRow) {
	t := a.task(r.instance, r.task)
	if t == nil || t.noop {
		return
	}
	failed, lost, returned := 0, 0, 0
	for n := 1; n < r.number; n++ {
		before := a.attempts[attemptKey{r.taskKey, n}]
		if before == nil || before.round != r.round {
			continue
		}
		if before.state == dag.AttemptFailed {
			failed++
			if n == r.number-1 {
				a.delayed(r, before, t.delay)
			}
		}
		if before.state == dag.AttemptLost {
			lost++
		}
		if before.state == dag.AttemptReturned {
			returned++
		}
		if before.state == dag.AttemptSuccess {
			a.w.fail("I17", "attempt %v comes after a success: %v", r.attemptKey, before)
		}
	}
	if returned > maxReturned {
		a.w.fail("I32", "attempt %v comes after %d that were given back: nobody learns from it", r.attemptKey, returned)
	}
	if failed > t.retries || lost >= lostLimit {
		a.w.fail("I13", "attempt %v comes after %d failures and %d losses, %d retries are allowed", r.attemptKey, failed, lost, t.retries)
	}
}

// delayed holds an attempt against I18: the pause counts from the end of the process before it.
func (a *audit) delayed(r, before *attemptRow, delay time.Duration) {
	run := a.w.proof.runs[before.attemptKey]
	if run == nil || run.outcome == "" || delay == 0 || a.w.misled {
		return
	}
	if waited := a.w.now - run.to; waited < delay {
		a.w.fail("I18", "attempt %v comes %v after the end of the one before it, and the delay is %v", r.attemptKey, waited, delay)
	}
}

// over holds an attempt whose row has just changed against what its process did: I16 and I20.
func (a *audit) over(r *attemptRow) {
	t := a.task(r.instance, r.task)
	if t == nil || t.noop || r.worker == "" || !r.state.Final() {
		return
	}
	w := a.w
	run := w.proof.runs[r.attemptKey]
	switch {
	case r.state == dag.AttemptSuccess && (run == nil || run.outcome != "success"):
		w.fail("I16", "%v, and its process: %v", r, run)
	case r.state == dag.AttemptFailed && r.reason == "exit_code" && (run == nil || run.outcome != "failed"):
		w.fail("I16", "%v, and its process: %v", r, run)
	case r.state == dag.AttemptFailed && r.reason == "timeout" && run != nil && !w.misled && !run.node.host.wrong && run.node.host.offset == 0 && w.now-run.from < t.timeout:
		w.fail("I19", "%v after %v of %v", r, w.now-run.from, t.timeout)
	case run == nil || run.outcome != "":
	case r.state == dag.AttemptLost:
		if !w.proof.excused(run) {
			w.fail("I28", "%v, and its process lives on %s", r, run.node.host.name)
		}
	case r.reason == "forced_stop":
	default:
		w.fail("I20", "%v, and its process lives on %s", r, run.node.host.name)
	}
	if run == nil || run.outcome != "success" {
		return
	}
	switch {
	case r.state == dag.AttemptFailed && r.reason == "exit_code":
		w.fail("I16", "%v, and its process succeeded", r)
	case r.state == dag.AttemptLost && strings.Contains(r.message, "restarted without it") && run.node.dark < run.to-2*syncEvery:
		w.fail("I29", "%v: the worker has forgotten a success", r)
	}
}

// mayRun holds a process that has just started against the rows: I14 and I21.
func (a *audit) mayRun(r *run) {
	in := a.instances[r.instance]
	row := a.attempts[r.attemptKey]
	switch {
	case in == nil || row == nil:
		a.w.fail("I14", "process of %v starts, and there is no such attempt", r.attemptKey)
		return
	case row.token != r.token:
		a.w.fail("I11", "process of %v starts with the token %s, and %v has %s", r.attemptKey, r.token, row, row.token)
	case in.state == dag.InstancePaused && !row.state.Final():
		a.w.fail("I21", "process of %v starts while %v", r.attemptKey, in)
	case row.state.Final():
		if !a.w.proof.excused(r) && !a.w.proof.hostFroze(r.node) && row.reason != "forced_stop" {
			a.w.fail("I28", "process of %v starts, and %v", r.attemptKey, row)
		}
		return
	}
	wf := a.definition(in)
	for _, need := range wf.tasks[r.task].needs {
		if !a.done(in, wf, need) {
			a.w.fail("I14", "process of %v starts, and %s is not done", r.attemptKey, need)
		}
	}
}
