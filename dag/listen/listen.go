// Package listen says which events of instances somebody wants to hear of.
//
// It owns the kinds of events as listeners know them, and the filter that picks among them. It is
// pure: it reads no clock and does no I/O. apiserver checks filters with it, sql keeps them, and
// the master's deliveries ask it about each event. docs/listeners.md describes it for people.
package listen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/expression"
)

// Kind is what an event tells a listener.
type Kind string

// The kinds of events.
const (
	Submitted       Kind = "submitted"        // a start has made the instance
	Started         Kind = "started"          // the instance runs, for the first time or again
	InstanceState   Kind = "instance_state"   // the instance entered another state that is not its end
	Ended           Kind = "ended"            // the instance is over
	TaskState       Kind = "task_state"       // a task entered a state that is not its end
	TaskEnded       Kind = "task_ended"       // a task is over
	TaskTimeout     Kind = "task_timeout"     // an attempt runs over its timeout
	WorkflowTimeout Kind = "workflow_timeout" // the instance runs over its timeout
	QueueTimeout    Kind = "queue_timeout"    // no worker took a task within its queue_timeout
	Item            Kind = "item"             // a child of a dynamic task ended
	PauseOverdue    Kind = "pause_overdue"    // pausing takes longer than it should
	Approved        Kind = "approved"         // somebody approved a task
	Rejected        Kind = "rejected"         // somebody rejected a task
	StopOverdue     Kind = "stop_overdue"     // stopping takes longer than it should
	ScheduleBroken  Kind = "schedule_broken"  // a schedule can't be planned any more and is paused; of no instance
	ScheduleMissed  Kind = "schedule_missed"  // fires of a schedule were missed, the first in a row; of no instance
	TimerFailing    Kind = "timer_failing"    // a task of a timer failed for good, the first in a row; of no instance
	TimerBroken     Kind = "timer_broken"     // a timer can't be planned any more and is disabled; of no instance
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Submitted, Started, InstanceState, Ended, TaskState, TaskEnded, TaskTimeout, QueueTimeout, WorkflowTimeout, Item, Approved, Rejected, PauseOverdue, StopOverdue, ScheduleBroken, ScheduleMissed, TimerFailing, TimerBroken}
}

// ReplyKinds are what a reply tells where its start does not choose.
func ReplyKinds() []Kind { return []Kind{Submitted, Started, TaskEnded, Ended} }

// KindOf says what an event tells. A code that is not known is its own kind.
func KindOf(e *dag.Event) Kind {
	switch e.Code {
	case dag.EventInstance:
		switch state := dag.InstanceState(e.State); {
		case state == dag.InstanceSubmitted:
			return Submitted
		case state == dag.InstanceRunning:
			return Started
		case state.Final():
			return Ended
		}
		return InstanceState
	case dag.EventTask:
		if dag.TaskState(e.State).Final() {
			return TaskEnded
		}
		return TaskState
	case dag.EventTaskTimeout, dag.EventQueueTimeout, dag.EventWorkflowTimeout, dag.EventItem, dag.EventApproved, dag.EventRejected,
		dag.EventPauseOverdue, dag.EventStopOverdue:
	}
	return Kind(e.Code)
}

// SubmittedEvent is the event before all others: its number is 0, and it stands in no history, since
// the instance's row says it all.
func SubmittedEvent(at dag.Millis, by string) dag.Event {
	return dag.Event{Code: dag.EventInstance, Task: -1, At: at, State: string(dag.InstanceSubmitted), By: by}
}

// maxNames bounds each list of a filter.
const maxNames = 100

// Filter picks events: those that fit every list which is not empty, and the condition.
type Filter struct {
	Events    []Kind       `json:"events,omitempty"`
	Workflows []string     `json:"workflows,omitempty"` // names, in any spelling
	Schedules []string     `json:"schedules,omitempty"` // names, in any spelling: only of instances that these started
	Tasks     []string     `json:"tasks,omitempty"`     // only events of these tasks
	States    []string     `json:"states,omitempty"`    // of instances or tasks
	Reasons   []dag.Reason `json:"reasons,omitempty"`
	When      string       `json:"when,omitempty"` // a condition over the names of Values
}

// Fact is an event with what a filter may ask about it.
type Fact struct {
	dag.Event
	Kind     Kind
	Workflow string
	Schedule string // that started the instance, or that the event is about, "" for none; needed where the filter asks for schedules
	Timer    string // that the event is about, "" for none
	TaskName string // "" for the instance itself
}

