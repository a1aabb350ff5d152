package dag

// Instance is one run of a workflow: the part of its rows that decides what happens
// next. It belongs to one goroutine at a time; only Step changes it. Fields are
// exported so that a store can write and rebuild it; after a rebuild from rows,
// call Restore before the first Step.
type Instance struct {
	ID        int64
	State     InstanceState
	Reason    Reason // ReasonTimeout stands beside running, too, while the last attempts are being ended
	Round     int    // 1 at the first start, +1 at each recover or rerun
	Seq       int64  // of the last Event; gap-free from 1
	OnFailure OnFailure
	DryRun    bool
	Params    map[string]string // the start's own parameters
	Facts     Facts             // what built-in parameters tell of it
	// WorkerGroup and Priority of the start; a task's own worker group wins.
	WorkerGroup string
	Priority    Priority

	StartedAt  Millis // of the first round
	FinishedAt Millis // zero while the round is not final
	Deadline   Millis // of this round's timeout; zero for none, or once it has fired

	// Tasks are the task instances in scope, in the order of the plan. A task out of
	// the start's scope has none: its place holds the zero TaskInstance with State "".
	Tasks []TaskInstance

	// Limited says that a round needs a place before it begins: recover and rerun leave it in
	// serial_wait. It is no part of the rows; whoever rebuilds the instance sets it.
	Limited bool

	plan *Plan
	// Counters derived from Tasks; Restore rebuilds them.
	unfinished [phases]int // tasks in scope that are not final
	active     int         // tasks with an attempt that a worker holds
}

// open counts the tasks in scope that are not final.
func (in *Instance) open() int { return sum(in.unfinished[:]) }

// GroupOf returns the worker group that runs a task: the task's own, unless that is the
// default one and the start chose another.
func (in *Instance) GroupOf(task int) string {
	own := in.plan.Definition.Tasks[task].WorkerGroup
	if (own == "" || own == DefaultWorkerGroup) && in.WorkerGroup != "" {
		return in.WorkerGroup
	}
	return own
}

// TaskInstance is one task of an instance in its latest round.
type TaskInstance struct {
	State    TaskState
	Reason   Reason
	Round    int // in which it last left waiting, or was created
	Attempts int // number of the latest attempt; 0 before the first
	Retries  int // retries used in this round
	Lost     int // workers lost in this round
	// AvoidWorker is the node whose attempt failed last, where the next one goes elsewhere; empty for none.
	AvoidWorker string
	// Iteration is the number, from 1, of the iteration of a task that is repeated; 0 for others, and before
	// the first attempt.
	Iteration int

	ReadyAt    Millis // when it last became ready
	NextAt     Millis // end of a retry wait, of a delay or of a wait task, or by when a worker must take it; zero for none
	StartedAt  Millis // of the latest attempt
	FinishedAt Millis

	Outputs map[string]string // of the latest success, also while the task is repeated

	// Child is the child instance of the latest attempt of a sub_workflow task; 0 where it has none.
	Child int64

	// Items are the children of a dynamic task, in the order of its list; nil before its first attempt. They are
	// never changed in place.
	Items []Item

	// Attempt is the live attempt; its Number is 0 while none is live.
	Attempt Attempt
	// Missed is the latest attempt where it was called lost and the task waits for another: should its success
	// arrive after all, that counts. Its Number is 0 where there is none.
	Missed Attempt
	// needs counts the needs in scope by how they ended; Restore rebuilds it.
	needs needs
}

// Attempt is one try to run a task, on one worker. Attempts are facts: once final, a
// row never changes.
type Attempt struct {
	Task        int // index in the plan
	Number      int // from 1, over all rounds
	Round       int
	Iteration   int    // of a task that is repeated, from 1; 0 for others
	Token       string // names this very attempt to the worker
	Worker      string // node id; empty for tasks that run in the master
	Incarnation string // of that worker's process
	State       AttemptState
	Reason      Reason
	Message     string // one line for people, where the reason needs one

	DispatchedAt Millis
	StartedAt    Millis
	FinishedAt   Millis
	Deadline     Millis // of its timeout; zero for none, or once it has fired
	ExitCode     int
	Tail         []byte // last 2 KiB of output
	LogBytes     int64  // of all streams, as produced
	Outputs      map[string]string
	Child        int64  // the instance that the attempt of a sub_workflow task waits for; 0 for none
	CacheKey     string // under which its outputs are kept if it succeeds; empty for none
	CachedFrom   int64  // the instance whose outputs it took over instead of running; 0 for none

	// Decisions are what people have said so far, while the attempt is that of an approval that waits.
	Decisions []Decision

	// KillReason is why it is being killed, while State is killing.
	KillReason Reason
}

// Event is one row of an instance's history, in the order in which things happened.
type Event struct {
	Seq     int64
	At      Millis
	Code    EventCode
	Task    int // index in the plan; -1 for the instance itself
	Attempt int
	Round   int
	State   string // the state entered, where the event is a change of state
	Reason  Reason
	Message string
	By      string // who asked, for control verbs
	Warning bool   // an operator should look
}

// EventCode names what an Event tells.
type EventCode string

// The codes of events.
const (
	EventInstance        EventCode = "instance"         // the instance entered State
	EventTask            EventCode = "task"             // a task entered State
	EventItem            EventCode = "item"             // a child of a dynamic task ended as State says
	EventTaskTimeout     EventCode = "task_timeout"     // an attempt runs over its timeout
	EventQueueTimeout    EventCode = "queue_timeout"    // a ready task has found no worker in time
	EventWorkflowTimeout EventCode = "workflow_timeout" // the instance runs over its timeout
	EventApproved        EventCode = "approved"         // somebody approved
	EventRejected        EventCode = "rejected"         // somebody rejected
	EventPauseOverdue    EventCode = "pause_overdue"    // pausing takes longer than it should
	EventStopOverdue     EventCode = "stop_overdue"     // stopping takes longer than it should
)
