package dag

// Input is something that happened to an instance. Step takes one at a time.
// The concrete types are below; a stale or repeated one changes nothing.
type Input interface{ input() }

// Begin starts the round of an instance that is submitted or in serial_wait. In the first round its
// effects name every task in scope, so that all their rows are written.
type Begin struct{}

// Queue puts an instance that has not begun into serial_wait: it has no place yet.
type Queue struct{}

// Discard ends an instance that found no place before it has begun.
type Discard struct{}

// Assign gives a ready task to a worker that asked for work.
type Assign struct {
	Task                       int
	Worker, Incarnation, Token string
}

// Report is what a worker says of an attempt: State is running, success, failed,
// killed or returned. A report for another attempt or token than the live one is stale.
type Report struct {
	Task, Number          int
	Token                 string
	State                 AttemptState
	Reason                Reason
	Message               string
	StartedAt, FinishedAt Millis
	ExitCode              int
	Outputs               map[string]string
	Tail                  []byte
	LogBytes              int64
}

// Lost says that the worker of an attempt is gone and the attempt with it.
type Lost struct {
	Task, Number int
	Token        string
	Message      string
	// GiveUp says that the worker may well be there and only does not answer for the attempt, however
	// often it is asked: the task fails, and nothing else is tried.
	GiveUp bool
}

// TimerKind says what a timer was armed for.
type TimerKind uint8

// The kinds of timer.
const (
	TimerRetry    TimerKind = iota + 1 // a retry wait ends
	TimerWait                          // a wait task ends
	TimerAttempt                       // an attempt runs over its timeout
	TimerInstance                      // the instance runs over its timeout
	TimerStop                          // stopping or pausing takes too long
)

// Timer is an armed moment that has passed. Step compares it with the row and
// ignores it where the row no longer waits for it; one that fires too early (a clock
// was set back) is only armed again.
type Timer struct {
	Kind         TimerKind
	Task, Number int // -1 and 0 for the instance's own
}

// Verb is what people ask of an instance or one of its tasks.
type Verb string

// The verbs.
const (
	VerbPause        Verb = "pause"
	VerbResume       Verb = "resume"
	VerbStop         Verb = "stop"
	VerbKill         Verb = "kill"          // one task
	VerbSkip         Verb = "skip"          // one task
	VerbForceSuccess Verb = "force_success" // one task
	VerbRecover      Verb = "recover"
	VerbRerun        Verb = "rerun"   // the tasks named, in Scope; all when none is named
	VerbApprove      Verb = "approve" // one approval task
	VerbReject       Verb = "reject"  // one approval task
	// VerbReplace is a stop on behalf of a newer instance, which takes the place; it is none that people ask for.
	VerbReplace Verb = "replace"
)

// Control is one row of the control table. Step always answers it: see Applied.
type Control struct {
	ID    int64
	Verb  Verb
	Tasks []int
	Scope Scope
	Force bool // stop: do not wait for the workers' word
	By    string
	// Reason is kept by an instance that stops for it; empty for a stop that somebody asked for.
	Reason Reason
	// Decision has, of approve and reject, the number of the attempt that it is about, the reason and the values.
	Decision Decision
}

func (Begin) input()   {}
func (Queue) input()   {}
func (Discard) input() {}
func (Assign) input()  {}
func (Report) input()  {}
func (Lost) input()    {}
func (Timer) input()   {}
func (Control) input() {}

// Scope says which part of a graph a start or rerun takes from its chosen tasks.
type Scope string

// The scopes.
const (
	ScopeOnly       Scope = "only"
	ScopeUpstream   Scope = "upstream"
	ScopeDownstream Scope = "downstream"
)
