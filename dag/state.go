package dag

// InstanceState is the state of a workflow instance. Its text is the same in SQL,
// JSON, the console and the documents.
type InstanceState string

// The states of a workflow instance; docs/STATES.md draws how one follows another.
const (
	InstanceSubmitted   InstanceState = "submitted"
	InstanceSerialWait  InstanceState = "serial_wait"
	InstanceRunning     InstanceState = "running"
	InstancePausing     InstanceState = "pausing"
	InstancePaused      InstanceState = "paused"
	InstanceStopping    InstanceState = "stopping"
	InstanceStopped     InstanceState = "stopped"
	InstanceFailed      InstanceState = "failed"
	InstanceSuccess     InstanceState = "success"
	InstanceQuarantined InstanceState = "quarantined"
)

// TaskState is the state of a task instance within one round.
type TaskState string

// The states of a task instance; from TaskSuccess on they are final for the round.
const (
	TaskWaiting        TaskState = "waiting"
	TaskReady          TaskState = "ready"
	TaskDispatched     TaskState = "dispatched"
	TaskRunning        TaskState = "running"
	TaskRetryWait      TaskState = "retry_wait"
	TaskKilling        TaskState = "killing"
	TaskSuccess        TaskState = "success"
	TaskForcedSuccess  TaskState = "forced_success"
	TaskFailed         TaskState = "failed"
	TaskKilled         TaskState = "killed"
	TaskSkipped        TaskState = "skipped"
	TaskUpstreamFailed TaskState = "upstream_failed"
	TaskDisabled       TaskState = "disabled"
)

// AttemptState is the state of one attempt of a task.
type AttemptState string

// The states of an attempt; from AttemptSuccess on they are final for ever.
const (
	AttemptDispatched AttemptState = "dispatched"
	AttemptRunning    AttemptState = "running"
	AttemptKilling    AttemptState = "killing"
	AttemptSuccess    AttemptState = "success"
	AttemptFailed     AttemptState = "failed"
	AttemptKilled     AttemptState = "killed"
	AttemptLost       AttemptState = "lost"
	AttemptReturned   AttemptState = "returned"
)

// Reason is a code beside a state that says why; empty where the state says it all.
type Reason string

// The reasons that the core gives. A worker may report further ones in the same form
// (exit_code, no_interpreter, working_dir ...): they are kept as they are.
const (
	ReasonTimeout         Reason = "timeout"          // the attempt or the instance ran over its timeout
	ReasonKilledByUser    Reason = "killed_by_user"   // somebody asked for the kill
	ReasonStopped         Reason = "stopped"          // the instance was stopped
	ReasonWorkflowFailed  Reason = "workflow_failed"  // on_failure: end ended this task
	ReasonWorkflowTimeout Reason = "workflow_timeout" // the instance's timeout ended this task
	ReasonTaskFailed      Reason = "task_failed"      // an instance failed because a task did
	ReasonTaskKilled      Reason = "task_killed"      // an instance failed because a task was killed
	ReasonUpstreamFailed  Reason = "upstream_failed"  // a task that this one needs did not succeed
	ReasonWorkerLost      Reason = "worker_lost"      // the worker is gone, more often than allowed
	ReasonForcedStop      Reason = "forced_stop"      // stopped without waiting for the workers' word
	ReasonCrashed         Reason = "crashed_master"   // quarantined: processing it ended masters
	ReasonExitCode        Reason = "exit_code"        // the process ended with another code than 0
)
