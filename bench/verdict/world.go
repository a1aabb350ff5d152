package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// world is all that is known of a run, by instance, task and attempt.
type world struct {
	dir       string
	run       runFile
	shapes    map[string]*shape
	names     map[int64]string // of workflows
	lines     []*line
	calls     []*call
	faults    []*fault
	changes   []*change
	scans     []*scan
	audit     []*write
	commands  []row
	scheduled []row // schedules
	fires     []row
	instances map[int64]*instance
	attempts  int
	broken    []error
}

// instance is one workflow instance.
type instance struct {
	id       int64
	shape    *shape
	row      row
	tasks    map[int64]*task
	byName   map[string]*task
	events   []row
	writes   []*write // of its own row, in order
	controls []*write
	all      []*write // of its row, tasks and attempts, in order
}

// task is one task of an instance.
type task struct {
	in       *instance
	index    int64
	row      row
	spec     shapeTask
	attempts map[int64]*attempt
	writes   []*write
}

// attempt is one attempt of a task; row is nil where only evidence knows it.
type attempt struct {
	task   *task
	number int64
	row    row
	lines  []*line // of the task's own process
	others []*line // of what it left behind
	writes []*write
}

func newWorld(dir string) *world {
	return &world{dir: dir, shapes: map[string]*shape{}, names: map[int64]string{}, instances: map[int64]*instance{}}
}

func (w *world) instance(id int64) *instance {
	in := w.instances[id]
	if in == nil {
		in = &instance{id: id, tasks: map[int64]*task{}, byName: map[string]*task{}}
		w.instances[id] = in
	}
	return in
}

func (in *instance) task(index int64) *task {
	t := in.tasks[index]
	if t == nil {
		t = &task{in: in, index: index, attempts: map[int64]*attempt{}}
		in.tasks[index] = t
	}
	return t
}

func (t *task) attempt(number int64) *attempt {
	a := t.attempts[number]
	if a == nil {
		a = &attempt{task: t, number: number}
		t.attempts[number] = a
	}
	return a
}

func (w *world) addAttempt(r row) {
	w.instance(r.num("instance_id")).task(r.num("task_index")).attempt(r.num("number")).row = r
	w.attempts++
}

// strayTask is the index of a task that the evidence knows and the database does not.
const strayTask = -1

// join brings evidence and audit to the instances.
func (w *world) join() error {
	for _, in := range w.instances {
		if in.row != nil {
			in.shape = w.shapes[w.names[in.row.num("workflow_id")]]
		}
		for _, t := range in.tasks {
			in.byName[t.row.str("name")] = t
			if in.shape == nil {
				continue
			}
			for _, spec := range in.shape.Tasks {
				if spec.Name == t.row.str("name") {
					t.spec = spec
				}
			}
		}
	}
	for _, l := range w.lines {
		id, err := strconv.ParseInt(l.Instance, 10, 64)
		if err != nil {
			return fmt.Errorf("evidence of instance %q: %w", l.Instance, err)
		}
		in := w.instance(id)
		t := in.byName[l.Task]
		if t == nil {
			t = in.task(strayTask)
			t.row = row{"name": l.Task}
			in.byName[l.Task] = t
		}
		a := t.attempt(int64(l.Attempt))
		if l.Role == "" {
			a.lines = append(a.lines, l)
		} else {
			a.others = append(a.others, l)
		}
	}
	for _, a := range w.audit {
		w.place(a)
	}
	return errors.Join(w.broken...)
}

// place puts a write to what it is about.
func (w *world) place(a *write) {
	v := a.value()
	switch a.Table {
	case "workflow_instance":
		in := w.instance(v.num("id"))
		in.writes, in.all = append(in.writes, a), append(in.all, a)
	case "task_instance":
		t := w.instance(v.num("instance_id")).task(v.num("task_index"))
		t.writes, t.in.all = append(t.writes, a), append(t.in.all, a)
	case "task_attempt":
		t := w.instance(v.num("instance_id")).task(v.num("task_index"))
		at := t.attempt(v.num("number"))
		at.writes, t.in.all = append(at.writes, a), append(t.in.all, a)
	case "control":
		in := w.instance(v.num("instance_id"))
		in.controls = append(in.controls, a)
	}
}

// ordered gives a map's values by key, so that a verdict reads the same each time.
func ordered[V any](m map[int64]V) []V {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	list := make([]V, len(keys))
	for i, k := range keys {
		list[i] = m[k]
	}
	return list
}

// start is the attempt's first sign of life, last its last one.
func (a *attempt) start() *line { return a.event("start") }

func (a *attempt) event(event string) *line {
	for _, l := range a.lines {
		if l.Event == event {
			return l
		}
	}
	return nil
}

func (a *attempt) last() *line {
	var last *line
	for _, l := range slices.Concat(a.lines, a.others) {
		if last == nil || l.Mono > last.Mono {
			last = l
		}
	}
	return last
}

func (a *attempt) state() string { return a.row.str("state") }

func (a *attempt) String() string {
	return fmt.Sprintf("instance %d (%s) task %s attempt %d", a.task.in.id, a.task.in.name(), a.task.row.str("name"), a.number)
}

// child says that an attempt of another instance made it.
func (in *instance) child() bool { return in.row.num("parent_instance_id") != 0 }

func (in *instance) name() string {
	if in.shape == nil {
		return "?"
	}
	return in.shape.Name
}

// proof quotes what is known of an attempt.
func (a *attempt) proof() []string {
	var p []string
	for _, l := range a.lines {
		if l.Event != "tick" {
			p = append(p, clip(l.text))
		}
	}
	if l := a.last(); l != nil && l.Event == "tick" {
		p = append(p, clip(l.text))
	}
	for _, w := range a.writes {
		p = append(p, clip(w.text))
	}
	return p
}

// ended is when the attempt became final, in the database's time; 0 if it did not.
func (a *attempt) ended() int64 {
	for _, w := range a.writes {
		if w.new != nil && finalAttempt[w.new.str("state")] {
			return w.At
		}
	}
	return 0
}

// node is the name in an owner's text, node:incarnation.
func node(owner string) string {
	name, _, _ := strings.Cut(owner, ":")
	return name
}

// hit lists the faults that match and overlap a time.
func (w *world) hit(from, to int64, match func(f *fault) bool) []*fault {
	var list []*fault
	for _, f := range w.faults {
		if f.Begin <= to && f.End >= from && match(f) {
			list = append(list, f)
		}
	}
	return list
}

// onStores says whether a fault hurts what all depend on.
func onStores(f *fault) bool { return strings.HasSuffix(f.Class, ".stores") }
