package dag

import "github.com/porpoise/porpoise/dag/document"

// The codes of errors that only workflows have, beside those of package document.
const (
	CodeUnknownType     = "unknown_type"     // a task type that is not known
	CodeUnknownTask     = "unknown_task"     // a needs entry that names no task
	CodeUnknownParam    = "unknown_param"    // a start parameter that the workflow does not declare
	CodeUnknownName     = "unknown_name"     // a ${name} that nothing gives
	CodeDuplicateName   = "duplicate_name"   // two tasks, parameters or outputs of one name
	CodeDuplicateEdge   = "duplicate_edge"   // a needs entry that stands twice
	CodeSelfLoop        = "self_loop"        // a task that needs itself
	CodeCycle           = "cycle"            // tasks that need each other in a circle
	CodeAmbiguousOutput = "ambiguous_output" // one output name from two unrelated tasks
	CodeReservedName    = "reserved_name"    // a name that would change how processes run
	CodeConflict        = "conflict"         // two keys that exclude each other
	CodeExpression      = "expression"       // an expression that does not parse, or is no condition
	CodeUncovered       = "uncovered"        // a branch task that fails where no case holds
	CodeInvalidName     = "invalid_name"     // a name with characters that names do not have
	CodeMismatch        = "mismatch"         // the name in the text is not that of the workflow
	CodeNameTaken       = "name_taken"       // a workflow has this name in another spelling
	CodeUnknownWorkflow = "unknown_workflow" // a sub_workflow task that names no workflow, or no version of it
	CodeWorkflowCycle   = "workflow_cycle"   // a sub_workflow task that leads back to its own workflow
	CodeNotAllowed      = "not_allowed"      // what the author himself may not do, his definition may not either
)

// Code is one code of an error or a warning with its meaning.
type Code struct {
	Code    string
	Warning bool
	Meaning string
	Args    string // the names of its args, those that it always has
}

// Codes lists every code that the check of a definition can give, as the documents have it.
func Codes() []Code {
	return []Code{
		{document.CodeSyntax, false, "the text is not YAML or JSON", ""},
		{document.CodeEncoding, false, "a byte order mark, invalid UTF-8, a lone surrogate, NUL", ""},
		{document.CodeTooLarge, false, "the text, a value or a list is over its limit", ""},
		{document.CodeTooDeep, false, "nested deeper than 64 levels", ""},
		{document.CodeYAMLFeature, false, "anchors, aliases, merge keys, tags, several documents", ""},
		{document.CodeFormat, false, "a format other than yaml and json was asked for", ""},
		{document.CodeDuplicateKey, false, "a map has a key twice", ""},
		{document.CodeUnknownField, false, "a key that means nothing here", "key"},
		{document.CodeRequired, false, "what must be there is missing or empty", ""},
		{document.CodeNull, false, "a key stands there without a value", ""},
		{document.CodeWrongType, false, "a value of another type than wanted", ""},
		{document.CodeOutOfRange, false, "a number, duration or length outside its range", ""},
		{document.CodeNotInEnum, false, "a word that is not one of those allowed", ""},
		{document.CodeInvalid, false, "a text that does not have the wanted form", ""},
		{CodeUnknownType, false, "a task type that is not known", ""},
		{CodeUnknownTask, false, "a needs entry that names no task", "task, need"},
		{CodeDuplicateEdge, false, "a needs entry that stands twice", "task, need"},
		{CodeSelfLoop, false, "a task that needs itself", "task, need"},
		{CodeCycle, false, "tasks that need each other in a circle", "tasks, length"},
		{CodeUnknownName, false, "a ${name} that nothing gives", "name"},
		{CodeUnknownParam, false, "a start parameter that the workflow does not declare", ""},
		{CodeDuplicateName, false, "two tasks, parameters or outputs of one name", ""},
		{CodeAmbiguousOutput, false, "one output name from two unrelated tasks", "output, first, second, task"},
		{CodeReservedName, false, "a name that would change how processes run", ""},
		{CodeInvalidName, false, "a name with characters that names do not have", ""},
		{CodeConflict, false, "two keys that exclude each other", ""},
		{CodeExpression, false, "an expression that does not parse, or is no condition", ""},
		{CodeMismatch, false, "the name in the text is not that of the workflow", "name, workflow"},
		{CodeNameTaken, false, "a workflow has this name in another spelling", "name, other"},
		{CodeUnknownWorkflow, false, "a sub_workflow task names no workflow, or no version of it", "task, workflow"},
		{CodeWorkflowCycle, false, "a sub_workflow task leads back to its own workflow", "task, path"},
		{CodeNotAllowed, false, "a task would do what its author may not", "task, project"},
		{CodeUnknownVariable, true, "a script uses a variable that nothing sets", "name, task"},
		{CodeUncovered, true, "a branch task fails where no case holds, as it has no else", "task"},
		{CodeNoEffect, true, "a task or a key that changes nothing", "task"},
		{CodeNoWorker, true, "no live worker is of the task's group", "task, group"},
		{CodeNoLabels, true, "no live worker of the task's group has the labels that it asks for", "task, group, labels"},
		{CodeNoTaskGroup, true, "the project has no such task group", "task, group"},
		{CodeNoSecret, true, "there is no such secret, neither in the project nor for all", "task, name"},
		{CodeNoEnvironment, true, "the project has no such environment", "task, environment"},
	}
}
