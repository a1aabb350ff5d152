package dag

import (
	"fmt"
	"slices"
)

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
// (no_interpreter, working_dir ...): they are kept as they are.
const (
	ReasonTimeout          Reason = "timeout"           // the attempt or the instance ran over its timeout
	ReasonKilledByUser     Reason = "killed_by_user"    // somebody asked for the kill
	ReasonKilledOutside    Reason = "killed_outside"    // the process was killed, and nobody here had asked for it
	ReasonStopped          Reason = "stopped"           // the instance was stopped
	ReasonWorkflowFailed   Reason = "workflow_failed"   // on_failure: end ended this task
	ReasonWorkflowTimeout  Reason = "workflow_timeout"  // the instance's timeout ended this task
	ReasonTaskFailed       Reason = "task_failed"       // an instance failed because a task did
	ReasonTaskKilled       Reason = "task_killed"       // an instance failed because a task was killed
	ReasonUpstreamFailed   Reason = "upstream_failed"   // a task that this one needs did not succeed
	ReasonWorkerLost       Reason = "worker_lost"       // the worker is gone, more often than allowed
	ReasonReturned         Reason = "returned"          // the worker handed the attempt back, unstarted or drained
	ReasonForcedStop       Reason = "forced_stop"       // stopped without waiting for the workers' word
	ReasonCrashed          Reason = "crashed_master"    // quarantined: processing it ended masters
	ReasonParams           Reason = "params"            // a parameter that the task uses has no value, or not one it can take
	ReasonSecret           Reason = "secret"            // a secret that the task names can't be given to it
	ReasonUnanswered       Reason = "unanswered"        // the worker gave no answer for the attempt in time, however often it was asked
	ReasonLateSuccess      Reason = "late_success"      // the attempt was called lost, and its success came before another had begun
	ReasonExitCode         Reason = "exit_code"         // the process ended with another code than 0
	ReasonChildFailed      Reason = "child_failed"      // the child instance of a sub_workflow task failed
	ReasonChildStopped     Reason = "child_stopped"     // somebody stopped the child instance of a sub_workflow task
	ReasonChildAgain       Reason = "child_again"       // the child of before was run again, and the task waits for it once more
	ReasonDependencyFailed Reason = "dependency_failed" // what a dependent task waited for has failed
	ReasonChildRefused     Reason = "child_refused"     // the child instance of a sub_workflow task could not be started
	ReasonNeedsSkipped     Reason = "needs_skipped"     // all that the task needs was passed over
	ReasonJoin             Reason = "join"              // its join rule ruled the task out
	ReasonNotChosen        Reason = "not_chosen"        // a branch task chose other tasks
	ReasonWhen             Reason = "when"              // its condition did not hold
	ReasonExpression       Reason = "expression"        // an expression of the task could not be decided
	ReasonNoBranch         Reason = "no_branch"         // no case of the branch task held, and it has no else
	ReasonNotNeeded        Reason = "not_needed"        // there was nothing for the task to undo
	ReasonCompensated      Reason = "compensated"       // the instance failed, and what had succeeded was undone
	ReasonNotCompensated   Reason = "not_compensated"   // the instance failed, and undoing what had succeeded failed, too
	ReasonOutputs          Reason = "outputs"           // the gathered outputs of a dynamic task are too large
	ReasonRepeat           Reason = "repeat"            // the condition of its repeat_until does not hold yet
	ReasonRepeatBound      Reason = "repeat_bound"      // repeat_until came to its max before its condition held
	ReasonRejected         Reason = "rejected"          // somebody rejected what an approval task asks
	ReasonExpired          Reason = "expired"           // nobody decided on an approval task in time
	ReasonDiscarded        Reason = "discarded"         // the instance found no place, and its workflow's when_full is discard
	ReasonReplaced         Reason = "replaced"          // a newer instance took its place
	ReasonNotRetried       Reason = "not_retried"       // the task's retry policy does not follow such a failure by another attempt
	ReasonDelayed          Reason = "delayed"           // the task is ready and waits for the end of its delay
	ReasonQueueTimeout     Reason = "queue_timeout"     // no worker took the task in time
	ReasonCached           Reason = "cached"            // the task took over what an earlier success had given
)

