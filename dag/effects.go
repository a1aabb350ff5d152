package dag

// Effects is what one Step, or several of the same instance in a row, ask of the
// caller: first store the rows, in one transaction; then, and only then, carry out
// the actions. Actions are idempotent: Instance.Pending asks for those still due
// again, after a crash.
type Effects struct {
	// Changed says that the instance's own row, or any other, must be written.
	Changed bool
	// NewRound says that a round was opened after the first one: the instance that waited for this one, if any,
	// must hear of it.
	NewRound bool
	// Tasks are the indexes of the task rows that changed; one may stand twice.
	Tasks []int
	// Attempts are new or changed attempts by value, in order; the later one wins.
	Attempts []Attempt
	// Events are new rows of the history.
	Events []Event
	// Children are instances to be made in the same transaction, each with its start command.
	Children []Child
	// Items are the rows of a dynamic task's children that changed; one may stand twice.
	Items []ItemRef
	// Orders are wishes about children, to be written in the same transaction.
	Orders []Order
	// Decisions are new decisions on approvals, to be written in the same transaction.
	Decisions []Decision
	// Cached are results to be kept in the same transaction, for later attempts to take over.
	Cached []CacheEntry
	// Applied answers control rows.
	Applied []Applied
	// Actions follow the commit, in order.
	Actions []Action
	// Stale says that the input meant an attempt that is not the live one (or a
	// finished one): nothing changed, and its sender should forget it.
	Stale bool
}

// Add appends what a later Step of the same instance asked for. Stale stays set only
// when nothing else happened.
func (e *Effects) Add(more Effects) {
	e.Stale = (e.Stale || e.empty()) && more.Stale
	e.Changed = e.Changed || more.Changed
	e.NewRound = e.NewRound || more.NewRound
	e.Tasks = append(e.Tasks, more.Tasks...)
	e.Attempts = append(e.Attempts, more.Attempts...)
	e.Events = append(e.Events, more.Events...)
	e.Children = append(e.Children, more.Children...)
	e.Items = append(e.Items, more.Items...)
	e.Orders = append(e.Orders, more.Orders...)
	e.Decisions = append(e.Decisions, more.Decisions...)
	e.Cached = append(e.Cached, more.Cached...)
	e.Applied = append(e.Applied, more.Applied...)
	e.Actions = append(e.Actions, more.Actions...)
}

// empty says that nothing is asked of the caller.
func (e *Effects) empty() bool {
	return !e.Changed && len(e.Applied) == 0 && len(e.Actions) == 0
}

// Applied is the answer to one Control.
type Applied struct {
	ID     int64
	Result string // one of the results below
}

// The results of a Control.
const (
	ResultApplied          = "applied"            // it was done, or is under way
	ResultAlready          = "already"            // nothing to do: it is so, or is becoming so
	ResultNotRunning       = "not_running"        // the instance is not in a state that can be paused, stopped ...
	ResultNotPaused        = "not_paused"         // resume of something that is not paused
	ResultNotSkippable     = "not_skippable"      // skip or force_success: a worker holds the task, kill it first
	ResultNotRecoverable   = "not_recoverable"    // recover of an instance that neither failed nor was stopped
	ResultNothingToRecover = "nothing_to_recover" // recover of a success
	ResultNotFinished      = "not_finished"       // rerun, or force_success of a failed task, of an instance that is not final
	ResultNoSuchTask       = "no_such_task"       // no task in scope has that index
	ResultNotWaiting       = "not_waiting"        // approve or reject: that attempt does not wait for it any more
	ResultUnknownVerb      = "unknown_verb"
)

// Action is something to do once the rows are stored.
type Action interface{ action() }

// Enqueue offers a ready task to the dispatcher. The caller answers with Assign.
type Enqueue struct{ Task int }

// Dequeue takes a task back from the dispatcher: it is no longer to be assigned. Taking
// back one that is not there does nothing.
type Dequeue struct{ Task int }

// Dispatch sends an attempt to its worker. Sent again, with the same token, it does nothing.
type Dispatch struct{ Attempt Attempt }

// Kill tells the worker to end an attempt; the worker answers with a Report.
type Kill struct{ Attempt Attempt }

// Arm sets a timer. A later Arm of the same kind, task and number replaces it.
type Arm struct {
	Timer Timer
	At    Millis
}

// Disarm drops a timer; dropping one that is not armed does nothing.
type Disarm struct{ Timer Timer }

// Finish says that the round is over: the instance is final and may be forgotten.
type Finish struct{}

// Rest says that a paused instance has nothing on any worker and may leave memory. Timers
// of wait tasks and retries are stored with their tasks and are due again after a load.
type Rest struct{}

func (Enqueue) action()  {}
func (Dequeue) action()  {}
func (Dispatch) action() {}
func (Kill) action()     {}
func (Arm) action()      {}
func (Disarm) action()   {}
func (Finish) action()   {}
func (Rest) action()     {}
