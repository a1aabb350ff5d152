package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// audit keeps a second copy of the rows, made of the changes that the database itself tells, and
// holds every commit against the rules. It asks no part of the product but for the table of states.
type audit struct {
	w         *world
	instances map[int64]*instance
	tasks     map[taskKey]*taskRow
	attempts  map[attemptKey]*attemptRow
	commands  map[int64]int64 // id to instance
	controls  map[int64]*controlRow
	triggers  map[string]int64
	births    map[string]int64 // children by what made them
	children  []int64          // in the order of their making
	all       []int64          // all instances, the same
	ends      []int64          // instances whose first end counts for the schedule that waits for it
	led       bool             // an instance of that workflow was a success
	decisions map[decision]bool
	touched   []int64 // instances of the commit under way
	owners    map[int64]ownership
	endings   endings // of the commit under way
}

// ownership is who had an instance before the commit under way.
type ownership struct {
	owner string
	epoch int64
}

type instance struct {
	id, workflow int64
	lineage
	state               dag.InstanceState
	round               int
	owner               string
	epoch, seq, lastSeq int64
	changed             time.Duration
	tasks               []int
}

func (in *instance) String() string {
	return fmt.Sprintf("instance %d (%s, round %d, owner %q, epoch %d)", in.id, in.state, in.round, in.owner, in.epoch)
}

type taskRow struct {
	taskKey
	state    dag.TaskState
	round    int
	attempts int
	reason   string
	changed  time.Duration
}

type attemptRow struct {
	attemptKey
	state   dag.AttemptState
	reason  string
	message string
	token   string
	worker  string
	round   int
	changed time.Duration
}

func (a *attemptRow) String() string {
	if a == nil {
		return "nothing"
	}
	return fmt.Sprintf("attempt %v is %s (%s) on %s", a.attemptKey, a.state, a.reason, a.worker)
}

type controlRow struct {
	instance int64
	verb     string
	applied  bool
	result   string
}

func newAudit(w *world) *audit {
	return &audit{
		w: w, instances: map[int64]*instance{}, tasks: map[taskKey]*taskRow{}, attempts: map[attemptKey]*attemptRow{},
		commands: map[int64]int64{}, controls: map[int64]*controlRow{}, triggers: map[string]int64{},
		births: map[string]int64{}, decisions: map[decision]bool{},
	}
}

// row reads a change by the names of its columns.
type row struct {
	columns []string
	values  []any
}

func (r row) get(name string) any {
	i := slices.Index(r.columns, name)
	if i < 0 {
		panic("no column " + name)
	}
	return r.values[i]
}

func (r row) int(name string) int64 {
	n, _ := r.get(name).(int64)
	return n
}

func (r row) text(name string) string {
	s, _ := r.get(name).(string)
	return s
}

// drain takes what was committed since the last call, by the process that was at work.
func (a *audit) drain(actor string) {
	commits := a.w.db.commits
	a.w.db.commits = nil
	for _, commit := range commits {
		a.touched, a.owners, a.endings = a.touched[:0], map[int64]ownership{}, endings{}
		for _, c := range inOrder(commit) {
			a.apply(c, actor)
		}
		for _, id := range a.touched {
			a.settled(a.instances[id])
		}
		a.ended()
	}
}

// inOrder has the events of a commit last, by instance and number: they are there together, in whatever order they were written.
func inOrder(commit []change) []change {
	var rest, events []change
	for _, c := range commit {
		if c.table == "event" && c.new != nil {
			events = append(events, c)
		} else {
			rest = append(rest, c)
		}
	}
	// The first columns of the table are its key.
	number := func(c change, i int) int64 { n, _ := c.new[i].(int64); return n }
	slices.SortFunc(events, func(a, b change) int {
		return cmp.Or(cmp.Compare(number(a, 0), number(b, 0)), cmp.Compare(number(a, 1), number(b, 1)))
	})
	return append(rest, events...)
}

func (a *audit) apply(c change, actor string) {
	columns := a.w.opt.template.columns[c.table]
	old, now := row{columns, c.old}, row{columns, c.new}
	a.trace(c, columns)
	switch c.table {
	case "workflow_instance":
		a.instance(old, now, actor)
	case "task_instance":
		a.taskChange(old, now, actor)
	case "task_attempt":
		a.attempt(old, now, actor)
	case "event":
		a.event(now)
	case "command":
		if c.new == nil {
			delete(a.commands, old.int("id"))
		} else {
			a.commands[now.int("id")] = now.int("instance_id")
		}
	case "control":
		a.control(old, now)
	case "decision":
		a.decided(old, now)
	}
}

// unsteady are columns whose values are drawn by chance, and say nothing.
var unsteady = []string{"write_id"}

