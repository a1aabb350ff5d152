package dag

// Effects is what one Step, or several of the same instance in a row, ask of the
// caller: first store the rows, in one transaction; then, and only then, carry out
// the actions. Actions are idempotent: Instance.Pending asks for those still due
// again, after a crash.
type Effects struct {
	// Changed says that the instance's own row, or any other, must be written.
	Changed bool
	// Tasks are the indexes of the task rows that changed; one may stand twice.
	Tasks []int
	// Attempts are new or changed attempts by value, in order; the later one wins.
	Attempts []Attempt
	// Events are new rows of the history.
	Events []Event
	// Applied answers control rows.
	Applied []Applied
	// Actions follow the commit, in order.
	Actions []Action
	// Stale says that the input meant an attempt that is not the live one (or a
	// finished one): nothing changed, and its sender should forget it.
	Stale bool
}

// Applied is the answer to one Control.
type Applied struct {
	ID     int64
	Result string // "applied", "already", or why not: a code such as "not_running"
}

// Action is something to do once the rows are stored.
type Action interface{ action() }

// Enqueue offers a ready task to the dispatcher. The caller answers with Assign.
type Enqueue struct{ Task int }

// Dequeue takes a task back from the dispatcher: it is no longer to be assigned.
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

// Rest says that a paused instance has nothing in flight and may leave memory.
type Rest struct{}

func (Enqueue) action()  {}
func (Dequeue) action()  {}
func (Dispatch) action() {}
func (Kill) action()     {}
func (Arm) action()      {}
func (Disarm) action()   {}
func (Finish) action()   {}
func (Rest) action()     {}