// names are what a condition may read, and how an event gives them.
var names = map[string]func(f *Fact) any{
	"event":    func(f *Fact) any { return string(f.Kind) },
	"workflow": func(f *Fact) any { return f.Workflow },
	"task":     func(f *Fact) any { return f.TaskName },
	"state":    func(f *Fact) any { return f.State },
	"reason":   func(f *Fact) any { return string(f.Reason) },
	"message":  func(f *Fact) any { return f.Message },
	"attempt":  func(f *Fact) any { return int64(f.Attempt) },
	"round":    func(f *Fact) any { return int64(f.Round) },
	"warning":  func(f *Fact) any { return f.Warning },
}

// Check returns everything that is wrong with the filter; field is its path.
func (f *Filter) Check(field string) []dag.FieldError {
	var wrong []dag.FieldError
	fail := func(path, code, value, format string, args ...any) {
		wrong = append(wrong, dag.FieldError{Field: field + path, Code: code, Value: document.Shown(value), Message: fmt.Sprintf(format, args...)})
	}
	for i, k := range f.Events {
		if !slices.Contains(Kinds(), k) {
			fail(fmt.Sprintf(".events[%d]", i), document.CodeNotInEnum, string(k), "there is no such event: want one of %s", join(Kinds()))
		}
	}
	for i, s := range f.States {
		if !dag.InstanceState(s).Valid() && !dag.TaskState(s).Valid() {
			fail(fmt.Sprintf(".states[%d]", i), document.CodeNotInEnum, s, "neither instances nor tasks have such a state")
		}
	}
	for _, l := range []struct {
		path  string
		names []string
	}{{".workflows", f.Workflows}, {".schedules", f.Schedules}, {".tasks", f.Tasks}} {
		for i, name := range l.names {
			if len(dag.CheckName("", name)) > 0 {
				fail(fmt.Sprintf("%s[%d]", l.path, i), dag.CodeInvalidName, name, "this is not a name")
			}
		}
	}
	for _, l := range []struct {
		path string
		n    int
	}{
		{".events", len(f.Events)}, {".states", len(f.States)}, {".workflows", len(f.Workflows)}, {".schedules", len(f.Schedules)}, {".tasks", len(f.Tasks)}, {".reasons", len(f.Reasons)},
	} {
		if l.n > maxNames {
			fail(l.path, document.CodeTooLarge, "", "%d entries, at most %d are allowed", l.n, maxNames)
		}
	}
	if f.When != "" {
		if err := checkCondition(f.When); err != nil {
			fail(".when", dag.CodeExpression, f.When, "%v", err)
		}
	}
	return wrong
}

func checkCondition(text string) error {
	e, err := expression.Condition(text)
	if err != nil {
		return err
	}
	if tasks := e.Tasks(); len(tasks) > 0 {
		return fmt.Errorf("an event knows no other tasks: %s", tasks[0])
	}
	for _, name := range e.Names() {
		if names[name] == nil {
			return fmt.Errorf("an event has no %q", name)
		}
	}
	return nil
}

func join(kinds []Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// named says whether a name is among others, however it is written.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return dag.FoldName(n) == dag.FoldName(name) })
}

// Wants says whether the filter picks an event. A condition that cannot be decided for it picks it: rather one
// event too many than one that nobody hears of.
func (f *Filter) Wants(fact *Fact) bool {
	switch {
	case len(f.Events) > 0 && !slices.Contains(f.Events, fact.Kind),
		len(f.Workflows) > 0 && !named(f.Workflows, fact.Workflow),
		len(f.Schedules) > 0 && !named(f.Schedules, fact.Schedule),
		len(f.Tasks) > 0 && !slices.Contains(f.Tasks, fact.TaskName),
		len(f.States) > 0 && !slices.Contains(f.States, fact.State),
		len(f.Reasons) > 0 && !slices.Contains(f.Reasons, fact.Reason):
		return false
	case f.When == "":
		return true
	}
	e, err := expression.Condition(f.When)
	if err != nil {
		return true
	}
	holds, err := e.Decide(expression.Values{Param: func(name string) (any, bool) {
		value := names[name]
		if value == nil {
			return nil, false
		}
		return value(fact), true
	}})
	return err != nil || holds
}
