// Package load is the client of a chaos run: it saves workflows of several shapes, starts
// them at a steady rate with Idempotency-Keys, pauses, resumes, stops and recovers some,
// and writes down every call and its answer. Some it has started by schedules.
//
// It owns the history file and knows of the cluster only the REST API. A call without an
// answer is written down as unknown and made again with the same key.
package load

import (
	"fmt"
	"strings"
	"time"
)

// Task is a task of a shape, as the verdict needs to know it.
type Task struct {
	Name         string   `json:"name"`
	Needs        []string `json:"needs,omitempty"`
	Retries      int      `json:"retries,omitempty"`
	DelayMS      int64    `json:"delay_ms,omitempty"`
	TimeoutMS    int64    `json:"timeout_ms,omitempty"`
	AllowFailure bool     `json:"allow_failure,omitempty"`
	Child        string   `json:"child,omitempty"` // the workflow that it runs in the place of a process
	Group        string   `json:"group,omitempty"` // the task group of which it takes a place

	args string // of the witness
}

// Shape is a workflow of the load.
type Shape struct {
	Name      string `json:"name"`
	OnFailure string `json:"on_failure"`
	Limit     int    `json:"limit,omitempty"` // of instances at a time; the others wait
	Tasks     []Task `json:"tasks"`

	weight int    // how often it is started; 0 is by its parents or schedules alone
	treat  string // what the client does to a running instance: pause, stop, recover
}

// Groups are the task groups of the load, with their sizes.
func Groups() map[string]int { return map[string]int{"press": 2} }

func work(d time.Duration) string { return "-for " + d.String() }

// Shapes lists the workflows. Their tasks are short, since two processors run them all;
// some live long enough to see a whole fault.
func Shapes() []Shape {
	const short, medium, long = 60 * time.Millisecond, 400 * time.Millisecond, 2500 * time.Millisecond
	fan := Shape{Name: "fan", weight: 1, Tasks: []Task{{Name: "begin", args: work(short)}}}
	last := Task{Name: "end", args: work(short)}
	for i := range 50 {
		name := fmt.Sprintf("leaf-%02d", i)
		fan.Tasks = append(fan.Tasks, Task{Name: name, Needs: []string{"begin"}, args: work(short)})
		last.Needs = append(last.Needs, name)
	}
	fan.Tasks = append(fan.Tasks, last)
	return []Shape{
		{Name: "chain", weight: 8, Tasks: []Task{
			{Name: "a", args: work(short)},
			{Name: "b", Needs: []string{"a"}, args: work(medium)},
			{Name: "c", Needs: []string{"b"}, args: work(short)},
			{Name: "d", Needs: []string{"c"}, args: work(medium)},
		}},
		{Name: "diamond", weight: 6, Tasks: []Task{
			{Name: "a", args: work(short)},
			{Name: "left", Needs: []string{"a"}, args: work(medium)},
			{Name: "right", Needs: []string{"a"}, args: work(short)},
			{Name: "end", Needs: []string{"left", "right"}, args: work(short)},
		}},
		fan,
		{Name: "flaky", weight: 4, Tasks: []Task{
			{Name: "a", Retries: 4, DelayMS: 300, args: work(short) + " -fail-until 3"},
			{Name: "b", Needs: []string{"a"}, args: work(short)},
		}},
		{Name: "hopeless", weight: 2, Tasks: []Task{
			{Name: "a", Retries: 2, DelayMS: 900, args: work(short) + " -rc 6"},
			{Name: "b", Needs: []string{"a"}, args: work(short)},
		}},
		// Its master's clock moves it on, for longer than a lease: one that was taken for dead
		// and is not will try to.
		{Name: "stubborn", weight: 1, Tasks: []Task{
			{Name: "a", Retries: 9, DelayMS: 1500, args: work(short) + " -rc 4"},
		}},
		{Name: "broken", weight: 3, treat: "recover", Tasks: []Task{
			{Name: "good", args: work(medium)},
			{Name: "bad", Retries: 1, DelayMS: 200, args: work(short) + " -rc 7"},
			{Name: "below", Needs: []string{"bad"}, args: work(short)},
			{Name: "allowed", AllowFailure: true, args: work(short) + " -rc 9"},
			{Name: "after", Needs: []string{"allowed"}, args: work(short)},
		}},
		{Name: "ends", OnFailure: "end", weight: 2, Tasks: []Task{
			{Name: "bad", args: work(medium) + " -rc 5"},
			{Name: "slow", args: work(8 * time.Second)},
			{Name: "leaver", args: work(40*time.Second) + " -leave"},
		}},
		{Name: "long", weight: 4, Tasks: []Task{
			{Name: "a", args: work(9 * time.Second)},
			{Name: "b", args: work(long)},
			{Name: "c", Needs: []string{"a", "b"}, args: work(short)},
		}},
		{Name: "late", weight: 2, Tasks: []Task{
			{Name: "a", TimeoutMS: 2000, args: work(30 * time.Second)},
			{Name: "b", args: work(short)},
		}},
		{Name: "serial", Limit: 1, weight: 2, Tasks: []Task{
			{Name: "a", args: work(short)},
			{Name: "b", Needs: []string{"a"}, args: work(short)},
		}},
		{Name: "child", Tasks: []Task{
			{Name: "x", args: work(medium)},
			{Name: "y", Needs: []string{"x"}, Retries: 1, DelayMS: 200, args: work(short) + " -fail-until 2"},
		}},
		{Name: "parent", weight: 3, Tasks: []Task{
			{Name: "a", args: work(short)},
			{Name: "call", Needs: []string{"a"}, Child: "child"},
			{Name: "end", Needs: []string{"call"}, args: work(short)},
		}},
		{Name: "parent stopped", weight: 1, treat: "stop", Tasks: []Task{
			{Name: "call", Child: "long"},
			{Name: "end", Needs: []string{"call"}, args: work(short)},
		}},
		{Name: "pressed", weight: 2, Tasks: []Task{
			{Name: "a", Group: "press", args: work(short)},
			{Name: "b", Group: "press", Retries: 1, DelayMS: 200, args: work(medium) + " -fail-until 2"},
			{Name: "c", Group: "press", args: work(medium)},
		}},
		{Name: "paused", weight: 2, treat: "pause", Tasks: []Task{
			{Name: "a", args: work(medium)},
			{Name: "b", Needs: []string{"a"}, args: work(medium)},
			{Name: "c", Needs: []string{"b"}, args: work(medium)},
			{Name: "d", Needs: []string{"c"}, args: work(medium)},
		}},
		{Name: "stopped", weight: 2, treat: "stop", Tasks: []Task{
			{Name: "a", args: work(20 * time.Second)},
			{Name: "b", args: work(40*time.Second) + " -leave"},
			{Name: "c", Needs: []string{"a"}, args: work(short)},
		}},
		{Name: "ticked", Tasks: []Task{{Name: "a", args: work(short)}}},
		// Longer than its schedules wait between two fires, so that these overlap.
		{Name: "slow", Tasks: []Task{{Name: "a", args: work(7 * time.Second)}}},
		{Name: "followed", Tasks: []Task{{Name: "a", args: work(short)}}},
	}
}