// StateInfo is one line of a state table.
type StateInfo[S ~string] struct {
	State S
	Final bool   // ends its round (an attempt: for ever)
	About string // one sentence: how one gets in and out
	Next  []S    // what may follow within the round
	Again []S    // what may follow when recover or rerun opens a new round
}

// table is a state table, with an index for lookups in O(1).
type table[S ~string] struct {
	what  string
	rows  []StateInfo[S]
	index map[S]int
}

// newTable indexes rows, in the order in which the states are shown.
func newTable[S ~string](what string, rows ...StateInfo[S]) table[S] {
	t := table[S]{what: what, rows: rows, index: make(map[S]int, len(rows))}
	for i := range rows {
		t.index[rows[i].State] = i
	}
	return t
}

func (t table[S]) find(s S) (StateInfo[S], bool) {
	i, ok := t.index[s]
	if !ok {
		return StateInfo[S]{}, false
	}
	return t.rows[i], true
}

func (t table[S]) final(s S) bool {
	i, ok := t.index[s]
	return ok && t.rows[i].Final
}

func (t table[S]) parse(text string) (S, error) {
	if _, ok := t.index[S(text)]; !ok {
		return "", fmt.Errorf("%q is not the state of %s", text, t.what)
	}
	return S(text), nil
}

func (t table[S]) follows(a, b S) bool {
	i, ok := t.index[a]
	return ok && slices.Contains(t.rows[i].Next, b)
}

func (t table[S]) again(a, b S) bool {
	i, ok := t.index[a]
	return ok && slices.Contains(t.rows[i].Again, b)
}

