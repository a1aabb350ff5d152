package main

import (
	"fmt"
	"strings"
	"time"
)

// workflow is a definition with what its tasks do when they are run.
type workflow struct {
	name, text string
	tasks      []task
	limit      int    // how many instances may run at a time; 0 is any number
	whenFull   string // what becomes of one more
}

// task is what the world knows of a task: what it needs, how long an attempt takes and how it ends.
type task struct {
	name     string
	needs    []string
	least    time.Duration // an attempt takes at least so long
	most     time.Duration
	failing  int // the first attempts end badly; -1: all do
	retries  int
	delay    time.Duration // of a retry
	timeout  time.Duration
	allow    bool // it may fail
	kind     kind
	of       string // which workflow it runs or waits for
	weight   int    // of its place in the task group; 0 is none
	disabled bool
}

// kind is what a task is: a process on a worker, or something that its master does.
type kind string

const (
	kindProcess   kind = ""
	kindNothing   kind = "noop"
	kindChild     kind = "sub_workflow"
	kindDependent kind = "dependent"
	kindApproval  kind = "approval"
)

// workflows are the shapes that instances have.
func workflows() []workflow {
	short := func(name string, needs ...string) task {
		return task{name: name, needs: needs, least: 50 * time.Millisecond, most: 1500 * time.Millisecond}
	}
	long := func(name string, needs ...string) task {
		return task{name: name, needs: needs, least: time.Second, most: 9 * time.Second}
	}
	licensed := func(name string, weight int, needs ...string) task {
		t := short(name, needs...)
		t.weight = weight
		return t
	}
	retried := short("b", "a")
	retried.failing, retried.retries, retried.delay = 2, 3, time.Second
	failing := short("b", "a")
	failing.failing, failing.retries, failing.delay = -1, 1, 500*time.Millisecond
	allowed := short("b", "a")
	allowed.failing, allowed.allow = -1, true
	late := long("b", "a")
	late.least, late.most, late.timeout, late.retries, late.delay = 3*time.Second, 8*time.Second, 4*time.Second, 1, time.Second
	off := short("x", "a")
	off.disabled = true
	quick := task{name: "b", needs: []string{"a"}, kind: kindNothing}
	child := task{name: "b", needs: []string{"a"}, kind: kindChild, of: "chain"}
	unlucky := task{name: "b", needs: []string{"a"}, kind: kindChild, of: "failing", retries: 1, delay: time.Second}
	queued := task{name: "c", needs: []string{"a"}, kind: kindChild, of: "serial", allow: true}
	after := task{name: "b", needs: []string{"a"}, kind: kindDependent, of: leader}
	asks := task{name: "b", needs: []string{"a"}, kind: kindApproval}
	fan := []task{short("a")}
	var all []string
	for i := range 6 {
		name := fmt.Sprintf("f%d", i)
		fan, all = append(fan, licensed(name, 1, "a")), append(all, name)
	}
	fan = append(fan, short("z", all...))
	shapes := []workflow{
		{name: "one", tasks: []task{long("a")}},
		{name: "chain", tasks: []task{short("a"), short("b", "a"), long("c", "b"), short("d", "c")}},
		{name: "diamond", tasks: []task{short("a"), long("b", "a"), short("c", "a"), short("d", "b", "c")}},
		{name: "fan", tasks: fan},
		{name: "retried", tasks: []task{short("a"), retried, short("c", "b")}},
		{name: "failing", tasks: []task{short("a"), failing, short("c", "b"), short("d", "a")}},
		{name: "allowed", tasks: []task{short("a"), allowed, short("c", "b")}},
		{name: "late", tasks: []task{short("a"), late, short("c", "b")}},
		{name: "mixed", tasks: []task{short("a"), quick, off, long("c", "b", "x")}},
		{name: "serial", limit: 1, whenFull: "wait", tasks: []task{short("a"), short("b", "a")}},
		{name: "newest", limit: 2, whenFull: "replace", tasks: []task{short("a"), long("b", "a")}},
		{name: follower, tasks: []task{{name: "a", kind: kindNothing}}},
		{name: "parent", tasks: []task{short("a"), child, short("z", "b")}},
		{name: "unlucky", tasks: []task{short("a"), unlucky, queued, short("z", "c")}},
		{name: "waits", tasks: []task{short("a"), after, short("z", "b")}},
		{name: "licensed", tasks: []task{licensed("a", 1), licensed("b", 2), licensed("c", 1, "a"), licensed("d", 1)}},
		{name: "asks", tasks: []task{short("a"), asks, short("z", "b")}},
	}
	for i := range shapes {
		shapes[i].text = shapes[i].yaml()
	}
	return shapes
}

func (wf *workflow) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", wf.name)
	if wf.limit > 0 {
		fmt.Fprintf(&b, "concurrency: {limit: %d, when_full: %s}\n", wf.limit, wf.whenFull)
	}
	b.WriteString("tasks:\n")
	for _, t := range wf.tasks {
		fmt.Fprintf(&b, "  - name: %s\n", t.name)
		b.WriteString(t.does())
		if t.weight > 0 {
			fmt.Fprintf(&b, "    task_group: {name: %s, weight: %d}\n", groupName, t.weight)
		}
		if len(t.needs) > 0 {
			fmt.Fprintf(&b, "    needs: [%s]\n", strings.Join(t.needs, ", "))
		}
		if t.retries > 0 {
			fmt.Fprintf(&b, "    retry: {times: %d, delay: %v}\n", t.retries, t.delay)
		}
		if t.timeout > 0 {
			fmt.Fprintf(&b, "    timeout: {after: %v, action: fail}\n", t.timeout)
		}
		if t.allow {
			b.WriteString("    allow_failure: true\n")
		}
		if t.disabled {
			b.WriteString("    disabled: true\n")
		}
	}
	return b.String()
}

// does is what a task's text says of its kind.
func (t *task) does() string {
	switch t.kind {
	case kindChild:
		return fmt.Sprintf("    type: sub_workflow\n    workflow: %s\n", t.of)
	case kindDependent:
		return fmt.Sprintf("    type: dependent\n    interval: 2s\n    check: {all: [{workflow: %s, date: today, once: true}]}\n", t.of)
	case kindApproval:
		return fmt.Sprintf("    type: approval\n    quorum: %d\n", quorum)
	case kindNothing:
		return "    type: noop\n"
	case kindProcess:
	}
	return "    type: shell\n    script: 'true'\n"
}