// yaml is the definition. The folder is in the environment of every task, so that a scan
// of the process table can tell this run's tasks from others.
func (s Shape) yaml(witness, folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", s.Name)
	if s.OnFailure != "" {
		fmt.Fprintf(&b, "on_failure: %s\n", s.OnFailure)
	}
	if s.Limit > 0 {
		fmt.Fprintf(&b, "concurrency: {limit: %d}\n", s.Limit)
	}
	b.WriteString("tasks:\n")
	for _, t := range s.Tasks {
		if t.Child != "" {
			fmt.Fprintf(&b, "  - name: %s\n    type: sub_workflow\n    workflow: %s\n", t.Name, t.Child)
		} else {
			fmt.Fprintf(&b, "  - name: %s\n    type: shell\n", t.Name)
			fmt.Fprintf(&b, "    env: {chaos_folder: %q, GOMAXPROCS: \"1\"}\n", folder)
			fmt.Fprintf(&b, "    script: exec %q -dir %q %s\n", witness, folder, t.args)
		}
		if t.Group != "" {
			fmt.Fprintf(&b, "    task_group: %s\n", t.Group)
		}
		if len(t.Needs) > 0 {
			fmt.Fprintf(&b, "    needs: [%s]\n", strings.Join(t.Needs, ", "))
		}
		if t.Retries > 0 {
			fmt.Fprintf(&b, "    retry: {times: %d, delay: %dms}\n", t.Retries, t.DelayMS)
		}
		if t.TimeoutMS > 0 {
			fmt.Fprintf(&b, "    timeout: {after: %dms, action: fail}\n", t.TimeoutMS)
		}
		if t.AllowFailure {
			b.WriteString("    allow_failure: true\n")
		}
	}
	return b.String()
}