// The one place where the states, their order and their transitions are written down:
// Step panics on any other transition, Restore refuses rows that contradict it, and
// docs/STATES.md is printed from it.
var (
	instanceTable = newTable("an instance",
		StateInfo[InstanceState]{
			State: InstanceSubmitted, About: "Stored with its start command; leaves when a master begins it, or when it is stopped before that.",
			Next: []InstanceState{InstanceSerialWait, InstanceRunning, InstanceStopping, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstanceSerialWait, About: "Waits for a place under its workflow's concurrency; leaves when its turn comes, or when it is stopped.",
			Next: []InstanceState{InstanceRunning, InstanceStopping, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstanceRunning, About: "Its tasks are being run; leaves when every task is final, or when somebody pauses or stops it.",
			Next: []InstanceState{InstancePausing, InstanceStopping, InstanceFailed, InstanceSuccess, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstancePausing, About: "Nothing new starts, what workers hold is awaited; leaves when they hold nothing more, or by resume or stop.",
			Next: []InstanceState{InstanceRunning, InstancePaused, InstanceStopping, InstanceFailed, InstanceSuccess, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstancePaused, About: "Nothing is on a worker and nothing starts; leaves by resume or stop, by its timeout, or when its last task becomes final.",
			Next: []InstanceState{InstanceRunning, InstanceStopping, InstanceFailed, InstanceSuccess, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstanceStopping, About: "Everything is being killed; leaves when no worker holds anything more, or at once by a forced stop.",
			Next: []InstanceState{InstanceStopped, InstanceFailed, InstanceSuccess, InstanceQuarantined},
		},
		StateInfo[InstanceState]{
			State: InstanceStopped, Final: true, About: "Somebody stopped it and at least one task was killed by that; recover or rerun opens a new round.",
			Again: []InstanceState{InstanceSerialWait, InstanceRunning},
		},
		StateInfo[InstanceState]{
			State: InstanceFailed, Final: true, About: "A task failed or was killed, or the timeout passed; recover or rerun opens a new round.",
			Again: []InstanceState{InstanceSerialWait, InstanceRunning},
		},
		StateInfo[InstanceState]{
			State: InstanceSuccess, Final: true, About: "Every task is done; rerun opens a new round.",
			Again: []InstanceState{InstanceSerialWait, InstanceRunning},
		},
		StateInfo[InstanceState]{
			State: InstanceQuarantined, Final: true, About: "Working on it ended masters three times, so no master touches it again.",
		},
	)

	taskTable = newTable("a task",
		StateInfo[TaskState]{
			State: TaskWaiting, About: "Waits for the tasks that it needs; leaves when its join rule is settled (a task that chooses then ends at once), or by kill, skip, force_success or the end of the instance.",
			Next: []TaskState{TaskReady, TaskRunning, TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskUpstreamFailed, TaskDisabled},
		},
		StateInfo[TaskState]{
			State: TaskReady, About: "Its needs let it run; leaves when a worker takes it (a task that runs in the master: when the instance runs), or by kill, skip, force_success, the late success of an attempt that was called lost, or the end of the instance.",
			Next: []TaskState{TaskDispatched, TaskRunning, TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped},
		},
		StateInfo[TaskState]{
			State: TaskDispatched, About: "An attempt is on its way to a worker; leaves by the worker's word, its loss, or a kill.",
			Next: []TaskState{TaskReady, TaskRunning, TaskRetryWait, TaskKilling, TaskSuccess, TaskFailed, TaskKilled},
		},
		StateInfo[TaskState]{
			State: TaskRunning, About: "Its attempt runs; leaves by the worker's word, its loss, a timeout, or a kill.",
			Next: []TaskState{TaskReady, TaskRetryWait, TaskKilling, TaskSuccess, TaskFailed, TaskKilled},
		},
		StateInfo[TaskState]{
			State: TaskRetryWait, About: "Its last attempt failed and another is allowed, or it is repeated and its condition does not hold yet; leaves when the wait is over, or by kill, skip, force_success or the end of the instance.",
			Next: []TaskState{TaskReady, TaskRunning, TaskForcedSuccess, TaskKilled, TaskSkipped},
		},
		StateInfo[TaskState]{
			State: TaskKilling, About: "The worker, or the child, was told to end the attempt; leaves by its word or its loss (after a timeout possibly into another attempt), or by a forced stop.",
			Next: []TaskState{TaskRetryWait, TaskSuccess, TaskFailed, TaskKilled},
		},
		StateInfo[TaskState]{
			State: TaskSuccess, Final: true, About: "An attempt succeeded, or its wait is over; only a rerun in a new round leaves it.",
			Again: []TaskState{TaskWaiting},
		},
		StateInfo[TaskState]{
			State: TaskForcedSuccess, Final: true, About: "Somebody declared it successful; only a rerun in a new round leaves it.",
			Again: []TaskState{TaskWaiting},
		},
		StateInfo[TaskState]{
			State: TaskFailed, Final: true, About: "Its last allowed attempt failed; a new round may reset it or force its success.",
			Again: []TaskState{TaskWaiting, TaskForcedSuccess},
		},
		StateInfo[TaskState]{
			State: TaskKilled, Final: true, About: "Somebody, or the end of its instance, ended it; a new round may reset it or force its success.",
			Again: []TaskState{TaskWaiting, TaskForcedSuccess},
		},
		StateInfo[TaskState]{
			State: TaskSkipped, Final: true, About: "Somebody skipped it, which counts as done, or the workflow's own rules passed it over; a new round may reset it.",
			Again: []TaskState{TaskWaiting},
		},
		StateInfo[TaskState]{
			State: TaskUpstreamFailed, Final: true, About: "A task that it needs failed or was killed, so it never ran; a new round may reset it or force its success.",
			Again: []TaskState{TaskWaiting, TaskForcedSuccess},
		},
		StateInfo[TaskState]{
			State: TaskDisabled, Final: true, About: "It is disabled and all that it needs is done, which counts as done; only a rerun in a new round leaves it.",
			Again: []TaskState{TaskWaiting},
		},
	)

	attemptTable = newTable("an attempt",
		StateInfo[AttemptState]{
			State: AttemptDispatched, About: "Given to a worker; leaves by the worker's word, its loss, or a kill.",
			Next: []AttemptState{AttemptRunning, AttemptKilling, AttemptSuccess, AttemptFailed, AttemptKilled, AttemptLost, AttemptReturned},
		},
		StateInfo[AttemptState]{
			State: AttemptRunning, About: "The worker started it; leaves by the worker's word, its loss, or a kill.",
			Next: []AttemptState{AttemptKilling, AttemptSuccess, AttemptFailed, AttemptKilled, AttemptLost, AttemptReturned},
		},
		StateInfo[AttemptState]{
			State: AttemptKilling, About: "The worker was told to end it; leaves by its word or its loss, or by a forced stop.",
			Next: []AttemptState{AttemptSuccess, AttemptFailed, AttemptKilled, AttemptLost, AttemptReturned},
		},
		StateInfo[AttemptState]{State: AttemptSuccess, Final: true, About: "It ended well."},
		StateInfo[AttemptState]{State: AttemptFailed, Final: true, About: "It ended badly, or ran over its timeout."},
		StateInfo[AttemptState]{State: AttemptKilled, Final: true, About: "It was ended on request, or given up by a forced stop."},
		StateInfo[AttemptState]{State: AttemptLost, Final: true, About: "Its worker is gone, and it with it."},
		StateInfo[AttemptState]{State: AttemptReturned, Final: true, About: "The worker handed it back; that is no failure and burns no retry."},
	)
)

// InstanceStates returns the table of instance states, in their order.
func InstanceStates() []StateInfo[InstanceState] {
	return append([]StateInfo[InstanceState](nil), instanceTable.rows...)
}

// TaskStates returns the table of task states, in their order.
func TaskStates() []StateInfo[TaskState] {
	return append([]StateInfo[TaskState](nil), taskTable.rows...)
}

// AttemptStates returns the table of attempt states, in their order.
func AttemptStates() []StateInfo[AttemptState] {
	return append([]StateInfo[AttemptState](nil), attemptTable.rows...)
}

// ParseInstanceState returns the state written as text, or an error that quotes it.
func ParseInstanceState(text string) (InstanceState, error) { return instanceTable.parse(text) }

// ParseTaskState returns the state written as text, or an error that quotes it.
func ParseTaskState(text string) (TaskState, error) { return taskTable.parse(text) }

// ParseAttemptState returns the state written as text, or an error that quotes it.
func ParseAttemptState(text string) (AttemptState, error) { return attemptTable.parse(text) }

// Valid says whether s is a state of an instance.
func (s InstanceState) Valid() bool { _, ok := instanceTable.find(s); return ok }

// Final says whether s ends a round.
func (s InstanceState) Final() bool { return instanceTable.final(s) }

// CanFollow says whether next may follow s within a round.
func (s InstanceState) CanFollow(next InstanceState) bool { return instanceTable.follows(s, next) }

// CanFollowAgain says whether next may follow s when a new round opens.
func (s InstanceState) CanFollowAgain(next InstanceState) bool { return instanceTable.again(s, next) }

// Valid says whether s is a state of a task.
func (s TaskState) Valid() bool { _, ok := taskTable.find(s); return ok }

// Final says whether s ends the task's round.
func (s TaskState) Final() bool { return taskTable.final(s) }

// Live says whether a task in s has an attempt that is not final.
func (s TaskState) Live() bool { return s == TaskDispatched || s == TaskRunning || s == TaskKilling }

// CanFollow says whether next may follow s within a round.
func (s TaskState) CanFollow(next TaskState) bool { return taskTable.follows(s, next) }

// CanFollowAgain says whether next may follow s when a new round opens.
func (s TaskState) CanFollowAgain(next TaskState) bool { return taskTable.again(s, next) }

// Valid says whether s is a state of an attempt.
func (s AttemptState) Valid() bool { _, ok := attemptTable.find(s); return ok }

// Final says whether s is the attempt's last state.
func (s AttemptState) Final() bool { return attemptTable.final(s) }

// CanFollow says whether next may follow s.
func (s AttemptState) CanFollow(next AttemptState) bool { return attemptTable.follows(s, next) }
