package dag

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
	CodeInvalidName     = "invalid_name"     // a name with characters that names do not have
)