// trace makes a change part of what two runs of a seed must share.
func (a *audit) trace(c change, columns []string) {
	what := "insert"
	if c.new == nil {
		what = "delete"
	} else if c.old != nil {
		what = "update"
	}
	var text strings.Builder
	text.WriteString(what + " " + c.table)
	for i, name := range columns {
		switch {
		case slices.Contains(unsteady, name):
		case c.new == nil:
			if i < 3 {
				fmt.Fprintf(&text, " %s=%v", name, c.old[i])
			}
		case c.old == nil || i < 3 || fmt.Sprint(c.old[i]) != fmt.Sprint(c.new[i]):
			if value := fmt.Sprint(c.new[i]); value != "" && value != "0" && value != "[]" {
				fmt.Fprintf(&text, " %s=%s", name, value)
			}
		}
	}
	a.w.note("%s", text.String())
}

// touch notes an instance of the commit under way, with who had it before.
func (a *audit) touch(in *instance) {
	if _, known := a.owners[in.id]; !known {
		a.owners[in.id] = ownership{in.owner, in.epoch}
		a.touched = append(a.touched, in.id)
	}
}

func (a *audit) instance(old, now row, actor string) {
	w := a.w
	if now.values == nil {
		w.fail("I22", "instance %d is deleted by %s", old.int("id"), actor)
		return
	}
	id := now.int("id")
	state := dag.InstanceState(now.text("state"))
	if old.values == nil {
		trigger := fmt.Sprintf("%d/%d/%s", now.int("workflow_id"), now.int("schedule_time"), now.text("trigger_key"))
		if other := a.triggers[trigger]; other != 0 {
			w.fail("I01", "instances %d and %d have the trigger %s", other, id, trigger)
		}
		a.triggers[trigger] = id
		in := &instance{id: id, workflow: now.int("workflow_id"), state: state, changed: w.now}
		a.instances[id] = in
		a.all = append(a.all, id)
		a.born(in, now)
		w.count.Starts++
		w.ticker.started(id, now.int("schedule_time"), actor)
		if epoch := now.int("owner_epoch"); epoch != 0 || now.text("owner") != "" {
			w.fail("I07", "instance %d begins with owner %q and epoch %d", id, now.text("owner"), epoch)
		}
		return
	}
	in := a.instances[id]
	if a.tied(in, old, now, actor) {
		return
	}
	a.touch(in)
	a.owned(in, now, actor)
	round := int(now.int("round"))
	if !instanceSteps.follows(in.state, state, round > in.round) {
		rule := "I23"
		if in.state.Final() {
			rule = "I22"
		}
		w.fail(rule, "%v becomes %s in round %d, by %s", in, state, round, actor)
	}
	if seq := now.int("seq"); seq < in.seq {
		w.fail("I26", "%v: seq %d comes after %d", in, seq, in.seq)
	}
	if state != in.state {
		in.changed = w.now
	}
	if in.owner == "" && now.text("owner") != "" {
		w.layouts.claimed(in, now.text("owner"), now.int("layout_epoch"))
	}
	over := state.Final() && (state != in.state || round > in.round) // a whole round may be one commit
	in.state, in.round, in.owner, in.epoch, in.seq = state, round, now.text("owner"), now.int("owner_epoch"), now.int("seq")
	if over {
		a.endings.instances = append(a.endings.instances, in)
	}
}

// owned holds a change of an instance against the rules of ownership: I06, I07 and I08.
func (a *audit) owned(in *instance, now row, actor string) {
	w, owner, epoch := a.w, now.text("owner"), now.int("owner_epoch")
	switch {
	case epoch < in.epoch:
		w.fail("I06", "%v: epoch %d is written by %s", in, epoch, actor)
	case epoch > in.epoch+1:
		w.fail("I07", "%v: epoch %d is written by %s", in, epoch, actor)
	case epoch == in.epoch+1 && owner == "" && in.owner == "" && rests(dag.InstanceState(now.text("state"))):
		// It was begun, and released, by the commit that claimed it.
	case epoch == in.epoch+1 && (owner == "" || owner == in.owner && actor != owner):
		w.fail("I07", "%v: epoch %d comes without an owner of its own: %q, by %s", in, epoch, owner, actor)
	case epoch == in.epoch && owner != in.owner && owner != "":
		w.fail("I07", "%v: owner %q comes without an epoch of its own, by %s", in, owner, actor)
	case epoch == in.epoch && actor != in.owner:
		w.fail("I06", "%v is written by %s", in, actor)
	case epoch == in.epoch+1 && actor != owner && actor != in.owner:
		w.fail("I08", "%v is given to %q by %s", in, owner, actor)
	}
}

// rests says that an instance needs no owner: it is over, or waits for somebody.
func rests(state dag.InstanceState) bool { return state.Final() || state == dag.InstancePaused }

