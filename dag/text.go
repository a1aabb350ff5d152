package dag

import (
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// The limits of a definition.
const (
	MaxTasks   = 10_000
	MaxEdges   = 100_000 // needs of all tasks together
	MaxParams  = 1_000   // per workflow and per task
	MaxOutputs = 100     // per task
)

// workflowText is a workflow as its text has it. Tags say what a key means and what
// it may hold; they serve the reading, the checks and the schema.
type workflowText struct {
	Name        string                      `json:"name" rule:"required" doc:"The workflow's name, unique in its project."`
	Description string                      `json:"description" rule:"max=65536" editor:"text" doc:"What the workflow is for, in words."`
	Params      document.Entries[paramText] `json:"params" rule:"max=1000" editor:"params" doc:"Parameters of the workflow by name. Tasks see them as environment variables. One without a default must be given at the start."`
	Timeout     *timeoutText                `json:"timeout" editor:"timeout" doc:"How long a round of an instance may take."`
	OnFailure   string                      `json:"on_failure" rule:"enum=continue|end|compensate" default:"continue" doc:"What a failed task does to the rest: other branches continue, everything ends, or everything ends and what succeeded is undone."`
	Concurrency *concurrencyText            `json:"concurrency" editor:"concurrency" doc:"How many instances of the workflow may run at a time. Nothing is no limit."`
	Environment string                      `json:"environment" doc:"The environment of the project whose variables the tasks see that name none."`
	Tasks       []taskText                  `json:"tasks" rule:"required,min=1,max=10000" editor:"tasks" doc:"The tasks of the workflow."`
}

// taskCommon is what every task has, whatever its type.
type taskCommon struct {
	Name         string                          `json:"name" rule:"required" doc:"The task's name, unique in its workflow."`
	Type         string                          `json:"type" rule:"required" doc:"What kind of task it is."`
	Needs        []string                        `json:"needs" rule:"max=10000" editor:"tasks" doc:"Names of tasks that must be done before this one starts."`
	Join         string                          `json:"join" rule:"max=4096" default:"all_success" advanced:"true" doc:"Which ends of the tasks that it needs let it run: all_success, none_failed, all_done, one_success, all_failed, one_failed, or a condition over their states."`
	When         string                          `json:"when" rule:"max=4096" advanced:"true" doc:"A condition: where it does not hold, the task is passed over."`
	Finally      bool                            `json:"finally" advanced:"true" doc:"The task comes last: it starts once all others have ended, however they did."`
	Params       document.Entries[paramText]     `json:"params" rule:"max=1000" editor:"params" doc:"Values of this task alone, by name. They go before outputs and workflow parameters of the same name."`
	Outputs      []string                        `json:"outputs" rule:"max=100" pattern:"^[A-Za-z_][A-Za-z0-9_]*$" editor:"names" doc:"Names of values that the task gives to the tasks below it."`
	Artifacts    []string                        `json:"artifacts" rule:"max=100" editor:"names" advanced:"true" doc:"Files that the task leaves below $PORPOISE_ARTIFACTS, and folders where the name ends with a slash. They are kept with its success, for the tasks below it and for people."`
	Uses         []string                        `json:"uses" rule:"max=100" editor:"names" advanced:"true" doc:"Artifacts of tasks before this one, as task/artifact. It finds them below $PORPOISE_INPUTS."`
	Env          document.Entries[document.Text] `json:"env" rule:"max=1000" editor:"map" advanced:"true" doc:"Environment variables of the task. ${name} is replaced by a parameter or an output."`
	Environment  string                          `json:"environment" advanced:"true" doc:"The environment of the project whose variables the task sees; where nothing is said, that of the workflow."`
	WorkerGroup  string                          `json:"worker_group" default:"default" editor:"worker_group" doc:"The group of workers that may run the task."`
	WorkerLabels document.Entries[document.Text] `json:"worker_labels" rule:"max=32" editor:"map" advanced:"true" doc:"Labels that a worker of the group must have to run the task, each with its value."`
	Priority     string                          `json:"priority" rule:"enum=highest|high|medium|low|lowest" default:"medium" advanced:"true" doc:"Which tasks of a worker group go first."`
	TaskGroup    *taskGroupText                  `json:"task_group" editor:"task_group" advanced:"true" doc:"The group of the project whose places the task takes while it runs."`
	Retry        *retryText                      `json:"retry" editor:"retry" doc:"When a failed attempt is followed by another one."`
	RepeatUntil  *repeatText                     `json:"repeat_until" editor:"repeat_until" advanced:"true" doc:"Runs the task again after each success, until a condition holds."`
	Cache        *cacheText                      `json:"cache" editor:"cache" advanced:"true" doc:"Takes the outputs of an earlier success instead of running the task, while nothing has changed that they depend on."`
	Timeout      *timeoutText                    `json:"timeout" editor:"timeout" doc:"How long an attempt may run."`
	QueueTimeout *timeoutText                    `json:"queue_timeout" editor:"timeout" advanced:"true" doc:"How long the task may be ready without a worker."`
	Delay        *Duration                       `json:"delay" rule:"min=0s,max=30d" advanced:"true" doc:"How long the task waits before its first attempt of a round, once its needs let it run."`
	OnLost       string                          `json:"on_lost" rule:"enum=retry|fail" default:"retry" advanced:"true" doc:"What follows when the worker is lost with the task: another attempt, or its failure, for what must not run twice."`
	AllowFailure bool                            `json:"allow_failure" advanced:"true" doc:"The tasks below go on even if this one fails."`
	Compensate   *compensateText                 `json:"compensate" advanced:"true" doc:"What undoes the task, where on_failure is compensate and the workflow fails after it succeeded."`
	Disabled     bool                            `json:"disabled" advanced:"true" doc:"The task is passed over and counts as done."`
	Raw          bool                            `json:"raw" advanced:"true" doc:"Each ${name} and $[...] in the script is replaced in its text before it runs. A value becomes part of the program: better use variables."`
	WorkingDir   string                          `json:"working_dir" rule:"max=4096" pattern:"^(/|\\$\\{)" advanced:"true" doc:"A folder on the worker, as an absolute path."`
}

// taskText is a task with the keys of its type, which stand flat beside the others.
type taskText struct {
	taskCommon
	spec Spec
}

// ReadDocument finds the type first: it says which keys there may be.
func (t *taskText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	t.spec = readTyped(d, n, at, TaskTypes(), &t.taskCommon)
}

func article(word string) string {
	if strings.IndexByte("aeiou", word[0]) >= 0 || word == TypeHTTP { // spoken letter by letter
		return "an"
	}
	return "a"
}

// CheckDocument checks the common keys by their tags, and the spec by its own word.
func (t taskText) CheckDocument(at *document.Path) []FieldError {
	return append(document.Check(&t.taskCommon, at), checkSpec(t.spec, at)...)
}

// DescribeDocument describes one form of a task per type, told apart by the type key.
func (taskText) DescribeDocument(s *document.Schemas) document.Schema {
	forms := make([]any, len(taskTypes))
	for i, t := range taskTypes {
		s.Defs[t.name] = t.form(s)
		forms[i] = document.Schema{"$ref": "#/$defs/" + t.name}
	}
	return document.Schema{"oneOf": forms, "required": []string{"type"}}
}

// timeoutText is a timeout; after: 0 says that there is none.
type timeoutText struct {
	After  Duration `json:"after" rule:"required,min=0s,max=365d" doc:"The time after which the action is taken; 0 for never."`
	Action string   `json:"action" rule:"enum=warn|fail|warn_and_fail" default:"fail" doc:"What is done then."`
}

func (t *timeoutText) timeout() Timeout {
	if t == nil {
		return Timeout{}
	}
	return Timeout{After: time.Duration(t.After), Action: TimeoutAction(t.Action)}
}
