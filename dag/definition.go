package dag

import (
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// Definition is one workflow as its author wrote it. Values are as read: defaults
// are filled in by Parse, so a Definition from Parse can be run as it stands.
type Definition struct {
	Name        string
	Description string
	Params      []Param
	Timeout     Timeout
	OnFailure   OnFailure
	Concurrency Concurrency
	Tasks       []Task
}

// OnFailure says what a failed task does to the rest of its instance.
type OnFailure string

// The values of on_failure.
const (
	OnFailureContinue OnFailure = "continue" // other branches go on; tasks below become upstream_failed
	OnFailureEnd      OnFailure = "end"      // running tasks are killed, nothing more starts
	// OnFailureCompensate is OnFailureEnd, after which what succeeded is undone, the latest first.
	OnFailureCompensate OnFailure = "compensate"
)

// TimeoutAction says what happens when a timeout passes.
type TimeoutAction string

// The values of timeout.action.
const (
	TimeoutWarn        TimeoutAction = "warn"
	TimeoutFail        TimeoutAction = "fail"
	TimeoutWarnAndFail TimeoutAction = "warn_and_fail"
)

// Timeout is how long an attempt (from running) or an instance (from its round's
// start) may take. A zero After is no timeout.
type Timeout struct {
	After  time.Duration
	Action TimeoutAction
}

// ParamType is the type of a parameter's value; values travel as text of that type.
type ParamType string

// The types of a parameter.
const (
	ParamString  ParamType = "string"
	ParamInteger ParamType = "integer"
	ParamNumber  ParamType = "number"
	ParamBoolean ParamType = "boolean"
	ParamDate    ParamType = "date" // 2026-03-29 or 20260329
	ParamList    ParamType = "list" // JSON: ["a", 1, true]
)

// Param is a declared parameter. Default is nil where the start must give a value.
type Param struct {
	Name        string
	Type        ParamType
	Description string
	Default     *string
	Enum        []string
	Pattern     string // of the whole value; "" for none
	Min, Max    string // in the form of the type, or as a number of characters or values; "" for none
	// Affects are the tasks that a change of it makes invalid, with all that need them; nil: those that use it.
	Affects []string
}

// Priority orders work of one worker group; a lower number goes first.
type Priority int

// The priorities, in the order in which their work is dispatched.
const (
	PriorityHighest Priority = iota
	PriorityHigh
	PriorityMedium
	PriorityLow
	PriorityLowest
)

// Retry is when a failed attempt is followed by another one. Either Delays lists
// each wait (its length is the number of retries), or Times retries wait
// Delay * Backoff^(k-1), never over MaxDelay (zero: one day). A failure is retried only where
// all of OnExitCodes, NotOnExitCodes and When allow it; those that are empty do.
type Retry struct {
	Times    int
	Delay    time.Duration
	Backoff  float64
	MaxDelay time.Duration
	Delays   []time.Duration

	OnExitCodes    []CodeRange
	NotOnExitCodes []CodeRange
	When           string // an expression over the failure; empty: always
	Elsewhere      bool   // on another worker than the one before, where there is one
}

// CodeRange is the exit codes From to To, both included.
type CodeRange struct{ From, To int }

// OnLost says what follows when a worker is lost with a task.
type OnLost string

// The values of on_lost.
const (
	OnLostRetry OnLost = "retry" // another attempt, as long as there are not too many losses
	OnLostFail  OnLost = "fail"  // the task fails, and nothing runs twice
)

// Task is one node of a definition. Needs holds names of tasks of the same definition.
type Task struct {
	Name         string
	Type         string
	Needs        []string
	Join         string  // a JoinRule, or an expression over the states of the needs
	When         string  // an expression; empty: always
	Finally      bool    // it comes last, after all that does not
	Compensates  int     // 1 + the index of the task that it undoes; 0 for tasks that undo none
	Params       []Param // every Default is set: a task's params are values
	Outputs      []string
	Artifacts    []string // names of files and, with a slash at the end, of folders
	Uses         []Use
	Env          []EnvVar
	Environment  string // a named set of variables of the project; empty for none
	WorkerGroup  string
	WorkerLabels Labels // that a worker of the group must have
	TaskGroup    TaskGroup
	Priority     Priority
	Retry        Retry
	Repeat       Repeat
	Cache        Cache
	Timeout      Timeout
	QueueTimeout Timeout       // of a ready task that no worker takes
	Delay        time.Duration // before the first attempt of a round
	OnLost       OnLost        // empty is OnLostRetry
	AllowFailure bool
	Disabled     bool
	Raw          bool // values are put into the text of its script
	WorkingDir   string
	Spec         Spec
}

// EnvVar is one variable of a task's environment.
type EnvVar struct{ Name, Value string }

// Spec is what a task type has for itself, one struct per type: *ShellSpec, *PythonSpec,
// *HTTPSpec, *NoopSpec, *WaitSpec, *SwitchSpec, *ConditionsSpec,
// *SubWorkflowSpec, *DynamicSpec, *DependentSpec, *ApprovalSpec. Validate reports every wrong field at once, with
// names relative to the task.
type Spec interface {
	Validate() []FieldError
}

// FieldError is one wrong field of a document.
type FieldError = document.FieldError

// Args are the values in the sentence of a FieldError, by name.
type Args = document.Args

// priorities in their order; the text is what definitions, rows and the API hold.
var priorities = [...]string{"highest", "high", "medium", "low", "lowest"}

// String returns the priority's word.
func (p Priority) String() string {
	if p < 0 || int(p) >= len(priorities) {
		return "priority " + strconv.Itoa(int(p))
	}
	return priorities[p]
}

// ParsePriority reads a priority's word.
func ParsePriority(word string) (Priority, bool) {
	i := slices.Index(priorities[:], word)
	return Priority(i), i >= 0
}