// mine holds a change of a task's or an attempt's row against who owns the instance.
func (a *audit) mine(id int64, what any, actor string) *instance {
	in := a.instances[id]
	if in == nil {
		a.w.fail("I06", "%v belongs to no instance", what)
		return nil
	}
	a.touch(in)
	before := a.owners[id]
	begun := before.owner == "" && in.epoch == before.epoch+1 && (in.owner == actor || rests(in.state)) // by this very commit
	if before.owner != actor && !begun {
		a.w.fail("I06", "%v is written by %s, and the owner of %v is %q", what, actor, in, before.owner)
	}
	return in
}

func (a *audit) taskChange(old, now row, actor string) {
	w := a.w
	if now.values == nil {
		w.fail("I22", "task %d of instance %d is deleted", old.int("task_index"), old.int("instance_id"))
		return
	}
	key := taskKey{now.int("instance_id"), int(now.int("task_index"))}
	in := a.mine(key.instance, key, actor)
	if in == nil {
		return
	}
	state, round := dag.TaskState(now.text("state")), int(now.int("round"))
	t := a.tasks[key]
	if t == nil {
		t = &taskRow{taskKey: key, state: dag.TaskWaiting, round: round}
		a.tasks[key] = t
		in.tasks = append(in.tasks, key.task)
	}
	if !taskSteps.follows(t.state, state, round > t.round || in.round > t.round) {
		rule := "I23"
		if t.state.Final() {
			rule = "I22"
		}
		w.fail(rule, "task %v goes from %s to %s in round %d of %v", key, t.state, state, round, in)
	}
	won := state == dag.TaskSuccess && t.state != state
	if state != t.state {
		t.changed = w.now
	}
	t.state, t.round, t.attempts, t.reason = state, round, int(now.int("attempts")), now.text("reason")
	if won {
		a.endings.tasks = append(a.endings.tasks, success{key, now.int("child_id")})
	}
	if state == dag.TaskSuccess && dag.Reason(t.reason) == dag.ReasonLateSuccess {
		w.count.Late++
		if run := w.proof.runs[attemptKey{key, t.attempts}]; run == nil || run.outcome != "success" {
			w.fail("I16", "the late success of task %v counts, and its process: %v", key, run)
		}
	}
}

func (a *audit) attempt(old, now row, actor string) {
	w := a.w
	if now.values == nil {
		w.fail("I22", "attempt %d of task %d of instance %d is deleted", old.int("number"), old.int("task_index"), old.int("instance_id"))
		return
	}
	key := attemptKey{taskKey{now.int("instance_id"), int(now.int("task_index"))}, int(now.int("number"))}
	if a.mine(key.instance, key, actor) == nil {
		return
	}
	state := dag.AttemptState(now.text("state"))
	r := a.attempts[key]
	if r == nil {
		w.count.Attempts++
		r = &attemptRow{attemptKey: key, state: dag.AttemptDispatched, token: now.text("token"), worker: now.text("worker"), round: int(now.int("round")), changed: w.now}
		a.attempts[key] = r
		if key.number > 1 && a.attempts[attemptKey{key.taskKey, key.number - 1}] == nil {
			w.fail("I13", "attempt %v comes without the one before it", key)
		}
		a.budget(r)
	}
	if r.state.Final() && r.state != state || !attemptSteps.follows(r.state, state, false) {
		rule := "I23"
		if r.state.Final() {
			rule = "I22"
		}
		w.fail(rule, "%v becomes %s by %s", r, state, actor)
	}
	if now.text("token") != r.token || now.text("worker") != r.worker {
		w.fail("I11", "%v moves to %s with the token %s", r, now.text("worker"), now.text("token"))
	}
	before := r.state
	r.state, r.reason, r.message = state, now.text("reason"), now.text("message")
	if before != state {
		r.changed = w.now
		a.over(r)
		a.endings.attempts = append(a.endings.attempts, r)
	}
}

// event holds the history of an instance against I26.
func (a *audit) event(now row) {
	in := a.instances[now.int("instance_id")]
	if in == nil || now.values == nil {
		return
	}
	if seq := now.int("seq"); seq != in.lastSeq+1 {
		a.w.fail("I26", "%v: event %d follows event %d", in, seq, in.lastSeq)
	} else {
		in.lastSeq = seq
	}
}

func (a *audit) control(old, now row) {
	if now.values == nil {
		return
	}
	id := now.int("id")
	if old.values == nil {
		a.controls[id] = &controlRow{instance: now.int("instance_id"), verb: now.text("verb")}
		a.w.count.Controls++
		return
	}
	c := a.controls[id]
	result := now.text("result")
	if c.applied && c.result != result {
		a.w.fail("I22", "control %d (%s of instance %d) was answered %q and is answered %q", id, c.verb, c.instance, c.result, result)
	}
	c.applied, c.result = now.int("applied_at") != 0, result
}
